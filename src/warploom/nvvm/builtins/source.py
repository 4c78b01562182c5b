"""CUDA C text of one call: declarations, then the call, in a function's braces or without.

    __hmma_m16n16k16_ld_a(tile, matrix, 16, 0);

    __global__ void kernel(int *tile, unsigned ldm) {
        __shared__ int matrix[128];
        __hmma_m16n16k16_ld_a(tile, &matrix[16], ldm, 0);
    }

Without a function, names that nothing declares are the parameters of a kernel, of the types that their places
ask for. What a kernel's pointers point to is global memory; of a `__device__` function's nothing is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

from warploom.diagnostics import Source, Span
from warploom.nvvm.builtins.ctypes import INT, CType, Value, computed
from warploom.nvvm.builtins.expressions import Expressions, Scope, convert
from warploom.nvvm.builtins.registry import BUILTINS, Builtin
from warploom.nvvm.builtins.tokens import BuiltinError, problem, tokens_of

_SPACES = {"__shared__": "shared", "__device__": "global", "__constant__": "const", "__managed__": "global"}
_STORAGE = frozenset(
    {"extern", "static", "constexpr", "inline", "__forceinline__", "__noinline__", "volatile"}
)
_FUNCTIONS = frozenset({"__global__", "__device__", "__host__"})
_BUILTINS = {each.name: each for each in BUILTINS}
_DESCRIPTOR = CType("unsigned long long")
MOST_ARGUMENTS = 64


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call, and where it stands."""

    value: Value
    span: Span


@dataclass(frozen=True, slots=True)
class Array:
    """A declared array: of what, how many elements, in which space, and what is in it, None where nothing is."""

    type: CType
    count: int
    space: str
    initial: tuple[Value, ...] | None = None


@dataclass(frozen=True)
class Call:
    """A call of a builtin in a function: its arguments, and the function's parameters and arrays by name."""

    source: Source
    builtin: Builtin
    span: Span
    arguments: tuple[Argument, ...]
    function: str = "kernel"
    is_kernel: bool = True
    parameters: dict[str, CType] = field(default_factory=dict[str, CType])
    arrays: dict[str, Array] = field(default_factory=dict[str, Array])


def read_call(text: str, name: str = "<text>") -> Call:
    """The one call of a text.

    Errors: BuiltinError builtin.text for what is no such text, or has names or types that are none.
    """
    source = Source(name, text)
    return _Reader(source).text()


