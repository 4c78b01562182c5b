"""Trials of a GEMM kernel: the checker, ptxas, and a small sanitized run on the emulator."""

import os
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, prod
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import warploom as wl
from warploom.author import Kernel
from warploom.diagnostics import Source
from warploom.emulator.loader import load
from warploom.emulator.program import Program
from warploom.gpu.logs import findings, resources
from warploom.kernels.ampere.dispatch import AmpereDispatch
from warploom.kernels.ampere.gemm import kernel_of as ampere_kernel
from warploom.kernels.hopper.cost_model import TileSchedule, schedules, tile_counts
from warploom.kernels.hopper.dispatch import HopperDispatch, dispatch_of
from warploom.kernels.hopper.kernel_of import kernel_of as hopper_kernel
from warploom.kernels.hopper.plan import SCALE_BLOCK, SMALL, VECTOR_THREADS, Plan
from warploom.kernels.plan import DTYPES
from warploom.kernels.prepared import Dispatch
from warploom.kernels.problem import Operands, grouped_problem, problem_of, transposed
from warploom.kernels.sparse import compress, prune
from warploom.runtime.api import launch
from warploom_lab.configurations.space import AnyPlan
from warploom_lab.ptxas.assembler import Assembler

_OPERANDS: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2, "s8": np.int8, "u8": np.uint8,
}  # fmt: skip
_LARGEST = {"e4m3": 448.0, "e5m2": 57344.0}
_PADDING = 7  # initial content of D and of the memory between its rows
_ALPHA, _BETA = 0.5, 2.0
_ACTIVATION_ERROR = 2.0**-9  # error of the approximate activations, relative to their input


@lru_cache(maxsize=1)
def kernel_of(plan: AnyPlan) -> Kernel:
    """Return the kernel that a plan describes."""
    return hopper_kernel(plan) if isinstance(plan, Plan) else ampere_kernel(plan)


@lru_cache(maxsize=1)
def _program(plan: AnyPlan) -> Program:
    return load(kernel_of(plan).module)


def assemble(plan: AnyPlan, ptxas: Assembler) -> list[Any]:
    """Assemble a kernel and return [register count, bytes of spills, *messages].

    If ptxas refuses the kernel, both numbers are 0.
    """
    kernel = kernel_of(plan)
    target = "sm_90a" if isinstance(plan, Plan) else plan.target
    status, log = ptxas.run(kernel.text, target, ("-v", "-o", os.devnull))
    messages = [each.message for each in findings(log, Source(kernel.entry, kernel.text))]
    if status:
        return [0, 0, *(messages or [log])]
    used = resources(log)[kernel.entry]
    return [used.registers, used.spill_stores + used.spill_loads, *messages]


def check_findings(plan: AnyPlan) -> list[str]:
    """Return the errors and warnings of the checker for the kernel of a plan."""
    return [f"{each.code}: {each.message}" for each in wl.check(kernel_of(plan).text)]


def numbers(rng: np.random.Generator, dtype: Any, *shape: int, low: int = -2) -> Any:
    """Return an array of integers from `low` to 2. Their sums are exact in every type.

    The rows are aligned to 16 bytes.
    """
    per_row = 16 // np.dtype(dtype).itemsize
    wide = (*shape[:-1], ceil(shape[-1] / per_row) * per_row)
    lowest = 0 if np.dtype(dtype) == np.uint8 else low
    return rng.integers(lowest, 3, wide).astype(dtype)[..., : shape[-1]]


def scale_factors(rng: np.random.Generator, *shape: int) -> Any:
    """Return random scale factors of 0.5, 1 or 2. Their products with integers are exact."""
    return rng.choice(np.array([0.5, 1, 2], np.float32), shape)


@dataclass(frozen=True, slots=True)
class Instance:
    """Small matrix multiplication. Tiles at the edges of the matrices are partial."""

    m: int
    n: int
    k: int
    arrays: Operands
    expected: Any  # exact D before activation and rounding


