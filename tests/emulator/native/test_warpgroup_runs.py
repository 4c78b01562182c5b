"""Runs of `wgmma` that native code executes: same registers, traps and statistics as in the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from emulator.texts import kernel
from numpy.typing import NDArray

import warploom as wl
from warploom.emulator.events import BlockStart, Launch
from warploom.emulator.observers import Observer

BYTES = 16384
"""Shared memory of a CTA. Matrix A starts at 1024, and matrix B at 1024 + 128 * each."""
ROUNDS = 5
PRODUCT = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{{}}}, {}, {}, {}, 1, 1, 0, 0;"
D = "%d0, %d1, %d2, %d3"
OTHER_D = "%d4, %d5, %d6, %d7"
DONE = "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
FENCE = "wgmma.fence.sync.aligned;"
LAYOUT = 8 << 16 | 16 << 32
"""Bits of the descriptors of matrices without swizzle: distances of 128 and 256 bytes."""

Case = tuple[NDArray[np.float32], wl.Run]
Both = Callable[..., Case]


def product(d: str = D, a: str = "%a", b: str = "%b", keeps: str = "%keep") -> str:
    return PRODUCT.format(d, a, b, keeps)


def product_of_registers(keeps: str = "%keep") -> str:
    return f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{{D}}}, {{%r7, %r8, %r9, %r9}}, %b, {keeps}, 1, 1, 0;"


def text(body: str, before: str = "", after: str = "") -> str:
    """A kernel with a loop over `body`, in which `%i` counts the iterations.

    Each iteration moves the matrices by 16 bytes.
    """
    values = "".join(f"add.f32 %d{i}, %f0, 0f{0x3F800000 + i * 0x10000:08x};\n" for i in range(8))
    stores = "".join(f"st.global.f32 [%rd8+{4 * i}], %d{i};\n" for i in range(8))
    inner = f"""
        .reg .f32 %d<8>; .reg .b64 %a, %b, %c; .reg .b32 %i; .reg .pred %keep, %clear, %first, %more, %some;
        mov.u32 %r1, data; ld.param.u64 %rd5, [src]; mov.u32 %r2, %ntid.x;
        mov.u32 %r4, %ctaid.x; mad.lo.u32 %r5, %r4, {BYTES // 4}, %r0; mov.u32 %r3, %r0;
        FILL:
        mul.wide.u32 %rd6, %r5, 4; add.u64 %rd6, %rd5, %rd6; ld.global.u32 %r4, [%rd6];
        mad.lo.u32 %r6, %r3, 4, %r1; st.shared.u32 [%r6], %r4;
        add.u32 %r3, %r3, %r2; add.u32 %r5, %r5, %r2; setp.lt.u32 %p1, %r3, {BYTES // 4}; @%p1 bra FILL;
        cvt.rn.f32.u32 %f0, %r0; mul.f32 %f0, %f0, 0f3c000000;
        {values}
        setp.ge.u32 %keep, %r0, 0; setp.lt.u32 %clear, %r0, 0; setp.lt.u32 %some, %r0, 128;
        mov.b32 %r7, 0x3c004000; cvt.rn.f16x2.f32 %r8, %d1, %d4; cvt.rn.f16x2.f32 %r9, %d0, %f0;
        mov.u64 %a, {64 | LAYOUT}; mov.u64 %b, {64 + 256 | LAYOUT};
        fence.proxy.async; bar.sync 0; mov.u32 %i, 0;
        {before}
        LOOP:
        setp.gt.u32 %first, %i, 0;
        {FENCE}
        {body}
        add.u64 %a, %a, 1; add.u64 %b, %b, 1;
        add.u32 %i, %i, 1; setp.lt.u32 %more, %i, {ROUNDS}; @%more bra LOOP;
        {after}
        mov.u32 %r4, %ctaid.x; mad.lo.u32 %r4, %r4, %r2, %r0;
        mul.wide.u32 %rd8, %r4, 32; add.u64 %rd8, %rd0, %rd8;
        {stores}
        ret;"""
    shared = f".shared .align 1024 .b8 data[{BYTES}];\n"
    return kernel(inner, params=".param .u64 src, .param .u64 out", before=shared)


def launch(ptx: str, threads: int = 128, grid: int = 2, **options: Any) -> Case:
    source = np.random.default_rng(0).standard_normal(grid * BYTES // 2).astype(np.float16)
    out = np.full((grid * threads, 8), -1, np.float32)
    run = wl.launch(ptx, grid=grid, block=threads, args=[source.view(np.uint32), out], **options)
    return out, run


def numbers(run: wl.Run) -> dict[str, Any]:
    stats = run.stats
    return {
        "macs": stats.macs, "instructions": stats.instructions, "batches": stats.batches, "spent": stats.spent
    }  # fmt: skip


def interpreted(run: wl.Run) -> int:
    """Number of executions of multiplications by the interpreter."""
    return sum(each.batches for each in run.stats.times.instructions if each.multiplies)


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Both:
    """Function that launches a kernel with both engines, and returns the second launch with native code."""

    def compare(ptx: str, **options: Any) -> Case:
        monkeypatch.setenv("WARPLOOM_ENGINE", "interpreter")
        want, one = launch(ptx, **options)
        monkeypatch.setenv("WARPLOOM_ENGINE", "auto")
        first, _ = launch(ptx, **options)
        found, other = launch(ptx, **options)
        np.testing.assert_array_equal(first, want)
        np.testing.assert_array_equal(found, want)
        assert numbers(other) == numbers(one)
        return found, other

    return compare


@pytest.mark.parametrize("threads", [128, 256])
@pytest.mark.parametrize("keeps", ["%keep", "%first"])
def test_the_interpreter_executes_only_the_first_issue(
    keeps: str, threads: int, both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", "auto")
    ptx = text(product(keeps=keeps) + product(), after=DONE)
    _, run = launch(ptx, threads)
    assert interpreted(run) == 1
    _, run = both(ptx, threads=threads)
    assert interpreted(run) == 0


@pytest.mark.parametrize("threads", [128, 256])
@pytest.mark.parametrize("length", [1, 3])
def test_matrices_a_in_registers(length: int, threads: int, both: Both) -> None:
    change = "add.rn.f16x2 %r7, %r7, %r8;"
    _, run = both(text(change + product_of_registers() * length, after=DONE), threads=threads)
    assert interpreted(run) == 0


def test_accumulators_that_become_a(both: Both) -> None:
    change = "cvt.rn.f16x2.f32 %r8, %d0, %d1;" + FENCE
    _, run = both(text(product(keeps="%first") + DONE + change + product_of_registers() + DONE))
    assert interpreted(run) == 0


@pytest.mark.parametrize("keeps", ["!%clear", "!%keep", "%first"])
def test_predicates(keeps: str, both: Both) -> None:
    both(text(product(keeps=keeps) + product() + product(OTHER_D, keeps=keeps), after=DONE))


def test_a_predicate_that_differs_between_warpgroups(both: Both) -> None:
    _, run = both(text(product(keeps="%some") + product(), after=DONE), threads=256)
    assert interpreted(run) == 0


def test_an_inner_multiplication_that_clears_the_accumulators(both: Both) -> None:
    """Native code declines, and the interpreter executes the multiplications one after the other."""
    clear = "setp.ne.u32 %p2, %i, 2;"
    _, run = both(text(clear + product(keeps="%first") + product(keeps="%p2"), after=DONE))
    assert interpreted(run) == 1


def test_descriptors_that_are_constants(both: Both) -> None:
    """ptxas accepts only registers, but a register may have a constant value in all iterations."""
    both(text(product(a="%c"), before="mov.u64 %c, %a;", after=DONE))


def test_descriptors_whose_layout_changes(both: Both) -> None:
    """The distance between the core matrices of A changes in the third iteration."""
    change = f"setp.eq.u32 %p1, %i, 2; @%p1 xor.b64 %a, %a, {3 << 32};"
    _, run = both(text(change + product(), after=DONE))
    assert interpreted(run) == ROUNDS - 2


def test_descriptors_that_differ_between_warpgroups(both: Both) -> None:
    _, run = both(text(product(), before=f"@%some xor.b64 %a, %a, {3 << 32};", after=DONE), threads=256)
    assert interpreted(run) == ROUNDS


def test_two_accumulators_in_one_run(both: Both) -> None:
    _, run = both(text((product() + product(OTHER_D)) * 2, after=DONE))
    assert interpreted(run) == 0


@pytest.mark.parametrize("other", ["%d2, %d3, %d4, %d5", "%d3, %d2, %d1, %d0"])
def test_accumulators_with_common_registers(other: str, both: Both) -> None:
    both(text(product() + product(other), after=DONE))
    both(text(product(keeps="%first") + DONE + FENCE + product(other, keeps="%first"), after=DONE))


@pytest.mark.parametrize("place", ["same block", "next block"])
def test_registers_that_are_read_and_written_between_issues(place: str, both: Both) -> None:
    change = "add.f32 %d1, %d1, 0f3f800000;" + FENCE
    _, run = both(text(product() + DONE + ("" if place == "same block" else "bra NEXT; NEXT:") + change))
    assert interpreted(run) == 0


def test_several_waves(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_STEP_BUDGET", "4000000")
    _, run = both(text(product() * 2, after=DONE), grid=150)
    assert interpreted(run) == 0


@pytest.mark.parametrize("place", ["%a", "%b"])
@pytest.mark.parametrize("threads", [128, 256])
def test_a_tile_out_of_bounds(place: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the second warpgroup leaves the shared memory if there are two."""
    who = "%clear" if threads == 256 else "%keep"
    setup = f"setp.ge.u32 %clear, %r0, 128; @{who} setp.eq.u32 %p1, %i, 3; @!{who} setp.lt.u32 %p1, %r0, 0;"
    ptx = text(setup + f"@%p1 add.u64 {place}, {place}, 1000;" + product() * 2, after=DONE)
    texts: list[str] = []
    for engine in ("interpreter", "auto", "auto"):
        monkeypatch.setenv("WARPLOOM_ENGINE", engine)
        with pytest.raises(wl.Trap) as trap:
            launch(ptx, threads)
        texts.append(str(trap.value))
    assert "out of bounds" in texts[0]
    assert texts[1] == texts[2] == texts[0]


@pytest.mark.parametrize("schedule", ["lazy", "random:1", "random:2"])
def test_other_schedules(schedule: str, both: Both) -> None:
    both(text(product(keeps="%first") + product() + product(OTHER_D), after=DONE), schedule=schedule)


def test_workers_share_the_multiplications(both: Both) -> None:
    """Global memory that the grid updates atomically lets one thread run the grid."""
    ptx = text(product() * 2, after=DONE + "red.global.add.u32 [%rd5], 0;")
    _, run = both(ptx, workers=2)
    assert interpreted(run) == ROUNDS


@pytest.mark.parametrize("options", [{"profile": True}, {"trace": True}, {"sanitize": True}], ids=str)
def test_observers(options: dict[str, Any], both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    ptx = text(product(keeps="%first") * 2, after=DONE)
    both(ptx)  # accumulators of another emulator, to which native code is linked
    _, native = both(ptx, **options)
    monkeypatch.setenv("WARPLOOM_ENGINE", "interpreter")
    _, other = launch(ptx, **options)
    assert native.findings == other.findings
    assert str(native.profile) == str(other.profile)
    assert str(native.trace) == str(other.trace)
    both(ptx)


class BlockCounter(Observer):
    """Observer of an event that multiplications do not create. It takes the place of the profiler."""

    def attach(self, launch: Launch) -> None:
        self.handlers = {BlockStart: lambda event: None}

    def profile(self) -> None:
        """Return no profile."""


def test_native_code_uses_the_accumulators_of_each_launch(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch with an observer has its own accumulators."""
    monkeypatch.setattr("warploom.observe.profile.Profiler", BlockCounter)
    ptx = text(product(keeps="%first") * 2, after=DONE)
    both(ptx)
    _, run = both(ptx, profile=True)
    assert interpreted(run) == 1
    both(ptx)
