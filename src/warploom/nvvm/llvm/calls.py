"""PTX instructions of each call in LLVM IR, with their Forms and their availability."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from warploom.isa.binding.bind import Binding, bind
from warploom.isa.model.availability import Target, Version
from warploom.isa.model.form import Form
from warploom.isa.model.special_registers import SPECIAL_REGISTERS
from warploom.nvvm.llvm.backend import canonical, emit
from warploom.ptx import Directive, Instruction, Integer, parse

_CALL = re.compile(r"\bcall\b.*?(?P<callee>@[\w.$-]+|@\"[^\"]*\"|asm)[^(]*\((?P<arguments>.*)\)")
_REGISTER = "llvm.nvvm.read.ptx.sreg."
_DEBUG = re.compile(r", ?!dbg !\d+")
_DROPPED = re.compile(r"^\s*(#dbg_|call void @llvm\.dbg\.)|^!llvm\.dbg\.cu\b")


@dataclass(frozen=True, slots=True)
class Step:
    """PTX instruction of a call, with its Form, its first PTX version and its targets.

    Without a Form, `form` and `ptx` are None. Empty `targets` mean every target.
    """

    instruction: str
    form: Form | None
    ptx: Version | None = None
    targets: tuple[str, ...] = ()

    @property
    def availability(self) -> str:
        """PTX version and targets in words."""
        if self.ptx is None:
            return "no Form describes this instruction"
        return f"PTX {self.ptx[0]}.{self.ptx[1]}, {' or '.join(self.targets) or 'every target'}"


@dataclass(frozen=True, slots=True)
class Call:
    """Call in LLVM IR: its line, its callee, its arguments as text, and its PTX instructions.

    `line` counts the lines of `canonical(text)`, which may differ from those of the text.
    """

    line: int
    callee: str
    arguments: str
    steps: tuple[Step, ...]


def follow(text: str, target: Target, version: Version) -> list[Call]:
    """Return every call in LLVM IR with the PTX instructions of intrinsics and inline assembly.

    Calls of other functions have no instructions. Errors: BackendError
    """
    lines = canonical(text).splitlines()
    origins: dict[int, list[Instruction]] = {}
    registers: dict[str, list[Instruction]] = {}
    for instruction, line in instruction_lines("\n".join(lines), target, version):
        name = str(instruction.operands[-1]) if instruction.operands else ""
        # LLVM drops the location of a special register's read when it moves the read to another block.
        if name in SPECIAL_REGISTERS:
            registers.setdefault(name, []).append(instruction)
        else:
            origins.setdefault(line, []).append(instruction)
    calls: list[Call] = []
    for number, line in enumerate(lines, 1):
        if line.startswith("  ") and (found := _CALL.search(line)) and not _DROPPED.search(line):
            callee = found["callee"].lstrip("@")
            instructions = origins.get(number, []) or registers.get(f"%{callee.removeprefix(_REGISTER)}", [])[:1]
            calls.append(Call(number, callee, found["arguments"], tuple(map(_step, instructions))))
    return calls


def _step(instruction: Instruction) -> Step:
    binding = bind(instruction)
    if not isinstance(binding, Binding):
        return Step(str(instruction), None)
    rows = binding.form.rows_of(binding.slots)
    targets = tuple(dict.fromkeys(target for row in rows for target in row.targets))
    return Step(str(instruction), binding.form, min(row.ptx for row in rows), targets)


_BEGIN = "// begin inline asm"
_MODULE_ASM = re.compile(r'module asm "(.*)"')
_INLINE_ASM = re.compile(r' asm (?:\w+ )*"([^"]*)"')


def instruction_lines(text: str, target: Target, version: Version) -> Iterator[tuple[Instruction, int]]:
    """Compile LLVM IR. Yield each PTX instruction with the line of LLVM IR that produced it, or 0.

    `text` must have one instruction in each line, as `canonical` prints it. Every line becomes a debug location, so
    that LLVM prints `.loc` directives.
    """
    module = parse(emit(_with_locations(text), target, version))
    for function in module.functions.values():
        line = 0
        for statement in function.body.statements if function.body is not None else ():
            match statement:
                case Directive(".loc", (_, Integer(number), *_)):
                    line = number
                case Instruction():
                    yield statement, line
                case _:
                    pass


def line_of_text(ptx: str, place: int, text: str) -> int | None:
    """Return the line of LLVM IR whose inline or module assembly is the PTX at a place, or None.

    LLVM prints a comment before and after inline assembly.
    """
    first = ptx.rfind(_BEGIN, 0, place)
    block = ptx[first:].removeprefix(_BEGIN).partition("// end inline asm")[0] if first >= 0 else ""
    block = re.sub(r"\.(?:intel|att)_syntax", "", block)
    printed = ptx[ptx.rfind("\n", 0, place) + 1 :].partition("\n")[0]
    for number, line in enumerate(text.splitlines(), 1):
        if (module_text := _MODULE_ASM.search(line)) and printed.strip() in _unescaped(module_text[1]):
            return number
        if block and (asm := _INLINE_ASM.search(line)):
            parts = [
                re.escape(part) for part in re.split(r"\$(?:\d+|\{\d+[^}]*\})", "".join(_unescaped(asm[1]).split()))
            ]
            if re.fullmatch(".*".join(parts), "".join(block.split())):
                return number
    return None


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-9A-Fa-f]{2})", lambda found: chr(int(found[1], 16)), text)


def _with_locations(text: str) -> str:
    """Return LLVM IR whose only debug information is the line of each instruction."""
    first = 1 + max((int(number) for number in re.findall(r"!(\d+)\b", text)), default=0)
    file, unit, kind, flag = (f"!{first + k}" for k in range(4))
    next_number = first + 4
    made: list[str] = []
    nodes = [
        f'{file} = !DIFile(filename: "module.ll", directory: "")',
        f"{unit} = distinct !DICompileUnit(language: DW_LANG_C, file: {file}, emissionKind: DebugDirectivesOnly)",
        f"{kind} = !DISubroutineType(types: !{{}})",
        f'{flag} = !{{i32 2, !"Debug Info Version", i32 3}}',
    ]
    program, is_flagged, is_open = "", False, False
    for number, line in enumerate(text.splitlines(), 1):
        plain = _DEBUG.sub("", line)
        if _DROPPED.search(plain):
            plain = ""
        elif plain.startswith("define "):
            program = f"!{next_number}"
            next_number += 1
            nodes.append(f'{program} = distinct !DISubprogram(name: "f", scope: {file}, file: {file}, line: 1,'
                         f" type: {kind}, unit: {unit}, spFlags: DISPFlagDefinition)")  # fmt: skip
            head = re.sub(r" !dbg !\d+", "", plain).rstrip()
            plain = f"{head.removesuffix('{').rstrip()} !dbg {program} {{"
        elif plain.startswith("!llvm.module.flags"):
            is_flagged = True
            plain = plain.replace("}", f", {flag}}}") if "Debug Info Version" not in text else plain
        elif plain.startswith("  ") and program:
            # A `switch` ends with a bracket on a later line.
            is_open = plain.rstrip().endswith("[") or (is_open and not plain.strip().startswith("]"))
            if not is_open:
                nodes.append(f"!{next_number} = !DILocation(line: {number}, scope: {program})")
                plain = f"{plain.split(' ;')[0].rstrip()}, !dbg !{next_number}"
                next_number += 1
        elif plain.startswith("}"):
            program = ""
        made.append(plain)
    made.append(f"!llvm.dbg.cu = !{{{unit}}}")
    made += [] if is_flagged else [f"!llvm.module.flags = !{{{flag}}}"]
    return "\n".join([*made, *nodes, ""])
