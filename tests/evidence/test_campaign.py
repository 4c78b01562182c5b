"""The machine returns what an H200 returned, for a sample of every family. See `campaign/README.md`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from warploom_lab.campaign import FAMILIES, Experiment, Sample, differing, experiments
from warploom_lab.campaign.sample import key

RECORD = Path(__file__).with_name("campaign") / "h200.npz"
SHARES = 8  # of the families that have many experiments


@pytest.fixture(scope="module")
def taken() -> Sample:
    return Sample.read(RECORD)


@cache
def every(family: str) -> list[Experiment]:
    return list(experiments([family]))


def test_the_sample_is_large(taken: Sample) -> None:
    assert len(taken.digests) >= 300
    assert {len(digests) for digests in taken.digests.values()} == {64}
    assert {name.partition(".")[0] for name in taken.digests} == set(FAMILIES)


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("family", FAMILIES)
def test_the_machine_returns_what_the_gpu_returned(family: str, share: int, taken: Sample) -> None:
    wanted = {name for name in taken.digests if name.startswith(f"{family}.")}
    found = [each for each in every(family) if key(each) in wanted]
    assert {key(each) for each in found} == wanted
    assert list(differing(taken, found[share::SHARES])) == []
