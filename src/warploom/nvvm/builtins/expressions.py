"""Parser for expressions of CUDA C, with constant folding as in the compiler."""

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from warploom.diagnostics import Source, Span
from warploom.nvvm.builtins.c_types import (
    BOOL,
    DOUBLE,
    INT,
    NULL,
    WORDS,
    CType,
    Value,
    common,
    computed,
    is_float,
    is_unsigned,
    promoted,
    type_of_words,
    wrap,
)
from warploom.nvvm.builtins.tokens import BuiltinError, Token, diagnostic_at

THREAD = "%tid.x"
"""Name of `threadIdx.x` in the terms of a sum."""
_MOST_DEPTH = 100
"""Greatest nesting of expressions."""
_BINARY = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7, "<<": 8, ">>": 8,
    "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "|": int.__or__, "^": int.__xor__, "&": int.__and__, "+": int.__add__, "-": int.__sub__, "*": int.__mul__,
}  # fmt: skip
_ESCAPES = dict(zip("abfnrtv\\'\"?", b"\a\b\f\n\r\t\v\\'\"?", strict=True)) | {str(n): n for n in range(8)}
_CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast"})
_QUALIFIERS = frozenset({"const", "volatile", "__restrict__"})


@dataclass
class Scope:
    """Declared names of a CUDA C text. An open scope declares unknown names as kernel parameters.

    `extents` maps the name of each array to its extents.
    """

    names: dict[str, Value] = field(default_factory=dict[str, Value])
    open: bool = True
    parameters: dict[str, CType] = field(default_factory=dict[str, CType])
    extents: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])

    def find(self, name: str, expected: CType) -> Value | None:
        """Return the value of a variable, or None for an undeclared name in a closed scope.

        In an open scope, an undeclared name becomes a parameter of the type `expected`.
        """
        if name not in self.names:
            if not self.open:
                return None
            self.declare_parameter(name, expected)
        return self.names[name]

    def declare_parameter(self, name: str, ctype: CType, *, kernel: bool = True) -> None:
        """Declare a parameter of a kernel, or of a `__device__` function if `kernel` is False."""
        self.parameters[name] = ctype
        # Only pointers of a kernel are known to point to global memory.
        space = "global" if kernel and ctype.depth else ""
        if ctype.depth:
            self.names[name] = Value(ctype, None, name, 0, space)
        else:
            self.names[name] = Value(ctype, None, terms=((name, 1),))


