"""Copies of tensors: the operations whose names begin with nvvm.cp.async.bulk.tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i1, i16, i32, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)

from warploom.nvvm.dialect.copies import HINT, MULTICAST, Pointer, stated
from warploom.nvvm.dialect.operation import SEGMENTED, Operation
from warploom.nvvm.dialect.pieces import At, Code, Fragment, Piece, Statement, pointer, space_of
from warploom.nvvm.dialect.vocabulary import CtaGroup, LoadMode, Reduction, StoreMode

_LEAST_OF_IMAGES = 3
_MOST = 5
_ROWS = 5
"""Coordinates of four rows: the column and the four."""
_WIDE = 2
"""Offsets of an image whose columns are wide."""


def _tensor(operation: Operation, coordinates: Sequence[SSAValue], mode: str) -> None:
    """What the coordinates of a mode must be."""
    count = len(coordinates)
    if mode in {"tile_gather4", "tile_scatter4"}:
        if count != _ROWS:
            raise operation.refuse(
                f"{mode.removeprefix('tile_').capitalize()} mode expects {_ROWS} coordinates"
            )
    elif not 1 <= count <= _MOST:
        raise operation.refuse("expects coordinates between 1 to 5 dimension")
    elif mode.startswith("im2col") and count < _LEAST_OF_IMAGES:
        raise operation.refuse("to use im2col mode, the tensor has to be at least 3-dimensional")


def _offsets(operation: Operation, mode: str, dimensions: int, offsets: Sequence[SSAValue]) -> None:
    """How many offsets an image has."""
    if mode == "im2col":
        expected = dimensions - 2
    elif mode in {"im2col_w", "im2col_w_128"}:
        expected = _WIDE
    else:
        expected = 0
    if len(offsets) != expected:
        raise operation.refuse(f"im2col offsets expected {expected} (provided {len(offsets)})")


def _dimension(mode: str, coordinates: Sequence[SSAValue]) -> str:
    return "2d" if mode.endswith("4") else f"{len(coordinates)}d"


_IMAGE_LOAD, _IMAGE_PREFETCH = "tensor.load_im2col", "tensor.prefetch_im2col"
_LOADS = {"tile": "tensor.load", "tile_gather4": "tensor.gather"}
_PREFETCHES = {"tile": "tensor.prefetch", "tile_gather4": "tensor.prefetch_rows"}
_STORES = {"tile": "tensor.store", "im2col": "tensor.store_im2col", "tile_scatter4": "tensor.scatter"}
_REDUCTIONS = {"tile": "tensor.reduce", "im2col": "tensor.reduce_im2col"}


def _image(mode: str) -> str:
    """The word of an image's mode."""
    return mode.replace("_w_128", "::w::128").replace("_w", "::w")


def _mode_words(mode: str) -> dict[str, str]:
    """The words of a mode of loads: MLIR writes tile too, which may be left out."""
    return (
        {"tile": "tile"} if mode == "tile" else {} if mode.startswith("tile") else {"load_mode": _image(mode)}
    )


@irdl_op_definition
class TensorLoad(Operation):
    """Copies a box of a tensor to shared memory."""

    name = "nvvm.cp.async.bulk.tensor.shared.cluster.global"
    FORMS: ClassVar[tuple[str, ...]] = (*_LOADS.values(), _IMAGE_LOAD)
    irdl_options = SEGMENTED
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

    @property
    def _is_alone(self) -> bool:
        return bool(self.isCTAOnly.value.data)

    def check(self) -> None:
        mode = self.mode.data
        _tensor(self, self.coordinates, mode)
        _offsets(self, mode, len(self.coordinates), self.im2colOffsets)
        is_cluster = space_of(self.dstMem) == "shared::cluster"
        if self._is_alone and is_cluster:
            raise self.refuse("Shared::cta destination requires address-space 3.")
        if not self._is_alone and not is_cluster:
            raise self.refuse("Shared::cluster destination requires address-space 7.")
        if self._is_alone and self.multicastMask is not None:
            raise self.refuse("Multicast is not supported with shared::cta mode.")
        if self._is_alone and self.group is not None:
            raise self.refuse("CTAGroup is not supported with shared::cta mode.")
        if self.predicate is not None and mode not in {"tile", "im2col"}:
            raise self.refuse("Predicate is supported only for Tile and Im2col modes.")
        if self.predicate is not None and self._is_alone:
            raise self.refuse("Predicate is supported only for shared::cluster mode.")

    def code(self) -> Code:
        mode = self.mode.data
        operands: dict[str, Piece] = {
            "dstMem": At(self.dstMem),
            "tensorMap": At(self.tmaDescriptor, tuple(self.coordinates)),
            "mbar": At(self.mbar),
        }
        words = {
            "dim": _dimension(mode, self.coordinates),
            "dst": stated(space_of(self.dstMem)),
            **_mode_words(mode),
        }
        late: tuple[str, ...] = ("cta_group",)
        if self.predicate is not None:  # MLIR's inline PTX has no word for tiles, and that for images later
            words.pop("tile", None)
            late = ("load_mode", "multicast", "level::cache_hint", "cta_group")
        if self.im2colOffsets:
            operands["im2colInfo"] = Fragment(tuple(self.im2colOffsets))
        if self.multicastMask is not None:
            operands["ctaMask"], words["multicast"] = self.multicastMask, MULTICAST
        if self.l2CacheHint is not None:
            operands["cache_policy"], words["level::cache_hint"] = self.l2CacheHint, HINT
        if self.group is not None:
            words["cta_group"] = self.group.data.replace("_", "_group::")
        form = _LOADS.get(mode, _IMAGE_LOAD)
        return Code([Statement((form,), words, operands, self.predicate, late=late)])


