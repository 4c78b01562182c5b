"""Matrices for tests: numbers that every element type holds, their bits, and rows expanded to opcodes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from warploom.isa.model.form import Form
from warploom.isa.model.table import Row
from warploom.isa.model.types import TYPES
from warploom.layout import FragmentMap
from warploom.layout.maps import TYPE_BITS
from warploom.numerics.formats import STORAGE

Array = NDArray[Any]

_FLOATS: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "f32": np.float32,
    "f64": np.float64,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
}
_RANGES = {"s8": (-128, 128), "u8": (0, 256), "s4": (-8, 8), "u4": (0, 16), "b1": (0, 2), "s32": (-(2**31), 2**31)}


def numbers(rng: np.random.Generator, shape: tuple[int, ...], element: str) -> Array:
    """Integers of a type; of floats so small that every sum of products of them is exact."""
    low, high = _RANGES.get(element, (-2, 3))
    return rng.integers(low, high, shape)


def encode(values: Array, element: str) -> Array:
    """The bits of numbers, one element an entry (32 of b1, along the last axis)."""
    if element == "b1":
        return np.packbits(values.astype(np.uint8), axis=-1, bitorder="little").view(np.uint32)
    if element in _FLOATS:
        return values.astype(_FLOATS[element]).view(STORAGE[element])
    return values.astype(STORAGE[element])


def decode(bits: Array, element: str) -> Array:
    """The numbers of bits of an accumulator."""
    return (bits.view(_FLOATS[element]) if element in _FLOATS else bits.view(np.int32)).astype(np.float64)


def product_of(a: Array, b: Array, c: Array, operation: str = "") -> Array:
    """A B + C in whole numbers, or with the bits' and or exclusive or in the products' place."""
    if operation:
        pairs = np.bitwise_and if operation == "and" else np.bitwise_xor
        return pairs(a[:, :, None, :], b.swapaxes(1, 2)[:, None, :, :]).sum(-1) + c
    return a @ b + c


def wrapped(values: Array) -> Array:
    """Whole numbers in 32 bits."""
    return values.astype(np.int64).astype(np.int32).astype(np.float64)


def opcodes(form: Form) -> Iterator[tuple[str, dict[str, str], Row]]:
    """Every opcode of a form, its slots and its row; of a long lattice three of the values."""
    for row in form.rows:
        columns = list(row.cells)
        cells = [words if len(words) <= 9 else (words[0], words[2], words[-1]) for words in row.cells.values()]
        for words in product(*cells):
            slots = dict(zip(columns, words, strict=True))
            for word in form.syntax.words:
                if word.composite is not None:
                    slots[word.slot] = _compose(form.composites[word.slot], slots)
            yield ".".join(_words(form, slots)), slots, row


def _compose(pattern: str, slots: dict[str, str]) -> str:
    return pattern.format(**slots)


def _words(form: Form, slots: dict[str, str]) -> Iterator[str]:
    for word in form.syntax.words:
        text = word.literal if word.literal and not word.optional else slots.get(word.slot, "")
        if text:
            yield text


def vector(prefix: str, count: int) -> str:
    """Registers in braces."""
    return "{" + ", ".join(f"%{prefix}{item}" for item in range(count)) + "}"


def hold(registers: dict[str, Array], prefix: str, values: Array, type: str) -> None:
    """Name registers of a type. Shapes of values: (registers, warps, 32)."""
    for item, value in enumerate(values):
        registers[f"%{prefix}{item}"] = np.ascontiguousarray(value).view(TYPES[type].dtype).copy()


def registers_of(fragment: FragmentMap, matrix: Array, element: str) -> Array:
    """Shapes: matrix (warps, rows, cols) of bits; result (registers, warps, 32)."""
    if fragment.tiles > 1:
        matrix = matrix.reshape(-1, fragment.rows, fragment.cols)
    return fragment.scatter(matrix).transpose(1, 0, 2)


def cases(*forms: Any) -> list[Any]:
    return [pytest.param(form, *case, id=case[0]) for form in forms for case in opcodes(form)]


def padded(bits: Array, slots: dict[str, str], element: str) -> Array:
    return bits << 2 if slots.get("kind") in ("kind::f8f6f4", "kind::mxf8f6f4") and element == "e2m1" else bits


def stored_and_dense(
    random: np.random.Generator, element: str, shape: tuple[int, int, int], *, pairs_of_4_bits: bool = False
) -> tuple[Array, Array, Array]:
    """The stored elements of a sparse A, A itself, and the four metadata bits of each of its chunks."""
    batch, rows, k = shape
    chunk = 8 if pairs_of_4_bits else {32: 2, 4: 8}.get(TYPE_BITS[element], 4)
    run = 2 if chunk == 8 else 1
    stored = numbers(random, (batch, rows, k // 2), element)
    pairs = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
    chosen = pairs[random.integers(0, 6, (batch, rows, k // chunk))]
    if chunk == 2:
        which = random.integers(0, 2, (batch, rows, k // chunk))
        chosen = np.stack([2 * which, 2 * which + 1], axis=3)
    nibbles = chosen[..., 0] | chosen[..., 1] << 2
    dense = np.zeros(shape, np.int64)
    grid = np.indices(chosen.shape[:3])
    for position in range(chunk // 2):
        within = which if chunk == 2 else run * chosen[..., position // run] + position % run
        at = chunk * grid[2] + within
        dense[grid[0], grid[1], at] = stored[grid[0], grid[1], chunk // 2 * grid[2] + position]
    return stored, dense, nibbles
