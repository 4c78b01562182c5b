"""Finding the quickest tile of a problem on the GPU that is here: candidates of the model, timed in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf

from warploom.gpu import Timing
from warploom.gpu.timing import Call
from warploom.kernels.hopper.cost_model import Share, microseconds, ways
from warploom.kernels.hopper.dispatch import Dispatch
from warploom.kernels.hopper.plan import Plan
from warploom.kernels.hopper.tuned_tiles import Tuned, chosen, keep, key_of
from warploom.kernels.problem import Arrays, Problem
from warploom.kernels.timing.cublas import Matrices, Peer
from warploom.kernels.timing.speed import TRIES, Case, Clock, distance, rotating, rounds

MOST = 24
"""Candidates that are timed."""
_WITHIN = 1.4  # times the model's best

Launch = Callable[[Arrays], object]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to run a problem, and how long the model takes it to be. Units: microseconds."""

    plan: Plan
    share: Share
    told: float


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate that was run: its times, or None where its result is `far` from the library's."""

    candidate: Candidate
    timing: Timing | None
    far: float

    @property
    def microseconds(self) -> float:
        """The middle of its times; without any, infinity."""
        return inf if self.timing is None else self.timing.median


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that was tried, the quickest first, and what was chosen before; `now` is None where all are wrong."""

    case: Case
    tried: tuple[Tried, ...]
    before: Candidate
    now: Candidate | None


@dataclass(frozen=True, slots=True)
class Tuner:
    """What tuning is done with: the GPU's name, a library for data and right results, our launches, a clock.

    `prepare` makes the launch of a Dispatch for arrays that lie as the given ones; `wait` returns when the GPU has
    nothing left to do.
    """

    gpu: str
    peer: Peer
    prepare: Callable[[Dispatch, Arrays], Launch]
    clock: Clock
    wait: Callable[[], object]
    repetitions: int = 20


def candidates(problem: Problem, plan: Plan, most: int = MOST) -> list[Candidate]:
    """The ways that the model takes to be near the quickest, in its order."""
    found = [
        Candidate(tried, share, microseconds(problem, tried, share)) for tried, share in ways(problem, plan)
    ]
    found.sort(key=lambda each: each.told)
    return [each for each in found if each.told <= _WITHIN * found[0].told][:most]


def tune(tuner: Tuner, case: Case, begin: Callable[[str, int, int], object]) -> Outcome:
    """Run every candidate, check it, time all in turn, and keep the quickest for this GPU.

    `begin` is told what is begun, the steps done and all steps there are.
    Errors: UsageError bench.peer, gpu.timing, kernels.*; DeviceFault gpu.fault.
    """
    problem = case.kind.problem(case.m, case.n, case.k)
    plan = case.kind.plan(problem)
    before, choices = _choices(tuner.gpu, problem, plan)
    sets = rotating(tuner.peer, case)
    far: list[float] = []
    launches: list[Launch] = []
    for each in choices:
        begin(f"building tile {len(far) + 1} of {len(choices)}", len(far), len(choices) + 1)
        dispatch, arrays = Dispatch(problem, each.plan, each.share), _arrays(sets[0])
        launches.append(tuner.prepare(dispatch, arrays))
        far.append(distance(tuner.peer, case, sets[0], partial(launches[-1], arrays), tuner.wait))
    begin("timing", len(choices), len(choices) + 1)
    right = [place for place, found in enumerate(far) if found <= case.kind.tolerance]
    times = _times(tuner, {str(place): launches[place] for place in right}, sets) if right else {}
    tried = [Tried(each, times.get(str(place)), far[place]) for place, each in enumerate(choices)]
    tried.sort(key=lambda each: each.microseconds)
    now = tried[0].candidate if right else None
    if now is not None:
        found = Tuned(now.plan.tile, now.share.split, tried[0].microseconds)
        keep(tuner.gpu, key_of(problem, plan), found)
    return Outcome(case, tuple(tried), before, now)


def _choices(gpu: str, problem: Problem, plan: Plan) -> tuple[Candidate, list[Candidate]]:
    """What was chosen until now, and all candidates, it among them."""
    kept, share = chosen(gpu, problem, plan)
    before = Candidate(kept, share, microseconds(problem, kept, share))
    found = candidates(problem, plan)
    return before, found if before in found else [before, *found]


def _arrays(held: Matrices) -> Arrays:
    if held.compressed is None:
        return Arrays(held.a, held.b, out=held.d)
    return Arrays(held.compressed.values, held.b, out=held.d, metadata=held.compressed.metadata)


def _times(tuner: Tuner, launches: dict[str, Launch], sets: Sequence[Matrices]) -> dict[str, Timing]:
    arrays = [_arrays(held) for held in sets]

    def call(launch: Launch, each: Arrays) -> Call:
        return lambda _: launch(each)

    def calls(turns: int) -> dict[str, list[Call]]:
        return {name: [call(launch, each) for each in arrays * turns] for name, launch in launches.items()}

    once = tuner.clock(calls(1), TRIES)
    return dict(tuner.clock(calls(rounds(once, len(sets))), tuner.repetitions))