@irdl_op_definition
class TensorPrefetch(Operation):
    """Brings a box of a tensor into the second cache."""

    name = "nvvm.cp.async.bulk.tensor.prefetch"
    FORMS: ClassVar[tuple[str, ...]] = (*_PREFETCHES.values(), _IMAGE_PREFETCH)
    irdl_options = SEGMENTED
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
        _tensor(self, self.coordinates, self.mode.data)
        _offsets(self, self.mode.data, len(self.coordinates), self.im2colOffsets)

    def code(self) -> Code:
        mode = self.mode.data
        operands: dict[str, Piece] = {"tensorMap": At(self.tmaDescriptor, tuple(self.coordinates))}
        words = {"dim": _dimension(mode, self.coordinates), **_mode_words(mode)}
        if self.im2colOffsets:
            operands["im2colInfo"] = Fragment(tuple(self.im2colOffsets))
        if self.l2CacheHint is not None:
            operands["cache_policy"], words["level::cache_hint"] = self.l2CacheHint, HINT
        form = _PREFETCHES.get(mode, _IMAGE_PREFETCH)
        return Code([Statement((form,), words, operands)])


@irdl_op_definition
class TensorStore(Operation):
    """Copies a box of a tensor from shared to global memory."""

    name = "nvvm.cp.async.bulk.tensor.global.shared.cta"
    FORMS: ClassVar[tuple[str, ...]] = tuple(_STORES.values())
    irdl_options = SEGMENTED
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
        _tensor(self, self.coordinates, self.mode.data)
        if self.predicate is not None and self.l2CacheHint is not None:
            raise self.refuse("Inline-ptx lowering unsupported with L2 cache-hint.")
        if self.predicate is not None and self.mode.data != "tile":
            raise self.refuse("Inline-ptx lowering supported only for Tile mode.")

    def code(self) -> Code:
        mode = self.mode.data
        operands: dict[str, Piece] = {
            "tensorMap": At(self.tmaDescriptor, tuple(self.coordinates)),
            "srcMem": At(self.srcMem),
        }
        words = {"dim": _dimension(mode, self.coordinates), "src": stated(space_of(self.srcMem))}
        if mode == "tile" and self.predicate is None:  # MLIR's inline PTX leaves it out
            words["tile"] = "tile"
        if self.l2CacheHint is not None:
            operands["cache_policy"], words["level::cache_hint"] = self.l2CacheHint, HINT
        return Code([Statement((_STORES[mode],), words, operands, self.predicate)])


@irdl_op_definition
class TensorReduce(Operation):
    """Combines a box of a tensor in global memory with one in shared memory."""

    name = "nvvm.cp.async.bulk.tensor.reduce"
    FORMS: ClassVar[tuple[str, ...]] = tuple(_REDUCTIONS.values())
    irdl_options = SEGMENTED
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
            raise self.refuse("a tensor map is behind a generic address")
        if self.mode.data not in _REDUCTIONS:
            raise self.refuse("Scatter mode not supported for CpAsyncBulkTensorReduceOp")
        _tensor(self, self.coordinates, self.mode.data)

    def code(self) -> Code:
        mode = self.mode.data
        operands: dict[str, Piece] = {
            "tensorMap": At(self.tmaDescriptor, tuple(self.coordinates)),
            "srcMem": At(self.srcMem),
        }
        words = {
            "dim": _dimension(mode, self.coordinates),
            "src": stated(space_of(self.srcMem)),
            "redOp": self.redKind.data,
        }
        if mode == "tile":
            words["tile"] = "tile"
        if self.l2CacheHint is not None:
            operands["cache_policy"], words["level::cache_hint"] = self.l2CacheHint, HINT
        return Code([Statement((_REDUCTIONS[mode],), words, operands)])
