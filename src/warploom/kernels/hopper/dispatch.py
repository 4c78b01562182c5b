"""Grid and arguments of the Hopper kernel for arrays in host or GPU memory."""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np

from warploom.gpu.arrays import as_numpy, is_foreign_type
from warploom.kernels.hopper.cost_model import TileSchedule, choose, microseconds, schedules, tile_counts
from warploom.kernels.hopper.exchanged_dispatch import ExchangedDispatch, VectorDispatch, matrix_map, operand_map
from warploom.kernels.hopper.plan import SCALE_BLOCK, BlockScales, Plan, Tile
from warploom.kernels.hopper.tuned_tiles import choose_tuned
from warploom.kernels.problem import Operands, Problem, array_error, transposed
from warploom.layout import TensorMap, strided


@dataclass(frozen=True, slots=True)
class HopperDispatch:
    """Launch of a Hopper kernel: the problem, the plan of the kernel, and the schedule of the tiles.

    If `programmatic`, the launch may overlap the previous grid of the stream. `alignment` is the required alignment of
    the addresses of matrices, in bytes.
    """

    problem: Problem
    plan: Plan
    schedule: TileSchedule

    programmatic = True
    # Tensor maps check their own alignment.
    alignment = 1

    @property
    def grid(self) -> int:
        """Number of CTAs of the launch."""
        return self.schedule.ctas

    @property
    def cluster(self) -> int:
        """Number of CTAs of a cluster."""
        return self.plan.tile.ctas

    @property
    def stores_by_address(self) -> bool:
        """True if the kernel needs the address of D in addition to the tensor map of D."""
        return self.plan.stores_by_address

    @property
    def workspace(self) -> tuple[int, int] | None:
        """Number of 32-bit words and of zeroed flags for tiles that are cut along K; None without such tiles."""
        return self.schedule.workspace(self.plan)

    def tensor_maps(self, operands: Operands, d: Any) -> dict[str, TensorMap]:
        """Return the tensor maps of A, B, C and D by parameter. Without C, the third map is also that of D."""
        plan = self.plan
        of_d, b = self._result_map(d, "d"), transposed(operands.b)
        return {
            "a": operand_map(plan, operands.a, "a"),
            "b": operand_map(plan, b, "b"),
            "c": of_d if operands.c is None else self._result_map(operands.c, "c"),
            "d": of_d,
        }

    def _result_map(self, array: Any, name: str) -> TensorMap:
        span = self.plan.box_row_bytes
        return matrix_map(self.plan, array, name, (64, self.plan.box_columns), span if span > 16 else 0, "")

    def unused_pointers(self, operands: Operands) -> tuple[str, ...]:
        """Return the names of the pointer parameters without an array."""
        missing = operands.missing("row_scales", "column_scales", "bias", "metadata", "ends")
        missing += () if self.stores_by_address else ("d_start",)
        return missing if self.workspace is not None else (*missing, "partial", "flags")

    def arguments(self, operands: Operands, d: Any, start: Any, alpha: float, beta: float) -> list[Any]:
        """Return the kernel arguments for NumPy arrays.

        `start` is the array that the kernel writes. Its rows are padded. `d` is a view of `start` without the padding.
        """
        rows, columns = dense_scales(operands.row_scales), dense_scales(operands.column_scales)
        operands = operands._replace(row_scales=rows, column_scales=columns)
        return [
            *self.tensor_maps(operands, d).values(),
            *(np.zeros(count, np.uint32) for count in self.workspace or (0, 0)),
            *(each.ravel(order="K") if is_by_block(each) else each for each in (rows, columns)),
            *(operands.bias, operands.metadata, operands.ends),
            *(np.float32(alpha), np.float32(beta)),
            start if self.stores_by_address else None,
            *self.numbers(d, operands),
        ]

    def numbers(self, d: Any, operands: Operands) -> tuple[int, ...]:
        """Return the last kernel arguments: strides of D, sizes, and strides of block scales."""
        problem, schedule, layout = self.problem, self.schedule, strided(d)
        return (
            layout.strides[-2],
            layout.strides[0] if self.plan.batched else 0,
            *(problem.m, problem.n),
            *tile_counts(problem, self.plan),
            *(schedule.stages, schedule.split, schedule.tiles, problem.groups),
            *scale_strides(operands.row_scales),
            *scale_strides(operands.column_scales),
        )


