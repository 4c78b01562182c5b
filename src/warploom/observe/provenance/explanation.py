"""Explanation of a result: its sources, the first wrong step, and the cause."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from warploom.lazy_dataclass import dataclass
from warploom.observe.provenance.alignment import Aligner, Alignment, Expected, Side, Slot
from warploom.observe.provenance.case import NAMES, Case, Cause, groups_of
from warploom.observe.provenance.causes import find_cause
from warploom.observe.provenance.chain import Chain, Node, leaves
from warploom.observe.provenance.order_causes import first_difference
from warploom.observe.provenance.places import Places, number
from warploom.observe.provenance.sum_causes import wrong_step
from warploom.observe.provenance.terms import Collector, Element, Regions, Run, paired_runs, runs_of
from warploom.observe.provenance.trace import Copied, ExecutionTrace, Location

_MOST_RUNS = 8  # ranges of elements in a line
_MOST_DETAILS = 12
_MOST_LINES = 40  # of a tree without products


@dataclass(frozen=True, slots=True)
class Line:
    """Line of a tree, and its distance from the root."""

    depth: int
    text: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Explanation of a result.

    `tree` has the instructions and elements from which the result comes. `wrong_step` names the first step after which
    the value is wrong. It is empty without an expected value. `details` lists what stands in the place of expected
    elements, and `cause` is the cause, if a rule found one. `products` are the products with the expected ones.
    """

    tree: tuple[Line, ...]
    wrong_step: str = ""
    details: tuple[str, ...] = ()
    cause: Cause | None = None
    products: tuple[tuple[Element | None, Element | None, int, bool], ...] = ()
    missing: tuple[int, ...] = field(default=())


