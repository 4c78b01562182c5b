"""Pages of intrinsics, builtins and their numbers for `warploom explain`."""

from __future__ import annotations

from contextlib import suppress

from warploom.check.pages import form_section
from warploom.diagnostics import UsageError
from warploom.nvvm.builtins.registry import Builtin, builtin_named, builtin_numbered
from warploom.nvvm.intrinsic_numbers import N_FIRST, N_LAST, TENSOR_MEMORY, describe
from warploom.nvvm.intrinsics import read_name

_ORIGINS = {"llvm": "LLVM", "nvidia": "NVIDIA's own compiler, not LLVM"}


def intrinsic_page(name: str) -> str:
    """Return the Markdown page of an intrinsic: its compiler, its modifiers and its instruction.

    Errors: UsageError for an unknown name
    """
    found = read_name(name)
    words = ", ".join(f"`.{slot}` is `{word}`" for slot, word in found.words.items() if word)
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
    """Return the Markdown page of the builtin and the intrinsic with a number, or "" if there are none."""
    sections: list[str] = []
    with suppress(UsageError):
        sections.append(f"## a builtin\n\n{_builtin(builtin_numbered(number))}")
    try:
        sections.append(f"## an intrinsic of NVIDIA's compiler\n\n{describe(number)}\n")
    except UsageError as error:
        if number in TENSOR_MEMORY or N_FIRST <= number <= N_LAST:
            sections.append(f"## an intrinsic of NVIDIA's compiler\n\n{error.diagnostics[0].message}\n")
    return "\n".join(sections)
