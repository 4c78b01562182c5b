"""Snapshots: a launch continues from a snapshot as it did before, and each part declares all of its state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import pytest
from emulator.tcgen05_cases import mismatches
from emulator.texts import kernel
from observe.sanitize.launches import LAUNCHES as HANDWRITTEN
from runtime.kernels import make, run

import warploom as wl
from warploom.emulator import wave_run
from warploom.emulator.batch import Batch
from warploom.emulator.snapshot import Snapshot, components
from warploom.emulator.stops import Stops
from warploom.emulator.wave_run import WaveRun

DERIVED = {
    "emulator": {
        "stops": "a control of the debugger", "_stop_pcs": "a control of the debugger",
        "batches_per_call": "a control of the debugger", "native": "its tables depend on the program and on stops",
        "linked": "only runs of multiplications change, which are linked after their first execution",
        "executable": "belongs to all launches of the program", "accumulators": "a copy of registers",
        "program": "a cache of analyses",
    },
    "state": {"placement": "restored from the coordinates", "_present": "derived from the placement",
              "_used": "True once CTAs have run", "_bytes": "views of the registers",
              "on_suspend": "an observer"},
    "grid": {"cta": "restored from the coordinates"},
    "mbarriers": {"words": "a view of shared memory", "_problem": "scratch memory", "_none": "a constant"},
    "memory": {"_fault": "scratch memory"},
    "shared": {"_fault": "scratch memory"},
    "multiplications": {"_decoded": "a cache"},
    "waves": {"_times": "statistics of time"},
}  # fmt: skip
"""Attributes that change during an execution and are not part of snapshots, by part, with the reason."""

CORPUS = (
    "softmax_bf16_sm90.ptx", "gemm_f16_nn_16x16_1w_sm80.ptx", "gemm_f16_nn_sm90.ptx",
    "gemm_f16_tma_persistent_ws0_sm90.ptx", "gluon_wgmma_rs_bf16_64x64x32_sm90.ptx",
)  # fmt: skip
SCHEDULES = ("eager", "lazy", "random:1")


class Blocks(Stops):
    """Stops after each call of native code and after each block of the interpreter."""

    def between_blocks(self) -> bool:
        return True


class Everywhere(Blocks):
    """Stops before each instruction."""

    def __init__(self, size: int) -> None:
        self.pcs = frozenset(range(size))

    def reached(self, pc: int, batch: Batch) -> bool:
        return True


def contents(value: Any, depth: int = 4, *, enters: bool = True) -> Any:
    """Return a value that can be compared. Objects are compared by attributes if `enters` is set, else by identity."""
    inner = partial(contents, depth=depth - 1, enters=enters)
    if isinstance(value, np.ndarray):
        return value.tobytes(), value.shape
    if isinstance(value, dict):
        return {repr(key): inner(each) for key, each in value.items()} if depth else len(value)
    if isinstance(value, list | tuple):
        return [inner(each) for each in value] if depth else len(value)
    if isinstance(value, set | frozenset):
        return frozenset(map(repr, value))
    if hasattr(value, "getstate"):
        return value.getstate()
    if enters and (hasattr(type(value), "STATE") or hasattr(value, "__dataclass_fields__")):
        fields = [name for name in attributes(value) if depth and name not in ("state", "operations", "components")]
        return [inner(getattr(value, name, None)) for name in fields]
    return value if isinstance(value, int | float | str | bytes | None) else type(value) if enters else id(value)


def attributes(part: Any) -> list[str]:
    slots = [name for kind in type(part).__mro__ for name in getattr(kind, "__slots__", ())]
    return [*getattr(part, "__dict__", ()), *slots]


def state_of(waves: WaveRun) -> dict[str, dict[str, Any]]:
    """Return the whole state that snapshots contain."""
    waves.emulator.flush()
    waves.emulator.update_counters()
    untimed = ("seconds", "native_seconds", "native_calls", "executions", "_compared")  # the last has addresses
    return {
        name: {field: contents(getattr(part, field, None)) for field in part.STATE if field not in untimed}
        for name, part in components(waves).items()
    }


def others(waves: WaveRun) -> dict[str, dict[str, Any]]:
    """Return the attributes that snapshots do not contain, except those of other parts."""
    parts = components(waves)
    known = {id(part) for part in parts.values()}
    found: dict[str, dict[str, Any]] = {}
    for name, part in parts.items():
        rest = [each for each in attributes(part) if each not in part.STATE and each not in DERIVED.get(name, {})]
        found[name] = {
            each: contents(getattr(part, each, None), 2, enters=False)
            for each in rest
            if id(getattr(part, each, None)) not in known
        }
    return found


@contextmanager
def controlled(control: Callable[[WaveRun], None]) -> Iterator[None]:
    """Let `control` run each launch up to its end."""
    advance = WaveRun.advance

    def start_waves(*args: Any, **_: Any) -> Any:
        run = WaveRun(*args[:4])
        control(run)
        run.emulator.stop_at(None)
        while advance(run) is not None:
            pass
        return run.result()
        yield

    with (
        mock.patch.object(wave_run, "start_waves", start_waves),
        mock.patch("warploom.emulator.execute.start_waves", start_waves),
    ):
        yield


def check_replays(waves: WaveRun) -> None:
    """Continue from snapshots of a launch, and compare all states with those of the first execution."""
    emulator = waves.emulator
    stops = Everywhere(len(waves.program.steps)) if emulator.schedule.seed % 2 else Blocks()
    emulator.batches_per_call = 1
    emulator.stop_at(stops)
    start, count, first = Snapshot.take(waves), 0, None
    while advance(waves):
        first = first or others(waves)
        count += 1
    if first is not None:
        last = others(waves)
        changed = {
            (name, field)
            for name, fields in last.items()
            for field in fields
            if first[name].get(field) != fields[field]
        }
        assert not changed
    start.restore(waves)
    samples = {*range(1, count, max(count // 12, 1)), count}
    picks = {count * k // 4 for k in range(1, 4)}
    seen: dict[int, Any] = {}
    taken: dict[int, Snapshot] = {}
    for number in range(1, count + 1):
        assert advance(waves)
        if number in picks:
            taken[number] = Snapshot.take(waves)
        if number in samples | picks:
            seen[number] = state_of(waves)
    assert not advance(waves)
    end = state_of(waves)
    for pick, snapshot in reversed(taken.items()):
        snapshot.restore(waves)
        differences(state_of(waves), seen[pick])
        for number in range(pick + 1, count + 1):
            assert advance(waves)
            if number in seen:
                differences(state_of(waves), seen[number])
        assert not advance(waves)
        differences(state_of(waves), end)


def advance(waves: WaveRun) -> bool:
    waves.advance()
    return not waves.is_over


def differences(one: dict[str, dict[str, Any]], two: dict[str, dict[str, Any]]) -> None:
    found = {(name, field) for name, part in one.items() for field in part if part[field] != two[name][field]}
    assert not found


def small(body: str, words: int = 64, before: str = "", **options: Any) -> Callable[[str], None]:
    def launch(schedule: str) -> None:
        wl.launch(
            kernel(body, before=before), args=[np.zeros(words, np.uint32)], schedule=schedule, raises=False,
            **{"grid": 1, "block": 64} | options,
        )  # fmt: skip

    return launch


def corpus(file: str) -> Callable[[str], None]:
    return lambda schedule: run(file, make(file, 0), schedule)


DIVERGED = """
and.b32 %r2, %r0, 3;
mov.u32 %r1, 0;
L:
add.u32 %r1, %r1, 1;
setp.lt.u32 %p1, %r1, %r2;
@%p1 bra L;
setp.lt.u32 %p2, %r0, 7;
@%p2 bra M;
bar.warp.sync 0xffffffff;
vote.sync.ballot.b32 %r3, %p1, 0xffffffff;
M:
barrier.cta.red.popc.u32 %r4, 0, %p2;
st.global.u32 [%rd1], %r4;
ret;
"""
PRINTING = """
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
.extern .func (.param .b64 p) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};
"""
ALLOCATING = """
mov.u64 %rd2, text;
cvta.global.u64 %rd2, %rd2;
mov.u64 %rd3, 0;
{ .param .b64 f; .param .b64 v; .param .b32 r;
st.param.b64 [f], %rd2; st.param.b64 [v], %rd3; call.uni (r), vprintf, (f, v); }
{ .param .b64 n; .param .b64 p; st.param.b64 [n], 64; call.uni (p), malloc, (n); ld.param.b64 %rd4, [p]; }
st.u32 [%rd4], %r0;
bar.sync 0;
ld.u32 %r1, [%rd4];
{ .param .b64 q; st.param.b64 [q], %rd4; call.uni free, (q); }
bar.sync 0;
st.global.u32 [%rd1], %r1;
ret;
"""
LAUNCHES: dict[str, Callable[[str], None]] = {
    **{file: corpus(file) for file in CORPUS},
    "tcgen05": lambda schedule: (mismatches(0, 1, schedule=schedule), None)[1],
    "divergence": small(DIVERGED),
    "waves": small("bar.sync 0;\nadd.u32 %r1, %r0, 1;\nst.global.u32 [%rd1], %r1;\nret;", grid=700),
    "heap": small(ALLOCATING, before=PRINTING),
    "endless": small(
        "L:\nld.volatile.global.u32 %r1, [%rd0];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nret;", step_budget=1 << 15
    ),
    "trap": small("bar.sync 0;\nadd.u32 %r1, %r0, 1;\nld.global.u32 %r1, [%rd1+4096];\nret;"),
}


@pytest.mark.parametrize("engine", ["interpreter", "auto"])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", LAUNCHES)
def test_a_launch_continues_from_its_snapshots(
    name: str, schedule: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    with controlled(check_replays):
        LAUNCHES[name](schedule)


@pytest.mark.parametrize("number", range(0, len(HANDWRITTEN), 2))
def test_handwritten_kernels_continue_from_their_snapshots(number: int) -> None:
    name, schedule = sorted(HANDWRITTEN)[number], SCHEDULES[number // 2 % 3]
    chosen = HANDWRITTEN[name]
    args, _ = chosen.make()
    with controlled(check_replays):
        wl.launch(
            chosen.faulty, grid=chosen.grid, block=chosen.block, cluster=chosen.cluster, args=args, raises=False,
            schedule=schedule,
        )  # fmt: skip
