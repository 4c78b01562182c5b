"""A launch on many workers leaves the bits, and finds the findings, of one that runs here alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from farm.shuffled import shuffled
from launch.kernels import INDEX, make, run
from sanitize.launches import LAUNCHES

import warploom as wl
from warploom.launch.api import Run, execute
from warploom.launch.launchfile import read_launch_file
from warploom.launch.prepare import prepare

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


def same(
    launch: Callable[[int | str], tuple[Run, list[bytes]]], seed: int = 1, warps: int = 4
) -> tuple[str, int]:
    """Whether a launch in parts, in a random order, is what it is alone; why it ran together, and its parts."""
    with shuffled(seed, warps) as spread:
        alone, left = launch(1)
        parted, left_by_parts = launch("dask")
    assert left_by_parts == left
    assert [str(found) for found in parted.findings] == [str(found) for found in alone.findings]
    assert parted.stats.instructions == alone.stats.instructions
    assert (parted.stats.macs, parted.stats.ctas, parted.stats.batches) == (
        alone.stats.macs, alone.stats.ctas, alone.stats.batches,
    )  # fmt: skip
    return spread.reasons[-1], spread.parts[-1]


@pytest.mark.parametrize("file", INDEX)
def test_compiled_kernels_in_parts(file: str) -> None:
    schedule = ("eager", "lazy", "random:3")[list(INDEX).index(file) % 3]

    def launch(workers: int | str) -> tuple[Run, list[bytes]]:
        problem = make(file, 0)
        return run(file, problem, schedule, workers), [problem.outside.tobytes()]

    together, parts = same(launch)
    assert together == ""
    assert (parts > 1) == (np.prod(make(file, 0).grid) > 1)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_in_parts(path: Path) -> None:
    file = read_launch_file(path)
    shape = file.geometry

    def launch(workers: int | str) -> tuple[Run, list[bytes]]:
        args, arrays = prepare(file.arguments, file.buffers, 1 << 30)
        done = execute(
            file.ptx, file.kernel, grid=shape.grid, block=shape.block, cluster=shape.cluster, shared=shape.shared,
            arch=shape.arch, args=args, schedule=shape.schedule, workers=workers,
        )  # fmt: skip
        return done, [array.tobytes() for array in arrays.values()]

    together, parts = same(launch, warps=8)
    assert together == ""
    assert parts > 1


@pytest.mark.parametrize("faulty", [False, True], ids=["right", "faulty"])
@pytest.mark.parametrize("name", LAUNCHES)
def test_handwritten_kernels_in_parts_and_what_is_found_in_them(name: str, faulty: bool) -> None:
    kernel = LAUNCHES[name]
    text = kernel.faulty if faulty else kernel.text

    def launch(workers: int | str, **options: Any) -> tuple[Run, list[bytes]]:
        args, arrays = kernel.make()
        done = wl.launch(
            text, grid=kernel.grid, block=kernel.block, cluster=kernel.cluster, args=args, workers=workers,
            sanitize=True, **options,
        )  # fmt: skip
        return done, [array.tobytes() for array, _ in arrays]

    same(launch, warps=2)
