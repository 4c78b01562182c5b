"""Stops of a debugger session: a launch that stops anywhere continues as if it had not stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulator.native.random_programs import WORDS, programs
from emulator.tcgen05_cases import mismatches
from emulator.texts import kernel
from hypothesis import HealthCheck, given, settings
from observe.sanitize.launches import LAUNCHES
from runtime.kernels import make, module, run
from runtime.stepping import Blocks, Every, Hops, Never, Outcome, Stop, stepping

import warploom as wl
from warploom.emulator.batch import Batch
from warploom.emulator.grid_dependencies import Overlap
from warploom.emulator.loader import load
from warploom.runtime import cpu
from warploom.runtime.api import load_launch
from warploom.runtime.debugging import execution
from warploom.runtime.debugging.session import DebugSession
from warploom.runtime.launchfile import read_launch_file

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCHEDULES = ("eager", "lazy", "random:0")
CORPUS = (
    "softmax_bf16_sm90.ptx", "gemm_f16_nn_16x16_1w_sm80.ptx", "gemm_f16_nn_sm90.ptx",
    "gemm_f16_tma_persistent_ws0_sm90.ptx", "gluon_wgmma_rs_bf16_64x64x32_sm90.ptx",
)  # fmt: skip

Launch = Callable[[], bytes]
"""Function that launches a kernel, and returns the bytes that it leaves in its buffers."""


def outcomes(launch: Launch, stops: Callable[[int], Every] | None) -> tuple[bytes, list[Outcome]]:
    with stepping(stops) as found:
        contents = launch()
    return contents, found


def check(
    launch: Launch, monkeypatch: pytest.MonkeyPatch, kinds: tuple[type[Every], ...] = (Every, Hops)
) -> list[Outcome]:
    """Compare launches in sessions, on both engines, with a launch without a session.

    Registers and shared memory must be equal at equal stops. Return the outcomes of the last session.
    """
    plain = outcomes(launch, None)
    stepped = plain
    digests: dict[tuple[int, Stop], Stop] = {}
    for engine in ("interpreter", "auto"):
        monkeypatch.setenv("WARPLOOM_ENGINE", engine)
        assert outcomes(launch, None) == plain, engine
        for kind in kinds:
            stepped = outcomes(launch, kind)
            assert stepped == plain, (engine, kind)
            for number, outcome in enumerate(stepped[1]):
                for stop in outcome.stops:
                    first = digests.setdefault((number, stop._replace(digest=0)), stop)
                    assert stop.pc < 0 or stop == first, (engine, kind)
    return stepped[1]


def corpus(file: str, schedule: str) -> Launch:
    def launch() -> bytes:
        problem = make(file, 0)
        run(file, problem, schedule)
        return problem.outside.tobytes()

    return launch


def handwritten(name: str, **options: Any) -> Launch:
    chosen = LAUNCHES[name]

    def launch() -> bytes:
        args, _ = chosen.make()
        wl.launch(
            chosen.faulty, grid=chosen.grid, block=chosen.block, cluster=chosen.cluster, args=args, raises=False,
            **options,
        )  # fmt: skip
        return b"".join(each.tobytes() for each in args if isinstance(each, np.ndarray))

    return launch


def small(body: str, words: int = 64, **options: Any) -> Launch:
    """Return the launch of a small kernel, which has `words` words of output."""

    def launch() -> bytes:
        out = np.zeros(words, np.uint32)
        wl.launch(kernel(body), **{"grid": 1, "block": words, "args": [out], "raises": False} | options)
        return out.tobytes()

    return launch


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("file", CORPUS)
def test_stops_in_kernels_of_the_corpus(file: str, schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(each.stops for each in check(corpus(file, schedule), monkeypatch))


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("engine", ["interpreter", "auto"])
def test_each_multiplication_of_a_run_stops_with_its_sums_in_registers(
    engine: str, first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stop before all multiplications, or before those that directly follow another one."""
    file = "gemm_f16_nn_sm90.ptx"
    steps = load(module(file)).steps
    chosen = frozenset(pc for pc, step in enumerate(steps) if step.binding.form.multiplies)
    if not first:
        chosen &= {pc + 1 for pc in chosen}

    class Multiplications(Every):
        def __init__(self, size: int) -> None:
            self.pcs = chosen

    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    _, (found,) = outcomes(corpus(file, "eager"), Multiplications)
    assert {stop.pc for stop in found.stops} == chosen
    adjacent = [
        (before, after)
        for before, after in pairwise(found.stops)
        if after.pc == before.pc + 1 and after.batches == before.batches
    ]
    assert len(adjacent) >= len(chosen) // 2
    assert all(before.digest != after.digest for before, after in adjacent)


