"""Pages of intrinsics, builtins and their numbers for the command `warploom explain`."""

from collections.abc import Callable, Iterator

from warploom.check.pages import form_section
from warploom.diagnostics import UsageError
from warploom.layout import Descriptor
from warploom.nvvm.builtins.registry import BARRIERS, BUILTINS, BY_NAME, Builtin, builtin_named, builtin_numbered
from warploom.nvvm.intrinsic_numbers import N_FIRST, N_LAST, TENSOR_MEMORY, describe, identifiers
from warploom.nvvm.intrinsics import read_name
from warploom.nvvm.packed import WORDS, FieldRow
from warploom.nvvm.reference import search

_ORIGINS = {"llvm": "LLVM", "nvidia": "NVIDIA's own compiler, not LLVM", "later": "a release of LLVM after 22"}

_VARIANTS = "The section below describes every variant of the instruction."


def intrinsic_page(name: str) -> str:
    """Return the Markdown page of an intrinsic: its compiler, modifiers, availability and Form.

    Errors: UsageError for an unknown name
    """
    found = read_name(name)
    stated = [f"`.{slot}` is `{word}`" for slot, word in found.words.items() if word]
    stated += [f"`{operand}` is {'present' if value is None else value}" for operand, value in found.operands.items()]
    words = ", ".join(stated)
    lines = [
        f"# {name}\n",
        f"An intrinsic of {_ORIGINS[found.origin]}: `{found.form.name}`{', where ' if words else ''}{words}.",
        f"{_VARIANTS}\n",
        f"PTX {'.'.join(map(str, found.ptx))}; {' or '.join(found.targets) or 'every target'}.\n",
        form_section(found.form),
    ]
    return "\n".join(lines)


def builtin_page(name: str) -> str:
    """Return the Markdown page of a builtin, or a list of the builtins whose names begin with `name`.

    Errors: UsageError for an unknown name
    """
    prefix = name.rstrip("*_")
    if name not in BY_NAME and (found := [each for each in BUILTINS if each.name.startswith(f"{prefix}_")]):
        return f"# {name}\n\n" + "".join(f"- {each.number}: `{each.name}`, from {each.target} on\n" for each in found)
    return f"# {name}\n\n{_builtin(builtin_named(name))}"


_KINDS = {"multiply": "multiplication", "warpgroup": "warpgroup multiplication"}


def _builtin(found: Builtin) -> str:
    arguments = ", ".join(f"{each.type} {each.name}" for each in found.parameters)
    types = ", ".join(f"{operand} of {element}" for operand, element in found.types.items())
    return (
        f"`{found.name}`: builtin {found.number} ({found.number:#x}) of NVIDIA's compiler, a"
        f" {_KINDS.get(found.kind, found.kind)}{f' ({types})' * bool(types)}, from {found.target} on.\n\n"
        f"    {found.prototype}\n\nArguments: {arguments}{', then A and B' * (found.kind == 'warpgroup')}.\n"
    )


def _named(number: int) -> Iterator[str]:
    """Yield a section about the builtin, and one about the intrinsic, with the ID `number`."""
    if BUILTINS[0].number <= number <= BARRIERS[-1]:
        yield f"## a builtin\n\n{_said(lambda: _builtin(builtin_numbered(number)))}\n"
    if number in identifiers() or number in TENSOR_MEMORY or N_FIRST <= number <= N_LAST:
        yield f"## an intrinsic of NVIDIA's compiler\n\n{_said(lambda: describe(number))}\n"


def _said(described: Callable[[], object]) -> str:
    try:
        return str(described())
    except UsageError as error:
        return f"{error.diagnostics[0].message}\n"


# Numbers ----------------------------------------------------------------------------------------------------

_WIDTH = 64
_DESCRIPTOR = "descriptor"
_DESCRIPTOR_TITLE = "a shared-memory matrix descriptor"
_DESCRIPTOR_BITS = 0xC00E_3FFF_3FFF_3FFF
_SWIZZLES = {0: "none", 1: "128 bytes", 2: "64 bytes", 3: "32 bytes"}


def number_page(text: str) -> str:
    """Return the Markdown page of a number: its builtin, its intrinsic, its facts and its packed words.

    `text` is a number, or the name of a packed word, a colon and a number: `descriptor:0x4000004000010000`. A plain
    number is decoded as a matrix descriptor only if it has more than 32 bits, and if all bits outside the fields are 0.

    Errors: UsageError for text that is no number of 64 bits, or for an unknown packed word
    """
    kind, _, digits = text.rpartition(":")
    value = read_number(digits)
    if kind and kind not in (*WORDS, _DESCRIPTOR):
        raise UsageError(f"unknown packed word {kind!r}; expected {', '.join((*WORDS, _DESCRIPTOR))}")
    pages = [] if kind else [*_named(value), search(digits)]
    refused: list[str] = []
    # WORDS has the words first of which the smallest share of all numbers is legal.
    for word in WORDS.values():
        if kind in ("", word.name):
            if error := word.error(value):
                refused.append(error)
            else:
                pages.append(f"## {word.title}\n\n{_table(word.rows(value))}\nSource: {word.source}\n")
    if kind == _DESCRIPTOR or (not kind and value >> 32 and not value & ~_DESCRIPTOR_BITS):
        pages.append(f"## {_DESCRIPTOR_TITLE}\n\n{_table(descriptor_rows(value))}\nSource: PTX ISA 9.7.15\n")
    if not any(pages):
        pages.append("## packed words that cannot have this number\n\n" + "".join(f"- {each}\n" for each in refused))
    return "\n".join([f"# {value:#x} ({value})\n", *(page for page in pages if page)])


def read_number(text: str) -> int:
    """Parse an unsigned number of 64 bits, decimal or with a prefix such as `0x`. Errors: UsageError."""
    try:
        value = int(text, 0)
    except ValueError:
        raise UsageError(f"{text!r} is not a number; expected one such as 0x4000000000010000") from None
    if not 0 <= value < 1 << _WIDTH:
        raise UsageError(f"expected a number from 0 to 2^{_WIDTH} - 1, got {text}")
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
