"""Descriptions of a compiled kernel and its launch, as JSON data.

The module imports the standard library only, because the interpreter with Triton may lack NumPy.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Spec = dict[str, Any]
ELEMENTS = {
    "f16": "fp16", "bf16": "bf16", "tf32": "fp32", "e4m3": "fp8e4nv", "e5m2": "fp8e5", "e2m1": "u8", "s8": "i8"
}  # fmt: skip
"""Types of arrays with the matrix elements that PTX names. Two e2m1 elements share a byte."""


def buffer(dtype: str, *shape: int, fill: str = "normal", **options: Any) -> Spec:
    """Return the description of an array argument.

    `fill` selects the initial values: normal (option `scale`), uniform (`low`, `high`), integers (`low`, `high`),
    permutation (`high`), bits (random bytes), zeros, range (0, 1, 2, …), values (`values`), or derived (computed by
    `references.matrices.derive`).
    """
    return {"kind": "buffer", "dtype": dtype, "shape": list(shape), "fill": fill, **options}


def table(dtype: str, *shapes: tuple[int, ...], fill: str = "normal", **options: Any) -> Spec:
    """Return the description of an argument that is the address of a table of addresses of arrays.

    The arrays have the given shapes, and follow each other in one array of one dimension. `fill` selects its initial
    values (see `buffer`).
    """
    count = sum(math.prod(shape) for shape in shapes)
    return {"kind": "table", "dtype": dtype, "shape": [count], "shapes": list(shapes), "fill": fill, **options}


def out(dtype: str, *shape: int, **options: Any) -> Spec:
    """Return the description of an output array. By default, the array is initially zero."""
    return buffer(dtype, *shape, **{"fill": "zeros", "checked": True, **options})


def scalar(dtype: str, value: float) -> Spec:
    """Return the description of a scalar argument."""
    return {"kind": "scalar", "dtype": dtype, "value": value}


def tensor(dtype: str, *shape: int, box: tuple[int, ...], fill: str = "normal", **options: Any) -> Spec:
    """Return the description of an array that is passed as a tensor map.

    `box` is the box of the tensor map. In a kernel for pairs of CTAs, the option `part` is the box, and `box` is the
    tile of the pair. `fill` selects the initial values (see `buffer`). The option `padded` selects the element type that
    pads 16 elements of 4 bits to 16 bytes. Without the option `bare`, the kernel also receives the shape and the strides
    of the array.
    """
    return {"kind": "tensor", "dtype": dtype, "shape": list(shape), "box": list(box), "fill": fill, **options}


def operand(kind: str, rows: int, k: int, box: tuple[int, int] | None = None, **options: Any) -> Spec:
    """Return the description of a matrix with `rows` rows of `k` elements of a kind that `ELEMENTS` names.

    With `box`, whose extents count elements, the matrix is passed as a tensor map with these options (see `tensor`).
    """
    dtype, packed = ELEMENTS[kind], 2 if kind == "e2m1" else 1
    fill = "bits" if dtype in ("i8", "u8") else "normal"
    if box is None:
        return buffer(dtype, rows, k // packed, fill=fill)
    return tensor(dtype, rows, k // packed, box=(box[0], box[1] // packed), fill=fill, **options)


def scale_factors(block: int, *shape: int) -> Spec:
    """Return the description of scale factors: ue8m0 for blocks of 32 elements, ue4m3 for blocks of 16."""
    if block == 32:
        return buffer("u8", *shape, fill="integers", low=123, high=131)
    return buffer("fp8e4nv", *shape, fill="uniform", low=0.25, high=4.0)


@dataclass(slots=True)
class Case:
    """One launch of a kernel that is compiled for one target."""

    name: str
    reference: str  # function for the expected result
    args: dict[str, Spec]
    grid: tuple[int, ...] = (1,)
    block: tuple[int, ...] = (128,)
    cluster: tuple[int, ...] = (1, 1, 1)
    shared: int = 0
    entry: str = ""
    file: str = ""
    kind: str = ""
    tolerance: tuple[float, float] = (0.0, 0.0)  # relative and absolute error
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])  # options of `reference`
    scratch: int = 0

    def write(self, folder: Path, text: str | None = None) -> None:
        """Write the description into the folder. Also write the PTX of the kernel if `text` is not None."""
        if text is not None:
            self.file = f"{self.name}.ptx"
            (folder / self.file).write_text(text, newline="")
        record = {name: getattr(self, name) for name in self.__dataclass_fields__}
        (folder / f"{self.name}.json").write_text(json.dumps(record, indent=1))