class Explainer:
    """Builder of explanations from the record of a run."""

    def __init__(self, trace: ExecutionTrace, regions: Regions) -> None:
        self.chain = Chain(trace)
        self.regions = regions
        self.places = Places(trace, regions)
        self.collector = Collector(self.chain)

    def explain(
        self, location: Location, value: float, expected: Expected | None, result: Element | None = None
    ) -> Explanation:  # fmt: skip
        """Explain the value of a location at the end of the record. `result` is the element there."""
        root = self.chain.walk(location)
        terms = self.collector.collect(root)
        case = Case(self.chain, self.collector, self.places, root, terms, value, result, expected=expected)
        is_wrong = expected is not None and not abs(value - expected.value) <= expected.bound
        if expected is None or not expected.products or not terms.products:
            tree = (*self._spine(case), *self._products(case)) if terms.products else self._whole_tree(root)
            cause = find_cause(case) if is_wrong or expected is None else None
            return Explanation(tuple(tree), cause=cause)
        alignment = Aligner(self.chain, self.collector, self.regions, expected).align(terms.products)
        case.alignment = alignment
        cause = find_cause(case) if is_wrong or alignment.wrong or alignment.further or alignment.missing else None
        if not is_wrong and cause is not None and cause.name == "wrong scale":
            cause = None
        step, details = self._first_wrong_step(case, alignment, is_wrong)
        products = tuple((each.a.element, each.b.element, each.k, each.is_right) for each in alignment.slots)
        tree = (*self._spine(case), *self._aligned(case, alignment))
        return Explanation(tree, step, tuple(details), cause, products, tuple(alignment.missing))

    def difference(self, other: Explainer, location: Location, schedule: str) -> Cause | None:
        """Return the cause if a value comes from other writes in the run of `other`.

        `schedule` is that of the other run.
        """
        roots = self.chain.walk(location), other.chain.walk(location)
        return first_difference((self.places, roots[0]), (other.places, roots[1]), schedule)

    # Trees ------------------------------------------------------------------------------------------------

    def _spine(self, case: Case) -> Iterator[Line]:
        factors = {id(each.node): each.factor for each in case.terms.steps}
        for depth, node in enumerate(self._above(case)):
            if node.writer is None:
                yield Line(depth, self.places.leaf(node))
                continue
            text = self.places.instruction(node.writer)
            if (factor := factors.get(id(node))) is not None:
                leaf = self.collector.resolve(factor)[-1]
                shown = "" if factor.value is None else f" ({number(factor.value)})"
                text += f", by {self.places.leaf(leaf) or 'a value'}{shown}"
            yield Line(depth, text)

    @staticmethod
    def _above(case: Case) -> list[Node]:
        """Return the instructions between the result and the first product."""
        adding = {id(each.node) for each in case.terms.products}
        return [each for each in case.terms.spine if id(each) not in adding]

    def _depth(self, case: Case) -> int:
        return len(self._above(case))

    def _nodes(self, case: Case) -> list[Node]:
        return list({id(each.node): each.node for each in case.terms.products}.values())

    def _products(self, case: Case) -> Iterator[Line]:
        """Yield the lines of a sum without expected products."""
        depth, nodes = self._depth(case), self._nodes(case)
        yield Line(depth, self.places.multiplications(nodes))
        for name, sides in (
            ("A", [each.a for each in case.terms.products]),
            ("B", [each.b for each in case.terms.products]),
        ):
            leaf_nodes = [self.collector.resolve(each)[-1] for each in sides]
            elements = [each for leaf in leaf_nodes for each in self.regions.elements(leaf)]
            if elements:
                yield Line(depth + 1, f"{name}: {self._listed(elements)}")
            yield from self._others(depth + 1, name, [leaf for leaf in leaf_nodes if not self.regions.elements(leaf)])
        yield from self._addends(case, depth)

    def _aligned(self, case: Case, alignment: Alignment) -> Iterator[Line]:
        depth, nodes = self._depth(case), self._nodes(case)
        yield Line(depth, self.places.multiplications(nodes))
        expected = alignment.matched
        for name in NAMES:
            sides = [case.side(name, each) for each in expected]
            for text in self._ranges(sides):
                yield Line(depth + 1, f"{name.upper()}: {text}")
            yield from self._others(depth + 1, name.upper(), [each.leaf for each in sides if each.element is None])
        if further := alignment.further:
            parts = [
                self._listed([each for each in (case.side(name, slot).element for slot in further) if each])
                for name in NAMES
            ]
            yield Line(depth + 1, f"{len(further)} further products: {' and '.join(parts)}")
        yield from self._addends(case, depth)

    def _addends(self, case: Case, depth: int) -> Iterator[Line]:
        first = case.terms.products[0].node
        if first.product is not None and not first.keeps:
            yield Line(depth + 1, "accumulator starts at 0")
        for node in case.terms.addends[:4]:
            leaf = self.collector.resolve(node)[-1]
            text = self.places.leaf(leaf) or (self.places.instruction(leaf.writer) if leaf.writer else "")
            yield Line(depth + 1, f"accumulator starts with {text}")

    def _ranges(self, sides: Sequence[Side]) -> Iterator[str]:
        """Yield the elements of an operand as ranges, with the expected ones and the copies that brought them."""
        loads = self._loads(sides)
        if all(each.is_right for each in sides):
            yield self._listed([each.element for each in sides if each.element is not None]) + loads
            return
        runs = list(_differing(sides))
        for one, other in runs[:_MOST_RUNS]:
            yield f"{one} in place of {other}{loads}"
        if len(runs) > _MOST_RUNS:
            yield f"{len(runs) - _MOST_RUNS} further ranges"
        if right := [each.element for each in sides if each.is_right and each.element is not None]:
            yield f"{len(right)} of {len(sides)} elements are the expected ones"

    def _loads(self, sides: Sequence[Side]) -> str:
        """Return a phrase for the instructions that read the elements from global memory."""
        paths = [each.path for each in sides if each.element is not None]
        writers = [path[-2].writer for path in paths if len(path) > 1]
        pcs = list(dict.fromkeys(each.pc for each in writers if each is not None))
        first = next((each for each in writers if each is not None), None)
        return "" if first is None else f", {self.places.word(first)}, {self.places.lines(pcs)}"

    def _others(self, depth: int, name: str, others: Sequence[Node]) -> Iterator[Line]:
        counts: dict[str, int] = {}
        for leaf in others:
            text = self.places.leaf(leaf) or "a computed value"
            counts[text] = counts.get(text, 0) + 1
        for text, count in list(counts.items())[:4]:
            yield Line(depth, f"{name}: {count} times {text}")

    def _listed(self, elements: Iterable[Element]) -> str:
        runs = [str(each) for each in runs_of(elements)]
        more = f" and {len(runs) - _MOST_RUNS} further ranges" if len(runs) > _MOST_RUNS else ""
        return ", ".join(runs[:_MOST_RUNS]) + more

    def _whole_tree(self, root: Node) -> Iterator[Line]:
        """Yield the lines of a tree, each node once. Only paths to unwritten bytes are shown in full, if any."""
        marked = self._paths_to_unwritten(root)
        seen: set[int] = set()
        pending: list[tuple[int, Node, Node | None, bool]] = [(0, root, None, False)]
        left = _MOST_LINES
        while pending and left:
            depth, node, reader, is_only = pending.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            left -= 1
            is_short = bool(marked) and id(node) not in marked and not node.leaf
            text = self._described(node, reader) + (f", from {self._elements_of(node)}" if is_short else "")
            yield Line(depth, f"<- {text}" if is_only else text)
            sources = [] if is_short else list(dict.fromkeys(node.sources))
            sources.sort(key=lambda each: id(each) not in marked)
            inner = depth + (len(sources) > 1 or reader is None)
            pending += [(inner, each, node, inner == depth) for each in reversed(sources)]
        if pending:
            yield Line(0, f"{len({id(each) for _, each, _, _ in pending} - seen)} further values")

    def _elements_of(self, node: Node) -> str:
        """Return the elements of arguments from which a value comes, as ranges."""
        elements = {each for leaf in leaves(node) for each in self.regions.elements(leaf)}
        return self._listed(sorted(elements, key=lambda each: (each.array, each.index))) or "constants"

    def _described(self, node: Node, reader: Node | None) -> str:
        if node.writer is not None:
            value = "" if node.value is None else f" = {number(node.value)}"
            end = f"; {self.places.leaf(node)}" if node.leaf == "unknown" else ""
            return self.places.instruction(node.writer) + value + end
        text = self.places.leaf(node)
        if (
            node.leaf == "unwritten"
            and node.location.space == "shared"
            and reader is not None
            and reader.writer is not None
        ):
            late = self.chain.trace.later_write(node.location, reader.writer.time)
            if late is not None:
                text += f"; {self.places.instruction(late)} writes it later"
        return text

    @staticmethod
    def _all(root: Node) -> list[Node]:
        """Return the nodes of a walk, each after its sources."""
        order: list[Node] = []
        seen: set[int] = set()
        pending: list[tuple[Node, bool]] = [(root, False)]
        while pending:
            node, is_done = pending.pop()
            if is_done:
                order.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                pending.append((node, True))
                pending += [(each, False) for each in node.sources]
        return order

    def _paths_to_unwritten(self, root: Node) -> set[int]:
        marked: set[int] = set()
        for node in self._all(root):
            if node.leaf in ("unwritten", "unknown") or any(id(each) in marked for each in node.sources):
                marked.add(id(node))
        return marked

    # Steps ------------------------------------------------------------------------------------------------

    def _first_wrong_step(self, case: Case, alignment: Alignment, is_wrong: bool) -> tuple[str, list[str]]:
        """Return a phrase for the first step with a wrong value, and lines about its factors."""
        groups = groups_of(alignment.slots)
        found = wanted = 0.0
        bound = alignment.expected.bound / max(abs(alignment.expected.scale), 1e-30)
        for slots in groups:
            found += sum(self._value(each.a) * self._value(each.b) * each.product.sign for each in slots)
            pairs = [alignment.expected.products[each.k] for each in slots if each.k >= 0]
            wanted += sum(self.regions.value(one) * self.regions.value(other) for one, other in pairs)
            if abs(found - wanted) > bound:
                node = slots[0].product.node
                assert node.writer is not None
                where = f"{self.places.line(node.pc)} in iteration {self.places.trace.iteration(node.writer)}"
                step = f"the multiplication of {where}; the partial sum is {number(found)}, expected {number(wanted)}"
                return step, self._details(case, alignment, slots)
        if is_wrong and not alignment.missing and (node := wrong_step(case)) is not None and node.writer is not None:
            return f"{self.places.word(node.writer)} of {self.places.line(node.pc)}; all partial sums are right", []
        if not is_wrong and not alignment.wrong:
            return "none; the value is right", []
        return f"none of the {len(groups)} partial sums is wrong", self._details(case, alignment, [])

    def _value(self, side: Side) -> float:
        if side.element is not None:
            return self.regions.value(side.element)
        return 0.0  # memory that nothing has written, and the fill of a box

    def _details(self, case: Case, alignment: Alignment, first: Sequence[Slot]) -> list[str]:
        """Return lines about the factors of the first wrong step, and then about those of each iteration."""
        lines: dict[str, str] = {}
        for slots in (first, *self._by_iteration(alignment)):
            for name in NAMES:
                sides = [case.side(name, each) for each in slots if each.k >= 0]
                wrong = [each for each in sides if not each.is_right]
                for side in wrong:
                    if side.element is None:
                        text = f"{name.upper()}: {self.places.leaf(side.leaf)}"
                        lines.setdefault(text, text)
                        if later := self._later(side):
                            lines.setdefault(f"later {text}", later)
                if wrong:
                    for one, other in _differing(sides):
                        text = f"{name.upper()}: {one} in place of {other}"
                        lines.setdefault(text, text)
        return [*lines.values()][:_MOST_DETAILS]

    def _later(self, side: Side) -> str:
        late = side.late
        if late is None:
            return ""
        is_copy = isinstance(late.record, Copied) or bool(late.record.copies)
        return f"   {self.places.instruction(late)}, {'completes' if is_copy else 'writes'} after the read"

    def _by_iteration(self, alignment: Alignment) -> list[list[Slot]]:
        found: dict[int, list[Slot]] = {}
        for slot in alignment.slots:
            writer = slot.product.node.writer
            assert writer is not None
            found.setdefault(self.places.trace.iteration(writer), []).append(slot)
        return list(found.values())


def _differing(sides: Sequence[Side]) -> Iterator[tuple[Run, Run]]:
    """Yield the elements of an operand that differ from the expected ones, and these, as ranges."""
    pairs = [(each.element, each.expected) for each in sides]
    for one, other in paired_runs((x, y) for x, y in pairs if x is not None and y is not None):
        if str(one) != str(other):
            yield one, other
