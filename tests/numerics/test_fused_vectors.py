"""Published outputs of eight GPUs, reproduced bit for bit (`tests/vectors/README.md` says what ran)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from warploom.numerics import fused, models

VECTORS = Path(__file__).parents[1] / "vectors" / "published_mma.npz"
ARCHITECTURES = {
    "V100": "sm_70", "A100": "sm_80", "A2": "sm_86", "Ada": "sm_89", "L40S": "sm_89",
    "H100": "sm_90a", "H200": "sm_90a", "B200": "sm_100a",
}  # fmt: skip
TYPES: dict[str, tuple[str, Any]] = {
    "fp16": ("f16", np.float16),
    "bf16": ("bf16", ml_dtypes.bfloat16),
    "tf32": ("tf32", np.float32),
    "E4M3": ("e4m3", ml_dtypes.float8_e4m3fn),
    "E5M2": ("e5m2", ml_dtypes.float8_e5m2),
}
with np.load(VECTORS) as archive:
    DATA: dict[str, NDArray[np.uint32]] = dict(archive)
FILES = [name for name in DATA if ".d_" in name]


def _elements(name: str, dtype: Any) -> NDArray[Any]:
    elements = DATA[name].view(np.float32).astype(dtype)
    return elements.view(f"u{elements.itemsize}")


@pytest.mark.parametrize("name", FILES)
def test_the_model_reproduces_the_gpu(name: str) -> None:
    gpu, kind, output = name.split(".")
    d_type = "f32" if output == "d_fp32" else "f16"
    element, dtype = TYPES[kind]
    a, b = _elements(f"{gpu}.{kind}.a", dtype), _elements(f"{gpu}.{kind}.b", dtype)
    c = _elements(f"{gpu}.{kind}.c", np.float32 if d_type == "f32" else np.float16)
    warpgroup = gpu in ("H100", "H200") and kind in ("E4M3", "E5M2") and d_type == "f32"
    model = models.select(ARCHITECTURES[gpu], "warpgroup" if warpgroup else "warp", element, element, d_type)
    addend = None if warpgroup else c[:, None, None]
    d = fused.multiply(a[:, None], b[:, None], addend, model)[:, 0, 0]
    if d_type == "f16":
        d = d.view(np.float16).astype(np.float32).view(np.uint32)
    assert len(d) == 1000
    assert int((d != DATA[name]).sum()) == 0


def test_every_gpu_and_type_is_there() -> None:
    assert len(FILES) == 48
