"""The fragment maps of every matrix instruction, by formula from shape and type.

In every formula ``g`` is the lane's group (lane // 4), ``t`` its place in the group (lane % 4), ``i`` the item,
``p`` the elements in one register.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from warploom.diag import UsageError
from warploom.layout.fragment import FragmentMap

Ints = NDArray[np.int32]

TYPE_BITS = {
    "b1": 1,
    "s4": 4,
    "u4": 4,
    "s8": 8,
    "u8": 8,
    "e4m3": 8,
    "e5m2": 8,
    "e3m2": 8,
    "e2m3": 8,
    "e2m1": 8,
    "f16": 16,
    "bf16": 16,
    "tf32": 32,
    "f32": 32,
    "s32": 32,
    "f64": 64,
}
ACCUMULATOR_TYPES = ("f16", "f32", "s32", "f64")

# K of the shapes whose e2m1 elements lie two to a byte; in all others each has a byte of its own.
_PACKED_E2M1_K = {False: 64, True: 128}


def fragment(
    family: str,
    operand: str,
    shape: str,
    type: str,
    *,
    layout: str = "",
    sparse: bool = False,
    num: int = 1,
    trans: bool = False,
) -> FragmentMap:
    """The fragment map of an operand of a matrix instruction.

    ``family`` is "mma", "wgmma", "wmma", "ldmatrix", "stmatrix" or "movmatrix". ``operand`` is "A", "B", "C" or
    "D" for the multiplying families; for "movmatrix" it is "A" (read) or "D" (written); the loads and stores have
    one, "D". ``shape`` is the shape's word ("m16n8k16", "m8n8"); ``type`` the element's. ``layout`` ("row" or
    "col") matters to A and B of mma m8n8k4 with f16 alone. ``sparse`` gives A as it is stored, K/2 wide, and the
    B that goes with it. ``num`` and ``trans`` are those of the matrix loads and stores.

    Which combinations exist on which target is not judged here, only whether the formula covers them.

    Errors: UsageError for words or shapes that no formula covers.
    Source: PTX ISA 9.7.14.4 to 9.7.14.6, 9.7.15.
    """
    if family not in _FAMILIES and family not in _MOVES:
        legal = _listed((*_FAMILIES, *_MOVES))
        raise UsageError(f"there is no family of matrix instructions {family!r}; expected {legal}")
    return _cached(family, operand.upper(), shape, type, layout, sparse, num, trans)


@cache
def _cached(
    family: str, operand: str, shape: str, type: str, layout: str, sparse: bool, num: int, trans: bool
) -> FragmentMap:
    if family in ("ldmatrix", "stmatrix"):
        return _matrix_move(family, shape, type, num, trans)
    if family == "movmatrix":
        return _movmatrix(operand, shape, type)
    if operand not in ("A", "B", "C", "D"):
        raise UsageError(f"{family} has no operand {operand!r}; expected 'A', 'B', 'C' or 'D'")
    m, n, k = _mnk(family, shape)
    if type not in TYPE_BITS or (operand in "CD" and type not in ACCUMULATOR_TYPES):
        legal = ACCUMULATOR_TYPES if operand in "CD" else tuple(TYPE_BITS)
        raise UsageError(f"{family} {operand} has no elements of type {type!r}; expected {_listed(legal)}")
    name = f"{family}{' sparse' if sparse else ''} {shape} {type} {operand}"
    return _FAMILIES[family](name, operand, type, m, n, k, layout, sparse)


def _mma(
    name: str, operand: str, type: str, m: int, n: int, k: int, layout: str, sparse: bool
) -> FragmentMap:
    if (m, n, k) == (8, 8, 4) and type in ("f16", "f32"):
        return _quad_pair(name, operand, type, layout)
    bits = _bits(type, k, sparse)
    if operand in "CD":
        _require(name, n == 8 and m in (8, 16), "M must be 8 or 16 and N 8")
        return _accumulator(name, m, n, bits)
    stored = k // 2 if sparse and operand == "A" else k
    step = 4 * max(32 // bits, 1)
    _require(
        name,
        n == 8 and m in (8, 16) and stored % step == 0 and stored // step in (1, 2, 4),
        f"M must be 8 or 16, N 8 and K 1, 2 or 4 times {step * (2 if sparse and operand == 'A' else 1)}",
    )
    return _multiplicand_a(name, m, stored, bits) if operand == "A" else _multiplicand_b(name, k, n, bits)


def _multiplicand_a(name: str, m: int, k: int, bits: int) -> FragmentMap:
    # (T32,V(p,M/8,K/4p)) -> (M,K) : ((4,8),(p,M/8,K/4p)) : the registers run down M first, then along K.
    # Every dense and stored sparse A of 9.7.14.5.2 to 13 and 9.7.14.6.2. The manual's column for a(i < 64) of
    # m16n8k256, t*32 + i, leaves out the `& 0x1F` that its own figure has.
    p = max(32 // bits, 1)
    halves = m // 8
    lane, item = _lanes_items(32, halves * (k // (4 * p)) * p)
    register, element = item // p, item % p
    row = lane // 4 + 8 * (register % halves)
    col = 4 * p * (register // halves) + (lane % 4) * p + element
    return _map(name, f"(T32,V{item.shape[1]}) -> (M{m},K{k})", m, k, bits, row, col, along="col")


def _multiplicand_b(name: str, k: int, n: int, bits: int) -> FragmentMap:
    # (T32,V(p,K/4p)) -> (K,N8): a register holds p successive k of column g, the next lies 4p further down.
    p = max(32 // bits, 1)
    lane, item = _lanes_items(32, k // 4)
    register, element = item // p, item % p
    row = 4 * p * register + (lane % 4) * p + element
    return _map(name, f"(T32,V{item.shape[1]}) -> (K{k},N{n})", k, n, bits, row, lane // 4, along="row")


def _accumulator(name: str, m: int, n: int, bits: int) -> FragmentMap:
    # (T32,V(2,M/8)) -> (M,N8): row g + 8*(i >> 1), columns 2t and 2t + 1.
    lane, item = _lanes_items(32, m // 4)
    row = lane // 4 + 8 * (item // 2)
    col = 2 * (lane % 4) + item % 2
    return _map(name, f"(T32,V{item.shape[1]}) -> (M{m},N{n})", m, n, bits, row, col)


def _quad_pair(name: str, operand: str, type: str, layout: str) -> FragmentMap:
    # Lanes 4q..4q+3 and 16+4q..19+4q compute multiplication q of four; the four lie one under the other.
    # A: (T8,V4) -> (M8,K4)   B: (T8,V4) -> (K4,N8)   C, D: (T8,V8) -> (M8,N8)
    if operand in "AB" and layout not in ("row", "col"):
        raise UsageError(f"{name}: the layout is {layout!r}; expected 'row' or 'col'")
    _require(name, operand in "CD" or type == "f16", "A and B must be f16")
    lane, item = _lanes_items(32, 4 if operand in "AB" else 8)
    multiplication, high, t = lane % 16 // 4, lane // 16, lane % 4
    if operand == "A":
        row, col = (t + 4 * high, item) if layout == "row" else (item + 4 * high, t)
    elif operand == "B":
        row, col = (t, item + 4 * high) if layout == "row" else (item, t + 4 * high)
    elif type == "f16":
        row, col = t + 4 * high, item
    else:
        row = (lane & 1) + (item & 2) + 4 * high
        col = (item & 4) + (lane & 2) + (item & 1)
    rows, cols = {"A": (8, 4), "B": (4, 8)}.get(operand, (8, 8))
    axes = {"A": "M8,K4", "B": "K4,N8"}.get(operand, "M8,N8")
    row = row + rows * multiplication
    legend = f"4 of (T8,V{item.shape[1]}) -> ({axes})"
    return _map(name, legend, 4 * rows, cols, TYPE_BITS[type], row, col, tiles=4)


def _wgmma(
    name: str, operand: str, type: str, m: int, n: int, k: int, layout: str, sparse: bool
) -> FragmentMap:
    bits = TYPE_BITS[type]
    _require(
        name, m == 64 and n % 8 == 0 and 8 <= n <= 256, "M must be 64 and N a multiple of 8 from 8 to 256"
    )
    if operand in "CD":
        # (T128,V(2,2,N/8)) -> (M64,N): warp w has rows 16w to 16w+15, in tiles of 16 by 8 along N.
        lane, item = _lanes_items(128, n // 2)
        row = 16 * (lane // 32) + lane % 32 // 4 + 8 * (item // 2 % 2)
        col = 8 * (item // 4) + 2 * (lane % 4) + item % 2
        return _map(name, f"(T128,V{n // 2}) -> (M64,N{n})", 64, n, bits, row, col)
    _require(name, operand == "A", "B is in shared memory, behind a descriptor")
    stored = k // 2 if sparse else k
    _require(name, stored * bits == 256, f"K must be {256 // bits * (2 if sparse else 1)}")
    # (T128,V(p,2,2)) -> (M64,K): warp w has rows 16w to 16w+15, laid out as A of the warp's own multiplication.
    tile = _multiplicand_a(name, 16, stored, bits)
    row = np.concatenate([tile.row + 16 * warp for warp in range(4)])
    col = np.tile(tile.col, (4, 1))
    return _map(name, f"(T128,V{tile.items}) -> (M64,K{stored})", 64, stored, bits, row, col, along="col")


def _wmma(
    name: str, operand: str, type: str, m: int, n: int, k: int, layout: str, sparse: bool
) -> FragmentMap:
    # The manual leaves these fragments opaque; here they are those of the warp's plain multiplications, tile by
    # tile of 16 by 8. M = 8 with N = 32 is multiplied turned: B's columns take the part of A's rows.
    # f16 A and B always fill eight registers: one that does not need them all repeats from its first on.
    _require(
        name,
        (m, n) in ((8, 8), (16, 16), (8, 32), (32, 8)) and not sparse,
        "M by N must be 8 by 8, 16 by 16, 8 by 32 or 32 by 8",
    )
    if (m, n) == (8, 8):
        return _mma(name, operand, type, m, n, k, layout, sparse)
    bits = TYPE_BITS[type]
    turned = (m, n) == (8, 32)
    high, wide = (n, m) if turned else (m, n)
    if operand in "CD":
        rows, cols = high, wide
        accumulator = _accumulator(name, 16, 8, bits)
        row, col = _tiled(accumulator, [(a, b) for a in range(0, high, 16) for b in range(0, wide, 8)])
    elif (operand == "A") != turned:
        rows, cols = high, k
        row, col = _tiled(_multiplicand_a(name, 16, k, bits), [(a, 0) for a in range(0, high, 16)])
    else:
        rows, cols = k, wide
        row, col = _tiled(_multiplicand_b(name, k, 8, bits), [(0, b) for b in range(0, wide, 8)])
    if turned:
        row, col, rows, cols = col, row, cols, rows
    if operand in "AB" and type == "f16":
        row, col = (np.tile(part, (1, 16 // part.shape[1])) for part in (row, col))
    axes = {"A": f"M{m},K{k}", "B": f"K{k},N{n}"}.get(operand, f"M{m},N{n}")
    return _map(name, f"(T32,V{row.shape[1]}) -> ({axes})", rows, cols, bits, row, col)


def _matrix_move(family: str, shape: str, type: str, num: int, trans: bool) -> FragmentMap:
    # Rows are numbered as the lanes that give their addresses; columns are the elements of a row of 16 bytes.
    name = f"{family} {shape} x{num}{' trans' if trans else ''} {type}"
    if shape == "m8n8" and type == "b16" and num in (1, 2, 4):
        # (T32,V(2,num)) -> (8*num,8), or with trans -> (8,8*num) of each matrix turned.
        lane, item = _lanes_items(32, 2 * num)
        along, across = 2 * (lane % 4) + item % 2, lane // 4
        row, col = (along, across) if trans else (across, along)
        return _map(
            name, f"(T32,V{2 * num}) -> ({8 * num},8)", 8 * num, 8, 16, row + 8 * (item // 2), col, tiles=num
        )
    if family == "ldmatrix" and shape == "m16n16" and type in ("b8", "b8x16") and trans and num in (1, 2):
        # (T32,V(2,2,2,num)) -> (16*num,16): a lane has columns g and g + 8 of rows 4t to 4t + 3.
        lane, item = _lanes_items(32, 8 * num)
        row = 4 * (lane % 4) + item % 2 + 2 * (item // 4 % 2) + 16 * (item // 8)
        col = lane // 4 + 8 * (item // 2 % 2)
        return _map(name, f"(T32,V{8 * num}) -> ({16 * num},16)", 16 * num, 16, 8, row, col, tiles=num)
    if family == "ldmatrix" and shape == "m8n16" and type == "b8x16" and not trans and num in (1, 2, 4):
        # (T32,V(4,num)) -> (8*num,16): elements of 4 or 6 bits arrive widened, one to a byte.
        lane, item = _lanes_items(32, 4 * num)
        row, col = lane // 4 + 8 * (item // 4), 4 * (lane % 4) + item % 4
        return _map(name, f"(T32,V{4 * num}) -> ({8 * num},16)", 8 * num, 16, 8, row, col, tiles=num)
    if family == "stmatrix" and shape == "m16n8" and type == "b8" and trans and num in (1, 2, 4):
        # (T32,V(2,2,num)) -> (8*num,16): a row in memory is a column of the 16 by 8 accumulator tile.
        lane, item = _lanes_items(32, 4 * num)
        row = 2 * (lane % 4) + item % 2 + 8 * (item // 4)
        col = lane // 4 + 8 * (item // 2 % 2)
        return _map(name, f"(T32,V{4 * num}) -> ({8 * num},16)", 8 * num, 16, 8, row, col, tiles=num)
    legal = "m8n8 b16" + (
        ", m8n16 b8x16 or m16n16 trans b8 (x1 or x2)" if family == "ldmatrix" else " or m16n8 trans b8"
    )
    raise UsageError(f"{name} has no fragment; expected {legal}, x1, x2 or x4")


def _movmatrix(operand: str, shape: str, type: str) -> FragmentMap:
    # A: (T32,V2) -> (8,8), rows over the groups; D holds the same matrix turned, columns over the groups.
    name = f"movmatrix {shape} {type} {operand}"
    _require(
        name, shape == "m8n8" and type == "b16" and operand in ("A", "D"), "it moves m8n8 b16 from A to D"
    )
    lane, item = _lanes_items(32, 2)
    across, along = lane // 4, 2 * (lane % 4) + item
    row, col = (across, along) if operand == "A" else (along, across)
    return _map(name, "(T32,V2) -> (8,8)", 8, 8, 16, row, col)


_FAMILIES: dict[str, Callable[[str, str, str, int, int, int, str, bool], FragmentMap]] = {
    "mma": _mma,
    "wgmma": _wgmma,
    "wmma": _wmma,
}
_MOVES = ("ldmatrix", "stmatrix", "movmatrix")


def _lanes_items(lanes: int, items: int) -> tuple[Ints, Ints]:
    lane = np.arange(lanes, dtype=np.int32)[:, None]
    return np.broadcast_to(lane, (lanes, items)), np.broadcast_to(
        np.arange(items, dtype=np.int32), (lanes, items)
    )


def _tiled(tile: FragmentMap, corners: list[tuple[int, int]]) -> tuple[Ints, Ints]:
    row = np.concatenate([tile.row + top for top, _ in corners], axis=1)
    col = np.concatenate([tile.col + left for _, left in corners], axis=1)
    return row, col


def _map(
    name: str,
    legend: str,
    rows: int,
    cols: int,
    bits: int,
    row: Ints,
    col: Ints,
    *,
    tiles: int = 1,
    along: str = "",
) -> FragmentMap:
    for part in (row, col):
        part.flags.writeable = False
    return FragmentMap(
        name, legend, rows, cols, bits, row, col, max(bits, 32), tiles, along if bits == 1 else ""
    )


def _bits(type: str, k: int, sparse: bool) -> int:
    return 4 if type == "e2m1" and k == _PACKED_E2M1_K[sparse] else TYPE_BITS[type]


def _mnk(family: str, shape: str) -> tuple[int, int, int]:
    found = re.fullmatch(r"m(\d+)n(\d+)k(\d+)", shape)
    if found is None:
        raise UsageError(f"{family} has no shape {shape!r}; expected a word such as 'm16n8k16'")
    return int(found[1]), int(found[2]), int(found[3])


def _require(name: str, holds: bool, otherwise: str) -> None:
    if not holds:
        raise UsageError(f"{name} has no fragment: {otherwise}")


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
