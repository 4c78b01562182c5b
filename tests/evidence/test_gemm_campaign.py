"""Multiplications leave on the machine what an H200 left, bit for bit.

All of a record: `warploom compare gemm --against FILE`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from warploom_lab.gemm import Record

from warploom.kernels.plan import ACCUMULATORS

RECORDS = sorted(Path(__file__).with_name("gemm").glob("*.json"))
KINDS = [f"{a} by {b}, sums {sums}" for (a, b), each in ACCUMULATORS.items() for sums in each]


def test_there_is_a_record_of_every_type() -> None:
    assert RECORDS
    for path in RECORDS:
        record = Record.read(path)
        assert {"command", "gpu", "driver", "cuda", "warploom"} <= record.about.keys()
        assert {one.kind for one in record.cases} == {*KINDS}
        assert len(record.recorded) >= 100


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
@pytest.mark.parametrize("kind", KINDS)
def test_the_machine_returns_what_the_gpu_returned(path: Path, kind: str) -> None:
    """The shortest case of each type."""
    record = Record.read(path)
    those = [
        (one.work, each) for one, each in zip(record.cases, record.recorded, strict=True) if one.kind == kind
    ]
    assert min(those, key=lambda pair: pair[0])[1].difference(record.seed) == ""
