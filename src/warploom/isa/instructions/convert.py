"""Conversions between number types, including pairs and quadruples of narrow formats.

Source: PTX ISA 9.7.9.21, 9.7.9.22.
"""

from warploom.isa.model.effects import Flow
from warploom.isa.model.form import Form
from warploom.isa.model.lanewise import Word
from warploom.isa.model.operands import Accepts, Slots, inp, out
from warploom.numerics import convert, lanes, packed
from warploom.numerics.formats import BF16, FORMATS, element_format
from warploom.numerics.lanes import Lane


def _wide_or_same(slots: Slots) -> Accepts:
    """Accept wider registers, except for conversions from or to bf16."""
    return "same" if any(word.startswith("bf16") for word in slots.values()) else "wide"


def _coded_or_same(slots: Slots) -> Accepts:
    """Accept float constants only as bit patterns for the rounding rna."""
    return "coded" if slots["rnd"] == "rna" else "same"


_RESULT = out("dtype", accepts=_wide_or_same)
_FLOAT = inp("f32", accepts=_wide_or_same)
_RANDOM_BITS = inp("b32", accepts="bits")
_SCALE = inp("b16", when="scaling", accepts="bits")
_INTEGER = inp("s32", accepts="wide")
_FIXED_POINT = "sm_100a,sm_103a,sm_107a,sm_110a,sm_120a,sm_121a"
"""Targets that convert to and from the format s2f6."""

INTEGER = Form(
    name="convert.integer",
    syntax="cvt{.sat}.dtype.atype  d, a;",
    rows="""
        sat    dtype                            atype
        -      u8,u16,u32,u64,s8,s16,s32,s64    u8,u16,u32,u64,s8,s16,s32,s64
        sat    s8                               u8
        sat    u8,s8,s16                        u16
        sat    u8,u16,s8,s16,s32                u32
        sat    u8,u16,u32,s8,s16,s32,s64        u64
        sat    u8,u16,u32,u64                   s8
        sat    u8,u16,u32,u64,s8                s16
        sat    u8,u16,u32,u64,s8,s16            s32
        sat    u8,u16,u32,u64,s8,s16,s32        s64
    """,
    operands={"d": out("dtype", accepts="wide"), "a": inp("atype", accepts="wide", allows=("special",))},
    effects=(Flow(address=("a",)),),
    source="PTX ISA 9.7.9.21",
)
INTEGER.describe(
    "Converts between integer types by truncation or extension; `.sat` clamps to the range of the result. Use it"
    " to change the width or the sign of integers.",
    "cvt.sat.u8.s32 %r0, %r1;",
)

