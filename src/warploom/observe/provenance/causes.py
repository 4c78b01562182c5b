"""Search for the cause of a wrong result, from its products and from the record of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from warploom.observe.provenance.case import Case, Cause
from warploom.observe.provenance.element_causes import (
    exchanged_blocks,
    exchanged_groups,
    other_elements,
    other_factors,
    other_result,
    other_steps,
    shifted_elements,
    wrong_fields,
)
from warploom.observe.provenance.order_causes import (
    early_reads,
    later_writes,
    overwritten_reads,
    pending_sums,
    unwritten_factors,
    unwritten_leaves,
)
from warploom.observe.provenance.sum_causes import (
    further_products,
    missing_products,
    reset_accumulator,
    wrong_addend,
    wrong_scale,
)


def find_cause(case: Case) -> Cause | None:
    """Return the cause of a wrong result, or None if no rule applies."""
    rules: Sequence[Callable[[Case], Cause | None]] = (
        _RULES if case.alignment is not None else (pending_sums, later_writes, unwritten_leaves, other_elements)
    )
    return next((found for rule in rules if (found := rule(case)) is not None), None)


_RULES = (
    pending_sums, further_products, early_reads, overwritten_reads, other_result, wrong_fields, exchanged_blocks,
    other_steps, exchanged_groups, unwritten_factors, shifted_elements, reset_accumulator, missing_products,
    other_factors, wrong_addend, wrong_scale, later_writes, unwritten_leaves,
)  # fmt: skip
"""Rules for sums of products. The first rule that applies states the cause."""
