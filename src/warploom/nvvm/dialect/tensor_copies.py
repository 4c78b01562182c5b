"""Tensor copies through TMA: the operations whose names begin with nvvm.cp.async.bulk.tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i1, i16, i32, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, var_operand_def

from warploom.isa.instructions import tensor
from warploom.isa.model.form import Form
from warploom.nvvm.dialect.attributes import CtaGroup, EnumAttribute, LoadMode, Reduction, StoreMode
from warploom.nvvm.dialect.copies import Pointer
from warploom.nvvm.dialect.lowering import Lowering, Memory, Registers
from warploom.nvvm.dialect.operation import SEGMENTED, Operation, operation
from warploom.nvvm.dialect.types import pointer, space_of

_INLINE_ORDER = ("load_mode", "multicast", "level::cache_hint", "cta_group")
"""Modifiers that are printed last in the inline PTX of a predicated operation."""
_ROW_COORDINATES = 5
"""Coordinates of a gather or scatter: one column and four rows."""
_IM2COL = dict.fromkeys(("im2col", "im2col_w", "im2col_w_128"), tensor.LOAD_IM2COL)
_LOADS = {"tile": tensor.LOAD, "tile_gather4": tensor.GATHER, **_IM2COL}
_PREFETCHES = {
    "tile": tensor.PREFETCH,
    "tile_gather4": tensor.PREFETCH_ROWS,
    **dict.fromkeys(_IM2COL, tensor.PREFETCH_IM2COL),
}
_STORES = {"tile": tensor.STORE, "im2col": tensor.STORE_IM2COL, "tile_scatter4": tensor.SCATTER}
_REDUCTIONS = {"tile": tensor.REDUCE, "im2col": tensor.REDUCE_IM2COL}


def _forms(by_mode: dict[str, Form]) -> tuple[Form, ...]:
    return tuple(dict.fromkeys(by_mode.values()))


class _TensorCopy(Operation):
    """Copy, prefetch or reduction of a box of a tensor."""

    irdl_options = SEGMENTED
    BY_MODE: ClassVar[Mapping[str, Form]]
    """Form of the instruction by addressing mode."""

    if TYPE_CHECKING:
        mode: EnumAttribute
        tmaDescriptor: SSAValue
        coordinates: Sequence[SSAValue]
        l2CacheHint: SSAValue | None

    def check_box(self) -> None:
        """Raise VerifyException if the mode does not allow the number of coordinates."""
        mode, count = self.mode.data, len(self.coordinates)
        if mode.endswith("4"):
            if count != _ROW_COORDINATES:
                name = mode.removeprefix("tile_").capitalize()
                raise self.error(f"{name} mode expects {_ROW_COORDINATES} coordinates")
        elif not 1 <= count <= 5:
            raise self.error("expects coordinates between 1 to 5 dimension")
        elif mode in _IM2COL and count < 3:
            raise self.error("to use im2col mode, the tensor has to be at least 3-dimensional")

    def check_offsets(self, offsets: Sequence[SSAValue]) -> None:
        """Raise VerifyException if the mode does not allow the number of im2col offsets."""
        mode = self.mode.data
        expected = len(self.coordinates) - 2 if mode == "im2col" else 2 if mode in _IM2COL else 0
        if len(offsets) != expected:
            raise self.error(f"im2col offsets expected {expected} (provided {len(offsets)})")

    def lower(self) -> Lowering:
        """Return the instruction that copies the box."""
        is_predicated = getattr(self, "predicate", None) is not None
        mode, box = self.mode.data, Memory(self.tmaDescriptor, self.coordinates)
        words = {"dim": "2d" if mode.endswith("4") else f"{len(self.coordinates)}d"}
        # As in the output of MLIR, a predicated instruction omits the optional `.tile`.
        if mode == "tile" and not is_predicated:
            words["tile"] = "tile"
        if is_predicated and "dst" in self.SPACES:
            words["dst"] = "shared::cluster"
        if self.BY_MODE[mode] in (tensor.LOAD_IM2COL, tensor.PREFETCH_IM2COL):
            words["load_mode"] = mode.replace("_w_128", "::w::128").replace("_w", "::w")
        offsets = getattr(self, "im2colOffsets", ())
        late = _INLINE_ORDER if is_predicated else ("cta_group",)
        found = self.declared(words, late, tensorMap=box, im2colInfo=Registers(offsets) if offsets else None)
        return Lowering([replace(found, forms=(self.BY_MODE[mode],))])


@operation("nvvm.cp.async.bulk.tensor.shared.cluster.global", *_forms(_LOADS), spaces={"dst": "dstMem"})
class TensorLoad(_TensorCopy):
    """Copy of a box of a tensor to shared memory."""

    BY_MODE: ClassVar[Mapping[str, Form]] = _LOADS
    dstMem = operand_def(pointer(3, 7))
    tmaDescriptor = operand_def(pointer(0))
    coordinates = var_operand_def(i32)
    mbar = operand_def(pointer(3))
    im2colOffsets = var_operand_def(i16)
    multicastMask = opt_operand_def(i16)
    l2CacheHint = opt_operand_def(i64)
    mode = prop_def(LoadMode, default_value=LoadMode("tile"))
    isCTAOnly = prop_def(BoolAttr, default_value=IntegerAttr.from_bool(False))
    group = opt_prop_def(CtaGroup)
    predicate = opt_operand_def(i1)
    custom_directives = (Pointer,)
    assembly_format = (
        "$dstMem `,` $tmaDescriptor `,` $mbar `,` `box` `[` $coordinates `]` (`im2col` `[` $im2colOffsets^ `]`)?"
        " (`multicast_mask` `=` $multicastMask^)? (`l2_cache_hint` `=` $l2CacheHint^)?"
        " (`predicate` `=` $predicate^)? attr-dict `:` type($dstMem) `,` type($tmaDescriptor)"
    )

    def check(self) -> None:
        mode = self.mode.data
        self.check_box()
        self.check_offsets(self.im2colOffsets)
        is_cluster, is_cta_only = space_of(self.dstMem) == "shared::cluster", bool(self.isCTAOnly.value.data)
        if self.predicate is not None:
            # A destination in the shared memory of the CTA is also an address of the cluster's shared memory.
            if is_cta_only:
                raise self.error("Predicate is supported only for shared::cluster mode.")
            if mode not in {"tile", "im2col"}:
                raise self.error("Predicate is supported only for Tile and Im2col modes.")
        elif is_cta_only == is_cluster:
            space, number = ("cta", 3) if is_cta_only else ("cluster", 7)
            raise self.error(f"Shared::{space} destination requires address-space {number}.")
        elif is_cta_only and self.multicastMask is not None:
            raise self.error("Multicast is not supported with shared::cta mode.")
        elif is_cta_only and self.group is not None:
            raise self.error("CTAGroup is not supported with shared::cta mode.")


@operation("nvvm.cp.async.bulk.tensor.prefetch", *_forms(_PREFETCHES))
class TensorPrefetch(_TensorCopy):
    """Prefetch of a box of a tensor to the L2 cache."""

    BY_MODE: ClassVar[Mapping[str, Form]] = _PREFETCHES
    tmaDescriptor = operand_def(pointer(0))
    coordinates = var_operand_def(i32)
    im2colOffsets = var_operand_def(i16)
    mode = prop_def(LoadMode, default_value=LoadMode("tile"))
    l2CacheHint = opt_operand_def(i64)
    assembly_format = (
        "$tmaDescriptor `,` `box` `[` $coordinates `]` (`im2col` `[` $im2colOffsets^ `]`)?"
        " (`l2_cache_hint` `=` $l2CacheHint^)? attr-dict `:` type($tmaDescriptor)"
    )

    def check(self) -> None:
        self.check_box()
        self.check_offsets(self.im2colOffsets)


@operation("nvvm.cp.async.bulk.tensor.global.shared.cta", *_forms(_STORES), spaces={"src": "srcMem"})
class TensorStore(_TensorCopy):
    """Copy of a box of a tensor from shared to global memory."""

    BY_MODE: ClassVar[Mapping[str, Form]] = _STORES
    tmaDescriptor = operand_def(pointer(0))
    srcMem = operand_def(pointer(3))
    coordinates = var_operand_def(i32)
    l2CacheHint = opt_operand_def(i64)
    mode = prop_def(StoreMode, default_value=StoreMode("tile"))
    predicate = opt_operand_def(i1)
    custom_directives = (Pointer,)
    assembly_format = (
        "$tmaDescriptor `,` $srcMem `,` `box` `[` $coordinates `]` (`l2_cache_hint` `=` $l2CacheHint^)?"
        " (`,` `predicate` `=` $predicate^)? attr-dict `:` type($tmaDescriptor) `,` custom<Pointer>(type($srcMem))"
    )

    def check(self) -> None:
        self.check_box()
        if self.predicate is not None and self.l2CacheHint is not None:
            raise self.error("Inline-ptx lowering unsupported with L2 cache-hint.")
        if self.predicate is not None and self.mode.data != "tile":
            raise self.error("Inline-ptx lowering supported only for Tile mode.")


@operation(
    "nvvm.cp.async.bulk.tensor.reduce", *_forms(_REDUCTIONS), names={"redKind": "redOp"}, spaces={"src": "srcMem"}
)
class TensorReduce(_TensorCopy):
    """Reduction of a box in shared memory into a tensor in global memory."""

    BY_MODE: ClassVar[Mapping[str, Form]] = _REDUCTIONS
    tmaDescriptor = operand_def(LLVMPointerType)
    srcMem = operand_def(pointer(3))
    redKind = prop_def(Reduction)
    mode = prop_def(StoreMode, default_value=StoreMode("tile"))
    coordinates = var_operand_def(i32)
    l2CacheHint = opt_operand_def(i64)
    custom_directives = (Pointer,)
    assembly_format = (
        "$tmaDescriptor `,` $srcMem `,` `box` `[` $coordinates `]` (`l2_cache_hint` `=` $l2CacheHint^)?"
        " attr-dict `:` custom<Pointer>(type($tmaDescriptor)) `,` custom<Pointer>(type($srcMem))"
    )

    def check(self) -> None:
        if space_of(self.tmaDescriptor):
            raise self.error("expected a generic address of a tensor map")
        if self.mode.data not in _REDUCTIONS:
            raise self.error("Scatter mode not supported for CpAsyncBulkTensorReduceOp")
        self.check_box()
