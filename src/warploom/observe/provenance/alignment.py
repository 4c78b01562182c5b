"""Assignment of the products of a result to the expected products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal

from warploom.lazy_dataclass import dataclass
from warploom.observe.provenance.chain import Chain, Node
from warploom.observe.provenance.terms import Collector, Element, Product, Regions
from warploom.observe.provenance.trace import Writer

Fault = Literal["", "late", "overwritten"]


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected value of a result, and the sum of products that gives it.

    `products` has the elements of a and b for each k, or is empty if no sum is expected. The result is `scale` times
    the sum, plus `initial`. `bound` is the largest allowed error. `elements` has the elements of the arguments on which
    the result depends, if they are known.
    """

    value: float
    bound: float
    products: tuple[tuple[Element, Element], ...] = ()
    scale: float = 1.0
    initial: float = 0.0
    elements: frozenset[Element] = frozenset()


@dataclass(slots=True, eq=False)
class Side:
    """Factor of a product: the nodes that copy it, its element, and the expected element.

    `read` is the index in `path` of the node in shared memory that the factor comes from, or -1. `late` is the first
    write of its bytes after the read, and `early` the last write before the one that was read.
    """

    path: list[Node]
    element: Element | None
    read: int
    expected: Element | None = None
    late: Writer | None = None
    late_element: Element | None = None
    early_element: Element | None = None

    @property
    def leaf(self) -> Node:
        """Last node of the path."""
        return self.path[-1]

    @property
    def is_right(self) -> bool:
        """True if the factor is the expected element."""
        return self.element is not None and self.element == self.expected

    @property
    def shared(self) -> Node | None:
        """Node in shared memory, or None."""
        return None if self.read < 0 else self.path[self.read]


@dataclass(slots=True, eq=False)
class Slot:
    """Product of a result, and the number `k` of the expected product in its place.

    A further product has the number -1.

    `fault` is "late" if the factors would be right after the next write of their memory, and "overwritten" if they
    would be right before the last one.
    """

    product: Product
    a: Side
    b: Side
    k: int = -1
    fault: Fault = ""

    @property
    def is_right(self) -> bool:
        """True if both factors are the expected elements."""
        return self.k >= 0 and self.a.is_right and self.b.is_right

    def reader(self, side: Side) -> Writer:
        """Return the instruction that reads the factor `side` from shared memory."""
        node = side.path[side.read - 1] if side.read > 0 else self.product.node
        assert node.writer is not None
        return node.writer


@dataclass(slots=True, eq=False)
class Alignment:
    """Products of a result in the order of time. `missing` numbers the expected products without one."""

    expected: Expected
    slots: list[Slot]
    missing: list[int] = field(default_factory=list[int])

    @property
    def matched(self) -> list[Slot]:
        """Products that stand in the place of an expected product."""
        return [each for each in self.slots if each.k >= 0]

    @property
    def further(self) -> list[Slot]:
        """Products that are not expected."""
        return [each for each in self.slots if each.k < 0]

    @property
    def wrong(self) -> list[Slot]:
        """Products that stand in the place of an expected product and have another factor."""
        return [each for each in self.matched if not each.is_right]


