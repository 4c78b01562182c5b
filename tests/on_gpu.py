"""Launches that are compared with a GPU, if there is one: its results must be those of the emulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import warploom as wl
from warploom.diagnostics import UsageError
from warploom.gpu import Gpu
from warploom.isa.model.availability import read_target
from warploom.layout import TensorMap
from warploom.ptx import Module, read

Launch = Callable[..., Any]
_PLAIN = {"grid", "block", "args", "cluster", "shared", "arch", "schedule"}


@cache
def arch() -> str:
    """Return the target of the GPU, or "" without a GPU."""
    try:
        with Gpu() as gpu:
            return gpu.arch
    except UsageError:
        return ""


def on_both(launch: Launch) -> Launch:
    """Return a launch function that also compares the results of the GPU, if it can run the kernel."""

    def both(ptx: str | Path | Module | wl.Kernel, kernel: str | None = None, **options: Any) -> Any:
        plain = options.keys() <= _PLAIN and options.get("schedule", "eager") == "eager"
        if not plain or not _runs_here(ptx):
            return launch(ptx, kernel, **options)
        arrays = list(_arrays(options["args"]))
        before = [array.copy() for array in arrays]
        run = launch(ptx, kernel, **options)
        after = [array.copy() for array in arrays]
        found = []
        shape = {name: value for name, value in options.items() if name != "arch"}
        for where in ({"arch": arch()}, {"device": "cuda"}):
            _restore(arrays, before)
            launch(ptx, kernel, **shape, **where)
            found.append([array.copy() for array in arrays])
        for emulated, real in zip(*found, strict=True):
            np.testing.assert_array_equal(
                emulated.view(f"V{emulated.dtype.itemsize}"), real.view(f"V{real.dtype.itemsize}")
            )
        _restore(arrays, after)
        return run

    return both


def _arrays(value: Any) -> Iterator[Any]:
    """Yield the arrays of an argument, of a structure, or of a sequence of them."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, TensorMap):
        yield value.array
    elif isinstance(value, wl.Struct):
        yield from _arrays([field.value for field in value.fields])
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _arrays(each)


def _restore(arrays: list[Any], contents: list[Any]) -> None:
    for array, content in zip(arrays, contents, strict=True):
        if array.flags.writeable:
            array[...] = content


def _runs_here(ptx: str | Path | Module | wl.Kernel) -> bool:
    here = read_target(arch()) if arch() else None
    ptx = ptx.module if isinstance(ptx, wl.Kernel) else ptx
    module = ptx if isinstance(ptx, Module) else read(ptx)
    needed = read_target(next(iter(module.target), ""))
    return here is not None and needed is not None and here.has(needed)
