"""Packed words of a tcgen05 multiplication: modifiers, collector mode, and scaled operands."""

from warploom.nvvm.packed.fields import Field, PackedWord, Values

KINDS = {0: "mxf4nvf4", 1: "f8f6f4", 2: "mxf8f6f4", 3: "f16", 4: "i8", 5: "tf32", 7: "mxf4"}
GROUPS = {0: "cta_group::1", 1: "cta_group::2"}
VECTORS = {0: "", 1: "scale_vec::1X", 2: "scale_vec::2X", 3: "scale_vec::4X"}
BLOCKS = {0: "block16", 1: "block32"}
COLLECTORS = {0: "", 1: "collector::a::lastuse", 2: "collector::a::fill", 3: "collector::a::use"}

_FP4 = ("mxf4", "mxf4nvf4")
_SCALED = (*_FP4, "mxf8f6f4")
_VECTORS_OF = {
    "mxf4": (("scale_vec::1X", "scale_vec::4X"), "Cannot use 1X or 4X as scale vector size for mxf4 type"),
    "mxf8f6f4": (("scale_vec::2X", "scale_vec::4X"), "Cannot use 2X or 4X as scale vector size for mxf8f6f4 type"),
    "mxf4nvf4": (("scale_vec::1X",), "Cannot use 1X as scale vector size for mxf4nvf4 type"),
}
"""Illegal scale vector sizes of each kind, and the compiler's message."""


def _stationary(values: Values) -> str:
    if not values["ws"]:
        return ""
    if values["cta_group"] == "cta_group::2":
        return "cta_group::2 is not supported with weight stationary"
    if values["kind"] in _SCALED:
        return "Cannot use weight stationary with mxf8f6f4 and fp4 types"
    return ""


def _scales(values: Values) -> str:
    kind, size = values["kind"], values["scale_vec"]
    sizes, message = _VECTORS_OF.get(str(kind), ((), ""))
    if size in sizes:
        return message
    if not sizes and (size or values["block"] != BLOCKS[0]):
        return "Block scale is not supported for f16, tf32, f8f6f4 and i8 types"
    if values["scale_input_d"] and kind not in ("f16", "tf32"):
        return "Scale input accumulator can only be used with f16 and tf32 types"
    return ""


MODIFIERS = PackedWord(
    "tcgen05",
    "the modifier word of a tcgen05 multiplication",
    11,
    (
        Field("ws", 0, 1, description="weight stationary"),
        Field("cta_group", 1, 1, GROUPS, "number of CTAs"),
        Field("scale_vec", 2, 2, VECTORS, "scales of a row, by kind"),
        Field("scale_input_d", 4, 1, description="D is scaled before it is added to"),
        Field("sparse", 5, 1, description="A is 2:4 sparse"),
        Field("kind", 6, 3, KINDS, "kind of multiplication"),
        Field("block", 9, 2, BLOCKS, "elements of a scale: another spelling of scale_vec"),
    ),
    rules=(_stationary, _scales),
    source="cicc: tcgen05 Blackwell Overview",
)

COLLECTOR = PackedWord(
    "collector",
    "the collector mode of a tcgen05 multiplication",
    3,
    (
        Field("collector", 0, 2, COLLECTORS, "use of the collector buffer of A"),
        Field("ashift", 2, 1, description="A is shifted by one row"),
    ),
    rules=(
        lambda values: (
            "Cannot use collector::a::use or colletor::a::fill with ashift"
            if values["ashift"] and values["collector"] in ("collector::a::use", "collector::a::fill")
            else ""
        ),
    ),
    source="cicc: tcgen05 Blackwell Overview",
)
"""Word of the collector modes. The text does not state the bit of `ashift`; bit 2 is an assumption."""

SCALED = PackedWord(
    "scaled",
    "the operands of a scaled tcgen05 multiplication",
    5,
    (
        Field("scaleD", 0, 1, {0: "0", 1: "1"}, "1 adds the product to D"),
        Field("negA", 1, 1, {0: "1", 1: "-1"}, "the factor of A"),
        Field("negB", 2, 1, {0: "1", 1: "-1"}, "the factor of B"),
        Field("transA", 3, 1, {0: "0", 1: "1"}, "1 transposes A"),
        Field("transB", 4, 1, {0: "0", 1: "1"}, "1 transposes B"),
    ),
    source="cicc: tcgen05 scaled MMA operand builder",
)
"""Word of the operands. A negation is the factor `1` or `-1`, any other field a boolean."""
