"""Shifts, bit fields, bit counting and byte permutation.

Source: PTX ISA 9.7.1.14 to 9.7.1.22, 9.7.8.7 to 9.7.8.9, 9.7.9.7.
"""

from warploom.isa.model.effects import Flow
from warploom.isa.model.form import Form
from warploom.isa.model.lanewise import Word
from warploom.isa.model.operands import inp, out
from warploom.numerics import bits
from warploom.numerics.lanes import Lane

_FIELD = inp("u32", values=range(256))
"""Position or length of a bit field."""

SHIFT = Form(
    name="bits.shift",
    syntax="op.type  d, a, b;",
    rows="""
        op   type
        shl  b16,b32,b64
        shr  b16,b32,b64,u16,u32,u64,s16,s32,s64
    """,
    operands={"d": out("type"), "a": inp("type"), "b": inp("u32")},
    effects=(Flow(numbers=frozenset({"scaled"}), unwritten="ignore"),),
    source="PTX ISA 9.7.8.8",
)
SHIFT.describe(
    "Shifts a by b bits to the left or right; signed types keep the sign, and shifts beyond the width give 0 or"
    " the sign. Use it for scaling by powers of two and for bit fields.",
    "shl.b32 %r0, %r1, 4;",
)

_SHIFTS = {"shl": bits.shl, "shr": bits.shr}


@SHIFT.semantics
def shift(op: Word, a: Lane, b: Lane) -> Lane:
    return _SHIFTS[op](a, b)


FUNNEL = Form(
    name="bits.shf",
    syntax="shf.side.mode.b32  d, a, b, c;",
    rows="side mode ptx\nl,r clamp,wrap 3.1",
    operands={"d": out("b32"), "a": inp("b32"), "b": inp("b32"), "c": inp("u32")},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.8.7",
)
FUNNEL.describe(
    "Shifts the 64-bit value {b, a} and returns 32 bits of the result. Use it for rotations (a equal to b) and"
    " for shifts of values in several registers.",
    "shf.l.wrap.b32 %r0, %r1, %r2, %r3;",
)


@FUNNEL.semantics
def funnel(side: Word, mode: Word, a: Lane, b: Lane, c: Lane) -> Lane:
    return bits.shf(a, b, c, side, mode)


COUNT = Form(
    name="bits.count",
    syntax="op.type  d, a;",
    rows="op type ptx\npopc,clz b32,b64 2.0",
    operands={"d": out("u32"), "a": inp("type")},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.1.14",
)
COUNT.describe(
    "Counts the ones (`popc`) or the leading zeros (`clz`) of a. Use it on lane masks and for logarithms of integers.",
    "popc.b32 %r0, %r1;",
)

_COUNTS = {"popc": bits.popc, "clz": bits.clz}


@COUNT.semantics
def count(op: Word, a: Lane) -> Lane:
    return _COUNTS[op](a)


BFIND = Form(
    name="bits.bfind",
    syntax="bfind{.shiftamt}.type  d, a;",
    rows="type ptx\nu32,u64,s32,s64 2.0",
    operands={"d": out("u32"), "a": inp("type")},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.1.16",
)
BFIND.describe(
    "Finds the most significant bit that is not a sign bit; 0xFFFFFFFF means none. Use it to normalise integers.",
    "bfind.u32 %r0, %r1;",
)


@BFIND.semantics
def bfind(shiftamt: Word, a: Lane) -> Lane:
    return bits.bfind(a, shiftamt=bool(shiftamt))


FNS = Form(
    name="bits.fns",
    syntax="fns.b32  d, mask, base, offset;",
    rows="ptx target\n6.0 sm_30",
    operands={"d": out("b32"), "mask": inp("b32"), "base": inp("b32"), "offset": inp("b32")},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.1.17",
)
FNS.describe(
    "Finds the n-th one in a mask, counted from a base position. Use it to select a lane from a mask of active lanes.",
    "fns.b32 %r0, %r1, %r2, 1;",
)

