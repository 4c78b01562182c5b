"""The page on arithmetic says what the models are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warploom.numerics import models

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "arithmetic.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| ([\w ]+) \| (sm_\w+) \| (\d+) \| (\d+|–) \| (\d+) \| −(\d+) \| −(\d+) \| (.*?) \| [^|]+ \| [^|]+ \|$",
    PAGE,
    re.MULTILINE,
)


def test_every_unit_has_a_row() -> None:
    assert len(ROWS) == 9


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_row_is_the_unit(row: tuple[str, ...]) -> None:
    name, target, f16, tf32, fraction, wide_emin, half_emin, fp8 = row
    engine: models.UnitKind = (
        "warpgroup" if "warpgroup" in name else "tensor memory" if "tensor memory" in name else "warp"
    )
    unit = models.unit(target, engine)
    assert unit.name == name
    assert (unit.f16, unit.tf32 or None, unit.fraction) == (int(f16), int(tf32) if tf32 != "–" else None, int(fraction))
    assert unit.emins == (-int(wide_emin), -int(half_emin))
    if unit.fp8 is None:
        assert fp8 == "–"
    elif unit.fp8 == "f16":
        assert fp8.startswith("in software")
    else:
        length, bits, kept = unit.fp8
        assert fp8 == f"L {length}, F {bits}" + (", E8M13" if kept == "e8m13" else "")
