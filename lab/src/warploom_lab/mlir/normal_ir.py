"""LLVM IR in a normal form, which does not depend on names and on the order of metadata."""

import re

from warploom.nvvm.llvm.backend import canonical

_HEADER = ("; ModuleID", "source_filename")
_NODE = re.compile(r"^!(\d+) = (.*)$")
_VERSION = '!{i32 2, !"Debug Info Version", i32 3}'
"""Flag that mlir-translate adds to every module."""


def normal_ir(text: str) -> str:
    """Return LLVM IR as LLVM prints it, with values, labels and metadata numbered in order."""
    for name, body in re.findall(r"(?m)^(%[\w.]+) = type (.*)$", text := canonical(text)):
        text = re.sub(rf"{re.escape(name)}\b(?! = )", lambda _, body=body: body, text)  # names of types have no effect
    lines = [line.rstrip() for line in text.splitlines() if line and not line.startswith(_HEADER)]
    nodes = {found[1]: found[2] for line in lines if (found := _NODE.match(line))}
    version = {number for number, node in nodes.items() if node == _VERSION}
    numbers: dict[str, str] = {}
    made: list[str] = []
    for line in lines:
        if line.startswith("!llvm.module.flags"):
            kept = [each for each in re.findall(r"!(\d+)", line) if each not in version]
            line = f"!llvm.module.flags = !{{{', '.join(f'!{each}' for each in kept)}}}" if kept else ""
        if line and not _NODE.match(line) and not re.match(r"target triple|%[\w.]+ = type", line):
            made.append(_numbered(line, numbers))
    printed = 0
    while printed < len(numbers):  # a node may have further nodes
        number = list(numbers)[printed]
        made.append(f"!{printed} = {_numbered(nodes[number], numbers)}")
        printed += 1
    return _renamed("\n".join(made) + "\n")


def _numbered(line: str, numbers: dict[str, str]) -> str:
    return re.sub(r"!(\d+)\b", lambda found: f"!{numbers.setdefault(found[1], str(len(numbers)))}", line)


def _renamed(text: str) -> str:
    """Return the text with the values and labels of each function numbered in order."""
    functions = re.split(r"(?m)^(?=define )", text)
    for number, function in enumerate(functions[1:], 1):
        body, end, rest = function.partition("\n}")
        body = re.sub(r"\{\n[\w.]+:.*", "{", body, count=1)  # LLVM prints the label of the entry only if it has a name
        names: dict[str, str] = {}

        def name(found: re.Match[str], names: dict[str, str] = names) -> str:
            return found[1] + names.setdefault(found[2], f"v{len(names)}") + found[3]

        body = re.sub(r"(?m)^()([\w.]+)(:).*$", name, body)
        body = re.sub(r'(%)(?!struct\.|")([\w.]+)()', name, body)
        functions[number] = body + end + rest
    return "".join(functions)
