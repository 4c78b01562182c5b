"""Products of tiles in shared memory equal those of the same matrices in arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from warploom.layout import matrix_addresses, swizzle
from warploom.numerics import fused, fused_fast, models, tile_products
from warploom.numerics.formats import STORAGE
from warploom.numerics.tile_products import DIFFERENT, Memory, Tiles

Array = NDArray[Any]

LOW, SIZE, TILE, ROWS = 1024, 1 << 16, 1 << 12, 64
MASKS = {0: 0, 32: 1, 64: 3, 128: 7}
SPANS = {mask: span for span, mask in MASKS.items()}
DEPTH = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32}


class Products:
    """Random multiplications of two groups, whose tiles start at multiples of `TILE` bytes.

    A group is a warpgroup of one CTA. With `pairs`, it has the chains of two CTAs, and each CTA has half of B.
    """

    def __init__(
        self, kind: str, majors: str, span: int, columns: int, chains: int, tiles: int, seed: int,
        *, pairs: bool = False,
    ) -> None:  # fmt: skip
        self.k, d_type = DEPTH[kind], "f16" if kind == "e4m3" else "f32"
        self.random = np.random.default_rng(seed)
        self.model = models.select("sm_90a", "warpgroup", kind, kind, d_type)
        self.dtype, self.d_dtype = STORAGE[kind], STORAGE[d_type]
        self.memory = Memory(self.random.integers(0, 256, 4 * SIZE, np.uint8), LOW, LOW + SIZE)
        self.origins = SIZE * np.array([[3, 0], [2, 1]])[:, : 1 + pairs]
        self.a = self.tiles(ROWS, majors[0], span, chains, tiles)
        self.b = self.tiles(columns // (1 + pairs), majors[1], span, chains, tiles)
        if self.random.random() < 0.5:
            self.b.descriptors[:, 1:] = self.b.descriptors[:, :1]  # all chains of a warpgroup have one matrix B
        self.shape = (2, chains, ROWS, columns)

    def tiles(self, rows: int, major: str, span: int, chains: int, tiles: int) -> Tiles:
        item = self.dtype.itemsize
        sizes = {"rows": rows, "k": self.k, "element_bytes": item, "major": "MN" if major == "m" else "K"}
        table = matrix_addresses(TILE // 2, 8 * (span or 16), span, **sizes)
        chunks = table[:: 16 // item].T if major == "m" else table[:, :: 16 // item]
        starts = self.random.integers(0, 4, (2, chains, tiles)) * 2 * TILE + LOW
        return Tiles(
            (starts >> 4).astype(np.uint64), np.ascontiguousarray(self.origins), np.ascontiguousarray(chunks, np.int64),
            MASKS[span], 0, int(major == "m"),
        )  # fmt: skip

    def matrix(self, tiles: Tiles, g: int, j: int, origin: int) -> Array:
        """Return a matrix in the CTA whose first byte is `origin`, read element by element."""
        parts: list[Array] = []
        for descriptor in tiles.descriptors[g, j]:
            at = swizzle(tiles.offsets + (int(descriptor) << 4), SPANS[tiles.mask])
            index = origin + at - LOW
            found = self.memory.bytes[index[..., None] + np.arange(16)].reshape(len(index), -1).view(self.dtype)
            parts.append(found.T if tiles.transposed else found)
        return np.concatenate(parts, axis=1)

    def run(self, sums: Array, keeps: Array, registers: Array | None = None) -> int:
        groups, chains, rows, columns = sums.shape
        gap = 24 if columns == 32 else 0  # rows of D may be apart, as in tensor memory
        wide = np.full((groups, chains, rows, columns + gap), 7, sums.dtype)
        wide[..., :columns] = sums
        addresses = wide.ctypes.data + np.arange(groups * chains).reshape(groups, chains) * wide.strides[1]
        sizes = rows, columns, self.k * self.b.descriptors.shape[2], columns + gap
        elements = tuple(np.empty(0, dtype) for dtype in (self.dtype, self.dtype, self.d_dtype))
        given = np.zeros((0, 0, 0), self.dtype) if registers is None else registers
        found = tile_products.fused(
            self.memory, self.a, self.b, given, addresses, keeps.astype(np.int64), sizes, elements,
            fused_fast.strip(columns // self.origins.shape[1]), fused_fast.parameters(self.model),
        )  # fmt: skip
        sums[:] = wide[..., :columns]
        assert (wide[..., columns:] == 7).all()
        return found

    def expected(self, sums: Array, keeps: Array, registers: Array | None = None) -> Array:
        result = np.where(keeps[..., None, None], sums, 0).astype(self.d_dtype)
        chains = sums.shape[1]
        for g, origins in enumerate(self.origins):
            for j in range(chains):
                own = origins[j * len(origins) // chains]
                a = self.matrix(self.a, g, j, own) if registers is None else registers[g * chains + j]
                b = np.concatenate([self.matrix(self.b, g, j, each) for each in origins])
                a, b, c = (np.ascontiguousarray(each)[None] for each in (a, b, result[g, j]))
                result[g, j] = fused.multiply(a, b, c, self.model)[0]
        return result


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from([("f16", "kk"), ("f16", "mk"), ("bf16", "km"), ("bf16", "mm"), ("tf32", "kk"), ("e4m3", "kk")]),
    st.sampled_from([0, 32, 64, 128]), st.sampled_from([8, 16, 32, 96]), st.integers(1, 3), st.integers(1, 4),
    st.integers(0, 1 << 20),
)  # fmt: skip
def test_products_of_tiles(kind: tuple[str, str], span: int, columns: int, chains: int, tiles: int, seed: int) -> None:
    if "m" in kind[1]:
        columns = max(columns, (span or 16) // 2)  # a row of an atom along N
    products = Products(*kind, span, columns, chains, tiles, seed)
    sums = products.random.integers(0, 1 << 8 * products.d_dtype.itemsize, products.shape).astype(products.d_dtype)
    keeps = products.random.random((2, chains)) < 0.7
    expected = products.expected(sums, keeps)
    assert products.run(sums, keeps) == -1
    np.testing.assert_array_equal(sums, expected)


@pytest.mark.parametrize("majors", ["kk", "mm"])
@pytest.mark.parametrize("chains", [2, 4])
def test_products_of_pairs_of_ctas(majors: str, chains: int) -> None:
    products = Products("f16", majors, 64, 192, chains, 2, 0, pairs=True)
    sums, keeps = np.ones(products.shape, np.uint32), np.ones((2, chains), np.bool_)
    expected = products.expected(sums, keeps)
    assert products.run(sums, keeps) == -1
    np.testing.assert_array_equal(sums, expected)


def test_matrices_a_in_registers() -> None:
    products = Products("f16", "kk", 128, 32, 1, 2, 0)
    registers = products.random.integers(0, 1 << 16, (2, ROWS, 2 * products.k)).astype(np.uint16)
    sums, keeps = np.zeros(products.shape, np.uint32), np.ones((2, 1), np.bool_)
    expected = products.expected(sums, keeps, registers)
    assert products.run(sums, keeps, registers) == -1
    np.testing.assert_array_equal(sums, expected)


@pytest.mark.parametrize(("matrix", "place"), [("a", (1, 0, 1)), ("b", (1, 1, 0)), ("a", (0, 1, 1))])
def test_the_first_tile_out_of_bounds(matrix: str, place: tuple[int, int, int]) -> None:
    products = Products("f16", "kk", 0, 16, 2, 2, 0)
    group, chain, tile = place
    getattr(products, matrix).descriptors[group, chain, tile] = LOW + SIZE - 16 >> 4
    getattr(products, matrix).descriptors[1, 1, 1] = 0  # a later one
    sums, keeps = np.ones(products.shape, np.uint32), np.ones((2, 2), np.bool_)
    assert products.run(sums, keeps) == 2 * ((chain * 2 + group) * 2 + tile) + (matrix == "b")
    assert (sums == 1).all()


def test_descriptors_that_differ() -> None:
    products = Products("f16", "kk", 0, 16, 2, 2, 0)
    products.b.descriptors[1, 1, 0] |= np.uint64(1 << 20)
    sums, keeps = np.ones(products.shape, np.uint32), np.ones((2, 2), np.bool_)
    assert products.run(sums, keeps) == DIFFERENT
    assert (sums == 1).all()
