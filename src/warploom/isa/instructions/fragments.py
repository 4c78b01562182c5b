"""Fragments of matrices in registers: operand places whose counts and types follow from shape and type, and
the road between registers and matrices that every matrix instruction takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.isa.model.operand_layout import OperandLayout
from warploom.isa.model.operands import OperandSpec, Slots
from warploom.isa.model.semantics import Bound, Value, Warps
from warploom.isa.model.types import TYPES
from warploom.layout import FragmentMap, maps
from warploom.numerics import models
from warploom.numerics.formats import STORAGE

Matrix = NDArray[Any]

_SELF_TYPED = frozenset({"f32", "f64", "s32", "tf32"})
_PAIRED = frozenset({"f16", "bf16"})
_SIX_BITS = frozenset({"e3m2", "e2m3"})
_PADDED_KINDS = frozenset({"kind::f8f6f4", "kind::mxf8f6f4"})


def fragment_map(
    family: str, operand: str, shape: str, element: str, *, layout: str = "", sparse: bool = False
) -> FragmentMap:
    """Return the fragment map of an operand of the multiplications of a family."""
    if family == "wmma":
        return maps.tiled_fragment(family, operand, shape, element)
    if family == "wgmma":
        return maps.warpgroup_fragment(family, operand, shape, element, sparse=sparse)
    return maps.warp_fragment(family, operand, shape, element, layout=layout, sparse=sparse)


_UNIT_KINDS: dict[str, models.UnitKind] = {
    "mma": "warp", "wmma": "warp tiles", "wgmma": "warpgroup", "tcgen05": "tensor memory",
}  # fmt: skip


def register_type(element: str) -> str:
    """The type of the registers that hold elements: their own, or that of a pair of them, or b32."""
    return element if element in _SELF_TYPED else f"{element}x2" if element in _PAIRED else "b32"


def fragment(operand: str, family: str, *, sparse: bool = False, updated: bool = False) -> OperandSpec:
    """The place of operand "A", "B", "C" or "D": a vector of registers.

    The element type is the form's slot `atype`, `btype`, `ctype` or `dtype` (without one, f16), the shape its
    slot `shape`, the layout its slot `alayout` or `blayout`.
    """
    letter = operand.lower()

    def element(slots: Slots) -> str:
        return slots.get(f"{letter}type", "f16")

    def held(slots: Slots) -> FragmentMap:
        how = slots.get(f"{letter}layout", "")
        return fragment_map(family, operand, slots["shape"], element(slots), layout=how, sparse=sparse)

    return OperandSpec(
        "register",
        "both" if updated else "write" if operand == "D" else "read",
        lambda slots: register_type(element(slots)),
        lambda slots: held(slots).registers,
        layout=OperandLayout(operand, lambda slots, _: held(slots)),
    )


def gather(warps: Warps, value: Value, fragment_map: FragmentMap, element: str, *, transposed: bool = False) -> Matrix:
    """The matrix that each warp, or each warpgroup, holds: elements in the dtype that arithmetic takes.

    Shapes: (warps * tiles, rows, cols) or, of a 128-lane map, (warpgroups, rows, cols); `transposed` swaps
        the last two.
    """
    order = fragment_map.order(transposed=transposed)
    rows, cols = fragment_map.matrix_shape
    tiles = fragment_map.tiles
    if order is not None:
        units = warps.read_fragment(value, order).view(STORAGE[element])
        extents = (cols, rows // tiles) if transposed else (rows // tiles, cols)
        return units.reshape(-1, *extents)
    registers = warps.read_vector(value).transpose(1, 0, 2)
    matrix = fragment_map.gather(registers, signed=element == "s4", transposed=transposed)
    return matrix.view(STORAGE[element])


def scatter(
    warps: Warps, value: Value, fragment_map: FragmentMap, element: str, matrix: Matrix, *, transposed: bool = False
) -> None:
    """Write the matrix of each warp, or warpgroup, into its registers: the inverse of `gather`."""
    order = fragment_map.order(transposed=transposed)
    if order is not None:
        units = np.ascontiguousarray(matrix).reshape(len(matrix) // fragment_map.tiles, -1)
        warps.write_fragment(value, order, units.view(order.dtype))
        return
    registers = fragment_map.scatter(matrix, transposed=transposed).transpose(1, 0, 2)
    warps.write_vector(value, registers.view(TYPES[register_type(element)].dtype))


def update(
    warps: Warps,
    value: Value,
    fragment_map: FragmentMap,
    element: str,
    change: Callable[[Matrix], Sequence[Callable[[], object]]],
) -> None:
    """Change, in place, the matrix that each warpgroup holds, as `Warps.update_fragment` says.

    Shapes: `change` is given (warpgroups, rows, cols).
    """
    order = fragment_map.order()
    assert order is not None, "the elements of accumulators are whole, and each is in one place"

    def change_units(units: Matrix) -> Sequence[Callable[[], object]]:
        return change(units.view(STORAGE[element]).reshape(-1, *fragment_map.matrix_shape))

    warps.update_fragment(value, order, change_units)


def read_operands(warps: Warps, i: Bound, family: str, *, sparse: bool = False) -> tuple[Matrix, Matrix, Matrix]:
    """A (batch, M, K, or as many of K as are stored), B (batch, N, K) and C (batch, M, N)."""
    a, b, c, _ = _maps(i, family, sparse)
    matrix_a = gather(warps, i.a, a, element_of(i, "a"))
    matrix_b = gather(warps, i.b, b, element_of(i, "b"), transposed=True)
    if getattr(i, "kind", "") in _PADDED_KINDS:
        matrix_a, matrix_b = unpadded(matrix_a, i.atype), unpadded(matrix_b, i.btype)
    return matrix_a, matrix_b, gather(warps, i.c, c, i.ctype)


def write_result(warps: Warps, i: Bound, family: str, d: Matrix) -> None:
    """Write D, and count one multiply-accumulate for each of its elements and each k."""
    *_, found = _maps(i, family, False)
    scatter(warps, i.d, found, i.dtype, d)
    warps.count_macs(d.size * k_of(i.shape))


def multiply_run(warps: Warps, run: Sequence[Bound], family: str, product: Callable[[Warps, Bound], Matrix]) -> None:
    """Multiply and write what instructions that do not need each other's results say, shared by the workers."""

    def multiply(i: Bound) -> Matrix:
        return product(warps, i)

    def write(one: tuple[Bound, Matrix]) -> None:
        i, d = one
        scatter(warps, i.d, _maps(i, family, False)[-1], i.dtype, d)

    products = warps.each(multiply, run)
    warps.each(write, list(zip(run, products, strict=True)))
    warps.count_macs(sum(d.size * k_of(i.shape) for i, d in zip(run, products, strict=True)))


