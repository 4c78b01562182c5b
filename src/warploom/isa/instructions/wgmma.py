"""Asynchronous matrix multiplication by a warpgroup (`wgmma`).

A is in shared memory or in registers, and B is in shared memory.

Source: PTX ISA 9.7.15.
"""

import re
from dataclasses import replace
from typing import Literal

from warploom.isa.instructions.fragments import (
    Operand,
    fragment,
    metadata_layout,
    metadata_of,
    register_matrix,
    selectors,
)
from warploom.isa.model.effects import Collective, Commit, Fence, Issue, Multiply, Wait
from warploom.isa.model.form import Form, no_effect
from warploom.isa.model.multiplication import Multiplication, SharedMatrix, k_of
from warploom.isa.model.operand_layout import LayoutInputs, OperandLayout
from warploom.isa.model.operands import OperandSpec, RegisterConstraint, Slots, immediate, inp, pred_in
from warploom.isa.model.semantics import Bound
from warploom.layout import SharedMap, descriptor


def _in_shared_memory(operand: Operand, *, sparse: bool) -> OperandSpec:

    def find_map(slots: Slots, given: LayoutInputs) -> SharedMap:
        rows, k = (64 if operand == "A" else int(slots["n"])), k_of(slots["shape"])
        stored = k // 2 if sparse and operand == "A" else k
        element = slots[f"{operand.lower()}type"]
        found = given.descriptor_of_warpgroup() or descriptor(
            rows, stored, element, swizzle=given.swizzle, major=given.major
        )
        tile = found.tile(rows, stored, element, given.major)
        return replace(tile, name=f"wgmma{' sparse' if sparse else ''} {slots['shape']} {element} {operand}")

    return replace(inp("u64"), layout=OperandLayout(operand, find_map, ("descriptor", "swizzle", "major")))


def _selector_bits(slots: Slots) -> int:
    """Return the number of low selector bits that ptxas examines, or 0 for all bits."""
    return 32 if len(selectors(slots)) == 1 else 0


_OPERANDS = {
    "d": replace(fragment("D", "warpgroup", updated=True), constraint=RegisterConstraint("own")),
    "scale_d": pred_in(values=(0, 1)),
    "imm_scale_a": immediate(values=(1, -1)),
    "imm_scale_b": immediate(values=(1, -1)),
    "imm_trans_a": immediate(values=(0, 1)),
    "imm_trans_b": immediate(values=(0, 1)),
    "sp_meta": replace(inp("b32", values=()), layout=metadata_layout("warpgroup")),
    "sp_sel": immediate(values=selectors, bits=_selector_bits),
}


def _operand(name: str, *, sparse: bool, integers: bool) -> OperandSpec:
    if name == "a":  # integers and bits accept every 32-bit register, floats only pairs
        return replace(fragment("A", "warpgroup", sparse=sparse), type="b32" if integers else "f16x2")
    if name in ("a_desc", "b_desc"):
        return _in_shared_memory("A" if name == "a_desc" else "B", sparse=sparse)
    return _OPERANDS[name]


def _major(transposed: int) -> Literal["K", "MN"]:
    return "MN" if transposed else "K"


