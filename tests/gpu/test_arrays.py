"""Arrays of other libraries in the host's memory: used as NumPy's, over the same bytes."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from gpu.nvidia import Tensor

import warploom as wl
from warploom.gpu.arrays import as_numpy, number_of


class TorchTensor(Tensor):
    """A tensor of PyTorch, which shows NumPy no bfloat16."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if hasattr(ml_dtypes, self.array.dtype.name):
            raise TypeError("Got unsupported ScalarType. See the manual.")
        return self.array

    def view(self, dtype: Any) -> TorchTensor:
        return TorchTensor(self.array.view(dtype), on_host=True)


TorchTensor.__module__ = "torch"


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float32", "int64"])
def test_a_tensor_of_the_host_keeps_its_bytes(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(int8=np.int8, int16=np.int16))
    array = np.arange(8).astype(np.dtype(getattr(ml_dtypes, dtype, dtype)))
    seen = as_numpy(TorchTensor(array, on_host=True))
    assert seen.dtype == array.dtype
    assert np.shares_memory(seen, array)


def test_what_numpy_cannot_see_is_refused() -> None:
    class Hidden(Tensor):
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            raise RuntimeError("it requires a gradient. Detach it.")

    with pytest.raises(wl.UsageError, match=r"Hidden cannot be used as a NumPy array: it requires a gradient$"):
        as_numpy(Hidden(np.zeros(4), on_host=True))


def test_an_array_says_which_gpu_it_is_on() -> None:
    assert number_of(Tensor(np.zeros(4), device=3)) == 3
