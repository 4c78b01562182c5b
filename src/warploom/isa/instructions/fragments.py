"""Matrix operands in registers, and the construction of records of matrix multiplications.

A *fragment* is the part of a matrix that one thread holds in a vector of registers.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from warploom.isa.model.multiplication import Metadata, Multiplication, RegisterMatrix, SharedMatrix, element_of, k_of
from warploom.isa.model.operand_layout import LayoutInputs, OperandLayout
from warploom.isa.model.operands import OperandSpec, Slots
from warploom.isa.model.semantics import Bound, Value, Warps
from warploom.isa.model.types import TYPES
from warploom.layout import FragmentMap, maps
from warploom.layout import metadata as metadata_map
from warploom.layout.maps import TYPE_BITS
from warploom.numerics.formats import STORAGE
from warploom.numerics.models import UnitKind

Operand = Literal["A", "B", "C", "D"]
Matrix = NDArray[Any]

_INSTRUCTIONS = {"warp": "mma", "warp tiles": "wmma", "warpgroup": "wgmma"}
"""Instruction of each matrix unit, for the names of fragment maps."""
_SELF_TYPED = frozenset({"f32", "f64", "s32", "tf32"})
_PAIRED = frozenset({"f16", "bf16"})
_PADDED_KINDS = frozenset({"kind::f8f6f4", "kind::mxf8f6f4"})


def fragment_map(unit: UnitKind, operand: Operand, slots: Slots, *, sparse: bool = False) -> FragmentMap:
    """Return the map from the registers of a matrix operand to the elements of the matrix.

    `unit` is the matrix unit. With `sparse`, the map of A covers only the stored elements. The modifiers in `slots`
    give the shape and the element types. An element type that the opcode does not name is f16.
    """
    name, shape, element = _INSTRUCTIONS[unit], slots["shape"], element_of(slots, operand)
    if unit == "warp tiles":
        return maps.tiled_fragment(name, operand, shape, element)
    if unit == "warpgroup":
        return maps.warpgroup_fragment(name, operand, shape, element, sparse=sparse)
    layout = slots.get(f"{operand.lower()}layout", "")
    return maps.warp_fragment(name, operand, shape, element, layout=layout, sparse=sparse)


def register_type(element: str) -> str:
    """Return the register type for a matrix element type, such as f16x2 for f16."""
    return element if element in _SELF_TYPED else f"{element}x2" if element in _PAIRED else "b32"


def fragment(operand: Operand, unit: UnitKind, *, sparse: bool = False, updated: bool = False) -> OperandSpec:
    """Return the specification of a vector operand that holds the matrix "A", "B", "C" or "D".

    If `updated`, the instruction reads and writes the operand. `fragment_map` describes `unit` and `sparse`.
    """

    def find_map(slots: Slots) -> FragmentMap:
        return fragment_map(unit, operand, slots, sparse=sparse)

    return OperandSpec(
        "register",
        "both" if updated else "write" if operand == "D" else "read",
        lambda slots: register_type(element_of(slots, operand)),
        lambda slots: find_map(slots).registers,
        layout=OperandLayout(operand, lambda slots, _: find_map(slots)),
    )


def register_matrix(unit: UnitKind, operand: Operand, i: Bound, *, sparse: bool = False) -> RegisterMatrix:
    """Return the matrix operand "A" to "D" of `i`. `fragment_map` describes `unit` and `sparse`."""
    slots = vars(i)
    found, element = fragment_map(unit, operand, slots, sparse=sparse), element_of(slots, operand)
    padded = operand in ("A", "B") and slots.get("kind", "") in _PADDED_KINDS
    return RegisterMatrix(getattr(i, operand.lower()), found, element, padded)


def product(unit: UnitKind, i: Bound, **changes: Any) -> Multiplication:
    """Return the record of the multiplication d = sum(a, b, c) that `unit` executes for instruction `i`.

    `changes` replaces or adds fields of the record. With the field `metadata`, A is sparse.
    """
    sparse = changes.get("metadata") is not None
    operands: dict[str, RegisterMatrix | SharedMatrix] = {
        name.lower(): register_matrix(unit, name, i, sparse=sparse)
        for name in ("A", "B", "C", "D")
        if name.lower() not in changes
    }
    slots = vars(i)
    return Multiplication(
        unit, slots, satfinite=bool(slots.get("satfinite")), rounding=slots.get("rnd") or "rn", **operands, **changes
    )


def gather(warps: Warps, value: Value, fragment_map: FragmentMap, element: str, *, transposed: bool = False) -> Matrix:
    """Return the matrix of every warp or warpgroup from the registers of a vector operand.

    The dtype is `formats.STORAGE[element]`. With `transposed`, rows and columns are exchanged.

    Shapes: (warps * matrices per warp, rows, columns), or (warpgroups, rows, columns) for a map of 128 lanes.
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
    """Write matrices to the registers of a vector operand. This is the inverse of `gather`."""
    order = fragment_map.order(transposed=transposed)
    if order is not None:
        units = np.ascontiguousarray(matrix).reshape(len(matrix) // fragment_map.tiles, -1)
        warps.write_fragment(value, order, units.view(order.dtype))
        return
    registers = fragment_map.scatter(matrix, transposed=transposed).transpose(1, 0, 2)
    warps.write_vector(value, registers.view(TYPES[register_type(element)].dtype))


def selectors(slots: Slots) -> tuple[int, ...]:
    """Return the legal sparsity selectors, which choose the lanes that hold metadata."""
    # Four lanes hold 128 bits of metadata. Two rows of A need 4 bits for each chunk of consecutive elements.
    is_packed = slots.get("kind", "").startswith("kind::mxf4")
    chunk = {32: 2, 4: 8}.get(4 if is_packed else TYPE_BITS[slots["atype"]], 4)
    return tuple(range(16 * chunk // k_of(slots["shape"])))


def metadata_layout(unit: UnitKind) -> OperandLayout:
    """Return the layout of the metadata operand of a sparse multiplication by `unit`."""

    def find_map(slots: Slots, given: LayoutInputs) -> FragmentMap:
        return metadata_map(_INSTRUCTIONS[unit], slots["shape"], slots["atype"], given.selector).fragment()

    return OperandLayout("metadata", find_map, ("selector",))


def metadata_of(unit: UnitKind, i: Bound, operand: str, selector: int, *, ordered: bool = False) -> Metadata:
    """Return the record of the metadata operand named `operand` of a sparse multiplication by `unit`.

    `selector` is the sparsity selector. `Metadata` explains `ordered`.
    """
    found = metadata_map(_INSTRUCTIONS[unit], i.shape, i.atype, selector)
    return Metadata(operand, getattr(i, operand), found, ordered)
