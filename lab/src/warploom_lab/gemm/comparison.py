"""Comparison of one matrix multiplication on a GPU with float64 and with the emulator."""

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
from warploom.kernels import api
from warploom.kernels.api import Options, Planner, run_gemm
from warploom.kernels.blackwell.dispatch import BlackwellDispatch
from warploom.kernels.blackwell.plan import TensorTile
from warploom.kernels.hopper.cost_model import TileSchedule, exchanged_plans, schedules, tiled_plans
from warploom.kernels.hopper.dispatch import HopperDispatch, dispatch_of
from warploom.kernels.hopper.exchanged_dispatch import ExchangedDispatch
from warploom.kernels.hopper.plan import HOPPER, Plan, Tile
from warploom.kernels.prepared import Dispatch
from warploom.kernels.problem import Operands
from warploom.runtime.api import launch
from warploom.runtime.run import Run
from warploom_lab.gemm.case import Case, case
from warploom_lab.gemm.expected import expected, ratio
from warploom_lab.gemm.inputs import Inputs, make_inputs

Device = Literal["cpu", "cuda"]


@dataclass(frozen=True, slots=True)
class Task:
    """Case by seed and number, and the device to run it on."""

    seed: int
    number: int
    device: Device = "cuda"
    bits: bool = False  # also compare with the emulator, bit for bit
    target: str = HOPPER  # the sanitizer watches the kernels of other targets

    @property
    def case(self) -> Case:
        """Case of the task."""
        return case(self.seed, self.number, self.target)


