"""Detection of endless loops by a repeated state of the resident warps.

Suppose that all warps that can run return to an earlier state (program counters, registers and local memory), and that
shared and global memory do not change in between. Each warp then repeats its loop forever under any schedule. If shared
or global memory changes in between and returns to its earlier contents, the loop is endless under a deterministic
schedule.

Brent's algorithm finds the repetition: the search compares later states with a snapshot, and replaces the snapshot
after intervals whose length doubles. The first snapshot contains registers and program counters. After a match, the
search takes a snapshot that also contains local memory, and records one period: what the loop reads, and whether it
changes memory. If it does, the next snapshot also contains shared and global memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.bounded_waits import leads_to
from warploom.emulator.events import Access
from warploom.emulator.link import Linked
from warploom.emulator.native.watch import NOTHING, SPACING, Watch, compared
from warploom.emulator.program import Program
from warploom.emulator.state import State
from warploom.emulator.values import Dynamic
from warploom.emulator.warps import Components
from warploom.isa.model import effects
from warploom.isa.model.form import Form
from warploom.isa.model.semantics import Array
from warploom.lazy_dataclass import dataclass

Rows = NDArray[np.intp]

FIRST = 256  # batches before the first snapshot
PAUSE = 4  # under a random schedule, ratio of the batches that are not recorded to those that are
MOST_MEMORY = 1 << 28  # bytes of memory that a snapshot may contain
_NO_EXIT = 1 << 12  # batches after which warps in loops without an exit are endless
_RECORDED = 256  # batches recorded of a loop without an exit


@dataclass(frozen=True, slots=True)
class _Snapshot:
    batch: int
    pc: int  # program counter of the batch
    files: dict[int, Array]
    carry: Array
    stacks: Array
    splits: object
    local: Array | None  # None unless the snapshot starts a recording
    memory: tuple[Array, ...]  # empty unless memory is compared
    components: object
    epochs: Array


class Repetition:
    """Search for a repeated state in one wave of CTAs.

    The emulator counts the batches that it executes in `Counters.batches`. Call `repeats` before each batch from number
    `due` on. `deterministic` is False under random schedules. The scheduler must choose deterministically while
    `recording` is set.
    """

    STATE = (
        "recording", "is_quiet", "without_exit", "blocks", "accesses", "due", "_span", "_began", "_snapshot",
        "_limit", "_sample", "_compared", "_changed", "_is_loud", "_completed", "_allocated", "_written",
    )  # fmt: skip

    def __init__(
        self, state: State, program: Program, linked: Sequence[Linked], components: Components, deterministic: bool
    ) -> None:
        self.state = state
        self.program = program
        self.linked = linked
        self.components = components
        self.deterministic = deterministic
        self.recording = False
        self.restart()

    def restart(self) -> None:
        """Start the search again, because something other than an instruction changed the state."""
        self._stop()
        self._span = FIRST
        self._began = self.state.counters.batches
        self._snapshot: _Snapshot | None = None
        self._limit = 0
        self.due = self._began + FIRST

    # Search -----------------------------------------------------------------------------------------------

    @property
    def watch(self) -> Watch:
        """Batches before which `repeats` must be called."""
        snapshot = self._snapshot
        if snapshot is None or self.recording:
            return Watch(self.due, -1, self.due, NOTHING)
        return Watch(self.due, snapshot.pc, self._limit, self._compared)

    def repeats(self, rows: Rows) -> bool:
        """Return True if all warps that can run are in endless loops. `rows` is the next batch."""
        batch, snapshot = self.state.counters.batches, self._snapshot
        if snapshot is None or batch >= self._limit:
            if self.without_exit and self._has_no_exit():
                return True
            if snapshot is not None:
                self._span *= 2
            if snapshot is None or self.deterministic:
                self._begin_interval(rows)
            else:
                self._pause(PAUSE * self._span)  # recording is slow
            return False
        if self.recording and not (self.deterministic or self.without_exit) and self._is_changed():
            self._span *= 2
            self._pause(self._span)
            return False
        if int(self.state.splits.pc[rows[0]]) == snapshot.pc and batch > snapshot.batch:
            self.due = batch + SPACING
            if self._equals(snapshot):
                return self._match(rows, snapshot)
        if self.recording:
            self._record(rows)
        return False

    def _pause(self, batches: int) -> None:
        self._stop()
        self._snapshot, self.due = None, self.state.counters.batches + batches

    def _match(self, rows: Rows, snapshot: _Snapshot) -> bool:
        """Return True if the repetition of the state since a snapshot makes the loops endless."""
        limit = 2 * self.state.counters.batches - snapshot.batch + 1
        if not self.recording:
            self._begin(rows, recording=True, limit=limit)
            return False
        if any(_reads_clock(self.linked[pc]) for pc in self._executed()) or not self._ready() <= set[int]().union(
            *self.blocks.values()
        ):
            self._record(rows)
            return False
        self.is_quiet = not self._is_changed()
        if self.is_quiet or snapshot.memory:
            return True
        if self.deterministic and not self.without_exit and self._memory_size() <= MOST_MEMORY:
            self._begin(rows, recording=True, with_memory=True, limit=limit)
        else:
            self._record(rows)
        return False

    def _begin_interval(self, rows: Rows) -> None:
        batch = self.state.counters.batches
        if batch - self._began >= _NO_EXIT and self._has_no_exit():
            self._begin(rows, recording=True, limit=batch + _RECORDED)
            self.without_exit = True
        else:
            self._begin(rows, recording=not self.deterministic)

    def _begin(self, rows: Rows, recording: bool, with_memory: bool = False, limit: int = 0) -> None:
        """Take a snapshot before the batch `rows`, for comparisons up to the batch `limit`."""
        self._stop()
        state, components = self.state, self.components
        components.accumulators.flush()
        splits, batch = state.splits, state.counters.batches
        self._snapshot = _Snapshot(
            batch,
            int(splits.pc[rows[0]]),
            {width: file.copy() for width, file in state.files.items()},
            state.carry.copy(),
            components.control.stacks.pointers.copy(),
            splits.snapshot(),
            components.memory.local.copy() if recording else None,
            tuple(array.copy() for array in self._memory()) if with_memory else (),
            self._components() if with_memory else None,
            splits.epoch.copy(),
        )
        self._limit = limit or batch + self._span
        self._choose_sample(int(splits.warp[rows[0]]))
        self.due = batch + (1 if recording else SPACING)
        if recording:
            self.recording = True
            self._completed, self._allocated = components.asynchronous.completed, self._heap_changes()
            self.components.memory.watch(self._on_access)
            self._record(rows)

    def _choose_sample(self, warp: int) -> None:
        """Choose the warp whose registers are compared first."""
        assert self._snapshot is not None
        self._sample = warp
        self._compared = compared(
            ((file, self._snapshot.files[width]) for width, file in self.state.files.items()), warp
        )

    def _stop(self) -> None:
        """Stop recording, and forget what has been recorded."""
        if self.recording:
            self.components.memory.watch(None)
        self.recording = False
        self.is_quiet = False
        self.without_exit = False
        self.blocks: dict[int, set[int]] = {}  # program counter of a block -> slots that executed the block
        self.accesses: dict[tuple[int, int], Access] = {}  # last read at a program counter by a batch, by first warp
        self._changed = False
        self._is_loud = False  # True if a recorded instruction may change the state of other warps
        self._completed = self._allocated = 0
        self._written: list[tuple[Array, Array, Array]] = []  # arrays, byte indices and old bytes

    # Comparison -------------------------------------------------------------------------------------------

    def _equals(self, snapshot: _Snapshot) -> bool:
        state = self.state
        pairs = [(file, snapshot.files[width]) for width, file in state.files.items() if file.size]
        if any((file[:, self._sample] != saved[:, self._sample]).any() for file, saved in pairs):
            return False
        self.components.accumulators.flush()
        for file, saved in pairs:
            differs = (file != saved).any(axis=(0, 2))
            if differs.any():
                self._choose_sample(int(differs.argmax()))
                return False
        if not np.array_equal(state.carry, snapshot.carry) or state.splits.snapshot() != snapshot.splits:
            return False
        if not np.array_equal(self.components.control.stacks.pointers, snapshot.stacks):
            return False
        # Local memory belongs to one thread, like registers.
        if snapshot.local is not None and not np.array_equal(self.components.memory.local, snapshot.local):
            return False
        return not snapshot.memory or self._equals_memory(snapshot)

    def _equals_memory(self, snapshot: _Snapshot) -> bool:
        if not all(map(np.array_equal, self._memory(), snapshot.memory)):
            return False
        # The next batch depends on the differences between epochs.
        slots = sorted(set[int]().union(*self.blocks.values()))
        epochs = self.state.splits.epoch
        if slots and slots[-1] >= len(snapshot.epochs):
            return False
        advance = epochs[slots] - snapshot.epochs[slots]
        is_same = self._components() == snapshot.components and bool((advance == advance[0]).all())
        return is_same and self.components.asynchronous.is_idle

    def _memory(self) -> tuple[Array, ...]:
        memory, tensor = self.components.memory, self.components.tensor
        return memory.shared.bytes, memory.arena.bytes, tensor.storage.contents

    def _memory_size(self) -> int:
        return sum(array.nbytes for array in self._memory())

    def _components(self) -> object:
        each = self.components
        return (
            each.barriers.snapshot(), each.mbarriers.snapshot(), each.pools.snapshot(),
            each.tensor.allocator.snapshot(), self._heap_changes(),
        )  # fmt: skip

    def _heap_changes(self) -> int:
        heap = self.components.memory.arena.heap
        return 0 if heap is None else heap.changes

    # Recording --------------------------------------------------------------------------------------------

    def _ready(self) -> set[int]:
        return set(self.state.splits.ready().tolist())

    def _record(self, rows: Rows) -> None:
        self.due = self.state.counters.batches
        pc = int(self.state.splits.pc[rows[0]])
        if pc not in self.blocks:
            self.blocks[pc] = set()
            steps = self.program.steps[pc : self.program.block_end[pc]]
            self._is_loud |= not all(_is_quiet(step.binding.form) for step in steps)
        self.blocks[pc].update(rows.tolist())

    def _executed(self) -> set[int]:
        return {pc for first in self.blocks for pc in range(first, self.program.block_end[first])}

    def _on_access(self, event: Access) -> None:
        self.compare_written()
        if event.kind != "write" and event.space != "local":
            self.accesses[event.pc, int(event.location.warp[0])] = event
        if event.kind != "read" and event.space != "local":
            array = self.components.memory.array_of(event.space)
            index = event.index[event.lanes][:, None] + np.arange(event.size)
            self._written.append((array, index, array[index]))

    def compare_written(self) -> None:
        """Find out if the recorded writes up to now have changed memory."""
        self._changed = self._changed or any((array[index] != old).any() for array, index, old in self._written)
        self._written.clear()

    def _is_changed(self) -> bool:
        """Return True if the recorded batches changed memory or the state of other warps."""
        self.compare_written()
        completed = self.components.asynchronous.completed != self._completed
        return self._changed or completed or self._is_loud or self._heap_changes() != self._allocated

    # Loops without an exit --------------------------------------------------------------------------------

    def _has_no_exit(self) -> bool:
        escapes = self.program.analysis(_escaping)  # a run without long loops never needs this analysis
        return not escapes[self.state.splits.pc[sorted(self._ready())]].any()


def _escaping(program: Program) -> NDArray[np.bool_]:
    """Return a mask of the instructions after which a thread may exit or leave its function."""
    forms = [step.binding.form for step in program.steps]
    return leads_to(program, [pc for pc, form in enumerate(forms) if form.ends_thread or form.control == "call"])


def _reads_clock(each: Linked) -> bool:
    values: list[Any] = list(vars(each.operands).values())
    return any(isinstance(part, Dynamic) for value in values for part in (value, *getattr(value, "items", ())))


def _is_quiet(form: Form) -> bool:
    """Return True if an instruction changes nothing but its own warp and the bytes of its event `Access`."""
    for effect in form.effects:
        match effect:
            case effects.Barrier(level="warp") | effects.Wait(on="mbarrier"):
                pass
            case effects.Access(proxy="generic"):
                pass
            case effects.Flow() | effects.Control() | effects.Members() | effects.Fence():
                pass
            case effects.Collective(level="warp") | effects.Multiply():
                pass
            case _:
                return False
    return not form.is_asynchronous
