"""Nodes of statements, functions and modules. Nodes are frozen.

`str()` of a node is its PTX text. Equality ignores the origin of a node and the spelling of literals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, TypeAlias

from warploom.diagnostics import Span
from warploom.diagnostics.symbols import readable_name
from warploom.lazy_dataclass import dataclass
from warploom.ptx.lexer import DATA_DIRECTIVES
from warploom.ptx.node import Node, Printer
from warploom.ptx.operands import Initializer, Integer, Name, Operand, initializer_text, joined
from warploom.ptx.spans import item_spans, operand_spans, word_spans

_LINE_DIRECTIVES = frozenset((".version", ".target", ".address_size", ".loc", ".file", ".section"))
"""Directives that end with their line and take no `;`."""

_LOCATION_WORDS = ("function_name", "inlined_at")


@dataclass(frozen=True, slots=True)
class Guard:
    """Predicate before an instruction: `@%p1` or `@!%p1`."""

    name: str
    negated: bool = False

    def __str__(self) -> str:
        return f"@{'!' if self.negated else ''}{self.name}"


@dataclass(frozen=True, slots=True)
class Instruction(Node):
    """Instruction with any opcode."""

    guard: Guard | None
    opcode: str
    operands: tuple[Operand, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Words of the opcode. `shared::cluster` is one word."""
        return tuple(self.opcode.split("."))

    @property
    def word_spans(self) -> tuple[Span, ...]:
        """Positions of the opcode words; empty for a node that a program made."""
        return () if self.origin is None else word_spans(*self.origin)

    @property
    def operand_spans(self) -> tuple[Span, ...]:
        """Positions of the operands; empty for a node that a program made."""
        return () if self.origin is None else operand_spans(*self.origin)

    def item_spans(self, operand: int) -> tuple[Span, ...]:
        """Return the positions of the items of an operand that is a vector, an address or a tuple.

        `operand` is the index of the operand.
        """
        return () if self.origin is None else item_spans(self.origin[0], self.operand_spans[operand])

    def canonical(self, printer: Printer, indent: str) -> str:
        """Return the canonical text (see `Node.canonical`)."""
        guard = "" if self.guard is None else f"{self.guard} "
        operands = f" {joined(self.operands)}" if self.operands else ""
        return f"{guard}{self.opcode}{operands};"


@dataclass(frozen=True, slots=True)
class Label(Node):
    """Label: `name:`."""

    name: str

    def canonical(self, printer: Printer, indent: str) -> str:
        """Return the canonical text (see `Node.canonical`)."""
        return f"{self.name}:"


@dataclass(frozen=True, slots=True)
class Text:
    """Quoted string. `value` is the text between the quotes."""

    value: str

    def __str__(self) -> str:
        return f'"{self.value}"'


@dataclass(frozen=True, slots=True)
class Prototype:
    """Signature after `.callprototype`."""

    returns: tuple[Variable, ...]
    params: tuple[Variable, ...]
    name: str = "_"
    directives: tuple[Directive, ...] = ()

    def text(self, printer: Printer) -> str:
        """Return the text of the signature."""
        returns = f"({_parameters(self.returns, ', ', printer)}) " if self.returns else ""
        text = f"{returns}{self.name} ({_parameters(self.params, ', ', printer)})"
        return " ".join((text, *(directive.head(printer) for directive in self.directives)))


Argument: TypeAlias = Operand | Text | Prototype


@dataclass(frozen=True, slots=True)
class Directive(Node):
    """Directive such as `.loc`, `.maxntid`, `.pragma`, `.branchtargets`, `.callprototype` or `.section`.

    `body` holds the labels and data lines of a `.section`. A data line is a directive, such as `.b8 1, 2`.
    """

    name: str
    args: tuple[Argument, ...] = ()
    body: tuple[Label | Directive, ...] | None = None

    @property
    def ints(self) -> tuple[int, ...]:
        """Integer arguments, in order."""
        return tuple(arg.value for arg in self.args if isinstance(arg, Integer))

    @property
    def names(self) -> tuple[str, ...]:
        """Named arguments, in order, such as labels, functions or targets."""
        return tuple(arg.text for arg in self.args if isinstance(arg, Name))

    def head(self, printer: Printer) -> str:
        """Return the text of the directive and its arguments, without body and `;`."""
        args = [arg.text(printer) if isinstance(arg, Prototype) else str(arg) for arg in self.args]
        match self.name, args:
            case ".version", (major, minor):
                return f".version {major}.{minor}"
            case ".file", (number, *rest):
                return f".file {number} {', '.join(rest)}"
            case ".loc", _:
                return ".loc" + "".join(f"{',' * (arg in _LOCATION_WORDS)} {arg}" for arg in args)
            case name, _:
                return f"{name} {', '.join(args)}".rstrip()

    def canonical(self, printer: Printer, indent: str) -> str:
        """Return the canonical text (see `Node.canonical`)."""
        head = self.head(printer)
        if self.body is not None:
            return f"{head}\n{indent}{printer.braced(self.body, indent)}"
        return head if self.name in _LINE_DIRECTIVES or self.name in DATA_DIRECTIVES else f"{head};"


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """Variable of any state space, parameter, or range of registers.

    `%r<100>` has the name `%r` and the count 100. `shape` holds the array dimensions, with None for `[]`. `attributes`
    are texts such as `.ptr .global .align 1` or `.attribute(.managed)`.
    """

    shares_statement: ClassVar[bool] = True

    space: str
    type: str
    name: str
    align: int | None = None
    vector: int = 1
    count: int | None = None
    shape: tuple[int | None, ...] = ()
    initializer: Initializer | None = None
    linkage: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    def declaration(self) -> str:
        """Return the canonical text without a final `;`."""
        bank = "".join(text for text in self.attributes if text.startswith("["))
        words = [*(f".{word}" for word in self.linkage), f".{self.space}{bank}"]
        words += [text for text in self.attributes if text.startswith(".attribute")]
        if self.align is not None:
            words.append(f".align {self.align}")
        if self.vector != 1:
            words.append(f".v{self.vector}")
        if self.type:
            words.append(f".{self.type}")
        words += [text for text in self.attributes if not text.startswith((".attribute", "["))]
        shape = "".join("[]" if size is None else f"[{size}]" for size in self.shape)
        count = "" if self.count is None else f"<{self.count}>"
        text = " ".join((*words, f"{self.name}{count}{shape}"))
        return text if self.initializer is None else f"{text} = {initializer_text(self.initializer)}"

    def canonical(self, printer: Printer, indent: str) -> str:
        """Return the canonical text (see `Node.canonical`)."""
        return f"{self.declaration()};"


