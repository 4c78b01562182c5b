"""Matrix arithmetic of all architectures, compared with the recorded outputs on which MMA-Sim agrees."""

from __future__ import annotations

from pathlib import Path

import pytest

from warploom_lab.arithmetic.cases import ALL_KINDS
from warploom_lab.arithmetic.record import Record, differing

RECORD = Record.read(Path(__file__).with_name("arithmetic"))


def test_the_record_is_large() -> None:
    assert RECORD.header["outputs"] >= 10**7
    assert len(RECORD.digests) >= 160
    assert {name.split()[0] for name in RECORD.digests} == {
        "sm_70", "sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a",
    }  # fmt: skip
    assert {len(digests) for digests in RECORD.digests.values()} == {len(ALL_KINDS)}


@pytest.mark.parametrize("name", RECORD.digests)
def test_the_outputs_are_those_of_mmasim(name: str) -> None:
    assert differing(RECORD, name) == []
