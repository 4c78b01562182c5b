"""Walk from a location back to the elements, constants and unwritten bytes from which its value comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import SHARED_START
from warploom.emulator.values import Constant, NotPredicate, Register
from warploom.isa.model.multiplication import Multiplication, RegisterMatrix, SharedMatrix
from warploom.isa.model.origins import Origins, Part, registers_of_element
from warploom.isa.model.types import TYPES
from warploom.layout import Descriptor
from warploom.lazy_dataclass import dataclass
from warploom.observe.debug.values import numbers
from warploom.observe.provenance.trace import NEVER, Copied, Execution, ExecutionTrace, Location, Writer

Array = NDArray[Any]

MOST_NODES = 200_000
"""Limit of the nodes of a walk."""

Leaf = Literal["", "source", "unwritten", "fill", "constant", "special", "unknown"]


@dataclass(slots=True, eq=False)
class Factors:
    """Product of an element of A and one of B. `k` counts from the start of the matrices."""

    k: int
    a: Node
    b: Node


@dataclass(slots=True, eq=False)
class Node:
    """Value of a location, and the nodes from which it comes.

    - `leaf`: "" if an instruction wrote the value; else the reason why the walk ends: an element of an argument
      ("source"), bytes that the run never wrote ("unwritten"), bytes outside a tensor ("fill"), a constant, a special
      register, or an instruction that the walk does not follow ("unknown")
    - `before`: time before which the value was written, which is the time of its use
    - `inputs`: sources of the value; those of a multiplication are the accumulator, or nothing if it starts at 0
    - `parts`: sources of an instruction as parts of its operands, in the order of `inputs`
    - `factors`: products of a multiplication
    - `keeps`: False if a multiplication replaces the accumulator
    """

    location: Location
    before: int
    writer: Writer | None = None
    leaf: Leaf = ""
    inputs: list[Node] = field(default_factory=list["Node"])
    parts: list[Part] = field(default_factory=list[Part])
    factors: list[Factors] = field(default_factory=list[Factors])
    product: Multiplication | None = None
    element: tuple[int, int] = (0, 0)
    keeps: bool = True
    value: Any = None

    @property
    def pc(self) -> int:
        """Program counter of the writer, or -1."""
        return -1 if self.writer is None else self.writer.pc

    @property
    def sources(self) -> Iterator[Node]:
        """All nodes from which the value comes directly."""
        yield from self.inputs
        for each in self.factors:
            yield each.a
            yield each.b


class Chain:
    """Walk back through the record of a run.

    A location has one node for each of its writes, so the nodes form a graph without cycles.
    """

    def __init__(self, trace: ExecutionTrace) -> None:
        self.trace = trace
        self.launch = trace.launch
        self._nodes: dict[tuple[Any, ...], Node] = {}
        self._origins = Origins()
        self.is_complete = True

    def walk(self, location: Location, before: int = NEVER) -> Node:
        """Return the node of a location at a time, with all nodes from which its value comes.

        `is_complete` is False if the walk ended at the limit of nodes.
        """
        pending: list[Node] = []
        first = self._node(location, before, pending)
        while pending:
            if len(self._nodes) > MOST_NODES:
                self.is_complete = False
                for each in pending:
                    each.leaf = "unknown"
                break
            node = pending.pop()
            self._expand(node, lambda where, when: self._node(where, when, pending))
        return first

    def _node(self, location: Location, before: int, pending: list[Node]) -> Node:
        writer = self.trace.writer_of(location, before)
        key = (location, None if writer is None else writer.key, before if writer is None else 0)
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = Node(location, before, writer)
            if writer is None:
                found.leaf = "source" if location.space == "global" else "unwritten"
            else:
                pending.append(found)
        return found

    def _expand(self, node: Node, follow: Callable[[Location, int], Node]) -> None:
        writer = node.writer
        assert writer is not None
        if isinstance(writer.record, Copied):
            self._expand_copy(node, writer, writer.record, follow)
        elif writer.access < 0 and writer.record.copies and node.location.space != "register":
            self._expand_thread_copy(node, writer, writer.record, follow)
        elif (product := self.launch.instructions[writer.pc].multiplication) is not None:
            self._expand_product(node, writer, product, follow)
        else:
            self._expand_instruction(node, writer, writer.record, follow)

    # Copies -----------------------------------------------------------------------------------------------

    def _expand_copy(
        self, node: Node, writer: Writer, copy: Copied, follow: Callable[[Location, int], Node]
    ) -> None:  # fmt: skip
        source = int(copy.sources[writer.access])
        if source < 0:
            node.leaf = "fill"
            return
        owner = int(copy.source_owners[writer.access]) if copy.source_space != "global" else 0
        at = Location(copy.source_space, owner, source + writer.first, 0, node.location.size)  # type: ignore[arg-type]
        node.inputs.append(follow(at, copy.time))
        if copy.updates:
            node.inputs.append(follow(node.location, copy.time))

    def _expand_thread_copy(
        self, node: Node, writer: Writer, execution: Execution, follow: Callable[[Location, int], Node]
    ) -> None:  # fmt: skip
        copy = execution.copies[-1 - writer.access]
        assert copy.sources is not None
        source = int(copy.sources[int(np.flatnonzero(copy.warps == writer.warp)[0]), writer.lane])
        if source < 0:
            node.leaf = "fill"
            return
        node.inputs.append(follow(Location("global", 0, source + writer.first, 0, node.location.size), writer.time))

    # Instructions -----------------------------------------------------------------------------------------

    def _expand_instruction(
        self, node: Node, writer: Writer, execution: Execution, follow: Callable[[Location, int], Node]
    ) -> None:  # fmt: skip
        binding = self.launch.program.steps[writer.pc].binding
        form, operands = binding.form, self.launch.instructions[writer.pc].operands
        position = execution.position(writer.warp)
        if form.execution is None or any(each.space_word(binding.slots) == "tensor" for each in form.operands.values()):
            node.leaf = "unknown"
            return
        if node.location.space == "register":
            result = self.result(writer.pc, node.location)
            if result is None:
                node.leaf = "unknown"
                return
        else:
            result = Part("", writer.access, writer.lane, writer.first, node.location.size)
        values = {
            name: np.broadcast_to(array[:, position], (len(array), 32)) for name, array in execution.values.items()
        }
        for part in self._origins.of(form, operands, values, execution.lanes[position], result):
            self._follow_part(node, writer, execution, position, part, follow)
        if node.location.space != "register" and execution.accesses[writer.access].kind == "update":
            self._follow_updates(node, writer, execution, follow)
        if not node.inputs and not node.leaf:
            node.leaf = "constant"

    def _follow_updates(
        self, node: Node, writer: Writer, execution: Execution, follow: Callable[[Location, int], Node]
    ) -> None:  # fmt: skip
        """Follow the values of the other lanes that the same instruction adds to the same memory."""
        reached = execution.accesses[writer.access]
        own = int(np.flatnonzero(reached.warps == writer.warp)[0]), writer.lane
        same = reached.lanes & (reached.index == reached.index[own]) & (reached.owners == reached.owners[own])
        same[own] = False
        for row, lane in np.argwhere(same).tolist():
            other = Writer(writer.time, execution, int(reached.warps[row]), lane, writer.access)
            position = execution.position(other.warp)
            for name, array in execution.values.items():
                for item in range(len(array)):
                    part = Part(name, item, lane, 0, array.dtype.itemsize)
                    self._follow_part(node, other, execution, position, part, follow)

    def _follow_part(
        self, node: Node, writer: Writer, execution: Execution, position: int, part: Part,
        follow: Callable[[Location, int], Node],
    ) -> None:  # fmt: skip
        if part.operand:
            value = getattr(self.launch.instructions[writer.pc].operands, part.operand)
            found = register_of(value, part.item)
            if found is None:
                inside = value.items[part.item] if hasattr(value, "items") else value
                leaf: Leaf = "constant" if isinstance(inside, Constant) else "special"
                node.parts.append(part)
                node.inputs.append(Node(node.location, writer.time, leaf=leaf))
                lane = part.lane % execution.values[part.operand].shape[2]
                node.inputs[-1].value = _number(execution.values[part.operand][part.item, position, lane], value)
                return
            width = found.file.dtype.itemsize
            place = Location("register", writer.warp * 32 + part.lane, found.index, part.start, part.size, width)
            source = follow(place, writer.time)
            if source.value is None:
                source.value = _number(execution.values[part.operand][part.item, position, part.lane], value)
            node.parts.append(part)
            node.inputs.append(source)
            return
        at = self._place(execution, writer.warp, part)
        if at is not None:
            node.parts.append(part)
            node.inputs.append(follow(at, writer.time))

    def _place(self, execution: Execution, warp: int, part: Part) -> Location | None:
        """Return the memory that an access of a lane reads."""
        reads = [each for each in execution.accesses if each.kind != "write"]
        for reached in reads if len(reads) <= part.item or part.item == 0 else [reads[part.item]]:
            (where,) = np.flatnonzero(reached.warps == warp)
            if reached.lanes[where, part.lane]:
                owner = int(reached.owners[where, part.lane])
                index = int(reached.index[where, part.lane]) + part.start
                return Location(reached.space, owner, index, 0, part.size)  # type: ignore[arg-type]
        return None

    def result(self, pc: int, location: Location) -> Part | None:
        """Return the part of the results of an instruction that is in a register, or None for its extension."""
        operands = self.launch.instructions[pc].operands
        for name, spec in self.launch.program.steps[pc].binding.form.operands.items():
            value = getattr(operands, name)
            if spec.access not in ("write", "both") or value is None or isinstance(value, int | str):
                continue
            for item in range(len(value.items) if hasattr(value, "items") else 1):
                found = register_of(value, item)
                if found is not None and (found.file.dtype.itemsize, found.index) == (location.width, location.index):
                    size = min(location.size, found.view.dtype.itemsize - location.start)
                    return Part(name, item, location.owner % 32, location.start, size) if size > 0 else None
        return None

    # Matrix multiplications -------------------------------------------------------------------------------

    def _expand_product(
        self, node: Node, writer: Writer, product: Multiplication, follow: Callable[[Location, int], Node]
    ) -> None:  # fmt: skip
        execution = writer.record
        assert isinstance(execution, Execution)
        result = self.result(writer.pc, node.location)
        d = product.d
        if result is None or product.metadata is not None or d.map.bits < 8:
            node.leaf = "unknown"
            return
        group = writer.warp - writer.warp % 4 if d.map.lanes == 128 else writer.warp
        if d.map.lanes == 128:  # warpgroups count the warps of a CTA
            per_cta = self.launch.topology.warps_per_cta
            group = writer.warp - writer.warp % per_cta % 4
        lane = (writer.warp - group) * 32 + writer.lane
        item = result.item * d.map.register_bits // d.map.bits + result.start * 8 // d.map.bits
        row, column = d.map.element(lane, item)
        node.product, node.element = product, (row, column)
        position = execution.position(writer.warp)
        keeps = execution.values.get("keeps")
        node.keeps = keeps is None or bool(np.broadcast_to(keeps, (1, len(execution.warps), 32))[0, position, 0])
        if node.keeps:
            c = product.c
            ((c_lane, register, start, size), *_) = registers_of_element(c.map, row, column)
            at = self._register(group, c_lane, c, register, start, size)
            if at is not None:
                node.inputs.append(follow(at, writer.time))
        for k in range(product.k):
            found = [
                self._element(matrix, execution, position, group, *place)
                for matrix, place in ((product.a, (row, k)), (product.b, (k, column)))
            ]
            nodes = [
                Node(node.location, writer.time, leaf="constant") if at is None else follow(at, writer.time)
                for at in found
            ]
            node.factors.append(Factors(k, *nodes))

    def _element(
        self,
        matrix: RegisterMatrix | SharedMatrix,
        execution: Execution,
        position: int,
        group: int,
        row: int,
        column: int,
    ) -> Location | None:
        """Return the location of an element of A (row, k) or of B (k, column)."""
        if isinstance(matrix, RegisterMatrix):
            ((lane, register, start, size), *_) = registers_of_element(matrix.map, row, column)
            return self._register(group, lane, matrix, register, start, size)
        along, k = (row, column) if matrix.name == "A" else (column, row)
        word = int(np.broadcast_to(execution.values[matrix.name], (1, len(execution.warps), 32))[0, position, 0])
        bits = tile_bits(word, matrix.rows, matrix.k, matrix.element, matrix.major)
        byte = int(bits[along, k]) // 8 - SHARED_START
        per_cta = self.launch.topology.warps_per_cta
        size = max(element_bytes(matrix.element), 1)
        return Location("shared", group // per_cta, byte, 0, size)

    def _register(
        self, group: int, lane: int, matrix: RegisterMatrix, register: int, start: int, size: int
    ) -> Location | None:
        found = register_of(matrix.registers, register)
        if found is None:
            return None
        thread = (group + lane // 32) * 32 + lane % 32
        return Location("register", thread, found.index, start, size, found.file.dtype.itemsize)


def _number(bits: Any, value: Any) -> float | int | None:
    """Return the value of an operand as a number, or None if its type has no single number."""
    kind = TYPES[value.type]
    if kind.kind not in ("float", "signed", "unsigned"):
        return None
    array = np.array([bits])
    return numbers(array.view(f"u{array.dtype.itemsize}"), value.type).item()


def register_of(value: Any, item: int) -> Register | None:
    """Return the register of an item of an operand, or None for a constant or a special register."""
    if hasattr(value, "items"):
        value = value.items[item]
    if isinstance(value, NotPredicate):
        return value.register
    return value if isinstance(value, Register) else None


@lru_cache(maxsize=256)
def tile_bits(word: int, rows: int, k: int, element: str, major: str) -> Array:
    """Return the shared addresses of the elements of a tile, in bits. Shapes: (rows, k)."""
    return Descriptor.decode(word).tile(rows, k, element, major).at


def element_bytes(element: str) -> int:
    """Return the bytes of an element type in shared memory."""
    from warploom.layout.maps import TYPE_BITS

    return max(TYPE_BITS[element] // 8, 1)


def nodes_from(root: Node) -> Iterator[Node]:
    """Yield a node and all nodes from which its value comes, once."""
    seen: set[int] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            pending.extend(node.sources)


def leaves(root: Node) -> Iterator[Node]:
    """Yield each leaf from which the value of a node comes, once."""
    return (node for node in nodes_from(root) if node.leaf)