class _Reader(Expressions):
    def __init__(self, source: Source) -> None:
        super().__init__(source, tokens_of(source), Scope())
        self._arrays: dict[str, Array] = {}
        self._call: Call | None = None
        self._function = "kernel"
        self._is_kernel = True

    def text(self) -> Call:
        """The whole text."""
        while self.next.kind != "end":
            self._external()
        if self._call is None:
            raise self.error(
                "there is no call of a builtin", self.next.span, "such as __hmma_m16n16k16_ld_a(d, s, 16, 0);"
            )
        return replace(
            self._call,
            function=self._function,
            is_kernel=self._is_kernel,
            parameters=dict(self.scope.parameters),
            arrays=dict(self._arrays),
        )

    def _external(self) -> None:
        if self.next.text == "extern" and self._linkage_ahead():
            self.take()
            self.take()
        if self._function_ahead():
            self._definition()
        else:
            self._statement()

    def _linkage_ahead(self) -> bool:
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)].kind == "string"

    def _function_ahead(self) -> bool:
        """Whether `void name(` comes, after qualifiers."""
        at = self._at
        while self._tokens[at].text in _FUNCTIONS | _STORAGE:
            at += 1
        words = [token.text for token in self._tokens[at : at + 3]]
        return len(words) == 3 and words[0] == "void" and words[2] == "("

    def _definition(self) -> None:
        kinds: set[str] = set()
        while (word := self.take().text) != "void":
            kinds.add(word)
        self._function = self.take().text
        self._is_kernel = "__global__" in kinds
        self.scope.open = False
        self.expect("(")
        while not self.accept(")"):
            self._parameter()
            if self.next.text != ")":
                self.expect(",")
        self.expect("{")
        while not self.accept("}"):
            if self.next.kind == "end":
                raise self.error("the function's brace is not closed", self.next.span)
            self._statement()

    def _parameter(self) -> None:
        if self.next.text == "void" and self.ahead(")"):
            self.take()
            return
        ctype = self.pointers(self.type())
        name = self.take()
        if name.kind != "name":
            raise self.error(f"found {name.text}; expected the name of a parameter", name.span)
        if self.accept("["):
            if self.next.text != "]":
                self.expression(INT)
            self.expect("]")
            ctype = replace(ctype, depth=ctype.depth + 1)
        self.scope.declare_parameter(name.text, ctype, kernel=self._is_kernel)

    # Statements ---------------------------------------------------------------------------------------------

    def _statement(self) -> None:
        if self.accept(";"):
            return
        token = self.next
        if token.text == "enum":
            self._enumeration()
        elif token.kind == "name" and self.ahead("("):
            self._calls()
        elif self.starts_type() or token.text in _SPACES or token.text in _STORAGE:
            self._declaration()
        elif token.kind == "end":
            raise self.error("the text ends in a statement", token.span)
        else:
            raise self.error(
                f"found {token.text}; expected a declaration or the call of a builtin", token.span
            )

    def _enumeration(self) -> None:
        self.take()
        if self.next.kind == "name":
            self.take()
        self.expect("{")
        number = 0
        while not self.accept("}"):
            name = self.take()
            if self.accept("="):
                value, span = self.argument(INT)
                if not isinstance(value.constant, int):
                    raise self.error("expression must have a constant integer value", span)
                number = value.constant
            self.scope.names[name.text] = Value(INT, number)
            number += 1
            if self.next.text != "}":
                self.expect(",")
        self.expect(";")

    def _declaration(self) -> None:
        words: set[str] = set()
        while self.next.text in _SPACES or self.next.text in _STORAGE:
            words.add(self.take().text)
        base = self.type()
        constant = base.const or "constexpr" in words
        space = next((_SPACES[word] for word in words if word in _SPACES), "local")
        while True:
            self._declarator(base, space, constant=constant)
            if not self.accept(","):
                break
        self.expect(";")

    def _declarator(self, base: CType, space: str, *, constant: bool) -> None:
        ctype = self.pointers(base)
        name = self.take()
        if name.kind != "name":
            raise self.error(f"found {name.text}; expected the name of a variable", name.span)
        if self.next.text == "[":
            self._array(name.text, ctype, space)
            return
        value = computed(ctype)
        if self.accept("="):
            value, _ = self.argument(ctype)
            value = (
                convert(value, ctype)
                if ctype.depth == 0 or value.type.depth == 0
                else replace(value, type=ctype)
            )
            if not constant and ctype.depth == 0:
                value = computed(ctype)
        self.scope.names[name.text] = value

    def _array(self, name: str, ctype: CType, space: str) -> None:
        extents: list[int] = []
        while self.accept("["):
            if self.next.text != "]":
                extent, span = self.argument(INT)
                if not isinstance(extent.constant, int) or extent.constant < 1:
                    raise self.error("an array's extent must be a positive constant", span)
                extents.append(extent.constant)
            else:
                extents.append(1)
            self.expect("]")
        initial = self._initializer(ctype) if self.accept("=") else None
        self._arrays[name] = Array(ctype, prod(extents), space, initial)
        self.scope.extents[name] = tuple(extents)
        self.scope.names[name] = Value(replace(ctype, depth=ctype.depth + 1), None, name, 0, space)

    def _initializer(self, ctype: CType) -> tuple[Value, ...]:
        """The elements of an array's initializer, in order; those that are not there are zero."""
        self.expect("{")
        found: list[Value] = []
        while not self.accept("}"):
            value, span = self.argument(ctype)
            if value.constant is None:
                raise self.error("an array's initializer must be of constants", span)
            found.append(convert(value, ctype))
            if self.next.text != "}":
                self.expect(",")
        return tuple(found)

    # Calls --------------------------------------------------------------------------------------------------

    def _calls(self) -> None:
        name = self.take()
        builtin = _BUILTINS.get(name.text)
        if builtin is None:
            from difflib import get_close_matches

            like = get_close_matches(name.text, _BUILTINS, 1, 0.6)
            hint = f"did you mean {like[0]}?" if like else ""
            raise self.error(f'identifier "{name.text}" is undefined', name.span, hint)
        if self._call is not None:
            raise self.error("a second call of a builtin; expected one", name.span)
        self.take()
        arguments: list[Argument] = []
        while not self.accept(")"):
            if len(arguments) > MOST_ARGUMENTS:
                raise self.error(f"more than {MOST_ARGUMENTS} arguments", self.next.span)
            arguments.append(Argument(*self.argument(_expected(builtin, len(arguments)))))
            if self.next.text != ")":
                self.expect(",")
        span = Span(name.span.start, self._tokens[self._at - 1].span.end)
        self._call = Call(self.source, builtin, span, tuple(arguments))
        if self.next.kind != "end":
            self.expect(";")


def _expected(builtin: Builtin, place: int) -> CType:
    """The type of an argument's names that are not declared."""
    if place >= len(builtin.parameters):
        return _DESCRIPTOR
    parameter = builtin.parameters[place]
    base = "float" if parameter.base == "void" else parameter.base
    return CType(base, int(parameter.pointer), parameter.const)


def complain(call: Call, found: Sequence[tuple[int | None, str, str]]) -> BuiltinError:
    """The complaints about a call: each the place of an argument (None for the call itself), message and code."""
    return BuiltinError(
        [
            problem(call.source, call.span if place is None else call.arguments[place].span, message, code)
            for place, message, code in found
        ]
    )
