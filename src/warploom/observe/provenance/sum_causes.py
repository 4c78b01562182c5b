"""Causes of wrong results in the sum: missing and further products, accumulators and scales."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warploom.observe.provenance.case import Case, Cause, ranges_of, time_of
from warploom.observe.provenance.chain import Node

_NEAR = 1e-3  # relative difference of values that count as equal


def further_products(case: Case) -> Cause | None:
    """Find products of another result in the sum."""
    alignment = case.alignment
    assert alignment is not None
    further = alignment.further
    if not further or alignment.missing or alignment.wrong:
        return None
    ranges = " and ".join(filter(None, (ranges_of(further, "a"), ranges_of(further, "b"))))
    expected = alignment.matched
    again = all(each.a.element in {slot.a.element for slot in expected} for each in further)
    again = again and all(each.b.element in {slot.b.element for slot in expected} for each in further)
    what = f"the sum contains {len(further)} further products, of {ranges}"
    first = expected[0].product.node
    started = min(expected, key=lambda each: time_of(each.product.node)).product.node
    if again:
        return Cause("repeated K step", f"{what}; these products are in the sum twice")
    if max(time_of(each.product.node) for each in further) < time_of(started) and started.product is not None:
        keeps = getattr(started.product.keeps, "name", "")
        assert started.writer is not None
        iteration = case.places.trace.iteration(started.writer)
        place = f"iteration {iteration} of the multiplication of {case.places.line(started.pc)}"
        shown = f"{keeps} is true in {place}" if keeps else f"{place} adds to them"
        return Cause("uninitialised accumulator", f"{what}; {shown}")
    if first.product is None or further[0].product.node.product is None:
        return Cause("uninitialised accumulator", f"{what}; {case.places.line(first.pc)} adds to them")
    return Cause("further K steps", what)


def reset_accumulator(case: Case) -> Cause | None:
    """Find a multiplication that replaces the sum of earlier steps."""
    alignment = case.alignment
    assert alignment is not None
    if not alignment.missing or not alignment.slots:
        return None
    first = alignment.slots[0]
    node = first.product.node
    if node.product is None or node.keeps or node.writer is None or not 0 <= min(alignment.missing) < first.k:
        return None
    iteration = case.places.trace.iteration(node.writer)
    if not iteration:
        return None
    lost = ", ".join(_numbers(alignment.missing))
    keeps = getattr(node.product.keeps, "name", "")
    reason = f"; {keeps} is false" if keeps else ""
    place = f"the multiplication of {case.places.line(node.pc)} replaces the sum in iteration {iteration}{reason}"
    return Cause("accumulator is reset", f"{place}; k {lost} is missing")


def missing_products(case: Case) -> Cause | None:
    """Find steps of K that are missing."""
    alignment = case.alignment
    assert alignment is not None
    if not alignment.missing:
        return None
    ranges = ", ".join(_numbers(alignment.missing))
    nodes = {id(each.product.node): each.product.node for each in alignment.slots}
    counts = {node.pc: 0 for node in nodes.values()}
    for node in nodes.values():
        counts[node.pc] += 1
    times = max(counts.values(), default=0)
    loop = f"; the loop ran {times} time{'' if times == 1 else 's'}" if times else ""
    return Cause("missing K step", f"k {ranges} is missing{loop}")


def _numbers(numbers: Sequence[int]) -> Iterator[str]:
    start = last = numbers[0]
    for each in (*numbers[1:], -1):
        if each == last + 1:
            last = each
            continue
        yield f"{start}-{last}" if last > start else f"{start}"
        start = last = each


def _factor(case: Case) -> float | None:
    """Return the product of all factors of the sum, or None if one is not known."""
    factor = 1.0
    for step in case.terms.steps:
        if step.factor is None or step.factor.value is None:
            return None
        factor *= float(step.factor.value)
    return factor


def wrong_addend(case: Case) -> Cause | None:
    """Find a part of the sum that is not a product."""
    alignment, factor = case.alignment, _factor(case)
    assert alignment is not None
    expected = alignment.expected
    if factor is None or not expected.scale:
        return None
    added = case.value - (expected.value - expected.initial) / expected.scale * factor
    if abs(added) <= expected.bound * max(1.0, abs(factor / expected.scale)):
        missing = expected.initial and abs(case.value + expected.initial - expected.value) <= expected.bound
        return Cause("missing addend", "the initial value of the result is not added") if missing else None
    for node in case.terms.addends:
        last = case.collector.resolve(node)[-1]
        if expected.initial and case.places.regions.element(last) is not None:
            continue
        writer = next((each.writer for each in case.collector.resolve(node) if each.writer is not None), None)
        place = "" if writer is None else f", from {case.places.short(writer)}"
        what = case.places.leaf(last) or "a computed value"
        return Cause("uninitialised accumulator", f"the products are right; the sum starts with {what}{place}")
    return None


def wrong_scale(case: Case) -> Cause | None:
    """Find a factor of the sum that the expected value does not have."""
    alignment = case.alignment
    assert alignment is not None
    expected = alignment.expected
    if not expected.value or expected.initial:
        return None
    ratio = case.value / expected.value
    if abs(ratio - 1) < _NEAR:
        return None
    step = wrong_step(case)
    after = "" if step is None else f", after {case.places.line(step.pc)}"
    return Cause("wrong scale", f"the terms are right; the result is {ratio:.6g} times the expected value{after}")


def wrong_step(case: Case) -> Node | None:
    """Return the operation on the sum after which the value is wrong, or None."""
    alignment = case.alignment
    assert alignment is not None
    wanted = alignment.expected.scale
    factor, was_right = 1.0, wanted == 1.0
    for step in reversed(case.terms.steps):
        known = None if step.factor is None else step.factor.value
        if known is None:
            return step.node
        factor *= float(known)
        is_right = abs(factor - wanted) <= _NEAR * abs(wanted)
        if was_right and not is_right:
            return step.node
        was_right = is_right
    return None if was_right or not case.terms.steps else case.terms.steps[0].node
