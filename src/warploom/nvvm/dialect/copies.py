"""Copies that the executing thread does not wait for: nvvm.cp.async, and those of bytes in bulk."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import I32, I64, IntAttr, IntegerAttr, UnitAttr, i1, i16, i32, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
)
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from warploom.nvvm.dialect.operation import SEGMENTED, Operation
from warploom.nvvm.dialect.pieces import At, Code, Piece, Statement, pointer, space_of
from warploom.nvvm.dialect.vocabulary import CacheModifier

HINT = "L2::cache_hint"
MULTICAST = "multicast::cluster"


@irdl_custom_directive
class Pointer(CustomDirective):
    """The type of a pointer, of which MLIR writes no more than the address space: `<3>`."""

    pointer: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Either spelling."""
        if parser.parse_optional_punctuation("<"):
            space = parser.parse_integer()
            parser.parse_punctuation(">")
            self.pointer.set(state, (LLVMPointerType(IntAttr(space)),))
            return
        self.pointer.parse(parser, state)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """The address space, where there is one."""
        (found,) = self.pointer.get(op)
        if not isinstance(found, LLVMPointerType) or not isinstance(found.addr_space, IntAttr):
            self.pointer.print(printer, state, op)
            return
        state.print_whitespace(printer)
        printer.print_string(f"<{found.addr_space.data}>")


def stated(space: str) -> str:
    """The space of shared memory as instructions of bulk copies name it."""
    return f"{space}::cta" if space == "shared" else space


@irdl_op_definition
class CpAsync(Operation):
    """Copies 4, 8 or 16 bytes of each thread from global to shared memory."""

    name = "nvvm.cp.async.shared.global"
    FORMS: ClassVar[tuple[str, ...]] = ("async_copy.cp_async",)
    dst = operand_def(pointer(3))
    src = operand_def(pointer(1))
    size = prop_def(IntegerAttr[I32])
    modifier = prop_def(CacheModifier)
    cpSize = opt_operand_def(i32)
    assembly_format = (
        "$dst `,` $src `,` $size `,` `cache` `=` $modifier (`,` $cpSize^)? attr-dict `:` type(operands)"
    )

    def check(self) -> None:
        size, modifier = self.size.value.data, self.modifier.data
        if modifier not in {"ca", "cg"}:
            raise self.refuse("Only CG and CA cache modifiers are supported.")
        if size not in {4, 8, 16}:
            raise self.refuse("expected byte size to be either 4, 8 or 16.")
        if modifier == "cg" and size != 16:
            raise self.refuse("CG cache modifier is only support for 16 bytes copy.")

    def code(self) -> Code:
        operands: dict[str, Piece] = {
            "dst": At(self.dst),
            "src": At(self.src),
            "cp_size": self.size.value.data,
        }
        if self.cpSize is not None:
            operands["src_size"] = self.cpSize
        words = {"cop": self.modifier.data, "shared_space": space_of(self.dst)}
        return Code([Statement(self.FORMS, words, operands)])


@irdl_op_definition
class CpAsyncCommitGroup(Operation):
    """Closes the group of the thread's copies so far."""

    name = "nvvm.cp.async.commit.group"
    FORMS: ClassVar[tuple[str, ...]] = ("async_copy.commit_group",)
    assembly_format = "attr-dict"

    def code(self) -> Code:
        return Code([Statement(self.FORMS, {}, {})])


@irdl_op_definition
class CpAsyncWaitGroup(Operation):
    """Waits until at most so many of the latest groups are in flight."""

    name = "nvvm.cp.async.wait.group"
    FORMS: ClassVar[tuple[str, ...]] = ("async_copy.wait_group",)
    n = prop_def(IntegerAttr[I32])
    assembly_format = "$n attr-dict"

    def code(self) -> Code:
        return Code([Statement(self.FORMS, {}, {"N": self.n.value.data})])


