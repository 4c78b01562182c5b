"""Causes of wrong results in the elements that a kernel multiplies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.isa.model.multiplication import SharedMatrix
from warploom.observe.provenance.alignment import Alignment, Side, Slot
from warploom.observe.provenance.case import NAMES, Case, Cause, Name, groups_of
from warploom.observe.provenance.chain import nodes_from
from warploom.observe.provenance.descriptors import WrongField, find_field
from warploom.observe.provenance.terms import Element, runs_of
from warploom.observe.provenance.trace import Copied, Execution, Location, Writer

Array = NDArray[Any]


def wrong_fields(case: Case) -> Cause | None:
    """Find a descriptor field that would select the expected elements with another value."""
    assert case.alignment is not None
    groups = groups_of(case.alignment.matched)
    for name in NAMES:
        wrong = [each for each in groups if any(not case.side(name, slot).is_right for slot in each)]
        found: WrongField | None = None
        for slots in {id(each): each for each in (wrong[:1] + wrong[len(wrong) // 2 :][:1] + wrong[-1:])}.values():
            product = slots[0].product.node.product
            path = case.side(name, slots[0]).path
            if product is None:
                break
            matrix = product.a if path[0] is slots[0].product.a else product.b
            if not isinstance(matrix, SharedMatrix):
                break
            steps = _axes(case.alignment, name)
            before, found = found, find_field(case.chain, case.collector, case.places.regions, slots, matrix, steps)
            if found is None:
                break
            if before is not None:
                is_same = found.name == before.name and (found == before or found.name == "start address")
                found = before if is_same else None
                if found is None:
                    break
        if found is not None:
            return Cause(
                f"wrong {found.name}",
                f"the descriptor of {found.matrix} has {found.value}; {found.agrees} agrees with the data",
            )
    return None


def _axes(alignment: Alignment, name: Name) -> tuple[int, int]:
    """Return the axis of an operand along the rows or columns of the result, and its axis along K."""
    elements = [pair[0] if name == "a" else pair[1] for pair in alignment.expected.products[:2]]
    rank = len(elements[0].index)
    k = next((axis for axis in range(rank) if elements[0].index[axis] != elements[-1].index[axis]), rank - 1)
    return (rank - 1 if k == rank - 2 else rank - 2), k


def exchanged_blocks(case: Case) -> Cause | None:
    """Find an operand whose rows and columns are exchanged, in whole or in blocks."""
    assert case.alignment is not None
    for name in NAMES:
        sides = [case.side(name, each) for each in case.alignment.matched]
        if all(side.is_right for side in sides):
            continue
        for block in (8, 16, 0):
            if all(side.element == _exchanged(side.expected, block) for side in sides):
                where = f"in each block of {block} x {block}" if block else "in the whole matrix"
                evidence = f"rows and columns are exchanged {where}{_load_phrase(case, sides[0])}"
                return Cause(f"transposed {name.upper()}", evidence)
    return None


def _exchanged(element: Element | None, block: int) -> Element | None:
    if element is None or len(element.index) < 2:
        return None
    *outer, row, column = element.index
    if not block:
        return Element(element.array, (*outer, column, row))
    return Element(
        element.array, (*outer, row // block * block + column % block, column // block * block + row % block)
    )


def _load_phrase(case: Case, side: Side) -> str:
    """Return a phrase for the instruction that reads a factor from shared memory, or from global memory."""
    readers = side.path[: side.read] if side.read > 0 else side.path[:-1]
    load = next((each.writer for each in reversed(readers) if each.writer is not None), None)
    return "" if load is None else f"; the load is {case.places.short(load)}"


def other_result(case: Case) -> Cause | None:
    """Find the sum of another element of the result, which a store writes to the wrong address."""
    alignment, result = case.alignment, case.result
    assert alignment is not None
    if result is None or alignment.missing or alignment.further or not alignment.wrong or len(result.index) < 2:
        return None
    index = list(result.index)
    for axis, name in zip((-2, -1), NAMES, strict=True):
        along, _ = _axes(alignment, name)
        sides = [case.side(name, each) for each in alignment.slots]
        distances = {None if side.element is None or side.expected is None else _distance(side) for side in sides}
        if len(distances) != 1:
            return None
        (distance,) = distances
        if distance is None or any(step for at, step in enumerate(distance) if at != along):
            return None
        index[axis] += distance[along]
    other = Element(result.array, tuple(index))
    holds = _products_of(case, other)
    expected = alignment.expected.products[0]
    if holds is not None and (not holds or expected in holds):
        store = case.root.writer
        where = "" if store is None else f"{case.places.short(store)}, "
        return Cause("wrong store address", f"{where}writes the sum of {other} to {result}")
    return None


def _products_of(case: Case, element: Element) -> set[tuple[Element | None, Element | None]] | None:
    """Return the products of an element of the result, or None if they are not known.

    The set is empty if nothing writes the element.
    """
    region = case.places.regions.array(element.array)
    if not all(0 <= at < extent for at, extent in zip(element.index, region.contents.shape, strict=True)):
        return None
    root = case.chain.walk(Location("global", 0, region.offset(element.index), 0, region.contents.itemsize))
    if root.writer is None:
        return set() if len(case.places.trace.ctas) == case.chain.launch.grid.ctas else None
    ends = [
        (case.collector.resolve(each.a)[-1], case.collector.resolve(each.b)[-1])
        for each in case.collector.collect(root).products
    ]
    found = [(case.places.regions.element(x), case.places.regions.element(y)) for x, y in ends]
    return {*found, *((y, x) for x, y in found)}


def other_steps(case: Case) -> Cause | None:
    """Find products of another step of K in the place of the expected ones."""
    alignment = case.alignment
    assert alignment is not None
    of_a = {a: k for k, (a, _) in enumerate(alignment.expected.products)}
    of_b = {b: k for k, (_, b) in enumerate(alignment.expected.products)}
    wrong = alignment.wrong
    found = [of_a.get(each.a.element, -1) if each.a.element else -1 for each in wrong]
    same = [of_b.get(each.b.element, -1) if each.b.element else -1 for each in wrong]
    if not wrong or found != same or -1 in found:
        return None
    writer = wrong[0].product.node.writer
    assert writer is not None
    return Cause(
        "wrong K step",
        f"{case.places.line(writer.pc)} multiplies k {min(found)}-{max(found)} in place of k "
        f"{wrong[0].k}-{wrong[-1].k}, from iteration {case.places.trace.iteration(writer)} on"
        f"{_load_phrase(case, wrong[0].a)}",
    )


def exchanged_groups(case: Case) -> Cause | None:
    """Find an operand whose elements are exchanged along one axis: index i with i XOR a constant."""
    assert case.alignment is not None
    for name in NAMES:
        sides = [case.side(name, each) for each in case.alignment.matched]
        pairs = [(each.element, each.expected) for each in sides]
        known = [(one.index, other.index) for one, other in pairs if one is not None and other is not None]
        if len(known) < len(pairs) or not known or all(one == other for one, other in known):
            continue
        masks = {tuple(x ^ y for x, y in zip(one, other, strict=True)) for one, other in known}
        (mask, *others) = masks
        axes = [axis for axis, bits in enumerate(mask) if bits]
        if others or len(axes) != 1 or mask[axes[0]].bit_count() != 1:
            continue
        if len({other[axes[0]] & mask[axes[0]] for _, other in known}) != 2:
            continue  # all elements lie on one side, so that a distance explains them
        word = _word(axes[0], len(mask))
        return Cause(
            f"exchanged elements of {name.upper()}",
            f"{word} i XOR {mask[axes[0]]} is in the place of {word} i{_load_phrase(case, sides[0])}",
        )
    return None


def _word(axis: int, rank: int) -> str:
    return ("row", "column")[axis - rank + 2] if axis >= rank - 2 and rank > 1 else f"index {axis}"


def shifted_elements(case: Case) -> Cause | None:
    """Find an operand whose elements have a constant distance from the expected ones."""
    alignment = case.alignment
    assert alignment is not None
    for slots in (alignment.matched, *_first_iterations(case, alignment.matched)):
        if (found := _shifted(case, slots)) is not None:
            return found
    return None


def _first_iterations(case: Case, slots: list[Slot]) -> Iterator[list[Slot]]:
    """Yield the products of the first iteration with a wrong factor."""
    for group in groups_of(slots):
        if not all(each.is_right for each in group):
            writer = group[0].product.node.writer
            assert writer is not None
            iteration = case.places.trace.iteration(writer)
            yield [
                each
                for each in slots
                if each.product.node.writer is not None
                and case.places.trace.iteration(each.product.node.writer) == iteration
            ]
            return


def _shifted(case: Case, slots: list[Slot]) -> Cause | None:
    for name in NAMES:
        sides = [side for each in slots if not (side := case.side(name, each)).is_right]
        known = [side for side in sides if side.element is not None and side.expected is not None]
        distances = {_distance(side) for side in known}
        unknown = [side for side in sides if side.element is None]
        if len(distances) != 1 or any(side.leaf.leaf != "fill" for side in unknown):
            continue
        (distance,) = distances
        axis = next((axis for axis, step in enumerate(distance or ()) if step), -1)
        if distance is None or axis < 0:
            continue
        side = known[0]
        assert side.element is not None
        assert side.expected is not None
        load = next((each.writer for each in reversed(side.path) if each.writer is not None), None)
        if load is None:
            continue
        array, word = side.element.array, _word(axis, len(distance))
        if (blamed := _wrong_read(case, slots, side)) is not None:
            return blamed
        if isinstance(load.record, Copied):
            first = _first_of(case, load.record)
            start = side.element.index[axis] if first is None else first.index[axis]
            return Cause(
                "wrong box",
                f"the copy of {case.places.line(load.pc)} starts at {word} {start} of {array}; "
                f"{word} {start - distance[axis]} would agree",
            )
        return Cause(
            "wrong address",
            f"{case.places.short(load)}, reads {side.element} in place of {side.expected}; "
            f"the {word} differs by {distance[axis]:+d}",
        )
    return None


def _wrong_read(case: Case, slots: list[Slot], side: Side) -> Cause | None:
    """Return the cause if shared memory has the expected element at another offset.

    The read is then wrong, and not the copy.

    A multiplication that reads shared memory directly has no such cause, because its descriptor has been searched.
    """
    shared = side.shared
    if shared is None or side.read < 1 or side.expected is None:
        return None
    reader = side.path[side.read - 1].writer
    offset = case.places.regions.array(side.expected.array).offset(side.expected.index)
    if reader is None:
        return None
    for record in (*case.places.trace.copies, *case.places.trace.executions):
        for time, owners, targets, sources, size in _copied(record):
            here = (sources >= 0) & (sources <= offset) & (offset < sources + size) & (owners == shared.location.owner)
            if time < reader.time and here.any():
                at = int(targets[here][0]) + offset - int(sources[here][0])
                return Cause(
                    "wrong address",
                    f"{case.places.short(reader)}, reads {side.element} at offset {shared.location.index} of the CTA's "
                    f"shared memory; {side.expected} is at offset {at}",
                )
    return None


def _copied(record: Copied | Execution) -> Iterator[tuple[int, Array, Array, Array, int]]:
    """Yield the time, owners, targets, sources and bytes of the ranges that a record copies."""
    if isinstance(record, Copied):
        if record.space == "shared" and record.source_space == "global":
            yield record.time, record.owners, record.targets, record.sources, record.size
        return
    for each in record.copies:
        if each.sources is not None:
            yield int(record.effect.min()), each.owners, each.index, np.where(each.lanes, each.sources, -1), each.size


def _distance(side: Side) -> tuple[int, ...] | None:
    assert side.element is not None
    assert side.expected is not None
    if side.element.array != side.expected.array:
        return None
    return tuple(one - other for one, other in zip(side.element.index, side.expected.index, strict=True))


def _first_of(case: Case, copy: Copied) -> Element | None:
    """Return the first element of a box inside the tensor."""
    inside = copy.sources[copy.sources >= 0]
    found = (each.element(int(inside.min())) for each in case.places.regions.arrays) if len(inside) else ()
    return next((each for each in found if each is not None), None)


def other_factors(case: Case) -> Cause | None:
    """Name the operand with wrong elements, if no rule names their pattern."""
    alignment = case.alignment
    assert alignment is not None
    wrong = alignment.wrong
    if not wrong:
        return None
    names: list[Name] = [name for name in NAMES if any(not case.side(name, each).is_right for each in wrong)]
    side = next(case.side(name, each) for each in wrong for name in names if not case.side(name, each).is_right)
    found = str(side.element) if side.element is not None else case.places.leaf(side.leaf)
    return Cause(
        f"wrong elements of {' and '.join(name.upper() for name in names)}",
        f"{len(wrong)} of {len(alignment.slots)} products have another factor, such as {found} in place of "
        f"{side.expected}{_load_phrase(case, side)}",
    )


def other_elements(case: Case) -> Cause | None:
    """Find elements that do not reach the result, and elements on which it must not depend."""
    if case.expected is None or not case.expected.elements:
        return None
    arrays = {each.array for each in case.expected.elements}
    readers: dict[Element, Writer] = {}
    found: set[Element] = set()
    for node in nodes_from(case.root):
        for source in node.sources:
            for element in case.places.regions.elements(source):
                if element.array in arrays:
                    found.add(element)
                    if node.writer is not None:
                        readers.setdefault(element, node.writer)
    missing, further = (_sorted(each) for each in (case.expected.elements - found, found - case.expected.elements))
    if not missing and not further:
        return None
    reader = next((readers[each] for each in further if each in readers), None)
    reads = "" if reader is None else f"{case.places.short(reader)}, reads "
    if missing and further:
        return Cause("wrong address", f"{reads}{_listed(further)} in place of {_listed(missing)}")
    if further:
        return Cause("further elements", f"{reads}{_listed(further)}, on which the result must not depend")
    return Cause("missing elements", f"the result does not depend on {_listed(missing)}")


def _sorted(elements: Iterable[Element]) -> list[Element]:
    return sorted(elements, key=lambda each: (each.array, each.index))


def _listed(elements: list[Element]) -> str:
    return ", ".join(str(run) for run in runs_of(elements)[:4])
