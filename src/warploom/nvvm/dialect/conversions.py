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
    """Conversion of two f32 numbers to 16 bits each, with random bits for stochastic rounding."""

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


@operation("nvvm.convert.f32x2.to.f16x2", convert.HALVES, convert.HALVES_STOCHASTIC, words={"dtype": "f16x2"})
class ConvertFloatsToF16(_FloatsToHalves):
    """Conversion of two f32 numbers to f16."""

    dst = result_def(_F16X2)


@operation("nvvm.convert.f32x2.to.bf16x2", convert.HALVES, convert.HALVES_STOCHASTIC, words={"dtype": "bf16x2"})
class ConvertFloatsToBf16(_FloatsToHalves):
    """Conversion of two f32 numbers to bf16."""

    dst = result_def(_BF16X2)


class _FloatsToNarrow(_Conversion):
    """Conversion of two f32 numbers to a narrow format."""

    NARROW: ClassVar[str] = "dtypex2"
    a = operand_def(f32)
    b = operand_def(f32)
    relu = prop_def(BoolAttr, default_value=_FALSE)
    assembly_format = "$a `,` $b attr-dict `:` type($dst) `(` $dstTy `)`"


_SATURATED = {"rnd": "rn", "satfinite": "satfinite"}


@operation("nvvm.convert.f32x2.to.f4x2", convert.NARROW, words=_SATURATED)
class ConvertFloatsToF4(_FloatsToNarrow):
    """Conversion of two f32 numbers to a format of 4 bits."""

    dstTy = prop_def(_F4)
    dst = result_def(i8)


@operation("nvvm.convert.f32x2.to.f6x2", convert.NARROW, words=_SATURATED)
class ConvertFloatsToF6(_FloatsToNarrow):
    """Conversion of two f32 numbers to a format of 6 bits."""

    dstTy = prop_def(_F6)
    dst = result_def(_PAIR)


@operation("nvvm.convert.f32x2.to.f8x2", convert.NARROW)
class ConvertFloatsToF8(_FloatsToNarrow):
    """Conversion of two f32 numbers to a format of 8 bits."""

    rnd = prop_def(Rounding, default_value=_NO_ROUNDING)
    sat = prop_def(Saturation, default_value=_NO_SATURATION)
    dstTy = prop_def(_formats("e4m3", "e5m2", "ue8m0"))
    dst = result_def(_PAIR)


_FROM_HALVES = "$a attr-dict `:` type($a) `->` type($dst) `(` $dstTy `)`"


@operation("nvvm.convert.f16x2.to.f8x2", convert.NARROW_HALVES, words={"atype": "f16x2", **_SATURATED})
class ConvertF16ToF8(_Conversion):
    """Conversion of two f16 numbers to a format of 8 bits."""

    NARROW: ClassVar[str] = "dtypex2"
    a = operand_def(_F16X2)
    relu = prop_def(BoolAttr, default_value=_FALSE)
    dstTy = prop_def(_F8)
    dst = result_def(_PAIR)
    assembly_format = _FROM_HALVES


@operation("nvvm.convert.bf16x2.to.f8x2", convert.NARROW_HALVES, words={"atype": "bf16x2"})
class ConvertBf16ToF8(_Conversion):
    """Conversion of two bf16 numbers to a format of 8 bits."""

    NARROW: ClassVar[str] = "dtypex2"
    a = operand_def(_BF16X2)
    rnd = prop_def(Rounding, default_value=_NO_ROUNDING)
    sat = prop_def(Saturation, default_value=_NO_SATURATION)
    dstTy = prop_def(_formats("ue8m0"))
    dst = result_def(_PAIR)
    assembly_format = _FROM_HALVES


class _Widening(_Conversion):
    """Conversion of two numbers of a narrow format to 16 bits each."""

    NARROW: ClassVar[str] = "atypex2"
    assembly_format = "$src attr-dict `:` type($src) `(` $srcType `)` `->` type($dst)"


@operation("nvvm.convert.f8x2.to.bf16x2", convert.WIDEN, words={"dtype": "bf16x2"})
class ConvertF8ToBf16(_Widening):
    """Conversion of two numbers of 8 bits to bf16."""

    src = operand_def(_I8X2)
    srcType = prop_def(_formats("ue8m0"))
    dst = result_def(_BF16X2)


class _WideningToF16(_Widening):
    relu = prop_def(BoolAttr, default_value=_FALSE)
    dst = result_def(_F16X2)


@operation("nvvm.convert.f8x2.to.f16x2", convert.WIDEN, words={"dtype": "f16x2"})
class ConvertF8ToF16(_WideningToF16):
    """Conversion of two numbers of 8 bits to f16."""

    src = operand_def(_I8X2)
    srcType = prop_def(_F8)


@operation("nvvm.convert.f6x2.to.f16x2", convert.WIDEN, words={"dtype": "f16x2"})
class ConvertF6ToF16(_WideningToF16):
    """Conversion of two numbers of 6 bits to f16."""

    src = operand_def(_I8X2)
    srcType = prop_def(_F6)


@operation("nvvm.convert.f4x2.to.f16x2", convert.WIDEN, words={"dtype": "f16x2"})
class ConvertF4ToF16(_WideningToF16):
    """Conversion of two numbers of 4 bits to f16."""

    src = operand_def(i8)
    srcType = prop_def(_F4)


class _FourFloats(_Conversion):
    """Conversion of four f32 numbers to a narrow format with stochastic rounding by random bits."""

    NARROW: ClassVar[str] = "dtypex4"
    src = operand_def(_F32X4)
    rbits = operand_def(i32)
    relu = prop_def(BoolAttr, default_value=_FALSE)
    assembly_format = "$src `,` $rbits attr-dict `:` type($src) `->` type($dst) `(` $dstTy `)`"


@operation("nvvm.convert.f32x4.to.f8x4", convert.FOUR_STOCHASTIC)
class ConvertFourFloatsToF8(_FourFloats):
    """Conversion of four f32 numbers to a format of 8 bits with stochastic rounding."""

    dstTy = prop_def(_F8)
    dst = result_def(_I8X4)


@operation("nvvm.convert.f32x4.to.f6x4", convert.FOUR_STOCHASTIC)
class ConvertFourFloatsToF6(_FourFloats):
    """Conversion of four f32 numbers to a format of 6 bits with stochastic rounding."""

    dstTy = prop_def(_F6)
    dst = result_def(_I8X4)


@operation("nvvm.convert.f32x4.to.f4x4", convert.FOUR_STOCHASTIC)
class ConvertFourFloatsToF4(_FourFloats):
    """Conversion of four f32 numbers to a format of 4 bits with stochastic rounding."""

    dstTy = prop_def(_F4)
    dst = result_def(i16)