class Expressions:
    """Parser for expressions in a list of tokens.

    The argument `expected` of a method is the type of an undeclared name.
    """

    def __init__(self, source: Source, tokens: list[Token], scope: Scope) -> None:
        self.source = source
        self.scope = scope
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    # Tokens -------------------------------------------------------------------------------------------------

    @property
    def next(self) -> Token:
        """Next token, which is not consumed yet."""
        return self._tokens[self._at]

    def take(self) -> Token:
        """Consume the next token and return it."""
        token = self.next
        if token.kind != "end":
            self._at += 1
        return token

    def accept(self, text: str) -> bool:
        """Consume the next token if its text is `text`. Return True in that case."""
        if self.next.text != text or self.next.kind in ("string", "character"):
            return False
        self.take()
        return True

    def expect(self, text: str) -> Token:
        """Consume the next token. Errors: BuiltinError if the text of the token is not `text`."""
        if self.next.text != text:
            raise self.error(f"expected '{text}', got {self.next.text}", self.next.span)
        return self.take()

    def expect_name(self, kind: str) -> Token:
        """Consume a name and return the token. Errors: BuiltinError "expected the name of `kind`"."""
        if self.next.kind != "name":
            raise self.error(f"expected the name of {kind}, got {self.next.text}", self.next.span)
        return self.take()

    def list_items(self, close: str) -> Iterator[None]:
        """Yield before each item of a list for the caller to parse. Consume commas and the final `close`."""
        while not self.accept(close):
            yield
            if self.next.text != close:
                self.expect(",")

    @property
    def second(self) -> Token:
        """Token after the next token."""
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)]

    def error(self, message: str, span: Span, hint: str = "") -> BuiltinError:
        """Return an error at a span."""
        return BuiltinError([diagnostic_at(self.source, span, message, hint=hint)])

    # Types --------------------------------------------------------------------------------------------------

    def starts_type(self) -> bool:
        """Return True if a type comes next."""
        return _starts_type(self.next)

    def type(self) -> CType:
        """Parse a type without its pointers. Errors: BuiltinError."""
        start = self.next.span
        words: list[str] = []
        while self.starts_type():
            words.append(self.take().text)
        if (found := type_of_words(words)) is None:
            raise self.error(f"unsupported type '{' '.join(words) or self.next.text}' of an argument", start)
        return found

    def pointers(self, base: CType) -> CType:
        """Parse the `*` and qualifiers after the type `base`. Return the pointer type."""
        found = base
        while self.accept("*"):
            found = replace(found, depth=found.depth + 1)
            while self.next.text in _QUALIFIERS:
                self.take()
        return found

    # Expressions --------------------------------------------------------------------------------------------

    def argument(self, expected: CType) -> tuple[Value, Span]:
        """Parse an expression. Return its value and span."""
        start = self.next.span.start
        value = self.expression(expected)
        return value, Span(start, self._tokens[self._at - 1].span.end)

    def expression(self, expected: CType) -> Value:
        """Parse an expression, including `?:`. Return its value."""
        self._enter()
        value = self._binary(1, expected)
        if self.accept("?"):
            yes = self.expression(expected)
            self.expect(":")
            no = self.expression(expected)
            value = _conditional(value, yes, no)
        self._depth -= 1
        return value

    def _binary(self, least: int, expected: CType) -> Value:
        left = self._unary(expected)
        while self.next.kind == "sign" and _BINARY.get(self.next.text, 0) >= least:
            sign = self.take()
            right = self._binary(_BINARY[sign.text] + 1, INT if left.type.depth else expected)
            left = _combine(sign.text, left, right)
        return left

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise self.error(f"expressions are nested more than {_MOST_DEPTH} deep", self.next.span)

    def _unary(self, expected: CType) -> Value:
        self._enter()
        value = self._prefixed(expected)
        self._depth -= 1
        return value

    def _prefixed(self, expected: CType) -> Value:
        token = self.next
        if token.kind == "sign" and token.text in ("+", "-", "~", "!"):
            self.take()
            return _prefix(token.text, self._unary(expected))
        if self.accept("&"):
            return self._address(expected)
        if self.accept("*"):
            pointer = self._unary(replace(expected, depth=expected.depth + 1))
            return computed(pointer.type.pointee if pointer.type.depth else INT)
        if token.text == "sizeof":
            self.take()
            return self._size()
        if token.text in _CASTS:
            self.take()
            self.expect("<")
            ctype = self.pointers(self.type())
            self.expect(">")
            return convert(self._parenthesised(ctype), ctype)
        if token.text == "(" and _starts_type(self.second):
            self.take()
            ctype = self.pointers(self.type())
            self.expect(")")
            return convert(self._unary(ctype), ctype)
        return self._postfix(expected)

    def _address(self, expected: CType) -> Value:
        """Parse the operand of `&`: `p[n]` or `x`."""
        name = self.expect_name("an array or variable after &")
        if self.scope.open and name.text not in self.scope.names and self.next.text != "[":
            # Only the address of an undeclared fragment matters, so its name becomes a pointer.
            return self._name(name, expected if expected.depth else replace(expected, depth=1))
        value = self._name(name, expected)
        if indices := self._subscripts():
            return _combine("+", value, self._flat(name.text, indices))
        if value.type.depth and value.space in ("shared", "local"):
            return value
        return computed(replace(value.type, depth=value.type.depth + 1))

    def _parenthesised(self, expected: CType) -> Value:
        self.expect("(")
        value = self.expression(expected)
        self.expect(")")
        return value

    def _subscripts(self) -> list[Value]:
        found: list[Value] = []
        while self.accept("["):
            found.append(self.expression(INT))
            self.expect("]")
        return found

    def _flat(self, name: str, indices: list[Value]) -> Value:
        """Return the linear index of an array element. `indices` has one index for each extent."""
        extents = self.scope.extents.get(name, ())
        found = indices[0]
        for extent, index in zip(extents[1:], indices[1:], strict=False):
            found = _combine("+", _combine("*", found, Value(INT, extent)), index)
        return found

    def _size(self) -> Value:
        self.expect("(")
        size = self.pointers(self.type()).size if self.starts_type() else self.expression(INT).type.size
        self.expect(")")
        return Value(CType("unsigned long"), size)

    def _postfix(self, expected: CType) -> Value:
        value = self._primary(expected)
        for _ in self._subscripts():
            value = computed(value.type.pointee if value.type.depth else INT)
        return value

    def _primary(self, expected: CType) -> Value:
        token = self.take()
        match token.kind:
            case "integer":
                return _integer(token.text)
            case "float":
                is_float = token.text[-1] in "fF"
                return Value(CType("float") if is_float else DOUBLE, float(token.text.rstrip("fFlL")))
            case "character":
                return Value(CType("char"), self._character(token))
            case "string":
                return computed(CType("char", 1, const=True))
            case "name" if token.text in ("true", "false"):
                return Value(BOOL, int(token.text == "true"))
            case "name" if token.text == "nullptr":
                return Value(NULL, 0)
            case "name" if token.text == "NULL":
                return Value(CType("long"), 0)
            case "name" if token.text in WORDS:
                self._at -= 1
                ctype = self.type()
                return convert(self._parenthesised(ctype), ctype)
            case "name" if token.text == "threadIdx":
                self.expect(".")
                self.expect("x")
                return Value(CType("unsigned int"), None, terms=((THREAD, 1),))
            case "name":
                return self._name(token, expected)
            case _ if token.text == "(":
                self._at -= 1
                return self._parenthesised(expected)
            case _:
                raise self.error(f"expected an argument, got {token.text}", token.span)

    def _character(self, token: Token) -> int:
        body = token.text[1:-1]
        if len(body) == 1 and body.isascii():
            return ord(body)
        if body[1:] not in _ESCAPES:
            raise self.error(f"unknown character {token.text}", token.span)
        return _ESCAPES[body[1:]]

    def _name(self, token: Token, expected: CType) -> Value:
        found = self.scope.find(token.text, expected)
        if found is None:
            raise self.error(f'identifier "{token.text}" is undefined', token.span)
        return found