@irdl_op_definition
class CpAsyncMbarrierArrive(Operation):
    """Arrives at an mbarrier when the thread's copies so far are done."""

    name = "nvvm.cp.async.mbarrier.arrive"
    FORMS: ClassVar[tuple[str, ...]] = ("async_copy.mbarrier_arrive",)
    addr = operand_def(pointer(0, 3))
    noinc = prop_def(IntegerAttr.constr(i1), default_value=IntegerAttr(0, 1))
    assembly_format = "$addr attr-dict `:` type(operands)"

    def code(self) -> Code:
        words = {"space": space_of(self.addr), "noinc": "noinc" if self.noinc.value.data else ""}
        return Code([Statement(self.FORMS, words, {"addr": At(self.addr)})])


# Bytes in bulk ----------------------------------------------------------------------------------------------


@irdl_op_definition
class BulkLoad(Operation):
    """Copies bytes from global memory to the shared memory of a CTA, or of several in a cluster."""

    name = "nvvm.cp.async.bulk.shared.cluster.global"
    FORMS: ClassVar[tuple[str, ...]] = ("bulk.load",)
    irdl_options = SEGMENTED
    dstMem = operand_def(pointer(3, 7))
    srcMem = operand_def(pointer(1))
    mbar = operand_def(pointer(3))
    size = operand_def(i32)
    multicastMask = opt_operand_def(i16)
    l2CacheHint = opt_operand_def(i64)
    custom_directives = (Pointer,)
    assembly_format = (
        "$dstMem `,` $srcMem `,` $mbar `,` $size (`multicast_mask` `=` $multicastMask^)?"
        " (`l2_cache_hint` `=` $l2CacheHint^)? attr-dict `:` type($dstMem) `,` custom<Pointer>(type($srcMem))"
    )

    def check(self) -> None:
        if self.multicastMask is not None and space_of(self.dstMem) == "shared":
            raise self.refuse("Multicast is not supported with shared::cta mode.")

    def code(self) -> Code:
        operands: dict[str, Piece] = {
            "dstMem": At(self.dstMem),
            "srcMem": At(self.srcMem),
            "size": self.size,
            "mbar": At(self.mbar),
        }
        words = {"dst": stated(space_of(self.dstMem))}
        if self.multicastMask is not None:
            operands["ctaMask"], words["multicast"] = self.multicastMask, MULTICAST
        if self.l2CacheHint is not None:
            operands["cache_policy"], words["level::cache_hint"] = self.l2CacheHint, HINT
        return Code([Statement(self.FORMS, words, operands)])


@irdl_op_definition
class BulkPrefetch(Operation):
    """Brings bytes of global memory into the second cache."""

    name = "nvvm.cp.async.bulk.prefetch"
    FORMS: ClassVar[tuple[str, ...]] = ("bulk.prefetch",)
    srcMem = operand_def(pointer(1))
    size = operand_def(i32)
    l2CacheHint = opt_operand_def(i64)
    custom_directives = (Pointer,)
    assembly_format = (
        "$srcMem `,` $size (`l2_cache_hint` `=` $l2CacheHint^)? attr-dict `:` custom<Pointer>(type($srcMem))"
    )

    def code(self) -> Code:
        operands: dict[str, Piece] = {"srcMem": At(self.srcMem), "size": self.size}
        words: dict[str, str] = {}
        if self.l2CacheHint is not None:
            operands["cache_policy"], words["level::cache_hint"] = self.l2CacheHint, HINT
        return Code([Statement(self.FORMS, words, operands)])


