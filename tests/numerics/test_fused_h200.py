"""Outputs of an H200, reproduced bit for bit (`tests/vectors/README.md` says how they were taken)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from warploom.numerics import fused, models

VECTORS = Path(__file__).parents[1] / "vectors" / "h200_mma.npz"
with np.load(VECTORS) as archive:
    DATA: dict[str, NDArray[Any]] = dict(archive)
KINDS: dict[str, models.UnitKind] = {"mma": "warp", "wmma": "warp tiles", "wgmma": "warpgroup"}
NAMES = sorted(name.removesuffix(".d") for name in DATA if name.endswith(".d"))


@pytest.mark.parametrize("name", NAMES)
def test_the_model_reproduces_the_h200(name: str) -> None:
    instruction, a_type, b_type, d_type, *_ = name.split()
    a, b, c, d = (DATA[f"{name}.{operand}"] for operand in "abcd")
    k = a.shape[2] if name.endswith(" k4") else 0
    model = models.select("sm_90a", KINDS[instruction], a_type, b_type, d_type, k=k)
    got = fused.multiply(
        a, b, c, model, index=DATA.get(f"{name}.index"), negate_a="A negated" in name, negate_b="B negated" in name
    )
    np.testing.assert_array_equal(got.view(f"u{got.itemsize}"), d.view(f"u{d.itemsize}"))


def test_every_capture_is_there() -> None:
    assert len(NAMES) == len({name.split(".")[0] for name in DATA}) == 69
