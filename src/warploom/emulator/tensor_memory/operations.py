"""Operations on tensor memory that the lanes of one batch have issued with one instruction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.isa.model.tensor_memory import TensorCommit, TensorMemoryCopy, TensorMemoryShift, TensorMultiply
from warploom.lazy_dataclass import dataclass

Numbers = NDArray[np.int64]
Record = TensorMultiply | TensorMemoryCopy | TensorMemoryShift | TensorCommit


@dataclass(slots=True, eq=False)
class Operations:
    """Operations of the active lanes of a batch, with the values of their operands.

    Operation k belongs to lane `lanes[k]` of warp `warps[k]` in CTA `ctas[k]`. `positions[k]` is the position of this
    warp in the batch, and `epochs[k]` its epoch. The operation has the number `first` + k in the order of issue.
    `values` contains the operands by name. For multiplications that differ in addresses only, `decoded` is a
    `multiplications.Decoded`. Otherwise it is None.

    Shapes: positions to epochs (operations,); a value (operations,), or (words, operations).
    """

    record: Record
    positions: Numbers
    lanes: Numbers
    warps: Numbers
    ctas: Numbers
    epochs: Numbers
    values: dict[str, NDArray[Any]]
    pc: int
    first: int
    decoded: Any = None

    @property
    def count(self) -> int:
        """Number of operations."""
        return len(self.warps)

    @property
    def threads(self) -> Numbers:
        """Index of the thread of each operation."""
        return self.warps * 32 + self.lanes


def values_of(record: Record, positions: Numbers, lanes: Numbers) -> dict[str, NDArray[Any]]:
    """Return the operands of a record by name, for the lanes `lanes` of the warps at `positions`.

    Shapes: a value (operations,), or (words, operations). Absent operands are left out.
    """
    match record:
        case TensorMultiply():
            named = {
                "d": record.d, "idesc": record.idesc, "a": record.a, "b": record.b, "keeps": record.keeps,
                "metadata": record.metadata, "disabled": record.disabled, "zero_columns": record.zero_columns,
            }  # fmt: skip
            if record.scales is not None:
                named |= {"scale_a": record.scales[0], "scale_b": record.scales[1]}
        case TensorMemoryCopy():
            named = {"target": record.target, "descriptor": record.descriptor}
        case TensorMemoryShift():
            named = {"target": record.target}
        case TensorCommit():
            named = {"mbarrier": record.mbarrier, "multicast": record.multicast}
    threads = 32 * positions + lanes  # one index takes less time than two
    return {
        name: array.reshape(*array.shape[:-2], -1).take(threads, axis=-1)
        for name, array in named.items() if array is not None
    }  # fmt: skip
