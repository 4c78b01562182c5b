"""The tree of a PTX module: frozen nodes that know no opcodes.

A node that the parser made remembers where it came from; a node made by program, or by `dataclasses.replace`,
does not. Equality never looks at the origin or at the spelling of a literal. Printing writes the remembered
text of a node where there is one and the canonical text elsewhere (see `printer`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from warploom.diagnostics import Source, Span
from warploom.display import Displayed

Origin: TypeAlias = tuple[Source, int, int]


# Operands ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name:
    """A register, label, variable, function or special register (`%tid.x` is one name), or the sink `_`."""

    text: str


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer constant or a constant expression folded to one. `text` is its spelling."""

    value: int
    text: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", str(self.value))

    @classmethod
    def spelled(cls, value: int, text: str) -> Integer:
        """The constant with the spelling it had in a text."""
        constant = cls(value)
        object.__setattr__(constant, "text", text)
        return constant


@dataclass(frozen=True, slots=True)
class Float:
    """A floating-point constant.

    `width` is 32 for `0f3F800000`, 64 for `0d…`, None for a decimal, whose `bits` are those of a binary64.
    """

    bits: int
    width: int | None = None
    text: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        text = f"0f{self.bits:08X}" if self.width == 32 else f"0d{self.bits:016X}"
        object.__setattr__(self, "text", text if self.width else repr(self.value))

    @classmethod
    def decimal(cls, value: float) -> Float:
        """The constant written in decimal."""
        return cls(int.from_bytes(struct.pack("<d", value), "little"))

    def spelled(self, text: str) -> Float:
        """The same constant with the spelling it had in a text."""
        constant = Float(self.bits, self.width)
        object.__setattr__(constant, "text", text)
        return constant

    @property
    def value(self) -> float:
        """The number itself."""
        size, letter = (4, "<f") if self.width == 32 else (8, "<d")
        return struct.unpack(letter, self.bits.to_bytes(size, "little"))[0]


@dataclass(frozen=True, slots=True)
class Symbol:
    """The address of a variable or label with an offset: `sym+4`, `generic(sym)+8`, `0xFF00(sym)`, `a-b`.

    `minus` is the label subtracted, empty when there is none.
    """

    name: str
    offset: int = 0
    generic: bool = False
    mask: int | None = None
    minus: str = ""


@dataclass(frozen=True, slots=True)
class Negated:
    """A negated register: `!%p1`, or `-%r1` where an instruction takes a sign."""

    name: str
    sign: str = "!"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two results of one instruction: `%r0|%p1`."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Vector:
    """`{%r0, %r1}`."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Address:
    """`[%rd1+16]`, `[sym+4]`, `[16]`; `extra` holds what follows a comma, as in `[%rd1, {%r0, %r1}]`.

    `unified` for `[%rd1].unified`, an address that host and device share.
    """

    base: Operand | None
    offset: int = 0
    extra: tuple[Operand, ...] = ()
    unified: bool = False


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an array named directly: `a[4]`."""

    name: str
    index: Address


@dataclass(frozen=True, slots=True)
class Tuple:
    """The parenthesised operands of a call: `(param0, param1)`."""

    items: tuple[Operand, ...]


Operand: TypeAlias = Name | Integer | Float | Symbol | Negated | Pair | Vector | Address | Element | Tuple


# Initialisers -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Property:
    """A named field of an opaque variable's initialiser: `addr_mode_0 = clamp_to_border`."""

    name: str
    value: Initializer


Initializer: TypeAlias = "Integer | Float | Name | Symbol | Property | tuple[Initializer, ...]"


# Statements -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Node(Displayed):
    """What stands in a text as a whole: statements, variables, functions and the module."""

    display_kind: ClassVar[str] = "ptx"

    origin: Origin | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def source(self) -> Source | None:
        """The text the node was parsed from; None for a node made by program."""
        return None if self.origin is None else self.origin[0]

    @property
    def span(self) -> Span | None:
        """The node's place in its source, without surrounding blanks and comments."""
        return None if self.origin is None else Span(self.origin[1], self.origin[2])

    @property
    def source_text(self) -> str | None:
        """The text the node was parsed from, byte for byte."""
        return None if self.origin is None else self.origin[0].text[self.origin[1] : self.origin[2]]

    def __str__(self) -> str:
        # The printer reads every node class, so it is met at call time.
        from warploom.ptx.printer import to_text

        return to_text(self)


