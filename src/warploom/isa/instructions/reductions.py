"""Reduction operations of atomic instructions and bulk copies, as NumPy functions."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from warploom.isa.model.semantics import Array
from warploom.isa.model.types import TYPES
from warploom.lazy_dataclass import dataclass
from warploom.numerics import atomics, floats, integers, packed
from warploom.numerics.formats import BF16, F16

Combine = Callable[[Array, Array], Array]
"""Function that returns the new contents of memory, given the old contents and the operand."""

HALVES = {"f16": F16, "f16x2": F16, "bf16": BF16, "bf16x2": BF16}
"""Number formats of types whose elements are 16-bit floating-point numbers."""

_BITS = ("u32", "s32", "u64")
_COMMUTING = ("add", "and", "or", "xor", "min", "max")
_OF_TENSORS = {
    "add": ("u32", "s32", "u64", "f16", "bf16", "f32", "f32.ftz", "f64", "tf32", "tf32.ftz"),
    **dict.fromkeys(("min", "max"), (*_BITS, "s64", "f16", "bf16")),
    **dict.fromkeys(("inc", "dec"), ("u32",)),
    **dict.fromkeys(("and", "or", "xor"), _BITS),
}


def tensor_map_types(op: str) -> tuple[str, ...]:
    """Return the element types that the tensor reduction `op`, such as "add", supports."""
    return _OF_TENSORS[op]


def combine_bulk(op: str, type: str) -> Combine:
    """Return the function that computes the new memory contents in a bulk reduction.

    `type` is a PTX type or an element type of tensor maps. Sums of f32 and tf32 keep subnormal numbers, except for
    f32.ftz and tf32.ftz. Sums of f64 propagate the payload of a NaN.
    """
    if (op, type) in (("add", "f32"), ("add", "tf32")):
        return floats.add
    if (op, type) == ("add", "f64"):
        return _add_doubles
    return combine(op, "f32" if type.startswith("tf32") else type.removesuffix(".ftz"))


@dataclass(frozen=True, slots=True)
class CommutativeReduction:
    """Integer reduction operation that gives the same result in any order.

    `type` is signed only if the operation depends on the sign.
    """

    operation: str
    type: str

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype of the elements."""
        return TYPES[self.type].dtype

    def merge(self, current: Array, before: Array, after: Array) -> Array:
        """Apply to `current` the operations that changed `before` into `after`, and return the result.

        Shapes: all arrays are (elements,).
        """
        if self.operation in ("add", "xor"):
            inverse = np.subtract if self.operation == "add" else np.bitwise_xor
            after = inverse(after, before)
        return combine(self.operation, self.type)(current, after)


def commutative_reduction(op: str, type: str) -> CommutativeReduction | None:
    """Return the reduction `op` of a type, or None if the result depends on the order of operations."""
    if op not in _COMMUTING:  # each inc or dec has its own bound
        return None
    element = TYPES[type.removesuffix(".ftz")]
    if element.kind not in ("bits", "unsigned", "signed"):  # sums round, a maximum keeps the last NaN
        return None
    is_signed = element.kind == "signed" and op in ("min", "max")
    return CommutativeReduction(op, f"{'s' if is_signed else 'u'}{element.bits}")


def _add_doubles(old: Array, value: Array) -> Array:
    payload = np.where(np.isnan(value), value.view(np.uint64), old.view(np.uint64)).view(np.float64)
    return np.where(np.isnan(value) | np.isnan(old), payload, floats.add(old, value))


_ANY: dict[str, Combine] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "inc": lambda old, value: np.where(old >= value, 0, old + 1).astype(old.dtype),
    "dec": lambda old, value: np.where((old == 0) | (old > value), value, old - 1).astype(old.dtype),
    "exch": lambda old, value: np.broadcast_to(value, old.shape),
}
_INTEGER: dict[str, Combine] = {"add": np.add, "min": integers.minimum, "max": integers.maximum}
_FLOAT: dict[str, Combine] = {"add": floats.add, "min": floats.minimum, "max": floats.maximum}
_HALF: dict[str, Callable[..., Array]] = {"add": packed.add, "min": packed.minimum, "max": packed.maximum}


@cache
def combine(op: str, type: str, space: str = "global") -> Combine:
    """Return the function that computes the new memory contents in a reduction.

    Sums of f32 flush subnormal numbers to zero in global memory and keep them in shared memory.

    Shapes: the old contents and the operands broadcast together. Both have the NumPy dtype of `type`.

    Source: PTX ISA 9.7.13.5, 9.7.9.25.5.
    """
    if op in _ANY:
        return _ANY[op]
    if type in HALVES:
        return partial(_HALF[op], fmt=HALVES[type])
    if TYPES[type].kind != "float":
        return _INTEGER[op]
    if (op, type) == ("add", "f32") and not space.startswith("shared"):
        return partial(floats.add, ftz=True)
    return _FLOAT[op]


def update(op: str, type: str, flush: Any) -> atomics.Update:
    """Return the atomic operation `op` on values of a type.

    `flush` replaces subnormal f32 numbers by zeros. It is True for sums in global memory (see `combine`).
    """
    if type in HALVES:
        return atomics.half_update(op, HALVES[type])
    word = np.dtype(f"u{TYPES[type].dtype.itemsize}")
    if TYPES[type].kind == "float":
        return atomics.sum_update(word, flush)
    return atomics.integer_update(op, word, TYPES[type].kind == "signed")
