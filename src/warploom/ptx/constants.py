"""Parsers of literals, constant expressions and initializers.

Source: PTX ISA 4.5 (constants), 5.4.4 (initializers)
"""

import operator
import re
from collections.abc import Callable
from dataclasses import replace

from warploom.diagnostics import Span
from warploom.lazy_dataclass import dataclass
from warploom.ptx.cursor import Cursor, describe
from warploom.ptx.lexer import Token
from warploom.ptx.operands import Float, Initializer, Integer, Name, Property, Symbol

_BITS = 64
WARP_SZ, WARP_SIZE = "WARP_SZ", 32
_LONGEST = _BITS + 2
"""Characters of the longest 64-bit literal, which is binary. Longer literals are refused."""
_PLAIN_INTEGERS = re.compile(r"((?:\s*+(?:[1-9][0-9]{0,17}+|0)\s*+,)*+\s*+(?:[1-9][0-9]{0,17}+|0)\s*+)\}", re.ASCII)
"""Rest of a list of short decimal integers after its opening brace."""


@dataclass(frozen=True, slots=True)
class _Number:
    """64-bit integer in a constant expression."""

    value: int
    unsigned: bool = False


_Value = _Number | Float | Symbol

_LEVELS = ("||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %")
_PRECEDENCE = {sign: level for level, signs in enumerate(_LEVELS) for sign in signs.split()}
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "&&": lambda a, b: bool(a) and bool(b),
    "||": lambda a, b: bool(a) or bool(b),
}
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<<": lambda a, b: a << b if b < _BITS else 0,
    ">>": lambda a, b: a >> min(b, _BITS),
}


def integer_value(text: str) -> int:
    """Return the value of an integer literal in base 2, 8, 10 or 16."""
    # Unsigned literals end with "U".
    digits = text.rstrip("U")
    return int(digits, 8 if digits[0] == "0" and digits.isdigit() else 0)


def integer(text: str) -> Integer:
    """Return the tree node of an integer literal, with or without a minus sign."""
    value = -integer_value(text[1:].lstrip()) if text[0] == "-" else integer_value(text)
    constant = Integer(value)
    return constant if constant.text == text else Integer.spelled(value, text)


def floating(text: str) -> Float:
    """Return the tree node of a floating-point literal: `0f…` with 8 digits, `0d…` with 16, or a decimal."""
    width = {"0f": 32, "0d": 64}.get(text[:2].lower())
    if width is not None:
        return Float(int(f"0x{text[2:]}", 0), width).spelled(text)
    return Float.decimal(float(text)).spelled(text)


def constant(cursor: Cursor, depth: int = 0) -> Integer | Float | Symbol:
    """Parse a constant expression.

    The result is a `Symbol` if the expression contains a variable or label. `depth` is the number of enclosing
    parentheses and braces.

    Errors: ptx.syntax/expected, ptx.syntax/constant, ptx.syntax/nesting
    """
    start = cursor.peek().start
    value = _conditional(cursor, depth)
    if isinstance(value, _Number):
        return Integer.spelled(value.value, cursor.text[start : cursor.pos])
    return value


def constant_or_name(cursor: Cursor, depth: int = 0) -> Integer | Float | Symbol | Name:
    """Parse a constant expression, or the name of a variable or label."""
    value = constant(cursor, depth)
    return Name(value.name) if isinstance(value, Symbol) and value == Symbol(value.name) else value


def integer_constant(cursor: Cursor, what: str) -> int:
    """Parse an integer constant expression. Error messages call the expression `what`."""
    start = cursor.peek().start
    value = constant(cursor)
    if not isinstance(value, Integer):
        cursor.unexpected("constant", start, what)
    return value.value


def literal(cursor: Cursor, token: Token) -> int:
    """Return the value of the integer literal `token`, which `cursor` has just passed.

    Errors: ptx.syntax/number for wrong octal digits, or for a value of more than 64 bits
    """
    text = token.text
    digits = text.rstrip("U")
    error = ""
    if digits.isdigit() and digits[0] == "0" and not set(digits) <= set("01234567"):
        error = "is not a number; expected octal digits after 0"
    elif len(digits) > _LONGEST or integer_value(text) >= 2**_BITS:
        error = f"does not fit in {_BITS} bits"
    if error:
        cursor.fail("number", f"found {describe(token)}, which {error}", token.span)
    return integer_value(text)


def initializer(cursor: Cursor, depth: int = 0) -> Initializer:
    """Parse the initial value after `=`: a constant, a name, or a list of initial values in braces.

    Errors: ptx.syntax/expected, ptx.syntax/constant, ptx.syntax/nesting
    """
    if cursor.accept("{"):
        depth = cursor.nest(depth, "initializers")
        if (match := _PLAIN_INTEGERS.match(cursor.text, cursor.pos)) is not None:
            cursor.seek(match.end())
            texts = match[1].split(",")
            known = {text: Integer(int(text)) for text in set(texts)}
            return tuple(map(known.__getitem__, texts))
        if cursor.accept("}"):
            return ()
        items = [initializer(cursor, depth)]
        while cursor.accept(","):
            items.append(initializer(cursor, depth))
        cursor.expect("}", ",")
        return tuple(items)
    value = constant_or_name(cursor, depth)
    if isinstance(value, Name) and cursor.accept("="):
        return Property(value.text, initializer(cursor, cursor.nest(depth, "initializers")))
    return value


