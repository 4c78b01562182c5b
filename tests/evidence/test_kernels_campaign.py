"""Small kernels return the words of an H200 under every schedule; see `campaign/README.md`."""

from __future__ import annotations

from pathlib import Path

import pytest

from warploom_lab.campaign.small_kernels import AREAS, SCHEDULES, Record, kernels, mismatches

RECORD = Path(__file__).with_name("campaign") / "kernels-h200.npz"


def test_every_kernel_is_recorded() -> None:
    assert set(Record.read(RECORD).outputs) == {kernel.key for kernel in kernels()}


@pytest.mark.parametrize("area", AREAS)
def test_the_emulator_returns_the_words_of_the_gpu(area: str) -> None:
    found = mismatches(Record.read(RECORD), kernels([area]), SCHEDULES)
    assert [str(each) for each in found] == []
