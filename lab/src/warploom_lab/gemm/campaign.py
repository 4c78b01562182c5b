"""A case run: on a GPU, against float64 and, where it is small, against the abstract machine's run of the same PTX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import WarploomError
from warploom.gpu import Gpu
from warploom.kernels import api, grouped
from warploom.kernels.api import Options, Planner, run_gemm
from warploom.kernels.hopper.cost_model import TileSchedule, schedules, tiled_plans
from warploom.kernels.hopper.dispatch import HopperDispatch
from warploom.kernels.hopper.plan import HOPPER, Plan, Tile
from warploom.kernels.problem import Operands
from warploom_lab.gemm.case import Case, case
from warploom_lab.gemm.expected import expected, ratio
from warploom_lab.gemm.given import Given, given

Device = Literal["cpu", "cuda"]


@dataclass(frozen=True, slots=True)
class Task:
    """What a process is asked: a case by its number, the device, and whether the machine is to run it too."""

    seed: int
    number: int
    device: Device = "cuda"
    bits: bool = False


@dataclass(frozen=True, slots=True)
class Way:
    """How a case was run: its tile, the CTAs, and how many tiles are cut along K."""

    tile: Tile
    ctas: int
    split: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case. `ratio` is how much of what is allowed the worst element is away from float64.

    `asked` and `result` are the SHA-256 of what went in, and of D. `wrong` says what is, and is "" where nothing is;
    `lost` is whether there was no result at all.
    """

    case: Case
    ratio: float = 0.0
    bits: bool = False
    way: Way | None = None
    asked: str = ""
    result: str = ""
    wrong: str = ""
    lost: bool = False

    def __str__(self) -> str:
        how = "" if self.way is None else f" [{self.way}]"
        return f"{self.case}{how}: {self.wrong or 'right'}"


def small_ones(seed: int, numbers: Iterable[int], most: int) -> frozenset[int]:
    """Of these numbers `most` whose cases are small, of each kind as many as of others: the machine runs them too."""
    seen: Counter[str] = Counter()
    ranked: list[tuple[int, int]] = []
    for number in numbers:
        one = case(seed, number)
        if one.small:
            ranked.append((seen[one.kind], number))
            seen[one.kind] += 1
    return frozenset(number for _, number in sorted(ranked)[:most])


def warm(tasks: Iterable[Task]) -> None:
    """Run on the machine those that it is to run and that have something new, so that it compiles once what it needs.

    Processes that compile the same at one time would spoil each other's files.
    """
    seen: set[str] = set()
    for task in tasks:
        one = case(task.seed, task.number)
        if task.bits and not seen.issuperset(one.features):
            seen.update(one.features)
            with suppress(WarploomError):  # which is told when it is compared
                Runner(one).run(given(one), "cpu")


def compare(task: Task) -> Outcome:
    """Run a case and compare it."""
    one = case(task.seed, task.number)
    made = given(one)
    before = None if made.whole is None else made.whole.copy()
    runner = Runner(one)
    try:
        d = runner.run(made, task.device)
        way = runner.way
        found = Outcome(one, way=way, asked=made.digest, result=digest(d), bits=task.bits)
        wrong = _beside(made, before)
        if before is not None:
            made = given(one)  # `out` as it was
        far = ratio(d, *expected(one, made))
        if far > 1:
            wrong = f"an element is {far:.3g} times as far from float64's as it may be"
        elif task.bits and not wrong:
            wrong = _differing(d, runner.run(made, "cpu"))
    except WarploomError as error:
        return Outcome(one, bits=task.bits, wrong=f"{type(error).__name__}: {error}", lost=True)
    return replace(found, ratio=far, wrong=wrong)


def lost(task: Task) -> Outcome:
    """What is said of a case whose process ended, or gave no answer in time."""
    said = "its process ended, or gave no answer in time"
    return Outcome(case(task.seed, task.number), bits=task.bits, wrong=said, lost=True)


def lives(outcome: Outcome) -> bool:
    """Whether a process can go on: after a fault of the device it cannot."""
    return not outcome.lost


