"""Description of a kernel and its launch as JSON data.

The module imports the standard library only, because the interpreter with Triton may lack NumPy.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Spec = dict[str, Any]


def buffer(dtype: str, *shape: int, fill: str = "normal", **options: Any) -> Spec:
    """Describe an array argument.

    `fill` is zeros, normal, uniform (low, high), integers (low, high), bits, range or values.
    """
    return {"kind": "buffer", "dtype": dtype, "shape": list(shape), "fill": fill, **options}


def out(dtype: str, *shape: int, **options: Any) -> Spec:
    """Describe an array that the kernel writes and the reference checks, initially zero by default."""
    return buffer(dtype, *shape, **{"fill": "zeros", "checked": True, **options})


def scalar(dtype: str, value: float) -> Spec:
    """Describe a scalar argument."""
    return {"kind": "scalar", "dtype": dtype, "value": value}


def tensor(dtype: str, *shape: int, box: tuple[int, ...], fill: str = "normal", **options: Any) -> Spec:
    """Describe an array that is passed as a tensor map, with the shape and strides that Triton adds."""
    return {"kind": "tensor", "dtype": dtype, "shape": list(shape), "box": list(box), "fill": fill, **options}


@dataclass(slots=True)
class Case:
    """Kernel compiled for one target, and one launch of it."""

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
        """Write the description, and the PTX if the case has its own, into the folder."""
        if text is not None:
            self.file = f"{self.name}.ptx"
            (folder / self.file).write_text(text, newline="")
        record = {name: getattr(self, name) for name in self.__dataclass_fields__}
        (folder / f"{self.name}.json").write_text(json.dumps(record, indent=1))
