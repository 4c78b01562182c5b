"""NumPy types of the operands, by their PTX types."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

OPERANDS: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2, "s8": np.int8, "u8": np.uint8,
}  # fmt: skip
