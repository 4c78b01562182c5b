"""Allocation of columns of tensor memory.

In the emulator, each CTA has a multiprocessor of its own. A warp therefore waits only for columns that warps of its own
CTA have allocated. With `.cta_group::2`, a warp of each CTA of a pair executes the instruction. Both CTAs receive the
same columns.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.batch import Batch
from warploom.emulator.events import TensorAllocate
from warploom.emulator.faults import Awaited, Fault
from warploom.emulator.observers import Dispatcher
from warploom.emulator.schedule import Schedule
from warploom.emulator.state import State
from warploom.emulator.tensor_memory.storage import BLOCK, BLOCKS, UNDEFINED, TensorStorage
from warploom.emulator.warp_splits import Status
from warploom.layout.tensor_memory import TENSOR_COLUMNS

_CODE = "emulator.tensor-allocation"
_SIZES = tuple(BLOCK << k for k in range(5))


class _Block(NamedTuple):
    """Allocated columns of a CTA: their number, and the warp and the instruction that allocated them."""

    columns: int
    warp: int
    pc: int


class _Request(NamedTuple):
    """Request of a warp split that waits at an instruction which allocates or releases columns."""

    cta: int
    columns: int
    group_size: int  # number of CTAs that execute the instruction together, 1 or 2
    action: str  # "allocate" or "release"
    column: int  # first column that is released


class TensorAllocator:
    """Allocated columns of each CTA, and the warp splits that wait for columns or for the peer CTA."""

    STATE = ("blocks", "relinquished", "waiting", "group_size", "_granted")

    def __init__(self, state: State, storage: TensorStorage, schedule: Schedule, events: Dispatcher) -> None:
        self.state = state
        self.storage = storage
        self.kind = schedule.kind
        self._on_allocate = events.handler(TensorAllocate)
        self.start()

    def start(self) -> None:
        """Release all columns before a new wave."""
        self.blocks: dict[tuple[int, int], _Block] = {}  # (CTA, first column) -> block
        self.relinquished: dict[int, int] = {}  # CTA -> program counter of the instruction
        self.waiting: dict[int, _Request] = {}  # slot -> request
        self.group_size = 0  # that of the earlier instructions of the kernel, or 0 before the first
        self._granted: dict[int, int] = {}  # slot -> first column, or TENSOR_COLUMNS after a release

    # Checks -----------------------------------------------------------------------------------------------

    def use_group(self, group_size: int, lanes: NDArray[np.int64]) -> None:
        """Check that an instruction with `.cta_group::group_size` is legal here, and record its group size.

        All instructions of a kernel must have the same group size, and 2 requires clusters of an even number of CTAs.
        `lanes` contains 32 * position + lane for each executing thread. Shapes: lanes (threads,).

        Errors: Fault emulator.tensor-pair.
        """
        if self.group_size not in (0, group_size):
            message = f"an instruction has .cta_group::{group_size}, and an earlier one .cta_group::{self.group_size}"
            raise Fault(
                "emulator.tensor-pair", f"{message}; expected the same group in the whole kernel", int(lanes[0])
            )
        self.group_size = group_size
        if group_size == 1:
            return
        topology = self.state.topology
        if topology.cluster_size % 2:
            of = f"a cluster of {topology.cluster_size} CTA{'s' if topology.cluster_size > 1 else ''}"
            message = f"an instruction has .cta_group::2 in {of}, in which not every CTA has a peer"
            message += "; expected an even number"
            raise Fault("emulator.tensor-pair", message, int(lanes[0]))

    def require_peers(self, ctas: NDArray[np.int64], lanes: NDArray[np.int64]) -> None:
        """Check that the peers of some CTAs have not exited. `lanes` is that of `use_group`.

        Shapes: ctas and lanes (threads,). Errors: Fault emulator.tensor-pair.
        """
        gone = self.state.live_warps[ctas ^ 1] == 0
        if gone.any():
            message = "an instruction has .cta_group::2, and all threads of the peer CTA have exited"
            hint = "put a cluster barrier before the exit of the peer CTA"
            raise Fault("emulator.tensor-pair", message, int(lanes[gone.argmax()]), hint)

    def _check_size(self, columns: int, lane: int) -> None:
        if columns not in _SIZES:
            message = f"the number of columns is {columns}; expected {', '.join(map(str, _SIZES[:-1]))} or {_SIZES[-1]}"
            raise Fault(_CODE, message, lane)

    # Requests ---------------------------------------------------------------------------------------------

    def allocate(self, batch: Batch, columns: NDArray[np.int64], group_size: int) -> NDArray[np.int64]:
        """Allocate columns for each warp of a batch. Return the first column for each warp that does not wait.

        A warp waits if its CTA has too few adjacent free columns, or if the warp of the peer CTA is missing. The splits
        of these warps leave the batch. They repeat the instruction after their request has been granted.

        Shapes: columns (warps,). Errors: Fault emulator.tensor-allocation, emulator.tensor-pair.
        """
        own = batch.location.cta
        self.use_group(group_size, 32 * np.arange(batch.count))
        waits = np.zeros(batch.count, np.bool_)
        found = np.zeros(batch.count, np.int64)
        for position, (row, cta, count) in enumerate(
            zip(batch.rows.tolist(), own.tolist(), columns.tolist(), strict=True)
        ):
            self._check_size(count, 32 * position)
            if cta in self.relinquished:
                message = "a warp allocates tensor memory after its CTA has relinquished the permit"
                raise Fault(_CODE, message, 32 * position, "relinquish the permit after the last allocation")
            column = self._granted.pop(row, None)
            if column is None:
                self.waiting[row] = _Request(cta, count, group_size, "allocate", 0)
                column = self._grant(row, position)
            waits[position] = column is None
            found[position] = column or 0
        self._suspend(batch, waits, found)
        self._report(batch, "take", columns[~waits], found[~waits], group_size)
        return found[~waits]

    def release(self, batch: Batch, addresses: NDArray[np.int64], columns: NDArray[np.int64], group_size: int) -> None:
        """Release the allocation at an address, for each warp of a batch.

        With `.cta_group::2`, a warp waits for the release by the peer CTA, except under the schedule `eager`.

        Shapes: addresses and columns (warps,). Errors: Fault emulator.tensor-allocation, emulator.tensor-pair.
        """
        own = batch.location.cta
        self.use_group(group_size, 32 * np.arange(batch.count))
        waits = np.zeros(batch.count, np.bool_)
        requests = zip(batch.rows.tolist(), own.tolist(), addresses.tolist(), columns.tolist(), strict=True)
        for position, (row, cta, address, count) in enumerate(requests):
            if self._granted.pop(row, None) is not None:
                continue
            block = self.blocks.get((cta, address))
            if block is None or block.columns != count:
                raise Fault(_CODE, self._wrong_release(cta, address, count, block), 32 * position)
            if group_size == 1 or self.kind == "eager":
                self._free(cta, address)
                continue
            self.waiting[row] = _Request(cta, count, group_size, "release", address)
            waits[position] = self._grant(row, position) is None
        self._suspend(batch, waits, np.zeros(batch.count, np.int64))
        self._report(batch, "release", columns[~waits], addresses[~waits], group_size)
        self._grant_all()

    def _suspend(self, batch: Batch, waits: NDArray[np.bool_], found: NDArray[np.int64]) -> None:
        """Suspend the warp splits in the mask `waits`.

        If a request of the mask was granted together with that of a later warp of the batch, its warp split does not
        wait: its element of `waits` becomes False, and its element of `found` the first column.
        """
        for position in np.flatnonzero(waits).tolist():
            column = self._granted.pop(int(batch.rows[position]), None)
            if column is not None:
                waits[position], found[position] = False, column
        if waits.any():
            batch.suspend(waits, self.state.pc, Status.WAITING)

    def relinquish(self, batch: Batch, group_size: int) -> None:
        """Forbid further allocations by the CTAs of a batch. Errors: Fault emulator.tensor-pair."""
        own = batch.location.cta
        self.use_group(group_size, 32 * np.arange(batch.count))
        for cta in own.tolist():
            self.relinquished[cta] = self.state.pc

    def _wrong_release(self, cta: int, address: int, count: int, block: _Block | None) -> str:
        start = f"a warp releases {count} columns at the address {address:#x}"
        if block is None:
            held = [f"{size.columns} at {column:#x}" for (owner, column), size in self.blocks.items() if owner == cta]
            return f"{start}, which no allocation returned; the CTA has allocated {', '.join(held) or 'no columns'}"
        return f"{start}, but the allocation has {block.columns} columns; expected the same number"

    # Grants -----------------------------------------------------------------------------------------------

    def _grant(self, row: int, position: int = -1) -> int | None:
        """Grant the request in slot `row` and that of its peer, if possible. Return the first column.

        If it is not possible, the result is None. After a release, the result is TENSOR_COLUMNS. `position` is that of
        the warp split in the executing batch, or -1 if the warp split is suspended; a suspended warp split continues.

        Errors: Fault emulator.tensor-pair if the two warps request different numbers of columns.
        """
        request = self.waiting[row]
        partner = -1
        if request.group_size == 2:
            partner = next(
                (
                    slot
                    for slot, each in self.waiting.items()
                    if each.cta == request.cta ^ 1 and each.action == request.action
                ),
                -1,
            )
            if partner < 0:
                return None
            if self.waiting[partner].columns != request.columns:
                other = self.waiting[partner].columns
                message = f"a warp requests {request.columns} columns, and the warp of the peer CTA {other} columns"
                raise Fault("emulator.tensor-pair", f"{message}; expected the same number", 32 * max(position, 0))
        slots = [row] if partner < 0 else [row, partner]
        if request.action == "release":
            for slot in slots:
                self._free(self.waiting[slot].cta, self.waiting[slot].column)
            column: int | None = TENSOR_COLUMNS
        else:
            column = self._find([self.waiting[slot].cta for slot in slots], request.columns)
            if column is None:
                return None
            for slot in slots:
                self._take(slot, column)
        for slot in slots:
            del self.waiting[slot]
            if slot != row or position < 0:
                self._granted[slot] = column
                self.state.splits.status[slot] = Status.READY
        return column

    def _grant_all(self) -> None:
        """Grant all requests that can be granted."""
        for row in list(self.waiting):
            if row in self.waiting:
                self._grant(row)

    def _find(self, ctas: list[int], columns: int) -> int | None:
        """Return the first column of the lowest range that is free in all of the CTAs, or None."""
        taken = np.logical_or.reduce(self.storage.allocated[ctas])
        need = columns // BLOCK
        return next(
            (first * BLOCK for first in range(BLOCKS - need + 1) if not taken[first : first + need].any()), None
        )

    def _take(self, slot: int, column: int) -> None:
        request = self.waiting[slot]
        cta, columns = request.cta, request.columns
        pc = int(self.state.splits.pc[slot]) if self.state.splits.status[slot] == Status.WAITING else self.state.pc
        warp = int(self.state.splits.warp[slot])
        self.blocks[cta, column] = _Block(columns, warp, pc)
        self.storage.allocated[cta, column // BLOCK : (column + columns) // BLOCK] = True
        if self.kind != "eager":
            self.storage.words[cta, :, column : column + columns] = UNDEFINED

    def _free(self, cta: int, column: int) -> None:
        block = self.blocks.pop((cta, column))
        self.storage.allocated[cta, column // BLOCK : (column + block.columns) // BLOCK] = False

    def _report(
        self, batch: Batch, action: str, columns: NDArray[np.int64], first: NDArray[np.int64], group_size: int
    ) -> None:
        if self._on_allocate is not None and batch.count:
            self._on_allocate(TensorAllocate(self.state.pc, batch, action, columns, first, group_size))

    # Deadlocks --------------------------------------------------------------------------------------------

    def snapshot(self) -> object:
        """Return a value that is equal for two states with the same allocations and requests."""
        return dict(self.blocks), dict(self.relinquished), dict(self.waiting)

    def awaited(self, slot: int) -> Awaited | None:
        """Return what the warp split with index `slot` waits for, or None."""
        request = self.waiting.get(slot)
        if request is None:
            return None
        if request.group_size == 2:
            peers = [each for each in self.waiting.values() if each.cta == request.cta ^ 1]
            if not any(each.action == request.action for each in peers):
                peer = self.state.placement.describe_cta(request.cta ^ 1)
                return Awaited("peer CTA", f"a warp of the peer {peer}", f" to {request.action} tensor memory as well")
        free = TENSOR_COLUMNS - BLOCK * int(self.storage.allocated[request.cta].sum())
        return Awaited(
            "tensor memory",
            f"{request.columns} columns of tensor memory",
            f", but the CTA has {free} left; {self._holders(request.cta)}",
            (("wanted", request.columns), ("left", free)),
        )

    def _holders(self, cta: int) -> str:
        warps = self.state.topology.warp_in_cta
        held = [
            f"warp {int(warps[block.warp])} holds columns {column} to {column + block.columns - 1}"
            for (owner, column), block in sorted(self.blocks.items())
            if owner == cta
        ]
        return ", ".join(held) or "no warp holds columns"
