"""Asynchronous copies of bytes: nvvm.cp.async and the bulk copies."""

from xdsl.dialects.builtin import I32, I64, IntAttr, IntegerAttr, UnitAttr, i1, i16, i32, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.irdl import IRDLOperation, operand_def, opt_operand_def, opt_prop_def, prop_def
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from warploom.isa.instructions import async_copy, bulk
from warploom.nvvm.dialect.attributes import CacheModifier
from warploom.nvvm.dialect.operation import SEGMENTED, Operation, operation
from warploom.nvvm.dialect.types import pointer, pointer_to


@irdl_custom_directive
class Pointer(CustomDirective):
    """Assembly-format directive for a pointer type. MLIR prints only the address space: `<3>`."""

    pointer: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parse the address space, or the whole type."""
        if parser.parse_optional_punctuation("<"):
            space = parser.parse_integer()
            parser.parse_punctuation(">")
            self.pointer.set(state, (LLVMPointerType(IntAttr(space)),))
            return
        self.pointer.parse(parser, state)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Print the address space, or the whole type of a generic pointer."""
        (found,) = self.pointer.get(op)
        if not isinstance(found, LLVMPointerType) or not isinstance(found.addr_space, IntAttr):
            self.pointer.print(printer, state, op)
            return
        state.print_whitespace(printer)
        printer.print_string(f"<{found.addr_space.data}>")


@operation(
    "nvvm.cp.async.shared.global",
    async_copy.CP_ASYNC,
    names={"size": "cp_size", "cpSize": "src_size", "modifier": "cop"},
    spaces={"shared_space": "dst"},
)
class CpAsync(Operation):
    """Copy of 4, 8 or 16 bytes from global to shared memory by each thread."""

    dst = operand_def(pointer(3))
    src = operand_def(pointer(1))
    size = prop_def(IntegerAttr[I32])
    modifier = prop_def(CacheModifier)
    cpSize = opt_operand_def(i32)
    assembly_format = "$dst `,` $src `,` $size `,` `cache` `=` $modifier (`,` $cpSize^)? attr-dict `:` type(operands)"

    def check(self) -> None:
        size, modifier = self.size.value.data, self.modifier.data
        if modifier not in {"ca", "cg"}:
            raise self.error("Only CG and CA cache modifiers are supported.")
        if size not in {4, 8, 16}:
            raise self.error("expected byte size to be either 4, 8 or 16.")
        if modifier == "cg" and size != 16:
            raise self.error("CG cache modifier is only support for 16 bytes copy.")


@operation("nvvm.cp.async.commit.group", async_copy.COMMIT)
class CpAsyncCommitGroup(Operation):
    """Commit of the thread's earlier copies to a group."""


@operation("nvvm.cp.async.wait.group", async_copy.WAIT_GROUP, names={"n": "N"})
class CpAsyncWaitGroup(Operation):
    """Wait until at most the latest `n` groups are pending."""

    n = prop_def(IntegerAttr[I32])
    assembly_format = "$n attr-dict"


@operation("nvvm.cp.async.mbarrier.arrive", async_copy.ARRIVE, spaces={"space": "addr"})
class CpAsyncMbarrierArrive(Operation):
    """Arrival at an mbarrier once the thread's earlier copies are complete."""

    addr = operand_def(pointer(0, 3))
    noinc = prop_def(IntegerAttr.constr(i1), default_value=IntegerAttr(0, 1))
    assembly_format = "$addr attr-dict `:` type(operands)"


# Bulk copies ------------------------------------------------------------------------------------------------


@operation("nvvm.cp.async.bulk.shared.cluster.global", bulk.LOAD, spaces={"dst": "dstMem"})
class BulkLoad(Operation):
    """Bulk copy from global memory to the shared memory of one or several CTAs of the cluster."""

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
        if self.multicastMask is not None and self.dstMem.type == pointer_to(3):
            raise self.error("Multicast is not supported with shared::cta mode.")


@operation("nvvm.cp.async.bulk.prefetch", bulk.PREFETCH)
class BulkPrefetch(Operation):
    """Bulk prefetch of global memory to the L2 cache."""

    srcMem = operand_def(pointer(1))
    size = operand_def(i32)
    l2CacheHint = opt_operand_def(i64)
    custom_directives = (Pointer,)
    assembly_format = (
        "$srcMem `,` $size (`l2_cache_hint` `=` $l2CacheHint^)? attr-dict `:` custom<Pointer>(type($srcMem))"
    )


@operation("nvvm.cp.async.bulk.global.shared.cta", bulk.STORE)
class BulkStore(Operation):
    """Bulk copy from shared to global memory. A mask may select bytes in each chunk of 16 bytes."""

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


@operation("nvvm.cp.async.bulk.shared.cluster.shared.cta", bulk.COPY_IN_CLUSTER, spaces={"dst": "dstMem"})
class BulkInCluster(Operation):
    """Bulk copy from the shared memory of this CTA to the shared memory of another CTA in the cluster."""

    dstMem = operand_def(pointer(7))
    srcMem = operand_def(pointer(3))
    mbar = operand_def(pointer(3))
    size = operand_def(i32)
    custom_directives = (Pointer,)
    assembly_format = (
        "$dstMem `,` $srcMem `,` $mbar `,` $size"
        " attr-dict `:` custom<Pointer>(type($dstMem)) `,` custom<Pointer>(type($srcMem))"
    )


@operation("nvvm.cp.async.bulk.commit.group", bulk.COMMIT)
class BulkCommitGroup(Operation):
    """Commit of the thread's earlier bulk copies to a group."""


@operation("nvvm.cp.async.bulk.wait_group", bulk.WAIT_GROUP, names={"group": "N"})
class BulkWaitGroup(Operation):
    """Wait until at most the latest `group` bulk groups are pending.

    With `read`, a group is no longer pending once its sources have been read.
    """

    group = prop_def(IntegerAttr[I32])
    read = opt_prop_def(UnitAttr)
    assembly_format = "$group attr-dict"

    def check(self) -> None:
        if self.group.value.data < 0:
            raise self.error("attribute 'group' failed to satisfy constraint: at least 0")


@operation("nvvm.st.bulk", bulk.ZERO, names={"addr": "a", "initVal": "initval"}, spaces={"ss": "addr"})
class BulkZero(Operation):
    """Bulk store of zeros to shared memory."""

    addr = operand_def(pointer(0, 3))
    size = operand_def(i64)
    initVal = prop_def(IntegerAttr[I64], default_value=IntegerAttr(0, 64))
    assembly_format = "$addr `,` `size` `=` $size (`,` `init` `=` $initVal^)? attr-dict `:` type($addr)"

    def check(self) -> None:
        if self.initVal.value.data != 0:
            raise self.error(f"only 0 is supported for initVal, got {self.initVal.value.data}")
