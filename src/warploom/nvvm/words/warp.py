"""The words of warp-level matrix builtins: the 64-bit descriptor that loads, stores and multiplications carry.

The text has one table of fields, in which `rowcol` and `mid` lie over `rnd`: no word has them all. A
multiplication carries `MMA`; a load or a store carries `MOVE`. The text's two tables headed "WGMMA fence" and
"WGMMA MMA async load" are the same two words again: their entries, by builtin, are those of the builtins of SM 80,
and their columns are this module's fields under other names (see `texts`).
"""

from __future__ import annotations

from warploom.nvvm.words.enums import (
    LAYOUTS,
    MATRICES,
    MMA_LAYOUTS,
    OPERATIONS,
    ROUNDINGS,
    SHAPES,
    TYPES,
)
from warploom.nvvm.words.kit import Field, Values, Word

WRONG_TYPE = "Wrong MMA element type"
"""What the compiler ends with on an element type that is none."""


def _operation_has_bits(values: Values) -> str:
    """Only single bits are combined by and, or, exclusive or."""
    if values["opc"] and (values["aty"], values["bty"]) != ("b1", "b1"):
        return f"its opc is {values['opc']}, which is for b1; its aty and bty are {values['aty']}, {values['bty']}"
    return ""


def _rounding_has_f64(values: Values) -> str:
    if values["rnd"] and values["aty"] != "f64":
        return f"its rnd is {values['rnd']}, which is for f64; its aty is {values['aty']}"
    return ""


def _satfinite_has_integers(values: Values) -> str:
    if values["satf"] and values["aty"] in ("b1", "f64", "tf32", "bf16"):
        return f"its satf is 1, which is for f16 and integers; its aty is {values['aty']}"
    return ""


MMA = Word(
    "mma",
    "the descriptor word of a multiplication",
    64,
    (
        Field("rnd", 0, 3, ROUNDINGS, "how f64 sums round"),
        Field("opc", 4, 4, OPERATIONS, "what is done with single bits"),
        Field("aty", 8, 8, TYPES, "element type of A", WRONG_TYPE),
        Field("bty", 16, 8, TYPES, "element type of B", WRONG_TYPE),
        Field("al", 24, 2, MMA_LAYOUTS, "layout of A"),
        Field("bl", 26, 2, MMA_LAYOUTS, "layout of B"),
        Field("satf", 28, 1, meaning="1 saturates to the finite range"),
        Field("shape", 32, 8, SHAPES, "the shape"),
    ),
    rules=(_operation_has_bits, _rounding_has_f64, _satfinite_has_integers),
    source="cicc: Packed MMA Descriptor Word",
)

MOVE = Word(
    "move",
    "the descriptor word of a matrix load or store",
    64,
    (
        Field("rowcol", 0, 1, LAYOUTS, "how the matrix lies in memory"),
        Field("mid", 1, 2, MATRICES, "which matrix of the multiplication it is"),
        Field("type", 4, 8, TYPES, "element type", WRONG_TYPE),
        Field("shape", 32, 8, SHAPES, "the shape"),
    ),
    source="cicc: Packed MMA Descriptor Word; WGMMA MMA Async Load",
)
