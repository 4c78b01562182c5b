"""What the machine tells a watcher: accesses, synchronisation and asynchronous operations, a batch at a time.

The machine knows this protocol alone. With no watcher nothing is called, and what happens is the same with
one: a watcher looks and never changes anything. Instructions that have no place in the machine's parts
(fences, groups, reads of registers) reach a watcher through `wrap`, which may put its own act before an
instruction's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

from warploom.diagnostics import Diagnostic

Batch = Any
Location = Any
Emulator = Any
Array = NDArray[Any]
Act = Callable[[Any, Any], None]


@dataclass(frozen=True, slots=True)
class Action:
    """What is done to bytes of memory; of a combination, by which operation on elements of which type."""

    kind: Literal["read", "write", "combine"]
    operation: str = ""
    type: str = ""


READ, WRITE = Action("read"), Action("write")


class Watcher:
    """Sees one run; what it does not override it does not see.

    Byte offsets are those of `Memory.shared`; a strand's batch has rows, an engine's has none.
    """

    accesses = True
    """Whether it is to see loads and stores, which cost the most to tell."""

    carried = False
    """Whether it is to see the bytes of the arena that bulk copies reach."""

    def attach(self, emulator: Emulator) -> None:
        """The machine is made; its program is linked next."""

    def wrap(self, pc: int, act: Act, operands: Any) -> Act:
        """What runs in the place of an instruction's act; the act itself where nothing is to be seen."""
        return act

    def wrap_run(self, pc: int, together: Act) -> Act:
        """What runs in the place of the act of a run of instructions."""
        return together

    def start(self) -> None:
        """CTAs became resident: shared memory, barriers and registers are new."""

    def block(self, batch: Batch) -> None:
        """Warps are about to execute a basic block."""

    def between(self) -> None:
        """The block is over; what happens until the next one is the engines' doing."""

    def suspended(self, batch: Batch, which: Array, state: int, again: bool) -> None:
        """Strands of the batch are about to wait (State.WAITING, GATHERING) or to go on later; `again` where they
        come back to the same instruction. Shapes: (warps,).
        """

    def access(
        self, kind: str, location: Location, index: Array, lanes: Array, size: int, values: Array | None
    ) -> None:
        """Threads are about to load (no values) or to store.

        `kind` is "shared", "local" or "global"; `index` are byte offsets in that memory. Shapes: (warps, 32).
        """

    def cta_arrive(self, batch: Batch, keys: Array, waits: bool) -> None:
        """Warps arrive at CTA barriers, known by cta * 16 + number."""

    def cta_complete(self, keys: Array) -> None:
        """CTA barriers are complete."""

    def cluster_arrive(self, batch: Batch, clusters: Array) -> None:
        """Warps arrive at the barriers of their clusters."""

    def cluster_complete(self, cluster: int) -> None:
        """A cluster's barrier is complete."""

    def cluster_wait(self, batch: Batch, clusters: Array) -> None:
        """Warps wait, or will have waited, at the barriers of their clusters."""

    def mbarrier(
        self, batch: Batch, index: Array, lanes: Array, action: str, amounts: Array, transactions: Array
    ) -> None:
        """Lanes are about to act on mbarrier objects. Shapes: index and lanes (warps, 32)."""

    def phases(self, words: Array) -> None:
        """Phases of mbarrier objects are complete, once for each element: byte offset / 8."""

    def waits(self, batch: Batch, index: Array, lanes: Array) -> None:
        """Lanes are about to look at mbarriers."""

    def waited(self, batch: Batch, index: Array, lanes: Array, phase: Array, parity: bool) -> None:
        """Lanes found that a phase is complete."""

    def bulk(self, batch: Batch, request: Any) -> None:
        """Active lanes are about to issue bulk copies (isa.bulk)."""

    def landing(self, numbers: Array) -> None:
        """Bulk copies are about to take effect: in the order of issue, the lanes of an instruction one by one,
        they have these numbers.
        """

    def carries(self, starts: Array, sizes: Array, action: Action) -> None:
        """Bulk copies are about to read, write or combine these bytes of the arena, whoever issued them.

        Shapes: (pieces,), byte offsets in the arena and sizes in bytes.
        """

    def deferred(self, batch: Batch, channel: str, number: int) -> None:
        """Lanes are about to issue an action on a channel of the engines (`Engines.defer`)."""

    def acting(self, number: int, warps: Array) -> None:
        """A deferred action is about to take effect, for some of the warps that issued it."""

    def group_wait(self, batch: Batch, channel: str, pending: int, read_only: bool) -> None:
        """Lanes are about to wait for all but the `pending` newest groups of a channel."""

    def left(self, warps: Array) -> None:
        """Warps have left the kernel."""

    def stopped(self, found: Sequence[Diagnostic]) -> bool:
        """A trap or a deadlock ends the run; True where that is a finding like others and nothing to raise."""
        return False

    def findings(self) -> tuple[Diagnostic, ...]:
        """What was found."""
        return ()