def element_of(i: Bound, operand: str) -> str:
    """The element type of an operand; A and B of forms that do not name it are f16."""
    return getattr(i, f"{operand}type", "f16")


def k_of(shape: str) -> int:
    """K of a shape's word."""
    return int(shape.partition("k")[2])


def select_model(warps: Warps, i: Bound, engine: str) -> models.Model:
    """The arithmetic of a bound multiplication on the architecture that runs."""
    return _model(warps.arch, engine, i)


def has_arithmetic(engine: str) -> Callable[[str, Slots], str]:
    """The limit of a form that multiplies: an architecture must have a sum for its types."""

    def complaint(arch: str, slots: Slots) -> str:
        try:
            _model(arch, engine, SimpleNamespace(**slots))
        except models.NoModelError as error:
            return str(error)
        return ""

    return complaint


def _model(arch: str, engine: str, i: Any) -> models.Model:
    types = (element_of(i, "a"), element_of(i, "b"), i.dtype, getattr(i, "ctype", i.dtype))
    scale, operation = getattr(i, "stype", None), getattr(i, "bitOp", "xor")
    return _select(arch, engine, *types, k_of(i.shape), scale, operation)


@cache
def _select(arch: str, engine: str, a: str, b: str, d: str, c: str, k: int, scale: Any, operation: Any) -> models.Model:
    return models.select(arch, _UNIT_KINDS[engine], a, b, d, c_type=c, k=k, scale_type=scale, operation=operation)


def variant(i: Bound) -> dict[str, Any]:
    """What beside the types a bound multiplication says of its arithmetic."""
    return {
        "satfinite": bool(getattr(i, "satfinite", "")),
        "rounding": getattr(i, "rnd", "") or "rn",
        "negate_a": getattr(i, "imm_scale_a", 1) < 0,
        "negate_b": getattr(i, "imm_scale_b", 1) < 0,
    }


def _maps(i: Bound, family: str, sparse: bool) -> tuple[FragmentMap, ...]:
    types = (getattr(i, "atype", "f16"), getattr(i, "btype", "f16"), i.ctype, i.dtype)
    return _maps_of(family, i.shape, types, getattr(i, "alayout", ""), getattr(i, "blayout", ""), sparse)


@cache
def _maps_of(
    family: str, shape: str, types: tuple[str, ...], a_layout: str, b_layout: str, sparse: bool
) -> tuple[FragmentMap, ...]:
    """The maps of A, B, C and D."""
    return tuple(
        fragment_map(family, operand, shape, element, layout=how, sparse=sparse)
        for operand, element, how in zip("ABCD", types, (a_layout, b_layout, "", ""), strict=True)
    )


def unpadded(matrix: Matrix, element: str) -> Matrix:
    """Elements of less than eight bits out of their 8-bit containers.

    e2m1 lies in the middle four bits, e3m2 and e2m3 in the low six. Source: PTX ISA 9.7.14.5.14.
    """
    if element == "e2m1":
        return matrix >> 2 & 15
    return matrix & 63 if element in _SIX_BITS else matrix
