"""Matrix multiplications on the emulator return the bits of an H200.

`warploom-lab compare gemm --against FILE` compares all cases of a record.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from warploom.kernels.plan import ACCUMULATORS
from warploom_lab.gemm import case, parse
from warploom_lab.problems import Record

RECORDS = sorted(Path(__file__).with_name("gemm").glob("*.json"))
KINDS = [f"{a} by {b}, sums {sums}" for (a, b), each in ACCUMULATORS.items() for sums in each]


def test_every_type_is_recorded() -> None:
    assert RECORDS
    for path in RECORDS:
        record = Record.read(path, parse)
        assert {"command", "gpu", "driver", "cuda", "warploom"} <= record.about.keys()
        assert {case(record.seed, each.number).kind for each in record.recorded} == {*KINDS}
        assert len(record.recorded) >= 100


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
@pytest.mark.parametrize("kind", KINDS)
def test_the_emulator_returns_the_bits_of_the_gpu(path: Path, kind: str) -> None:
    """Compare the shortest case of each type."""
    record = Record.read(path, parse)
    those = [each for each in record.recorded if case(record.seed, each.number).kind == kind]
    assert min(those, key=lambda each: case(record.seed, each.number).work).difference(record.seed) == ""
