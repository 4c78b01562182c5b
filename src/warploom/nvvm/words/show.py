"""A number as every packed word that it may be, for people."""

from __future__ import annotations

from warploom.diagnostics import UsageError
from warploom.layout import Descriptor
from warploom.nvvm.words import WORDS
from warploom.nvvm.words.kit import Line

_WIDTH = 64
_OWN_BITS = 0xC00E_3FFF_3FFF_3FFF
_SWIZZLES = {0: "none", 1: "128 bytes", 2: "64 bytes", 3: "32 bytes"}


def explain(text: str) -> str:
    """The page of a number such as `0x60704000000`: each word that it is, field by field, then what it is not.

    Errors: UsageError for what is no number, or has more than 64 bits.
    """
    value = read_number(text)
    pages = [f"# {value:#x}\n"]
    refused: list[str] = []
    for word in WORDS.values():
        if complaint := word.complaint(value):
            refused.append(complaint)
        else:
            pages.append(f"## {word.title}\n\n{_table(word.lines(value))}\nSource: {word.source}\n")
    pages.append(
        f"## a shared-memory matrix descriptor\n\n{_table(descriptor_lines(value))}\nSource: PTX ISA 9.7.15\n"
    )
    if refused:
        pages.append("## what it is not\n\n" + "".join(f"- {complaint}\n" for complaint in refused))
    return "\n".join(pages)


def read_number(text: str) -> int:
    """An unsigned number of 64 bits, written as Python writes it. Errors: UsageError where it is none."""
    try:
        value = int(text, 0)
    except ValueError:
        raise UsageError(f"{text!r} is not a number; expected one such as 0x4000000000010000") from None
    if not 0 <= value < 1 << _WIDTH:
        raise UsageError(f"{text} does not fit {_WIDTH} bits")
    return value


def descriptor_lines(value: int) -> list[Line]:
    """The fields of a shared-memory matrix descriptor; bits that belong to none are its last line."""
    found = Descriptor.decode(value)
    lines = [
        Line("13-0", "start address", value & 0x3FFF, f"{found.start_address} bytes", "where the tile begins"),
        Line(
            "29-16", "leading byte offset", value >> 16 & 0x3FFF, f"{found.leading_byte_offset} bytes",
            "between core matrices along the leading dimension",
        ),
        Line(
            "45-32", "stride byte offset", value >> 32 & 0x3FFF, f"{found.stride_byte_offset} bytes",
            "between groups of 8 rows",
        ),
        Line("51-49", "base offset", found.base_offset, "", "in which row the swizzle's pattern begins"),
        Line("63-62", "swizzle", value >> 62, _SWIZZLES[value >> 62], "how 16-byte pieces are exchanged"),
    ]  # fmt: skip
    if spare := value & ~_OWN_BITS:
        lines.append(Line("", "other bits", spare, f"{spare:#x}", "of no field: the hardware ignores them"))
    return lines


def _table(lines: list[Line]) -> str:
    rows = [
        f"| {line.span} | {line.name} | {line.number} | {line.stands_for} | {line.meaning} |"
        for line in lines
    ]
    return (
        "\n".join(["| bits | field | number | stands for | meaning |", "|---|---|---|---|---|", *rows]) + "\n"
    )
