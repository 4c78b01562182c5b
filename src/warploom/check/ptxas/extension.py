"""Class of the Forms that ptxas accepts and the manual does not have. The emulator refuses them."""

from __future__ import annotations

from collections.abc import Mapping

from warploom.isa.model.form import Form, Match, Registry
from warploom.isa.model.operands import OperandSpec


class ExtensionForm(Form):
    """Form that ptxas accepts beyond the manual. Its name begins with `ptxas.`.

    `reason` is the name of the tolerance that explains the Form. `section` is the section of the PTX ISA that the Form
    extends.
    """

    registry = Registry()

    def __init__(
        self, reason: str, name: str, section: str, syntax: str, rows: str,
        operands: Mapping[str, OperandSpec] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            name=f"ptxas.{name}", syntax=syntax, operands=operands or {}, rows=rows, source=f"PTX ISA {section}"
        )
        self.reason = reason


def extensions_of(head: str) -> tuple[Form, ...]:
    """Return the extension Forms whose opcode begins with the word `head`."""
    return ExtensionForm.registry.forms_of(head)


def match_extensions(opcode: str) -> tuple[Match, ...]:
    """Return the match of every extension Form whose syntax an opcode follows."""
    return ExtensionForm.registry.match(opcode)
