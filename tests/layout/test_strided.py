"""How an array lies, in the words of whatever library it is of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import warploom as wl
from warploom.layout import Strided, strided


@dataclass
class CountsElements:
    """An array as PyTorch's: strides in elements, by a method, and types of its own names."""

    array: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> str:
        return f"torch.{self.array.dtype.name}"

    def stride(self) -> tuple[int, ...]:
        return tuple(step // self.array.itemsize for step in self.array.strides)


@dataclass
class IsContiguous:
    """An array as JAX's: it has no strides."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


VIEWS = {
    "whole": np.zeros((4, 6), np.float32),
    "every second row": np.zeros((4, 6), np.float16)[::2],
    "columns": np.zeros((4, 6), np.int8)[:, 1:4],
    "transposed": np.zeros((4, 6), np.float64).T,
    "bfloat16": np.zeros((3, 4, 5), ml_dtypes.bfloat16),
    "e4m3": np.zeros((8,), ml_dtypes.float8_e4m3fn),
    "one column": np.zeros((4, 1), np.float32),
    "empty": np.zeros((0, 4), np.float32),
    "scalar": np.zeros((), np.float32),
}


@pytest.mark.parametrize("array", VIEWS.values(), ids=VIEWS)
def test_an_array_lies_as_numpy_says_whoever_counts(array: Any) -> None:
    expected = Strided(array.shape, array.strides, array.dtype)
    assert strided(array) == strided(CountsElements(array)) == expected
    assert expected.is_contiguous == array.flags.c_contiguous
    assert (expected.ndim, expected.size, expected.itemsize) == (array.ndim, array.size, array.itemsize)


def test_an_array_without_strides_is_contiguous() -> None:
    assert strided(IsContiguous((2, 3, 4), np.dtype(np.float32))).strides == (48, 16, 4)


def test_a_tensor_map_is_the_same_over_any_of_them() -> None:
    array = np.zeros((64, 96), ml_dtypes.bfloat16)[:, :64]
    made = [wl.TensorMap.tiled(each, (32, 32), swizzle=64) for each in (array, CountsElements(array))]
    assert made[0].template == made[1].template
    assert made[1].template.global_stride[0] == 192


@pytest.mark.parametrize("value", [[1, 2], 3, None, "text"])
def test_what_is_no_array_is_refused(value: object) -> None:
    with pytest.raises(
        wl.UsageError, match="is no strided array; expected an array of NumPy, PyTorch, CuPy or JAX"
    ):
        wl.TensorMap.tiled(value, (1,))
