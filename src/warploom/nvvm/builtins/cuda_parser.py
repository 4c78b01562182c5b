"""Parser for the CUDA C text of one call: declarations, then the call, inside or outside a function.

    __hmma_m16n16k16_ld_a(tile, matrix, 16, 0);

    __global__ void kernel(int *tile, unsigned ldm) {
        __shared__ int matrix[128];
        __hmma_m16n16k16_ld_a(tile, &matrix[16], ldm, 0);
    }

Outside a function, undeclared names are kernel parameters.
"""

from dataclasses import dataclass, field, replace
from math import prod

from warploom.diagnostics import Source, Span
from warploom.diagnostics.wording import did_you_mean
from warploom.nvvm.builtins.c_types import DESCRIPTOR, INT, CType, Value, computed
from warploom.nvvm.builtins.expressions import Expressions, Scope, convert
from warploom.nvvm.builtins.registry import BY_NAME, Builtin
from warploom.nvvm.builtins.tokens import tokens_of

_SPACES = {"__shared__": "shared", "__device__": "global", "__constant__": "const", "__managed__": "global"}
_STORAGE = frozenset({"extern", "static", "constexpr", "inline", "__forceinline__", "__noinline__", "volatile"})
_FUNCTIONS = frozenset({"__global__", "__device__", "__host__"})
_MOST_ARGUMENTS = 64


@dataclass(frozen=True, slots=True)
class Argument:
    """Value and span of an argument in a call."""

    value: Value
    span: Span


@dataclass(frozen=True, slots=True)
class Array:
    """Declared array with its element type and state space."""

    type: CType
    count: int
    space: str
    initial: tuple[Value, ...] | None = None


@dataclass(frozen=True)
class Call:
    """Call of a builtin. `function`, `parameters` and `arrays` describe the function around the call."""

    source: Source
    builtin: Builtin
    span: Span
    arguments: tuple[Argument, ...]
    function: str = "kernel"
    is_kernel: bool = True
    parameters: dict[str, CType] = field(default_factory=dict[str, CType])
    arrays: dict[str, Array] = field(default_factory=dict[str, Array])


def parse_call(text: str, name: str = "<text>") -> Call:
    """Parse CUDA C text that contains exactly one call of a builtin. Errors: BuiltinError builtin.text."""
    return _Parser(Source(name, text)).text()


