"""Tensor copies through TMA: the operations whose names begin with nvvm.cp.async.bulk.tensor."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from warploom.isa.instructions import tensor
from warploom.isa.model.form import Form
from warploom.nvvm.dialect.lowering import Lowering, Memory, Registers
from warploom.nvvm.dialect.operation import Operation, Rule, operation

_INLINE_ORDER = ("load_mode", "multicast", "level::cache_hint", "cta_group")
"""Modifiers that are printed last in the inline PTX of a predicated operation."""
_ROW_COORDINATES = 5
"""Coordinates of a gather or scatter: one column and four rows."""
_IM2COL = ("im2col", "im2col_w", "im2col_w_128")
_LOADS = {"tile": tensor.LOAD, "tile_gather4": tensor.GATHER, **dict.fromkeys(_IM2COL, tensor.LOAD_IM2COL)}
_PREFETCHES = {
    "tile": tensor.PREFETCH,
    "tile_gather4": tensor.PREFETCH_ROWS,
    **dict.fromkeys(_IM2COL, tensor.PREFETCH_IM2COL),
}
_STORES = {"tile": tensor.STORE, "im2col": tensor.STORE_IM2COL, "tile_scatter4": tensor.SCATTER}
_REDUCTIONS = {"tile": tensor.REDUCE, "im2col": tensor.REDUCE_IM2COL}


def _lower_box(by_mode: Mapping[str, Form], op: Operation) -> Lowering:
    """Return the instruction that copies a box. `by_mode` has its form by addressing mode."""
    mode, coordinates = op.text("mode"), op.values("coordinates")
    words = {"dim": "2d" if mode.endswith("4") else f"{len(coordinates)}d"}
    # As in the output of MLIR, a predicated instruction omits the optional `.tile`.
    if mode == "tile" and not op.has("predicate"):
        words["tile"] = "tile"
    if by_mode[mode] in (tensor.LOAD_IM2COL, tensor.PREFETCH_IM2COL):
        words["load_mode"] = mode.replace("_w_128", "::w::128").replace("_w", "::w")
    if op.has("predicate") and "dst" in op.SPACES:
        # A destination in the shared memory of the CTA is also an address of the cluster's shared memory.
        words["dst"] = "shared::cluster"
    late = _INLINE_ORDER if op.has("predicate") else ("cta_group",)
    offsets = op.values("im2colOffsets") if op.has("im2colOffsets") else ()
    box = Memory(op.value("tmaDescriptor"), coordinates)
    found = op.template(words, late, tensorMap=box, im2colInfo=Registers(offsets) if offsets else None)
    return Lowering([replace(found, forms=(by_mode[mode],))])


def _box_error(op: Operation) -> str:
    mode, count = op.text("mode"), len(op.values("coordinates"))
    if mode.endswith("4"):
        name = mode.removeprefix("tile_").capitalize()
        return "" if count == _ROW_COORDINATES else f"{name} mode expects {_ROW_COORDINATES} coordinates"
    if not 1 <= count <= 5:
        return "expects coordinates between 1 to 5 dimension"
    is_flat = mode in _IM2COL and count < 3
    return "to use im2col mode, the tensor has to be at least 3-dimensional" if is_flat else ""


def _offsets_error(op: Operation) -> str:
    mode, count = op.text("mode"), len(op.values("im2colOffsets"))
    expected = len(op.values("coordinates")) - 2 if mode == "im2col" else 2 if mode in _IM2COL else 0
    return "" if count == expected else f"im2col offsets expected {expected} (provided {count})"


def _copy(
    signature: str, description: str, by_mode: Mapping[str, Form], syntax: str, rules: Sequence[str | Rule] = ()
) -> type[Operation]:
    """Define a copy, a prefetch or a reduction of a box."""
    return operation(
        f"nvvm.cp.async.bulk.tensor.{signature}",
        description,
        *dict.fromkeys(by_mode.values()),
        syntax=syntax,
        rules=rules,
        lower=lambda op: _lower_box(by_mode, op),
    )


_BOX = "`box` `[` $coordinates `]`"
_OFFSETS = "(`im2col` `[` $im2colOffsets^ `]`)?"
_HINT = "(`l2_cache_hint` `=` $l2CacheHint^)?"

TensorLoad = _copy(
    "shared.cluster.global(dstMem in dst: ptr3|ptr7, tmaDescriptor: ptr0, coordinates*: i32, mbar: ptr3,"
    " im2colOffsets*: i16, multicastMask?: i16, l2CacheHint?: i64, mode: tma_load_mode = tile, isCTAOnly: bool = 0,"
    " group?: cta_group, predicate?: i1)",
    "Copy of a box of a tensor to shared memory.",
    _LOADS,
    f"$dstMem `,` $tmaDescriptor `,` $mbar `,` {_BOX} {_OFFSETS} (`multicast_mask` `=` $multicastMask^)? {_HINT}"
    " (`predicate` `=` $predicate^)? attr-dict `:` type($dstMem) `,` type($tmaDescriptor)",
    [
        _box_error,
        _offsets_error,
        """
        predicate isCTAOnly: Predicate is supported only for shared::cluster mode.
        predicate mode!=tile|im2col: Predicate is supported only for Tile and Im2col modes.
        !predicate !isCTAOnly dstMem=shared: Shared::cluster destination requires address-space 7.
        !predicate isCTAOnly dstMem!=shared: Shared::cta destination requires address-space 3.
        isCTAOnly multicastMask: Multicast is not supported with shared::cta mode.
        isCTAOnly group: CTAGroup is not supported with shared::cta mode.
        """,
    ],
)
TensorPrefetch = _copy(
    "prefetch(tmaDescriptor: ptr0, coordinates*: i32, im2colOffsets*: i16, mode: tma_load_mode = tile,"
    " l2CacheHint?: i64)",
    "Prefetch of a box of a tensor to the L2 cache.",
    _PREFETCHES,
    f"$tmaDescriptor `,` {_BOX} {_OFFSETS} {_HINT} attr-dict `:` type($tmaDescriptor)",
    rules=[_box_error, _offsets_error],
)
TensorStore = _copy(
    "global.shared.cta(tmaDescriptor: ptr0, srcMem in src: ptr3, coordinates*: i32, l2CacheHint?: i64,"
    " mode: tma_store_mode = tile, predicate?: i1)",
    "Copy of a box of a tensor from shared to global memory.",
    _STORES,
    f"$tmaDescriptor `,` $srcMem `,` {_BOX} {_HINT} (`,` `predicate` `=` $predicate^)?"
    " attr-dict `:` type($tmaDescriptor) `,` custom<Pointer>(type($srcMem))",
    [
        _box_error,
        """
        predicate l2CacheHint: Inline-ptx lowering unsupported with L2 cache-hint.
        predicate mode!=tile: Inline-ptx lowering supported only for Tile mode.
        """,
    ],
)
TensorReduce = _copy(
    "reduce(tmaDescriptor: ptr0, srcMem in src: ptr3, redKind as redOp: tma_redux_kind, mode: tma_store_mode = tile,"
    " coordinates*: i32, l2CacheHint?: i64)",
    "Reduction of a box in shared memory into a tensor in global memory.",
    _REDUCTIONS,
    f"$tmaDescriptor `,` $srcMem `,` {_BOX} {_HINT}"
    " attr-dict `:` custom<Pointer>(type($tmaDescriptor)) `,` custom<Pointer>(type($srcMem))",
    [
        """
        mode=tile_scatter4: Scatter mode not supported for CpAsyncBulkTensorReduceOp
        """,
        _box_error,
    ],
)