CVT = Form(
    name="convert.cvt",
    syntax="cvt{.rnd}{.ftz}{.sat}.dtype.atype  d, a;",
    rows="""
        rnd                ftz    sat    dtype                            atype                            ptx  target
        rni,rzi,rmi,rpi    -      -,sat  u8,u16,u32,u64,s8,s16,s32,s64    f16,f64                          1.0  -
        rni,rzi,rmi,rpi    -,ftz  -,sat  u8,u16,u32,u64,s8,s16,s32,s64    f32                              1.0  -
        rni,rzi,rmi,rpi    -      -      u8,u16,u32,u64,s8,s16,s32,s64    bf16                             7.8  sm_90
        rn,rz,rm,rp        -      -,sat  f16,f64                          u8,u16,u32,u64,s8,s16,s32,s64    1.0  -
        rn,rz,rm,rp        -,ftz  -,sat  f32                              u8,u16,u32,u64,s8,s16,s32,s64    1.0  -
        rn,rz,rm,rp        -      -      bf16                             u8,u16,u32,u64,s8,s16,s32,s64    7.8  sm_90
        -,rni,rzi,rmi,rpi  -      -,sat  f16                              f16                              1.0  -
        -,rni,rzi,rmi,rpi  -,ftz  -,sat  f32                              f32                              1.0  -
        -,rni,rzi,rmi,rpi  -      -,sat  f64                              f64                              1.0  -
        -,rni,rzi,rmi,rpi  -      -      bf16                             bf16                             7.8  sm_90
        -                  -,ftz  -,sat  f32                              f16                              1.0  -
        -                  -,ftz  -,sat  f64                              f32                              1.0  -
        -                  -      -,sat  f64                              f16                              1.0  -
        -,rn,rz,rm,rp      -      -      f32                              bf16                             7.1  sm_80
        -,rn,rz,rm,rp      ftz    -      f32                              bf16                             7.8  sm_90
        -,rn,rz,rm,rp      -      -      f64                              bf16                             7.8  sm_90
        rn,rz,rm,rp        -      -,sat  f16                              f64                              1.0  -
        rn,rz,rm,rp        -,ftz  -,sat  f16                              f32                              1.0  -
        rn,rz,rm,rp        -,ftz  -,sat  f32                              f64                              1.0  -
        rn,rz,rm,rp        -,ftz  -      bf16                             f32                              7.0  sm_80
        rn,rz,rm,rp        -      -      bf16                             f64                              7.8  sm_90
        -,rn,rz,rm,rp      -      -      f16                              bf16                             7.8  sm_90
        -,rn,rz,rm,rp      -      -      bf16                             f16                              7.8  sm_90
    """,
    operands={"d": _RESULT, "a": inp("atype", accepts=_wide_or_same)},
    source="PTX ISA 9.7.9.21",
)
CVT.describe(
    "Converts between integers and floating-point numbers, and between floating-point formats, with the stated"
    " rounding. Use an integer rounding (`.rzi`) for integer results, and a rounding (`.rn`) for inexact"
    " floating-point results.",
    "cvt.rn.f32.s32 %f0, %r0;",
)


@INTEGER.semantics
def integer(sat: Word, dtype: Word, atype: Word, a: Lane) -> Lane:
    return convert.convert(a, atype, dtype, "", sat=bool(sat))


@CVT.semantics
def cvt(rnd: Word, ftz: Word, sat: Word, dtype: Word, atype: Word, a: Lane) -> Lane:
    return convert.convert(a, atype, dtype, rnd, ftz=bool(ftz), sat=bool(sat))


HALF = Form(
    name="convert.half",
    syntax="cvt.rnd{.relu}{.satfinite}.dtype.f32  d, a;",
    rows="""
        rnd    relu    satfinite  dtype     ptx  target
        rn,rz  relu    -          f16,bf16  7.0  sm_80
        rn,rz  -       satfinite  f16       8.1  -
        rn,rz  -       satfinite  bf16      8.1  sm_80
        rn,rz  relu    satfinite  f16,bf16  8.1  sm_80
    """,
    operands={"d": _RESULT, "a": _FLOAT},
    source="PTX ISA 9.7.9.21",
)
HALF.describe(
    "Converts f32 to f16, bf16 or tf32-like formats with the stated rounding; `.relu` replaces negative results"
    " by 0. Use it in the epilogue of a kernel with half-precision results.",
    "cvt.rn.relu.bf16.f32 %h0, %f0;",
)


@HALF.semantics
def half(rnd: Word, relu: Word, satfinite: Word, dtype: Word, a: Lane) -> Lane:
    return convert.half_from_float(a, element_format(dtype), rnd, relu=bool(relu), satfinite=bool(satfinite))


HALVES = Form(
    name="convert.halves",
    syntax="cvt.rnd{.relu}{.satfinite}.dtype.f32  d, a, b;",
    rows="""
        rnd    relu    satfinite  dtype         ptx  target
        rn,rz  -,relu  -          f16x2,bf16x2  7.0  sm_80
        rn,rz  -,relu  satfinite  f16x2,bf16x2  8.1  sm_80
    """,
    operands={"d": _RESULT, "a": _FLOAT, "b": _FLOAT},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.9.21",
)
HALVES.describe(
    "Converts two f32 numbers to a pair: a in the upper half, b in the lower half. Use it to write accumulators"
    " as packed half precision.",
    "cvt.rn.f16x2.f32 %r0, %f1, %f0;",
)


@HALVES.semantics
def halves(rnd: Word, relu: Word, satfinite: Word, dtype: Word, a: Lane, b: Lane) -> Lane:
    return convert.pair_from_floats(a, b, element_format(dtype), rnd, relu=bool(relu), satfinite=bool(satfinite))


