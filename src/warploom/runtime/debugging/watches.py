"""Watches of a debugger session: values whose changes stop a launch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from warploom.diagnostics import UsageError
from warploom.emulator.stops import Stops
from warploom.lazy_dataclass import dataclass
from warploom.observe.debug.memory import MemoryView, Thread
from warploom.observe.debug.registers import Registers
from warploom.runtime.debugging.breakpoints import Change
from warploom.runtime.debugging.execution import Execution
from warploom.runtime.debugging.focus import Executing, Focus, Moment, executing, warp_of
from warploom.runtime.debugging.locations import everywhere

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.emulator.emulator import Emulator

Values = dict[int, bytes | None]
"""Bytes of each watch by its number, or None if its CTA is not resident."""
WATCHED = ("global", "shared", "local", "tensor", "register")
"""Spaces of watches."""


@dataclass(slots=True, eq=False)
class Watch:
    """Stop after a change of a value.

    `number` identifies the watch, in common with breakpoints, and `where` names the value. `thread` is the thread to
    which its registers or its memory belong. `read(emulator, warp)` returns the bytes of the value for the index of a
    resident warp.
    """

    number: int
    where: str
    thread: Focus
    read: Callable[[Emulator, int], bytes]
    needs_flush: bool
    enabled: bool = True


def make_watch(number: int, space: str, where: int | str, size: int, thread: Focus, pc: int) -> Watch:
    """Return a watch of `size` bytes at an address, or of a register.

    `where` is an address in `space`, a lane and a column of tensor memory, or the name of a register that the
    instruction at `pc` may use.

    Errors: UsageError debug.watch for an unknown space or a wrong size.
    """
    if space not in WATCHED:
        raise UsageError(f"unknown space '{space}'; expected one of {', '.join(WATCHED)}", code="debug.watch")
    if size < 1 or isinstance(where, str) != (space == "register"):
        raise UsageError(f"cannot watch {size} bytes at {where!r} in the space {space}", code="debug.watch")

    def read(emulator: Emulator, warp: int) -> bytes:
        if isinstance(where, str):
            return Registers(emulator).read(where, pc, warp).bits[thread.lane].tobytes()
        view, inner = MemoryView(emulator), Thread(warp, thread.lane)
        if space == "tensor":
            return view.tensor(where, 1, -(-size // 4), "b32", inner).numbers.tobytes()
        return view.bytes(space, where, size, inner).tobytes()

    text = str(where) if isinstance(where, str) else f"{space} {where:#x} {size}"
    return Watch(number, text, thread, read, space in ("register", "tensor"))


class Watches:
    """Watches of a session. `enabled` are those that stop the launch."""

    def __init__(self, watches: Iterable[Watch]) -> None:
        self.enabled = [each for each in watches if each.enabled]
        self.changes: tuple[Change, ...] = ()  # of the last call of `locate`

    def values(self, emulator: Emulator) -> Values:
        """Return the present values."""
        if any(each.needs_flush for each in self.enabled):
            emulator.flush()
        found: Values = {}
        for each in self.enabled:
            warp = warp_of(emulator, each.thread)
            found[each.number] = None if warp is None else _read(each, emulator, warp)
        return found

    def locate(self, execution: Execution) -> Moment | None:
        """Continue in the present batch to the first moment at which a value differs from the present one.

        Set `changes`. Return the moment, or None if no value changes in the batch.
        """
        finder = _Finder(execution, self, self.values(execution.state))
        execution.state.batches_per_call = 1
        execution.run(finder)
        self.changes = finder.changes
        return execution.moment if finder.changes else None


def changed(old: Values, new: Values) -> list[int]:
    """Return the numbers of the watches whose values differ."""
    return [number for number, value in new.items() if None not in (value, old[number]) and value != old[number]]


def _read(watch: Watch, emulator: Emulator, warp: int) -> bytes | None:
    try:
        return watch.read(emulator, warp)
    except UsageError:
        return None  # columns that are not allocated


class _Finder(Stops):
    """Stop at the first change of a value in one batch."""

    def __init__(self, execution: Execution, watches: Watches, values: Values) -> None:
        self.pcs = everywhere(execution.state.program)
        self.changes: tuple[Change, ...] = ()
        self._execution, self._watches, self._values = execution, watches, values
        self._pc, self._lanes = -1, tuple[Executing, ...]()
        block = execution.state.interrupted
        self._completed = execution.state.asynchronous.completed
        if block is not None:
            self._pc = block.pc

    def reached(self, pc: int, batch: Batch) -> bool:
        if self._differs():
            return True
        emulator = self._execution.state
        self._pc = pc
        self._lanes = executing(emulator, batch.warp_index.tolist(), batch.active())
        self._completed = emulator.asynchronous.completed
        return False

    def between_blocks(self) -> bool:
        emulator = self._execution.state
        if emulator.schedule.kind != "eager" and emulator.asynchronous.completed != self._completed:
            self._pc, self._lanes = -1, ()  # an asynchronous operation may have written the value
        self._differs()
        return True

    def _differs(self) -> bool:
        new = self._watches.values(self._execution.state)
        self.changes = tuple(
            Change(number, self._values[number] or b"", new[number] or b"", self._pc, self._lanes)
            for number in changed(self._values, new)
        )
        return bool(self.changes)
