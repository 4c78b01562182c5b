"""Instructions of the language that have no forms here: textures and surfaces.

A text that uses them is none the worse for it; the checker says that it did not judge them.

Source: PTX ISA 9.7.10, 9.7.11
"""

from __future__ import annotations

from warploom.isa.model.form import forms_of

_HEADS = frozenset(["tex", "tld4", "txq", "istypep", "suld", "sust", "sured", "suq"])


def is_unjudged(opcode: str) -> bool:
    """Whether an opcode begins as an instruction of the language does that has no form here."""
    head = opcode.partition(".")[0]
    return head in _HEADS and not forms_of(head)
