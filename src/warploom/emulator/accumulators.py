"""Accumulators of warpgroups, kept as matrices for as long as nothing but the matrix unit looks at their registers.

A multiplication sums into rows and columns, and its accumulators are scattered over the registers of 128 lanes:
to bring them there and back for each would cost more than the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.values import VectorValue
from warploom.layout import Order
from warploom.numerics import permute
from warploom.numerics.fused import Workers

Array = NDArray[Any]
Rows = NDArray[np.intp]
Change = Callable[[Array], Sequence[Callable[[], object]]]


@dataclass(slots=True, eq=False)
class _Held:
    """The matrices of one vector of registers. Shapes: matrices (warpgroups, units), current (warpgroups,)."""

    file: Array
    numbers: NDArray[np.uint64]
    order: Order
    matrices: Array
    current: NDArray[np.bool_]
    pending: list[Future[object]] = field(default_factory=list[Future[object]])

    def wait(self) -> None:
        """Until the workers are done with the matrices."""
        for each in self.pending:
            each.result()
        self.pending.clear()


class Accumulators:
    """Matrices that stand for registers of warpgroups, until `settle` writes them back.

    `members` has the warps of every warpgroup, (warpgroups, 4): a warpgroup's matrix is in the place of its row.
    """

    def __init__(self, members: Rows, workers: Workers | None) -> None:
        self.members = members
        self.workers = workers
        self.held: list[_Held] = []

    def update(self, value: VectorValue, order: Order, groups: Rows, change: Change) -> None:
        """Let `change` act on the matrices that a vector's registers hold in some warpgroups.

        The workers do what it leaves to be done, while the machine goes on.

        Shapes: groups (groups,) are rows of `members`; `change` is given (groups, units).
        """
        assert value.run is not None
        held = self._held(value.run, value.numbers, order)
        missing = groups[~held.current[groups]]
        if len(missing):
            self._gather(held, missing)
        held.current[groups] = True
        first, count = int(groups[0]), len(groups)
        if int(groups[-1]) - first + 1 == count and (count == 1 or bool((np.diff(groups) == 1).all())):
            works = change(held.matrices[first : first + count])
            if self.workers is not None and len(works) > 1:  # one alone may need the workers itself
                held.pending = [self.workers.pool.submit(work) for work in works]
                return
            matrices = None
        else:
            matrices = held.matrices[groups]
            works = change(matrices)
        for work in works:
            work()
        if matrices is not None:
            held.matrices[groups] = matrices

    def forget(self) -> None:
        """No register counts any more: other CTAs take the place of those that have run."""
        for held in self.held:
            held.wait()
        self.held.clear()

    def settle(self) -> None:
        """Write all matrices back: from here on the registers are what counts."""
        for held in self.held:
            self._scatter(held)
        self.held.clear()

    def _held(self, file: Array, numbers: NDArray[np.uint64], order: Order) -> _Held:
        for held in self.held:
            if held.order is order and np.array_equal(held.numbers, numbers):
                held.wait()
                return held
        for held in [held for held in self.held if np.isin(held.numbers, numbers).any()]:
            self._scatter(held)
            self.held.remove(held)
        groups = len(self.members)
        matrices = np.empty((groups, order.warps * order.target.size), order.dtype)
        self.held.append(_Held(file, numbers, order, matrices, np.zeros(groups, np.bool_)))
        return self.held[-1]

    def _gather(self, held: _Held, groups: Rows) -> None:
        warps = self.members[groups].reshape(-1)
        matrices = np.empty((len(warps), held.order.target.size), held.order.dtype)
        permute.gather(held.file.view(held.order.dtype), held.numbers, warps, held.order.target, matrices)
        held.matrices[groups] = matrices.reshape(len(groups), -1)

    def _scatter(self, held: _Held) -> None:
        held.wait()
        groups = np.flatnonzero(held.current)
        warps = self.members[groups].reshape(-1)
        matrices = held.matrices[groups].reshape(len(warps), -1)
        permute.scatter(matrices, held.order.target, held.file.view(held.order.dtype), held.numbers, warps)