def _starts_type(token: Token) -> bool:
    return token.kind == "name" and (token.text in WORDS or token.text in _QUALIFIERS)


def _integer(text: str) -> Value:
    digits = text.rstrip("uUlL")
    suffix = text[len(digits) :].lower()
    digits = digits.replace("'", "")
    octal = digits[0] == "0" and digits.isdigit()
    number = int(digits, 8 if octal else 0)
    order = ("int", "long", "unsigned long") if "u" not in suffix else ("unsigned int", "unsigned long")
    if not digits.isdigit() or octal:
        order = ("int", "unsigned int", "long", "unsigned long") if "u" not in suffix else order
    if suffix.count("l"):
        word = "long long" if suffix.count("l") == 2 else "long"
        order = (f"unsigned {word}",) if "u" in suffix else (word, f"unsigned {word}")
    types = [CType(word) for word in order]
    ctype = next((each for each in types if wrap(number, each) == number), types[-1])
    return Value(ctype, wrap(number, ctype))


def convert(value: Value, ctype: CType) -> Value:
    """Return a value converted to the type `ctype`.

    A pointer keeps its state space. A number that becomes a pointer points to global memory.
    """
    if value.constant is not None:
        constant = wrap(value.constant, ctype)
        return Value(ctype, constant, terms=None if constant is None else ())
    if value.type.depth or ctype.depth == 0:
        kept = value.type.size == ctype.size and is_float(value.type) == is_float(ctype) and ctype != BOOL
        terms = value.terms if kept or value.type.depth else None
        return Value(ctype, None, value.base, value.offset, value.space if ctype.depth else "", terms, value.inside)
    # A kernel receives addresses only of global memory, so an integer parameter is such an address.
    plain = value.terms is not None and len(value.terms) == 1 and value.terms[0][1] == 1 and not value.offset
    return Value(ctype, None, value.terms[0][0], 0, "global") if plain and value.terms else computed(ctype)


def _prefix(sign: str, value: Value) -> Value:
    ctype = BOOL if sign == "!" else promoted(value.type)
    if value.constant is None and value.terms is not None and ctype.is_integer and sign != "!":
        found = _sum(ctype, Value(ctype, 0), value, 1 if sign == "+" else -1)
        return replace(found, offset=found.offset - 1) if sign == "~" else found  # ~x is -x - 1
    if value.constant is None or (sign == "~" and isinstance(value.constant, float)):
        return computed(ctype)
    constant = wrap(value.constant, ctype) if sign != "!" else value.constant
    assert constant is not None
    number = {"+": lambda: constant, "-": lambda: -constant, "!": lambda: not constant}
    result = ~int(constant) if sign == "~" else number[sign]()
    return Value(ctype, wrap(result, ctype))


def _conditional(condition: Value, yes: Value, no: Value) -> Value:
    if condition.constant is not None:
        return yes if condition.constant else no
    ctype = yes.type if yes.type.depth else no.type if no.type.depth else common(yes.type, no.type)
    return computed(ctype, yes.space if yes.space == no.space else "")


