"""Correct kernels give no finding, whatever the schedule, and leave what they leave without the sanitizer."""

from __future__ import annotations

import numpy as np
import pytest
from runtime.kernels import INDEX, make, module

import warploom as wl

SCHEDULES = ("eager", "lazy", "random:1")


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("file", INDEX)
def test_a_kernel_of_the_corpus_is_silent(file: str, schedule: str) -> None:
    entry = INDEX[file]
    problem = make(file, 0)
    done = wl.launch(
        module(file), grid=problem.grid, block=entry["block"], shared=entry["shared"], args=problem.args,
        schedule=schedule, sanitize=True,
    )  # fmt: skip
    assert [str(each) for each in done.findings] == []
    assert (np.abs(problem.result.astype(np.float64) - problem.expected) <= problem.bound).all()
    assert problem.untouched()
