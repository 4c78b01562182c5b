"""Which declared registers, and which constants, a place takes: the rules that assemblers share.

A place asks for a type; what is declared need not be that type. Bits stand for anything of their width,
integers of one width for each other, and `f16x2` for 32 bits. Loads, stores and most conversions also take
registers wider than the value.

Source: PTX ISA 5.2, 6.4, 9.4, and assemblers asked
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
"""The types that a register may be declared with."""

_BITS = {name: 128 if name == "b128" else TYPES[name].bits for name in DECLARABLE}
_ONLY_BITS = frozenset({"bf16", "bf16x2", "tf32", "f32x2"})
_PACKED_HALVES = frozenset({"f16x2", "u16x2", "s16x2"})


@cache
def holders(type_word: str, accepts: str = "same", implied: bool = False) -> frozenset[str]:
    """The declared types of the registers that can stand where a type is asked for.

    `accepts` is that of the place; `implied` where the opcode does not name the type: `f16x2` is then no integer.
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
    """Whether an integer constant may stand where a type is asked for."""
    return type_word == "b128" or TYPES[type_word].kind in ("bits", "unsigned", "signed", "predicate")


@cache
def takes_floats(type_word: str, width: int | None) -> bool:
    """Whether a floating constant may: a number where f32 or f64 is asked for, its bits where b32 or b64
    is.
    """
    if type_word in ("f32", "f64"):
        return True
    return type_word == f"b{width or 64}"


def inferred_type(declared: Sequence[str], constants: Sequence[str]) -> str:
    """The type of a vector of registers and constants, item by item; "" where they do not go together.

    Beside each other, integers, floats, `f16x2` and predicates do not mix; bits go with any one of them, and
    predicates with those of 32 alone. Registers have one width. What is not all of one type is bits.
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
