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

    Operation k belongs to lane `lanes[k]` of warp `warps[k]` in CTA `ctas[k]`, and has the number `first` + k in order
    of issue. `values` contains the operands by name. `kind` has the facts about multiplications that differ in start
    addresses only (`multiplications.Kind`), else it is None.

    Shapes: positions, lanes, warps, ctas and epochs (operations,); values (operations,), or (words, operations).
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
    kind: Any = None

    @property
    def count(self) -> int:
        """Number of operations."""
        return len(self.warps)

    @property
    def threads(self) -> Numbers:
        """Index of the thread of each operation."""
        return self.warps * 32 + self.lanes


def values_of(record: Record, positions: Numbers, lanes: Numbers) -> dict[str, NDArray[Any]]:
    """Return the operands of the operations of some lanes, by name."""
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
