"""The same launch on both machines: where a GPU is, what it leaves must be what the abstract machine left."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from warploom.diagnostics import UsageError
from warploom.gpu import Gpu
from warploom.isa.model.availability import read_target
from warploom.layout import TensorMap
from warploom.ptx import Module, read

Launch = Callable[..., Any]
_PLAIN = {"grid", "block", "args", "cluster", "shared", "arch", "schedule"}


@cache
def arch() -> str:
    """The target of the GPU that is here; "" without one."""
    try:
        with Gpu() as gpu:
            return gpu.arch
    except UsageError:
        return ""


def on_both(launch: Launch) -> Launch:
    """A launch that is compared with the GPU's when it is a plain one that the GPU can run."""

    def both(ptx: str | Path | Module, kernel: str | None = None, **options: Any) -> Any:
        plain = options.keys() <= _PLAIN and options.get("schedule", "eager") == "eager"
        if not plain or not _runs_here(ptx):
            return launch(ptx, kernel, **options)
        arrays = [value.array if isinstance(value, TensorMap) else value for value in options["args"]]
        arrays = [array for array in arrays if isinstance(array, np.ndarray)]
        before = [array.copy() for array in arrays]
        run = launch(ptx, kernel, **options)
        after = [array.copy() for array in arrays]
        found = []
        for device in ("cpu", "cuda"):
            _restore(arrays, before)
            launch(ptx, kernel, **options | {"arch": arch(), "device": device})
            found.append([array.copy() for array in arrays])
        for modelled, real in zip(*found, strict=True):
            np.testing.assert_array_equal(
                modelled.view(f"V{modelled.dtype.itemsize}"), real.view(f"V{real.dtype.itemsize}")
            )
        _restore(arrays, after)
        return run

    return both


def _restore(arrays: list[Any], contents: list[Any]) -> None:
    for array, content in zip(arrays, contents, strict=True):
        if array.flags.writeable:
            array[...] = content


def _runs_here(ptx: str | Path | Module) -> bool:
    here = read_target(arch()) if arch() else None
    module = ptx if isinstance(ptx, Module) else read(ptx)
    needed = read_target(next(iter(module.target), ""))
    return here is not None and needed is not None and here.has(needed)