def dispatch_of(problem: Problem, plan: Plan, schedule: TileSchedule) -> HopperDispatch | ExchangedDispatch:
    """Return the launch of the kernel of a plan.

    The kernel can cut tiles along K if the schedule has such tiles.
    """
    plan = replace(plan, cut=schedule.split > 0)
    if not plan.tile.exchanged:
        return HopperDispatch(problem, plan, schedule)
    return (VectorDispatch if plan.tile.is_vector else ExchangedDispatch)(problem, plan, schedule)


@lru_cache(maxsize=256)
def dispatch_for(
    problem: Problem, plan: Plan, tile: Tile | None, gpu: str, multiprocessors: int
) -> HopperDispatch | ExchangedDispatch:
    """Return a launch with `tile`. Without `tile`, use the tuned tile of `gpu` or the best estimate."""
    if tile is None:
        plan, schedule = choose_tuned(gpu, problem, plan) if gpu else choose(problem, plan)
    else:
        plan = plan.with_tile(tile)
        schedule = min(schedules(problem, plan), key=lambda each: microseconds(problem, plan, each))
    return dispatch_of(problem, plan, schedule.limited(plan.tile, multiprocessors))


# Block scales -----------------------------------------------------------------------------------------------


def block_scales_of(operands: Operands, problem: Problem) -> BlockScales:
    """Return a description of the block scales among the operands. Errors: UsageError kernels.shape."""
    blocks = ceil(problem.n / SCALE_BLOCK)
    rows = _count("row_scales", operands.row_scales, problem, (problem.m,))
    columns = _count("column_scales", operands.column_scales, problem, (blocks, problem.n))
    return BlockScales(rows is not None, 0 if columns is None else SCALE_BLOCK if columns == blocks else 1)


def _count(name: str, value: Any, problem: Problem, counts: tuple[int, ...]) -> int | None:
    """Return the number of block scales along M or N, one of `counts`, or None for other scales."""
    if not is_by_block(value):
        return None
    layout, along_k = strided(value), ceil(problem.k / SCALE_BLOCK)
    planes = layout.shape[:-2] in ((), (problem.batch,) if problem.batched else ())
    fits = planes and layout.shape[-2] in counts and layout.shape[-1] == along_k
    if not fits or layout.dtype != np.float32 or any(s % 4 or s < 0 for s in layout.strides):
        shapes = " or ".join(f"({count}, {along_k})" for count in dict.fromkeys(counts))
        batch = f", with or without a batch of {problem.batch} in front" if problem.batched else ""
        expected = f"float32 of shape ({counts[-1]},), or by blocks of {SCALE_BLOCK} of shape {shapes}{batch}"
        raise array_error(name, layout, expected, "kernels.shape")
    return layout.shape[-2]


def scale_strides(value: Any) -> tuple[int, int, int]:
    """Return byte strides of block scales: M or N, blocks of K, batches. They are 0 for other scales."""
    if not is_by_block(value):
        return 0, 0, 0
    layout = strided(value)
    return layout.strides[-2], layout.strides[-1], layout.strides[0] if layout.ndim == 3 else 0


def dense_scales(value: Any) -> Any:
    """Return a copy of block scales in host memory, without gaps. Return other scales unchanged."""
    if not is_by_block(value):
        return value
    return (as_numpy(value) if is_foreign_type(value.__class__) else value).copy(order="K")


def is_by_block(value: Any) -> bool:
    """Return True if an array holds block scales: it has two or more dimensions."""
    return value is not None and len(value.shape) > 1
