"""The kernel under construction: its statements, registers, shared memory, and where each was written."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections import Counter
from collections.abc import Generator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from warploom.check.names import Names
from warploom.check.statements import Statements
from warploom.diag import Diagnostic, Source, Span, UsageError, WarploomError
from warploom.isa.availability import Target, Version
from warploom.isa.places import Problem
from warploom.isa.types import TYPES
from warploom.ptx import Guard, Instruction, Label, Operand, Statement, Variable

_HOME = str(Path(__file__).parent)
_PASSED = frozenset((functools.__file__, contextlib.__file__))
_PREFIXES = {"f32": "f", "f64": "d", "pred": "p"}
_BY_BITS = {16: "h", 32: "r", 64: "rd", 128: "rq"}
_ENOUGH = 1 << 24
Line = tuple[str, int]


class AuthorError(WarploomError):
    """A kernel's Python line asks for what the language does not have."""


@dataclass(slots=True)
class Building:
    """One kernel while its function runs."""

    target: Target
    version: Version
    judge: Statements
    names: Names = field(default_factory=lambda: Names(None, {}))
    statements: list[tuple[Statement, Line | None]] = field(
        default_factory=list[tuple[Statement, "Line | None"]]
    )
    registers: Counter[str] = field(default_factory=Counter[str])
    variables: list[Variable] = field(default_factory=list[Variable])
    directives: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    labels: Counter[str] = field(default_factory=Counter[str])
    guard: Guard | None = None
    line: Line | None = None  # whose line it is in any case
    shared_bytes: int = 0
    shared_align: int = 16
    shapes: dict[int, int] = field(default_factory=dict[int, int])
    operands: dict[Operand, Operand] = field(default_factory=dict[Operand, Operand])

    def register(self, type_word: str) -> str:
        """The name of a new register for a type."""
        prefix = prefix_of(type_word)
        if prefix not in self.registers:
            self.names.declare(Variable("reg", declared_of(prefix), f"%{prefix}", count=_ENOUGH))
        number = self.registers[prefix]
        self.registers[prefix] += 1
        return f"%{prefix}{number}"

    def label(self, stem: str) -> str:
        """A new label."""
        self.labels[stem] += 1
        name = f"{stem}_{self.labels[stem]}"
        self.names.labels[name] = Label(name)
        return name

    def place(self, label: str) -> None:
        """Put a label here."""
        self.statements.append((Label(label), None))

    def emit(self, opcode: str, operands: tuple[Operand, ...]) -> None:
        """Add an instruction; it is judged at once. Errors: AuthorError with the checker's diagnostics."""
        statement = Instruction(self.guard, opcode, tuple(self.operands.setdefault(o, o) for o in operands))
        line = self.line or here()
        problems = self.judge.check(statement, self.names, self.shapes)
        if problems:
            refuse(problems, line)
        self.statements.append((statement, line))


def prefix_of(type_word: str) -> str:
    """The prefix of the registers that hold a type."""
    return _PREFIXES.get(type_word) or _BY_BITS[max(TYPES[type_word].bits, 16)]


def declared_of(prefix: str) -> str:
    """What the registers of a prefix are declared as."""
    return {"f": "f32", "d": "f64", "p": "pred", "h": "b16", "r": "b32", "rd": "b64", "rq": "b128"}[prefix]


_CURRENT: ContextVar[Building | None] = ContextVar("building", default=None)


def current() -> Building:
    """The kernel that is being built. Errors: UsageError author.outside where there is none."""
    building = _CURRENT.get()
    if building is None:
        raise UsageError("instructions belong into a function under @kernel", code="author.outside")
    return building


@contextlib.contextmanager
def entered(building: Building) -> Generator[None]:
    """Let what is called in this block build the kernel."""
    token = _CURRENT.set(building)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def here() -> Line | None:
    """The nearest line outside this package."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] -- the one way to know who called
    while frame is not None and (
        frame.f_code.co_filename in _PASSED or frame.f_code.co_filename.startswith(_HOME)
    ):
        frame = frame.f_back
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def refuse(problems: list[Problem], line: Line | None) -> None:
    """Refuse a Python line. Errors: AuthorError."""
    source, span = (None, None) if line is None else _place(*line)
    raise AuthorError(
        Diagnostic(each.code, each.severity, each.message, source, span, each.hint, each.section)
        for each in problems
    )


def _place(file: str, line: int) -> tuple[Source | None, Span | None]:
    source = _source(file)
    if source is None:
        return None, None
    lines = source.text.splitlines(keepends=True)
    start = sum(map(len, lines[: line - 1]))
    text = lines[line - 1].rstrip() if line <= len(lines) else ""
    return source, Span(start + len(text) - len(text.lstrip()), start + len(text))


@functools.lru_cache(maxsize=64)
def _source(file: str) -> Source | None:
    try:
        return Source(file, Path(file).read_text())
    except OSError:
        return None
