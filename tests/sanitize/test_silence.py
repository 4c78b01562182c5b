"""Correct kernels give no finding, whatever the schedule, and leave the same bits as without the sanitizer."""

from __future__ import annotations

import pytest
from launch.kernels import INDEX, make, module

import warploom as wl

SCHEDULES = ("eager", "lazy", "random:1")


@pytest.mark.parametrize("file", INDEX)
def test_a_kernel_of_the_corpus_is_silent(file: str) -> None:
    entry = INDEX[file]
    expected = b""
    for schedule in ("", *SCHEDULES):
        problem = make(file, 0)
        done = wl.launch(
            module(file), grid=problem.grid, block=entry["block"], shared=entry["shared"], args=problem.args,
            schedule=schedule or "eager", sanitize=bool(schedule),
        )  # fmt: skip
        assert [str(each) for each in done.findings] == [], schedule
        expected = expected or problem.outside.tobytes()
        assert problem.outside.tobytes() == expected
