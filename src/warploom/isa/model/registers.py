"""Types of registers and constants that an operand of a type accepts, by the rules of assemblers.

Bits stand for every type of their width, integers of one width for each other, and `f16x2` for 32 bits. Loads, stores
and most conversions also accept registers wider than the value.

Source: PTX ISA 5.2, 6.4, 9.4, and answers of ptxas.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from warploom.isa.model.types import TYPES

DECLARABLE = (
    "pred", "b8", "u8", "s8", "b16", "u16", "s16", "f16", "b32", "u32", "s32", "f32", "f16x2",
    "b64", "u64", "s64", "f64", "b128",
)  # fmt: skip
"""Types that a register may be declared with."""

_BITS = {name: 128 if name == "b128" else TYPES[name].bits for name in DECLARABLE}
_ONLY_BITS = frozenset({"bf16", "bf16x2", "tf32", "f32x2"})
_PACKED_HALVES = frozenset({"f16x2", "u16x2", "s16x2"})


@cache
def register_types(type_word: str, accepts: str = "same", implied: bool = False) -> frozenset[str]:
    """Return the declared types of the registers that are legal for an operand of a type.

    `accepts` is that of the operand's `RegisterConstraint`. `implied` is True if the opcode does not name the type;
    then `f16x2` does not stand for an integer.
    """
    width = 128 if type_word == "b128" else TYPES[type_word].bits
    kind = "bits" if type_word == "b128" else TYPES[type_word].kind
    if kind == "predicate":
        return frozenset({"pred"})
    if accepts == "bits":
        return frozenset({f"b{width}"})
    if accepts == "wide":
        return frozenset(name for name in DECLARABLE if _BITS[name] >= width and _widely(type_word, kind, name))
    exact = {name for name in DECLARABLE if _BITS[name] == max(width, 8) and _exactly(type_word, kind, name)}
    return frozenset(exact - {"f16x2"} if implied and kind in ("unsigned", "signed") else exact)


def _exactly(type_word: str, kind: str, declared: str) -> bool:
    if declared == "pred":
        return False
    if kind == "bits":
        return True
    if kind in ("unsigned", "signed"):
        return declared[0] in "bus" or declared == "f16x2"
    if type_word in _PACKED_HALVES:
        return declared in ("b32", "f16x2")
    if type_word in _ONLY_BITS or kind == "packed":
        return declared[0] == "b"
    return declared[0] == "b" or declared == type_word


def _widely(type_word: str, kind: str, declared: str) -> bool:
    if declared == "pred":
        return False
    if kind == "bits":
        return True
    if kind in ("unsigned", "signed"):
        return declared[0] in "bus" or declared == "f16x2"
    return declared == type_word or (declared[0] == "b" and declared != "b8")


@cache
def takes_integers(type_word: str) -> bool:
    """Return True if an integer constant is legal for an operand of a type."""
    return type_word == "b128" or TYPES[type_word].kind in ("bits", "unsigned", "signed", "predicate")


@cache
def takes_floats(type_word: str, width: int | None) -> bool:
    """Return True if a floating-point constant is legal for an operand of a type.

    A constant of `width` bits is a number for f32 and f64, and a bit pattern for b32 and b64.
    """
    if type_word in ("f32", "f64"):
        return True
    return type_word == f"b{width or 64}"


def inferred_type(declared: Sequence[str], constants: Sequence[str]) -> str:
    """Return the type of a vector of registers and constants, or "" if the items cannot be in one vector.

    Integers, floats, `f16x2` and predicates do not mix. Bits mix with one of them. Predicates mix with bits of 32 only.
    All registers have one width. A vector of mixed types has the type of bits.
    """
    items = [name or constant for name, constant in zip(declared, constants, strict=True) if name or constant]
    kinds = [_kind(name) for name in items]
    apart = any(one != other and "bits" not in (one, other) for one, other in pairwise(kinds))
    widths = {_BITS[name] for name in declared if name not in ("", "pred")}
    if not any(declared) or apart or len(widths) > 1:
        return ""
    if "pred" in items and widths - {32}:
        return ""
    if len({*items}) == 1:
        return items[0]
    return f"b{widths.pop()}"


def _kind(declared: str) -> str:
    if declared in ("pred", "f16x2"):
        return declared
    return {"f": "float", "b": "bits"}.get(declared[0], "integer")
