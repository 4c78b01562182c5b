"""Chains of warpgroup multiplications that one compiled call executes without copies of A and B."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from warploom.emulator.access import uniform
from warploom.emulator.address_space import CHUNK_MASK, SHARED_START
from warploom.emulator.shared_memory import SharedMemory
from warploom.isa.model.multiplication import Multiplication, SharedMatrix
from warploom.isa.model.semantics import Array
from warploom.lazy_dataclass import dataclass
from warploom.numerics import fused_fast, tile_products
from warploom.numerics._numba import INSTALLED
from warploom.numerics.formats import STORAGE
from warploom.numerics.models import Sum
from warploom.numerics.tile_products import Memory, Tiles

_NO_TILES = Tiles(np.zeros((0, 0, 0), np.uint64), np.zeros((0, 0), np.int64), np.zeros((0, 0), np.int64), 0, 0, 0)
_NO_MATRICES = {dtype: np.zeros((0, 0, 0), dtype) for dtype in STORAGE.values()}


@dataclass(frozen=True, slots=True)
class TileProducts:
    """Chains with the same shapes, arithmetic and number of multiplications (steps along K).

    `shared` contains the matrices of a step that are in shared memory: A and B, or only B.
    """

    shared: Sequence[SharedMatrix]
    sizes: tuple[int, int, int, int]  # M, N and K of a chain, and the row length of D
    elements: tuple[Array, Array, Array]
    strip: Array
    parameters: Array

    @classmethod
    def of(cls, product: Multiplication, steps: int, arch: str) -> TileProducts | None:
        """Return the description of chains, or None if no compiled function can execute them.

        A chain has `steps` multiplications, which differ from `product` only in their operands.
        """
        model = product.model(arch)
        depth = product.k * steps
        if not INSTALLED or model.sum is not Sum.T_FDPA or product.metadata is not None:
            return None
        if depth % min(model.length, depth):
            return None
        kinds = tuple(_empty(name) for name in (model.a_type, model.b_type, model.d_type))
        assert len(kinds) == 3
        strip = fused_fast.strip(product.d.map.cols)
        sizes = product.d.map.rows, product.d.map.cols, depth, product.d.map.cols
        parameters = fused_fast.parameters(model, product.negate_a, product.negate_b)
        return cls(product.shared, sizes, kinds, strip, parameters)

    def execute(
        self, shared: SharedMemory, ctas: Array, descriptors: Mapping[str, Array], registers: Array | None, sums: Array,
        keeps: Array,
    ) -> int:  # fmt: skip
        """Compute D = A B + D, or D = A B where `keeps` is False. Return the result of `fused`.

        `sums` has the host addresses of the matrices D. `descriptors` contains the matrix descriptors by the name of
        the matrix, and `registers` the matrices A that are in registers.

        Shapes: ctas (warpgroups,); descriptors (warpgroups, chains, steps); registers (warpgroups * chains, M, K); sums
            and keeps (warpgroups, chains).
        """
        memory = Memory(shared.bytes, SHARED_START, shared.end)
        origins = (ctas * shared.stride)[:, None]
        return tile_products.fused(
            *self.arguments(memory, origins, descriptors, registers, sums, keeps.astype(np.int64))
        )  # fmt: skip

    def arguments(
        self, memory: Memory, origins: Array, descriptors: Mapping[str, Array], registers: Array | None, sums: Array,
        keeps: Array,
    ) -> tuple[Any, ...]:  # fmt: skip
        """Return the arguments of `fused`.

        `origins` has the index of the first byte of the CTA of each group. The other parameters are those of
        `execute`, but `keeps` contains integers. Shapes: origins (groups, 1).
        """
        tiles = [_tiles(each, descriptors[each.name], origins) for each in self.shared]
        a, b = tiles if registers is None else (_NO_TILES, *tiles)
        registers = _NO_MATRICES[self.elements[0].dtype] if registers is None else uniform(registers)
        return memory, a, b, registers, sums, keeps, self.sizes, self.elements, self.strip, self.parameters

    def tile(self, found: int, descriptors: Mapping[str, Array], leaders: Array) -> tuple[int, Array, int]:
        """Return the descriptor, the chunk offsets and the first warp of the tile that is out of bounds.

        `found` is the result of `execute`, and `leaders` has the index of the first warp of each warpgroup.
        """
        number, kind = divmod(found, 2)
        matrix = self.shared[kind - 2 + len(self.shared)]
        groups, chains, tiles = descriptors[matrix.name].shape
        chain, group, tile = np.unravel_index(number, (chains, groups, tiles))
        descriptor = int(descriptors[matrix.name][group, chain, tile])
        return descriptor, matrix.chunks(descriptor >> 14)[0], int(leaders[group])


def _tiles(matrix: SharedMatrix, descriptors: Array, origins: Array) -> Tiles:
    offsets, swizzle, base_offset = matrix.chunks(int(descriptors[0, 0, 0]) >> 14)
    return Tiles(descriptors, origins, offsets, CHUNK_MASK[swizzle], base_offset, int(matrix.major == "MN"))


@cache
def _empty(element: str) -> Any:
    """Return an array without elements, which gives the type of a matrix element to compiled functions."""
    return np.empty(0, STORAGE[element])
