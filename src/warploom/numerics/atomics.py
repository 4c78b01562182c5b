"""Compiled atomic operations on memory, executed lane after lane.

`words` is the memory. `index` contains the byte offsets of the words that the lanes in `mask` update. `values` contains
the operands of the lanes. `out` receives the old words.

Shapes: index and mask (warps, 32); values, compares and out (warps, 32 * words of a lane).
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false, reportUnknownArgumentType=false
from collections.abc import Callable
from typing import Any

import numpy as np

from warploom.lazy_dataclass import dataclass
from warploom.numerics._compile import scalar, specialized
from warploom.numerics.float_kernels import canonical, flush, nan64
from warploom.numerics.formats import Array, Format
from warploom.numerics.half_kernels import extreme, sum_bf16, sum_f16

OPERATIONS = ("add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas")


def depends_on_order(operation: str, type: str) -> bool:
    """Return True if the result of several atomic updates of a word depends on their order.

    `operation` is one of `OPERATIONS`, and `type` a PTX type.
    """
    return operation in ("exch", "cas") or (operation == "add" and type.startswith(("f", "bf")))


def _loop(
    words: Array, index: Array, mask: Array, values: Array, compares: Array, out: Array, op: int, option: Any
) -> None:
    warps, lanes = mask.shape
    count = values.shape[1] // lanes  # words of a lane
    for w in range(warps):
        for lane in range(lanes):
            if mask[w, lane]:
                for k in range(count):
                    at, column = index[w, lane] // words.itemsize + k, lane * count + k
                    old = words[at]
                    out[w, column] = old
                    words[at] = scalar(old, values[w, column], compares[w, column], op, option)


def _integer(old, value, compare, op, sign):
    """Return the word that replaces `old`.

    `op` is an index of `OPERATIONS`. `sign` is the mask of the sign bit, or 0 for unsigned words.
    """
    old, value, compare = np.uint64(old), np.uint64(value), np.uint64(compare)
    sign, one = np.uint64(sign), np.uint64(1)
    new = value
    if op == 0:
        new = old + value
    elif op == 1:
        new = value if (value ^ sign) < (old ^ sign) else old
    elif op == 2:
        new = value if (value ^ sign) > (old ^ sign) else old
    elif op == 3:
        new = old & value
    elif op == 4:
        new = old | value
    elif op == 5:
        new = old ^ value
    elif op == 6:
        new = np.uint64(0) if old >= value else old + one
    elif op == 7:
        new = value if old == 0 or old > value else old - one
    elif op == 9:
        new = value if old == compare else old
    return new


def _single(old, value, compare, op, flushes):
    a, b = np.uint32(old).view(np.float32), np.uint32(value).view(np.float32)
    if flushes:
        a, b = flush(a), flush(b)
    total = np.float32(a + b)
    if flushes:
        total = flush(total)
    return np.float32(canonical(total)).view(np.uint32)


def _double(old, value, compare, op, option):
    a, b = np.uint64(old).view(np.float64), np.uint64(value).view(np.float64)
    total = np.float64(a + b)
    if total == total:
        return total.view(np.uint64)
    return np.float64(nan64(b, a, a)).view(np.uint64)


def _half(old, value, compare, op, infinity):
    a, b = np.uint32(old), np.uint32(value)
    if op == 0:
        return sum_f16(a, b) if infinity == 0x7C00 else sum_bf16(a, b)
    return extreme(a, b, np.uint32(infinity), op == 2)


_KERNELS = {function: specialized(_loop, function, inline="always") for function in (_integer, _single, _double, _half)}


@dataclass(frozen=True, slots=True)
class Update:
    """Atomic operation on unsigned words of dtype `word`.

    `function(old, value, compare, *options)` returns the word that replaces `old`. A value may have several words.
    """

    function: Callable[..., Any]
    word: np.dtype[Any]
    options: tuple[Any, Any]

    def apply(self, words: Array, index: Array, mask: Array, values: Array, compares: Array, out: Array) -> None:
        """Update words in memory. `compares` contains the expected words of "cas"."""
        given, expected, old = (each.view(self.word) for each in (values, compares, out))
        _KERNELS[self.function](words.view(self.word), index, mask, given, expected, old, *self.options)


def integer_update(op: str, word: np.dtype[Any], signed: bool) -> Update:
    """Return the integer operation `op`, one of `OPERATIONS`. `signed` selects signed "min" and "max"."""
    sign = word.type(1 << (word.itemsize * 8 - 1) if signed else 0)
    return Update(_integer, word, (OPERATIONS.index(op), sign))


def sum_update(word: np.dtype[Any], flush: Any) -> Update:
    """Return the operation that adds f32 or f64 numbers, which are bit patterns.

    `flush` replaces subnormal f32 numbers by zeros.
    """
    return Update(_single, word, (0, flush)) if word.itemsize == 4 else Update(_double, word, (0, False))


def half_update(op: str, fmt: Format) -> Update:
    """Return the operation "add", "min" or "max" on f16 or bf16 numbers, which are bit patterns."""
    return Update(_half, np.dtype(np.uint16), (OPERATIONS.index(op), fmt.inf_code))
