"""Accumulators of warpgroup multiplications, kept as matrices between multiplications.

The elements of an accumulator are distributed over the registers of 128 lanes. Converting registers to a matrix and
back would take longer than the multiplication.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.values import VectorValue
from warploom.isa.model.semantics import Array
from warploom.layout import Order
from warploom.numerics import permute
from warploom.numerics.fused import Workers

if TYPE_CHECKING:
    from concurrent.futures import Future

Rows = NDArray[np.intp]
Change = Callable[[Array], Sequence[Callable[[], object]]]


@dataclass(slots=True, eq=False)
class _Matrices:
    """Accumulators in one vector of registers, as one matrix for each warpgroup.

    Shapes: matrices (warpgroups, elements), current (warpgroups,).
    """

    file: Array  # register file in units of `order.dtype`
    numbers: NDArray[np.uint64]
    order: Order
    matrices: Array
    current: NDArray[np.bool_]  # True if the matrix is newer than the registers
    pending: list[Future[object]] = field(default_factory=list["Future[object]"])

    def wait(self) -> None:
        for each in self.pending:
            each.result()
        self.pending.clear()


class Accumulators:
    """Cache of warpgroup accumulators as matrices.

    `members[g]` contains the indices of the four warps of warpgroup g. Shapes: members (warpgroups, 4).
    """

    def __init__(self, members: Rows, workers: Workers | None) -> None:
        self.members = members
        self.workers = workers
        self.cached: dict[VectorValue, _Matrices] = {}

    def update(self, value: VectorValue, order: Order, groups: Rows, change: Change) -> None:
        """Update the accumulators of the warpgroups `groups` in place, as matrices.

        `order` maps the registers in `value` to matrix elements. `change(matrices)` returns functions that do the
        update. These functions run in parallel, possibly after this method has returned.

        Shapes: groups (warpgroups,), ascending; matrices (warpgroups, elements of a matrix).
        """
        cached = self.cached.get(value)
        if cached is None or cached.order is not order:
            cached = self._add(value, order)
        cached.wait()
        missing = groups[~cached.current[groups]]
        if len(missing):
            self._read(cached, missing)
        cached.current[groups] = True
        first, count = int(groups[0]), len(groups)
        if int(groups[-1]) - first + 1 == count:
            works = change(cached.matrices[first : first + count])
            if self.workers is not None and len(works) > 1:  # a single work item uses the workers itself
                cached.pending = [self.workers.pool.submit(work) for work in works]
                return
            matrices = None
        else:
            matrices = cached.matrices[groups]
            works = change(matrices)
        for work in works:
            work()
        if matrices is not None:
            cached.matrices[groups] = matrices

    def discard(self) -> None:
        """Drop all matrices without writing them back to the registers."""
        for cached in self.cached.values():
            cached.wait()
        self.cached.clear()

    def flush(self) -> None:
        """Write all matrices back to the registers, and drop the matrices."""
        for cached in self.cached.values():
            self._write(cached)
        self.cached.clear()

    def _add(self, value: VectorValue, order: Order) -> _Matrices:
        """Add matrices for the registers in `value`, after a flush of other matrices with some of these registers."""
        for other in [each for each in self.cached if np.isin(each.numbers, value.numbers).any()]:
            self._write(self.cached.pop(other))
        assert value.file is not None
        groups = len(self.members)
        matrices = np.empty((groups, order.warps * order.target.size), order.dtype)
        current = np.zeros(groups, np.bool_)
        self.cached[value] = _Matrices(value.file.view(order.dtype), value.numbers, order, matrices, current)
        return self.cached[value]

    def _read(self, cached: _Matrices, groups: Rows) -> None:
        warps = self.members[groups].reshape(-1)
        matrices = np.empty((len(warps), cached.order.target.size), cached.order.dtype)
        permute.gather(cached.file, cached.numbers, warps, cached.order.target, matrices)
        cached.matrices[groups] = matrices.reshape(len(groups), -1)

    def _write(self, cached: _Matrices) -> None:
        cached.wait()
        groups = np.flatnonzero(cached.current)
        warps = self.members[groups].reshape(-1)
        matrices = cached.matrices[groups].reshape(len(warps), -1)
        permute.scatter(matrices, cached.order.target, cached.file, cached.numbers, warps)