HALVES_STOCHASTIC = Form(
    name="convert.halves_stochastic",
    syntax="cvt.rs{.relu}{.satfinite}.dtype.f32  d, a, b, rbits;",
    rows="relu satfinite dtype ptx target\n-,relu -,satfinite f16x2,bf16x2 8.7 sm_100a,sm_103a,sm_107a",
    operands={"d": _RESULT, "a": _FLOAT, "b": _FLOAT, "rbits": _RANDOM_BITS},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.9.21",
)
HALVES_STOCHASTIC.describe(
    "Converts two f32 numbers to a pair with stochastic rounding by random bits. Use it in training, where the"
    " rounding error should have the mean zero.",
    "cvt.rs.f16x2.f32 %r0, %f1, %f0, %r1;",
)


@HALVES_STOCHASTIC.semantics
def halves_stochastic(relu: Word, satfinite: Word, dtype: Word, a: Lane, b: Lane, rbits: Lane) -> Lane:
    return convert.stochastic_pair(a, b, rbits, element_format(dtype), bool(relu), bool(satfinite))


TF32 = Form(
    name="convert.tf32",
    syntax="cvt.rnd{.satfinite}{.relu}.tf32.f32  d, a;",
    rows="""
        rnd    satfinite  relu    ptx  target
        rna    -          -       7.0  sm_80
        rna    satfinite  -       8.1  sm_80
        rn,rz  -          -,relu  7.8  sm_90
        rn,rz  satfinite  -,relu  8.6  sm_100
    """,
    operands={"d": out("b32", accepts="bits"), "a": inp("f32", accepts=_coded_or_same)},
    source="PTX ISA 9.7.9.21",
)
TF32.describe(
    "Rounds f32 to tf32. Use it before a multiplication of tf32 operands, which would otherwise truncate.",
    "cvt.rna.tf32.f32 %r0, %f0;",
)


@TF32.semantics
def tf32(rnd: Word, satfinite: Word, relu: Word, a: Lane) -> Lane:
    return convert.tf32_from_float(a, rnd, relu=bool(relu), satfinite=bool(satfinite))


NARROW = Form(
    name="convert.narrow",
    syntax="cvt.rnd{.satfinite}{.relu}.dtype.f32  d, a, b;",
    rows="""
        rnd    satfinite    relu    dtype                 ptx  target
        rn     satfinite    -,relu  e4m3x2,e5m2x2         7.8  sm_90
        rn     satfinite    -,relu  e4m3x2,e5m2x2         8.1  sm_89
        rn     satfinite    -,relu  e2m3x2,e3m2x2,e2m1x2  8.6  sm_100f,sm_110f,sm_120f
        rz,rp  -,satfinite  -       ue8m0x2               8.6  sm_100f,sm_110f,sm_120f
    """,
    operands={"d": out("dtype"), "a": inp("f32"), "b": inp("f32")},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.9.21",
)
NARROW.describe(
    "Converts two f32 numbers to a pair of 8-, 6- or 4-bit numbers, with saturation. Use it to quantise results.",
    "cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f0;",
)


@NARROW.semantics
def narrow(rnd: Word, relu: Word, dtype: Word, a: Lane, b: Lane) -> Lane:
    return convert.narrow_pair(a, b, element_format(dtype), rnd, relu=bool(relu))


NARROW_HALVES = Form(
    name="convert.narrow_halves",
    syntax="cvt.rnd{.satfinite}{.relu}.dtype.atype  d, a;",
    rows="""
        rnd    satfinite    relu    dtype                 atype         ptx  target
        rn     satfinite    -,relu  e4m3x2,e5m2x2         f16x2         7.8  sm_90
        rn     satfinite    -,relu  e4m3x2,e5m2x2         f16x2         8.1  sm_89
        rn     satfinite    -,relu  e4m3x2,e5m2x2         bf16x2        9.1  sm_100f,sm_110f,sm_120f
        rn     satfinite    -,relu  e2m3x2,e3m2x2,e2m1x2  f16x2,bf16x2  9.1  sm_100f,sm_110f,sm_120f
        rz,rp  -,satfinite  -       ue8m0x2               bf16x2        8.6  sm_100f,sm_110f,sm_120f
    """,
    operands={"d": out("dtype"), "a": inp("atype")},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.9.21",
)
NARROW_HALVES.describe(
    "Converts a pair of half-precision numbers to a pair of narrow numbers, with saturation. Use it to quantise"
    " packed results.",
    "cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r0;",
)