class Aligner:
    """Assignment of products to the expected products of a sum."""

    def __init__(self, chain: Chain, collector: Collector, regions: Regions, expected: Expected) -> None:
        self.chain, self.collector, self.regions, self.expected = chain, collector, regions, expected
        self._of_a = {a: k for k, (a, _) in enumerate(expected.products)}
        self._of_b = {b: k for k, (_, b) in enumerate(expected.products)}
        self._names = tuple(each.array for each in expected.products[0])

    def align(self, products: Sequence[Product]) -> Alignment:
        """Return the products with the numbers of the expected products."""
        slots = [self._slot(each) for each in products]
        slots = [each for each in slots if each is not None]
        count = len(self.expected.products)
        found = self._numbers(slots, {}, "")
        if len(set(found.values())) < count:
            for slot in slots:
                self._find_neighbours(slot)
            late = self._numbers(slots, found, "late")
            all_late = self._numbers(slots, {}, "late")
            overwritten = self._numbers(slots, found, "overwritten")
            faults: Mapping[int, Fault] = {}
            best, fault = found, ""
            for numbers, kind in ((late, "late"), (overwritten, "overwritten"), (all_late, "late")):
                if len(numbers) > len(best):
                    best, fault = numbers, kind
            faults = {n: fault for n, k in best.items() if found.get(n) != k}  # type: ignore[misc]
            found = best
            for number, each in faults.items():
                slots[number].fault = each
        for number, k in found.items():
            slots[number].k = k
        used = set(found.values())
        self._assign_others(slots, used)
        for slot in slots:
            if slot.k >= 0:
                slot.a.expected, slot.b.expected = self.expected.products[slot.k]
        return Alignment(self.expected, slots, [k for k in range(count) if k not in used])

    def side(self, node: Node) -> Side:
        """Return a factor with its path."""
        path = self.collector.resolve(node)
        read = next((number for number, each in enumerate(path) if each.location.space == "shared"), -1)
        return Side(path, self.regions.element(path[-1]), read)

    def _slot(self, product: Product) -> Slot | None:
        one, other = self.side(product.a), self.side(product.b)
        if one.leaf.leaf == "special" or self.regions.parameter(one.leaf) or self.regions.parameter(other.leaf):
            return None
        first, second = self._names
        arrays = tuple(None if each.element is None else each.element.array for each in (one, other))
        flipped = first != second and (arrays[0] == second or arrays[1] == first) and arrays != (first, second)
        if first == second and one.element not in self._of_a and one.element in self._of_b:
            flipped = other.element in self._of_a
        return Slot(product, *((other, one) if flipped else (one, other)))

    def _numbers(self, slots: Sequence[Slot], given: Mapping[int, int], kind: Fault) -> dict[int, int]:
        """Return the number of the expected product for each slot whose factors both belong to it.

        A number is used once. `given` has the numbers of some slots. `kind` is that of `_candidates`.
        """
        found, used = dict(given), set(given.values())
        for number, slot in enumerate(slots):
            if number in found:
                continue
            k = self._common(self._candidates(slot.a, self._of_a, kind), self._candidates(slot.b, self._of_b, kind))
            if k >= 0 and k not in used:
                found[number] = k
                used.add(k)
        return found

    def _candidates(self, side: Side, of: Mapping[Element, int], kind: Fault) -> list[int]:
        """Return the numbers of the expected products that have a factor's element.

        `kind` selects the element at another time first, and then the one that was read.
        """
        other = side.late_element if kind == "late" else side.early_element if kind == "overwritten" else None
        return [of[each] for each in (other, side.element) if each is not None and each in of]

    @staticmethod
    def _common(first: Sequence[int], second: Sequence[int]) -> int:
        return next((k for k in first if k in second), -1)

    def _find_neighbours(self, slot: Slot) -> None:
        """Find the elements at the address of each factor after the next write and before the last one."""
        for side in (slot.a, slot.b):
            shared = side.shared
            if shared is None:
                continue
            side.late = self.chain.trace.later_write(shared.location, slot.reader(side).time)
            if side.late is not None:
                side.late_element = self._element_at(shared, side.late.time + 1)
            if shared.writer is not None:
                side.early_element = self._element_at(shared, shared.writer.time)

    def _element_at(self, shared: Node, before: int) -> Element | None:
        return self.regions.element(self.collector.resolve(self.chain.walk(shared.location, before))[-1])

    def _assign_others(self, slots: Sequence[Slot], used: set[int]) -> None:
        """Assign the slots whose factors do not agree: by one right factor, or by their position."""
        count = len(self.expected.products)
        left = [(number, slot) for number, slot in enumerate(slots) if slot.k < 0]
        if len(used) == count:
            return
        is_whole = len(slots) == count
        for number, slot in left:
            options = {
                k
                for side, of in ((slot.a, self._of_a), (slot.b, self._of_b))
                for k in self._candidates(side, of, "")
                if k not in used
            }
            if is_whole and number in options:
                slot.k = number
            elif len(options) == 1 or (options and not is_whole):
                slot.k = min(options)
            if slot.k >= 0:
                used.add(slot.k)
        for number, slot in left:
            if slot.k < 0 and is_whole:
                slot.k = number if number not in used else min(set(range(count)) - used)
                used.add(slot.k)