@pytest.mark.parametrize("number", range(len(LAUNCHES)))
def test_stops_under_the_sanitizer(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    name, schedule = sorted(LAUNCHES)[number], SCHEDULES[number % 3]
    check(handwritten(name, schedule=schedule, sanitize=True), monkeypatch)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_stops_in_an_example(schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def launch() -> bytes:
        plan = read_launch_file(EXAMPLES / "gemm_mma_sync.toml")
        prepared = plan.prepare()
        wl.launch(plan.ptx, plan.kernel, args=prepared.args, **plan.keywords | {"schedule": schedule})
        return b"".join(array.tobytes() for array in prepared.arrays.values())

    check(launch, monkeypatch, (Hops,))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_stops_between_multiplications_in_tensor_memory(schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(lambda: repr(mismatches(0, 1, schedule=schedule)).encode(), monkeypatch, (Hops,))


@settings(deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, max_examples=3)
@given(text=programs())
def test_stops_in_random_programs(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    def launch(schedule: str) -> bytes:
        data = np.random.default_rng(0).integers(0, 1 << 32, WORDS, dtype=np.uint32)
        out = np.zeros((2 * 80, 8), np.uint32)
        wl.launch(text, grid=2, block=80, args=[data, out], schedule=schedule, raises=False)
        return out.tobytes()

    for schedule in ("eager", "random:1"):
        check(lambda schedule=schedule: launch(schedule), monkeypatch)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("batches", [1, 7])
def test_stops_between_blocks(batches: int, schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "BATCHES_PER_CALL", batches)
    launch = corpus("gemm_f16_tma_persistent_ws0_sm90.ptx", schedule)
    (found,) = check(launch, monkeypatch, (Blocks,))
    if schedule == "eager" and batches == 1:
        assert [each.batches for each in found.stops] == [*range(1, found.batches + 1)]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_conditions_that_are_never_true(schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = check(corpus("gemm_f16_nn_sm90.ptx", schedule), monkeypatch, (Never,))
    assert not found.stops


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", sorted(LAUNCHES)[::3])
def test_the_order_does_not_depend_on_observers(name: str, schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "BATCHES_PER_CALL", 1)
    plain: list[dict[Any, Any]] = []
    for options in ({}, {"sanitize": True}, {"trace": True}, {"profile": True}):
        _, (found,) = outcomes(handwritten(name, schedule=schedule, **options), Blocks)
        # Observers may let the interpreter execute a block that native code executes otherwise.
        plain.append({(stop.batches, stop.number): stop.digest for stop in found.stops})
        plain[-1]["end"] = replace(found, findings=[], stops=[])
        common = plain[0].keys() & plain[-1].keys()
        assert len(common) > 1
        assert {key: plain[0][key] for key in common} == {key: plain[-1][key] for key in common}


CLOCK = """
mov.u32 %r1, %clock;
mov.u32 %r2, %clock;
sub.u32 %r2, %r2, %r1;
mov.u64 %rd2, %clock64;
st.global.u32 [%rd1], %r2;
ret;
"""


def test_numbers_of_instructions_ignore_reads_of_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = check(small(CLOCK), monkeypatch, (Every,))
    assert [each.number for each in found.stops] == [*range(found.positions)] == [each.pc for each in found.stops]


def test_numbers_of_instructions_grow_through_all_waves(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "bar.sync 0;\nadd.u32 %r1, %r0, 1;\nst.global.u32 [%rd1], %r1;\nret;"
    (found,) = check(small(body, 64, grid=700), monkeypatch, (Every,))
    numbers = [each.number for each in found.stops]
    assert numbers == sorted(set(numbers))
    assert {each.wave for each in found.stops} == {0, 1}


ENDLESS = "L:\nld.volatile.global.u32 %r1, [%rd0];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nret;"


@pytest.mark.parametrize("schedule", ["eager", "lazy"])
def test_endless_loops_in_launches_that_have_stopped(schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = check(small(ENDLESS, schedule=schedule), monkeypatch, (Blocks, Hops))
    assert found.findings


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:1"])
@pytest.mark.parametrize(
    "body",
    [
        "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra L;\nbar.sync 0;\nL:\nld.global.u32 %r1, [%rd1+4096];\nret;",
        "setp.lt.u32 %p1, %r0, 32;\n@%p1 bar.sync 1, 64;\nret;",
    ],
)
def test_errors_of_launches_that_have_stopped(body: str, schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = check(small(body, schedule=schedule), monkeypatch, (Hops, Blocks))
    assert found.findings


# Sessions -----------------------------------------------------------------------------------------------------


def prepared(body: str, out: np.ndarray[Any, Any]) -> tuple[cpu.EmulatorLaunch, Any]:
    loaded, geometry, arguments = load_launch(kernel(body), None, 1, 64, (1, 1, 1), None, [out])
    return cpu.prepare(loaded, geometry, arguments, None), arguments


class Before(Every):
    """Stops before one instruction, for batches with warp 1."""

    def __init__(self, pc: int) -> None:
        self.pcs = frozenset({pc})

    def reached(self, pc: int, batch: Batch) -> bool:
        return 1 in batch.warp_index


STORE = "add.u32 %r1, %r0, 5;\nst.global.u32 [%rd1], %r1;\nret;"


def test_a_session_shows_the_state_before_an_instruction() -> None:
    out = np.zeros(64, np.uint32)
    launch, arguments = prepared(STORE, out)
    session = DebugSession(launch, arguments)
    steps = launch.request.program.steps
    pc = next(pc for pc, step in enumerate(steps) if step.instruction.opcode.startswith("add"))
    register = steps[pc].scope.location("%r1")
    assert register is not None
    for stop, expected in ((pc, np.zeros(64)), (pc + 1, np.arange(64) + 5)):
        assert session.run(Before(stop))
        block = session.state.interrupted
        assert block is not None
        assert (block.pc, block.rows.tolist()) == (stop, [0, 1])
        registers = session.state.state.files[32][register.index]
        np.testing.assert_array_equal(registers.reshape(-1), expected)
        assert not out.any()
    assert session.close().stats.ctas == 1
    np.testing.assert_array_equal(out, np.arange(64) + 5)


def test_the_state_remains_after_a_trap() -> None:
    out = np.zeros(64, np.uint32)
    launch, arguments = prepared("st.global.u32 [%rd1], %r0;\nld.global.u32 %r1, [%rd1+4096];\nret;", out)
    session = DebugSession(launch, arguments)
    assert not session.run(Never(0))
    assert isinstance(session.waves.error, wl.Trap)
    assert session.state.arena.bytes.any()
    assert not session.run(Never(0))
    with pytest.raises(wl.Trap, match="out of bounds") as caught:
        session.close()
    np.testing.assert_array_equal(caught.value.arrays[0], np.arange(64))
    assert not out.any()


def test_a_session_that_closes_at_once_is_a_plain_launch() -> None:
    out = np.zeros(64, np.uint32)
    assert DebugSession(*prepared(STORE, out)).close().stats.ctas == 1
    np.testing.assert_array_equal(out, np.arange(64) + 5)


def test_a_later_launch_does_not_stop() -> None:
    out = np.zeros(64, np.uint32)
    launch, arguments = prepared(STORE, out)
    session = DebugSession(launch, arguments)
    assert session.run(Before(2))
    session.close()
    assert cpu.run(launch).stats.ctas == 1


def test_what_sessions_refuse() -> None:
    launch, arguments = prepared(STORE, np.zeros(64, np.uint32))
    with pytest.raises(wl.UsageError, match="workers is 2; the debugger expects 1"):
        DebugSession(launch, arguments, workers=2)
    overlapping = replace(launch, request=replace(launch.request, overlap=Overlap()))
    with pytest.raises(wl.UsageError, match="does not support launches that overlap"):
        DebugSession(overlapping, arguments)