class _Parser(Expressions):
    def __init__(self, source: Source) -> None:
        super().__init__(source, tokens_of(source), Scope())
        self._arrays: dict[str, Array] = {}
        self._call: Call | None = None
        self._function = "kernel"
        self._is_kernel = True

    def text(self) -> Call:
        while self.next.kind != "end":
            self._external()
        if self._call is None:
            raise self.error(
                "expected a call of a builtin", self.next.span, "such as __hmma_m16n16k16_ld_a(d, s, 16, 0);"
            )
        return replace(
            self._call,
            function=self._function,
            is_kernel=self._is_kernel,
            parameters=dict(self.scope.parameters),
            arrays=dict(self._arrays),
        )

    def _external(self) -> None:
        if self.next.text == "extern" and self.second.kind == "string":
            self.take()
            self.take()
        if self._function_ahead():
            self._definition()
        else:
            self._statement()

    def _function_ahead(self) -> bool:
        """Return True if `void name(` comes next, after qualifiers."""
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
        for _ in self.list_items(")"):
            self._parameter()
        self.expect("{")
        while not self.accept("}"):
            if self.next.kind == "end":
                raise self.error("the function's brace is not closed", self.next.span)
            self._statement()

    def _parameter(self) -> None:
        if self.next.text == "void" and self.second.text == ")":
            self.take()
            return
        ctype = self.pointers(self.type())
        name = self.expect_name("a parameter")
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
        elif token.kind == "name" and self.second.text == "(":
            self._calls()
        elif self.starts_type() or token.text in _SPACES or token.text in _STORAGE:
            self._declaration()
        elif token.kind == "end":
            raise self.error("the text ends in a statement", token.span)
        else:
            raise self.error(f"expected a declaration or the call of a builtin, got {token.text}", token.span)

    def _enumeration(self) -> None:
        self.take()
        if self.next.kind == "name":
            self.take()
        self.expect("{")
        number = 0
        for _ in self.list_items("}"):
            name = self.take()
            if self.accept("="):
                value, span = self.argument(INT)
                if not isinstance(value.constant, int):
                    raise self.error("expression must have a constant integer value", span)
                number = value.constant
            self.scope.names[name.text] = Value(INT, number)
            number += 1
        self.expect(";")

    def _declaration(self) -> None:
        words: set[str] = set()
        while self.next.text in _SPACES or self.next.text in _STORAGE:
            words.add(self.take().text)
        base = self.type()
        constant = base.const or "constexpr" in words
        space = next((_SPACES[word] for word in words if word in _SPACES), "local")
        self._declarator(base, space, constant=constant)
        while self.accept(","):
            self._declarator(base, space, constant=constant)
        self.expect(";")

    def _declarator(self, base: CType, space: str, *, constant: bool) -> None:
        ctype = self.pointers(base)
        name = self.expect_name("a variable")
        if self.next.text == "[":
            self._array(name.text, ctype, space)
            return
        value = computed(ctype)
        if self.accept("="):
            value, _ = self.argument(ctype)
            value = convert(value, ctype) if ctype.depth == 0 or value.type.depth == 0 else replace(value, type=ctype)
            if not constant and ctype.depth == 0:
                value = computed(ctype)
        self.scope.names[name.text] = value

    def _array(self, name: str, ctype: CType, space: str) -> None:
        extents: list[int] = []
        while self.accept("["):
            extent, span = (Value(INT, 1), self.next.span) if self.next.text == "]" else self.argument(INT)
            if not isinstance(extent.constant, int) or extent.constant < 1:
                raise self.error("an array's extent must be a positive constant", span)
            extents.append(extent.constant)
            self.expect("]")
        initial = self._initializer(ctype) if self.accept("=") else None
        self._arrays[name] = Array(ctype, prod(extents), space, initial)
        self.scope.extents[name] = tuple(extents)
        self.scope.names[name] = Value(replace(ctype, depth=ctype.depth + 1), None, name, 0, space)

    def _initializer(self, ctype: CType) -> tuple[Value, ...]:
        """Parse an array initializer and return its elements, converted to `ctype`."""
        self.expect("{")
        found: list[Value] = []
        for _ in self.list_items("}"):
            value, span = self.argument(ctype)
            if value.constant is None:
                raise self.error("an array's initializer must be of constants", span)
            found.append(convert(value, ctype))
        return tuple(found)

    # Calls --------------------------------------------------------------------------------------------------

    def _calls(self) -> None:
        name = self.take()
        if (builtin := BY_NAME.get(name.text)) is None:
            raise self.error(f'identifier "{name.text}" is undefined', name.span, did_you_mean(name.text, BY_NAME))
        if self._call is not None:
            raise self.error("expected one call of a builtin, got a second one", name.span)
        self.take()
        arguments: list[Argument] = []
        for _ in self.list_items(")"):
            if len(arguments) > _MOST_ARGUMENTS:
                raise self.error(f"expected at most {_MOST_ARGUMENTS} arguments", self.next.span)
            arguments.append(Argument(*self.argument(expected_type(builtin, len(arguments)))))
        span = Span(name.span.start, self._tokens[self._at - 1].span.end)
        self._call = Call(self.source, builtin, span, tuple(arguments))
        if self.next.kind != "end":
            self.expect(";")


def expected_type(builtin: Builtin, position: int) -> CType:
    """Return the C type that an undeclared name has as the argument with the index `position`."""
    if position >= len(builtin.parameters):
        return DESCRIPTOR
    parameter = builtin.parameters[position]
    base = "float" if parameter.base == "void" else parameter.base
    return CType(base, int(parameter.pointer), parameter.const)
