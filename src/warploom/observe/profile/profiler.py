"""Profiler: an observer that counts the executions and memory accesses of each instruction."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.events import Access, CopyIssue, Execute, Launch, Reads, Suspend, ThreadCopyIssue
from warploom.emulator.observers import Observer
from warploom.emulator.program import Program
from warploom.emulator.state import active_lanes
from warploom.emulator.tensor_boxes import lane_values
from warploom.isa.model import effects
from warploom.isa.model.form import Form
from warploom.isa.model.records import BulkCopy, TensorCopy
from warploom.layout import Descriptor
from warploom.layout.tensormap import TensorMapFields
from warploom.layout.tile import shared_bytes
from warploom.observe.profile.costs import count_reads, count_sectors, count_wavefronts
from warploom.observe.profile.data import ROW, Profile, Tile

Array = NDArray[Any]
_UNCOUNTED_SPACES = frozenset({"param", "const"})
_SHARED, _GLOBAL = slice(2, 6), slice(6, 10)
"""Columns of `ROW` for accesses to shared memory and to global memory, in the order of `costs`."""


class Profiler(Observer):
    """Observer that profiles one launch.

    The counts depend on the schedule only if the control flow of the kernel does.
    """

    # The counts do not depend on how the emulator groups warps into batches.
    launch: Launch
    counts_executions = True

    def attach(self, launch: Launch) -> None:
        """Reset all counts, and set the handlers of events."""
        self.launch = launch
        self.rows = np.zeros(len(launch.program.steps), ROW)
        self._columns = self.rows.view(np.int64).reshape(len(self.rows), -1)
        self._shared_counts, self._global_counts = self._columns[:, _SHARED], self._columns[:, _GLOBAL]
        self._tiles: dict[Tile, None] = {}
        multiplications, self._counted = launch.program.analysis(_classify)
        self.instructions = dict.fromkeys(multiplications, self._multiply)
        self.handlers = {
            Suspend: self._suspend,
            Access: self._access,
            ThreadCopyIssue: self._thread_copy,
            Reads: self._reads,
            CopyIssue: self._copy_issue,
        }

    def _suspend(self, event: Suspend) -> None:
        """Subtract the executions of warp splits that will repeat the instruction."""
        executions = self.launch.executions
        if event.repeats and event.pc == executions.last:
            executions.counts[event.pc] -= active_lanes(event.batch.active()[event.suspended])

    def _access(self, event: Access) -> None:
        if not self._counted[event.pc]:
            return
        if event.space == "shared":
            count_wavefronts(self._shared_counts[event.pc], event.index, event.lanes, event.size)
        elif event.space == "global":
            count_sectors(self._global_counts[event.pc], event.index, event.lanes, event.size)

    def _thread_copy(self, event: ThreadCopyIssue) -> None:
        # A lane that reads nothing fills shared memory with zeros.
        count_wavefronts(self._shared_counts[event.pc], event.targets, event.lanes, event.size)
        count_sectors(self._global_counts[event.pc], event.sources, event.reading, event.size)

    def _reads(self, event: Reads) -> None:
        count_reads(self._columns, _SHARED.start, _GLOBAL.start, self._counted, event)

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
        self.rows["executions"], self.rows["lanes"] = launch.executions.counts.T
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


def _classify(program: Program) -> tuple[list[int], NDArray[np.bool_]]:
    """Return the asynchronous multiplications, and a flag for each instruction.

    The flag is True if the accesses of the instruction are counted.
    """
    issues = [step.binding.form.effect(effects.Issue) for step in program.steps]
    multiplications = [pc for pc, each in enumerate(issues) if each is not None and each.group == "multiplication"]
    counted = [_counts_accesses(step.binding.form, step.binding.slots) for step in program.steps]
    return multiplications, np.array(counted, np.bool_)


def _counts_accesses(form: Form, slots: effects.Slots) -> bool:
    spaces = [form.operands[each.address].space_word(slots) for each in form.effects_of(effects.Access)]
    return not form.is_asynchronous and _UNCOUNTED_SPACES.isdisjoint(space.partition("::")[0] for space in spaces)


def _box(fields: TensorMapFields, request: TensorCopy) -> str:
    if request.is_im2col:
        return f"{fields.pixels_per_column} pixels × {fields.channels_per_pixel} channels of {fields.element_type}"
    sizes = " × ".join(str(size) for size in reversed(fields.box[: fields.rank]))
    return f"{sizes} of {fields.element_type}"