@NARROW_HALVES.semantics
def narrow_halves(rnd: Word, relu: Word, dtype: Word, atype: Word, a: Lane) -> Lane:
    return convert.narrow_pair_from_halves(a, element_format(atype), element_format(dtype), rnd, relu=bool(relu))


FOUR_STOCHASTIC = Form(
    name="convert.four_stochastic",
    syntax="cvt.rs{.relu}.satfinite.dtype.f32  d, a, rbits;",
    rows="relu dtype ptx target\n-,relu e4m3x4,e5m2x4,e2m3x4,e3m2x4,e2m1x4 8.7 sm_100a,sm_103a,sm_107a",
    operands={"d": out("dtype"), "a": inp("f32", 4), "rbits": _RANDOM_BITS},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.9.21",
)
FOUR_STOCHASTIC.describe(
    "Converts four f32 numbers to narrow numbers with stochastic rounding by random bits. Use it to quantise"
    " gradients.",
    "cvt.rs.satfinite.e4m3x4.f32 %r0, {%f0, %f1, %f2, %f3}, %r1;",
)


@FOUR_STOCHASTIC.semantics
def four_stochastic(relu: Word, dtype: Word, a: Lane, rbits: Lane) -> Lane:
    return convert.stochastic_quadruple(a, rbits, FORMATS[dtype.removesuffix("x4")], bool(relu))


FIXED = Form(
    name="convert.fixed",
    syntax="cvt.rn.satfinite{.scaling}{.relu}.s2f6x2.f32  d, a, b{, scale-factor};",
    rows=f"scaling relu ptx target\n-,scaled::n2::ue8m0 -,relu 9.1 {_FIXED_POINT}",
    operands={"d": out("b16"), "a": inp("f32"), "b": inp("f32"), "scale_factor": _SCALE},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.9.21",
)
FIXED.describe(
    "Converts two f32 numbers to fixed-point numbers with 2 integer bits and 6 fraction bits, optionally scaled."
    " Use it to quantise to s2f6.",
    "cvt.rn.satfinite.s2f6x2.f32 %h0, %f1, %f0;",
)


@FIXED.semantics
def fixed(relu: Word, a: Lane, b: Lane, scale_factor: Lane) -> Lane:
    return convert.fixed_pair(a, b, scale_factor, bool(relu))


FIXED_HALVES = Form(
    name="convert.fixed_halves",
    syntax="cvt.rn.satfinite{.scaling}{.relu}.s2f6x2.bf16x2  d, a{, scale-factor};",
    rows=f"scaling relu ptx target\n-,scaled::n2::ue8m0 -,relu 9.1 {_FIXED_POINT}",
    operands={"d": out("b16"), "a": inp("bf16x2"), "scale_factor": _SCALE},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.9.21",
)
FIXED_HALVES.describe(
    "Converts a pair of bf16 numbers to fixed-point numbers with 2 integer bits and 6 fraction bits, optionally"
    " scaled. Use it to quantise packed results to s2f6.",
    "cvt.rn.satfinite.s2f6x2.bf16x2 %h0, %r0;",
)


@FIXED_HALVES.semantics
def fixed_halves(relu: Word, a: Lane, scale_factor: Lane) -> Lane:
    high, low = (packed.float_from_half(half.astype("u2"), BF16) for half in (a >> 16, a))
    return convert.fixed_pair(high, low, scale_factor, bool(relu))


