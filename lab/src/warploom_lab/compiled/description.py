"""Descriptions of a compiled kernel and its launch, as JSON data.

The module imports the standard library only, because the interpreter with Triton may lack NumPy.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Spec = dict[str, Any]


def buffer(dtype: str, *shape: int, fill: str = "normal", **options: Any) -> Spec:
    """Return the description of an array argument with a type, a shape and initial values.

    `fill` selects the initial values. `options` has the options in parentheses. Random values are normal (scale),
    uniform (low, high), integers (low, high), permutation (high) or bits (random bytes). The others are zeros, range
    (0, 1, 2, …), values (the option `values`) and derived (`references.matrices.derive` computes them).
    """
    return {"kind": "buffer", "dtype": dtype, "shape": list(shape), "fill": fill, **options}


def out(dtype: str, *shape: int, **options: Any) -> Spec:
    """Return the description of an output array, which is compared with the expected result.

    The array is initially zero by default.
    """
    return buffer(dtype, *shape, **{"fill": "zeros", "checked": True, **options})


def scalar(dtype: str, value: float) -> Spec:
    """Return the description of a scalar argument with the type `dtype`."""
    return {"kind": "scalar", "dtype": dtype, "value": value}


def tensor(dtype: str, *shape: int, box: tuple[int, ...], fill: str = "normal", **options: Any) -> Spec:
    """Return the description of an array that is passed as a tensor map.

    `shape` is the shape of the array, and `box` the box of the tensor map. `fill` names the initial values (see
    `filled`). With the option `bare` the kernel receives only the tensor map. Otherwise the shape and the strides of
    the array follow the tensor map, as in kernels of Triton.
    """
    return {"kind": "tensor", "dtype": dtype, "shape": list(shape), "box": list(box), "fill": fill, **options}


@dataclass(slots=True)
class Case:
    """One launch of a kernel that is compiled for one target.

    `reference` names the function that computes the expected result, and `parameters` has its options. `tolerance` is
    the allowed relative and absolute error.
    """

    name: str
    reference: str
    args: dict[str, Spec]
    grid: tuple[int, ...] = (1,)
    block: tuple[int, ...] = (128,)
    cluster: tuple[int, ...] = (1, 1, 1)
    shared: int = 0
    entry: str = ""
    file: str = ""
    kind: str = ""
    tolerance: tuple[float, float] = (0.0, 0.0)
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    scratch: int = 0

    def write(self, folder: Path, text: str | None = None) -> None:
        """Write the description into the folder and, unless it is None, the PTX `text` of the kernel."""
        if text is not None:
            self.file = f"{self.name}.ptx"
            (folder / self.file).write_text(text, newline="")
        record = {name: getattr(self, name) for name in self.__dataclass_fields__}
        (folder / f"{self.name}.json").write_text(json.dumps(record, indent=1))