def multiply(i: Bound) -> Multiplication:
    """Return d = sum(imm_scale_a * a, imm_scale_b * b, d if scale_d else 0)."""
    slots, k, sparse = vars(i), k_of(i.shape), hasattr(i, "sp_meta")
    if hasattr(i, "a"):
        a = register_matrix("warpgroup", "A", i, sparse=sparse)
    else:
        a = SharedMatrix("A", i.a_desc, 64, k // 2 if sparse else k, i.atype, _major(slots.get("imm_trans_a", 0)))
    b = SharedMatrix("B", i.b_desc, int(i.n), k, i.btype, _major(slots.get("imm_trans_b", 0)))
    d = register_matrix("warpgroup", "D", i)
    return Multiplication(
        "warpgroup", slots, a, b, d, d,
        keeps=i.scale_d,
        metadata=metadata_of("warpgroup", i, "sp_meta", i.sp_sel) if sparse else None,
        negate_a=slots.get("imm_scale_a", 1) < 0,
        negate_b=slots.get("imm_scale_b", 1) < 0,
        satfinite=bool(slots.get("satfinite")),
    )  # fmt: skip


def _declare(name: str, syntax: str, rows: str, *, spelling: str = "", integers: bool = False) -> tuple[Form, Form]:
    """Declare one Form with A in shared memory, and one with A in registers.

    "A" in `syntax` stands for this operand. `spelling` is another order of the opcode words. `integers` is True if the
    elements of A are integers or bits.
    """
    return (
        _form(name, syntax.replace("A,", "a-desc,"), rows, spelling, integers=integers),
        # A matrix in registers cannot be transposed.
        _form(
            f"{name}-registers", syntax.replace("A,", "a,").replace(" imm-trans-a,", ""), rows, spelling,
            integers=integers,
        ),
    )  # fmt: skip


def _form(name: str, syntax: str, rows: str, spelling: str, *, integers: bool) -> Form:
    operands = [word.replace("-", "_") for word in re.findall(r"[\w-]+", syntax.partition("  ")[2])]
    sparse = "sp_meta" in operands
    form = Form(
        name=f"wgmma.{name}",
        syntax=syntax,
        rows=rows,
        words={"shape": "m64n{n}k{k}"},
        operands={each: _operand(each, sparse=sparse, integers=integers) for each in operands},
        spellings=(spelling,) if spelling else (),
        effects=(Collective("warpgroup"), Issue("multiplication"), Multiply("warpgroup", keeps="scale_d")),
        source="PTX ISA 9.7.15.6.2" if sparse else "PTX ISA 9.7.15.5.2",
    )
    form.multiplication(multiply)
    return form


HALF, HALF_REGISTERS = _declare(
    "half",
    "wgmma.mma_async.sync.aligned.shape.dtype.atype.btype"
    "  d, A, b-desc, scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b;",
    rows="""
        n         k   dtype    atype  btype  ptx  target
        8..256/8  16  f16,f32  f16    f16    8.0  sm_90a
        8..256/8  16  f32      bf16   bf16   8.0  sm_90a
    """,
)
HALF.describe(
    "Starts `D = A*B` or `D = A*B + D` for f16 matrices in shared memory, with D in the registers of a warpgroup."
    " Use it for the main loop of a GEMM on sm_90; descriptors describe A and B.",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p0, 1, 1, 0, 0;",
)
HALF_REGISTERS.describe(
    "Starts `D = A*B` or `D = A*B + D` for f16 matrices, with A in registers and B in shared memory. Use it if A"
    " was computed, such as the probabilities of attention.",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, %rd1, %p0, 1, 1, 0;",
)

FLOAT, FLOAT_REGISTERS = _declare(
    "float",
    "wgmma.mma_async.sync.aligned.shape.dtype.atype.btype  d, A, b-desc, scale-d, imm-scale-a, imm-scale-b;",
    rows="""
        n         k   dtype    atype      btype      ptx  target
        8..256/8  8   f32      tf32       tf32       8.0  sm_90a
        8..256/8  32  f16,f32  e4m3,e5m2  e4m3,e5m2  8.0  sm_90a
    """,
)
FLOAT.describe(
    "Starts `D = A*B` or `D = A*B + D` for tf32, e4m3 or e5m2 matrices in shared memory, both K-major. Use it for"
    " GEMM with tf32 or fp8 data on sm_90.",
    "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p0, 1, 1;",
)
FLOAT_REGISTERS.describe(
    "Starts `D = A*B` or `D = A*B + D` for tf32, e4m3 or e5m2 matrices, with A in registers and B in shared"
    " memory. Use it if A was computed or converted.",
    "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, %rd1, %p0, 1, 1;",
)

INTEGER, INTEGER_REGISTERS = _declare(
    "integer",
    "wgmma.mma_async.sync.aligned.shape{.satfinite}.dtype.atype.btype  d, A, b-desc, scale-d;",
    rows="""
        n                   k   dtype  atype  btype  ptx  target
        8..24/8,32..256/16  32  s32    s8     s8     8.0  sm_90a
        8..24/8,32..256/16  32  s32    u8     u8     8.0  sm_90a
        8..24/8,32..256/16  32  s32    s8     u8     8.4  sm_90a
        8..24/8,32..256/16  32  s32    u8     s8     8.4  sm_90a
    """,
    spelling="wgmma.mma_async.sync.aligned.shape.dtype.atype.btype{.satfinite}",
    integers=True,
)
INTEGER.describe(
    "Starts `D = A*B` or `D = A*B + D` for 8-bit integer matrices in shared memory, in s32; `.satfinite` clamps"
    " instead of wrapping. Use it for quantised networks on sm_90.",
    "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0, %r1, %r2, %r3}, %rd0, %rd1, %p0;",
)
INTEGER_REGISTERS.describe(
    "Starts `D = A*B` or `D = A*B + D` for 8-bit integer matrices, with A in registers and B in shared memory."
    " Use it if A was computed or converted.",
    "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, %rd1, %p0;",
)

BIT, BIT_REGISTERS = _declare(
    "bit",
    "wgmma.mma_async.sync.aligned.shape.dtype.atype.btype.bitOp.popc  d, A, b-desc, scale-d;",
    rows="""
        n                   k    dtype  atype  btype  bitOp  ptx  target
        8..24/8,32..256/16  256  s32    b1     b1     and    8.0  sm_90a
    """,
    integers=True,
)
BIT.describe(
    "Counts the ones of the bitwise and of rows of A and columns of B in shared memory, and adds D. Use it for"
    " binary networks on sm_90.",
    "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%r0, %r1, %r2, %r3}, %rd0, %rd1, %p0;",
)
BIT_REGISTERS.describe(
    "Counts the ones of the bitwise and of rows of A in registers and columns of B in shared memory, and adds D."
    " Use it for binary networks if A was computed.",
    "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, %rd1, %p0;",
)

SPARSE_HALF, SPARSE_HALF_REGISTERS = _declare(
    "sparse-half",
    "wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype"
    "  d, A, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b;",
    rows="""
        n         k   dtype    atype  btype  ptx  target
        8..256/8  32  f16,f32  f16    f16    8.2  sm_90a
        8..256/8  32  f32      bf16   bf16   8.2  sm_90a
    """,
)
SPARSE_HALF.describe(
    "Starts a multiplication of a structured sparse f16 matrix A and B in shared memory; registers hold the"
    " positions of the stored elements. Use it for pruned weights: K is twice as large as for `wgmma.half`.",
    "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %r0, 0, %p0, 1, 1, 0, 0;",
)
SPARSE_HALF_REGISTERS.describe(
    "Starts a multiplication of a structured sparse f16 matrix A in registers and B in shared memory. Use it for"
    " pruned weights that were computed or converted.",
    "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, %rd1, %r4,"
    " 0, %p0, 1, 1, 0;",
)

SPARSE_FLOAT, SPARSE_FLOAT_REGISTERS = _declare(
    "sparse-float",
    "wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype"
    "  d, A, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b;",
    rows="""
        n         k   dtype    atype      btype      ptx  target
        8..256/8  16  f32      tf32       tf32       8.2  sm_90a
        8..256/8  64  f16,f32  e4m3,e5m2  e4m3,e5m2  8.2  sm_90a
    """,
)
SPARSE_FLOAT.describe(
    "Starts a multiplication of a structured sparse tf32, e4m3 or e5m2 matrix A and B in shared memory. Use it"
    " for pruned weights in tf32 or fp8.",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e4m3 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %r0, 0, %p0, 1, 1;",
)
SPARSE_FLOAT_REGISTERS.describe(
    "Starts a multiplication of a structured sparse tf32, e4m3 or e5m2 matrix A in registers and B in shared"
    " memory. Use it for pruned weights that were computed or converted.",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e4m3 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, %rd1,"
    " %r4, 0, %p0, 1, 1;",
)

SPARSE_INTEGER, SPARSE_INTEGER_REGISTERS = _declare(
    "sparse-integer",
    "wgmma.mma_async.sp.sync.aligned.shape{.satfinite}.dtype.atype.btype  d, A, b-desc, sp-meta, sp-sel, scale-d;",
    rows="""
        n                   k   dtype  atype  btype  ptx  target
        8..24/8,32..256/16  64  s32    s8     s8     8.2  sm_90a
        8..24/8,32..256/16  64  s32    u8     u8     8.2  sm_90a
        8..24/8,32..256/16  64  s32    s8     u8     8.4  sm_90a
        8..24/8,32..256/16  64  s32    u8     s8     8.4  sm_90a
    """,
    spelling="wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype{.satfinite}",
    integers=True,
)
SPARSE_INTEGER.describe(
    "Starts a multiplication of a structured sparse 8-bit integer matrix A and B in shared memory, in s32. Use it"
    " for quantised networks with pruned weights.",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {%r0, %r1, %r2, %r3}, %rd0, %rd1, %r4, 0, %p0;",
)
SPARSE_INTEGER_REGISTERS.describe(
    "Starts a multiplication of a structured sparse 8-bit integer matrix A in registers and B in shared memory,"
    " in s32. Use it for pruned weights that were computed or converted.",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, %rd1, %r8, 0, %p0;",
)

# Order and completion ---------------------------------------------------------------------------------------

FENCE = Form(
    name="wgmma.fence",
    syntax="wgmma.fence.sync.aligned;",
    rows="ptx target\n8.0 sm_90a",
    effects=(Collective("warpgroup"), Fence("registers")),
    source="PTX ISA 9.7.15.7.1",
)
FENCE.describe(
    "Orders earlier accesses to registers of the warpgroup before later asynchronous multiplications. Use it"
    " before the first multiplication, and after an instruction has written accumulators or A.",
    "wgmma.fence.sync.aligned;",
)
FENCE.execute(no_effect)  # the emulator accesses registers in program order

COMMIT = Form(
    name="wgmma.commit_group",
    syntax="wgmma.commit_group.sync.aligned;",
    rows="ptx target\n8.0 sm_90a",
    effects=(Collective("warpgroup"), Commit("multiplication")),
    source="PTX ISA 9.7.15.7.2",
)
COMMIT.describe(
    "Closes a group with all multiplications that the warpgroup has started since the previous group. Use it"
    " after the multiplications of one stage.",
    "wgmma.commit_group.sync.aligned;",
)

COMMIT.execute(lambda warps, i: warps.commit("multiplication"))

WAIT = Form(
    name="wgmma.wait_group",
    syntax="wgmma.wait_group.sync.aligned  N;",
    rows="ptx target\n8.0 sm_90a",
    operands={"N": immediate(values=range(1 << 63))},
    effects=(Collective("warpgroup"), Wait("multiplication", pending="N")),
    source="PTX ISA 9.7.15.7.3",
)
WAIT.describe(
    "Waits until at most the N newest groups are unfinished. Use N = 1 to free the previous stage while a"
    " multiplication runs, and 0 before accumulators are read.",
    "wgmma.wait_group.sync.aligned 0;",
)

WAIT.execute(lambda warps, i: warps.wait("multiplication", i.N))
