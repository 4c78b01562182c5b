"""Selection of experiments by family, form or instruction."""

from collections.abc import Iterator, Sequence

from warploom import isa  # declares every form
from warploom.diagnostics import UsageError
from warploom.isa.model.form import Form, forms
from warploom_lab.campaign import memory_experiments, register_experiments
from warploom_lab.campaign.experiment import Experiment

assert isa
FAMILIES = ("mma", "sparse", "wmma", "matrix", "wgmma", "convert", "approximate")
"""Families that the campaign covers by default: the arithmetic of tensor-core programs."""


def experiments(names: Sequence[str] = FAMILIES) -> Iterator[Experiment]:
    """Yield the experiments for the named families, forms or instructions.

    Errors: UsageError compare.form if a name is unknown or has no experiment.
    """
    for name in names:
        found = [form for form in forms() if _is_named(form, name)]
        if not found:
            raise UsageError(
                f"unknown family, form or instruction '{name}'",
                code="compare.form",
                hint=f"families of the campaign: {', '.join(FAMILIES)}",
            )
        empty = True
        for form in found:
            for experiment in experiments_of(form):
                empty = False
                yield experiment
        if empty:
            raise UsageError(
                f"no experiment on '{name}': it does not run on {register_experiments.ARCH}, or has no output",
                code="compare.form",
            )


def experiments_of(form: Form) -> Iterator[Experiment]:
    """Yield the experiments for one form."""
    yield from register_experiments.experiments(form)
    yield from memory_experiments.copy_experiments(form)
    yield from memory_experiments.multiply_experiments(form)


def _is_named(form: Form, name: str) -> bool:
    return name in (form.family, form.name) or name in form.heads
