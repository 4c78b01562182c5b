"""Causes of wrong results, decided from the products of a result and from the record of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import Literal

from warploom.isa.model.multiplication import SharedMatrix
from warploom.lazy_dataclass import dataclass
from warploom.observe.provenance.alignment import Alignment, Side, Slot
from warploom.observe.provenance.chain import Chain, Node
from warploom.observe.provenance.descriptors import WrongField, find_field
from warploom.observe.provenance.places import Places
from warploom.observe.provenance.terms import Collector, Element, Terms, runs_of
from warploom.observe.provenance.trace import Copied, Writer

Name = Literal["a", "b"]
_NEAR = 1e-3  # relative difference of values that count as equal


@dataclass(frozen=True, slots=True)
class Cause:
    """Cause of a wrong result: its name, and what shows it."""

    name: str
    evidence: str

    def __str__(self) -> str:
        return f"{self.name}: {self.evidence}"


@dataclass(slots=True, eq=False)
class Case:
    """Result whose cause is searched."""

    chain: Chain
    collector: Collector
    places: Places
    root: Node
    terms: Terms
    value: float
    alignment: Alignment | None = None
    transposed: bool = field(default=False)

    def side(self, name: Name, slot: Slot) -> Side:
        """Return a factor of a product."""
        return slot.a if name == "a" else slot.b


def find_cause(case: Case) -> Cause | None:
    """Return the cause of a wrong result, or None if no rule applies."""
    rules: Sequence[Callable[[Case], Cause | None]] = (
        (
            further_products, early_reads, overwritten_reads, unwritten_factors, wrong_fields, exchanged_blocks,
            shifted_elements, missing_products, other_factors, wrong_scale, later_writes, unwritten_leaves,
        )
        if case.alignment is not None
        else (later_writes, unwritten_leaves)
    )  # fmt: skip
    return next((found for rule in rules if (found := rule(case)) is not None), None)


# Accumulators ---------------------------------------------------------------------------------------------


def further_products(case: Case) -> Cause | None:
    """Find products of another result in the sum."""
    alignment = case.alignment
    assert alignment is not None
    further = alignment.further
    if not further or alignment.missing or alignment.wrong:
        return None
    ranges = " and ".join(filter(None, (_ranges(further, "a"), _ranges(further, "b"))))
    expected = [each for each in alignment.slots if each.k >= 0]
    again = all(each.a.element in {slot.a.element for slot in expected} for each in further)
    again = again and all(each.b.element in {slot.b.element for slot in expected} for each in further)
    what = f"the sum contains {len(further)} further products, of {ranges}"
    first = expected[0].product.node
    started = min(expected, key=lambda each: _time(each.product.node)).product.node
    if again:
        return Cause("repeated K step", f"{what}; these products are in the sum twice")
    if max(_time(each.product.node) for each in further) < _time(started) and started.product is not None:
        keeps = getattr(started.product.keeps, "name", "")
        assert started.writer is not None
        iteration = case.places.trace.iteration(started.writer)
        place = f"iteration {iteration} of the multiplication of {case.places.line(started.pc)}"
        shown = f"{keeps} is true in {place}" if keeps else f"{place} adds to them"
        return Cause("uninitialised accumulator", f"{what}; {shown}")
    if first.product is None or further[0].product.node.product is None:
        return Cause("uninitialised accumulator", f"{what}; {case.places.line(first.pc)} adds to them")
    return Cause("further K steps", what)


# Order of copies and reads --------------------------------------------------------------------------------


def early_reads(case: Case) -> Cause | None:
    """Find reads that precede the write of the expected bytes."""
    assert case.alignment is not None
    for slot in case.alignment.slots:
        if slot.fault != "late":
            continue
        for side in (slot.a, slot.b):
            if side.late is not None and side.late_element == side.expected and not side.is_right:
                reader = side.path[side.read - 1] if side.read else slot.product.node
                assert reader.writer is not None
                return _early(case, reader.writer, side.late, side.shared)
    return None


def _early(case: Case, reader: Writer, late: Writer, shared: Node | None) -> Cause:
    places = case.places
    record = late.record
    waits = [each for each in places.trace.waits if each.time < reader.time and reader.warp in each.warps.tolist()]
    if isinstance(record, Copied):
        phases = [each for each in waits if each.group == "mbarrier"]
        if phases and record.issued < reader.time:
            wait = phases[-1]
            position = int((wait.warps == reader.warp).nonzero()[0][0])
            lane = int(wait.done["lanes"][position].argmax())
            parity = int(wait.done["phase"][position, lane]) & 1
            return Cause(
                "wrong parity",
                f"the wait of {places.line(wait.pc)} for parity {parity} returned at once; "
                f"the copy completes the phase with parity {parity ^ 1}",
            )
        return Cause(
            "early read", f"{places.short(reader)}, reads before {places.short(late)} completes; no wait is between"
        )
    if record.copies:
        groups = [each for each in waits if each.group == "copy"]
        reads = f"{places.short(reader)}, reads before {places.short(late)} completes"
        if not groups:
            return Cause("early read", f"{reads}; no wait for copies is between")
        count = f"{groups[-1].pending} group{'' if groups[-1].pending == 1 else 's'}"
        return Cause("early read", f"{reads}; the wait of {places.line(groups[-1].pc)} leaves {count} pending")
    return Cause("race", f"{places.short(reader)}, reads before {places.short(late)}, {places.thread(late)}, writes")


def overwritten_reads(case: Case) -> Cause | None:
    """Find reads of bytes that a later tile has replaced."""
    assert case.alignment is not None
    for slot in case.alignment.slots:
        for side in (slot.a, slot.b):
            if slot.fault == "overwritten" and side.early_element == side.expected and not side.is_right:
                reader = side.path[side.read - 1] if side.read else slot.product.node
                shared = side.shared
                assert reader.writer is not None
                assert shared is not None
                assert shared.writer is not None
                places = case.places
                return Cause(
                    "overwritten before the read",
                    f"{places.short(shared.writer)} replaces the tile before {places.short(reader.writer)}, reads it",
                )
    return None


def later_writes(case: Case) -> Cause | None:
    """Find leaves in shared memory that something writes after the read."""
    for node in _walk(case.root):
        for source in node.sources:
            if source.leaf == "unwritten" and source.location.space == "shared" and node.writer is not None:
                late = case.places.trace.later_write(source.location, node.writer.time)
                if late is not None:
                    return _early(case, node.writer, late, source)
    return None


def unwritten_factors(case: Case) -> Cause | None:
    """Find factors in shared memory that nothing writes."""
    assert case.alignment is not None
    for slot in case.alignment.wrong:
        for side in (slot.a, slot.b):
            if side.leaf.leaf == "unwritten" and side.read >= 0 and side.late is None:
                reader = side.path[side.read - 1] if side.read else slot.product.node
                assert reader.writer is not None
                byte = side.leaf.location.index
                return Cause(
                    "unwritten shared memory",
                    f"{case.places.short(reader.writer)}, reads offset {byte}, which nothing writes",
                )
    return None


def unwritten_leaves(case: Case) -> Cause | None:
    """Find registers and memory that nothing writes."""
    for node in _walk(case.root):
        for source in node.sources:
            if source.leaf == "unwritten" and node.writer is not None:
                return Cause(
                    "uninitialised value", f"{case.places.short(node.writer)}, reads {case.places.leaf(source)}"
                )
    return None


# Elements in the place of others --------------------------------------------------------------------------


def wrong_fields(case: Case) -> Cause | None:
    """Find a field of a descriptor with another value of which the factors are right."""
    assert case.alignment is not None
    groups: dict[int, list[Slot]] = {}
    for slot in case.alignment.slots:
        if slot.k >= 0:
            groups.setdefault(id(slot.product.node), []).append(slot)
    for name in ("a", "b"):
        wrong = [each for each in groups.values() if any(not case.side(name, slot).is_right for slot in each)]
        found: WrongField | None = None
        for slots in wrong[:2]:
            product = slots[0].product.node.product
            path = case.side(name, slots[0]).path
            if product is None:
                break
            matrix = product.a if path[0] is slots[0].product.a else product.b
            if not isinstance(matrix, SharedMatrix):
                break
            steps = _axes(case.alignment, name)
            found = find_field(case.chain, case.collector, case.places.regions, slots, matrix, steps)
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
    for name in ("a", "b"):
        sides = [case.side(name, each) for each in case.alignment.slots if each.k >= 0]
        if all(side.is_right for side in sides):
            continue
        for block in (8, 16, 0):
            if all(side.element == _exchanged(side.expected, block) for side in sides):
                load = _load_of(sides[0])
                where = f"in each block of {block} x {block}" if block else "in the whole matrix"
                loaded = "" if load is None else f"; the load is {case.places.short(load)}"
                return Cause(f"transposed {name.upper()}", f"rows and columns are exchanged {where}{loaded}")
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


def _load_of(side: Side) -> Writer | None:
    """Return the instruction that reads a factor from shared memory, or from global memory."""
    readers = side.path[: side.read] if side.read > 0 else side.path[:-1]
    return next((each.writer for each in reversed(readers) if each.writer is not None), None)


def shifted_elements(case: Case) -> Cause | None:
    """Find an operand whose elements have a constant distance from the expected ones."""
    alignment = case.alignment
    assert alignment is not None
    for name in ("a", "b"):
        sides = [
            case.side(name, each) for each in alignment.slots if each.k >= 0 and not case.side(name, each).is_right
        ]
        known = [side for side in sides if side.element is not None and side.expected is not None]
        distances = {_distance(side) for side in known}
        if len(distances) != 1 or (len(known) < len(sides) and any(side.leaf.leaf != "fill" for side in sides)):
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
        words = ("row", "column") if len(distance) == 2 else tuple(f"index {k} of axis" for k in range(len(distance)))
        array, word = side.element.array, words[axis]
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


def other_factors(case: Case) -> Cause | None:
    """Name the operand with wrong elements, if no rule names their pattern."""
    alignment = case.alignment
    assert alignment is not None
    wrong = alignment.wrong
    if not wrong:
        return None
    sides: tuple[Name, Name] = ("a", "b")
    names: list[Name] = [name for name in sides if any(not case.side(name, each).is_right for each in wrong)]
    side = next(case.side(name, each) for each in wrong for name in names if not case.side(name, each).is_right)
    load = _load_of(side)
    loaded = "" if load is None else f"; the load is {case.places.short(load)}"
    found = str(side.element) if side.element is not None else case.places.leaf(side.leaf)
    return Cause(
        f"wrong elements of {' and '.join(name.upper() for name in names)}",
        f"{len(wrong)} of {len(alignment.slots)} products have another factor, such as {found} in place of "
        f"{side.expected}{loaded}",
    )


# Values ---------------------------------------------------------------------------------------------------


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


# Nodes ----------------------------------------------------------------------------------------------------


def _time(node: Node) -> int:
    return 0 if node.writer is None else node.writer.time


def _walk(root: Node) -> Iterator[Node]:
    seen: set[int] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            pending.extend(node.sources)


def _ranges(slots: Sequence[Slot], name: Name) -> str:
    sides = (each.a if name == "a" else each.b for each in slots)
    return ", ".join(str(run) for run in runs_of(each.element for each in sides if each.element is not None)[:3])
