"""Parities, sparse metadata and unwritten registers: what is reported of each, and what is left alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import warploom as wl
from warploom.observe.sanitize.rules import rules

SCHEDULES = ("eager", "lazy", "random:1", "random:2")
ANY = rules()["sanitize.race/shared"]


def codes(body: str, schedule: str = "eager", threads: int = 64, setup: str = "") -> set[str]:
    """The rules that a kernel of the examples' kind breaks."""
    found = sanitized(body, schedule, threads, setup).findings
    return {finding.code.removeprefix("sanitize.") for finding in found}


def sanitized(body: str, schedule: str = "eager", threads: int = 64, setup: str = "") -> wl.Run:
    """The run of a kernel of the examples' kind."""
    rule = replace(ANY, setup=setup, threads=threads)
    tensor = wl.TensorMap.tiled(np.zeros((64, 64), np.float16), (64, 64), swizzle=128)
    args = [np.zeros(4096, np.uint32), tensor]
    options: dict[str, Any] = {"schedule": schedule, "sanitize": True, "raises": False}
    return wl.launch(rule.text(body), grid=1, block=threads, args=args, **options)


# Parities ---------------------------------------------------------------------------------------------------

# Warp 0 fills, warp 1 drains, over one stage: the filler begins with the parity of the phase before the first.
PIPELINE = """
@%p0 mbarrier.init.shared::cta.b64 [%r4], 32;
add.u32 %r5, %r3, 4096;
@%p0 mbarrier.init.shared::cta.b64 [%r5], 32;
bar.sync 0;
setp.lt.u32 %p1, %r0, 32;
mov.u32 %r6, 0;
loop:
and.b32 %r7, %r6, 1;
@!%p1 bra drain;
xor.b32 %r7, %r7, 1;
fill:
mbarrier.try_wait.parity{order}.shared::cta.b64 %p2, [%r5], %r7;
@!%p2 bra fill;
mbarrier.arrive{order}.shared::cta.b64 _, [%r4];
bra next;
drain:
mbarrier.try_wait.parity{order}.shared::cta.b64 %p2, [%r4], %r7;
@!%p2 bra drain;
mbarrier.arrive{order}.shared::cta.b64 _, [%r5];
next:
add.u32 %r6, %r6, 1;
setp.lt.u32 %p3, %r6, 5;
@%p3 bra loop;
"""


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("order", ["", ".acquire", ".relaxed"])
def test_a_pipeline_means_its_phases(order: str, schedule: str) -> None:
    arrives = {".acquire": ".release.cta", ".relaxed": ".relaxed.cta"}.get(order, "")
    body = PIPELINE.replace("arrive{order}", f"arrive{arrives}")
    assert codes(body.replace("{order}", f"{order}.cta" if order else ""), schedule) == set()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_filler_that_does_not_wait_leaves_the_drainer_behind(schedule: str) -> None:
    waits = "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], %r7;\n@!%p2 bra fill;\n"
    body = PIPELINE.replace("{order}", "")
    assert waits in body
    body = body.replace(waits, "")
    assert "mbarrier/parity" in codes(body, schedule)


def test_an_object_that_is_made_again_begins_with_phase_0() -> None:
    once = """
    @%p0 mbarrier.init.shared::cta.b64 [%r4], 64;
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 _, [%r4];
    {label}:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0;
    @!%p2 bra {label};
    bar.sync 0;
    @%p0 mbarrier.inval.shared::cta.b64 [%r4];
    bar.sync 0;
    """
    assert codes(once.replace("{label}", "one") + once.replace("{label}", "two")) == set()


# Metadata ---------------------------------------------------------------------------------------------------

SPARSE_GROUP = """
shr.u32 %r6, %r3, 4;
cvt.u64.u32 %rd4, %r6;
or.b64 %rd4, %rd4, 0x0000001000080000;
mov.b32 %r9, 0;
mad.lo.u32 %r5, %r0, 16, %r3;
st.shared.v4.b32 [%r5], {%r9, %r9, %r9, %r9};
fence.proxy.async.shared::cta;
bar.sync 0;
setp.eq.u32 %p1, %r0, LANE;
selp.b32 %r6, WORD, 0x44444444, %p1;
wgmma.fence.sync.aligned;
wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16
    {%f0, %f1, %f2, %f3}, %rd4, %rd4, %r6, 0, 0, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
"""


@pytest.mark.parametrize(
    ("lane", "word", "found"),
    [
        (96, "0x44440444", {"sparse/metadata"}),
        (97, "0xf4444444", {"sparse/metadata"}),
        (98, "0", set()),  # the selector names the other lanes
        (96, "0x4e9dc841", set()),  # not said to be ordered
    ],
)
def test_metadata_of_a_warpgroup(lane: int, word: str, found: set[str]) -> None:
    body = SPARSE_GROUP.replace("LANE", str(lane)).replace("WORD", word)
    assert codes(body, threads=128) == found


