"""Tensor memory: allocation, loads and stores, copies, and their order."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr, VectorType, i16, i32, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.irdl import (
    BaseAttr,
    eq,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)

from warploom.nvvm.dialect.copies import MULTICAST, stated
from warploom.nvvm.dialect.operation import Operation
from warploom.nvvm.dialect.pieces import (
    TENSOR_SPACE,
    At,
    Code,
    Constant,
    Fragment,
    Piece,
    Statement,
    pointer,
    registers_of,
    space_of,
)
from warploom.nvvm.dialect.vocabulary import (
    CopyFormat,
    CopyMulticast,
    CopyShape,
    CtaGroup,
    TensorShape,
    TensorWait,
    ThreadSync,
)

_ONE = CtaGroup("cta_1")
_SPLIT = "16x32bx2"
"""The shape of two halves, whose distance is an operand."""
_MULTICASTS = {"64x128b": ("warpx2_02_13", "warpx2_01_23"), "32x128b": ("warpx4",)}


def group_word(group: CtaGroup) -> dict[str, str]:
    """The word that says how many CTAs work as one."""
    return {"cta_group": group.data.replace("cta_", "cta_group::")}


@irdl_op_definition
class Alloc(Operation):
    """Takes columns of tensor memory, and writes their address to shared memory."""

    name = "nvvm.tcgen05.alloc"
    FORMS: ClassVar[tuple[str, ...]] = ("tcgen05.alloc",)
    addr = operand_def(LLVMPointerType)
    nCols = operand_def(i32)
    group = prop_def(CtaGroup, default_value=_ONE)
    assembly_format = "$addr `,` $nCols attr-dict `:` type(operands)"

    def code(self) -> Code:
        words = {**group_word(self.group), "ss": stated(space_of(self.addr))}
        return Code([Statement(self.FORMS, words, {"dst": At(self.addr), "nCols": self.nCols})])


@irdl_op_definition
class Dealloc(Operation):
    """Gives columns of tensor memory back."""

    name = "nvvm.tcgen05.dealloc"
    FORMS: ClassVar[tuple[str, ...]] = ("tcgen05.dealloc",)
    taddr = operand_def(pointer(TENSOR_SPACE))
    nCols = operand_def(i32)
    group = prop_def(CtaGroup, default_value=_ONE)
    assembly_format = "$taddr `,` $nCols attr-dict `:` type(operands)"

    def code(self) -> Code:
        operands: dict[str, Piece] = {"taddr": self.taddr, "nCols": self.nCols}
        return Code([Statement(self.FORMS, group_word(self.group), operands)])


@irdl_op_definition
class RelinquishAllocPermit(Operation):
    """Says that the CTA takes no more tensor memory."""

    name = "nvvm.tcgen05.relinquish_alloc_permit"
    FORMS: ClassVar[tuple[str, ...]] = ("tcgen05.relinquish",)
    group = prop_def(CtaGroup, default_value=_ONE)
    assembly_format = "attr-dict"

    def code(self) -> Code:
        return Code([Statement(self.FORMS, group_word(self.group), {})])


@irdl_op_definition
class Fence(Operation):
    """Orders tensor memory before or after a synchronisation of threads."""

    name = "nvvm.tcgen05.fence"
    FORMS: ClassVar[tuple[str, ...]] = ("tcgen05.fence",)
    kind = prop_def(ThreadSync)
    assembly_format = "$kind attr-dict"

    def code(self) -> Code:
        return Code([Statement(self.FORMS, {"op": f"fence::{self.kind.data}_thread_sync"}, {})])


@irdl_op_definition
class Wait(Operation):
    """Waits for the thread's loads, or stores, of tensor memory."""

    name = "nvvm.tcgen05.wait"
    FORMS: ClassVar[tuple[str, ...]] = ("tcgen05.wait",)
    kind = prop_def(TensorWait)
    assembly_format = "$kind attr-dict"

    def code(self) -> Code:
        op = {"load": "wait::ld", "store": "wait::st"}[self.kind.data]
        return Code([Statement(self.FORMS, {"op": op}, {})])


@irdl_op_definition
class Commit(Operation):
    """Arrives at an mbarrier, or at one of each CTA of a mask, when what was issued is done."""

    name = "nvvm.tcgen05.commit"
    FORMS: ClassVar[tuple[str, ...]] = ("tcgen05.commit",)
    addr = operand_def(LLVMPointerType)
    multicastMask = opt_operand_def(i16)
    group = prop_def(CtaGroup, default_value=_ONE)
    assembly_format = "$addr (`,` `multicast_mask` `=` $multicastMask^)? attr-dict `:` type(operands)"

    def code(self) -> Code:
        words = {**group_word(self.group), "ss": "shared::cluster"}
        operands: dict[str, Piece] = {"mbar": At(self.addr)}
        if self.multicastMask is not None:
            operands["ctaMask"], words["multicast"] = self.multicastMask, MULTICAST
        return Code([Statement(self.FORMS, words, operands)])


@irdl_op_definition
class Shift(Operation):
    """Moves the rows of a matrix in tensor memory down by one."""

    name = "nvvm.tcgen05.shift"
    FORMS: ClassVar[tuple[str, ...]] = ("tcgen05.shift",)
    taddr = operand_def(pointer(TENSOR_SPACE))
    group = prop_def(CtaGroup, default_value=_ONE)
    assembly_format = "$taddr attr-dict `:` type(operands)"

    def code(self) -> Code:
        return Code([Statement(self.FORMS, group_word(self.group), {"taddr": At(self.taddr)})])


