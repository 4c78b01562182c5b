"""Kernels that fail: the complete message of each is a section of misuse.md."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulator.texts import HEADER, kernel
from surface.names import MAP, SHARED, TENSOR, launch, read_only, words

import warploom as wl
from warploom.diagnostics import WarploomError, render

PAGE = Path(__file__).with_name("misuse.md")
_ENTRY = re.compile(r"^## (.+?)\n\n```text\n(.*?)```", re.MULTILINE | re.DOTALL)

Case = Callable[[], object]
CASES: dict[str, Case] = {}


def case(name: str, body: str, *args: object, **options: Any) -> None:
    """A case that launches a kernel, as `launch` describes."""
    CASES[name] = lambda: launch(body, *args, **options)


# Memory -----------------------------------------------------------------------------------------------------

case("a load beyond a buffer", "ld.global.u32 %r2, [%rd1+128];", words(40), grid=(3, 2), block=64)
case("a load by one lane of a later CTA", """
    mov.u32 %r2, %ctaid.y;
    setp.eq.u32 %p1, %r2, 1;
    setp.eq.and.u32 %p1, %r0, 37, %p1;
    @%p1 ld.global.u8 %h1, [%rd0+8192];""", grid=(1, 2), block=64)  # fmt: skip
case("a store before a buffer", "st.global.u32 [%rd0+-4], %r0;")
case("a vector across a buffer's end", "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd0+128];", words(33))
case("between two buffers", "add.s64 %rd1, %rd0, 4096;\nld.global.u32 %r1, [%rd1];", words(), words(),
     params=".param .u64 out, .param .u64 other")  # fmt: skip
case("a null pointer", "ld.u32 %r1, [%rd0];", None)
case("an atomic beyond a buffer", "atom.global.add.u32 %r1, [%rd1+64], 1;")
case("a misaligned store to global memory", "st.global.u32 [%rd1+2], %r0;")
case("a misaligned load from shared memory", f"{SHARED}\nld.shared.u64 %rd2, [s+4];")
case("a store beyond shared memory", f"{SHARED}\nmad.lo.u32 %r1, %r0, 4, %r1;\nst.shared.u32 [%r1+132], %r0;",
     grid=(2, 1, 1), block=64)  # fmt: skip
case("shared memory of a kernel that has none", "mov.u32 %r1, 16;\nld.shared.u32 %r2, [%r1];")
case("a load beyond local memory", ".local .b32 l[2];\nmov.u64 %rd2, l;\nld.local.u32 %r2, [%rd2+8];")
case("an asynchronous copy from beyond a buffer", f"""{SHARED}
    cp.async.ca.shared.global [%r1], [%rd0+128], 16;
    add.u32 %r2, %r2, 1;
    cp.async.wait_all;""", schedule="lazy")  # fmt: skip
case("a matrix row beyond shared memory", f"""{SHARED}
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r2}}, [%r1+256];""")  # fmt: skip
case("a CTA that is not in the cluster", f"""{SHARED}
    mapa.shared::cluster.u32 %r2, %r1, 5;
    ld.shared::cluster.u32 %r3, [%r2];""", grid=2, cluster=2)  # fmt: skip
case("another CTA's memory through shared::cta", f"""{SHARED}
    mapa.shared::cluster.u32 %r2, %r1, 1;
    ld.shared::cta.u32 %r3, [%r2];""", grid=2, cluster=2)  # fmt: skip
case("a store to constant memory", "mov.u64 %rd2, c;\ncvta.const.u64 %rd2, %rd2;\nst.u32 [%rd2], %r0;",
     before=".const .u32 c[4] = {1, 2};\n")  # fmt: skip
case("a store to the parameters", "mov.u64 %rd2, out;\ncvta.param.u64 %rd2, %rd2;\nst.u32 [%rd2], %r0;")
case("a store to an array that is read-only", "st.global.u32 [%rd1], %r0;", read_only())
case("an atomic on an array that is read-only", "red.global.add.u32 [%rd1], %r0;", read_only())
case("a bulk copy to an array that is read-only", f"""{SHARED}
    cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;""", read_only(), block=1, schedule="lazy")  # fmt: skip
case("a bulk copy of a size that is no multiple of 16", f"""{SHARED}
    mov.u32 %r2, 100;
    cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], %r2;""", block=1)  # fmt: skip
case("a bulk copy beyond a buffer", f"""{SHARED}
    cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 256;""", block=1)  # fmt: skip
case("a fault after a bulk copy in its block", f"""{SHARED}
    cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    st.global.u32 [%rd0+4096], %r0;""", block=1, schedule="lazy")  # fmt: skip
case("a wgmma matrix outside of shared memory", """
    mov.u64 %rd2, 0;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd2, %rd2, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;""", block=128, shared=1024, schedule="lazy")  # fmt: skip


def _huge() -> object:
    body = "{ .reg .b64 %rd<2>; mov.u64 %rd1, g; ret; }"
    text = f"{HEADER}.global .b8 g[{1 << 46}];\n.visible .entry k() {body}\n"
    return wl.launch(text, grid=1, block=1, args=[])


CASES["a variable larger than there is memory for"] = _huge

# No way forward ---------------------------------------------------------------------------------------------

case("a barrier that a warp does not come to", """
    setp.lt.u32 %p1, %r0, 32;
    @%p1 bra L;
    bar.sync 1, 96;
    L:""", grid=2, block=96)  # fmt: skip
case("warps at two barriers", """
    setp.lt.u32 %p1, %r0, 32;
    @!%p1 bra L;
    bar.sync 1, 64;
    ret;
    L:
    bar.sync 2, 96;""", block=96)  # fmt: skip
case("lanes of a warp that wait for each other", """
    setp.lt.u32 %p1, %r0, 16;
    @!%p1 bra L;
    bar.warp.sync -1;
    ret;
    L:
    barrier.sync 1, 64;""")  # fmt: skip
case("branches that each come to an aligned barrier", """
    setp.lt.u32 %p1, %r0, 16;
    @!%p1 bra L;
    bar.sync 0;
    ret;
    L:
    bar.sync 0;""")  # fmt: skip
case("a guard that parts a warp at an aligned barrier", """
    setp.lt.u32 %p1, %r0, 16;
    @%p1 barrier.cta.sync.aligned 1, 32;""")  # fmt: skip
case("registers that nobody releases", """
    setp.lt.u32 %p1, %r0, 128;
    @%p1 bra L;
    setmaxnreg.inc.sync.aligned.u32 200;
    L:""", block=256, directives=".maxnreg 104")  # fmt: skip
case("an mbarrier that is never complete", f"""{SHARED}
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra L;
    mbarrier.init.shared::cta.b64 [%r1], 33;
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 64;
    L:
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 _, [%r1];
    W:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0;
    @!%p2 bra W;""")  # fmt: skip
case("a warpgroup that lacks a warp", """
    setp.lt.u32 %p1, %r0, 32;
    @%p1 bra L;
    wgmma.fence.sync.aligned;
    L:""", block=128)  # fmt: skip
case("a block that is no whole warpgroup", "wgmma.fence.sync.aligned;", block=96)
case("a cluster barrier that a CTA does not come to", """
    mov.u32 %r1, %cluster_ctarank;
    setp.eq.u32 %p1, %r1, 1;
    @%p1 bra L;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ret;
    L:
    bar.sync 1, 64;""", grid=2, cluster=2)  # fmt: skip
case("a loop that never ends", "L:\nadd.u32 %r1, %r1, 1;\nbra L;", grid=2, block=64)
case("a lock that is never free", """
    L:
    atom.global.cas.b32 %r1, [%rd0], 1, 0;
    setp.ne.u32 %p1, %r1, 1;
    @%p1 bra L;""", block=1)  # fmt: skip

# Rules of the machine ---------------------------------------------------------------------------------------

case("a cluster barrier without an arrival", "barrier.cluster.wait.aligned;", grid=2, cluster=2)
case("a barrier for part of a warp", "mov.u32 %r1, 40;\nbar.sync 1, %r1;")
case("a barrier that does not exist", "mov.u32 %r1, 16;\nbar.sync %r1;")
case("too many threads at a barrier", "bar.arrive 1, 64;", block=96)
case("a barrier for two numbers of threads", "bar.arrive 1, 96;\nbar.arrive 1, 128;")
case("an mbarrier that is not initialised", f"{SHARED}\nmbarrier.arrive.shared::cta.b64 _, [%r1+8];")
case("a wait at an mbarrier that is not initialised",
     f"{SHARED}\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1+8], 0;")  # fmt: skip
case("an mbarrier for no arrivals", f"{SHARED}\nmbarrier.init.shared::cta.b64 [%r1], %r0;")
case("more arrivals than an mbarrier expects", f"""{SHARED}
    mbarrier.init.shared::cta.b64 [%r1], 2;
    mbarrier.arrive.shared::cta.b64 _, [%r1], 3;""", block=1)  # fmt: skip
case("more transactions than an mbarrier counts", f"""{SHARED}
    mbarrier.init.shared::cta.b64 [%r1], 2;
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 2097151;""", block=1)  # fmt: skip
case("a misaligned mbarrier", f"{SHARED}\nmbarrier.init.shared::cta.b64 [%r1+4], 2;", block=1)
case("an mbarrier in global memory", "mbarrier.init.b64 [%rd0], 2;", block=1)
case("a trap", "setp.eq.u32 %p1, %r0, 41;\n@%p1 trap;", block=64)
case("a breakpoint", "setp.eq.u32 %p1, %r0, 41;\n@%p1 brkpt;", block=64)
case("an index beyond a branch table", "T: .branchtargets A, B;\nbrx.idx %r0, T;\nA:\nret;\nB:")
case("a call of what is no function", "mov.u64 %rd2, 4096;\nP: .callprototype _ ();\ncall %rd2, P;")


TILE_LOAD = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"


def tensor(name: str, tensor: object, *, x: int = 0, to: str = "%r1", **options: Any) -> None:
    """A case of a tile load of two dimensions."""
    body = f"""{SHARED}
    mov.u64 %rd2, map;
    mbarrier.init.shared::cta.b64 [%r1+128], 1;
    mov.u32 %r2, {x};
    {TILE_LOAD} [{to}], [%rd2, {{%r2, 0}}], [%r1+128];"""
    case(name, body, words(), tensor, params=MAP, block=1, **options)


tensor("a tile at a misaligned coordinate", wl.TensorMap.tiled(TENSOR, (8, 8)), x=4, schedule="lazy")
tensor("a tile of another rank", wl.TensorMap.tiled(TENSOR.reshape(4, 4, 16), (2, 2, 8)))
tensor("a tile to a misaligned address", wl.TensorMap.tiled(TENSOR, (8, 8)), to="%r1+16")
tensor("a swizzled tile to a misaligned address", wl.TensorMap.tiled(TENSOR, (8, 16), swizzle=32), to="%r1+64")
tensor("a tile beyond shared memory", wl.TensorMap.tiled(TENSOR, (16, 16)))
tensor("bytes that are no tensor map", bytes([255]) * 128)


def expected() -> dict[str, str]:
    """What misuse.md says, by case."""
    return dict(_ENTRY.findall(PAGE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_ends_in_a_clear_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_STEP_BUDGET", "5000")
    with pytest.raises(WarploomError) as caught:
        CASES[name]()
    assert render(caught.value.diagnostics) == expected()[name]


def test_the_page_has_no_other_cases() -> None:
    assert list(expected()) == list(CASES)


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_bytes(b"\xff\xfe.version")
    with pytest.raises(WarploomError) as caught:
        wl.launch(path, grid=1, block=1, args=[])
    assert str(caught.value) == f"{path} is not a PTX text: it is not UTF-8"


def test_a_fault_in_a_file_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(kernel("trap;"), encoding="utf-8")
    with pytest.raises(WarploomError) as caught:
        wl.launch(path, grid=1, block=1, args=[words()])
    assert str(caught.value) == f"{path}:11:1: the kernel executed 'trap'; kernel k, CTA (0, 0, 0), warp 0, lane 0"


@pytest.mark.parametrize("value", ["0", "many", "-1", ""])
def test_a_step_budget_is_a_number(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_STEP_BUDGET", value)
    with pytest.raises(WarploomError) as caught:
        CASES["a trap"]()
    assert str(caught.value) == f"WARPLOOM_STEP_BUDGET is {value!r}; expected an integer above 0"


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:3"])
def test_a_kernel_that_fails_leaves_every_array_as_it_was(schedule: str) -> None:
    target = np.arange(64, dtype=np.uint32)
    text = kernel("st.global.u32 [%rd1], 7;\nsetp.eq.u32 %p1, %r0, 63;\nbar.sync 0;\n@%p1 trap;\nret;")
    with pytest.raises(WarploomError):
        wl.launch(text, grid=1, block=64, args=[target], schedule=schedule)
    np.testing.assert_array_equal(target, np.arange(64))


def test_reads_of_unwritten_shared_memory_are_reported_on_request() -> None:
    body = f"""{SHARED}
    setp.eq.u32 %p1, %r0, 7;
    @%p1 st.shared.u32 [s+8], %r0;
    ld.shared.u32 %r3, [s+8];
    ld.shared.v2.u32 {{%r1, %r2}}, [s+8];
    setp.eq.u32 %p2, %r0, 41;
    bar.sync 0;
    @%p2 ld.shared.u8 %h1, [s+15];
    ret;"""
    text, target = kernel(body), words()
    assert wl.launch(text, grid=2, block=64, args=[target]).findings == ()
    found = wl.launch(text, grid=2, block=64, args=[target], sanitize=True).findings
    unwritten = [finding for finding in found if finding.code == "sanitize.unwritten/shared"]
    said = "which nothing wrote; kernel k, CTA (0, 0, 0)"
    assert [each.place for each in unwritten] == ["<ptx>:16:1"]
    assert unwritten[0].message.startswith(f"this reads shared memory at 0x40c to 0x410, {said}, warp 0, lane 0")
    assert [note.message for note in unwritten[0].notes] == ["the same cause affects line 19"]
    assert {finding.code for finding in found} == {"sanitize.race/shared", "sanitize.unwritten/shared"}
