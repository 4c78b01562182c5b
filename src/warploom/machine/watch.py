"""What the machine tells a watcher: accesses, synchronisation and asynchronous operations, a batch at a time.

The machine knows this protocol alone. With no watcher nothing is called, and what happens is the same with
one: a watcher looks and never changes anything. Instructions that have no place in the machine's parts
(fences, groups, reads of registers) reach a watcher through `wrap`, which may put its own act before an
instruction's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from warploom.diag import Diagnostic

if TYPE_CHECKING:
    from warploom.machine.batch import Batch
    from warploom.machine.machine import Machine
    from warploom.machine.memory import Place

Array = NDArray[Any]
Act = Callable[[Any, Any], None]


class Watcher(Protocol):
    """Sees one run. Byte offsets are those of `Memory.shared`; a strand's batch has rows, an engine's has none."""

    def attach(self, machine: Machine) -> None:
        """The machine is made; its program is linked next."""
        ...

    def wrap(self, pc: int, act: Act, operands: Any) -> Act:
        """What runs in the place of an instruction's act; the act itself where nothing is to be seen."""
        ...

    def wrap_run(self, pc: int, together: Act) -> Act:
        """What runs in the place of the act of a run of instructions."""
        ...

    def start(self) -> None:
        """CTAs became resident: shared memory, barriers and registers are new."""
        ...

    def access(
        self, kind: str, place: Place, index: Array, lanes: Array, size: int, values: Array | None
    ) -> None:
        """Threads are about to load (no values) or to store.

        `kind` is "shared", "local" or "global"; `index` are byte offsets in that memory. Shapes: (warps, 32).
        """
        ...

    def cta_arrive(self, batch: Batch, keys: Array, waits: bool) -> None:
        """Warps arrive at CTA barriers, known by cta * 16 + number."""
        ...

    def cta_complete(self, keys: Array) -> None:
        """CTA barriers are complete."""
        ...

    def cluster_arrive(self, batch: Batch, clusters: Array) -> None:
        """Warps arrive at the barriers of their clusters."""
        ...

    def cluster_complete(self, cluster: int) -> None:
        """A cluster's barrier is complete."""
        ...

    def cluster_wait(self, batch: Batch, clusters: Array) -> None:
        """Warps wait, or will have waited, at the barriers of their clusters."""
        ...

    def mbarrier(
        self, batch: Batch, index: Array, lanes: Array, action: str, amounts: Array, transactions: Array
    ) -> None:
        """Lanes are about to act on mbarrier objects. Shapes: index and lanes (warps, 32)."""
        ...

    def phases(self, words: Array) -> None:
        """Phases of mbarrier objects are complete, once for each element: byte offset / 8."""
        ...

    def waits(self, batch: Batch, index: Array, lanes: Array) -> None:
        """Lanes are about to look at mbarriers."""
        ...

    def waited(self, batch: Batch, index: Array, lanes: Array, phase: Array, parity: bool) -> None:
        """Lanes found that a phase is complete."""
        ...

    def bulk(self, batch: Batch, request: Any) -> None:
        """Active lanes are about to issue bulk copies (isa.bulk)."""
        ...

    def left(self, warps: Array) -> None:
        """Warps have left the kernel."""
        ...

    def stopped(self, found: Sequence[Diagnostic]) -> None:
        """A trap or a deadlock ends the run."""
        ...

    def findings(self) -> tuple[Diagnostic, ...]:
        """What was found."""
        ...
