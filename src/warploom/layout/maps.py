"""Fragment maps of all matrix instructions, as formulas of shape and type.

In the formulas, `g` is the group of the lane (lane // 4), `t` the lane within the group (lane % 4), `i` the item, and
`p` the number of elements in one register.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.layout.element_map import read_only
from warploom.layout.fragment import FragmentMap
from warploom.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

Ints = NDArray[np.int32]

_TYPES = {1: "b1", 4: "s4 u4", 8: "s8 u8 e4m3 e5m2 e3m2 e2m3 e2m1", 16: "f16 bf16", 32: "tf32 f32 s32", 64: "f64"}
TYPE_BITS = {word: bits for bits, words in _TYPES.items() for word in words.split()}
ACCUMULATOR_TYPES = ("f16", "f32", "s32", "f64")

# K of the shapes with two e2m1 elements in a byte, by sparsity; in all other shapes each element has its own byte.
_PACKED_E2M1_K = {False: 64, True: 128}


@dataclass(frozen=True, slots=True)
class _Request:
    """Arguments of `warp_fragment` or `warpgroup_fragment`, with the parsed shape."""

    instruction: str
    operand: str
    shape: str
    element: str
    layout: str
    sparse: bool
    m: int
    n: int
    k: int

    @property
    def name(self) -> str:
        return f"{self.instruction}{' sparse' if self.sparse else ''} {self.shape} {self.element} {self.operand}"

    @property
    def bits(self) -> int:
        packed = self.element == "e2m1" and self.k == _PACKED_E2M1_K[self.sparse]
        return 4 if packed else TYPE_BITS[self.element]

    @property
    def stored_k(self) -> int:
        return self.k // 2 if self.sparse else self.k

    @property
    def is_accumulator(self) -> bool:
        return self.operand in ("C", "D")


def warp_fragment(
    instruction: str, operand: str, shape: str, element: str, *, layout: str = "", sparse: bool = False
) -> FragmentMap:
    """Return the fragment map of an operand of a matrix multiplication by one warp.

    `instruction` is only a name for messages. `operand` is "A", "B", "C" or "D", `shape` a name such as "m16n8k16", and
    `element` a type such as "f16". `layout` is "row" or "col" for f16 A and B of m8n8k4. With `sparse`, the map of A
    has only the K/2 stored columns. The function does not check if a target has the instruction.

    Errors: UsageError for names and shapes that no formula covers.
    Source: PTX ISA 9.7.14.5, 9.7.14.6.
    """
    return _fragment(_warp, instruction, operand, shape, element, layout, sparse)


def warpgroup_fragment(
    instruction: str, operand: str, shape: str, element: str, *, sparse: bool = False
) -> FragmentMap:
    """Return the fragment map of A or D of a matrix multiplication by a warpgroup.

    The parameters are those of `warp_fragment`. Source: PTX ISA 9.7.15.
    """
    return _fragment(_warpgroup, instruction, operand, shape, element, "", sparse)


def tiled_fragment(instruction: str, operand: str, shape: str, element: str) -> FragmentMap:
    """Return the fragment map of an operand whose layout the manual does not define.

    The parameters are those of `warp_fragment`. Source: PTX ISA 9.7.14.4.
    """
    return _fragment(_tiled, instruction, operand, shape, element, "", False)


@cache
def _fragment(
    formula: Callable[[_Request], FragmentMap],
    instruction: str,
    operand: str,
    shape: str,
    element: str,
    layout: str,
    sparse: bool,
) -> FragmentMap:
    operand = operand.upper()
    if operand not in ("A", "B", "C", "D"):
        raise UsageError(f"{instruction} has no operand {operand!r}; expected A, B, C or D")
    legal = ACCUMULATOR_TYPES if operand in ("C", "D") else tuple(TYPE_BITS)
    if element not in legal:
        raise UsageError(f"{instruction} {operand} has no elements of type {element!r}; expected {', '.join(legal)}")
    found = re.fullmatch(r"m(\d+)n(\d+)k(\d+)", shape)
    if found is None:
        raise UsageError(f"{instruction} has no shape {shape!r}; expected a name such as m16n8k16")
    m, n, k = (int(extent) for extent in found.groups())
    return formula(_Request(instruction, operand, shape, element, layout, sparse, m, n, k))


def _warp(request: _Request) -> FragmentMap:
    if (request.m, request.n, request.k) == (8, 8, 4) and request.element in ("f16", "f32"):
        return _quad_pair(request)
    name, bits, m = request.name, request.bits, request.m
    if request.is_accumulator:
        _require(name, request.n == 8 and m in (8, 16), "M must be 8 or 16 and N 8")
        return _accumulator(name, m, bits)
    k = request.stored_k if request.operand == "A" else request.k
    step = 4 * max(32 // bits, 1)
    _require(
        name,
        request.n == 8 and m in (8, 16) and k % step == 0 and k // step in (1, 2, 4),
        f"M must be 8 or 16, N 8 and K 1, 2 or 4 times {step * request.k // k}",
    )
    return _multiplicand_a(name, m, k, bits) if request.operand == "A" else _multiplicand_b(name, k, bits)


def _multiplicand_a(name: str, m: int, k: int, bits: int) -> FragmentMap:
    # (T32,V(p,M/8,K/4p)) -> (M,K) : ((4,8),(p,M/8,K/4p)) : registers advance along M first, then along K.
    # Every dense and stored sparse A of 9.7.14.5.2 to 13 and 9.7.14.6.2. The manual's column for a(i < 64) of
    # m16n8k256, t*32 + i, lacks the `& 0x1F` of its figure.
    p = max(32 // bits, 1)
    halves = m // 8
    lane, item = _lanes_items(32, halves * (k // (4 * p)) * p)
    register, element = item // p, item % p
    row = lane // 4 + 8 * (register % halves)
    col = 4 * p * (register // halves) + (lane % 4) * p + element
    return _map(name, f"(T32,V{item.shape[1]}) -> (M{m},K{k})", row, col, shape=(m, k), bits=bits, along="col")


def _multiplicand_b(name: str, k: int, bits: int) -> FragmentMap:
    # (T32,V(p,K/4p)) -> (K,N8): a register holds p successive k of column g, the next register those 4p further.
    p = max(32 // bits, 1)
    lane, item = _lanes_items(32, k // 4)
    register, element = item // p, item % p
    row = 4 * p * register + (lane % 4) * p + element
    return _map(name, f"(T32,V{item.shape[1]}) -> (K{k},N8)", row, lane // 4, shape=(k, 8), bits=bits, along="row")


def _accumulator(name: str, m: int, bits: int) -> FragmentMap:
    # (T32,V(2,M/8)) -> (M,N8): row g + 8*(i >> 1), columns 2t and 2t + 1.
    lane, item = _lanes_items(32, m // 4)
    row = lane // 4 + 8 * (item // 2)
    col = 2 * (lane % 4) + item % 2
    return _map(name, f"(T32,V{m // 4}) -> (M{m},N8)", row, col, shape=(m, 8), bits=bits)


def _quad_pair(request: _Request) -> FragmentMap:
    # Lanes 4q..4q+3 and 16+4q..19+4q compute multiplication q of four; the map stacks the matrices along the rows.
    # A: (T8,V4) -> (M8,K4)   B: (T8,V4) -> (K4,N8)   C, D: (T8,V8) -> (M8,N8)
    name, operand = request.name, request.operand
    if not request.is_accumulator and request.layout not in ("row", "col"):
        raise UsageError(f"{name}: the layout is {request.layout!r}; expected 'row' or 'col'")
    _require(name, request.is_accumulator or request.element == "f16", "A and B must be f16")
    if not request.is_accumulator:
        name = f"{name} {request.layout}"
    by_rows = request.layout == "row"
    lane, item = _lanes_items(32, 8 if request.is_accumulator else 4)
    high, t = lane // 16, lane % 4
    if operand == "A":
        rows, cols, axes = 8, 4, "M8,K4"
        row, col = (t + 4 * high, item) if by_rows else (item + 4 * high, t)
    elif operand == "B":
        rows, cols, axes = 4, 8, "K4,N8"
        row, col = (t, item + 4 * high) if by_rows else (item, t + 4 * high)
    else:
        rows, cols, axes = 8, 8, "M8,N8"
        if request.element == "f16":
            row, col = t + 4 * high, item
        else:
            row = (lane & 1) + (item & 2) + 4 * high
            col = (item & 4) + (lane & 2) + (item & 1)
    row = row + rows * (lane % 16 // 4)
    legend = f"4 of (T8,V{item.shape[1]}) -> ({axes})"
    return _map(name, legend, row, col, shape=(4 * rows, cols), bits=request.bits, tiles=4)


def _warpgroup(request: _Request) -> FragmentMap:
    name, n, k, bits = request.name, request.n, request.stored_k, request.bits
    _require(name, request.m == 64 and n % 8 == 0 and 8 <= n <= 256, "M must be 64 and N a multiple of 8 from 8 to 256")
    if request.is_accumulator:
        # (T128,V(2,2,N/8)) -> (M64,N): warp w holds rows 16w to 16w+15, in tiles of 16 by 8 along N.
        lane, item = _lanes_items(128, n // 2)
        row = 16 * (lane // 32) + lane % 32 // 4 + 8 * (item // 2 % 2)
        col = 8 * (item // 4) + 2 * (lane % 4) + item % 2
        return _map(name, f"(T128,V{n // 2}) -> (M64,N{n})", row, col, shape=(64, n), bits=bits)
    _require(name, request.operand == "A", "B is in shared memory and has a descriptor")
    _require(name, k * bits == 256, f"K must be {256 // bits * (2 if request.sparse else 1)}")
    # (T128,V(p,2,2)) -> (M64,K): warp w holds rows 16w to 16w+15, in the layout of A of an mma.
    tile = _multiplicand_a(name, 16, k, bits)
    row = np.concatenate([tile.row + 16 * warp for warp in range(4)])
    col = np.tile(tile.col, (4, 1))
    return _map(name, f"(T128,V{tile.items}) -> (M64,K{k})", row, col, shape=(64, k), bits=bits, along="col")


def _tiled(request: _Request) -> FragmentMap:
    name, operand, bits = request.name, request.operand, request.bits
    m, n, k = request.m, request.n, request.k
    _require(
        name,
        (m, n) in ((8, 8), (16, 16), (8, 32), (32, 8)) and not request.sparse,
        "M by N must be 8 by 8, 16 by 16, 8 by 32 or 32 by 8, and dense",
    )
    if (m, n) == (8, 8):
        return _warp(request)
    transposed = (m, n) == (8, 32)
    high, wide = (n, m) if transposed else (m, n)
    if request.is_accumulator:
        shape = high, wide
        corners = [(top, left) for top in range(0, high, 16) for left in range(0, wide, 8)]
        row, col = _stacked(_accumulator(name, 16, bits), corners)
    elif (operand == "A") != transposed:
        shape = high, k
        row, col = _stacked(_multiplicand_a(name, 16, k, bits), [(top, 0) for top in range(0, high, 16)])
    else:
        shape = k, wide
        row, col = _stacked(_multiplicand_b(name, k, bits), [(0, left) for left in range(0, wide, 8)])
    if transposed:
        row, col, shape = col, row, (shape[1], shape[0])
    if operand in ("A", "B") and request.element == "f16":
        row, col = (np.tile(part, (1, 16 // part.shape[1])) for part in (row, col))
    axes = {"A": f"M{m},K{k}", "B": f"K{k},N{n}"}.get(operand, f"M{m},N{n}")
    return _map(name, f"(T32,V{row.shape[1]}) -> ({axes})", row, col, shape=shape, bits=bits)


# (shape, element type, trans) -> number of elements that a lane holds of one matrix.
_LOADS = {
    ("m8n8", "b16", False): 2,
    ("m8n8", "b16", True): 2,
    ("m16n16", "b8", True): 8,
    ("m16n16", "b8x16", True): 8,
    ("m8n16", "b8x16", False): 4,
}
_STORES = {("m8n8", "b16", False): 2, ("m8n8", "b16", True): 2, ("m16n8", "b8", True): 4}


def load_fragment(instruction: str, shape: str, element: str, *, num: int = 1, trans: bool = False) -> FragmentMap:
    """Return the fragment map of the registers that a matrix load writes.

    `num` is the number of matrices, and `trans` transposes each. Row r of the map is the row of 16 bytes at the address
    in lane r. The other parameters are those of `warp_fragment`.

    Source: PTX ISA 9.7.14.5.
    """
    return _transfer(instruction, shape, element, num, trans, stored=False)


def store_fragment(instruction: str, shape: str, element: str, *, num: int = 1, trans: bool = False) -> FragmentMap:
    """Return the fragment map of the registers that a matrix store reads.

    The parameters are those of `load_fragment`.
    """
    return _transfer(instruction, shape, element, num, trans, stored=True)


@cache
def _transfer(instruction: str, shape: str, element: str, num: int, trans: bool, *, stored: bool) -> FragmentMap:
    name = f"{instruction} {shape} x{num}{' trans' if trans else ''} {element}"
    kinds, kind = _STORES if stored else _LOADS, (shape, element, trans)
    counts = (1, 2) if shape == "m16n16" else (1, 2, 4)
    if kind not in kinds or num not in counts:
        legal = ", ".join(f"{shape}{' trans' if trans else ''} {element}" for shape, element, trans in kinds)
        raise UsageError(
            f"unknown matrix load or store {name!r}; expected x1, x2 or x4 (m16n16: x1 or x2) and one of {legal}"
        )
    lane, item = _lanes_items(32, kinds[kind] * num)
    g, t = lane // 4, lane % 4
    across, along = (2 * t + item % 2, g) if trans else (g, 2 * t + item % 2)
    formulas = {
        # (T32,V(2,num)) -> (8*num,8); with trans each matrix is transposed.
        "m8n8": (8, across + 8 * (item // 2), along),
        # (T32,V(2,2,2,num)) -> (16*num,16): a lane holds columns g and g + 8 of rows 4t to 4t + 3.
        "m16n16": (16, 4 * t + item % 2 + 2 * (item // 4 % 2) + 16 * (item // 8), g + 8 * (item // 2 % 2)),
        # (T32,V(4,num)) -> (8*num,16): elements of 4 or 6 bits are widened to one byte each.
        "m8n16": (8, g + 8 * (item // 4), 4 * t + item % 4),
        # (T32,V(2,2,num)) -> (8*num,16): a row in memory is a column of the 16 by 8 accumulator tile.
        "m16n8": (8, 2 * t + item % 2 + 8 * (item // 4), g + 8 * (item // 2 % 2)),
    }
    height, row, col = formulas[shape]
    extents, bits = (height * num, 8 if shape == "m8n8" else 16), 16 if shape == "m8n8" else 8
    legend = f"(T32,V{item.shape[1]}) -> ({extents[0]},{extents[1]})"
    return _map(name, legend, row, col, shape=extents, bits=bits, tiles=num)


@cache
def transpose_fragment(instruction: str, operand: str, shape: str, element: str) -> FragmentMap:
    """Return the fragment map of operand "A" (the source) or "D" (the result) of a matrix transposition.

    Source: PTX ISA 9.7.14.5.
    """
    # A: (T32,V2) -> (8,8), rows over the groups; D holds the transposed matrix, columns over the groups.
    name = f"{instruction} {shape} {element} {operand}"
    is_known = shape == "m8n8" and element == "b16" and operand in ("A", "D")
    _require(name, is_known, "it transposes m8n8 b16 from A to D")
    lane, item = _lanes_items(32, 2)
    across, along = lane // 4, 2 * (lane % 4) + item
    row, col = (across, along) if operand == "A" else (along, across)
    return _map(name, "(T32,V2) -> (8,8)", row, col, shape=(8, 8), bits=16)


def _lanes_items(lanes: int, items: int) -> tuple[Ints, Ints]:
    lane, item = np.indices((lanes, items), dtype=np.int32)
    return lane, item


def _stacked(tile: FragmentMap, corners: list[tuple[int, int]]) -> tuple[Ints, Ints]:
    row = np.concatenate([tile.row + top for top, _ in corners], axis=1)
    col = np.concatenate([tile.col + left for _, left in corners], axis=1)
    return row, col


def _map(
    name: str, legend: str, row: Ints, col: Ints, *, shape: tuple[int, int], bits: int, tiles: int = 1, along: str = ""
) -> FragmentMap:
    read_only(row, col)
    packed_along = along if bits == 1 else ""
    return FragmentMap(name, legend, *shape, bits, row, col, max(bits, 32), tiles, packed_along)


def _require(name: str, holds: bool, otherwise: str) -> None:
    if not holds:
        raise UsageError(f"{name} has no fragment: {otherwise}")