def _combine(sign: str, left: Value, right: Value) -> Value:
    if NULL in (left.type, right.type):
        return computed(INT)
    if sign in ("+", "-") and (left.type.depth or (right.type.depth and sign == "+")):
        return _moved(sign, left, right) if left.type.depth else _moved(sign, right, left)
    if sign in ("&&", "||"):
        return _logical(sign, left, right)
    ctype = (
        BOOL if sign in _COMPARISONS else promoted(left.type) if sign in ("<<", ">>") else common(left.type, right.type)
    )
    if left.constant is None or right.constant is None or left.type.depth or right.type.depth:
        return _linear(sign, left, right, ctype)
    number = _calculate(sign, left, right, ctype)
    return computed(ctype) if number is None else Value(ctype, wrap(number, ctype))


def _moved(sign: str, pointer: Value, index: Value) -> Value:
    """Return a pointer plus or minus an index in elements. `sign` is "+" or "-"."""
    known = isinstance(index.constant, int)
    wraps = is_unsigned(index.type) and index.type.size < pointer.type.size
    if pointer.type.depth == 0 or pointer.terms is None or index.terms is None or not (known or index.type.is_integer):
        return computed(pointer.type, pointer.space)
    if wraps and not known and not _is_bounded(index):
        return computed(pointer.type, pointer.space)
    size = pointer.type.pointee.size * (1 if sign == "+" else -1)
    inside = pointer.inside + (0 if known else index.offset * size)
    return replace(_sum(pointer.type, pointer, index, size), inside=inside)


def _is_bounded(index: Value) -> bool:
    """Return True for an index that cannot wrap."""
    assert index.terms is not None
    one = len(index.terms) == 1 and index.terms[0][1] == 1 and index.offset == 0
    # `threadIdx.x` is below 1024.
    small = all(name == THREAD and 0 <= factor < 1 << 16 for name, factor in index.terms)
    return one or (small and 0 <= index.offset < 1 << 16)


def _sum(ctype: CType, left: Value, right: Value, factor: int) -> Value:
    """Return `left + factor * right` as a value of the type `ctype`."""
    terms = dict(left.terms or ())
    for name, of in right.terms or ():
        terms[name] = terms.get(name, 0) + of * factor
    offset = _offset(left) + _offset(right) * factor
    kept = tuple((name, of) for name, of in terms.items() if of)
    return Value(ctype, None, left.base, offset, left.space, kept)


def _offset(value: Value) -> int:
    return int(value.constant) if value.constant is not None else value.offset


def _linear(sign: str, left: Value, right: Value, ctype: CType) -> Value:
    """Return the result of an integer operator as a sum of variables, or as an unknown value."""
    if left.terms is None or right.terms is None or not ctype.is_integer or left.base or right.base:
        return computed(ctype)
    if left.type.size != right.type.size and None in (left.constant, right.constant) and sign != "<<":
        wide = left if left.type.size > right.type.size else right
        if (right if wide is left else left).constant is None:
            return computed(ctype)
    if sign in ("+", "-"):
        return _sum(ctype, left, right, 1 if sign == "+" else -1)
    if sign == "*" and isinstance(right.constant, int):
        return _sum(ctype, Value(ctype, 0), left, right.constant)
    if sign == "*" and isinstance(left.constant, int):
        return _sum(ctype, Value(ctype, 0), right, left.constant)
    if sign == "<<" and isinstance(right.constant, int) and 0 <= right.constant < 8 * ctype.size:
        return _sum(ctype, Value(ctype, 0), left, 1 << right.constant)
    return computed(ctype)


def _logical(sign: str, left: Value, right: Value) -> Value:
    if left.constant is not None and bool(left.constant) == (sign == "||"):
        return Value(BOOL, int(sign == "||"))
    if left.constant is None or right.constant is None:
        return computed(BOOL)
    return Value(BOOL, int(bool(right.constant)))


def _calculate(sign: str, left: Value, right: Value, ctype: CType) -> float | None:
    assert left.constant is not None
    assert right.constant is not None
    shared = common(left.type, right.type)
    a, b = wrap(left.constant, shared), wrap(right.constant, shared)
    if a is None or b is None:
        return None
    if sign in _COMPARISONS:
        return int(_COMPARISONS[sign](a, b))
    if isinstance(a, float) or isinstance(b, float):
        real: dict[str, Callable[[], float]] = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b}
        return a / b if sign == "/" and b else real[sign]() if sign in real else None
    if sign in ("<<", ">>"):
        number, by = wrap(left.constant, ctype), int(right.constant)
        if number is None or not 0 <= by < 8 * ctype.size or (number < 0 and is_unsigned(ctype)):
            return None
        return int(number) << by if sign == "<<" else int(number) >> by
    if sign in ("/", "%"):
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if sign == "/" else a - b * quotient
    return _ARITHMETIC[sign](a, b)
