"""A batch of warps for meanings to act on without a machine: operands are arrays, effects are recorded."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from warploom.isa.instructions.reductions import combine


class Recorder:
    """Two warps, or as many as `active` has rows; names stand for destinations."""

    def __init__(self, active: Any = None) -> None:
        self.lanes = np.ones((2, 32), np.bool_) if active is None else np.asarray(active)
        self.count = len(self.lanes)
        self.results: dict[str, Any] = {}
        self.events: list[tuple[Any, ...]] = []
        self.memory = np.zeros(256, np.uint8)

    def active(self) -> Any:
        return self.lanes

    def read(self, value: Any) -> Any:
        return value

    def read_vector(self, value: Any) -> Any:
        return value

    def addresses(self, value: Any) -> Any:
        return value.base if isinstance(value, SimpleNamespace) else value

    def write(self, value: str, result: Any) -> None:
        self.results[value] = np.broadcast_to(result, (self.count, 32)).copy()

    def gather_members(self, members: Any) -> None:
        self.events.append(("gather",))

    def warp_barrier(self, members: Any) -> None:
        self.events.append(("warp barrier",))

    def mbarrier(self, space: str, addresses: Any, action: str, amount: Any = 0, transactions: Any = 0) -> Any:
        self.events.append(("mbarrier", space, action, amount, transactions))
        return np.full((1, 1), 77, np.uint64)

    def mbarrier_wait(self, space: str, addresses: Any, phase: Any, **how: Any) -> None:
        self.events.append(("wait", space, how))

    def commit(self, channel: str) -> None:
        self.events.append(("commit", channel))

    def wait(self, channel: str, pending: int, read_only: bool = False) -> None:
        self.events.append(("wait", channel, pending, read_only))

    def defer(self, channel: str, action: Any, captured: Any) -> None:
        self.events.append(("defer", channel))
        action(self, captured)

    def load(self, space: str, addresses: Any, type: str, count: int = 1, lanes: Any = None) -> Any:
        dtype = np.dtype(f"u{int(type[1:]) // 8}")
        mask = self.lanes if lanes is None else self.lanes & lanes
        out = np.zeros((count, self.count, 32), dtype)
        for warp, lane in np.argwhere(mask):
            start = int(np.broadcast_to(addresses, mask.shape)[warp, lane])
            out[:, warp, lane] = self.memory[start : start + count * dtype.itemsize].view(dtype)
        return out

    def store(self, space: str, addresses: Any, type: str, values: Any, lanes: Any = None) -> None:
        mask = self.lanes if lanes is None else self.lanes & lanes
        wide = np.broadcast_to(values, (len(values), *mask.shape))
        for warp, lane in np.argwhere(mask):
            start = int(np.broadcast_to(addresses, mask.shape)[warp, lane])
            data = np.ascontiguousarray(wide[:, warp, lane]).view(np.uint8)
            self.memory[start : start + len(data)] = data

    def atomic(self, space: str, addresses: Any, op: str, type: str, values: Any, compares: Any = None) -> Any:
        """Every lane on a word of its own, whose old value is the lane's place."""
        old = np.arange(self.count * 32).astype(type.replace("s", "i").replace("b", "u")[0] + "4")
        old = old.reshape(self.count, 32)
        if op == "cas":
            self.results["memory"] = np.where(old == compares, values, old)
        else:
            self.results["memory"] = combine(op, type, space or "global")(old, values)
        return old


def bound(**parts: Any) -> SimpleNamespace:
    """A bound instruction: slots and operands by name."""
    return SimpleNamespace(**parts)


def lanes(values: Any, dtype: Any = np.uint32) -> Any:
    """One value for each lane of two warps."""
    return np.broadcast_to(np.asarray(values, dtype), (2, 32)).copy()
