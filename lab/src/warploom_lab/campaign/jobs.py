"""The work of campaigns, a task at a time: functions that any process can be given, whoever spreads them.

Each takes what all tasks share, a task, and whom to tell how far it is (none of these is long enough to say).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from warploom.diagnostics import WarploomError
from warploom_lab.campaign.experiment import Experiment, Outcome, compare
from warploom_lab.campaign.forms import FAMILIES, experiments
from warploom_lab.campaign.sample import Sample, differing
from warploom_lab.campaign.small import Disagreement, Record, disagreements, kernels
from warploom_lab.campaign.tensor_case import TensorCase
from warploom_lab.campaign.tensor_copy import TensorOutcome, TensorTask, compare_task, modelled_answer
from warploom_lab.campaign.tensor_record import TensorSample

Tell = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which experiments: names of families, forms and instructions, and of those found every so manyth."""

    names: tuple[str, ...] = ()
    every: int = 1

    def experiments(self) -> tuple[Experiment, ...]:
        """They, by number: the same ones everywhere, since none can be sent. Errors: UsageError compare.form."""
        return _experiments(self.names, self.every)


@cache
def _experiments(names: tuple[str, ...], every: int) -> tuple[Experiment, ...]:
    return tuple(list(experiments(names or FAMILIES))[::every])


@dataclass(frozen=True, slots=True)
class Inputs:
    """Experiments, and what they are given."""

    choice: Choice
    cases: int
    seed: int


def experiment_on_gpu(shared: Inputs, number: int, _tell: Tell) -> Outcome:
    """The experiment of a number, on the GPU of this process's machine and on the abstract machine."""
    experiment = shared.choice.experiments()[number]
    try:
        return compare(experiment, shared.cases, shared.seed)
    except WarploomError as error:
        return Outcome(experiment.form, experiment.instruction, shared.cases, 0, 0, failure=f"{error}")


def experiment_against(shared: tuple[Choice, Sample], number: int, _tell: Tell) -> int:
    """The first case of an experiment that is not what a sample has of it; -1 where all are."""
    choice, taken = shared
    return next((case for _, case in differing(taken, [choice.experiments()[number]])), -1)


def kernel_against(shared: Record, key: str, _tell: Tell) -> Disagreement | None:
    """How a small kernel leaves on the machine something else than is recorded."""
    return next(disagreements(shared, kernels([key])), None)


def tensor_copy(_shared: None, task: TensorTask, _tell: Tell) -> TensorOutcome:
    """A tensor copy, on the device that the task names and on the machine."""
    return compare_task(task)


def tensor_digest(_shared: None, case: TensorCase, _tell: Tell) -> int:
    """A digest of what the machine does with a tensor copy."""
    return modelled_answer(case).digest()


def tensor_against(_shared: None, task: tuple[TensorCase, int], _tell: Tell) -> tuple[str, str] | None:
    """The machine's verdict on a tensor copy and its words, where a GPU answered something else."""
    case, digest = task
    found = TensorSample([case], [""], [digest]).differing()
    return next(((modelled.verdict, modelled.words) for _, _, modelled in found), None)
