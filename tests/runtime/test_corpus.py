"""Every compiler-made kernel of the corpus: right results, and the same bits whatever the schedule."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from runtime.kernels import INDEX, Problem, make, run, tensors

SEEDS = (0, 1)
# Schedules with one worker and with two; eager with one worker is what the others are compared with.
SCHEDULES = (
    ("eager", 2), ("lazy", 1),
    ("random:1", 2), ("random:2", 1), ("random:3", 2), ("random:4", 1), ("random:5", 1),
)  # fmt: skip
EVERY_FIFTH = slice(None, None, 5)


@cache
def _solved(file: str, seed: int) -> Problem:
    problem = make(file, seed)
    run(file, problem)
    return problem


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("file", INDEX)
def test_results_are_within_the_bound_that_their_sums_imply(file: str, seed: int) -> None:
    problem = _solved(file, seed)
    error = np.abs(problem.result.astype(np.float64) - problem.expected)
    assert (error <= problem.bound).all(), f"worst: {np.max(error / np.maximum(problem.bound, 1e-300))} of the bound"
    assert problem.untouched()


@pytest.mark.parametrize(
    "file", [file for file in INDEX if not file.startswith(("flash", "softmax", "vadd", "gemm_s8"))]
)
def test_products_are_the_matrix_unit_s_own_sums_bit_for_bit(file: str) -> None:
    problem = _solved(file, 0)
    assert problem.exactly is not None
    expected = problem.exactly(EVERY_FIFTH)
    assert problem.result[EVERY_FIFTH].tobytes() == expected.tobytes()


@pytest.mark.parametrize(("schedule", "workers"), SCHEDULES)
@pytest.mark.parametrize("file", INDEX)
def test_the_bits_do_not_depend_on_schedule_and_workers(file: str, schedule: str, workers: int) -> None:
    again = make(file, 0)
    run(file, again, schedule, workers)
    assert again.outside.tobytes() == _solved(file, 0).outside.tobytes()


def test_a_persistent_kernel_s_ctas_take_several_tiles() -> None:
    # 132 CTAs share the tiles: the first takes two.
    problem = tensors(INDEX["gemm_f16_tma_persistent_ws0_sm90.ptx"], np.random.default_rng(5), (19, 7), 1)
    problem.grid = (132,)
    run("gemm_f16_tma_persistent_ws0_sm90.ptx", problem)
    error = np.abs(problem.result.astype(np.float64) - problem.expected)
    assert (error <= problem.bound).all()
    assert problem.untouched()
