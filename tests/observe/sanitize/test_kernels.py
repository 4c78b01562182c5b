"""Every handwritten kernel leaves what NumPy says, under every schedule, and breaks no rule that `check` knows."""

from __future__ import annotations

import pytest
from observe.sanitize.launches import KERNELS, LAUNCHES

import warploom as wl

SCHEDULES = ("eager", "lazy", "random:1", "random:2", "random:3")


def test_every_kernel_is_launched() -> None:
    assert {path.stem for path in KERNELS.rglob("*.ptx")} == set(LAUNCHES)


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_kernel_is_legal(name: str) -> None:
    launch = LAUNCHES[name]
    texts = [launch.text] + [launch.faulty] * ("bugs" in launch.file)
    assert [str(finding) for text in texts for finding in wl.check(text)] == []


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_kernel_leaves_what_numpy_says_under_every_schedule(name: str) -> None:
    for schedule in SCHEDULES:
        assert LAUNCHES[name].run(schedule=schedule)[1], schedule


@pytest.mark.parametrize("name", [name for name, launch in LAUNCHES.items() if "bugs" in launch.file])
def test_a_fault_changes_the_kernel(name: str) -> None:
    good, bad = LAUNCHES[name].text.splitlines(), LAUNCHES[name].faulty.splitlines()
    assert len(good) == len(bad)
    assert good != bad