@pytest.mark.parametrize(
    ("opcode", "registers", "word", "found"),
    [
        ("mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", 4, "0x4e4e4e4e", set()),
        ("mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", 4, "0x4e4e4e4c", {"sparse/metadata"}),
        ("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 4, "0x11111111", set()),
        ("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 4, "0x11111110", {"sparse/metadata"}),
        (
            "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 4, "0x44444441",
            {"sparse/metadata"},
        ),
    ],
)  # fmt: skip
def test_metadata_of_a_warp(opcode: str, registers: int, word: str, found: set[str]) -> None:
    many = ", ".join(["%r5"] * registers)
    body = f"""
    mov.b32 %r5, 0;
    mov.b32 %r6, {word};
    mov.f32 %f0, 0f00000000;
    {opcode} {{%f1, %f2, %f3, %f4}}, {{{many}}}, {{{many}}}, {{%f0, %f0, %f0, %f0}}, %r6, 0;
    """
    assert codes(body, threads=32) == found


# Unwritten registers ----------------------------------------------------------------------------------------

AT = "mad.lo.u32 %r7, %r0, 4, %r3;\n"
PART = "setp.lt.u32 %p1, %r0, 40;\n"


@pytest.mark.parametrize(
    ("body", "bad"),
    [
        (AT + "st.shared.u32 [%r7], %r9;", True),
        (AT + "st.shared.u32 [%r9], %r7;", True),
        (AT + "mov.u32 %r8, %r9; st.shared.u32 [%r7], %r8;", True),
        ("@%p3 bra away; away:", True),
        (AT + PART + "@%p1 mov.u32 %r9, 1; @%p1 st.shared.u32 [%r7], %r9;", False),
        (AT + PART + "@%p1 mov.u32 %r9, 1; st.shared.u32 [%r7], %r9;", True),
        (AT + PART + "@%p1 bra in; bra out; in: mov.u32 %r9, 1; out: st.shared.u32 [%r7], %r9;", True),
        (AT + PART + "@%p1 bra in; bra out; in: mov.u32 %r9, 1; st.shared.u32 [%r7], %r9; out:", False),
        (AT + PART + "@%p1 mov.u32 %r9, 1; selp.u32 %r8, %r9, %r7, %p1; st.shared.u32 [%r7], %r8;", False),
        (AT + PART + "@%p1 mov.u32 %r9, 1; selp.u32 %r8, %r7, %r9, %p1; st.shared.u32 [%r7], %r8;", True),
        (AT + "and.b32 %r8, %r9, 0; st.shared.u32 [%r7], %r8;", False),  # a word of which a part is merged
        (AT + "add.u32 %r8, %r9, 1;", False),  # never used in earnest
        (
            AT + "mov.u32 %r6, 0; again: @%p1 st.shared.u32 [%r7], %r9; mov.u32 %r9, 5; setp.eq.u32 %p1, %r6, 0;"
            " add.u32 %r6, %r6, 1; @%p1 bra again;",
            True,  # the guard of the first turn
        ),
    ],
)  # fmt: skip
def test_registers(body: str, bad: bool) -> None:
    for schedule in SCHEDULES:
        assert codes(body, schedule) == ({"unwritten/register"} if bad else set())


@pytest.mark.parametrize(("adds", "found"), [("0", set()), ("1", {"unwritten/register"})])
def test_accumulators_that_are_not_added_to_are_not_read(adds: str, found: set[str]) -> None:
    body = SPARSE_GROUP.replace("LANE", "0").replace("WORD", "0x44444444")
    assert codes(body.replace("%r6, 0, 0, 1", f"%r6, 0, {adds}, 1"), threads=128) == found


# Metadata in flight -----------------------------------------------------------------------------------------

SPARSE = """
mov.b32 %r9, 0;
mad.lo.u32 %r5, %r0, 16, %r3;
st.shared.v4.b32 [%r5], {%r9, %r9, %r9, %r9};
fence.proxy.async.shared::cta;
bar.sync 0;
shr.u32 %r6, %r3, 4;
cvt.u64.u32 %rd4, %r6;
or.b64 %rd4, %rd4, 0x0000001000080000;
mov.b32 %r7, 0x44444444;
wgmma.fence.sync.aligned;
wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd4, %rd4, %r7, 0, 0, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
"""
WAIT = "wgmma.wait_group.sync.aligned 0;\n"


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_metadata_are_kept_until_the_products_are_over(schedule: str) -> None:
    """An H200 returns wrong sums where the next metadata are loaded earlier (docs/why/0008)."""
    changed = "mov.b32 %r7, 0xEEEEEEEE;\n"
    assert codes(SPARSE + changed + WAIT, schedule, threads=128) == {"wgmma/registers"}
    assert codes(SPARSE + WAIT + changed, schedule, threads=128) == set()
    assert codes(SPARSE + "mov.b32 %r8, %r7;\n" + WAIT, schedule, threads=128) == set()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_each_of_several_adjacent_uses_in_flight_is_found(schedule: str) -> None:
    """The instructions of a block that only compute are checked together, and each one has its own finding."""
    uses = "add.f32 %f4, %f0, %f1;\nmov.b32 %r8, 1;\nadd.f32 %f5, %f4, %f4;\nadd.f32 %f6, %f2, %f4;\n"
    (found,) = sanitized(SPARSE + uses + WAIT, schedule, threads=128).findings
    assert {code for code, _, _ in found.conflicts} == {"sanitize.wgmma/registers"}
    first, second = sorted(pc for _, _, pc in found.conflicts)
    assert second - first == 3
    assert not codes(SPARSE + WAIT + uses, schedule, threads=128)


def test_the_last_of_several_adjacent_uses_is_the_one_without_a_fence() -> None:
    again = SPARSE[SPARSE.index("wgmma.mma_async") :]
    uses = "mov.f32 %f0, 0f00000000;\nmov.f32 %f1, 0f3F800000;\nmov.b32 %r8, 1;\n"
    (found,) = sanitized(SPARSE + WAIT + uses + again + WAIT, threads=128).findings
    assert found.code == "sanitize.wgmma/fence"
    assert found.source is not None
    line = 1 + found.source.text[: found.source.text.index("mov.f32 %f1, 0f3F800000;")].count("\n")
    assert f"line {line} accesses" in found.message
