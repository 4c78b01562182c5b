"""Pages of intrinsics, builtins and their numbers for the command `warploom explain`."""

from contextlib import suppress

from warploom.check.pages import form_section
from warploom.diagnostics import UsageError
from warploom.layout import Descriptor
from warploom.nvvm.builtins.registry import Builtin, builtin_named, builtin_numbered
from warploom.nvvm.intrinsic_numbers import N_FIRST, N_LAST, TENSOR_MEMORY, describe
from warploom.nvvm.intrinsics import read_name
from warploom.nvvm.packed import WORDS, FieldRow

_ORIGINS = {"llvm": "LLVM", "nvidia": "NVIDIA's own compiler, not LLVM", "later": "a release of LLVM after 22"}


def intrinsic_page(name: str) -> str:
    """Return the Markdown page of an intrinsic: its compiler, its modifiers and its instruction.

    Errors: UsageError for an unknown name
    """
    found = read_name(name)
    stated = [f"`.{slot}` is `{word}`" for slot, word in found.words.items() if word]
    stated += [f"`{operand}` is {'present' if value is None else value}" for operand, value in found.operands.items()]
    words = ", ".join(stated)
    lines = [
        f"# {name}\n",
        f"An intrinsic of {_ORIGINS[found.origin]}: `{found.form.name}`{', where ' if words else ''}{words}.\n",
        f"PTX {'.'.join(map(str, found.ptx))}; {' or '.join(found.targets) or 'every target'}.\n",
        form_section(found.form),
    ]
    return "\n".join(lines)


def builtin_page(name: str) -> str:
    """Return the Markdown page of a builtin. Errors: UsageError for an unknown name."""
    return f"# {name}\n\n{_builtin(builtin_named(name))}"


def _builtin(found: Builtin) -> str:
    arguments = ", ".join(f"{each} {each.name}" for each in found.parameters)
    types = ", ".join(f"{operand} of {element}" for operand, element in found.types.items())
    return (
        f"`{found.name}`: builtin {found.number} of NVIDIA's compiler, a {found.kind}{f' ({types})' * bool(types)},"
        f" from {found.target} on.\n\n    {found.prototype}\n\nArguments: {arguments}"
        f"{', then A and B' * (found.kind == 'warpgroup')}.\n"
    )


def number_page(number: int) -> str:
    """Return the Markdown page of the builtin and the intrinsic with the ID `number`, or "" if unknown."""
    sections: list[str] = []
    with suppress(UsageError):
        sections.append(f"## a builtin\n\n{_builtin(builtin_numbered(number))}")
    try:
        sections.append(f"## an intrinsic of NVIDIA's compiler\n\n{describe(number)}\n")
    except UsageError as error:
        if number in TENSOR_MEMORY or N_FIRST <= number <= N_LAST:
            sections.append(f"## an intrinsic of NVIDIA's compiler\n\n{error.diagnostics[0].message}\n")
    return "\n".join(sections)


# Packed words ----------------------------------------------------------------------------------------------

_WIDTH = 64
_DESCRIPTOR_BITS = 0xC00E_3FFF_3FFF_3FFF
_SWIZZLES = {0: "none", 1: "128 bytes", 2: "64 bytes", 3: "32 bytes"}


def explain_word(text: str) -> str:
    """Return a Markdown page that decodes a number under each definition of a packed word.

    Errors: UsageError for text that is no number of 64 bits
    """
    value = read_number(text)
    pages = [f"# {value:#x}\n"]
    # The page ends with the reasons of the definitions that do not allow the number.
    refused: list[str] = []
    for word in WORDS.values():
        if error := word.error(value):
            refused.append(error)
        else:
            pages.append(f"## {word.title}\n\n{_table(word.rows(value))}\nSource: {word.source}\n")
    pages.append(f"## a shared-memory matrix descriptor\n\n{_table(descriptor_rows(value))}\nSource: PTX ISA 9.7.15\n")
    if refused:
        pages.append("## packed words that cannot have this number\n\n" + "".join(f"- {error}\n" for error in refused))
    return "\n".join(pages)


def read_number(text: str) -> int:
    """Parse an unsigned number of 64 bits, decimal or with a prefix such as `0x`. Errors: UsageError."""
    try:
        value = int(text, 0)
    except ValueError:
        raise UsageError(f"{text!r} is not a number; expected one such as 0x4000000000010000") from None
    if not 0 <= value < 1 << _WIDTH:
        raise UsageError(f"{text} does not fit {_WIDTH} bits")
    return value


def descriptor_rows(value: int) -> list[FieldRow]:
    """Return the fields of a shared-memory matrix descriptor for display."""
    found = Descriptor.decode(value)
    rows = [
        FieldRow("13-0", "start address", value & 0x3FFF, f"{found.start_address} bytes", "start of the tile"),
        FieldRow(
            "29-16", "leading byte offset", value >> 16 & 0x3FFF, f"{found.leading_byte_offset} bytes",
            "between core matrices along the leading dimension",
        ),
        FieldRow(
            "45-32", "stride byte offset", value >> 32 & 0x3FFF, f"{found.stride_byte_offset} bytes",
            "between groups of 8 rows",
        ),
        FieldRow("51-49", "base offset", found.base_offset, "", "first row of the swizzle pattern"),
        FieldRow("63-62", "swizzle", value >> 62, _SWIZZLES[value >> 62], "exchange of 16-byte chunks"),
    ]  # fmt: skip
    if unused := value & ~_DESCRIPTOR_BITS:
        rows.append(FieldRow("", "other bits", unused, f"{unused:#x}", "outside all fields; the hardware ignores them"))
    return rows


def _table(rows: list[FieldRow]) -> str:
    lines = ["| bits | field | number | word | description |", "|---|---|---|---|---|"]
    lines += [f"| {row.span} | {row.name} | {row.number} | {row.word} | {row.description} |" for row in rows]
    return "\n".join(lines) + "\n"
