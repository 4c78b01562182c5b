"""The body of a function as the checks see it: its instructions in a row, and what may follow each."""

from __future__ import annotations

from dataclasses import dataclass, field

from warploom.check.names import Names
from warploom.isa.availability import Target, Version
from warploom.ptx import Function, Instruction, Label


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction and the scope it stands in."""

    instruction: Instruction
    names: Names


@dataclass(slots=True)
class Body:
    """A function's instructions in order; `labels` says before which of them each label stands."""

    function: Function
    target: Target
    ptx: Version
    steps: list[Step] = field(default_factory=list[Step])
    labels: dict[int, int] = field(default_factory=dict[int, int])

    def label(self, label: Label) -> None:
        """A label before the next instruction."""
        self.labels[id(label)] = len(self.steps)
