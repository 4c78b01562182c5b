"""A launch on many workers leaves the bits, and finds the findings, of one that runs here alone."""

from __future__ import annotations

import numpy as np
import pytest
from integrations.dask.launches import COMPILED, EXAMPLES, HANDWRITTEN, Launch
from integrations.dask.shuffled import shuffled
from runtime.kernels import make


def same(launch: Launch, schedule: str, warps: int) -> tuple[str, int]:
    """Whether a launch in parts, in a random order, is what it is alone; why it ran together, and its parts."""
    with shuffled(1, warps) as spread:
        alone, left = launch(1, schedule)
        parted, left_by_parts = launch("dask", schedule)
    assert left_by_parts == left
    assert [str(found) for found in parted.findings] == [str(found) for found in alone.findings]
    assert parted.stats.instructions == alone.stats.instructions
    assert (parted.stats.macs, parted.stats.ctas, parted.stats.batches) == (
        alone.stats.macs, alone.stats.ctas, alone.stats.batches,
    )  # fmt: skip
    return spread.reasons[-1], spread.parts[-1]


@pytest.mark.parametrize("file", COMPILED)
def test_compiled_kernels_in_parts(file: str) -> None:
    schedule = ("eager", "lazy", "random:3")[list(COMPILED).index(file) % 3]
    together, parts = same(COMPILED[file], schedule, 4)
    assert together == ""
    assert (parts > 1) == (np.prod(make(file, 0).grid) > 1)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_in_parts(name: str) -> None:
    together, parts = same(EXAMPLES[name], "eager", 8)
    assert together == ""
    assert parts > 1


@pytest.mark.parametrize("name", HANDWRITTEN)
def test_handwritten_kernels_in_parts_and_what_is_found_in_them(name: str) -> None:
    same(HANDWRITTEN[name], "eager", 2)