def _sizes(plan: AnyPlan) -> tuple[int, int, int]:
    """Return M, N and K of a small multiplication. Tiles at the edges are partial."""
    beyond = 13 if plan.unaligned else 16  # columns after a tile
    if not isinstance(plan, Plan):
        tile = plan.tile
        return tile.rows + 37, tile.columns + beyond, 3 * plan.stage_k + 11
    tile = plan.tile
    if tile.is_vector:
        return tile.columns * 3 // 2, tile.rows + beyond, tile.stages * VECTOR_THREADS * 8 + 11
    if tile.exchanged:  # with promoted sums, one CTA promotes twice
        stages = (plan.promotion_stages or 1) * tile.parts // 2 + 1
        return tile.columns * 3 // 2, tile.rows * tile.cluster + beyond, stages * plan.stage_k + 11
    # One more row of tiles, unless there is a batch or the cluster already spans several rows.
    above = tile.cluster if tile.cluster == 1 or (tile.cluster == 2 and not plan.batched) else tile.cluster - 1
    wide = plan.batched and tile.cluster != 2
    n = tile.columns * max(1, tile.across - 1) + beyond - (16 if plan.unaligned else 32) * wide
    return tile.rows * above + 37, n, plan.stage_k * max(1, plan.promotion_stages) + 11


def instance(plan: AnyPlan, seed: int = 1) -> Instance:
    """Return a small multiplication with random operands for a plan."""
    rng, (m, n, k) = np.random.default_rng(seed), _sizes(plan)
    if isinstance(plan, Plan) and plan.tile.exchanged:
        plan = plan.with_tile(SMALL)  # the fields of an exchanged plan describe the exchanged problem
    hopper = isinstance(plan, Plan)
    grouped, batched = hopper and plan.grouped, hopper and plan.batched
    planes = (2,) * batched
    # The second group is empty, and the third ends inside a tile.
    ends = np.array((3, 3, 70, m), np.int32) if grouped else None
    own = {name: () if isinstance(plan, Plan) and name in plan.broadcast else planes for name in "abc"}
    a = numbers(rng, _OPERANDS[plan.a], *own["a"], *((m, k) if plan.a_major == "k" else (k, m)))
    if hopper and plan.sparse:
        a[...] = prune(a)
    a = a if plan.a_major == "k" else transposed(a)
    of_b = (4,) if grouped else own["b"]
    b = numbers(rng, _OPERANDS[plan.b], *of_b, *((n, k) if plan.b_major == "k" else (k, n)))
    b = transposed(b) if plan.b_major == "k" else b
    epilogue = plan.epilogue
    of_columns = (4,) if grouped else ()
    c = numbers(rng, DTYPES[plan.d], *own["c"], m, n) if epilogue.addend else None
    rows = scale_factors(rng, m) if epilogue.row_scales else None
    columns = scale_factors(rng, *of_columns, n) if epilogue.column_scales else None
    if hopper and plan.block_scales.rows:
        rows = scale_factors(rng, *planes, m, ceil(k / SCALE_BLOCK))
    if hopper and plan.block_scales.columns:
        columns = scale_factors(rng, *planes, ceil(n / plan.block_scales.columns), ceil(k / SCALE_BLOCK))
    bias = None
    if epilogue.bias:
        bias = numbers(rng, np.float32, *of_columns, m if epilogue.bias == "row" else n).copy()
    arrays = Operands(a, b, c, row_scales=rows, column_scales=columns, bias=bias, ends=ends)
    return Instance(m, n, k, arrays, _exact(plan, arrays, k))


