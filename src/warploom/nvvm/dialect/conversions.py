"""Conversions between number formats: the operations whose names begin with nvvm.convert."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    BoolAttr,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    IntegerAttr,
    VectorType,
    bf16,
    f16,
    f32,
    i8,
    i16,
    i32,
)
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_operand_def, prop_def, result_def
from xdsl.irdl.constraints import AttrConstraint, AttrSetConstraint

from warploom.isa.instructions import convert
from warploom.isa.model.form import Form
from warploom.nvvm.dialect.attributes import Rounding, Saturation
from warploom.nvvm.dialect.intrinsic import IntrinsicOperation
from warploom.nvvm.dialect.lowering import Lowering, Registers
from warploom.nvvm.dialect.operation import operation

_FORMATS: dict[Attribute, str] = {
    Float8E4M3FNType(): "e4m3",
    Float8E5M2Type(): "e5m2",
    Float8E8M0FNUType(): "ue8m0",
    Float6E2M3FNType(): "e2m3",
    Float6E3M2FNType(): "e3m2",
    Float4E2M1FNType(): "e2m1",
}


def _formats(*words: str) -> AttrConstraint:
    return AttrSetConstraint.get(*(each for each, word in _FORMATS.items() if word in words))


_F8 = _formats("e4m3", "e5m2")
_UE8M0 = _formats("ue8m0")
_ANY_F8 = _formats("e4m3", "e5m2", "ue8m0")
_F6 = _formats("e2m3", "e3m2")
_F4 = _formats("e2m1")
_F16X2, _BF16X2, _I8X2, _I8X4, _F32X4 = (
    VectorType(element, [count]) for element, count in ((f16, 2), (bf16, 2), (i8, 2), (i8, 4), (f32, 4))
)
_PAIR = AttrSetConstraint.get(i16, _I8X2)
_FALSE = IntegerAttr.from_bool(False)
_NO_ROUNDING = Rounding("none")
_NO_SATURATION = Saturation("none")


class _Conversion(IntrinsicOperation):
    """Conversion of numbers."""

    NAMES: ClassVar[Mapping[str, str]] = {
        **IntrinsicOperation.NAMES,
        "src": "a",
        "src_hi": "a",
        "src_lo": "b",
        "res": "d",
        "dst": "d",
        "random_bits": "rbits",
        "sat": "satfinite",
    }
    NARROW: ClassVar[str] = ""
    """Modifier for the narrow format, with the number of elements: `dtypex2`."""

    def roundings(self) -> Sequence[str]:
        """Return the roundings that are possible."""
        return ("rz", "rp") if self.properties.get("dstTy") == Float8E8M0FNUType() else ("rn",)

    def check(self) -> None:
        rounding = getattr(self, "rnd", None)
        if isinstance(rounding, Rounding) and rounding.data not in (expected := self.roundings()):
            raise self.error(f"rnd is {rounding.data}; expected {' or '.join(expected)}")

    def lower(self) -> Lowering:
        slot, _, count = self.NARROW.partition("x")
        stated = self.properties.get("dstTy" if slot == "dtype" else "srcType")
        words = {} if stated is None else {slot: f"{_FORMATS[stated]}x{count}"}
        # A vector of several registers is a vector operand.
        (first, *_) = self.operands
        return Lowering([self.declared(words, **({"a": Registers([first])} if first.type == _F32X4 else {}))])


@operation("nvvm.convert.float.to.tf32", convert.TF32)
class ConvertToTf32(_Conversion):
    """Conversion of f32 to tf32."""

    src = operand_def(f32)
    rnd = prop_def(Rounding, default_value=_NO_ROUNDING)
    sat = prop_def(Saturation, default_value=_NO_SATURATION)
    relu = prop_def(BoolAttr, default_value=_FALSE)
    res = result_def(i32)
    assembly_format = "$src attr-dict"

    def roundings(self) -> Sequence[str]:
        return ("rn", "rz", "rna")


class _FloatsToHalves(_Conversion):
    src_hi = operand_def(f32)
    src_lo = operand_def(f32)
    random_bits = opt_operand_def(i32)
    rnd = prop_def(Rounding, default_value=_NO_ROUNDING)
    sat = prop_def(Saturation, default_value=_NO_SATURATION)
    relu = prop_def(BoolAttr, default_value=_FALSE)
    assembly_format = "$src_hi `,` $src_lo (`,` $random_bits^)? attr-dict `:` type($dst)"

    def roundings(self) -> Sequence[str]:
        return ("rn", "rz", "rs")

    def check(self) -> None:
        super().check()
        if (self.rnd.data == "rs") != (self.random_bits is not None):
            raise self.error("rounding rs and the operand random_bits require each other")

    def lower(self) -> Lowering:
        return Lowering([self.declared({} if self.random_bits is None else {"rnd": ""})])


class _FloatsToNarrow(_Conversion):
    NARROW: ClassVar[str] = "dtypex2"
    a = operand_def(f32)
    b = operand_def(f32)
    relu = prop_def(BoolAttr, default_value=_FALSE)
    assembly_format = "$a `,` $b attr-dict `:` type($dst) `(` $dstTy `)`"


class _HalvesToNarrow(_Conversion):
    NARROW: ClassVar[str] = "dtypex2"
    dst = result_def(_PAIR)
    assembly_format = "$a attr-dict `:` type($a) `->` type($dst) `(` $dstTy `)`"


class _NarrowToHalves(_Conversion):
    NARROW: ClassVar[str] = "atypex2"
    assembly_format = "$src attr-dict `:` type($src) `(` $srcType `)` `->` type($dst)"


class _FourFloats(_Conversion):
    NARROW: ClassVar[str] = "dtypex4"
    src = operand_def(_F32X4)
    rbits = operand_def(i32)
    relu = prop_def(BoolAttr, default_value=_FALSE)
    assembly_format = "$src `,` $rbits attr-dict `:` type($src) `->` type($dst) `(` $dstTy `)`"


def _define(
    base: type[_Conversion], name: str, forms: Sequence[Form], words: Mapping[str, str], **fields: object
) -> type[_Conversion]:
    """Define an operation with the definitions of operands, properties and results in `fields`."""
    members = {"__doc__": f"Conversion from {name.replace('.to.', ' to ')}.", "__module__": __name__, **fields}
    return operation(f"nvvm.convert.{name}", *forms, words=words)(type(name, (base,), members))


_SATURATED = {"rnd": "rn", "satfinite": "satfinite"}
_HALVES = (convert.HALVES, convert.HALVES_STOCHASTIC)
_NARROW, _WIDEN, _FOUR = [convert.NARROW], [convert.WIDEN], [convert.FOUR_STOCHASTIC]
_ROUNDED: dict[str, object] = {
    "rnd": prop_def(Rounding, default_value=_NO_ROUNDING),
    "sat": prop_def(Saturation, default_value=_NO_SATURATION),
}
_RELU: dict[str, object] = {"relu": prop_def(BoolAttr, default_value=_FALSE)}
_TO_F16: dict[str, object] = {**_RELU, "dst": result_def(_F16X2)}
_F16, _BF16 = {"dtype": "f16x2"}, {"dtype": "bf16x2"}


GENERATED = (
    _define(_FloatsToHalves, "f32x2.to.f16x2", _HALVES, _F16, dst=result_def(_F16X2)),
    _define(_FloatsToHalves, "f32x2.to.bf16x2", _HALVES, _BF16, dst=result_def(_BF16X2)),
    _define(_FloatsToNarrow, "f32x2.to.f4x2", _NARROW, _SATURATED, dstTy=prop_def(_F4), dst=result_def(i8)),
    _define(_FloatsToNarrow, "f32x2.to.f6x2", _NARROW, _SATURATED, dstTy=prop_def(_F6), dst=result_def(_PAIR)),
    _define(_FloatsToNarrow, "f32x2.to.f8x2", _NARROW, {}, **_ROUNDED, dstTy=prop_def(_ANY_F8), dst=result_def(_PAIR)),
    _define(
        _HalvesToNarrow,
        "f16x2.to.f8x2",
        [convert.NARROW_HALVES],
        {"atype": "f16x2", **_SATURATED},
        a=operand_def(_F16X2),
        **_RELU,
        dstTy=prop_def(_F8),
    ),
    _define(
        _HalvesToNarrow,
        "bf16x2.to.f8x2",
        [convert.NARROW_HALVES],
        {"atype": "bf16x2"},
        a=operand_def(_BF16X2),
        **_ROUNDED,
        dstTy=prop_def(_UE8M0),
    ),
    _define(
        _NarrowToHalves,
        "f8x2.to.bf16x2",
        _WIDEN,
        _BF16,
        src=operand_def(_I8X2),
        srcType=prop_def(_UE8M0),
        dst=result_def(_BF16X2),
    ),
    _define(_NarrowToHalves, "f8x2.to.f16x2", _WIDEN, _F16, src=operand_def(_I8X2), srcType=prop_def(_F8), **_TO_F16),
    _define(_NarrowToHalves, "f6x2.to.f16x2", _WIDEN, _F16, src=operand_def(_I8X2), srcType=prop_def(_F6), **_TO_F16),
    _define(_NarrowToHalves, "f4x2.to.f16x2", _WIDEN, _F16, src=operand_def(i8), srcType=prop_def(_F4), **_TO_F16),
    _define(_FourFloats, "f32x4.to.f8x4", _FOUR, {}, dstTy=prop_def(_F8), dst=result_def(_I8X4)),
    _define(_FourFloats, "f32x4.to.f6x4", _FOUR, {}, dstTy=prop_def(_F6), dst=result_def(_I8X4)),
    _define(_FourFloats, "f32x4.to.f4x4", _FOUR, {}, dstTy=prop_def(_F4), dst=result_def(i16)),
)
"""Conversions of several numbers."""
