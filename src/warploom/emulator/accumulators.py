"""Cache of the accumulators of warpgroup multiplications as matrices.

The elements of an accumulator are distributed over the registers of 128 threads. A conversion to a matrix and back
would take longer than the multiplication. Therefore the matrix stays until an instruction uses the registers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.values import VectorValue
from warploom.isa.model.semantics import Array
from warploom.layout import Order
from warploom.lazy_dataclass import dataclass
from warploom.numerics import permute
from warploom.numerics.fused import Workers

if TYPE_CHECKING:
    from concurrent.futures import Future

Rows = NDArray[np.intp]
Change = Callable[[Array], Sequence[Callable[[], object]]]


class MatricesField(IntEnum):
    """Index of a number in the record of an accumulator. Native code reads and writes these records."""

    FIRST = 0  # host address of the matrix of warpgroup 0
    STRIDE = 1  # distance between the matrices of two warpgroups, in bytes
    CURRENT = 2  # host address of `_Matrices.current`
    CACHED = 3  # 1 if matrices may be newer than the registers
    OVERLAPS = 4  # 1 if another accumulator uses some of the same registers


@dataclass(slots=True, eq=False)
class _Matrices:
    """Accumulators in one vector of registers, as one matrix for each warpgroup.

    `file` is the register file as an array of `order.dtype`, and `numbers` has the indices of the registers in it.
    `order` gives the position of each register in the matrix. `record` has a number for each `MatricesField`. `pending`
    has the updates that worker threads execute.

    Shapes: matrices (warpgroups, elements), current (warpgroups,).
    """

    file: Array
    numbers: NDArray[np.uint64]
    order: Order
    matrices: Array
    current: NDArray[np.bool_]  # True if the matrix is newer than the registers
    record: NDArray[np.int64]
    pending: list[Future[object]] = field(default_factory=list["Future[object]"])

    @classmethod
    def of(cls, value: VectorValue, order: Order, groups: int) -> _Matrices:
        """Return matrices for the registers in `value`, one for each of `groups` warpgroups."""
        assert value.file is not None
        matrices = np.empty((groups, order.warps * order.target.size), order.dtype)
        current = np.zeros(groups, np.bool_)
        record = np.array([matrices.ctypes.data, matrices.strides[0], current.ctypes.data, 0, 0])
        return cls(value.file.view(order.dtype), value.numbers, order, matrices, current, record)

    @property
    def is_cached(self) -> bool:
        """True if matrices may be newer than the registers."""
        return bool(self.record[MatricesField.CACHED])

    @is_cached.setter
    def is_cached(self, value: bool) -> None:
        self.record[MatricesField.CACHED] = value

    def wait(self) -> None:
        for each in self.pending:
            each.result()
        self.pending.clear()

    def overlaps(self, numbers: NDArray[np.uint64]) -> bool:
        """Return True if some of the registers `numbers` contain elements of these matrices."""
        return not set(self.numbers.tolist()).isdisjoint(numbers.tolist())


class Accumulators:
    """Cache of warpgroup accumulators as matrices.

    `members[g]` contains the indices of the four warps of warpgroup g. Shapes: members (warpgroups, 4).
    """

    def __init__(self, members: Rows, workers: Workers | None) -> None:
        self.members = members
        self.workers = workers
        self._matrices: dict[tuple[VectorValue, int], _Matrices] = {}  # by the registers and the `id` of the order

    @property
    def cached(self) -> list[_Matrices]:
        """Accumulators with matrices that may be newer than the registers.

        No two of them have a register in common.
        """
        return [each for each in self._matrices.values() if each.is_cached]

    def record(self, value: VectorValue, order: Order) -> tuple[NDArray[np.int64], Array]:
        """Return the record of the accumulators in the registers `value`, and the matrix of warpgroup 0.

        Native code may set CACHED if OVERLAPS is 0. Shapes: matrix (4, elements of a warp).
        """
        found = self._find(value, order)
        return found.record, found.matrices[0].reshape(order.warps, -1)

    def update(
        self, value: VectorValue, order: Order, groups: Rows, change: Change, cleared: NDArray[np.bool_] | None
    ) -> None:
        """Update the accumulators of the warpgroups `groups` in place, as matrices.

        `order` maps the registers in `value` to matrix elements. The matrices in the mask `cleared` are first set to
        zero. `change(matrices)` returns functions that update parts of the matrices. Worker threads may run them in
        parallel, and after this method has returned.

        Shapes: groups (warpgroups,), ascending; cleared (warpgroups,); matrices (warpgroups, elements of a matrix).
        """
        cached = self._of(value, order)
        missing = ~cached.current[groups]
        if cleared is not None:
            missing &= ~cleared
        if np.count_nonzero(missing):
            self._read(cached, groups[missing])
        cached.current[groups] = True
        span = _span(groups)
        matrices = cached.matrices[span]
        if cleared is not None:
            matrices[cleared] = 0
        works = change(matrices)
        if isinstance(span, slice):
            if self.workers is not None and len(works) > 1:  # a single work item uses the workers itself
                cached.pending = [self.workers.pool.submit(work) for work in works]
                return
            for work in works:
                work()
            return
        for work in works:
            work()
        cached.matrices[span] = matrices

    def locate(
        self, targets: Sequence[tuple[VectorValue, Order]], groups: Rows, keeps: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Return the host address of each matrix of the warpgroups `groups`.

        `targets` has the registers of each accumulator, and the order of the matrix elements in them. Where `keeps` is
        True, the matrix receives the contents of the registers. The contents of the other matrices are undefined. The
        caller writes all matrices, and then calls `mark_current`.

        Shapes: groups (warpgroups,), ascending; keeps and result (warpgroups, targets).
        """
        found = np.empty(keeps.shape, np.int64)
        for number, (value, order) in enumerate(targets):
            cached = self._of(value, order)
            missing = keeps[:, number] & ~cached.current[groups]
            if np.count_nonzero(missing):
                self._read(cached, groups[missing])
                cached.current[groups[missing]] = True
            found[:, number] = cached.matrices.ctypes.data + groups * cached.matrices.strides[0]
        return found

    def mark_current(self, targets: Sequence[tuple[VectorValue, Order]], groups: Rows) -> None:
        """Record that the matrices of the warpgroups `groups` are newer than the registers."""
        for value, order in targets:
            self._of(value, order).current[groups] = True

    def discard(self) -> None:
        """Drop all matrices without writing them back to the registers."""
        for cached in self.cached:
            cached.wait()
            cached.current.fill(False)
            cached.is_cached = False

    def flush(self) -> None:
        """Write all matrices back to the registers, and drop the matrices."""
        for cached in self.cached:
            self._write(cached)

    def _of(self, value: VectorValue, order: Order) -> _Matrices:
        """Return the matrices for the registers in `value`.

        Other matrices with some of these registers are first written back.
        """
        found = self._find(value, order)
        if found.is_cached:
            found.wait()
            return found
        for other in [each for each in self.cached if each.overlaps(value.numbers)]:
            self._write(other)
        found.is_cached = True
        return found

    def _find(self, value: VectorValue, order: Order) -> _Matrices:
        key = value, id(order)
        found = self._matrices.get(key)
        if found is None:
            found = _Matrices.of(value, order, len(self.members))
            for other in self._matrices.values():
                if other.overlaps(value.numbers):
                    found.record[MatricesField.OVERLAPS] = other.record[MatricesField.OVERLAPS] = 1
            self._matrices[key] = found
        return found

    def _read(self, cached: _Matrices, groups: Rows) -> None:
        warps, span = self.members[groups].reshape(-1), _span(groups)
        matrices = cached.matrices[span]
        permute.gather(
            cached.file, cached.numbers, warps, cached.order.target, matrices.reshape(len(warps), -1)
        )  # fmt: skip
        if not isinstance(span, slice):
            cached.matrices[span] = matrices

    def _write(self, cached: _Matrices) -> None:
        """Write matrices back to the registers, and drop the matrices."""
        cached.wait()
        cached.is_cached = False
        (groups,) = cached.current.nonzero()
        if not len(groups):
            return
        warps = self.members[groups].reshape(-1)
        matrices = cached.matrices[_span(groups)].reshape(len(warps), -1)
        permute.scatter(matrices, cached.order.target, cached.file, cached.numbers, warps)
        cached.current.fill(False)


def _span(groups: Rows) -> slice | Rows:
    """Return ascending indices as a slice if they are consecutive, because a slice does not copy."""
    first, end = int(groups[0]), int(groups[-1]) + 1
    return slice(first, end) if end - first == len(groups) else groups