def _exact(plan: AnyPlan, arrays: Operands, k: int) -> Any:
    """Return the exact D before activation and rounding, in float64."""
    a: NDArray[Any] = arrays.a.astype(np.float64)
    b: NDArray[Any] = arrays.b.astype(np.float64)
    epilogue, ends = plan.epilogue, arrays.ends
    group = None if ends is None else np.searchsorted(ends, np.arange(len(a)), side="right")
    found: Any = 0.0
    for begin in range(0, k, SCALE_BLOCK):
        here = slice(begin, begin + SCALE_BLOCK)
        if group is not None:
            part = np.einsum("mk,mkn->mn", a[:, here], b[group][:, here])
        else:
            part = a[..., here] @ b[..., here, :]
        found = found + part * _of_block(plan, arrays, begin // SCALE_BLOCK, part.shape)
    if epilogue.scaled:
        found = found * _ALPHA
    if epilogue.row_scales:
        found = found * arrays.row_scales[:, None]
    if epilogue.column_scales:
        found = found * (arrays.column_scales if group is None else arrays.column_scales[group])
    if arrays.c is not None:
        found = found + _BETA * arrays.c.astype(np.float64)
    if epilogue.bias == "row":
        found = found + arrays.bias[:, None]
    elif epilogue.bias:
        found = found + (arrays.bias if group is None else arrays.bias[group])
    return found


def _of_block(plan: AnyPlan, arrays: Operands, block: int, shape: tuple[int, ...]) -> Any:
    """Return the scale factors of one block of 128 elements along K.

    Shapes: the result broadcasts to `shape`, the shape of D.
    """
    if not isinstance(plan, Plan):
        return 1.0
    factor: Any = 1.0
    if plan.block_scales.rows:
        factor = factor * arrays.row_scales[..., block, None].astype(np.float64)
    if plan.block_scales.columns:
        columns = arrays.column_scales[..., block].astype(np.float64)
        factor = factor * np.repeat(columns, plan.block_scales.columns, -1)[..., None, : shape[-1]]
    return factor


def _activated(value: Any, activation: str) -> Any:
    match activation:
        case "relu":
            return np.maximum(value, 0)
        case "silu":
            return value / (1 + np.exp(-value))
        case "gelu":
            return value * (0.5 + 0.5 * np.tanh(np.sqrt(2 / np.pi) * (value + 0.044715 * value**3)))
        case _:
            return value


def count_wrong(plan: AnyPlan, result: Any, expected: Any) -> int:
    """Return the number of wrong elements in the result D of a launch.

    `expected` is the exact D before activation and rounding.
    """
    most = _LARGEST.get(plan.d, np.inf)
    exact = np.clip(_activated(expected, plan.epilogue.activation), -most, most)
    rounded = exact.astype(DTYPES[plan.d]).astype(np.float64)
    result = result.astype(np.float64)
    if plan.epilogue.activation in ("", "relu"):
        return int(np.count_nonzero(result != rounded))
    # After an approximate activation, an element must only be near the exact value.
    step = np.abs(rounded - np.nextafter(rounded.astype(DTYPES[plan.d]), DTYPES[plan.d].type(0)).astype(np.float64))
    return int(np.count_nonzero(np.abs(result - exact) > step + _ACTIVATION_ERROR * np.abs(expected)))


def run_instance(plan: AnyPlan, schedule: str, *, seed: int = 1) -> list[str]:
    """Run a small multiplication under a schedule and return the sanitizer's findings and the errors in D."""
    problem_instance = instance(plan, seed)
    planes = (2,) if isinstance(plan, Plan) and plan.batched else ()
    d = numbers(np.random.default_rng(0), DTYPES[plan.d], *planes, problem_instance.m, problem_instance.n)
    memory = d if d.base is None else d.base
    memory[...] = _PADDING
    dispatch, arrays = _dispatch(plan, problem_instance)
    run = launch(
        _program(plan), grid=dispatch.grid, block=plan.tile.threads, shared=kernel_of(plan).shared,
        args=dispatch.arguments(arrays, d, memory, _ALPHA, _BETA), schedule=schedule, sanitize=True,
    )  # fmt: skip
    found = [f"{each.code}: {each.message}" for each in run.findings]
    if count := count_wrong(plan, d, problem_instance.expected):
        found.append(f"{count} of {d.size} elements are wrong")
    if (memory[..., problem_instance.n :].astype(np.float64) != _PADDING).any():
        found.append("the memory between the rows of D was written")
    return found


def _dispatch(plan: AnyPlan, small: Instance) -> tuple[Dispatch, Operands]:
    """Return the dispatch (plan and schedule) and the operands for a launch of `small`.

    If the plan is sparse, A is compressed.
    """
    arrays = small.arrays
    if not isinstance(plan, Plan):
        return AmpereDispatch(problem_of(arrays.a, arrays.b), plan), arrays
    if plan.sparse:
        stored = compress(arrays.a)
        arrays = arrays._replace(a=stored.values, metadata=stored.metadata)
        read = problem_of(stored.values, arrays.b, small.k)
    else:
        read = (grouped_problem if plan.grouped else problem_of)(arrays.a, arrays.b)
    tile = plan.tile
    if tile.exchanged:
        broadcast = plan.with_tile(SMALL).broadcast
        read = replace(read, broadcast=broadcast)
        schedule = next(iter(schedules(read, plan)))
        if tile.parts == 1 and not tile.is_vector:
            split = schedule.tiles if plan.cut else 0
            schedule = replace(schedule, ctas=min(schedule.tiles, 3) * tile.ctas, split=split)
        return dispatch_of(read, plan, schedule), arrays
    tiles = prod(tile_counts(read, plan)) * read.batch
    clusters = 2 if plan.cut or tiles > 2 else 1
    split = tiles - 1 if plan.cut else 0
    schedule = TileSchedule(clusters * tile.ctas, split, tiles, ceil(small.k / plan.stage_k))
    return HopperDispatch(replace(read, broadcast=plan.broadcast), plan, schedule), arrays
