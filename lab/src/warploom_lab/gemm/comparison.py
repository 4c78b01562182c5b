"""Comparison of one matrix multiplication on a GPU with float64 and with the emulator."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

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
from warploom_lab.gemm.expected import expected
from warploom_lab.gemm.inputs import Inputs, make_inputs
from warploom_lab.problems.outcome import Device, Task
from warploom_lab.problems.outcome import Outcome as AnyOutcome
from warploom_lab.problems.results import digest, first_difference, ratio, written_outside


@dataclass(frozen=True, slots=True)
class Partition:
    """Division of a multiplication among CTAs."""

    tile: Tile  # of one CTA
    ctas: int  # number of CTAs
    split: int  # number of tiles that are split along K


@dataclass(frozen=True, slots=True)
class Outcome(AnyOutcome[Case]):
    """Result of the comparison of one case."""

    case: Case
    partition: Partition | None = None

    def __str__(self) -> str:
        how = "" if self.partition is None else f" [{self.partition}]"
        return f"{self.case}{how}: {self.wrong or 'right'}"


def compare(task: Task) -> Outcome:
    """Run a case and compare the result with float64. With `task.bits`, also compare with the emulator."""
    one = case(task.seed, task.number, task.target)
    made = make_inputs(one)
    before = None if made.memory is None else made.memory.copy()
    runner = Runner(one, sanitize=task.sanitize)
    try:
        d = runner.run(made, task.device)
        found = Outcome(one, partition=runner.partition, inputs=made.digest, result=digest(d), bits=task.bits)
        wrong = runner.findings
        if before is not None and made.memory is not None and made.inside is not None:
            wrong = written_outside(made.memory, before, made.inside, "D") or wrong
        if before is not None:
            made = make_inputs(one)  # restores `out`
        far = ratio(d, *expected(one, made))
        if far > 1:
            wrong = f"an element differs from float64 by {far:.3g} times the allowed distance"
        elif task.bits and not wrong:
            wrong = first_difference(d, runner.run(made, "cpu"))
    except WarploomError as error:
        return Outcome(one, bits=task.bits, wrong=f"{type(error).__name__}: {error}", lost=True)
    return replace(found, ratio=far, wrong=wrong)


def emulate(one: Case) -> None:
    """Run a case on the emulator."""
    Runner(one).run(make_inputs(one), "cpu")


class Runner:
    """Runner of one multiplication, with the same kernel and division among CTAs on every device."""

    def __init__(self, one: Case, partition: Partition | None = None, *, sanitize: bool = False) -> None:
        self.case, self._sanitize = one, sanitize
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
        start = self._watched if self._sanitize else None
        return run_gemm(self._plan, tuple(made.arrays), tuple(options), one.alpha, one.beta, device, start)

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
            if partition.split:  # older records have launches with more clusters than stages, some of which had none
                most = partition.split * schedule.stages * partition.tile.ctas
                schedule = replace(schedule, ctas=min(partition.ctas, most))
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
    cluster = plan.tile.ctas
    if plan.tile.is_vector or plan.tile.parts > 1:
        return  # the grid has a cluster for each tile
    for clusters in (1, 3):
        if clusters * cluster <= schedule.ctas:
            yield replace(schedule, ctas=clusters * cluster, split=0)
    if split and schedule.stages > 1:
        for clusters, tiles in ((5, schedule.tiles), (3, (schedule.tiles + 1) // 2)):
            yield replace(schedule, ctas=min(clusters, tiles * schedule.stages) * cluster, split=tiles)
