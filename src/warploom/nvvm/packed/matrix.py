"""Descriptor words of 64 bits that cicc passes to the intrinsics of warp-level matrix builtins.

Source: cicc, Packed MMA Descriptor Word
"""

from warploom.nvvm.packed.fields import Field, PackedWord, Values


def _numbered(words: str, first: int = 0) -> dict[int, str]:
    """Return the words of a text by consecutive numbers from `first`. `-` is the empty word."""
    return {number: word.strip("-") for number, word in enumerate(words.split(), first)}


SHAPES = _numbered("m8n8k4 m8n8k16 m8n8k32 m8n8k64 m8n8k128 m8n32k16", 0x01) | _numbered(
    "m16n8k4 m16n8k8 m16n8k16 m16n8k32 m16n8k64 m16n8k128 m16n8k256 m16n16k16 m32n8k16 m16n16k8", 0x10
)
TYPES = _numbered("b1 s4 u4 s8 u8 f16 bf16 tf32 f64 f32 s32", 1)
MATRICES = _numbered("a b c d")
OPERATIONS = _numbered("- and.popc xor.popc")
ROUNDINGS = _numbered("- rn rm rp rz")
LAYOUTS = _numbered("row col")
MMA_LAYOUTS = _numbered("- row col")
WRONG_TYPE = "Wrong MMA element type"
"""Message of the compiler for an illegal element type."""


def _modifiers_fit_types(values: Values) -> str:
    a, b = values["aty"], values["bty"]
    if values["opc"] and (a, b) != ("b1", "b1"):
        return f"its opc is {values['opc']}, which is for b1; its aty and bty are {a}, {b}"
    if values["rnd"] and a != "f64":
        return f"its rnd is {values['rnd']}, which is for f64; its aty is {a}"
    if values["satf"] and a in ("b1", "f64", "tf32", "bf16"):
        return f"its satf is 1, which is for f16 and integers; its aty is {a}"
    return ""


# The table in the text is the union of both words, so its `rowcol` and `mid` overlap `rnd`.
MMA = PackedWord(
    "mma",
    "the descriptor word of a multiplication",
    64,
    (
        Field("rnd", 0, 3, ROUNDINGS, "rounding of f64 sums"),
        Field("opc", 4, 4, OPERATIONS, "operation on single bits"),
        Field("aty", 8, 8, TYPES, "element type of A", WRONG_TYPE),
        Field("bty", 16, 8, TYPES, "element type of B", WRONG_TYPE),
        Field("al", 24, 2, MMA_LAYOUTS, "layout of A"),
        Field("bl", 26, 2, MMA_LAYOUTS, "layout of B"),
        Field("satf", 28, 1, description="1 saturates to the finite range"),
        Field("shape", 32, 8, SHAPES, "the shape"),
    ),
    rules=(_modifiers_fit_types,),
    source="cicc: Packed MMA Descriptor Word",
)

# The tables "WGMMA fence" and "WGMMA MMA async load" list both words under other names.
MOVE = PackedWord(
    "move",
    "the descriptor word of a matrix load or store",
    64,
    (
        Field("rowcol", 0, 1, LAYOUTS, "layout of the matrix in memory"),
        Field("mid", 1, 2, MATRICES, "matrix of the multiplication"),
        Field("type", 4, 8, TYPES, "element type", WRONG_TYPE),
        Field("shape", 32, 8, SHAPES, "the shape"),
    ),
    source="cicc: Packed MMA Descriptor Word; WGMMA MMA Async Load",
)

CONFIG = PackedWord(
    "config",
    "the configuration word of a warpgroup multiplication",
    5,
    (
        Field("scale_d", 0, 1, description="1 adds the product to D, 0 overwrites D"),
        Field("trans_b", 1, 1, description="1 reads B with N innermost (f16 and bf16)"),
        Field("neg_b", 2, 1, description="1 negates B"),
        Field("trans_a", 3, 1, description="1 reads A with M innermost (f16 and bf16, A behind a descriptor)"),
        Field("neg_a", 4, 1, description="1 negates A"),
    ),
    source="cicc: WGMMA Config Bit Packing",
)
"""Word of a warpgroup multiplication's booleans.

The reference text guesses the names of the bits and uses two names twice. The order of the bits is from the text. The
name of a bit states the effect of its boolean in the real compiler.
"""