FNS.semantics(bits.fns)

BREV = Form(
    name="bits.brev",
    syntax="brev.type  d, a;",
    rows="type ptx\nb32,b64 2.0",
    operands={"d": out("type"), "a": inp("type")},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.1.18",
)
BREV.describe(
    "Reverses the order of the bits. Use it for the permutation of a Fourier transform.", "brev.b32 %r0, %r1;"
)

BREV.semantics(bits.brev)

BFE = Form(
    name="bits.bfe",
    syntax="bfe.type  d, a, b, c;",
    rows="type ptx\nu32,u64,s32,s64 2.0",
    operands={"d": out("type"), "a": inp("type"), "b": _FIELD, "c": _FIELD},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.1.19",
)
BFE.describe(
    "Extracts c bits of a from position b, with sign extension for signed types. Use it to unpack fields of a word.",
    "bfe.u32 %r0, %r1, 8, 8;",
)


@BFE.semantics
def bfe(a: Lane, b: Lane, c: Lane) -> Lane:
    return bits.bfe(a, b, c)


BFI = Form(
    name="bits.bfi",
    syntax="bfi.type  f, a, b, c, d;",
    rows="type ptx\nb32,b64 2.0",
    operands={"f": out("type"), "a": inp("type"), "b": inp("type"), "c": _FIELD, "d": _FIELD},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.1.20",
)
BFI.describe(
    "Inserts the low d bits of a into b at position c. Use it to pack fields into a word.",
    "bfi.b32 %r0, %r1, %r2, 8, 8;",
)


@BFI.semantics
def bfi(a: Lane, b: Lane, c: Lane, d: Lane) -> Lane:
    return bits.bfi(a, b, c, d)


SZEXT = Form(
    name="bits.szext",
    syntax="szext.mode.type  d, a, b;",
    rows="mode type ptx target\nclamp,wrap u32,s32 7.6 sm_70",
    operands={"d": out("type"), "a": inp("type"), "b": inp("u32")},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.1.21",
)
SZEXT.describe(
    "Extends the low b bits of a by their sign or by zeros. Use it for integers of unusual width.",
    "szext.wrap.s32 %r0, %r1, %r2;",
)


@SZEXT.semantics
def szext(mode: Word, a: Lane, b: Lane) -> Lane:
    return bits.szext(a, b, mode)


BMSK = Form(
    name="bits.bmsk",
    syntax="bmsk.mode.b32  d, a, b;",
    rows="mode ptx target\nclamp,wrap 7.6 sm_70",
    operands={"d": out("u32"), "a": inp("u32"), "b": inp("u32")},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.1.22",
)
BMSK.describe(
    "Makes a mask of b ones from position a. Use it to select a range of bits.", "bmsk.clamp.b32 %r0, %r1, %r2;"
)


@BMSK.semantics
def bmsk(mode: Word, a: Lane, b: Lane) -> Lane:
    return bits.bmsk(a, b, mode)


PRMT = Form(
    name="bits.prmt",
    syntax="prmt.b32{.mode}  d, a, b, c;",
    rows="mode ptx\n-,f4e,b4e,rc8,ecl,ecr,rc16 2.0",
    operands={"d": out("b32"), "a": inp("b32"), "b": inp("b32"), "c": inp("b32")},
    effects=(Flow(elements=("a", "b"), unwritten="ignore"),),
    source="PTX ISA 9.7.9.7",
)
PRMT.describe(
    "Selects four of the eight bytes of a and b by four 4-bit selectors. Use it to reorder bytes, to unpack 8-bit"
    " values, and to change endianness.",
    "prmt.b32 %r0, %r1, %r2, 0x5410;",
)


@PRMT.semantics
def prmt(mode: Word, a: Lane, b: Lane, c: Lane) -> Lane:
    return bits.prmt(a, b, c, mode)
