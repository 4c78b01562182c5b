"""PTX text of kernels and of modules that contain them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from warploom.author.builder import REGISTER_TYPES, Builder
from warploom.author.values import DYNAMIC
from warploom.isa.model.availability import Target, Version
from warploom.ptx import Function, Label
from warploom.ptx.printer import to_text

_COMMENT_COLUMN = 70


def module_text(target: Target, version: Version, builders: Sequence[Builder], items: Sequence[str]) -> str:
    """Return a module: its header, the dynamic shared memory that its kernels use, and its items."""
    lines = [f".version {version[0]}.{version[1]}", f".target {target.name}", ".address_size 64", ""]
    align = max((each.shared_align for each in builders if each.shared_bytes), default=0)
    if align:
        lines += [f".extern .shared .align {align} .b8 {DYNAMIC}[];", ""]
    return "\n".join(lines) + "\n" + "\n".join(item if item.endswith("\n") else f"{item}\n" for item in items)


def entry_text(name: str, linkage: Sequence[str], builder: Builder) -> str:
    """Return one kernel; the Python line of its instructions stands in comments."""
    words = "".join(f".{word} " for word in linkage)
    parameters = ",\n".join(f"    {to_text(variable)}".rstrip(";\n") for variable in builder.parameters)
    lines = [f"{words}.entry {name}(\n{parameters}\n)" if parameters else f"{words}.entry {name}()"]
    function = Function("entry", "", directives=tuple(builder.directives))
    lines += to_text(function).removesuffix(";").splitlines()[1:]
    lines.append("{")
    for prefix, count in builder.registers.items():
        lines.append(f"    .reg .{REGISTER_TYPES[prefix]} %{prefix}<{count}>;")
    before, files = None, dict[str, str]()
    for statement, line in builder.statements:
        if isinstance(statement, Label):
            lines.append(f"{statement.name}:")
            continue
        first, *rest = (f"    {each}".expandtabs(4) for each in to_text(statement).rstrip().splitlines())
        if line is not None and line != before:
            file = files.get(line[0]) or files.setdefault(line[0], Path(line[0]).name)
            first = f"{first:<{_COMMENT_COLUMN}} // {file}:{line[1]}"
            before = line
        lines += [first, *rest]
    return "\n".join([*lines, "}", ""])
