"""Command that explains elements of the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warploom.runtime.replay import read_element
from warploom.view.debugger.command import Argument, command
from warploom.view.debugger.context import Context
from warploom.view.debugger.results import Result
from warploom.view.why import why_html

if TYPE_CHECKING:
    from warploom.runtime.why import Why


@dataclass(frozen=True, slots=True, repr=False)
class Explained(Result):
    """Explanation of an element."""

    why: Why

    def text(self) -> str:
        """Return the tree, the first wrong step and the cause."""
        return self.why.text()

    def data(self) -> Any:
        """Return the data of the explanation."""
        return self.why.data()

    def _repr_html_(self) -> str:
        return why_html(self.why)


@command(
    "why", group="values", args=(Argument("element", "ARRAY[INDEX]", read_element, takes_rest=True),),
    example="why c[0, 0]",
)  # fmt: skip
def why(context: Context, element: tuple[str, tuple[int, ...]]) -> Result:
    """Explain an element of the result: its sources, the first wrong step, and the cause.

    The whole launch runs again. The present stop does not change.
    """
    return Explained(context.replay.why(*element))
