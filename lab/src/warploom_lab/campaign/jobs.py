"""Functions that run one task of a comparison with a GPU, in any process.

The arguments of each function are the data that all tasks share, the task, and a callback that no function calls.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from warploom.diagnostics import WarploomError
from warploom_lab.campaign.experiment import Experiment, Outcome, compare
from warploom_lab.campaign.sample import Sample, differing
from warploom_lab.campaign.selection import FAMILIES, experiments
from warploom_lab.campaign.small_kernels import Mismatch, Record, kernels, mismatches
from warploom_lab.campaign.tensor_case import TensorCase
from warploom_lab.campaign.tensor_copy import TensorOutcome, TensorTask, compare_task, emulated_answer
from warploom_lab.campaign.tensor_record import TensorSample

Report = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Selection:
    """Selection of experiments by the names of families, forms and instructions.

    Without `names`, the default families are selected. With `every` = N, every Nth experiment is selected.
    """

    names: tuple[str, ...] = ()
    every: int = 1

    def experiments(self) -> tuple[Experiment, ...]:
        """Return the selected experiments, in the same order in every process.

        Errors: UsageError compare.form.
        """
        # Processes exchange the index of an experiment, because experiments cannot be pickled.
        return _experiments(self.names, self.every)


@cache
def _experiments(names: tuple[str, ...], every: int) -> tuple[Experiment, ...]:
    return tuple(list(experiments(names or FAMILIES))[::every])


@dataclass(frozen=True, slots=True)
class Inputs:
    """Selected experiments, the number of cases of each, and the seed of their random inputs."""

    selection: Selection
    cases: int
    seed: int


def experiment_on_gpu(shared: Inputs, number: int, _report: Report) -> Outcome:
    """Compare an experiment on the GPU with the emulator. `number` is its index in the selection."""
    experiment = shared.selection.experiments()[number]
    try:
        return compare(experiment, shared.cases, shared.seed)
    except WarploomError as error:
        return Outcome(experiment.form, experiment.instruction, shared.cases, 0, 0, failure=f"{error}")


def experiment_against_sample(shared: tuple[Selection, Sample], number: int, _report: Report) -> int:
    """Return the first case whose result on the emulator differs from the sample, or -1.

    `number` is the index of the experiment in the selection.
    """
    selection, recorded = shared
    return next((case for _, case in differing(recorded, [selection.experiments()[number]])), -1)


def kernel_against_record(shared: Record, key: str, _report: Report) -> Mismatch | None:
    """Compare a small kernel's output on the emulator with the record. Return None if they are equal.

    `key` is the `SmallKernel.key` of the kernel.
    """
    return next(mismatches(shared, kernels([key])), None)


def run_tensor_copy(_shared: None, task: TensorTask, _report: Report) -> TensorOutcome:
    """Run a tensor copy on the device of the task and on the emulator, and compare the results."""
    return compare_task(task)


def tensor_copy_digest(_shared: None, case: TensorCase, _report: Report) -> int:
    """Return the digest of a tensor copy's result on the emulator."""
    return emulated_answer(case).digest()


def tensor_copy_against_sample(_shared: None, task: tuple[TensorCase, int], _report: Report) -> tuple[str, str] | None:
    """Compare a tensor copy on the emulator with a recorded digest. Return None if the digests agree.

    The task is (copy, recorded digest). If the digests differ, return the emulator's verdict and message.
    """
    case, digest = task
    found = TensorSample([case], [""], [digest]).differing()
    return next(((emulated.verdict, emulated.words) for _, _, emulated in found), None)
