"""Profiler: an observer that counts the executions and memory accesses of each instruction.

Shared memory has 32 banks of 4 bytes. An access of at most 4 bytes for each lane has one phase for the whole warp. An
access of 8 bytes has two phases, and one of 16 bytes has four. In each phase, a bank delivers one word to all lanes
that request it; each further word takes a further wavefront. Global memory has sectors of 32 bytes and lines of 128.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.batch import Batch
from warploom.emulator.events import Access, BlockStart, CopyIssue, Execute, Launch, Observer, Suspend
from warploom.emulator.tensor_boxes import lane_values
from warploom.isa.model import effects
from warploom.isa.model.form import Form
from warploom.isa.model.records import BulkCopy, TensorCopy
from warploom.layout import BANKS, Descriptor
from warploom.layout.tensormap import TensorMapFields
from warploom.layout.tile import shared_bytes
from warploom.observe.profile.data import ROW, Profile, Tile

Array = NDArray[Any]
Handler = Callable[[Execute], None]

WORD, SECTOR, LINE = 4, 32, 128  # bytes
_UNCOUNTED_SPACES = frozenset({"param", "const"})


class Profiler(Observer):
    """Observer that profiles one launch.

    The counts depend on the schedule only if the control flow of the kernel does.
    """

    # The counts do not depend on how the emulator groups warps into batches.
    launch: Launch

    def attach(self, launch: Launch) -> None:
        """Reset all counts, and set the handlers of events."""
        self.launch = launch
        steps = launch.program.steps
        self._executions = [0] * len(steps)
        self._lanes = [0] * len(steps)
        self._executing = -1  # last instruction that was counted in the executing block
        self.rows = np.zeros(len(steps), ROW)
        self._tiles: dict[Tile, None] = {}
        self._counted = [_counts_accesses(step.binding.form, step.binding.slots) for step in steps]
        self.instructions = {pc: self._instruction_handler(pc) for pc in range(len(steps))}
        self.handlers = {
            BlockStart: self._start_block,
            Suspend: self._suspend,
            Access: self._access,
            CopyIssue: self._copy_issue,
        }

    def _instruction_handler(self, pc: int) -> Handler:
        form = self.launch.program.steps[pc].binding.form
        issue = form.effect(effects.Issue)
        if issue is None or issue.group not in ("copy", "multiplication"):
            return self._count
        inspect = self._copy if issue.group == "copy" else self._multiply

        def handle(event: Execute) -> None:
            self._count(event)
            inspect(event)

        return handle

    def _count(self, event: Execute) -> None:
        batch, pc = event.batch, event.pc
        warps, lanes = (batch.count, 32 * batch.count) if batch.mask is None else _active(batch.mask)
        self._executions[pc] += warps
        self._lanes[pc] += lanes
        self._executing = pc

    def _start_block(self, event: BlockStart) -> None:
        self._executing = -1

    def _suspend(self, event: Suspend) -> None:
        """Subtract the executions of warp splits that will repeat the instruction."""
        if event.repeats and event.pc == self._executing:
            warps, lanes = _active(event.batch.active()[event.suspended])
            self._executions[event.pc] -= warps
            self._lanes[event.pc] -= lanes

    def _access(self, event: Access) -> None:
        if event.location.asynchronous or not self._counted[event.pc]:
            return
        if event.space == "shared":
            self._shared(event.pc, event.index, event.lanes, event.size)
        elif event.space == "global":
            self._global(event.pc, event.index, event.lanes, event.size)

    def _shared(self, pc: int, index: Array, lanes: Array, size: int) -> None:
        least, taken, ways = wavefronts(index, lanes, size)
        row = self.rows[pc]
        row["shared"] += np.count_nonzero(least)
        row["ideal_wavefronts"] += least.sum()
        row["wavefronts"] += taken.sum()
        row["ways"] = max(row["ways"], ways.max(initial=0))

    def _global(self, pc: int, index: Array, lanes: Array, size: int) -> None:
        least, touched, lines = sectors(index, lanes, size)
        row = self.rows[pc]
        row["global"] += np.count_nonzero(least)
        row["ideal_sectors"] += least.sum()
        row["sectors"] += touched.sum()
        row["lines"] += lines.sum()

    def _copy(self, event: Execute) -> None:
        batch, operands = event.batch, event.operands
        active = batch.active()
        for access in self.launch.program.steps[event.pc].binding.form.effects_of(effects.Access):
            size = int(getattr(operands, access.size))
            addresses = batch.addresses(getattr(operands, access.address))
            index = np.broadcast_to(addresses, active.shape).astype(np.int64)
            if access.kind == "write":
                # A lane that reads nothing fills shared memory with zeros.
                self._shared(event.pc, index, active, size)
            else:
                limit = getattr(operands, access.limit, None) if access.limit else None
                self._global(event.pc, index - GLOBAL_BASE, _reading(batch, active, limit), size)

    def _multiply(self, event: Execute) -> None:
        """Record a tile for each matrix with a shared-memory descriptor."""
        for matrix in event.operands.multiplication.shared:
            for field in np.unique(event.batch.read(matrix.descriptor)[:, 0] >> np.uint64(62)).tolist():
                self._tiles[Tile(event.pc, matrix.name, Descriptor.decode(field << 62).swizzle)] = None

    def _copy_issue(self, event: CopyIssue) -> None:
        pc, request = event.pc, event.request
        if isinstance(request, BulkCopy):
            sizes = lane_values(request.bytes, event.positions, event.lanes)
            self.rows[pc]["bytes"] += int(sizes.sum(dtype=np.int64))
            return
        for fields, copies in event.tensor_maps:
            self.rows[pc]["bytes"] += shared_bytes(fields) * len(copies)
            self._tiles[Tile(pc, _box(fields, request), fields.swizzle_span)] = None

    def profile(self) -> Profile:
        """Return the profile of all counts so far."""
        launch, grid = self.launch, self.launch.grid
        self.rows["executions"], self.rows["lanes"] = self._executions, self._lanes
        return Profile(
            program=launch.program,
            arch=launch.arch,
            schedule=str(launch.schedule),
            grid=grid.grid,
            block=grid.block,
            cluster=grid.cluster,
            dynamic_shared=grid.dynamic_shared,
            total_shared=grid.total_shared,
            rows=self.rows.copy(),
            tiles=tuple(sorted(self._tiles, key=lambda tile: (tile.step, tile.what, tile.swizzle))),
        )


def _counts_accesses(form: Form, slots: effects.Slots) -> bool:
    spaces = [form.operands[each.address].space_word(slots) for each in form.effects_of(effects.Access)]
    return not form.is_asynchronous and _UNCOUNTED_SPACES.isdisjoint(space.partition("::")[0] for space in spaces)


def _reading(batch: Batch, active: Array, limit: Any) -> Array:
    # `limit` is the number of bytes to read, or a predicate that is true if the lane reads nothing.
    if limit is None:
        return active
    amount = batch.read(limit)
    return active & ~amount if amount.dtype == np.bool_ else active & (amount > 0)


def _active(lanes: Array) -> tuple[int, int]:
    return int(np.count_nonzero(lanes.any(axis=1))), int(np.count_nonzero(lanes))


def _box(fields: TensorMapFields, request: TensorCopy) -> str:
    if request.is_im2col:
        return f"{fields.pixels_per_column} pixels × {fields.channels_per_pixel} channels of {fields.element_type}"
    sizes = " × ".join(str(size) for size in reversed(fields.box[: fields.rank]))
    return f"{sizes} of {fields.element_type}"


# Cost of accesses -------------------------------------------------------------------------------------------


def wavefronts(index: Array, lanes: Array, size: int) -> tuple[Array, Array, Array]:
    """Count the wavefronts of one access by each warp to shared memory.

    Return three arrays: the number of wavefronts without bank conflicts, the actual number, and the largest number in
    one phase. `index` has byte offsets from bank 0, and `lanes` marks the active lanes. Each lane accesses `size`
    bytes. Shapes: index and lanes (warps, 32); the results (warps,).
    """
    words = max(1, size // WORD)
    warps, phases = len(index), words
    first = np.where(lanes, index // WORD, -words)[..., None]
    asked = np.where(first >= 0, first + np.arange(words), -1).reshape(warps * phases, BANKS)
    asked.sort(axis=1)
    new = _new(asked)
    place = np.arange(len(asked))[:, None] * BANKS + asked % BANKS
    of_banks = np.bincount(place[new], minlength=asked.size).reshape(warps, phases, BANKS)
    taken = of_banks.max(axis=2)
    return np.count_nonzero(taken, axis=1), taken.sum(axis=1), taken.max(axis=1)


def sectors(index: Array, lanes: Array, size: int) -> tuple[Array, Array, Array]:
    """Count the sectors and lines of one access by each warp to global memory.

    Return three arrays: the number of sectors if the bytes were contiguous, the actual number, and the number of lines.
    `index` has byte offsets from the start of a sector, and `lanes` marks the active lanes. Each lane accesses `size`
    bytes. Shapes: index and lanes (warps, 32); the results (warps,).
    """
    bytes_asked = _distinct(index, lanes, size) * size
    touched = _distinct(index, lanes, SECTOR)
    return -(-bytes_asked // SECTOR), touched, _distinct(index, lanes, LINE)


def _distinct(index: Array, lanes: Array, unit: int) -> Array:
    reached = np.where(lanes, index // unit, -1)
    reached.sort(axis=1)
    return np.count_nonzero(_new(reached), axis=1)


def _new(ordered: Array) -> Array:
    new = ordered >= 0
    new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return new
