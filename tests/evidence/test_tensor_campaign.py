"""Tensor copies on the emulator leave the bytes of an H200; see `campaign/README.md`."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from warploom_lab.campaign.tensor_record import TensorSample

RECORD = Path(__file__).with_name("campaign") / "tensor-h200.npz"
SHARES = 4


@cache
def recorded() -> TensorSample:
    return TensorSample.read(RECORD)


def test_the_sample_is_large() -> None:
    sample = recorded()
    assert len(sample.cases) >= 300
    assert {case.map.rank for case in sample.cases} == {1, 2, 3, 4, 5}
    assert {(case.map.interleave, case.map.is_im2col) for case in sample.cases} == {
        (interleave, mode) for interleave in range(3) for mode in (False, True)
    }
    assert Counter(sample.verdicts).keys() == {"done", "refused", "trapped"}


@pytest.mark.parametrize("share", range(SHARES))
def test_the_emulator_leaves_the_bytes_of_the_gpu(share: int) -> None:
    sample = recorded()
    parts = (list(part)[share::SHARES] for part in (sample.cases, sample.verdicts, sample.digests))
    found = TensorSample(*parts).differing()
    assert [f"{case}: {verdict}, not {answer.verdict}" for case, verdict, answer in found] == []