class Runner:
    """Runs one case, on every device by the same kernel in the same way."""

    def __init__(self, one: Case, way: Way | None = None) -> None:
        self.case = one
        self._way = way
        self._dispatch: HopperDispatch | None = None

    @property
    def way(self) -> Way | None:
        """How it was run; None where it was not yet."""
        held = self._dispatch
        return None if held is None else Way(held.plan.tile, held.schedule.ctas, held.schedule.split)

    def run(self, made: Given, device: Device) -> NDArray[Any]:
        """D. Errors: UsageError kernels.*, gpu.*; DeviceFault gpu.fault; what the machine faults."""
        one = self.case
        options = Options(
            scaled=one.alpha != 1.0,
            bias_along="row" if one.bias == "row" else "column",
            activation=one.activation,
            result="" if made.arrays.out is not None else one.result,
            accumulator=one.sums,
            fast=one.fast,
            tile=None,
            target=HOPPER,
            columns=one.k if one.sparse else 0,
        )
        return run_gemm(self._ask, tuple(made.arrays), tuple(options), one.alpha, one.beta, device)

    def _ask(self, arrays: Operands, options: Options, _gpu: Gpu | None) -> HopperDispatch:
        """What is launched: what was the first time. What was tuned on a GPU is not asked for."""
        if self._dispatch is None:
            asked: Planner = grouped.plan_grouped if self.case.ends else api.plan_gemm
            usual = asked(arrays, options, None)
            assert isinstance(usual, HopperDispatch)
            self._dispatch = self._varied(usual)
        return self._dispatch

    def _varied(self, usual: HopperDispatch) -> HopperDispatch:
        """The same problem by the tile and share that are asked for, or that the case chooses."""
        one, problem, way = self.case, usual.problem, self._way
        plan, ways = usual.plan, [usual.schedule]
        if way is not None:
            plan = plan.with_tile(way.tile)
        elif one.tile >= 0:
            plan = _at(list(tiled_plans(plan)), one.tile)
        if plan != usual.plan:
            ways = [grouped.grouped_schedule(problem, plan)] if one.ends else list(schedules(problem, plan))
        if way is not None:
            return HopperDispatch(problem, plan, replace(ways[0], ctas=way.ctas, split=way.split))
        if one.share >= 0:
            ways = [*ways, *_fewer(plan, ways[0], cut=not one.ends)]
        return HopperDispatch(problem, plan, _at(ways, one.share) if one.share >= 0 else ways[0])


def _at(choices: list[Any], place: float) -> Any:
    return choices[int(place * len(choices))]


def _fewer(plan: Plan, share: TileSchedule, *, cut: bool) -> Iterator[TileSchedule]:
    """Ways that the model does not think of: few CTAs, so that each has many tiles; some tiles cut, or all."""
    cluster = plan.tile.cluster
    for clusters in (1, 3):
        if clusters * cluster <= share.ctas:
            yield replace(share, ctas=clusters * cluster, split=0)
    if cut and share.stages > 1:
        yield replace(share, ctas=5 * cluster, split=share.tiles)
        yield replace(share, ctas=3 * cluster, split=(share.tiles + 1) // 2)


def digest(d: NDArray[Any]) -> str:
    """SHA-256 of a result's elements, row by row."""
    return sha256(d.tobytes()).hexdigest()


def _beside(made: Given, before: NDArray[Any] | None) -> str:
    """What was written beside D, in a phrase."""
    if before is None or made.whole is None or made.within is None:
        return ""
    outside = ~made.within
    bits = f"u{before.itemsize}"
    touched = np.count_nonzero((made.whole.view(bits) != before.view(bits)) & outside)
    return f"{touched} elements beside D were written" if touched else ""


def _differing(real: NDArray[Any], modelled: NDArray[Any]) -> str:
    """Where the machine's bits are others, in a phrase."""
    bits = f"u{real.itemsize}"
    theirs, ours = (np.ascontiguousarray(each).view(bits) for each in (real, modelled))
    places = np.argwhere(theirs != ours)
    if not len(places):
        return ""
    first = tuple(int(place) for place in places[0])
    return (
        f"{len(places)} of {real.size} elements are not the machine's, the first at {first}:"
        f" {int(theirs[first]):#x}, not {int(ours[first]):#x}"
    )
