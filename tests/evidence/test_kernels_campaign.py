"""Small kernels leave on the machine, under every schedule, what an H200 left. See `campaign/README.md`."""

from __future__ import annotations

from pathlib import Path

import pytest

from warploom_lab.campaign.small_kernels import AREAS, SCHEDULES, Record, disagreements, kernels

RECORD = Path(__file__).with_name("campaign") / "kernels-h200.npz"


def test_every_kernel_is_recorded() -> None:
    assert set(Record.read(RECORD).outputs) == {kernel.key for kernel in kernels()}


@pytest.mark.parametrize("area", AREAS)
def test_the_machine_leaves_what_the_gpu_left(area: str) -> None:
    found = disagreements(Record.read(RECORD), kernels([area]), SCHEDULES)
    assert [str(each) for each in found] == []