class Several(Watcher):
    """Watchers of one run, told everything one after the other."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self.watchers = tuple(watchers)
        self.accesses = any(each.accesses for each in watchers)
        self.carried = any(each.carried for each in watchers)

    def attach(self, emulator: Emulator) -> None:
        """Tell all."""
        for each in self.watchers:
            each.attach(emulator)

    def wrap(self, pc: int, act: Act, operands: Any) -> Act:
        """Tell all."""
        for each in self.watchers:
            act = each.wrap(pc, act, operands)
        return act

    def wrap_run(self, pc: int, together: Act) -> Act:
        """Tell all."""
        for each in self.watchers:
            together = each.wrap_run(pc, together)
        return together

    def start(self) -> None:
        """Tell all."""
        for each in self.watchers:
            each.start()

    def block(self, batch: Batch) -> None:
        """Tell all."""
        for each in self.watchers:
            each.block(batch)

    def between(self) -> None:
        """Tell all."""
        for each in self.watchers:
            each.between()

    def suspended(self, batch: Batch, which: Array, state: int, again: bool) -> None:
        """Tell all."""
        for each in self.watchers:
            each.suspended(batch, which, state, again)

    def access(
        self, kind: str, location: Location, index: Array, lanes: Array, size: int, values: Array | None
    ) -> None:
        """Tell all."""
        for each in self.watchers:
            if each.accesses:
                each.access(kind, location, index, lanes, size, values)

    def cta_arrive(self, batch: Batch, keys: Array, waits: bool) -> None:
        """Tell all."""
        for each in self.watchers:
            each.cta_arrive(batch, keys, waits)

    def cta_complete(self, keys: Array) -> None:
        """Tell all."""
        for each in self.watchers:
            each.cta_complete(keys)

    def cluster_arrive(self, batch: Batch, clusters: Array) -> None:
        """Tell all."""
        for each in self.watchers:
            each.cluster_arrive(batch, clusters)

    def cluster_complete(self, cluster: int) -> None:
        """Tell all."""
        for each in self.watchers:
            each.cluster_complete(cluster)

    def cluster_wait(self, batch: Batch, clusters: Array) -> None:
        """Tell all."""
        for each in self.watchers:
            each.cluster_wait(batch, clusters)

    def mbarrier(
        self, batch: Batch, index: Array, lanes: Array, action: str, amounts: Array, transactions: Array
    ) -> None:
        """Tell all."""
        for each in self.watchers:
            each.mbarrier(batch, index, lanes, action, amounts, transactions)

    def phases(self, words: Array) -> None:
        """Tell all."""
        for each in self.watchers:
            each.phases(words)

    def waits(self, batch: Batch, index: Array, lanes: Array) -> None:
        """Tell all."""
        for each in self.watchers:
            each.waits(batch, index, lanes)

    def waited(self, batch: Batch, index: Array, lanes: Array, phase: Array, parity: bool) -> None:
        """Tell all."""
        for each in self.watchers:
            each.waited(batch, index, lanes, phase, parity)

    def bulk(self, batch: Batch, request: Any) -> None:
        """Tell all."""
        for each in self.watchers:
            each.bulk(batch, request)

    def landing(self, numbers: Array) -> None:
        """Tell all."""
        for each in self.watchers:
            each.landing(numbers)

    def carries(self, starts: Array, sizes: Array, action: Action) -> None:
        """Tell all."""
        for each in self.watchers:
            if each.carried:
                each.carries(starts, sizes, action)

    def deferred(self, batch: Batch, channel: str, number: int) -> None:
        """Tell all."""
        for each in self.watchers:
            each.deferred(batch, channel, number)

    def acting(self, number: int, warps: Array) -> None:
        """Tell all."""
        for each in self.watchers:
            each.acting(number, warps)

    def group_wait(self, batch: Batch, channel: str, pending: int, read_only: bool) -> None:
        """Tell all."""
        for each in self.watchers:
            each.group_wait(batch, channel, pending, read_only)

    def left(self, warps: Array) -> None:
        """Tell all."""
        for each in self.watchers:
            each.left(warps)

    def stopped(self, found: Sequence[Diagnostic]) -> bool:
        """Tell all."""
        told = [each.stopped(found) for each in self.watchers]
        return any(told)

    def findings(self) -> tuple[Diagnostic, ...]:
        """Tell all."""
        return tuple(found for each in self.watchers for found in each.findings())