@dataclass(frozen=True, slots=True)
class Partition:
    """Division of a multiplication among CTAs."""

    tile: Tile  # of one CTA
    ctas: int  # number of CTAs
    split: int  # number of tiles that are split along K


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of the comparison of one case."""

    case: Case
    ratio: float = 0.0  # largest error of an element relative to float64, divided by the allowed error
    bits: bool = False
    partition: Partition | None = None
    inputs: str = ""  # SHA-256 of the inputs
    result: str = ""  # SHA-256 of D
    wrong: str = ""  # message, or "" for a right result
    lost: bool = False  # True if the case gave no result

    def __str__(self) -> str:
        how = "" if self.partition is None else f" [{self.partition}]"
        return f"{self.case}{how}: {self.wrong or 'right'}"


def select_small_cases(seed: int, numbers: Iterable[int], most: int) -> frozenset[int]:
    """Return the numbers of up to `most` cases that the emulator runs in a few seconds."""
    seen: Counter[str] = Counter()
    ranked: list[tuple[int, int]] = []
    for number in numbers:
        one = case(seed, number)
        if one.small:
            ranked.append((seen[one.kind], number))
            seen[one.kind] += 1
    # Spread the cases evenly over the combinations of operand and accumulator types.
    return frozenset(number for _, number in sorted(ranked)[:most])


def warm_up(tasks: Iterable[Task]) -> None:
    """Run cases on the emulator to store the compiled code in the cache on the disk.

    Otherwise, processes that compile the same code at the same time overwrite each other's cache files.
    """
    seen: set[str] = set()
    for task in tasks:
        one = task.case
        if task.bits and not seen.issuperset(one.features):
            seen.update(one.features)
            with suppress(WarploomError):  # the comparison reports the error
                Runner(one).run(make_inputs(one), "cpu")


def compare(task: Task) -> Outcome:
    """Run a case and compare the result with float64. With `task.bits`, also compare with the emulator."""
    one = task.case
    made = make_inputs(one)
    before = None if made.memory is None else made.memory.copy()
    runner = Runner(one)
    try:
        d = runner.run(made, task.device)
        found = Outcome(one, partition=runner.partition, inputs=made.digest, result=digest(d), bits=task.bits)
        wrong = _written_outside(made, before) or runner.findings
        if before is not None:
            made = make_inputs(one)  # restores `out`
        far = ratio(d, *expected(one, made))
        if far > 1:
            wrong = f"an element differs from float64 by {far:.3g} times the allowed distance"
        elif task.bits and not wrong:
            wrong = _first_difference(d, runner.run(made, "cpu"))
    except WarploomError as error:
        return Outcome(one, bits=task.bits, wrong=f"{type(error).__name__}: {error}", lost=True)
    return replace(found, ratio=far, wrong=wrong)


def lost(task: Task) -> Outcome:
    """Return the outcome of a task whose process ended or did not answer in time."""
    message = "the process ended, or did not answer in time"
    return Outcome(task.case, bits=task.bits, wrong=message, lost=True)


def is_reusable(outcome: Outcome) -> bool:
    """Return True if the process that produced an outcome can run another case."""
    return not outcome.lost


class Runner:
    """Runner of one multiplication, with the same kernel and division among CTAs on every device."""

    def __init__(self, one: Case, partition: Partition | None = None) -> None:
        self.case = one
        # If None, the case selects the tile and the division.
        self._partition = partition
        self._dispatch: HopperDispatch | ExchangedDispatch | None = None
        self.findings = ""  # message about the findings of the sanitizer, or ""

    @property
    def partition(self) -> Partition | None:
        """Tile and division among CTAs of the last run, or None before the first run and for other targets."""
        last = self._dispatch
        return None if last is None else Partition(last.plan.tile, last.schedule.ctas, last.schedule.split)

    def run(self, made: Inputs, device: Device) -> NDArray[Any]:
        """Run the case with the operands `made` on a device and return D.

        Errors: UsageError kernels.*, gpu.*; DeviceFault gpu.fault; faults of the emulator.
        """
        one = self.case
        options = Options(
            scaled=one.alpha != 1.0,
            bias_along="row" if one.bias == "row" else "column",
            activation=one.activation,
            result="" if made.arrays.out is not None else one.result,
            accumulator=one.sums,
            fast=one.fast,
            tile=None,
            target=one.target,
            columns=one.k if one.sparse else 0,
        )
        if one.target != HOPPER:
            arrays = tuple(made.arrays)
            return run_gemm(self._plan_on_target, arrays, tuple(options), one.alpha, one.beta, "cpu", self._watched)
        return run_gemm(self._plan, tuple(made.arrays), tuple(options), one.alpha, one.beta, device)

    def _plan(self, arrays: Operands, options: Options, _gpu: Gpu | None) -> HopperDispatch | ExchangedDispatch:
        """Return the dispatch (plan and schedule) of the first call. Every device runs the same dispatch."""
        if self._dispatch is None:
            planner: Planner = api.plan_grouped if self.case.ends else api.plan_gemm
            usual = planner(arrays, options, None)
            assert isinstance(usual, HopperDispatch | ExchangedDispatch)
            self._dispatch = self._varied(usual)
        return self._dispatch

    def _plan_on_target(self, arrays: Operands, options: Options, gpu: Gpu | None) -> Dispatch:
        """Return the usual dispatch, or one with another tile and fewer CTAs, which compute several tiles each."""
        one, usual = self.case, api.plan_gemm(arrays, options, gpu)
        if one.tile < 0 or not isinstance(usual, BlackwellDispatch):
            return usual
        columns = (64, 128, 192) if one.scaling else (64, 128, 192, 256)
        tiles = [TensorTile(each, pair) for each in columns for pair in (False, True)]
        legal = [tile for tile in tiles if one.b_major == "k" or tile.columns // tile.ctas % 64 == 0]
        tile = _at(legal, one.tile)
        return replace(usual, plan=replace(usual.plan, tile=tile), multiprocessors=4)

    def _watched(self, kernel: Any, **options: Any) -> Run:
        """Launch a kernel under the sanitizer, with a schedule that depends on the case."""
        schedule = ("eager", "lazy", f"random:{self.case.number}")[self.case.number % 3]
        run = launch(kernel, **options, sanitize=True, schedule=schedule)
        self.findings = "; ".join(each.message for each in run.findings)
        return run

    def _varied(self, usual: HopperDispatch | ExchangedDispatch) -> HopperDispatch | ExchangedDispatch:
        """Return the dispatch of the cost model with the tile and schedule of this runner or case."""
        one, problem, partition = self.case, usual.problem, self._partition
        plan, choices = usual.plan, [usual.schedule]
        if partition is not None:
            plan = plan.with_tile(partition.tile)
        elif one.tile >= 0:
            plan = _at([*tiled_plans(plan), *exchanged_plans(problem, plan)], one.tile)
        if plan != usual.plan:
            choices = [api.grouped_schedule(problem, plan)] if one.ends else list(schedules(problem, plan))
        if partition is not None:
            schedule = replace(choices[0], ctas=partition.ctas, split=partition.split)
            return dispatch_of(problem, plan, schedule)
        if one.share >= 0:
            choices = [*choices, *_unusual_schedules(plan, choices[0], split=not one.ends)]
        return dispatch_of(problem, plan, _at(choices, one.share) if one.share >= 0 else choices[0])


def _at(choices: list[Any], place: float) -> Any:
    return choices[int(place * len(choices))]


def _unusual_schedules(plan: Plan, schedule: TileSchedule, *, split: bool) -> Iterator[TileSchedule]:
    """Yield schedules that the cost model never chooses: few CTAs with many tiles each, and split tiles.

    `schedule` is the cost model's schedule for `plan`. With `split`, tiles may be split along K.
    """
    cluster = plan.tile.cluster
    if plan.tile.is_vector or (plan.tile.exchanged and cluster > 1):
        return  # the grid has a cluster for each tile
    for clusters in (1, 3):
        if clusters * cluster <= schedule.ctas:
            yield replace(schedule, ctas=clusters * cluster, split=0)
    if split and schedule.stages > 1:
        for clusters, tiles in ((5, schedule.tiles), (3, (schedule.tiles + 1) // 2)):
            yield replace(schedule, ctas=min(clusters, tiles * schedule.stages) * cluster, split=tiles)


def digest(d: NDArray[Any]) -> str:
    """Return the SHA-256 of the elements of D in row-major order."""
    return sha256(d.tobytes()).hexdigest()


def _written_outside(made: Inputs, before: NDArray[Any] | None) -> str:
    """Return a message about elements outside D that the kernel wrote, or "".

    `before` is the memory around D before the launch.
    """
    if before is None or made.memory is None or made.inside is None:
        return ""
    outside = ~made.inside
    bits = f"u{before.itemsize}"
    written = np.count_nonzero((made.memory.view(bits) != before.view(bits)) & outside)
    return f"{written} elements outside D were written" if written else ""


def _first_difference(real: NDArray[Any], emulated: NDArray[Any]) -> str:
    bits = f"u{real.itemsize}"
    gpu, emulator = (np.ascontiguousarray(each).view(bits) for each in (real, emulated))
    places = np.argwhere(gpu != emulator)
    if not len(places):
        return ""
    first = tuple(int(place) for place in places[0])
    return (
        f"{len(places)} of {real.size} elements differ, the first at {first}: the GPU has {int(gpu[first]):#x},"
        f" the emulator {int(emulator[first]):#x}"
    )
