"""The emulator returns the bits of an H200 for a sample of every family; see `campaign/README.md`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from warploom_lab.campaign import FAMILIES, Experiment, Sample, differing, experiments
from warploom_lab.campaign.sample import key

RECORD = Path(__file__).with_name("campaign") / "h200.npz"
SHARES = 8  # parts of a family, which run as separate tests


@pytest.fixture(scope="module")
def recorded() -> Sample:
    return Sample.read(RECORD)


@cache
def all_experiments(family: str) -> list[Experiment]:
    return list(experiments([family]))


def test_the_sample_is_large(recorded: Sample) -> None:
    assert len(recorded.digests) >= 300
    assert {len(digests) for digests in recorded.digests.values()} == {64}
    assert {name.partition(".")[0] for name in recorded.digests} == set(FAMILIES)


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("family", FAMILIES)
def test_the_emulator_returns_the_bits_of_the_gpu(family: str, share: int, recorded: Sample) -> None:
    wanted = {name for name in recorded.digests if name.startswith(f"{family}.")}
    found = [each for each in all_experiments(family) if key(each) in wanted]
    assert {key(each) for each in found} == wanted
    assert list(differing(recorded, found[share::SHARES])) == []