@dataclass(frozen=True, slots=True)
class Guard:
    """`@%p1` or `@!%p1`."""

    name: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Instruction(Node):
    """One instruction, known or not. Operands carry no place of their own: `operand_spans` finds them."""

    guard: Guard | None
    opcode: str
    operands: tuple[Operand, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The opcode's words; `shared::cluster` is one word."""
        return tuple(self.opcode.split("."))

    # Places are found again on demand: only diagnostics ask, and for one instruction at a time.

    @property
    def word_spans(self) -> tuple[Span, ...]:
        """Places of the opcode's words; empty for a node made by program."""
        from warploom.ptx.spans import word_spans

        return () if self.origin is None else word_spans(*self.origin)

    @property
    def operand_spans(self) -> tuple[Span, ...]:
        """Places of the operands; empty for a node made by program."""
        from warploom.ptx.spans import operand_spans

        return () if self.origin is None else operand_spans(*self.origin)

    def item_spans(self, operand: int) -> tuple[Span, ...]:
        """Places of the items in the brackets of one operand: of a vector, an address or a tuple."""
        from warploom.ptx.spans import item_spans

        return () if self.origin is None else item_spans(self.origin[0], self.operand_spans[operand])


@dataclass(frozen=True, slots=True)
class Label(Node):
    """`name:`."""

    name: str


@dataclass(frozen=True, slots=True)
class Text:
    """A quoted string; `value` is what stands between the quotes, escapes untouched."""

    value: str


@dataclass(frozen=True, slots=True)
class Prototype:
    """The signature after `.callprototype`."""

    returns: tuple[Variable, ...]
    params: tuple[Variable, ...]
    name: str = "_"
    directives: tuple[Directive, ...] = ()


Argument: TypeAlias = Operand | Text | Prototype


@dataclass(frozen=True, slots=True)
class Directive(Node):
    """`.loc`, `.file`, `.maxntid`, `.pragma`, `.branchtargets`, `.callprototype`, `.section`, and any other.

    `body` is what stands in the braces of a `.section`: labels, and data lines as directives (`.b8 1, 2`).
    """

    name: str
    args: tuple[Argument, ...] = ()
    body: tuple[Label | Directive, ...] | None = None

    @property
    def ints(self) -> tuple[int, ...]:
        """The integer arguments, in order."""
        return tuple(arg.value for arg in self.args if isinstance(arg, Integer))

    @property
    def names(self) -> tuple[str, ...]:
        """The named arguments, in order: labels, functions, targets."""
        return tuple(arg.text for arg in self.args if isinstance(arg, Name))


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """A variable of any state space, a parameter, or a range of registers.

    `%r<100>` has name `%r` and count 100. `shape` holds the array dimensions, None for `[]`. `attributes` are
    kept as text: `.ptr .global .align 1`, `.attribute(.managed)`.
    """

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


@dataclass(frozen=True, slots=True)
class Block(Node):
    """Statements between braces."""

    statements: tuple[Statement, ...] = ()

    def instructions(self) -> Iterator[Instruction]:
        """Every instruction in order, those of nested blocks too."""
        pending: list[Iterator[Statement]] = [iter(self.statements)]
        while pending:
            for statement in pending[-1]:
                if isinstance(statement, Instruction):
                    yield statement
                elif isinstance(statement, Block):
                    pending.append(iter(statement.statements))
                    break
            else:
                pending.pop()


Statement: TypeAlias = Instruction | Label | Variable | Block | Directive


@dataclass(frozen=True, slots=True)
class Function(Node):
    """An `.entry` or `.func`; `body` is None for a declaration; `linkage` holds "visible", "extern"…"""

    kind: str
    name: str
    params: tuple[Variable, ...] = ()
    returns: tuple[Variable, ...] = ()
    directives: tuple[Directive, ...] = ()
    body: Block | None = None
    linkage: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()


TopLevel: TypeAlias = Directive | Function | Variable


@dataclass(frozen=True, slots=True)
class Module(Node):
    """A whole PTX text. `items` begins with the `.version`, `.target` and `.address_size` directives."""

    items: tuple[TopLevel, ...]

    @classmethod
    def build(
        cls,
        version: tuple[int, int],
        target: tuple[str, ...],
        items: tuple[TopLevel, ...] = (),
        address_size: int = 64,
    ) -> Module:
        """A module made by program: the header directives, then `items`."""
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
        """The PTX version, as (major, minor)."""
        directive = self._directive(".version")
        major, minor = (0, 0) if directive is None else directive.ints
        return major, minor

    @property
    def target(self) -> tuple[str, ...]:
        """The target and its modes: `("sm_90a", "debug")`."""
        directive = self._directive(".target")
        return () if directive is None else directive.names

    @property
    def address_size(self) -> int:
        """32 or 64; 32 where the text does not say.

        Source: PTX ISA 11.1.3
        """
        directive = self._directive(".address_size")
        return 32 if directive is None else directive.ints[0]

    @property
    def functions(self) -> dict[str, Function]:
        """Functions by name; where a declaration and a definition share a name, the definition."""
        found: dict[str, Function] = {}
        for item in self.items:
            if isinstance(item, Function) and (item.body is not None or item.name not in found):
                found[item.name] = item
        return found

    @property
    def variables(self) -> dict[str, Variable]:
        """Module-scope variables by name."""
        return {item.name: item for item in self.items if isinstance(item, Variable)}