FIXED_WIDEN = Form(
    name="convert.fixed_widen",
    syntax="cvt.rn{.satfinite}{.scaling}{.relu}.bf16x2.s2f6x2  d, a{, scale-factor};",
    rows=f"satfinite scaling relu ptx target\n-,satfinite -,scaled::n2::ue8m0 -,relu 9.1 {_FIXED_POINT}",
    operands={"d": out("bf16x2"), "a": inp("s2f6x2"), "scale_factor": _SCALE},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.9.21",
)
FIXED_WIDEN.describe(
    "Converts a pair of s2f6 fixed-point numbers to bf16, optionally scaled. Use it to read quantised data.",
    "cvt.rn.bf16x2.s2f6x2 %r0, %h0;",
)


@FIXED_WIDEN.semantics
def fixed_widen(satfinite: Word, relu: Word, a: Lane, scale_factor: Lane) -> Lane:
    return convert.halves_from_fixed_pair(a, scale_factor, bool(relu), bool(satfinite))


WIDEN = Form(
    name="convert.widen",
    syntax="cvt.rn{.relu}.dtype.atype  d, a;",
    rows="""
        relu    dtype   atype                 ptx  target
        -,relu  f16x2   e4m3x2,e5m2x2         7.8  sm_90
        -,relu  f16x2   e4m3x2,e5m2x2         8.1  sm_89
        -,relu  f16x2   e2m3x2,e3m2x2,e2m1x2  8.6  sm_100f,sm_110f,sm_120f
        -       bf16x2  ue8m0x2               8.6  sm_100f,sm_110f,sm_120f
        -,relu  bf16x2  e4m3x2,e5m2x2         9.2  sm_100f,sm_110f,sm_120f
        -,relu  bf16x2  e2m3x2,e3m2x2,e2m1x2  9.2  sm_100f,sm_110f,sm_120f
    """,
    operands={"d": out("dtype"), "a": inp("atype")},
    source="PTX ISA 9.7.9.21",
)
WIDEN.describe(
    "Converts a pair of 8-, 6- or 4-bit numbers to half precision. Use it to read quantised data.",
    "cvt.rn.f16x2.e4m3x2 %r0, %h0;",
)


@WIDEN.semantics
def widen(relu: Word, dtype: Word, atype: Word, a: Lane) -> Lane:
    return convert.halves_from_narrow_pair(a, element_format(atype), element_format(dtype), relu=bool(relu))


def _pack(a: Lane, b: Lane, type: str) -> Lane:
    """Clamp a and b to the integer type `type`. Return one value with b in the low bits and a above b."""
    signed, bits = type[0] == "s", int(type[1:])
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    upper, lower = (lanes.clamp(x, low, high) & (1 << bits) - 1 for x in (a, b))
    return upper << bits | lower


PACK = Form(
    name="convert.pack",
    syntax="cvt.pack.sat.dtype.s32  d, a, b;",
    rows="dtype ptx target\nu16,s16 6.5 sm_72",
    operands={"d": out("u32", accepts="wide"), "a": _INTEGER, "b": _INTEGER},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.9.22",
)
PACK.describe(
    "Clamps two 32-bit integers to 16 bits and packs them. Use it to narrow integer results.",
    "cvt.pack.sat.s16.s32 %r0, %r1, %r2;",
)


@PACK.semantics
def pack(dtype: Word, a: Lane, b: Lane) -> Lane:
    return _pack(a, b, dtype)


PACK_ONTO = Form(
    name="convert.pack_onto",
    syntax="cvt.pack.sat.dtype.s32.b32  d, a, b, c;",
    rows="""
        dtype        ptx  target
        u8,s8        6.5  sm_72
        u4,s4,u2,s2  6.5  sm_75
    """,
    operands={"d": out("u32", accepts="wide"), "a": _INTEGER, "b": _INTEGER, "c": inp("b32", accepts="wide")},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.9.22",
)
PACK_ONTO.describe(
    "Clamps two 32-bit integers to 8, 4 or 2 bits, and appends them to the shifted bits of c. Use it to pack"
    " quantised integers: two instructions fill a word of s8.",
    "cvt.pack.sat.s8.s32.b32 %r0, %r1, %r2, %r3;",
)


@PACK_ONTO.semantics
def pack_onto(dtype: Word, a: Lane, b: Lane, c: Lane) -> Lane:
    return _pack(a, b, dtype).astype(c.dtype) | c << 2 * int(dtype[1:])
