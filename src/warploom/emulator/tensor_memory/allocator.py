"""Allocation of columns of tensor memory.

Each CTA is alone on its multiprocessor, so a CTA only waits for columns that its own warps hold. For a pair of CTAs,
one warp of each CTA executes an allocation together with a warp of the other CTA, and both receive the same columns.
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
    """Wait of a warp split at an instruction that allocates or releases columns."""

    cta: int
    columns: int
    ctas: int
    action: str  # "allocate" or "release"
    column: int  # first column that is released


class TensorAllocator:
    """Columns that the warps of each CTA hold, and the warp splits that wait for columns or for a peer."""

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
        self.group = 0  # number of CTAs that all instructions of the kernel use, or 0
        self._granted: dict[int, int] = {}  # slot -> first column, or TENSOR_COLUMNS after a release

    # Checks -----------------------------------------------------------------------------------------------

    def use_group(self, ctas: int, lanes: NDArray[np.int64]) -> None:
        """Check the CTAs that execute an instruction with `.cta_group::ctas`.

        `lanes` has the indices of the threads in the executing batch. Shapes: lanes (threads,).

        Errors: Fault emulator.tensor-pair.
        """
        if self.group not in (0, ctas):
            message = f"an instruction has .cta_group::{ctas}, and an earlier one .cta_group::{self.group}"
            raise Fault(
                "emulator.tensor-pair", f"{message}; expected the same group in the whole kernel", int(lanes[0])
            )
        self.group = ctas
        if ctas == 1:
            return
        topology = self.state.topology
        if topology.cluster_size % 2:
            of = f"a cluster of {topology.cluster_size} CTA{'s' if topology.cluster_size > 1 else ''}"
            message = f"an instruction has .cta_group::2 in {of}, in which not every CTA has a peer"
            message += "; expected an even number"
            raise Fault("emulator.tensor-pair", message, int(lanes[0]))

    def require_peers(self, of: NDArray[np.int64], lanes: NDArray[np.int64]) -> None:
        """Check that the peers of the CTAs `of` have not exited. Errors: Fault emulator.tensor-pair."""
        gone = self.state.live_warps[of ^ 1] == 0
        if gone.any():
            message = "an instruction has .cta_group::2, and all threads of the peer CTA have exited"
            hint = "put a cluster barrier before the exit of the peer CTA"
            raise Fault("emulator.tensor-pair", message, int(lanes[gone.argmax()]), hint)

    def _check_size(self, columns: int, lane: int) -> None:
        if columns not in _SIZES:
            message = f"the number of columns is {columns}; expected {', '.join(map(str, _SIZES[:-1]))} or {_SIZES[-1]}"
            raise Fault(_CODE, message, lane)

    # Requests ---------------------------------------------------------------------------------------------

    def allocate(self, batch: Batch, columns: NDArray[np.int64], ctas: int) -> NDArray[np.int64]:
        """Allocate columns for each warp of a batch. Return the first column, for the warps that do not wait.

        Warp splits leave the batch and wait if their CTA has too few free columns, or for the warp of the other CTA.

        Shapes: columns (warps,). Errors: Fault emulator.tensor-allocation, emulator.tensor-pair.
        """
        of = batch.location.cta
        self.use_group(ctas, 32 * np.arange(batch.count))
        stay = np.zeros(batch.count, np.bool_)
        found = np.zeros(batch.count, np.int64)
        for position, (row, cta, count) in enumerate(
            zip(batch.rows.tolist(), of.tolist(), columns.tolist(), strict=True)
        ):
            self._check_size(count, 32 * position)
            if cta in self.relinquished:
                message = "a warp allocates tensor memory after its CTA has relinquished the permit"
                raise Fault(_CODE, message, 32 * position, "relinquish the permit after the last allocation")
            column = self._granted.pop(row, None)
            if column is None:
                self.waiting[row] = _Request(cta, count, ctas, "allocate", 0)
                column = self._serve(row, position)
            stay[position] = column is None
            found[position] = column or 0
        self._suspend(batch, stay, found)
        self._report(batch, "take", columns[~stay], found[~stay], ctas)
        return found[~stay]

    def release(self, batch: Batch, addresses: NDArray[np.int64], columns: NDArray[np.int64], ctas: int) -> None:
        """Release the columns at an address, for each warp of a batch.

        Under the schedule `eager`, a warp does not wait for the release by the other CTA of a pair.

        Shapes: addresses and columns (warps,). Errors: Fault emulator.tensor-allocation, emulator.tensor-pair.
        """
        of = batch.location.cta
        self.use_group(ctas, 32 * np.arange(batch.count))
        stay = np.zeros(batch.count, np.bool_)
        requests = zip(batch.rows.tolist(), of.tolist(), addresses.tolist(), columns.tolist(), strict=True)
        for position, (row, cta, address, count) in enumerate(requests):
            if self._granted.pop(row, None) is not None:
                continue
            block = self.blocks.get((cta, address))
            if block is None or block.columns != count:
                raise Fault(_CODE, self._wrong_release(cta, address, count, block), 32 * position)
            if ctas == 1 or self.kind == "eager":
                self._free(cta, address)
                continue
            self.waiting[row] = _Request(cta, count, ctas, "release", address)
            stay[position] = self._serve(row, position) is None
        self._suspend(batch, stay, np.zeros(batch.count, np.int64))
        self._report(batch, "release", columns[~stay], addresses[~stay], ctas)
        self._serve_all()

    def _suspend(self, batch: Batch, stay: NDArray[np.bool_], found: NDArray[np.int64]) -> None:
        """Remove from the batch the warp splits in the mask `stay`, which must wait.

        A warp split of the mask that a later one has already served remains in the batch. `found` receives its column.
        """
        for position in np.flatnonzero(stay).tolist():
            column = self._granted.pop(int(batch.rows[position]), None)
            if column is not None:
                stay[position], found[position] = False, column
        if stay.any():
            batch.suspend(stay, self.state.pc, Status.WAITING)

    def relinquish(self, batch: Batch, ctas: int) -> None:
        """Take the permit to allocate from the CTAs of a batch. Errors: Fault emulator.tensor-pair."""
        of = batch.location.cta
        self.use_group(ctas, 32 * np.arange(batch.count))
        for cta in of.tolist():
            self.relinquished[cta] = self.state.pc

    def _wrong_release(self, cta: int, address: int, count: int, block: _Block | None) -> str:
        start = f"a warp releases {count} columns at the address {address:#x}"
        if block is None:
            held = [f"{size.columns} at {column:#x}" for (owner, column), size in self.blocks.items() if owner == cta]
            return f"{start}, which no allocation returned; the CTA has allocated {', '.join(held) or 'no columns'}"
        return f"{start}, but the allocation has {block.columns} columns; expected the same number"

    # Service ----------------------------------------------------------------------------------------------

    def _serve(self, row: int, position: int = -1) -> int | None:
        """Serve the request of a warp split, if possible. Return the first column, or None."""
        request = self.waiting[row]
        partner = -1
        if request.ctas == 2:
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

    def _serve_all(self) -> None:
        for row in list(self.waiting):
            if row in self.waiting:
                self._serve(row)

    def _find(self, ctas: list[int], columns: int) -> int | None:
        """Return the first column of the lowest free range that all of the CTAs have, or None."""
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
        self, batch: Batch, action: str, columns: NDArray[np.int64], first: NDArray[np.int64], ctas: int
    ) -> None:
        if self._on_allocate is not None and batch.count:
            self._on_allocate(TensorAllocate(self.state.pc, batch, action, columns, first, ctas))

    # Deadlocks --------------------------------------------------------------------------------------------

    def snapshot(self) -> object:
        """Return a value that is equal for two states with the same allocations."""
        return dict(self.blocks), dict(self.relinquished), dict(self.waiting)

    def awaited(self, slot: int) -> Awaited | None:
        """Return what the warp split with index `slot` waits for, or None."""
        request = self.waiting.get(slot)
        if request is None:
            return None
        if request.ctas == 2:
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
