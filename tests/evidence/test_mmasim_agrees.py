"""Matrix arithmetic of all architectures, compared with the recorded outputs on which MMA-Sim agrees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warploom_lab.arithmetic.cases import ALL_KINDS
from warploom_lab.arithmetic.record import COUNTS, Record, differing

FOLDER = Path(__file__).with_name("arithmetic")
RECORD = Record.read(FOLDER)


def test_the_record_is_large() -> None:
    assert RECORD.header["outputs"] >= 10**7
    assert len(RECORD.digests) >= 250
    assert {name.split()[0] for name in RECORD.digests} == {
        "sm_70", "sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a",
    }  # fmt: skip
    assert {len(digests) for digests in RECORD.digests.values()} == {len(ALL_KINDS)}


def test_ten_million_outputs_of_each_kind_agreed() -> None:
    counts = json.loads((FOLDER / COUNTS).read_text(encoding="utf-8"))
    tensor = [f"sm_100a tcgen05.mma.kind::{kind}" for kind in ("f16", "tf32", "f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4")]
    blackwell = [f"sm_120a mma.sync.kind::{kind}" for kind in ("f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4")]
    assert {*tensor, *blackwell} <= set(counts)
    for name, each in counts.items():
        assert each["outputs"] >= 10**7, name
        assert each["different"] == 0, name
        assert sum(each["classes"].values()) == each["outputs"], name
        if "f64" not in name:
            assert each["classes"].get("normal", each["classes"].get("other", 0)) > each["outputs"] / 3, name


@pytest.mark.parametrize("name", RECORD.digests)
def test_the_outputs_are_those_of_mmasim(name: str) -> None:
    assert differing(RECORD, name) == []
