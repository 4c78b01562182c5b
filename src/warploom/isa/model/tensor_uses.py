"""Parts of tensor memory that single operations use.

A set of lanes is an integer whose bits are the lanes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.isa.model.tensor_memory import (
    COLUMN_MASK,
    LANE_SHIFT,
    MultiplyPlan,
    TensorMemoryCopy,
    TensorMemoryShift,
    TensorMultiply,
    TensorTransfer,
)
from warploom.layout.tensor_memory import TENSOR_LANES, TensorMemoryMap

Array = NDArray[Any]
_ALL = (1 << TENSOR_LANES) - 1


class Use(NamedTuple):
    """Lanes and columns that an operation uses in the tensor memory of one CTA.

    `what` names the operand in messages. `words` has the lanes and the columns of the words that are read, if these are
    not all words of the lanes and columns.
    """

    kind: Literal["read", "write", "update"]
    what: str
    lanes: int
    first: int
    end: int
    words: tuple[Array, Array] | None = None

    @property
    def writes(self) -> bool:
        """True if the operation changes the words."""
        return self.kind != "read"

    def describe(self) -> str:
        """Return a phrase with the lanes and columns."""
        low = (self.lanes & -self.lanes).bit_length() - 1
        return f"lanes {low} to {self.lanes.bit_length() - 1} and columns {self.first} to {self.end - 1}"


def uses_of(record: Any, values: dict[str, Array], k: int, rank: int) -> list[Use]:
    """Return the uses of tensor memory by operation `k` in its CTA of rank `rank` of the pair.

    `record` is a record of `isa.model.tensor_memory` other than a transfer, and `values` has the operands by name.
    """
    match record:
        case TensorMultiply():
            return _multiply_uses(record, values, k, rank)
        case TensorMemoryCopy():
            at = int(values["target"][k])
            lane, column = at >> LANE_SHIFT, at & COLUMN_MASK
            lanes = lane_bits(record.lanes(0)[0]) << lane
            return [Use("write", "the target", lanes & _ALL, column, column + record.bits // 32)]
        case TensorMemoryShift():
            at = int(values["target"][k])
            lanes = ((1 << 32) - 1) << (at >> LANE_SHIFT)
            return [Use("update", "the target", lanes & _ALL, at & COLUMN_MASK, (at & COLUMN_MASK) + 8)]
        case _:
            return []


def transfer_uses(record: TensorTransfer, address: int) -> list[Use]:
    """Return the uses of tensor memory by a load or a store of one warp at an address."""
    kind = "read" if record.action == "load" else "write"
    parts = (address,) if record.split is None else (address, address + record.split & 0xFFFFFFFF)
    rows, columns = (1 << record.rows) - 1, record.columns()
    return [
        Use(kind, "", rows << (at >> LANE_SHIFT) & _ALL, at & COLUMN_MASK, (at & COLUMN_MASK) + columns) for at in parts
    ]


def _multiply_uses(record: TensorMultiply, values: dict[str, Array], k: int, rank: int) -> list[Use]:
    plan = record.plan(int(values["idesc"][k]))
    d = int(values["d"][k])
    rows = _row_bits(plan)
    written = rows << (d >> LANE_SHIFT)
    if record.disabled is not None:
        words = values["disabled"][4 * rank : 4 * rank + 4, k].tolist()
        written &= ~sum(word << 32 * number for number, word in enumerate(words))
    column = d & COLUMN_MASK
    keeps = bool(values["keeps"][k])
    found = [Use("update" if keeps else "write", "D", written & _ALL, column, column + plan.columns)]
    if record.a_in_tensor:
        a = int(values["a"][k])
        column = a & COLUMN_MASK
        found.append(Use("read", "A", rows << (a >> LANE_SHIFT) & _ALL, column, column + plan.columns_of_a))
    maps: list[tuple[str, TensorMemoryMap | None, str]] = [("metadata", plan.metadata, "the metadata")]
    if plan.scales is not None:
        names = (("scale_a", "the scale factors of A"), ("scale_b", "the scale factors of B"))
        maps += [(name, each, what) for (name, what), each in zip(names, plan.scales, strict=True)]
    for name, each, what in maps:
        if each is None:
            continue
        at, (lanes, columns) = int(values[name][k]), _map_words(each, rank)
        if len(lanes):
            lanes, columns = lanes + (at >> LANE_SHIFT), columns + (at & COLUMN_MASK)
            bits, first, end = lane_bits(lanes), int(columns.min()), int(columns.max()) + 1
            found.append(Use("read", what, bits & _ALL, first, end, (lanes, columns)))
    return found


@lru_cache(maxsize=256)
def _row_bits(plan: MultiplyPlan) -> int:
    return lane_bits(plan.lanes)


@lru_cache(maxsize=256)
def _map_words(map: TensorMemoryMap, rank: int) -> tuple[Array, Array]:
    """Return the lanes and the columns of an operand's words in the CTA of rank `rank` of a pair."""
    here = map.cta == rank
    words = np.unique(np.stack([map.lane[here], map.column[here]]), axis=1)
    return words[0], words[1]


def lane_bits(lanes: Array) -> int:
    """Return an array of lanes as a set."""
    return sum(1 << lane for lane in np.unique(lanes).tolist())


@lru_cache(maxsize=4096)
def lanes_of(bits: int) -> Any:
    """Return the lanes of a set, as a slice if they are consecutive, otherwise as an array."""
    if not bits:
        return slice(0)
    low, high = (bits & -bits).bit_length() - 1, bits.bit_length()
    if bits == (1 << high) - (1 << low):
        return slice(low, high)
    return np.array([lane for lane in range(low, high) if bits >> lane & 1])
