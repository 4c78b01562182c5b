"""Code lenses: kernels of a text that an editor can offer to run."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from warploom.lsp.document import View
from warploom.lsp.outline import outline

_DECORATORS = frozenset(("triton.jit", "triton.experimental.gluon.jit", "warploom.kernel", "warploom.author.kernel"))
"""Decorators that make a Python function a kernel, by their full names."""
_LAUNCH_FILE_BYTES = 1 << 20
"""Maximum size of a launch file that is read in search of a kernel."""
_KERNEL_TABLE = re.compile(r"\s*(?:\[\s*kernel\s*\]|kernel\s*[.=])")


@dataclass(frozen=True, slots=True)
class Lens:
    """Kernel that can be run from an editor.

    `line` is the line of its declaration, from 0. `file` is the file to run. `launch_files` are launch files of a PTX
    kernel, and empty for other files, which describe their own launches.
    """

    line: int
    file: Path
    kernel: str
    launch_files: tuple[Path, ...] = ()


def lenses_of_ptx(view: View, file: Path) -> list[Lens]:
    """Return the kernels of a PTX text. `file` is its path."""
    kernels = [entry for entry in outline(view) if entry.kind == "kernel"]
    launches = list(_launches_of(file)) if kernels else []
    return [
        Lens(
            view.lines.position(entry.name_span.start)[0],
            file,
            entry.name,
            tuple(path for path, name in launches if name in ("", entry.name)),
        )
        for entry in kernels
    ]


def lenses_of_python(text: str, file: Path) -> list[Lens]:
    """Return the kernels of a Python program, or an empty list for a text with syntax errors."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    names = _imports(tree)
    return [
        Lens(decorator.lineno - 1, file, node.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if _full_name(decorator, names) in _DECORATORS
    ]


def lenses_of_launch_file(text: str, file: Path) -> list[Lens]:
    """Return the kernel of a launch file, or an empty list for another TOML file."""
    kernel = _kernel_table(text)
    if kernel is None:
        return []
    line = next((k for k, each in enumerate(text.splitlines()) if _KERNEL_TABLE.match(each)), 0)
    return [Lens(line, file, str(kernel.get("name", "")))]


def _launches_of(ptx: Path) -> Iterator[tuple[Path, str]]:
    """Yield the launch files of a PTX file, each with the name of its kernel.

    The search covers the folder of the file and the folder above.
    """
    for folder in (ptx.parent, ptx.parent.parent):
        for path in sorted(folder.glob("*.toml")):
            try:
                if path.stat().st_size > _LAUNCH_FILE_BYTES:
                    continue
                kernel = _kernel_table(path.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError):
                continue
            if kernel is not None and (folder / str(kernel["file"])).resolve() == ptx.resolve():
                yield path, str(kernel.get("name", ""))


def _kernel_table(text: str) -> dict[str, Any] | None:
    try:
        kernel = tomllib.loads(text).get("kernel")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    return cast("dict[str, Any]", kernel) if isinstance(kernel, dict) and "file" in kernel else None


def _imports(tree: ast.Module) -> dict[str, str]:
    """Return the full names of imported modules and functions by their names in the program."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                top = each.name.partition(".")[0]
                names[each.asname or top] = each.name if each.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.update({each.asname or each.name: f"{node.module}.{each.name}" for each in node.names})
    return names


def _full_name(node: ast.expr, names: dict[str, str]) -> str:
    match node:
        case ast.Call(func=function):
            return _full_name(function, names)
        case ast.Attribute(value=value, attr=attribute):
            return f"{_full_name(value, names)}.{attribute}"
        case ast.Name(id=name):
            return names.get(name, "")
        case _:
            return ""
