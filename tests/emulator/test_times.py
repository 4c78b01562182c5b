"""Times of the parts of a launch: what they add up to, and which instructions the interpreter executed."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from emulator.texts import kernel

import warploom as wl
from warploom.emulator.faults import Trap
from warploom.emulator.stats import Stats
from warploom.emulator.times import Interpreted, Times
from warploom.numerics import _compiled

NATIVE = "add.u32 %r1, %r0, 1;\nst.global.u32 [%rd1], %r1;\nret;"
MIXED = """
    .shared .b64 bar;
    .reg .pred %first;
    setp.eq.u32 %first, %r0, 0;
    @%first mbarrier.init.shared::cta.b64 [bar], 64;
    bar.sync 0;
    mbarrier.arrive_drop.shared::cta.b64 %rd2, [bar];
    add.u32 %r1, %r0, 1;
    st.global.u32 [%rd1], %r1;
    ret;"""
MULTIPLY = """
    .reg .b32 %a<4>, %b<2>;
    .reg .f32 %c<4>;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
        {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};
    ret;"""
GRID = 3


@pytest.fixture(autouse=True)
def _default_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WARPLOOM_ENGINE", raising=False)


def launch(body: str, **options: Any) -> Times:
    out = np.zeros(64, np.uint32)
    return wl.launch(kernel(body), grid=GRID, block=64, args=[out], **options).stats.times


def seconds(times: Times) -> dict[str, float]:
    return {each.name: value for each in fields(times) if isinstance(value := getattr(times, each.name), float)}


@pytest.mark.parametrize("engine", ["auto", "interpreter"])
@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:3"])
def test_the_parts_are_at_most_the_whole(engine: str, schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    for _ in range(2):
        began = time.perf_counter()
        times = launch(MIXED, schedule=schedule)
        whole = time.perf_counter() - began
        assert min(seconds(times).values()) >= 0
        assert 0 < sum(times.parts.values()) <= whole
        assert 0 < sum(each.seconds for each in times.instructions) <= times.run - times.native
        assert times.native <= times.run
        assert (times.native > 0) == (times.calls > 0) == (engine == "auto")


def test_a_second_launch_links_nothing() -> None:
    text = MIXED.replace("%r0, 1", "%r0, 17")
    first, second = launch(text), launch(text)
    assert first.link > 0
    assert (second.link, second.load, second.compile, second.loaded, second.compiled) == (0, 0, 0, 0, 0)


def test_native_functions_are_compiled_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """A library without functions compiles those of a kernel. A second library loads them from the cache."""
    from warploom.emulator.native import library

    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))
    functions = set[int]()
    for is_cached in (False, True):
        monkeypatch.setattr(library, "_libraries", [])
        times = launch(NATIVE.replace("%r0, 1", f"%r0, {5 + is_cached}"))
        assert (times.load if is_cached else times.compile) > 0
        assert (times.compiled == 0) == is_cached
        assert (times.loaded > 0) == is_cached
        functions.add(times.compiled + times.loaded)
    assert len(functions) == 1


def test_the_interpreter_executes_what_native_code_leaves() -> None:
    """The interpreter also executes the exit at the end of its block."""
    assert launch(NATIVE).instructions == []
    found = {each.opcode: each for each in launch(MIXED).instructions}
    assert set(found) == {"mbarrier.arrive_drop.shared::cta.b64", "ret"}
    for each in found.values():
        assert each.batches == 1
        assert each.file == "<ptx>"
        assert each.seconds > 0
        assert kernel(MIXED).splitlines()[each.line - 1].partition(each.opcode)[1]
        assert not each.multiplies


def test_the_interpreter_engine_executes_all_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", "interpreter")
    run = wl.launch(kernel(NATIVE), grid=1, block=32, args=[np.zeros(32, np.uint32)])
    times = run.stats.times
    assert [each.batches for each in times.instructions] == [1] * len(times.instructions)
    assert len(times.instructions) == sum(run.stats.instructions.values())
    assert sorted(each.pc for each in times.instructions) == list(range(len(times.instructions)))


def test_native_code_executes_observed_instructions() -> None:
    # The sanitizer needs the exit of the warp, which the interpreter executes.
    assert {each.opcode for each in launch(NATIVE, sanitize=True).instructions} == {"ret"}


def test_a_multiplication_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", "interpreter")
    found = {each.opcode.partition(".")[0]: each.multiplies for each in launch(MULTIPLY).instructions}
    assert found["mma"]
    assert [name for name, multiplies in found.items() if multiplies] == ["mma"]


def test_a_trap_has_times() -> None:
    with pytest.raises(Trap) as caught:
        launch("mbarrier.init.shared::cta.b64 [0], 1;\nst.global.u32 [%rd1+1024], %r0;\nret;")
    times = caught.value.stats.times
    assert times.read > 0
    assert times.run > 0


def test_threads_add_their_times() -> None:
    one, two = launch(MIXED), launch(MIXED, workers=2)
    assert {each.pc for each in one.instructions} == {each.pc for each in two.instructions}
    assert [each.batches for each in two.instructions] == [2, 2]


def test_total() -> None:
    first = Interpreted(4, "k.ptx", 9, "bar.sync", False, 2, 0.5)
    times = Times(read=1.0, native=2.0, calls=3, instructions=[first])
    total = Stats.total([Stats(times=times), Stats(times=times)]).times
    assert total == Times(read=2.0, native=4.0, calls=6, instructions=[first._replace(batches=4, seconds=1.0)])


def test_compilation_of_arithmetic_is_counted() -> None:
    """Numba compiles a new function. The time is that of the process, so calls by other threads add to it."""
    before = _compiled.preparation_seconds()
    twice = _compiled.Compiled(lambda x: x + x + 4711.0)
    assert twice(1.0) == 4713.0
    after = _compiled.preparation_seconds()
    assert after > before
    assert twice(2.0) == 4715.0
    assert _compiled.preparation_seconds() == after
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(_compiled.preparation_seconds).result() == after
