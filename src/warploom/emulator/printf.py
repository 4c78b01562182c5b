"""Formatting of text as the device function `printf` does.

Source: CUDA C++ Programming Guide, "Formatted Output". Conversions follow C (ISO C 7.21.6.1), and glibc where C
leaves the text open.
"""

import math
import re
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

MOST_ARGUMENTS = 32
MOST_CHARACTERS = 1 << 20
"""Largest width and precision. More characters do not fit into the output of a launch."""

_CONVERSION = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d*)(?:\.(?P<precision>\d*))?(?P<length>hh|h|ll|l)?"
    rb"(?P<kind>[diouxXeEfFgGaAcsp%])"
)
_BYTES = {b"hh": 1, b"h": 2, b"": 4, b"l": 8, b"ll": 8}  # sizes of integers
_EXPONENT_BITS, _FRACTION_BITS, _BIAS = 0x7FF, 52, 1023

Strings = Callable[[int, int | None], bytes | None]
"""Function that reads a string at an address, without its end. Return None for a null pointer.

The second argument is the maximum number of bytes, or None.
"""


class Conversion(NamedTuple):
    """Conversion specification of a format.

    `star` is the number of the argument with the width, or -1. `argument` is the number of the argument to convert.
    `length` has the size of an integer in bytes.
    """

    kind: str
    flags: str
    width: int
    star: int
    precision: int | None
    length: int
    argument: int


class Format(NamedTuple):
    """Format, as literal text and conversions in order.

    `arguments` has the offset and the size of each argument in the argument buffer. Units: bytes.
    """

    parts: tuple[bytes | Conversion, ...]
    arguments: tuple[tuple[int, int], ...]


