"""Instructions of the language that have no forms here: textures, surfaces, video arithmetic, the stack.

A text that uses them is none the worse for it; the checker says that it did not judge them.

Source: PTX ISA 9.7.10, 9.7.11, 9.7.17, 9.7.18
"""

from __future__ import annotations

from warploom.isa.kit import forms_of

_HEADS = frozenset(
    [
        "tex",
        "tld4",
        "txq",
        "istypep",
        "suld",
        "sust",
        "sured",
        "suq",
        "vadd",
        "vsub",
        "vabsdiff",
        "vmin",
        "vmax",
        "vshl",
        "vshr",
        "vmad",
        "vset",
        "vadd2",
        "vsub2",
        "vavrg2",
        "vabsdiff2",
        "vmin2",
        "vmax2",
        "vset2",
        "vadd4",
        "vsub4",
        "vavrg4",
        "vabsdiff4",
        "vmin4",
        "vmax4",
        "vset4",
        "multimem",
        "clusterlaunchcontrol",
    ]
)


def is_unjudged(opcode: str) -> bool:
    """Whether an opcode begins as an instruction of the language does that has no form here."""
    head = opcode.partition(".")[0]
    return head in _HEADS and not forms_of(head)
