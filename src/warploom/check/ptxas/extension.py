"""Class of the Forms that ptxas accepts and the manual does not have. The emulator refuses them."""

from __future__ import annotations

from typing import Any

from warploom.isa.model.form import Form, Match, Registry


class ExtensionForm(Form):
    """Form that ptxas accepts beyond the manual. `reason` is the name of the tolerance that explains it."""

    registry = Registry()

    def __init__(self, *, reason: str, **declaration: Any) -> None:
        super().__init__(**declaration)
        self.reason = reason


def extensions_of(head: str) -> tuple[Form, ...]:
    """Return the extension Forms whose opcode begins with the word `head`."""
    return ExtensionForm.registry.forms_of(head)


def match_extensions(opcode: str) -> tuple[Match, ...]:
    """Return the match of every extension Form whose syntax an opcode follows."""
    return ExtensionForm.registry.match(opcode)
