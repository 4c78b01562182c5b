"""Result whose cause is searched, and the helpers of the rules that search it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from warploom.lazy_dataclass import dataclass
from warploom.observe.provenance.alignment import Alignment, Expected, Side, Slot
from warploom.observe.provenance.chain import Chain, Node
from warploom.observe.provenance.places import Places
from warploom.observe.provenance.terms import Collector, Element, Terms, runs_of

Name = Literal["a", "b"]
NAMES: tuple[Name, Name] = ("a", "b")


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
    result: Element | None = None
    alignment: Alignment | None = None
    expected: Expected | None = None

    def side(self, name: Name, slot: Slot) -> Side:
        """Return a factor of a product."""
        return slot.a if name == "a" else slot.b


def groups_of(slots: Sequence[Slot]) -> list[list[Slot]]:
    """Return the products of each multiplication, in the order of time."""
    found: dict[int, list[Slot]] = {}
    for slot in slots:
        found.setdefault(id(slot.product.node), []).append(slot)
    return list(found.values())


def time_of(node: Node) -> int:
    """Return the time at which the writer of a node takes effect."""
    return 0 if node.writer is None else node.writer.time


def ranges_of(slots: Sequence[Slot], name: Name) -> str:
    """Return the elements of an operand in some products as ranges, at most 3."""
    sides = (each.a if name == "a" else each.b for each in slots)
    return ", ".join(str(run) for run in runs_of(each.element for each in sides if each.element is not None)[:3])
