"""Tensor memory: allocation, loads and stores, copies, and their synchronisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import UnitAttr, VectorType, i16, i32, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import SSAValue
from xdsl.irdl import BaseAttr, eq, operand_def, opt_operand_def, opt_prop_def, prop_def, result_def

from warploom.isa.instructions import tcgen05
from warploom.nvvm.dialect.attributes import (
    CopyFormat,
    CopyMulticast,
    CopyShape,
    CtaGroup,
    TensorShape,
    TensorWait,
    ThreadSync,
)
from warploom.nvvm.dialect.lowering import Lowering, Registers
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.dialect.types import TENSOR_SPACE, pointer, registers_of, space_of

_HALVES = "16x32bx2"
"""Shape of two halves, whose distance is an operand."""
_MULTICASTS = {"64x128b": ("warpx2_02_13", "warpx2_01_23"), "32x128b": ("warpx4",)}
_REGISTERS_OF_SHAPE = {"16x128b": 2, "16x256b": 4}


class _Grouped(Operation):
    """Instruction of one CTA or of a pair of CTAs."""

    group = prop_def(CtaGroup, default_value=CtaGroup("cta_1"))


@operation("nvvm.tcgen05.alloc", tcgen05.ALLOC, names={"addr": "dst"}, spaces={"ss": "addr"})
class Alloc(_Grouped):
    """Allocation of tensor-memory columns. The address of the columns is written to shared memory."""

    addr = operand_def(LLVMPointerType)
    nCols = operand_def(i32)
    assembly_format = "$addr `,` $nCols attr-dict `:` type(operands)"


@operation("nvvm.tcgen05.dealloc", tcgen05.DEALLOC)
class Dealloc(_Grouped):
    """Deallocation of tensor-memory columns."""

    taddr = operand_def(pointer(TENSOR_SPACE))
    nCols = operand_def(i32)
    assembly_format = "$taddr `,` $nCols attr-dict `:` type(operands)"


@operation("nvvm.tcgen05.relinquish_alloc_permit", tcgen05.RELINQUISH)
class RelinquishAllocPermit(_Grouped):
    """Surrender of the CTA's right to allocate tensor memory."""


@operation("nvvm.tcgen05.fence", tcgen05.FENCE, names={"kind": "op"})
class Fence(Operation):
    """Fence for tensor memory before or after a synchronisation of threads."""

    kind = prop_def(ThreadSync)
    assembly_format = "$kind attr-dict"


@operation("nvvm.tcgen05.wait", tcgen05.WAIT, names={"kind": "op"})
class Wait(Operation):
    """Wait for the thread's loads or stores of tensor memory."""

    kind = prop_def(TensorWait)
    assembly_format = "$kind attr-dict"


@operation("nvvm.tcgen05.commit", tcgen05.COMMIT, words={"ss": "shared::cluster"}, names={"addr": "mbar"})
class Commit(_Grouped):
    """Arrival at an mbarrier once earlier tensor-memory instructions are complete.

    With a mask, each CTA of the mask receives the arrival, at the same shared-memory offset.
    """

    addr = operand_def(LLVMPointerType)
    multicastMask = opt_operand_def(i16)
    assembly_format = "$addr (`,` `multicast_mask` `=` $multicastMask^)? attr-dict `:` type(operands)"

    def lower(self) -> Lowering:
        # LLVM has an intrinsic for each type of pointer. The instruction is the same.
        return Lowering([self.declared(in_shared=1 if space_of(self.addr) else None)])


@operation("nvvm.tcgen05.shift", tcgen05.SHIFT)
class Shift(_Grouped):
    """Shift of the rows of a matrix in tensor memory by one row down."""

    taddr = operand_def(pointer(TENSOR_SPACE))
    assembly_format = "$taddr attr-dict `:` type(operands)"


@operation("nvvm.tcgen05.cp", tcgen05.CP, names={"smem_desc": "s_desc", "srcFormat": "src_fmt"})
class Cp(_Grouped):
    """Copy of a matrix from shared to tensor memory. A descriptor locates the source."""

    shape = prop_def(CopyShape)
    multicast = prop_def(CopyMulticast, default_value=CopyMulticast("none"))
    srcFormat = opt_prop_def(CopyFormat)
    taddr = operand_def(pointer(TENSOR_SPACE))
    smem_desc = operand_def(i64)
    assembly_format = "$taddr `,` $smem_desc attr-dict"

    def check(self) -> None:
        multicast, shape = self.multicast.data, self.shape.word
        needed = _MULTICASTS.get(shape)
        name = self.name.removeprefix("nvvm.")
        if needed is None and multicast != "none":
            raise self.error(f"Invalid multicast type for {name} Op")
        if needed is not None and multicast not in needed:
            raise self.error(f"Shape {shape} requires multicast {' or '.join(reversed(needed))} for {name} Op")

    def lower(self) -> Lowering:
        return Lowering([self.declared({} if self.srcFormat is None else {"dst_fmt": "b8x16"})])


class _Access(Operation):
    """Load or store of tensor memory."""

    shape = prop_def(TensorShape)

    if TYPE_CHECKING:
        tmemAddr: SSAValue
        # Distance between the two halves of the shape 16x32bx2.
        offset: SSAValue | None

    def check(self) -> None:
        is_split = self.shape.word == _HALVES
        if is_split and self.offset is None:
            raise self.error(f"shape {_HALVES} requires offset argument")
        if not is_split and self.offset is not None:
            raise self.error(f"offset argument is only supported for shape {_HALVES}")

    def access(self, value: SSAValue, words: dict[str, str]) -> Lowering:
        """Return the lowering of the load or store. `value` is the loaded or stored value."""
        shape, count = self.shape.word, len(registers_of(value.type))
        each = _REGISTERS_OF_SHAPE.get(shape, 1)
        if count % each:
            raise self.error(f"has {count} registers; expected a multiple of {each} for a shape of {shape}")
        # The number of registers determines the repeat count.
        words |= {"shape": shape, "num": f"x{count // each}"}
        return self.instruction(words, taddr=self.tmemAddr, r=Registers([value]), immHalfSplitoff=self.offset)


@operation("nvvm.tcgen05.ld", tcgen05.LD, tcgen05.LD_SPLIT)
class Ld(_Access):
    """Load from tensor memory to registers."""

    pack = opt_prop_def(UnitAttr)
    tmemAddr = operand_def(pointer(TENSOR_SPACE))
    offset = opt_operand_def(i64)
    res = result_def(eq(i32) | BaseAttr(VectorType))
    assembly_format = "$tmemAddr (`,` $offset^)? (`pack` $pack^)? attr-dict `:` type($res)"

    def lower(self) -> Lowering:
        return self.access(self.res, {"pack": "" if self.pack is None else "pack::16b"})


@operation("nvvm.tcgen05.st", tcgen05.ST, tcgen05.ST_SPLIT)
class St(_Access):
    """Store from registers to tensor memory."""

    unpack = opt_prop_def(UnitAttr)
    tmemAddr = operand_def(pointer(TENSOR_SPACE))
    val = operand_def(eq(i32) | BaseAttr(VectorType))
    offset = opt_operand_def(i64)
    assembly_format = "$tmemAddr `,` $val (`,` $offset^)? (`unpack` $unpack^)? attr-dict `:` type($val)"

    def lower(self) -> Lowering:
        return self.access(self.val, {"unpack": "" if self.unpack is None else "unpack::16b"})
