"""Grid and arguments of the Blackwell kernel for arrays in host or GPU memory."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from warploom.kernels.blackwell.plan import ROWS, SPAN, TensorPlan, tile_count
from warploom.kernels.plan import ALIGNMENT, BLOCK, bits_of
from warploom.kernels.problem import Operands, Problem, aligned, line_strides, transposed
from warploom.layout import TensorMap

_L2_PROMOTION = 256  # bytes that L2 fetches at once


@dataclass(frozen=True, slots=True)
class BlackwellDispatch:
    """Launch of a Blackwell kernel: the problem, the plan, and the multiprocessors of the GPU."""

    problem: Problem
    plan: TensorPlan
    multiprocessors: int

    # These values stand for the properties of `HopperDispatch` with the same names.
    workspace = None
    programmatic = stores_by_address = False
    alignment = ALIGNMENT

    @property
    def grid(self) -> int:
        """Number of CTAs of the launch."""
        ctas = self.plan.tile.ctas
        return ctas * min(tile_count(self.problem, self.plan.tile), self.multiprocessors // ctas)

    @property
    def cluster(self) -> int:
        """Number of CTAs of a cluster."""
        return self.plan.tile.ctas

    def tensor_maps(self, operands: Operands, d: Any) -> dict[str, TensorMap]:
        """Return the tensor maps of A and B and, for block formats, of the scale factors, by parameter."""
        plan, tile = self.plan, self.plan.tile
        maps = {
            "a": self._operand_map(operands.a, "a", plan.a, plan.a_major, ROWS),
            "b": self._operand_map(transposed(operands.b), "b", plan.b, plan.b_major, tile.columns // tile.ctas),
        }
        if plan.scaling:
            atoms = plan.blocks // 4
            for name, operand, array, rows in (
                ("row_scales", "a", operands.row_scales, 1),
                ("column_scales", "b", operands.column_scales, -(-tile.columns // ROWS)),
            ):
                box = (rows, atoms, *array.shape[-2:])
                maps[name] = TensorMap.tiled(array, (1, *box) if plan.rank(operand) == 3 else box, dtype="u8")
        return maps

    def _operand_map(self, array: Any, name: str, type_word: str, major: str, lines: int) -> TensorMap:
        """Return the tensor map of A, or of B transposed. A box has `lines` rows or 64 elements of them."""
        size = max(bits_of(type_word), 8) // 8
        box = (lines, SPAN // size) if major == "k" else (self.plan.stage_k, BLOCK)
        return TensorMap.tiled(
            array if major == "k" else transposed(array),
            (1, *box) if self.plan.rank(name) == 3 else box,
            swizzle=SPAN,
            dtype="tf32" if type_word == "tf32" else None,
            l2_promotion=_L2_PROMOTION,
        )

    def unused_pointers(self, operands: Operands) -> tuple[str, ...]:
        """Return the names of the pointer parameters without an array."""
        return operands.missing("row_scales", "column_scales", "bias")

    def arguments(self, operands: Operands, d: Any, start: Any, alpha: float, beta: float) -> list[Any]:
        """Return the kernel arguments for NumPy arrays.

        `start` is the array that the kernel writes. Its rows are padded. `d` is a view of `start` without the padding.
        """
        c = None if operands.c is None else aligned(operands.c)
        maps = self.tensor_maps(operands, d)
        return [
            *(maps["a"], maps["b"], start if c is None else c.base, start),
            *(maps.get(name, getattr(operands, name)) for name in ("row_scales", "column_scales")),
            *(operands.bias, np.float32(alpha), np.float32(beta)),
            *self.numbers(d, operands._replace(c=c)),
        ]

    def numbers(self, d: Any, operands: Operands) -> tuple[int, ...]:
        """Return the last kernel arguments: strides in bytes, sizes, and numbers of tiles.

        Errors: UsageError kernels.layout.
        """
        problem, tile = self.problem, self.plan.tile
        (c_stride, c_plane), (d_stride, d_plane) = (
            line_strides(name, array, 1) for name, array in (("C", d if operands.c is None else operands.c), ("D", d))
        )
        return (
            *(c_stride, d_stride, c_plane, d_plane, problem.m, problem.n),
            *(-(-problem.m // tile.rows), -(-problem.n // tile.columns), -(-problem.k // self.plan.stage_k)),
            tile_count(problem, tile),
        )
