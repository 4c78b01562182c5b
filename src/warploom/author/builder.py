"""Kernel under construction: its statements, registers and shared memory."""

import contextlib
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from warploom.author.errors import AuthorError, CallerLines, author_error, caller_place, line_place
from warploom.check.module_checker import ModuleChecker
from warploom.check.names import Names
from warploom.diagnostics import Diagnostic, Severity, SourceLine
from warploom.isa.model.availability import Target, Version
from warploom.isa.model.form import match_opcode
from warploom.isa.model.types import TYPES
from warploom.ptx import Integer, Name, Operand, tree

_PREFIXES = {
    "f32": "f", "f64": "d", "pred": "p", "b16": "h", "b32": "r", "b64": "rd", "b128": "rq",
}  # fmt: skip
REGISTER_TYPES = {prefix: type_word for type_word, prefix in _PREFIXES.items()}
"""Declared types of registers by the prefix of their names."""
_REGISTER_LIMIT = 1 << 24
_CACHED_ELSEWHERE = (Name, Integer)  # `values` creates one node per name and number


@dataclass(slots=True)
class Builder:
    """Kernel under construction."""

    target: Target
    version: Version
    walk: ModuleChecker  # the checker and the module's names
    names: Names  # names declared in the body
    ptx: Any  # the instructions as functions: the module `warploom.author.ptx`
    lines: CallerLines
    statements: list[tuple[tree.Statement, SourceLine | None]] = field(
        default_factory=list[tuple[tree.Statement, "SourceLine | None"]]
    )
    registers: Counter[str] = field(default_factory=Counter[str])
    parameters: list[tree.Variable] = field(default_factory=list[tree.Variable])
    directives: list[tree.Directive] = field(default_factory=list[tree.Directive])
    items: list[tree.TopLevel] = field(default_factory=list[tree.TopLevel])  # module items before the kernel
    labels: Counter[str] = field(default_factory=Counter[str])
    guard: tree.Guard | None = None
    line: SourceLine | None = None  # Python line of new statements, if not the calling line
    when_end: str = ""  # label at the end of the last `when` block
    shared_bytes: int = 0
    shared_align: int = 16
    user_labels: dict[str, SourceLine | None] = field(default_factory=dict[str, "SourceLine | None"])
    # The checker caches vector shapes by operand identity, so operands and refused statements must stay alive.
    shapes: dict[int, int] = field(default_factory=dict[int, int])
    operands: dict[Operand, Operand] = field(default_factory=dict[Operand, Operand])
    refused: list[tree.Statement] = field(default_factory=list[tree.Statement])

    def register(self, type_word: str) -> str:
        """Declare a new register of the PTX type `type_word` and return its name."""
        prefix = register_prefix(type_word)
        if prefix not in self.registers:
            self.names.declare(tree.Variable("reg", REGISTER_TYPES[prefix], f"%{prefix}", count=_REGISTER_LIMIT))
        number = self.registers[prefix]
        self.registers[prefix] += 1
        return f"%{prefix}{number}"

    def label(self, stem: str) -> str:
        """Declare a new label, such as `stem_1`, and return its name."""
        while True:
            self.labels[stem] += 1
            name = f"{stem}_{self.labels[stem]}"
            if name not in self.names.labels:
                self.names.labels[name] = tree.Label(name)
                return name

    def place_label(self, label: str) -> None:
        """Append a declared label to the statements of the kernel."""
        self.statements.append((tree.Label(label), None))

    def append(self, statements: Iterable[tree.Statement]) -> None:
        """Append statements that have already been checked."""
        line = self.line or self.lines.innermost()
        self.statements += [(statement, line) for statement in statements]

    def emit(self, opcode: str, operands: tuple[Operand, ...]) -> None:
        """Check an instruction and append it to the kernel. Errors: AuthorError with the checker's code."""
        kept = tuple([o if type(o) in _CACHED_ELSEWHERE else self.operands.setdefault(o, o) for o in operands])
        statement = tree.Instruction(self.guard, opcode, kept)
        line = self.line or self.lines.innermost()
        problems = self.walk.instructions.check(statement, self.names, self.shapes)
        if problems and any(each.severity is Severity.ERROR for each in problems):
            self.refused.append(statement)
            source, span = line_place(line) if self.line else caller_place()
            raise AuthorError(
                Diagnostic(each.code, each.severity, each.message, source, span, each.hint, each.section)
                for each in problems
            )
        self.statements.append((statement, line))


def reaches_end(statements: Sequence[tree.Statement]) -> bool:
    """Return True if control flow may run past the last statement."""
    trailing: set[str] = set()
    last: tree.Statement | None = None
    for statement in reversed(statements):
        if isinstance(statement, tree.Label):
            trailing.add(statement.name)
        elif isinstance(statement, tree.Block):
            return True
        elif isinstance(statement, tree.Instruction):
            last = statement
            break
    if not isinstance(last, tree.Instruction) or last.guard is not None:
        return True
    forms = [match.form for match in match_opcode(last.opcode)]
    if not any(form.ends_thread or form.control == "jump" for form in forms):
        return True
    instructions = (each for each in statements if isinstance(each, tree.Instruction))
    return any(isinstance(o, Name) and o.text in trailing for each in instructions for o in each.operands)


def register_prefix(type_word: str) -> str:
    """Return the name prefix of registers of a type, such as "r" (`%r0`) for u32."""
    return _PREFIXES.get(type_word) or _PREFIXES[f"b{max(TYPES[type_word].bits, 16)}"]


_CURRENT: ContextVar[Builder | None] = ContextVar("builder", default=None)


def current() -> Builder:
    """Return the builder of the kernel under construction. Errors: AuthorError author.outside."""
    builder = _CURRENT.get()
    if builder is None:
        raise author_error("instructions are only allowed in a function under @kernel", "author.outside")
    return builder


@contextlib.contextmanager
def building(builder: Builder) -> Generator[None]:
    """Make `current` return `builder` inside the `with` block."""
    token = _CURRENT.set(builder)
    try:
        yield
    finally:
        _CURRENT.reset(token)
