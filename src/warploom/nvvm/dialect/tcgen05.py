"""Tensor memory: allocation, loads and stores, copies, and their synchronisation."""

from warploom.isa.instructions import tcgen05
from warploom.nvvm.dialect.lowering import Lowering, Registers
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.dialect.types import registers_of

_GROUP = "group: cta_group = cta_1"
_WRONG_MULTICAST_64 = "Shape 64x128b requires multicast warpx2_01_23 or warpx2_02_13 for {name} Op"
_REGISTERS_OF_SHAPE = {"16x128b": 2, "16x256b": 4}

Alloc = operation(
    f"nvvm.tcgen05.alloc(addr as dst in ss: ptr, nCols: i32, {_GROUP})",
    "Allocation of `nCols` tensor-memory columns (a power of two from 32 to 512)."
    " The operation writes the address of the first column to shared memory at `addr`.",
    tcgen05.ALLOC,
    syntax="$addr `,` $nCols attr-dict `:` type(operands)",
)
Dealloc = operation(
    f"nvvm.tcgen05.dealloc(taddr: ptr6, nCols: i32, {_GROUP})",
    "Deallocation of tensor-memory columns.",
    tcgen05.DEALLOC,
    syntax="$taddr `,` $nCols attr-dict `:` type(operands)",
)
RelinquishAllocPermit = operation(
    f"nvvm.tcgen05.relinquish_alloc_permit({_GROUP})",
    "Release of the CTA's permit to allocate tensor memory.",
    tcgen05.RELINQUISH,
)
Fence = operation(
    "nvvm.tcgen05.fence(kind as op: tcgen05_fence)",
    "Fence for tensor memory before or after a synchronisation of threads.",
    tcgen05.FENCE,
    syntax="$kind attr-dict",
)
Wait = operation(
    "nvvm.tcgen05.wait(kind as op: tcgen05_wait)",
    "Wait for the thread's loads or stores of tensor memory.",
    tcgen05.WAIT,
    syntax="$kind attr-dict",
)
Commit = operation(
    f"nvvm.tcgen05.commit(addr as mbar: ptr, multicastMask?: i16, {_GROUP})",
    "Arrival at an mbarrier once earlier tensor-memory instructions are complete."
    " With a mask, each CTA of the mask receives the arrival, at the same shared-memory offset.",
    tcgen05.COMMIT,
    syntax="$addr (`,` `multicast_mask` `=` $multicastMask^)? attr-dict `:` type(operands)",
    words={"ss": "shared::cluster"},
    # LLVM has an intrinsic for each type of pointer. The instruction is the same.
    lower=lambda op: op.instruction(in_shared=1 if op.address_space("addr") else None),
)
Shift = operation(
    f"nvvm.tcgen05.shift(taddr: ptr6, {_GROUP})",
    "Shift of the rows of a matrix in tensor memory by one row down.",
    tcgen05.SHIFT,
    syntax="$taddr attr-dict `:` type(operands)",
)
Cp = operation(
    "nvvm.tcgen05.cp(taddr: ptr6, smem_desc as s_desc: i64, shape: tcgen05_cp_shape,"
    f" multicast: tcgen05_cp_multicast = none, srcFormat as src_fmt?: tcgen05_cp_src_fmt, {_GROUP})",
    "Copy of a matrix from shared to tensor memory. A descriptor locates the source.",
    tcgen05.CP,
    syntax="$taddr `,` $smem_desc attr-dict",
    rules=f"""
        shape!=shape_64x128b|shape_32x128b multicast!=none: Invalid multicast type for {{name}} Op
        shape=shape_64x128b multicast!=warpx2_02_13|warpx2_01_23: {_WRONG_MULTICAST_64}
        shape=shape_32x128b multicast!=warpx4: Shape 32x128b requires multicast warpx4 for {{name}} Op
    """,
    lower=lambda op: op.instruction({"dst_fmt": "b8x16"} if op.has("srcFormat") else {}),
)

# Loads and stores -------------------------------------------------------------------------------------------


def _access(op: Operation, name: str, packing: str) -> Lowering:
    """Return the lowering of a load or store of the value `name`, which may pack or unpack its elements."""
    value = op.value(name)
    shape, count = op.text("shape").removeprefix("shape_"), len(registers_of(value.type))
    each = _REGISTERS_OF_SHAPE.get(shape, 1)
    if count % each:
        raise op.error(f"the value has {count} registers; expected a multiple of {each} for shape {shape}")
    # The number of registers determines the repeat count.
    words = {"num": f"x{count // each}", packing: f"{packing}::16b" if op.has(packing) else ""}
    return op.instruction(words, r=Registers([value]))


_SHAPE = "shape: tcgen05_ldst_shape"
_ADDRESS = "tmemAddr as taddr: ptr6"
_OFFSET = "offset as immHalfSplitoff?: i64"
"""Distance between the addresses of the two halves of the shape 16x32bx2."""
_OFFSET_RULES = """
    shape=shape_16x32bx2 !offset: shape 16x32bx2 requires offset argument
    shape!=shape_16x32bx2 offset: offset argument is only supported for shape 16x32bx2
"""
Ld = operation(
    f"nvvm.tcgen05.ld({_ADDRESS}, {_OFFSET}, pack?: unit, {_SHAPE}) -> res: i32|vector",
    "Load from tensor memory to registers.",
    *(tcgen05.LD, tcgen05.LD_SPLIT),
    syntax="$tmemAddr (`,` $offset^)? (`pack` $pack^)? attr-dict `:` type($res)",
    rules=_OFFSET_RULES,
    lower=lambda op: _access(op, "res", "pack"),
)
St = operation(
    f"nvvm.tcgen05.st({_ADDRESS}, val: i32|vector, {_OFFSET}, unpack?: unit, {_SHAPE})",
    "Store from registers to tensor memory.",
    *(tcgen05.ST, tcgen05.ST_SPLIT),
    syntax="$tmemAddr `,` $val (`,` $offset^)? (`unpack` $unpack^)? attr-dict `:` type($val)",
    rules=_OFFSET_RULES,
    lower=lambda op: _access(op, "val", "unpack"),
)
