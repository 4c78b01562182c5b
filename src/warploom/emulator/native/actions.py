"""Actions of an instruction that need events: accesses, thread copies and arrivals at CTA barriers."""

import json
from collections.abc import Iterable
from dataclasses import astuple
from typing import Literal

from warploom.lazy_dataclass import dataclass

MOST_ACCESSES = 4  # accesses of one instruction that a probe can record
MOST_BYTES = 32  # bytes of a recorded access by one lane
READS = 4096
"""Number of accesses of warps after which observers handle the recorded reads."""
SPACES = ("global", "shared")
"""State spaces of accesses with generic addresses, at their numbers in recorded accesses."""


@dataclass(frozen=True, slots=True)
class Action:
    """Access to memory, issue of a thread copy of `element` bytes, or arrival at a CTA barrier.

    The fields other than `kind` and `element` are set only for accesses, and have the same meaning as in the event
    `Access`. Each lane accesses `elements` elements of `element` bytes. `space` is "" if the probe records the state
    space of each warp.
    """

    kind: Literal["read", "write", "update", "copy", "barrier"]
    space: str = ""
    elements: int = 0
    element: int = 0
    operation: str = ""
    type: str = ""

    @property
    def size(self) -> int:
        """Number of bytes that each lane accesses."""
        return self.elements * self.element


def to_text(actions: Iterable[Action]) -> str:
    """Return actions as a text for `from_text`."""
    return json.dumps([astuple(each) for each in actions])


def from_text(text: str) -> tuple[Action, ...]:
    """Return the actions that `to_text` has written."""
    return tuple(Action(*each) for each in json.loads(text))
