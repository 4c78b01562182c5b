"""What a launch leaves behind when it ends with a trap or a deadlock: arrays, findings and records."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from emulator.texts import kernel

import warploom as wl
from warploom.emulator.stats import Progress, Stats

SCHEDULES = ("eager", "lazy", "random:3")

# Every thread stores 7. Then thread 63 traps, or one warp waits forever.
TRAP = kernel("st.global.u32 [%rd1], 7;\nsetp.eq.u32 %p1, %r0, 63;\nbar.sync 0;\n@%p1 trap;\nret;")
HANG = kernel("st.global.u32 [%rd1], 7;\nsetp.lt.u32 %p1, %r0, 32;\n@%p1 bra L;\nbar.sync 1, 96;\nL:\nret;")
# The warps race on one word of shared memory before the trap.
RACE = kernel(".shared .b32 s[1];\nst.shared.u32 [s], %r0;\nst.global.u32 [%rd1], 7;\nbar.sync 0;\ntrap;\nret;")
ENDS: dict[str, tuple[str, type[wl.Trap | wl.Deadlock]]] = {"trap": (TRAP, wl.Trap), "hang": (HANG, wl.Deadlock)}


def ended(text: str, *args: object, **options: Any) -> wl.Trap | wl.Deadlock:
    with pytest.raises((wl.Trap, wl.Deadlock)) as caught:
        wl.launch(text, grid=1, block=64, args=args, **options)
    return caught.value


@pytest.mark.parametrize("sanitize", [False, True])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", ENDS)
def test_arrays_stay_unchanged_and_the_error_has_the_stores(name: str, schedule: str, sanitize: bool) -> None:
    text, kind = ENDS[name]
    target = np.arange(64, dtype=np.uint32)
    error = ended(text, target, schedule=schedule, sanitize=sanitize)
    assert type(error) is kind
    np.testing.assert_array_equal(target, np.arange(64))
    (partial,) = error.arrays
    assert partial.dtype == target.dtype
    np.testing.assert_array_equal(partial, np.full(64, 7))


def test_the_step_limit_leaves_the_same_state() -> None:
    text = kernel("st.global.u32 [%rd1], 7;\nL:\nadd.u32 %r1, %r1, 1;\nbra L;")
    target = np.arange(64, dtype=np.uint32)
    error = ended(text, target, step_budget=5000)
    assert error.diagnostics[0].code == "emulator.runaway"
    assert target.tolist() == list(range(64))
    assert error.arrays[0].tolist() == [7] * 64


@pytest.mark.parametrize("sanitize", [False, True])
def test_an_interrupt_leaves_the_same_state(sanitize: bool) -> None:
    text = kernel("st.global.u32 [%rd1], 7;\nL:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9999;\n@%p1 bra L;\nret;")
    target = np.arange(64, dtype=np.uint32)

    def stop(progress: Progress) -> None:
        if progress.instructions:
            raise KeyboardInterrupt

    run = wl.sanitize if sanitize else wl.launch
    with pytest.raises(KeyboardInterrupt) as caught:
        run(text, grid=1, block=64, args=[target], progress=stop)
    assert target.tolist() == list(range(64))
    assert vars(caught.value)["arrays"][0].tolist() == [7] * 64


def test_partial_contents_follow_the_parameters() -> None:
    params = ".param .u64 out, .param .u32 n, .param .u64 table, .param .align 8 .b8 pair[16], .param .u64 nothing"
    text = kernel("st.global.u32 [%rd1], 7;\ntrap;\nret;", params)
    whole = np.arange(128, dtype=np.uint32)
    left, right = np.ones(3, np.float16), np.ones((2, 2), np.int8)
    error = ended(text, whole[64:], 5, [left, right], wl.Struct(whole[:64], np.int32(1)), None)
    out, n, table, pair, nothing = error.arrays
    assert (n, nothing) == (None, None)
    assert out.tolist() == [7] * 64
    assert [each.tolist() for each in table] == [left.tolist(), right.tolist()]
    assert pair[0].tolist() == list(range(64))
    assert pair[1] is None


def test_a_trap_after_the_first_wave_keeps_the_stores_of_earlier_ctas() -> None:
    text = kernel("mov.u32 %r1, %ctaid.x;\nst.global.u32 [%rd1], %r1;\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 trap;\nret;")
    target = np.zeros(64, np.uint32)
    with pytest.raises(wl.Trap) as caught:
        wl.launch(text, grid=5000, block=32, args=[target])
    assert not target.any()
    assert caught.value.stats.ctas < 5000


def test_the_error_has_the_findings_and_the_records() -> None:
    plain = ended(RACE, np.zeros(64, np.uint32))
    assert plain.findings == ()
    assert plain.stats.instructions["memory"] > 0
    assert plain.trace is None
    assert plain.profile is None
    full = ended(RACE, np.zeros(64, np.uint32), sanitize=True, trace=True, profile=True)
    codes = [found.code for found in full.findings]
    assert "sanitize.race/shared" in codes
    assert codes[-1] == "emulator.trap"
    assert full.diagnostics == plain.diagnostics
    assert full.trace is not None
    assert full.profile is not None


def test_raises_false_returns_the_run_with_its_error() -> None:
    target = np.arange(64, dtype=np.uint32)
    run = wl.launch(TRAP, grid=1, block=64, args=[target], raises=False)
    assert isinstance(run.error, wl.Trap)
    assert [found.code for found in run.findings] == ["emulator.trap"]
    assert target.tolist() == list(range(64))
    assert wl.launch(kernel("ret;"), grid=1, block=64, args=[target], raises=False).error is None


@pytest.mark.parametrize("name", ENDS)
def test_sanitize_returns_the_end_as_a_finding_of_each_cause_once(name: str) -> None:
    target = np.arange(64, dtype=np.uint32)
    run = wl.sanitize(ENDS[name][0], grid=1, block=64, args=[target])
    assert type(run.error) is ENDS[name][1]
    assert len(run.findings) == 1
    assert target.tolist() == list(range(64))


def test_sanitize_keeps_the_results_of_the_first_schedule() -> None:
    """Only the lazy schedule reads the old word, and traps."""
    body = """.shared .align 16 .b32 s[4];
    mov.u32 %r1, s;
    st.shared.u32 [s], 1;
    cp.async.ca.shared.global [%r1], [%rd0], 16;
    ld.shared.u32 %r2, [s];
    setp.eq.u32 %p1, %r2, 1;
    @%p1 trap;
    st.global.u32 [%rd0], 7;
    ret;"""
    for schedules, first in ((("eager", "lazy"), 7), (("lazy", "eager"), 5)):
        target = np.full(32, 5, np.uint32)
        run = wl.sanitize(kernel(body), grid=1, block=1, args=[target], schedules=schedules)
        assert (run.error is None) == (first == 7)
        assert target[0] == first
        assert "emulator.trap" in [found.code for found in run.findings]


def test_a_breakpoint_ends_the_kernel_as_a_trap_does() -> None:
    target = np.zeros(64, np.uint32)
    text = kernel("st.global.u32 [%rd1], 7;\nsetp.eq.u32 %p1, %r0, 5;\n@%p1 brkpt;\nst.global.u32 [%rd1], 9;\nret;")
    error = ended(text, target)
    assert error.diagnostics[0].code == "emulator.trap"
    assert "'brkpt' without a debugger" in str(error)
    assert not target.any()
    assert 9 not in error.arrays[0]
    never = text.replace("%r0, 5;", "%r0, 99;")
    wl.launch(never, grid=1, block=64, args=[target])
    assert target.tolist() == [9] * 64


def test_each_error_has_its_own_statistics() -> None:
    first, second = (wl.Trap([]) for _ in range(2))
    first.stats.macs = 7
    assert second.stats == pickle.loads(pickle.dumps(first)).stats == Stats()
