"""Search for the fastest tile of a problem on a GPU, among the tiles with the best estimates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf

from warploom.gpu import Timing
from warploom.gpu.timing import Call
from warploom.kernels.hopper.cost_model import TileSchedule, configurations, microseconds
from warploom.kernels.hopper.dispatch import dispatch_of
from warploom.kernels.hopper.plan import Plan
from warploom.kernels.hopper.tuned_tiles import Tuned, choose_tuned, keep, key_of
from warploom.kernels.prepared import Dispatch
from warploom.kernels.problem import Operands, Problem
from warploom.kernels.timing.cases import Case
from warploom.kernels.timing.cublas import Matrices
from warploom.kernels.timing.speed import Bench, clocked, difference, matrix_sets

MAX_CANDIDATES = 24
"""Largest number of candidates that are timed."""
_MAX_RATIO = 1.4  # largest ratio of a candidate's estimate to the best estimate

Launch = Callable[[Operands], object]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Plan and schedule of a problem, with the estimated time. Units: microseconds."""

    plan: Plan
    schedule: TileSchedule
    estimate: float


@dataclass(frozen=True, slots=True)
class Trial:
    """Candidate that was run. `timing` is None if the result is wrong."""

    candidate: Candidate
    timing: Timing | None
    difference: float

    @property
    def microseconds(self) -> float:
        """Median time, or infinity if the candidate was not timed. Units: microseconds."""
        return inf if self.timing is None else self.timing.median


@dataclass(frozen=True, slots=True)
class Outcome:
    """Trials of a case, the fastest first.

    `before` is the choice before the search. `now` is the fastest correct candidate, or None if all are wrong.
    """

    case: Case
    trials: tuple[Trial, ...]
    before: Candidate
    now: Candidate | None


Prepare = Callable[[Dispatch, Operands], Launch]
"""Function that prepares the launch of a dispatch for arrays with the layouts of the operands."""


def candidates(problem: Problem, plan: Plan) -> list[Candidate]:
    """Return the plans and schedules with the best estimates, the best first."""
    found = [
        Candidate(tiled, schedule, microseconds(problem, tiled, schedule))
        for tiled, schedule in configurations(problem, plan)
    ]
    found.sort(key=lambda each: each.estimate)
    return [each for each in found if each.estimate <= _MAX_RATIO * found[0].estimate][:MAX_CANDIDATES]


def tune(bench: Bench, case: Case, prepare: Prepare, progress: Callable[[str, int, int], object]) -> Outcome:
    """Time the candidates for a problem, and store the fastest tile as the tuned tile.

    `prepare` returns a function that launches a candidate. `progress` receives a description of the step, the number of
    completed steps and the number of all steps. Candidates with wrong results are not timed.

    Errors: UsageError bench.peer, gpu.timing, kernels.*; DeviceFault gpu.fault.
    """
    problem, plan = case.problem, case.plan
    chosen, schedule = choose_tuned(bench.gpu, problem, plan)
    before = Candidate(chosen, schedule, microseconds(problem, chosen, schedule))
    choices = candidates(problem, plan)
    if before not in choices:
        choices = [before, *choices]
    sets, theirs = matrix_sets(bench.peer, case), bench.peer.multiply(case.kind)
    differences: list[float] = []
    launches: list[Launch] = []
    for number, each in enumerate(choices):
        progress(f"building tile {number + 1} of {len(choices)}", number, len(choices) + 1)
        operands = _operands(sets[0])
        launches.append(prepare(dispatch_of(problem, each.plan, each.schedule), operands))
        differences.append(difference(bench, case, sets[0], partial(launches[-1], operands), theirs))
    progress("timing", len(choices), len(choices) + 1)
    correct = [number for number, found in enumerate(differences) if found <= case.kind.tolerance]
    times = _times(bench, {str(number): launches[number] for number in correct}, sets)
    trials = [Trial(each, times.get(str(number)), differences[number]) for number, each in enumerate(choices)]
    trials.sort(key=lambda each: each.microseconds)
    now = trials[0].candidate if correct else None
    if now is not None:
        tuned = Tuned(now.plan.tile, now.schedule.split, trials[0].microseconds)
        keep(bench.gpu, key_of(problem, plan), tuned)
    return Outcome(case, tuple(trials), before, now)


def _operands(matrices: Matrices) -> Operands:
    if matrices.compressed is None:
        return Operands(matrices.a, matrices.b, out=matrices.d)
    compressed = matrices.compressed
    return Operands(compressed.values, matrices.b, out=matrices.d, metadata=compressed.metadata)


def _times(bench: Bench, launches: dict[str, Launch], sets: Sequence[Matrices]) -> Mapping[str, Timing]:
    if not launches:
        return {}
    operands = [_operands(each) for each in sets]

    def call(launch: Launch, each: Operands) -> Call:
        return lambda _: launch(each)

    def calls(rounds: int) -> dict[str, list[Call]]:
        return {name: [call(launch, each) for each in operands * rounds] for name, launch in launches.items()}

    return clocked(bench, calls, len(sets))[0]
