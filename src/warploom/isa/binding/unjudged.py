"""PTX instructions without Forms: textures and surfaces.

The checker notes that it does not judge them.

Source: PTX ISA 9.7.10, 9.7.11.
"""

from __future__ import annotations

from warploom.isa.model.form import forms_of

_HEADS = frozenset(["tex", "tld4", "txq", "istypep", "suld", "sust", "sured", "suq"])


def is_unjudged(opcode: str) -> bool:
    """Return True if an opcode begins like a PTX instruction that has no Form."""
    head = opcode.partition(".")[0]
    return head in _HEADS and not forms_of(head)
