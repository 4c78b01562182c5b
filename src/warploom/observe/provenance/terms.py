"""Sum of products from which a result comes, and the elements of the arguments in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.isa.model.origins import arithmetic
from warploom.lazy_dataclass import dataclass
from warploom.observe.provenance.chain import Chain, Node
from warploom.observe.provenance.trace import Execution

Array = NDArray[Any]

MOST_TERMS = 1 << 17
"""Limit of the products of a result."""


@dataclass(frozen=True, slots=True)
class Element:
    """Element of an argument: the name of the array, and its index."""

    array: str
    index: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.array}[{', '.join(map(str, self.index))}]"


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Array in global memory: its first byte in `Arena.bytes`, and its contents before the launch."""

    name: str
    start: int
    contents: Array

    def element(self, offset: int) -> Element | None:
        """Return the element with a byte of `Arena.bytes`, or None."""
        array = self.contents
        left, index = offset - self.start, [0] * array.ndim
        if left < 0 or not array.size:
            return None
        for axis in sorted(range(array.ndim), key=lambda axis: -array.strides[axis]):
            index[axis], left = divmod(left, array.strides[axis]) if array.strides[axis] > 0 else (0, left)
        inside = all(0 <= at < extent for at, extent in zip(index, array.shape, strict=True))
        return Element(self.name, tuple(index)) if inside and left < array.itemsize else None

    def offset(self, index: Sequence[int]) -> int:
        """Return the first byte of an element in `Arena.bytes`."""
        return self.start + sum(at * stride for at, stride in zip(index, self.contents.strides, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """Arrays of a launch, and the parameters of its kernel as (first byte, bytes, name)."""

    arrays: tuple[Region, ...]
    parameters: tuple[tuple[int, int, str], ...] = ()

    def element(self, node: Node) -> Element | None:
        """Return the element of an argument that a node reads, or None."""
        if node.location.space != "global" or node.leaf != "source":
            return None
        found = (each.element(node.location.index) for each in self.arrays)
        return next((each for each in found if each is not None), None)

    def elements(self, node: Node) -> list[Element]:
        """Return all elements of an argument whose bytes a node reads."""
        first = self.element(node)
        if first is None:
            return []
        region = self.array(first.array)
        at = range(node.location.index, node.location.index + node.location.size, region.contents.itemsize)
        return [each for offset in at if (each := region.element(offset)) is not None]

    def parameter(self, node: Node) -> str:
        """Return the name of the kernel parameter that a node reads, or ""."""
        at = node.location.index
        if node.location.space != "global" or node.leaf != "source":
            return ""
        return next((name for first, size, name in self.parameters if first <= at < first + size), "")

    def array(self, name: str) -> Region:
        """Return the array `name`."""
        return next(each for each in self.arrays if each.name == name)

    def value(self, element: Element) -> float:
        """Return the value of an element before the launch."""
        return float(self.array(element.array).contents[element.index])


@dataclass(slots=True, eq=False)
class Product:
    """Product of two values in a sum. `node` is the instruction that adds it.

    `a` and `b` are the values as the instruction reads them.
    """

    node: Node
    a: Node
    b: Node
    k: int = 0
    sign: int = 1


@dataclass(slots=True, eq=False)
class Step:
    """Operation on a sum of products. `factor` is the scale, or None for another operation."""

    node: Node
    factor: Node | None


@dataclass(slots=True, eq=False)
class Terms:
    """Sum from which a result comes.

    `products` are in the order of time. `addends` are all other parts of the sum. `steps` are the operations on the
    sum, from the last one. `spine` lists all instructions between the result and the first product.
    """

    products: list[Product] = field(default_factory=list[Product])
    addends: list[Node] = field(default_factory=list[Node])
    steps: list[Step] = field(default_factory=list[Step])
    spine: list[Node] = field(default_factory=list[Node])


class Collector:
    """Reader of sums of products from the nodes of a walk."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._operations: dict[tuple[Any, ...], tuple[str, tuple[int, ...]]] = {}

    def operation(self, node: Node) -> tuple[str, list[Node]]:
        """Return the operation of a node, as `origins.arithmetic` names it, and its sources in order."""
        if node.leaf or node.factors or not node.inputs or node.writer is None:
            return "", []
        record = node.writer.record
        if not isinstance(record, Execution) or node.location.space != "register" or record.accesses:
            return ("copy", node.inputs) if len(node.inputs) == 1 else ("", node.inputs)
        form = self.chain.launch.program.steps[record.pc].binding.form
        if form.lane_function is None:
            return ("copy", node.inputs) if len(node.inputs) == 1 else ("", node.inputs)
        position = record.position(node.writer.warp)
        numeric = [
            (part, source)
            for part, source in zip(node.parts, node.inputs, strict=True)
            if record.values[part.operand].dtype != np.bool_
        ]
        if all(part.operand in form.flow.elements for part, _ in numeric):
            return ("copy", [numeric[0][1]]) if len(numeric) == 1 else ("", node.inputs)
        result = self.chain.result(record.pc, node.location)
        if result is None:
            return "", node.inputs
        key = record.pc, result.operand, result.item, result.start, *(part.operand for part, _ in numeric)
        if key not in self._operations:
            values = {name: array[:, position] for name, array in record.values.items()}
            operands = self.chain.launch.instructions[record.pc].operands
            self._operations[key] = arithmetic(form, operands, values, result, [part for part, _ in numeric])
        name, order = self._operations[key]
        return name, [numeric[k][1] for k in order] if name else node.inputs

    def resolve(self, node: Node) -> list[Node]:
        """Return a node and its sources, as long as each one is a copy of the next."""
        found = [node]
        while (operation := self.operation(found[-1]))[0] == "copy":
            found.append(operation[1][0])
        return found

    def collect(self, root: Node) -> Terms:
        """Return the sum of products from which a node comes."""
        found = Terms()
        is_sum = False
        pending: list[tuple[Node, int]] = [(root, 1)]
        while pending and len(found.products) < MOST_TERMS:
            node, sign = pending.pop()
            if not is_sum:
                found.spine.append(node)
            if node.product is not None:
                is_sum = True
                found.products += [Product(node, each.a, each.b, each.k, sign) for each in node.factors]
                pending += [(each, sign) for each in node.inputs]
                continue
            name, sources = self.operation(node)
            match name:
                case "copy" | "negation":
                    pending.append((sources[0], -sign if name == "negation" else sign))
                case "sum" | "difference":
                    pending += [(sources[0], sign), (sources[1], -sign if name == "difference" else sign)]
                case "product" | "product and sum":
                    x, y = sources[:2]
                    ends = self.resolve(x)[-1], self.resolve(y)[-1]
                    if all(each.leaf for each in ends):
                        is_sum = True
                        found.products.append(Product(node, x, y, 0, sign))
                    else:
                        inner, factor = (y, x) if ends[0].leaf else (x, y)
                        found.steps.append(Step(node, factor))
                        pending.append((inner, sign))
                    pending += [(each, sign) for each in sources[2:]]
                case _:
                    single = [each for each in sources if self.resolve(each)[-1].leaf not in ("constant", "special")]
                    if not node.leaf and len(single) == 1 and not is_sum:
                        found.steps.append(Step(node, None))
                        pending.append((single[0], sign))
                    else:
                        found.addends.append(node)
        found.products.sort(key=lambda each: (_time(each.node), each.k))
        return found


def _time(node: Node) -> int:
    return 0 if node.writer is None else node.writer.time


# Ranges of elements ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """Elements of an array along one axis: `count` elements from `first` on."""

    first: Element
    axis: int
    count: int

    def __str__(self) -> str:
        parts = [str(at) for at in self.first.index]
        if self.count > 1:
            start = self.first.index[self.axis]
            parts[self.axis] = f"{start}:{start + self.count}"
        return f"{self.first.array}[{', '.join(parts)}]"


def _follows(run: Run, element: Element) -> Run | None:
    """Return a run with one more element, or None if the element does not continue it."""
    if run.first.array != element.array:
        return None
    axes = range(len(element.index)) if run.count == 1 else [run.axis]
    for axis in axes:
        expected = list(run.first.index)
        expected[axis] += run.count
        if tuple(expected) == element.index:
            return Run(run.first, axis, run.count + 1)
    return None


def runs_of(elements: Iterable[Element]) -> list[Run]:
    """Return consecutive elements as runs."""
    found: list[Run] = []
    for each in elements:
        longer = _follows(found[-1], each) if found else None
        if longer is None:
            found.append(Run(each, 0, 1))
        else:
            found[-1] = longer
    return found


def paired_runs(pairs: Iterable[tuple[Element, Element]]) -> Iterator[tuple[Run, Run]]:
    """Yield pairs of elements as pairs of runs of equal length."""
    current: tuple[Run, Run] | None = None
    for one, other in pairs:
        longer = None if current is None else (_follows(current[0], one), _follows(current[1], other))
        if longer is not None and longer[0] is not None and longer[1] is not None:
            current = longer[0], longer[1]
            continue
        if current is not None:
            yield current
        current = Run(one, 0, 1), Run(other, 0, 1)
    if current is not None:
        yield current