@lru_cache(maxsize=1024)
def parse_format(text: bytes) -> Format:
    """Parse a format. Invalid conversions, and those after `MOST_ARGUMENTS` arguments, are literal text."""
    parts: list[bytes | Conversion] = []
    arguments: list[tuple[int, int]] = []
    at = end = 0

    def add(size: int) -> int:
        last, last_size = arguments[-1] if arguments else (0, 0)
        arguments.append((-(-(last + last_size) // size) * size, size))
        return len(arguments) - 1

    while (at := text.find(b"%", at)) >= 0:
        found = _CONVERSION.match(text, at)
        if found is None:
            at += 1
            continue
        after = found.end()
        if found["kind"] == b"%":
            if found[0] == b"%%":
                parts += (text[end:at], b"%")
                end = after
            at = after
            continue
        at = after
        has_star = found["width"] == b"*"
        if len(arguments) + 1 + has_star > MOST_ARGUMENTS:
            continue
        parts.append(text[end : found.start()])
        parts.append(_conversion(found, add(4) if has_star else -1, add))
        end = after
    parts.append(text[end:])
    return Format(tuple(part for part in parts if part), tuple(arguments))


def _conversion(found: re.Match[bytes], star: int, add: Callable[[int], int]) -> Conversion:
    kind, length = found["kind"].decode(), _BYTES[found["length"] or b""]
    size = max(length, 4) if kind in "diouxX" else 4 if kind == "c" else 8
    width = 0 if star >= 0 else _limited(found["width"])
    precision = None if found["precision"] is None else _limited(found["precision"])
    return Conversion(kind, found["flags"].decode(), width, star, precision, length, add(size))


def _limited(digits: bytes) -> int:
    return min(int(digits[:9] or b"0"), MOST_CHARACTERS)


def format_text(parsed: Format, arguments: Sequence[int], strings: Strings) -> bytes:
    """Return the text of a format. `arguments` has the bits of each argument as an unsigned integer."""
    return b"".join(part if isinstance(part, bytes) else _convert(part, arguments, strings) for part in parsed.parts)


def _convert(each: Conversion, arguments: Sequence[int], strings: Strings) -> bytes:
    value, flags, width, kind = arguments[each.argument], each.flags, each.width, each.kind
    if each.star >= 0:
        width = _signed(arguments[each.star], 4)
        if width < 0:
            flags, width = f"{flags}-", -width
        width = min(width, MOST_CHARACTERS)
    if kind in "cs":
        text = bytes([value & 0xFF]) if kind == "c" else _string(value, each.precision, strings)
        return text.ljust(width) if "-" in flags else text.rjust(width)
    if kind == "p" and not value:
        prefix, digits, zeros = "", "(nil)", False
    elif kind in "diouxXp":
        prefix, digits = (f"{_sign(False, flags)}0x", f"{value:x}") if kind == "p" else _integer(value, each)
        digits = digits.zfill(each.precision or 0) if each.precision != 0 or digits != "0" else ""
        if kind == "o" and "#" in flags and not digits.startswith("0"):
            digits = f"0{digits}"
        zeros = each.precision is None
    else:
        prefix, digits, zeros = _float(value, each)
    missing = max(0, width - len(prefix) - len(digits))
    if "-" in flags:
        text = prefix + digits + " " * missing
    elif "0" in flags and zeros:
        text = prefix + "0" * missing + digits
    else:
        text = " " * missing + prefix + digits
    return text.encode()


def _string(address: int, most: int | None, strings: Strings) -> bytes:
    text = strings(address, most)
    if text is None:
        text = b"(null)" if most is None or most >= len(b"(null)") else b""
    return text


def _signed(value: int, size: int) -> int:
    value &= (1 << 8 * size) - 1
    return value - (1 << 8 * size) if value >> 8 * size - 1 else value


def _sign(negative: bool, flags: str) -> str:
    return "-" if negative else "+" if "+" in flags else " " if " " in flags else ""


def _integer(value: int, each: Conversion) -> tuple[str, str]:
    """Return the prefix and the digits of an integer."""
    if each.kind in "di":
        number = _signed(value, each.length)
        return _sign(number < 0, each.flags), str(abs(number))
    value &= (1 << 8 * each.length) - 1
    prefix = f"0{each.kind}" if each.kind in "xX" and "#" in each.flags and value else ""
    return prefix, format(value, "d" if each.kind == "u" else each.kind)


def _float(bits: int, each: Conversion) -> tuple[str, str, bool]:
    """Return the sign, the digits, and True if the digits may follow zeros."""
    (value,) = struct.unpack("<d", bits.to_bytes(8, "little"))
    sign = _sign(bits >> 63 == 1, each.flags)
    upper = each.kind.isupper()
    if not math.isfinite(value):
        name = "inf" if math.isinf(value) else "nan"
        return sign, name.upper() if upper else name, False
    alternate = "#" if "#" in each.flags else ""
    if each.kind in "aA":
        prefix, digits = "0x", _hexadecimal(bits, each.precision, bool(alternate))
        return sign + (prefix.upper() if upper else prefix), digits.upper() if upper else digits, True
    precision = 6 if each.precision is None else each.precision
    return sign, f"%{alternate}.{precision}{each.kind}" % abs(value), True


def _hexadecimal(bits: int, precision: int | None, has_point: bool) -> str:
    """Return the digits of `%a` after `0x`."""
    exponent, fraction = bits >> _FRACTION_BITS & _EXPONENT_BITS, bits & (1 << _FRACTION_BITS) - 1
    significand = fraction | (1 << _FRACTION_BITS if exponent else 0)
    power = (exponent or 1) - _BIAS if significand else 0
    digits = _FRACTION_BITS // 4
    if precision is not None and precision < digits:
        dropped = 4 * (digits - precision)
        # Round to nearest, ties to even.
        significand = significand + (1 << dropped - 1) - 1 + (significand >> dropped & 1) >> dropped << dropped
    lead = significand >> _FRACTION_BITS
    text = f"{significand & (1 << _FRACTION_BITS) - 1:0{digits}x}"
    text = text.rstrip("0") if precision is None else text[:precision].ljust(precision, "0")
    return f"{lead}{'.' if text or has_point else ''}{text}p{power:+d}"
