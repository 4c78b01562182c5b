"""Conversions between number formats: the operations whose names begin with nvvm.convert."""

from collections.abc import Mapping, Sequence

from warploom.isa.instructions import convert
from warploom.isa.model.form import Form
from warploom.nvvm.dialect.fields import FORMATS
from warploom.nvvm.dialect.lowering import Lowering, Registers
from warploom.nvvm.dialect.operation import NO_WORDS, Operation, operation

_ROUNDED, _RELU = "rnd: fp_rnd_mode = none, sat as satfinite: sat_mode = none", "relu: bool = 0"
_TO_NARROW, _TO_HALVES = "type($dst) `(` $dstTy `)`", "$src attr-dict `:` type($src) `(` $srcType `)` `->` type($dst)"
_SATURATED = {"rnd": "rn", "satfinite": "satfinite"}
_F16, _BF16 = {"dtype": "f16x2"}, {"dtype": "bf16x2"}


def _lower(op: Operation) -> Lowering:
    words: dict[str, str] = {}
    # The modifier for a narrow format states the number of elements.
    count = 4 if op.text("src") == "vector<4xf32>" else 2
    for slot, name in (("dtype", "dstTy"), ("atype", "srcType")):
        if name in op.properties:
            words[slot] = f"{FORMATS[op.properties[name]]}x{count}"
    if op.has("random_bits"):
        words["rnd"] = ""
    return op.instruction(words, **({"a": Registers([op.value("src")])} if count == 4 else {}))


def _convert(
    signature: str, forms: Sequence[Form], syntax: str, words: Mapping[str, str] = NO_WORDS, rules: str = ""
) -> type[Operation]:
    description = f"Conversion from {signature.partition('(')[0].replace('.to.', ' to ')}."
    return operation(
        f"nvvm.convert.{signature}", description, *forms, syntax=syntax, words=words, rules=rules, lower=_lower
    )


ConvertToTf32 = operation(
    f"nvvm.convert.float.to.tf32(src as a: f32, {_ROUNDED}, {_RELU}) -> res as d: i32",
    "Conversion of f32 to tf32.",
    convert.TF32,
    syntax="$src attr-dict",
    rules="rnd!=rn|rz|rna: rnd is {rnd}; expected rn or rz or rna",
)


def _halves(element: str) -> type[Operation]:
    return _convert(
        f"f32x2.to.{element}x2(src_hi as a: f32, src_lo as b: f32, random_bits as rbits?: i32, {_ROUNDED}, {_RELU})"
        f" -> dst as d: {element}x2",
        [convert.HALVES, convert.HALVES_STOCHASTIC],
        "$src_hi `,` $src_lo (`,` $random_bits^)? attr-dict `:` type($dst)",
        {"dtype": f"{element}x2"},
        """
        rnd!=rn|rz|rs: rnd is {rnd}; expected rn or rz or rs
        rnd=rs !random_bits: rnd is rs; expected the operand random_bits
        rnd!=rs random_bits: rnd is {rnd} and random_bits is present; expected rnd rs
        """,
    )


def _floats(signature: str, words: Mapping[str, str] = NO_WORDS, rules: str = "") -> type[Operation]:
    return _convert(f"f32x2.to.{signature}", [convert.NARROW], f"$a `,` $b attr-dict `:` {_TO_NARROW}", words, rules)


def _from_halves(signature: str, words: Mapping[str, str], rules: str = "") -> type[Operation]:
    syntax = f"$a attr-dict `:` type($a) `->` {_TO_NARROW}"
    return _convert(signature, [convert.NARROW_HALVES], syntax, words, rules)


def _four(signature: str) -> type[Operation]:
    syntax = f"$src `,` $rbits attr-dict `:` type($src) `->` {_TO_NARROW}"
    return _convert(f"f32x4.to.{signature}", [convert.FOUR_STOCHASTIC], syntax)


GENERATED = (
    _halves("f16"),
    _halves("bf16"),
    _floats(f"f4x2(a: f32, b: f32, dstTy: format e2m1, {_RELU}) -> dst as d: i8", _SATURATED),
    _floats(f"f6x2(a: f32, b: f32, dstTy: format e2m3|e3m2, {_RELU}) -> dst as d: i16|i8x2", _SATURATED),
    _floats(
        f"f8x2(a: f32, b: f32, {_ROUNDED}, dstTy: format e4m3|e5m2|ue8m0, {_RELU}) -> dst as d: i16|i8x2",
        rules="""
        dstTy=f8E8M0FNU rnd!=rz|rp: rnd is {rnd}; expected rz or rp
        dstTy!=f8E8M0FNU rnd!=rn: rnd is {rnd}; expected rn
        """,
    ),
    _from_halves(
        f"f16x2.to.f8x2(a: f16x2, {_RELU}, dstTy: format e4m3|e5m2) -> dst as d: i16|i8x2",
        {"atype": "f16x2", **_SATURATED},
    ),
    _from_halves(
        f"bf16x2.to.f8x2(a: bf16x2, {_ROUNDED}, dstTy: format ue8m0) -> dst as d: i16|i8x2",
        {"atype": "bf16x2"},
        "rnd!=rz|rp: rnd is {rnd}; expected rz or rp",
    ),
    *(
        _convert(signature, [convert.WIDEN], _TO_HALVES, words)
        for signature, words in (
            ("f8x2.to.bf16x2(src as a: i8x2, srcType: format ue8m0) -> dst as d: bf16x2", _BF16),
            (f"f8x2.to.f16x2(src as a: i8x2, srcType: format e4m3|e5m2, {_RELU}) -> dst as d: f16x2", _F16),
            (f"f6x2.to.f16x2(src as a: i8x2, srcType: format e2m3|e3m2, {_RELU}) -> dst as d: f16x2", _F16),
            (f"f4x2.to.f16x2(src as a: i8, srcType: format e2m1, {_RELU}) -> dst as d: f16x2", _F16),
        )
    ),
    _four(f"f8x4(src as a: f32x4, rbits: i32, dstTy: format e4m3|e5m2, {_RELU}) -> dst as d: i8x4"),
    _four(f"f6x4(src as a: f32x4, rbits: i32, dstTy: format e2m3|e3m2, {_RELU}) -> dst as d: i8x4"),
    _four(f"f4x4(src as a: f32x4, rbits: i32, dstTy: format e2m1, {_RELU}) -> dst as d: i16"),
)
"""Conversions of several numbers."""
