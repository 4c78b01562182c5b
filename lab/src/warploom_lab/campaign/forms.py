"""Which experiments there are: of a form, of a family, of all that the campaign is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warploom import isa  # declares every form
from warploom.diagnostics import UsageError
from warploom.isa.model.form import Form, forms
from warploom_lab.campaign import registers, shared
from warploom_lab.campaign.experiment import Experiment

FAMILIES = ("mma", "sparse", "wmma", "matrix", "wgmma", "convert", "approximate")
"""The families of the campaign: what tensor-core programs compute with."""


def experiments(names: Sequence[str] = FAMILIES) -> Iterator[Experiment]:
    """The experiments on some families, forms or instructions.

    Errors: UsageError compare.form for a name that is none of these, or has nothing to compare.
    """
    for name in names:
        found = [form for form in forms() if _is_named(form, name)]
        if not found:
            raise UsageError(
                f"'{name}' is no family, form or instruction of {isa.__name__}",
                code="compare.form",
                hint=f"families of the campaign: {', '.join(FAMILIES)}",
            )
        some = False
        for form in found:
            for experiment in of_form(form):
                some = True
                yield experiment
        if not some:
            raise UsageError(
                f"'{name}' has nothing to compare: it does not run on {registers.ARCH}, or returns no bits by itself",
                code="compare.form",
            )


def of_form(form: Form) -> Iterator[Experiment]:
    """The experiments on one form."""
    yield from registers.experiments(form)
    yield from shared.movers(form)
    yield from shared.multipliers(form)


def _is_named(form: Form, name: str) -> bool:
    return name in (form.family, form.name) or name in form.heads
