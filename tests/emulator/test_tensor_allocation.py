"""Allocation of tensor memory, pairs of CTAs, and the faults of both."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.tensor_texts import SCHEDULES, WORDS, dump, fill, launch, tensor_kernel

import warploom as wl

HEAD = """
.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out)
{
.shared .align 4 .b32 slot[8];
.reg .b32 %r<20>; .reg .b64 %rd<6>; .reg .pred %p<6>;
mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; mov.u32 %r2, slot; ld.param.u64 %rd0, [out];
setp.eq.u32 %p0, %r1, 0; setp.eq.u32 %p1, %r1, 1; setp.eq.u32 %p2, %r0, 0;
"""
ALLOC = "tcgen05.alloc.cta_group::{}.sync.aligned.shared::cta.b32 [%r2], {};\nld.shared.u32 %r3, [%r2];\n"
FREE = "tcgen05.dealloc.cta_group::{}.sync.aligned.b32 %r3, {};\n"


def run(body: str, schedule: str = "eager", *, block: int = 32, cluster: int = 1) -> np.ndarray:
    """Run a kernel. Return the 64 words of `out`."""
    out = np.zeros(64, np.uint32)
    wl.launch(
        HEAD + body + "ret;\n}\n", grid=cluster, block=block, cluster=(cluster, 1, 1), args=[out], schedule=schedule
    )
    return out


def message(body: str, schedule: str = "eager", **options: int) -> str:
    """Return the code and the text of the fault of a kernel."""
    with pytest.raises(wl.WarploomError) as found:
        run(body, schedule, **options)
    return " ".join(
        f"{each.code}: {each.message} {' '.join(note.message for note in each.notes)}"
        for each in found.value.diagnostics
    )


def test_columns_are_the_lowest_that_are_free() -> None:
    body = ""
    for i, columns in enumerate((256, 128, 64, 32, 32)):
        body += f"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], {columns};\n"
        body += f"ld.shared.u32 %r{5 + i}, [%r2];\nst.global.u32 [%rd0+{4 * i}], %r{5 + i};\n"
    body += "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r6, 128;\n"
    body += "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 32;\nld.shared.u32 %r3, [%r2];\n"
    body += "st.global.u32 [%rd0+20], %r3;\n"
    for register, columns in ((5, 256), (7, 64), (8, 32), (9, 32), (3, 32)):
        body += f"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r{register}, {columns};\n"
    for schedule in SCHEDULES:
        assert run(body, schedule)[:6].tolist() == [0, 256, 384, 448, 480, 256]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_an_allocation_waits_for_columns(schedule: str) -> None:
    # Warp 0 releases its columns after a barrier that warp 1 does not need.
    take = ALLOC.format(1, 512).replace("%r2]", "%r4]")
    body = f"""
    shl.b32 %r4, %r1, 2; add.u32 %r4, %r4, %r2;
    @%p1 bra SECOND;
    {take}
    bar.sync 1, 64;
    st.global.u32 [%rd0], 1;
    {FREE.format(1, 512)}
    ret;
    SECOND:
    bar.sync 1, 64;
    {take}
    st.global.u32 [%rd0+4], 2;
    {FREE.format(1, 512)}
    """
    assert run(body, schedule, block=64)[:2].tolist() == [1, 2]


def test_a_deadlock_names_the_owner_of_the_columns() -> None:
    body = ALLOC.format(1, 256) + ALLOC.format(1, 512) + FREE.format(1, 256)
    found = message(body)
    assert found.startswith("emulator.deadlock: deadlock: kernel k, CTA (0, 0, 0), warp 0 waits for 512 columns")
    assert "but the CTA has 256 left; warp 0 holds columns 0 to 255" in found
    assert "releases tensor memory, but comes after this wait" in found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (ALLOC.format(1, "%r19"), "tensor-allocation: the number of columns is 0; expected 32, 64, 128, 256 or 512"),
        (
            "mad.lo.u32 %r2, %r0, 0x400000, %r2;\n" + ALLOC.format(1, 32),
            "tensor-allocation: the destination of an allocation differs",
        ),
        (
            "min.u32 %r9, %r0, 1;\nshl.b32 %r9, 32, %r9;\n" + ALLOC.format(1, "%r9"),
            "tensor-allocation: the number of columns differs between the threads of a warp: 0x40 is one",
        ),
        (
            ALLOC.format(1, 32).replace(".shared::cta", "").replace("%r2", "%rd0", 1),
            "tensor-allocation: the destination of an allocation is at generic address .* not in shared memory",
        ),
        (
            ALLOC.format(1, 64) + "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd0];\n",
            "mbarrier: an mbarrier is at generic address .* not in shared memory",
        ),
        (ALLOC.format(1, 64) + FREE.format(1, 32), "releases 32 columns .* but the allocation has 64 columns"),
        (ALLOC.format(1, 64) + FREE.format(1, 64) * 2, "no allocation returned; the CTA has allocated no columns"),
        (ALLOC.format(1, 64) + "add.u32 %r3, %r3, 32;\n" + FREE.format(1, 64), "allocated 64 at 0x0"),
        (
            "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" + ALLOC.format(1, 64),
            "allocates tensor memory after its CTA has relinquished the permit",
        ),
        (
            ALLOC.format(1, 64) + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r9}, [%r3+64];\n",
            "a load uses column 64 of tensor memory, which is not allocated; the CTA has allocated columns 0 to 63",
        ),
        (
            ALLOC.format(1, 512) + "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r9, %r10}, [%r3+511];\n",
            "the lanes 0 to 31 and the columns 511 to 512 of tensor memory; expected lanes below 128",
        ),
        (
            ALLOC.format(1, 64) + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r9}, [%r3+2097152];\n",
            "warp 0 accesses 32 lanes from lane 32 on; expected lane 0, because a warp accesses the lanes 0 to 31",
        ),
        (
            ALLOC.format(1, 64) + "add.u32 %r3, %r3, %r0;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r9}, [%r3];\n",
            "the threads of a warp use the tensor memory addresses 0x0 and 0x1 in one instruction",
        ),
        (
            ALLOC.format(1, 64) + "@%p2 tcgen05.shift.cta_group::1.down [%r3+1048576];\n",
            "a shift of tensor memory begins at lane 16; expected a multiple of 32",
        ),
        (
            ALLOC.format(1, 64) + "mov.u64 %rd1, 0;\n@%p2 tcgen05.cp.cta_group::1.128x128b [%r3], %rd1;\n",
            "0x0 is no tcgen05 matrix descriptor",
        ),
        (ALLOC.format(2, 64), "tensor-pair: an instruction has .cta_group::2 in a cluster of 1 CTA, in which"),
    ],
)  # fmt: skip
def test_faults(body: str, expected: str) -> None:
    import re

    assert re.search(expected, message(body)), message(body)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_pair_receives_the_same_columns(schedule: str) -> None:
    body = f"""
    mov.u32 %r5, %cluster_ctarank;
    {ALLOC.format(2, 128)}
    mul.wide.u32 %rd1, %r5, 4; add.u64 %rd1, %rd1, %rd0; add.u32 %r6, %r3, 1; st.global.u32 [%rd1], %r6;
    {FREE.format(2, 128)}
    """
    assert run(body, schedule, cluster=2)[:2].tolist() == [1, 1]


def test_a_pair_waits_for_the_warp_of_the_peer() -> None:
    body = f"""
    mov.u32 %r5, %cluster_ctarank; setp.ne.u32 %p3, %r5, 0;
    @%p3 ret;
    {ALLOC.format(2, 128)}
    """
    found = message(body, cluster=2)
    assert "CTA (0, 0, 0), warp 0 waits for a warp of the peer CTA (1, 0, 0) to allocate tensor memory as well" in found


def test_a_release_that_waits_for_its_peer_can_deadlock() -> None:
    # The manual's example: one CTA releases before a cluster barrier, and the other one after it.
    meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
    body = f"""
    mov.u32 %r5, %cluster_ctarank; setp.ne.u32 %p3, %r5, 0;
    {ALLOC.format(2, 128)}
    @%p3 bra ODD;
    {meet}{FREE.format(2, 128)}
    ret;
    ODD:
    {FREE.format(2, 128)}{meet}
    """
    run(body, cluster=2)  # the release may also return at once
    found = message(body, "lazy", cluster=2)
    assert "waits for a warp of the peer CTA (0, 0, 0) to release tensor memory as well" in found


def test_different_sizes_of_a_pair() -> None:
    body = "mov.u32 %r5, %cluster_ctarank;\nmov.u32 %r6, 64;\nshl.b32 %r6, %r6, %r5;\n" + ALLOC.format(2, "%r6")
    assert "columns, and the warp of the peer CTA" in message(body, cluster=2)


def test_an_exited_peer() -> None:
    body = f"""
    mov.u32 %r5, %cluster_ctarank; setp.ne.u32 %p3, %r5, 0;
    {ALLOC.format(2, 64)}
    @%p3 ret;
    mov.u32 %r7, 0;
    SPIN:
    add.u32 %r7, %r7, 1; setp.lt.u32 %p4, %r7, 100; @%p4 bra SPIN;
    @%p2 tcgen05.shift.cta_group::2.down [%r3];
    """
    assert "emulator.tensor-pair: an instruction has .cta_group::2, and all threads of the peer CTA have exited" in (
        message(body, cluster=2)
    )


def test_contents_of_new_columns_are_undefined() -> None:
    # Under the schedule `lazy` they are NaN, so that a missing initialisation shows.
    found = launch(tensor_kernel(dump(32), columns=32), WORDS, np.zeros((128, 32), np.uint32), "lazy")
    assert np.isnan(found.view(np.float32)).all()


def test_an_observed_run_has_no_findings() -> None:
    data, out = WORDS[:, :64].copy(), np.zeros((128, 64), np.uint32)
    done = wl.launch(tensor_kernel(fill(64) + dump(64), columns=64), grid=1, block=128, args=[data, out], sanitize=True)
    assert done.findings == ()
    np.testing.assert_array_equal(out, data)


def test_pairs_need_an_even_cluster() -> None:
    first = "mov.u32 %r9, %cluster_ctarank;\nsetp.ne.u32 %p3, %r9, 0;\n@%p3 ret;\n"
    found = message(first + ALLOC.format(2, 32), cluster=3)
    assert "tensor-pair: an instruction has .cta_group::2 in a cluster of 3 CTAs, in which not every CTA" in found


def test_the_sanitizer_knows_no_peers_in_an_odd_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    from warploom.observe.sanitize import _shared_shadow

    monkeypatch.setenv("WARPLOOM_ENGINE", "interpreter")
    for name in ("write_lanes", "_follows_reads"):  # Python checks the indices; machine code does not
        monkeypatch.setattr(_shared_shadow, name, getattr(_shared_shadow, name).function)
    body = "@%p2 st.shared.u32 [%r2+4], %r0;\n" + ALLOC.format(1, 32) + FREE.format(1, 32)
    body = body.replace("ld.shared", "bar.warp.sync 0xffffffff;\nld.shared")
    out = np.zeros(64, np.uint32)
    run = wl.launch(HEAD + body + "ret;\n}\n", grid=3, block=32, cluster=(3, 1, 1), args=[out], sanitize=True)
    assert not run.findings


def test_the_sanitizer_accepts_operations_without_lanes() -> None:
    body = ALLOC.format(1, 32).replace("ld.shared", "bar.warp.sync 0xffffffff;\nld.shared") + (
        "mov.u64 %rd1, 0x400800400040; mov.b32 %r9, 0x4020010; add.u32 %r10, %r3, 0xff000000;\n"
        "@%p2 tcgen05.mma.cta_group::1.kind::f16 [%r10], %rd1, %rd1, %r9, %p1;\n"
    )
    with pytest.raises(wl.Trap, match="D begins at lane 65280 of tensor memory"):
        wl.launch(HEAD + body + "ret;\n}\n", grid=1, block=32, args=[np.zeros(64, np.uint32)], sanitize=True)
