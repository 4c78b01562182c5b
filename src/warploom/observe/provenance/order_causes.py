"""Causes of wrong results in the order of copies, reads and writes."""

from __future__ import annotations

from warploom.observe.provenance.case import Case, Cause
from warploom.observe.provenance.chain import Node, nodes_from
from warploom.observe.provenance.places import Places
from warploom.observe.provenance.trace import Copied, Execution, Writer


def pending_sums(case: Case) -> Cause | None:
    """Find an instruction that reads registers before an asynchronous operation writes them."""
    for node in nodes_from(case.root):
        for source in node.inputs:
            if source.location.space != "register" or node.writer is None or node.product is not None:
                continue
            late = case.places.trace.pending_write(source.location, node.writer.time)
            if late is not None:
                reads = f"{case.places.short(node.writer)}, reads the register"
                return Cause("early read", f"{reads} before {case.places.short(late)}, completes")
    return None


def early_reads(case: Case) -> Cause | None:
    """Find reads that precede the write of the expected bytes."""
    assert case.alignment is not None
    for slot in case.alignment.slots:
        if slot.fault != "late":
            continue
        for side in (slot.a, slot.b):
            if side.late is not None and side.late_element == side.expected and not side.is_right:
                return _early(case, slot.reader(side), side.late, side.shared)
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
    return Cause(
        "race", f"{places.short(reader)}, reads before {places.short(late)}, writes the value ({places.thread(late)})"
    )


def overwritten_reads(case: Case) -> Cause | None:
    """Find reads of bytes that a later tile has replaced."""
    assert case.alignment is not None
    for slot in case.alignment.slots:
        for side in (slot.a, slot.b):
            if slot.fault == "overwritten" and side.early_element == side.expected and not side.is_right:
                shared = side.shared
                assert shared is not None
                assert shared.writer is not None
                record = shared.writer.record
                is_store = isinstance(record, Execution) and not record.copies
                replaces, reads = (case.places.short(each) for each in (shared.writer, slot.reader(side)))
                return Cause(
                    "race" if is_store else "overwritten before the read",
                    f"{replaces} replaces the tile before {reads}, reads it",
                )
    return None


def later_writes(case: Case) -> Cause | None:
    """Find leaves in shared memory that something writes after the read."""
    for node in nodes_from(case.root):
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
                byte = side.leaf.location.index
                return Cause(
                    "unwritten shared memory",
                    f"{case.places.short(slot.reader(side))}, reads offset {byte}, which nothing writes",
                )
    return None


def unwritten_leaves(case: Case) -> Cause | None:
    """Find registers and memory that nothing writes."""
    for node in nodes_from(case.root):
        for source in node.sources:
            if source.leaf == "unwritten" and node.writer is not None:
                return Cause(
                    "uninitialised value", f"{case.places.short(node.writer)}, reads {case.places.leaf(source)}"
                )
    return None


def first_difference(one: tuple[Places, Node], other: tuple[Places, Node], schedule: str) -> Cause | None:
    """Return the cause if a value comes from other writes in a run under another schedule.

    `one` and `other` are the records of two runs with the node of the value. `schedule` is that of the other run.
    """
    (places, root), (twins, twin_root) = one, other
    pending = [(root, twin_root, root)]
    seen: set[tuple[int, int]] = set()
    while pending:
        node, twin, reader = pending.pop()
        if (id(node), id(twin)) in seen:
            continue
        seen.add((id(node), id(twin)))
        if _identity(places, node) != _identity(twins, twin):
            if reader.writer is None:
                return None
            reads = f"{places.short(reader.writer)}, {places.thread(reader.writer)}, reads"
            return Cause("race", f"{reads} {_origin(places, node)}; under {schedule}, {_origin(twins, twin)}")
        pending += [(one, two, node) for one, two in zip(node.sources, twin.sources, strict=False)]
    return None


def _identity(places: Places, node: Node) -> tuple[object, ...]:
    writer = node.writer
    if writer is None:
        return node.leaf, node.location
    return writer.pc, writer.warp, writer.lane, places.trace.iteration(writer)


def _origin(places: Places, node: Node) -> str:
    return places.leaf(node) if node.writer is None else f"the value of {places.instruction(node.writer)}"