def _conditional(cursor: Cursor, depth: int) -> _Value:
    start = cursor.peek().start
    value = _binary(cursor, 0, depth)
    if not cursor.at("?"):
        return value
    condition = _number(cursor, value, start)
    cursor.take()
    depth = cursor.nest(depth, "expressions")
    first = _conditional(cursor, depth)
    cursor.expect(":")
    second = _conditional(cursor, depth)
    return first if condition.value else second


def _binary(cursor: Cursor, level: int, depth: int) -> _Value:
    start = cursor.peek().start
    value = _unary(cursor, depth)
    while (precedence := _PRECEDENCE.get(cursor.peek().text, -1)) >= level:
        sign = cursor.take().text
        right_start = cursor.peek().start
        right = _binary(cursor, precedence + 1, depth)
        value = _apply(cursor, sign, value, right, start, right_start)
    return value


def _apply(cursor: Cursor, sign: str, left: _Value, right: _Value, start: int, right_start: int) -> _Value:
    if isinstance(left, Symbol) and sign in ("+", "-"):
        if isinstance(right, Symbol) and sign == "-" and not left.minus:
            return replace(left, minus=right.name)
        step = _number(cursor, right, right_start).value
        return replace(left, offset=left.offset + (step if sign == "+" else -step))
    if isinstance(right, Symbol) and sign == "+":
        return replace(right, offset=right.offset + _number(cursor, left, start).value)
    a, b = _number(cursor, left, start), _number(cursor, right, right_start)
    unsigned = a.unsigned or b.unsigned
    x, y = (a.value % 2**_BITS, b.value % 2**_BITS) if unsigned else (a.value, b.value)
    if sign in _COMPARISONS:
        return _Number(int(_COMPARISONS[sign](x, y)))
    if sign in ("/", "%"):
        if y == 0:
            cursor.fail("constant", "division by zero in a constant expression", Span(start, cursor.pos))
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return _wrap(quotient if sign == "/" else x - y * quotient, unsigned)
    if sign in ("<<", ">>"):
        # A shift has the type of its left operand. Its count is unsigned.
        x, y, unsigned = (x if a.unsigned else a.value), b.value % 2**_BITS, a.unsigned
    return _wrap(_ARITHMETIC[sign](x, y), unsigned)


def _wrap(value: int, unsigned: bool) -> _Number:
    value %= 2**_BITS
    if not unsigned and value >= 2 ** (_BITS - 1):
        value -= 2**_BITS
    return _Number(value, unsigned)


def _number(cursor: Cursor, value: _Value, start: int) -> _Number:
    return value if isinstance(value, _Number) else cursor.unexpected("constant", start, "an integer constant")


def _unary(cursor: Cursor, depth: int) -> _Value:
    token = cursor.peek()
    if token.text not in ("-", "+", "!", "~"):
        return _primary(cursor, depth)
    cursor.take()
    value = _unary(cursor, cursor.nest(depth, "signs"))
    if isinstance(value, Float) and value.width is None and token.text in "+-":
        flipped = value.bits ^ (1 << (_BITS - 1)) if token.text == "-" else value.bits
        return Float(flipped).spelled(cursor.text[token.start : cursor.pos])
    number = _number(cursor, value, token.end)
    if token.text == "-":
        # A negated literal keeps its mathematical value. Only arithmetic wraps.
        is_exact = not number.unsigned or number.value == 2 ** (_BITS - 1)
        return _Number(-number.value) if is_exact else _wrap(-number.value, True)
    if token.text == "!":
        return _Number(int(not number.value))
    return number if token.text == "+" else _wrap(~number.value, number.unsigned)


def _primary(cursor: Cursor, depth: int) -> _Value:
    token = cursor.peek()
    if token.kind == "integer":
        cursor.take()
        value = literal(cursor, token)
        if cursor.at("("):
            return _masked(cursor, value, depth)
        return _Number(value, token.text.endswith("U") or value >= 2 ** (_BITS - 1))
    if token.kind == "float":
        return floating(cursor.take().text)
    if token.text == "(":
        return _parenthesised(cursor, depth)
    if token.text == "generic":
        cursor.take()
        if not cursor.accept("("):
            return Symbol("generic")
        name = cursor.expect_kind("name", "a variable's name").text
        cursor.expect(")")
        return Symbol(name, generic=True)
    if token.kind in ("name", "word"):
        return _Number(WARP_SIZE) if cursor.take().text == WARP_SZ else Symbol(token.text)
    return cursor.expected("a constant")


def _masked(cursor: Cursor, mask: int, depth: int) -> Symbol:
    cursor.expect("(")
    start = cursor.peek().start
    value = _conditional(cursor, cursor.nest(depth, "expressions"))
    cursor.expect(")")
    if not isinstance(value, Symbol):
        span = Span(start, cursor.pos)
        cursor.fail("constant", "only the address of a variable can be masked", span)
    return replace(value, mask=mask)


def _parenthesised(cursor: Cursor, depth: int) -> _Value:
    cursor.take()
    depth = cursor.nest(depth, "expressions")
    if cursor.at(".s64", ".u64"):
        unsigned = cursor.take().text == ".u64"
        cursor.expect(")")
        start = cursor.peek().start
        number = _number(cursor, _unary(cursor, depth), start)
        return _wrap(number.value, unsigned)
    value = _conditional(cursor, depth)
    cursor.expect(")")
    return value
