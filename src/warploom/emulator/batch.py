"""Batch: the warp splits that execute one instruction together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.shared_memory import Location
from warploom.emulator.state import State
from warploom.emulator.warp_splits import Status
from warploom.isa.model.semantics import Array, Lanes
from warploom.layout import Order

Rows = NDArray[np.intp]


class Batch:
    """Warp splits that execute one instruction together, with access to their registers.

    `rows` contains the slots of the warp splits (see `WarpSplits`). It is empty in the batch of an asynchronous
    operation, which belongs to warps. `warp_index` contains the warps. `mask` contains the active lanes; None stands
    for all lanes.

    Shapes: rows and warp_index (warps,), mask (warps, 32).
    """

    __slots__ = (
        "_groups", "_location", "asynchronous", "base", "consecutive", "count", "has_warpgroups", "mask", "rows",
        "state", "warp_index", "warps",
    )  # fmt: skip

    def __init__(self, state: State, rows: Rows, warp_index: Rows, mask: Lanes | None) -> None:
        self.state = state
        self.asynchronous = not len(rows)
        self.rows = rows
        self.base: Lanes | None = mask  # lanes of the warp splits, without the guard
        self.mask: Lanes | None = mask
        self._select(warp_index)

    def _select(self, warp_index: Rows) -> None:
        self.warp_index = warp_index
        self.count = len(warp_index)
        first = int(warp_index[0]) if self.count else 0
        spans = bool(self.count) and int(warp_index[-1]) - first + 1 == self.count
        # Without divergence, the warps of a batch are in ascending order.
        self.consecutive = spans and (not self.state.splits.diverged or bool((np.diff(warp_index) == 1).all()))
        self.warps: slice | Rows = slice(first, first + self.count) if self.consecutive else warp_index
        self._location: Location | None = None
        self._groups: NDArray[np.intp] | None = None
        self.has_warpgroups = False  # True once all warps are known to be whole warpgroups

    @property
    def location(self) -> Location:
        """Indices of the warps and of their CTAs, for accesses to memory."""
        if self._location is None:
            cta = self.state.topology.cta_of[self.warp_index]
            self._location = Location(self.warp_index.astype(np.int64, copy=False), cta, self.asynchronous)
        return self._location

    def warpgroups(self) -> NDArray[np.intp]:
        """Return the positions of the four warps of each warpgroup. Shapes: (warpgroups, 4)."""
        if self._groups is None:
            self._groups = self.state.topology.warpgroups(self.warp_index)
        return self._groups

    # Guard and selection ----------------------------------------------------------------------------------

    def guard(self, predicate: Array) -> bool:
        """Restrict the active lanes to those with a true predicate. Return False if no lane is left."""
        lanes = predicate if self.base is None else predicate & self.base
        active = int(np.count_nonzero(lanes))
        if active and (self.base is not None or active < lanes.size):
            # Copied, because the instruction may write the predicate's register.
            self.mask = lanes.copy() if lanes is predicate else lanes
        return active > 0

    def unguard(self) -> None:
        """Make all lanes of the warp splits active again after `guard`."""
        self.mask = self.base

    def suspend(self, which: NDArray[np.bool_], pc: int, status: int) -> Rows:
        """Remove the warp splits in the mask `which`, and return their slots.

        The removed warp splits get the status `status`, and later continue at `pc`. Shapes: which (warps,).
        """
        splits = self.state.splits
        if self.state.on_suspend is not None:
            self.state.on_suspend(self, which, status, pc == self.state.pc)
        rows = self.rows[which]
        splits.status[rows] = status
        splits.pc[rows] = pc
        self.retain(~which)
        return rows

    def retain(self, stay: NDArray[np.bool_]) -> None:
        """Remove the warp splits that are not in the mask `stay`. Shapes: stay (warps,)."""
        guarded = self.mask is not self.base
        if guarded and self.mask is not None:
            self.mask = self.mask[stay]
        if self.base is not None:
            self.base = self.base[stay]
        if not guarded:
            self.mask = self.base
        self.rows = self.rows[stay]
        self._select(self.warp_index[stay])

    def dismiss_idle(self, pc: int) -> None:
        """Remove the warp splits without active lanes from the batch. They continue at `pc`."""
        if self.mask is not None and self.mask is not self.base:
            busy: NDArray[np.bool_] = np.any(self.mask, axis=1)
            if np.count_nonzero(busy) < self.count:
                self.suspend(~busy, pc, Status.READY)

    def single(self, position: int, lanes: Lanes) -> Batch:
        """Return a batch of the warp split at one position, with the active lanes `lanes`."""
        return Batch(
            self.state, self.rows[position : position + 1], self.warp_index[position : position + 1], lanes[None]
        )

    def active(self) -> Lanes:
        """Return the mask of active lanes. Shapes: (warps, 32)."""
        return np.ones((self.count, 32), np.bool_) if self.mask is None else self.mask

    # Registers --------------------------------------------------------------------------------------------

    def read(self, value: Any) -> Array:
        """Return the value of an operand in the NumPy dtype of its PTX type."""
        return value.fetch(self)

    def read_vector(self, value: Any) -> Array:
        """Return the values of all registers of a vector operand. Shapes: (registers, warps, 32)."""
        return value.fetch_all(self)

    def read_first_lane(self, value: Any) -> Array:
        """Return the values of all items of a vector operand in lane 0. Shapes: (warps, items)."""
        return value.fetch_first_lane(self)

    def write(self, value: Any, result: Array) -> None:
        """Write a result to the active lanes of a destination operand. None stands for the sink `_`."""
        if value is not None:
            value.put(self, result)

    def write_vector(self, value: Any, results: Array) -> None:
        """Write the active lanes of a vector of registers. Shapes: results (registers, warps, 32)."""
        value.put_all(self, results)

    def read_fragment(self, value: Any, order: Order) -> Array:
        """Return the matrices that are distributed over a vector of registers.

        `order` maps the registers and lanes of one warp or warpgroup to matrix elements.

        Shapes: (warps or warpgroups, elements of a matrix).
        """
        units = value.read_matrix(self, order, self._matrix_order(order))
        return units.reshape(self.count // order.warps, -1)

    def write_fragment(self, value: Any, order: Order, units: Array) -> None:
        """Distribute the matrices `units` over a vector of registers (see `read_fragment`)."""
        value.write_matrix(self, order, self._matrix_order(order), units.reshape(self.count, -1))

    def _matrix_order(self, order: Order) -> Rows | slice:
        return slice(None) if order.warps == 1 else self.warpgroups().reshape(-1)

    def read_carry(self) -> Array:
        """Return the carry flag CC.CF of each thread. Shapes: (warps, 32)."""
        return self.state.carry[self.warps]

    def write_carry(self, carry: Array) -> None:
        """Write the carry flag CC.CF of the active lanes."""
        held = self.state.carry[self.warp_index]
        self.state.carry[self.warp_index] = np.where(self.active(), carry, held)

    def addresses(self, value: Any) -> NDArray[np.uint64]:
        """Return the sum of base and offset of an address operand, for each lane."""
        return value.effective(self)