@irdl_op_definition
class BulkStore(Operation):
    """Copies bytes from shared to global memory; a mask says which of every 16."""

    name = "nvvm.cp.async.bulk.global.shared.cta"
    FORMS: ClassVar[tuple[str, ...]] = ("bulk.store",)
    irdl_options = SEGMENTED
    dstMem = operand_def(pointer(1))
    srcMem = operand_def(pointer(3))
    size = operand_def(i32)
    l2CacheHint = opt_operand_def(i64)
    byteMask = opt_operand_def(i16)
    custom_directives = (Pointer,)
    assembly_format = (
        "$dstMem `,` $srcMem `,` $size (`l2_cache_hint` `=` $l2CacheHint^)? (`byte_mask` `=` $byteMask^)?"
        " attr-dict `:` custom<Pointer>(type($dstMem)) `,` custom<Pointer>(type($srcMem))"
    )

    def code(self) -> Code:
        operands: dict[str, Piece] = {
            "dstMem": At(self.dstMem),
            "srcMem": At(self.srcMem),
            "size": self.size,
        }
        words: dict[str, str] = {}
        if self.l2CacheHint is not None:
            operands["cache_policy"], words["level::cache_hint"] = self.l2CacheHint, HINT
        if self.byteMask is not None:
            operands["byteMask"], words["cp_mask"] = self.byteMask, "cp_mask"
        return Code([Statement(self.FORMS, words, operands)])


@irdl_op_definition
class BulkInCluster(Operation):
    """Copies bytes from the shared memory of this CTA to that of another in its cluster."""

    name = "nvvm.cp.async.bulk.shared.cluster.shared.cta"
    FORMS: ClassVar[tuple[str, ...]] = ("bulk.copy_in_cluster",)
    dstMem = operand_def(pointer(7))
    srcMem = operand_def(pointer(3))
    mbar = operand_def(pointer(3))
    size = operand_def(i32)
    custom_directives = (Pointer,)
    assembly_format = (
        "$dstMem `,` $srcMem `,` $mbar `,` $size"
        " attr-dict `:` custom<Pointer>(type($dstMem)) `,` custom<Pointer>(type($srcMem))"
    )

    def code(self) -> Code:
        operands: dict[str, Piece] = {
            "dstMem": At(self.dstMem),
            "srcMem": At(self.srcMem),
            "size": self.size,
            "mbar": At(self.mbar),
        }
        return Code([Statement(self.FORMS, {"dst": space_of(self.dstMem)}, operands)])


@irdl_op_definition
class BulkCommitGroup(Operation):
    """Closes the group of the thread's copies in bulk so far."""

    name = "nvvm.cp.async.bulk.commit.group"
    FORMS: ClassVar[tuple[str, ...]] = ("bulk.commit_group",)
    assembly_format = "attr-dict"

    def code(self) -> Code:
        return Code([Statement(self.FORMS, {}, {})])


@irdl_op_definition
class BulkWaitGroup(Operation):
    """Waits until at most so many of the latest groups are in flight, or have yet to read their sources."""

    name = "nvvm.cp.async.bulk.wait_group"
    FORMS: ClassVar[tuple[str, ...]] = ("bulk.wait_group",)
    group = prop_def(IntegerAttr[I32])
    read = opt_prop_def(UnitAttr)
    assembly_format = "$group attr-dict"

    def check(self) -> None:
        if self.group.value.data < 0:
            raise self.refuse("attribute 'group' failed to satisfy constraint: at least 0")

    def code(self) -> Code:
        words = {"read": "read" if self.read is not None else ""}
        return Code([Statement(self.FORMS, words, {"N": self.group.value.data})])


@irdl_op_definition
class BulkZero(Operation):
    """Writes zeros to shared memory."""

    name = "nvvm.st.bulk"
    FORMS: ClassVar[tuple[str, ...]] = ("bulk.zero",)
    addr = operand_def(pointer(0, 3))
    size = operand_def(i64)
    initVal = prop_def(IntegerAttr[I64], default_value=IntegerAttr(0, 64))
    assembly_format = "$addr `,` `size` `=` $size (`,` `init` `=` $initVal^)? attr-dict `:` type($addr)"

    def check(self) -> None:
        if self.initVal.value.data != 0:
            raise self.refuse(f"only 0 is supported for initVal, got {self.initVal.value.data}")

    def code(self) -> Code:
        operands: dict[str, Piece] = {
            "a": At(self.addr),
            "size": self.size,
            "initval": self.initVal.value.data,
        }
        return Code([Statement(self.FORMS, {"ss": stated(space_of(self.addr))}, operands)])
