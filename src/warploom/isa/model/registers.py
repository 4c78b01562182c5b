"""Types of registers and constants that ptxas accepts for an operand of a given type.

A register that is declared as bits is legal for every type of its width. Signed and unsigned registers of one width are
interchangeable. An `f16x2` register is legal for 32-bit integers and bits.

Source: PTX ISA 5.2, 6.4, 9.4, and answers of ptxas.
"""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from warploom.isa.model.types import TYPES

DECLARABLE = (
    "pred", "b8", "u8", "s8", "b16", "u16", "s16", "f16", "b32", "u32", "s32", "f32", "f16x2",
    "b64", "u64", "s64", "f64", "b128",
)  # fmt: skip
"""Types that a `.reg` directive may declare."""

_BITS = {name: TYPES[name].bits for name in DECLARABLE}
_KINDS = {"pred": "pred", "f16x2": "f16x2", "f": "float", "b": "bits"}
_PACKED_HALVES = frozenset({"f16x2", "u16x2", "s16x2"})


@cache
def register_types(type_word: str, accepts: str = "same", implied: bool = False) -> frozenset[str]:
    """Return the declared types of the registers that are legal for an operand of a given type.

    `accepts` is the value of `RegisterConstraint.accepts`. With `implied`, no word of the opcode names the type, and an
    `f16x2` register is not legal for an integer.
    """
    width, kind = TYPES[type_word].bits, TYPES[type_word].kind
    if kind == "predicate":
        return frozenset({"pred"})
    if accepts == "bits":
        return frozenset({f"b{width}"})
    if accepts == "packed":
        return frozenset({f"b{width}", "f16x2"})
    if accepts == "wide":
        return frozenset(
            name for name in DECLARABLE if _BITS[name] >= width and _holds(name, type_word, kind, wide=True)
        )
    exact = {name for name in DECLARABLE if _BITS[name] == max(width, 8) and _holds(name, type_word, kind, wide=False)}
    return frozenset(exact - {"f16x2"} if implied and kind in ("unsigned", "signed") else exact)


def _holds(declared: str, type_word: str, kind: str, wide: bool) -> bool:
    if declared == "pred" or kind == "bits":
        return declared != "pred"
    if kind in ("unsigned", "signed"):
        return declared[0] in "bus" or declared == "f16x2"
    if wide:
        return declared == type_word or (declared[0] == "b" and declared != "b8")
    if type_word in _PACKED_HALVES:
        return declared in ("b32", "f16x2")
    return declared[0] == "b" or declared == type_word


@cache
def takes_integers(type_word: str) -> bool:
    """Return True if an integer constant is legal for an operand of type `type_word`."""
    return TYPES[type_word].kind in ("bits", "unsigned", "signed", "predicate")


@cache
def takes_floats(type_word: str, width: int | None) -> bool:
    """Return True if a floating-point constant is legal for an operand of type `type_word`.

    `width` is 32 for a constant such as 0f3F800000, 64 for 0d3FF0000000000000, and None for a decimal constant.
    """
    return type_word in ("f32", "f64", f"b{width or 64}")


def inferred_type(declared: Sequence[str], constants: Sequence[str]) -> str:
    """Return the type of a vector of registers and constants, or "" if the items cannot be in one vector.

    Item i has its register type in `declared[i]` or its constant type in `constants[i]`. The other entry is "".
    """
    items = [name or constant for name, constant in zip(declared, constants, strict=True) if name or constant]
    kinds = [_KINDS.get(name, _KINDS.get(name[0], "integer")) for name in items]
    # Bits mix with one other kind. Predicates mix only with registers of 32 bits.
    apart = any(one != other and "bits" not in (one, other) for one, other in pairwise(kinds))
    widths = {_BITS[name] for name in declared if name not in ("", "pred")}
    if not any(declared) or apart or len(widths) > 1:
        return ""
    if "pred" in items and widths - {32}:
        return ""
    if len({*items}) == 1:
        return items[0]
    return f"b{widths.pop()}"