@irdl_op_definition
class Cp(Operation):
    """Copies a matrix behind a descriptor from shared to tensor memory."""

    name = "nvvm.tcgen05.cp"
    FORMS: ClassVar[tuple[str, ...]] = ("tcgen05.cp",)
    shape = prop_def(CopyShape)
    group = prop_def(CtaGroup, default_value=_ONE)
    multicast = prop_def(CopyMulticast, default_value=CopyMulticast("none"))
    srcFormat = opt_prop_def(CopyFormat)
    taddr = operand_def(pointer(TENSOR_SPACE))
    smem_desc = operand_def(i64)
    assembly_format = "$taddr `,` $smem_desc attr-dict"

    @property
    def _called(self) -> str:
        return self.name.removeprefix("nvvm.")

    @property
    def _shape(self) -> str:
        return self.shape.data.removeprefix("shape_")

    def check(self) -> None:
        multicast = self.multicast.data
        needed = _MULTICASTS.get(self._shape)
        if needed is None and multicast != "none":
            raise self.refuse(f"Invalid multicast type for {self._called} Op")
        if needed is not None and multicast not in needed:
            raise self.refuse(
                f"Shape {self._shape} requires multicast {' or '.join(reversed(needed))} for {self._called} Op"
            )

    def code(self) -> Code:
        multicast = self.multicast.data
        words = {
            **group_word(self.group),
            "shape": self._shape,
            "multicast": "" if multicast == "none" else multicast.replace("x2_", "x2::"),
        }
        if self.srcFormat is not None:
            words |= {"dst_fmt": "b8x16", "src_fmt": self.srcFormat.data}
        operands: dict[str, Piece] = {"taddr": At(self.taddr), "s_desc": self.smem_desc}
        return Code([Statement(self.FORMS, words, operands)])


# Loads and stores -------------------------------------------------------------------------------------------


def _repeats(operation: Ld | St, count: int) -> str:
    """How often the shape is repeated in so many registers."""
    each = {"16x128b": 2, "16x256b": 4}.get(_shape(operation), 1)
    if count % each:
        raise operation.refuse(f"has {count} registers; a shape of {_shape(operation)} has {each} each time")
    return f"x{count // each}"


def _shape(operation: Ld | St) -> str:
    return operation.shape.data.removeprefix("shape_")


def _check_offset(operation: Ld | St) -> None:
    if (_shape(operation) == _SPLIT) != (operation.offset is not None):
        raise operation.refuse(
            "offset argument is only supported for shape 16x32bx2"
            if operation.offset is not None
            else "shape 16x32bx2 requires offset argument"
        )


def _forms(operation: Ld | St) -> tuple[str, ...]:
    """The form of rows that lie together, or that of two halves."""
    together, split = operation.FORMS
    return (together,) if operation.offset is None else (split,)


@irdl_op_definition
class Ld(Operation):
    """Loads tensor memory into registers."""

    name = "nvvm.tcgen05.ld"
    FORMS: ClassVar[tuple[str, ...]] = ("tcgen05.ld", "tcgen05.ld-split")
    pack = opt_prop_def(UnitAttr)
    shape = prop_def(TensorShape)
    tmemAddr = operand_def(pointer(TENSOR_SPACE))
    offset = opt_operand_def(i64)
    res = result_def(eq(i32) | BaseAttr(VectorType))
    assembly_format = "$tmemAddr (`,` $offset^)? (`pack` $pack^)? attr-dict `:` type($res)"

    def check(self) -> None:
        _check_offset(self)

    def code(self) -> Code:
        words = {
            "shape": _shape(self),
            "num": _repeats(self, len(registers_of(self.res.type))),
            "pack": "" if self.pack is None else "pack::16b",
        }
        operands: dict[str, Piece] = {"r": Fragment.of(self.res), "taddr": At(self.tmemAddr)}
        if self.offset is not None:
            operands["immHalfSplitoff"] = Constant(self.offset)
        return Code([Statement(_forms(self), words, operands)])


@irdl_op_definition
class St(Operation):
    """Stores registers to tensor memory."""

    name = "nvvm.tcgen05.st"
    FORMS: ClassVar[tuple[str, ...]] = ("tcgen05.st", "tcgen05.st-split")
    unpack = opt_prop_def(UnitAttr)
    shape = prop_def(TensorShape)
    tmemAddr = operand_def(pointer(TENSOR_SPACE))
    val = operand_def(eq(i32) | BaseAttr(VectorType))
    offset = opt_operand_def(i64)
    assembly_format = "$tmemAddr `,` $val (`,` $offset^)? (`unpack` $unpack^)? attr-dict `:` type($val)"

    def check(self) -> None:
        _check_offset(self)

    def code(self) -> Code:
        words = {
            "shape": _shape(self),
            "num": _repeats(self, len(registers_of(self.val.type))),
            "unpack": "" if self.unpack is None else "unpack::16b",
        }
        operands: dict[str, Piece] = {"taddr": At(self.tmemAddr), "r": Fragment.of(self.val)}
        if self.offset is not None:
            operands["immHalfSplitoff"] = Constant(self.offset)
        return Code([Statement(_forms(self), words, operands)])