def _parameters(params: tuple[Variable, ...], separator: str, printer: Printer) -> str:
    return separator.join(
        param.source_text if printer.keep_source and param.source_text else param.declaration() for param in params
    )


@dataclass(frozen=True, slots=True)
class Block(Node):
    """Statements between braces."""

    statements: tuple[Statement, ...] = ()

    def instructions(self) -> Iterator[Instruction]:
        """Yield every instruction in order, including those of nested blocks."""
        for statement in self.statements:
            if isinstance(statement, Instruction):
                yield statement
            elif isinstance(statement, Block):
                yield from statement.instructions()

    def canonical(self, printer: Printer, indent: str) -> str:
        """Return the canonical text (see `Node.canonical`)."""
        return printer.braced(self.statements, indent)


Statement: TypeAlias = Instruction | Label | Variable | Block | Directive


@dataclass(frozen=True, slots=True)
class Function(Node):
    """Kernel (`.entry`) or device function (`.func`).

    `body` is None for a declaration. `linkage` holds words such as "visible" and "extern".
    """

    blank_line_before: ClassVar[bool] = True

    kind: str
    name: str
    params: tuple[Variable, ...] = ()
    returns: tuple[Variable, ...] = ()
    directives: tuple[Directive, ...] = ()
    body: Block | None = None
    linkage: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    @property
    def readable_name(self) -> str:
        """Name for messages. A mangled name is demangled and shortened."""
        return readable_name(self.name)

    def canonical(self, printer: Printer, indent: str) -> str:
        """Return the canonical text (see `Node.canonical`)."""
        words = [*(f".{word}" for word in (*self.linkage, self.kind)), *self.attributes]
        if self.returns:
            words.append(f"({_parameters(self.returns, ', ', printer)})")
        params = _parameters(self.params, ",\n\t", printer)
        words.append(f"{self.name}(\n\t{params}\n)" if params else f"{self.name}()")
        text = " ".join(words)
        for directive in self.directives:
            if printer.keep_source and directive.source_text is not None:
                text += f"\n{directive.source_text}"
            else:
                text += f"\n{directive.head(printer)}{';' if directive.name == '.pragma' else ''}"
        return f"{text};" if self.body is None else f"{text}\n{printer.text(self.body)}"


TopLevel: TypeAlias = Directive | Function | Variable


@dataclass(frozen=True, slots=True)
class Module(Node):
    """PTX module. `items` begins with the `.version`, `.target` and `.address_size` directives."""

    items: tuple[TopLevel, ...]

    @classmethod
    def build(
        cls, version: tuple[int, int], target: tuple[str, ...], items: tuple[TopLevel, ...] = (), address_size: int = 64
    ) -> Module:
        """Return a module of `items` with a header for `version`, `target` and `address_size`."""
        header = (
            Directive(".version", tuple(Integer(part) for part in version)),
            Directive(".target", tuple(Name(word) for word in target)),
            Directive(".address_size", (Integer(address_size),)),
        )
        return cls((*header, *items))

    def _directive(self, name: str) -> Directive | None:
        return next((item for item in self.items if isinstance(item, Directive) and item.name == name), None)

    @property
    def version(self) -> tuple[int, int]:
        """PTX version, as (major, minor)."""
        directive = self._directive(".version")
        major, minor = (0, 0) if directive is None else directive.ints
        return major, minor

    @property
    def target(self) -> tuple[str, ...]:
        """Target and its options, such as `("sm_90a", "debug")`."""
        directive = self._directive(".target")
        return () if directive is None else directive.names

    @property
    def address_size(self) -> int:
        """Address size in bits; 32 if the module has no such directive. Source: PTX ISA 11.1.3."""
        directive = self._directive(".address_size")
        return 32 if directive is None else directive.ints[0]

    @property
    def functions(self) -> dict[str, Function]:
        """Functions by name. A definition takes precedence over declarations of the same name."""
        found: dict[str, Function] = {}
        for item in self.items:
            if isinstance(item, Function) and (item.body is not None or item.name not in found):
                found[item.name] = item
        return found

    @property
    def variables(self) -> dict[str, Variable]:
        """Module-scope variables by name."""
        return {item.name: item for item in self.items if isinstance(item, Variable)}

    def canonical(self, printer: Printer, indent: str) -> str:
        """Return the canonical text (see `Node.canonical`)."""
        return printer.module(self.items)
