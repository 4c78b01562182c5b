"""The recorder: watches a run of the machine and notes what happens when, in some of its CTAs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.emulator.strands import State
from warploom.emulator.watch import Watcher
from warploom.observe.trace.data import Cta, Kind, Trace
from warploom.observe.trace.flights import Flights
from warploom.observe.trace.objects import Objects
from warploom.observe.trace.spans import Spans
from warploom.observe.trace.table import NOWHERE, Table

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.emulator.emulator import Grid, Machine

Array = NDArray[Any]
Act = Callable[[Any, Any], None]
Rows = NDArray[np.intp]

EVENTS = 200_000
"""Events that a trace keeps unless told otherwise."""

_BARRIERS = 16


class Recorder(Watcher):
    """A watcher (machine.watch) for one launch.

    It notes what happens in the CTAs with these numbers, x running fastest; by default in those of the first
    cluster. Its clock counts the steps in which they have a part: instructions, each done for all warps that
    stand at it, and what the engines do for them in between.

    Errors: UsageError launch.trace for a CTA that the grid does not have, once it is launched.
    """

    accesses = False
    machine: Machine
    spans: Spans
    objects: Objects
    flights: Flights
    of_cta: Array
    of_warp: Array
    watched: NDArray[np.bool_]

    def __init__(self, ctas: Sequence[int] | None = None, events: int = EVENTS) -> None:
        self.table = Table(events)
        self.together = 1  # instructions that the machine does as one
        self.base = 0  # the step at which the block began, and between blocks the next one
        self._wanted = ctas
        self._ctas: tuple[Cta, ...] = ()
        self._first = 0
        self._inside = False
        self._any = False
        self._block = 0

    # Beginning and end ------------------------------------------------------------------------------------

    def attach(self, machine: Machine) -> None:
        """The machine is made."""
        self.machine = machine
        self._ctas = _chosen(machine.grid, self._wanted)

    def wrap(self, pc: int, act: Act, operands: Any) -> Act:
        """See what warps multiply."""
        form = self.machine.program.steps[pc].binding.form
        if not form.multiplies or form.is_asynchronous:
            return act

        def both(batch: Batch, operands: Any) -> None:
            self._multiply(batch)
            act(batch, operands)

        return both

    def wrap_run(self, pc: int, together: Act) -> Act:
        """See how many instructions are done as one."""

        def counted(batch: Batch, run: Any) -> None:
            self.together = len(run)
            together(batch, run)
            self.together = 1

        return counted

    def start(self) -> None:
        """CTAs became resident."""
        self.table.close(self.base)
        machine = self.machine
        x, y, z = machine.coordinates.T
        numbers = x + machine.grid.grid[0] * (y + machine.grid.grid[1] * z)
        wanted = {cta.number: k for k, cta in enumerate(self._ctas)}
        self.of_cta = np.full(machine.ctas, -1, np.int64)
        self.of_cta[: len(numbers)] = [wanted.get(number, -1) for number in numbers.tolist()]
        self.of_warp = self.of_cta[machine.cta_of]
        self.watched = self.of_warp >= 0
        self._any = bool(self.watched.any())
        self.spans = Spans(self)
        self.objects = Objects(self)
        self.flights = Flights(self)
        self._at_barrier: dict[int, list[int]] = {}
        self._at_cluster: dict[int, list[int]] = {}
        self._arrived: dict[int, int] = {}
        self._arrived_in_cluster: dict[int, int] = {}
        self._completed: dict[int, int] = {}  # what completed the last phase of a cluster's barrier
        self._products: dict[int, tuple[int, int]] = {}  # of each CTA: event and block

    def trace(self) -> Trace:
        """What was noted until now."""
        self.table.close(self.now() + 1)
        machine, table = self.machine, self.table
        program, schedule = machine.program, machine.schedule
        return Trace(
            kernel=program.kernel.name,
            schedule=f"random:{schedule.seed}" if schedule.kind == "random" else schedule.kind,
            cluster_size=machine.cluster_size,
            warps=machine.warps_per_cta,
            ctas=self._ctas,
            opcodes=tuple(step.instruction.opcode for step in program.steps),
            lines=tuple(program.line_of(pc) for pc in range(len(program.steps))),
            events=table.events(),
            arrows=table.pairs(),
            total=table.total,
        )

    # Time -------------------------------------------------------------------------------------------------

    def now(self) -> int:
        """The step that is being done, or the last one that was."""
        return self.base + self.machine.pc - self._first if self._inside else max(self.base - 1, 0)

    def block(self, batch: Batch) -> None:
        """Warps are about to execute a basic block."""
        if not self._any:
            return
        rows = batch.rows[self.watched[batch.warp_index]]
        if len(rows):
            self._first = self.machine.pc
            self._inside = True
            self._block += 1
            self.spans.begin(rows)

    def between(self) -> None:
        """The block is over."""
        if self._inside:
            self.base = self.now() + 1
            self._inside = False
            self.spans.end()

    def tick(self) -> None:
        """What engines do between blocks takes a step of its own."""
        if not self._inside:
            self.base += 1

    def _positions(self, batch: Batch) -> Rows:
        """Those strands of a batch that are watched."""
        if not self._any or not len(batch.rows):
            return np.zeros(0, np.intp)
        return np.flatnonzero(self.watched[batch.warp_index])

    def suspended(self, batch: Batch, which: Array, state: int, again: bool) -> None:
        """Strands are about to wait."""
        if self._any and state != State.READY:
            positions = np.flatnonzero(which & self.watched[batch.warp_index])
            if len(positions):
                self.spans.suspended(batch, positions, state)

    # Barriers ---------------------------------------------------------------------------------------------

    def cta_arrive(self, batch: Batch, keys: Array, waits: bool) -> None:
        """Warps arrive at CTA barriers."""
        positions = self._positions(batch)
        if not len(positions):
            return
        rows, keys = batch.rows[positions], keys[positions]
        if waits:
            ids = self.spans.add_waits(Kind.WAIT_BARRIER, rows, number=keys % _BARRIERS, phase=-1)
            self.spans.hold(rows, ids)
            for key, row in zip(keys.tolist(), rows.tolist(), strict=True):
                self._at_barrier.setdefault(key, []).append(row)
        else:
            ids = self.spans.mark(Kind.ARRIVE_BARRIER, rows, number=keys % _BARRIERS, phase=-1)
        self._arrived.update(zip(keys.tolist(), ids.tolist(), strict=True))

    def cta_complete(self, keys: Array) -> None:
        """CTA barriers are complete."""
        for key in keys[self.of_cta[keys // _BARRIERS] >= 0].tolist():
            self._let_go(self._at_barrier.pop(key, []), self._arrived.pop(key, NOWHERE))

    def _let_go(self, rows: list[int], last: int) -> None:
        """Strands wait no longer, and an arrival is why, if it is of now."""
        if not rows:
            return
        now, begins = self.now(), self.table.rows["begin"]
        ids = self.spans.end_waits(np.array(rows, np.intp), now + 1)
        if last != NOWHERE and begins[last] == now:
            for wait in ids[(begins[ids] < now) & (ids != NOWHERE)].tolist():
                self.table.arrow(last, wait)

    def cluster_arrive(self, batch: Batch, clusters: Array) -> None:
        """Warps arrive at the barriers of their clusters."""
        positions = self._positions(batch)
        if len(positions):
            ids = self.spans.mark(Kind.ARRIVE_CLUSTER, batch.rows[positions], phase=-1)
            self._arrived_in_cluster.update(zip(clusters[positions].tolist(), ids.tolist(), strict=True))

    def cluster_complete(self, cluster: int) -> None:
        """A cluster's barrier is complete."""
        last = self._arrived_in_cluster.pop(cluster, NOWHERE)
        self._completed[cluster] = last if self.table.rows["begin"][last] == self.now() else NOWHERE
        self._let_go(self._at_cluster.pop(cluster, []), last)

    def cluster_wait(self, batch: Batch, clusters: Array) -> None:
        """Warps wait, or will have waited, at the barriers of their clusters."""
        positions = self._positions(batch)
        if not len(positions):
            return
        rows, clusters = batch.rows[positions], clusters[positions]
        waits = self.machine.barriers.cluster_waits(batch, batch.place.cta // self.machine.cluster_size)
        waits = waits[positions]
        ids = self.spans.add_waits(Kind.WAIT_CLUSTER, rows, phase=-1)
        self.spans.hold(rows[waits], ids[waits])
        for cluster, row in zip(clusters[waits].tolist(), rows[waits].tolist(), strict=True):
            self._at_cluster.setdefault(cluster, []).append(row)
        for cluster, wait in zip(clusters[~waits].tolist(), ids[~waits].tolist(), strict=True):
            if (source := self._completed.get(cluster, NOWHERE)) != NOWHERE:
                self.table.arrow(source, wait)

    # mbarriers --------------------------------------------------------------------------------------------

    def mbarrier(
        self, batch: Batch, index: Array, lanes: Array, action: str, amounts: Array, transactions: Array
    ) -> None:
        """Lanes act on mbarriers."""
        if self._any:
            self.objects.act(batch, index, lanes, action, amounts, transactions)

    def phases(self, words: Array) -> None:
        """Phases are complete."""
        if self._any:
            self.objects.phases(words)

    def waits(self, batch: Batch, index: Array, lanes: Array) -> None:
        """Lanes look at mbarriers."""
        self.objects.look(index, lanes)

    def waited(self, batch: Batch, index: Array, lanes: Array, phase: Array, parity: bool) -> None:
        """Lanes found that a phase is complete."""
        if self._any:
            self.objects.waited(batch, index, lanes)

    # Engines ----------------------------------------------------------------------------------------------

    def bulk(self, batch: Batch, request: Any) -> None:
        """Lanes issue bulk copies."""
        if self._any:
            self.flights.bulk(batch, request)

    def landing(self, numbers: Array) -> None:
        """Bulk copies take effect."""
        if self._any:
            self.objects.landing()
            self.flights.landing(numbers)

    def deferred(self, batch: Batch, channel: str, number: int) -> None:
        """Lanes issue an action."""
        positions = self._positions(batch)
        if len(positions):
            self.flights.deferred(batch, positions, channel, number)

    def acting(self, number: int, warps: Array) -> None:
        """A deferred action takes effect."""
        if self._any:
            self.objects.landing()
            self.flights.acting(number, warps)

    def group_wait(self, batch: Batch, channel: str, pending: int, read_only: bool) -> None:
        """Lanes wait for groups."""
        positions = self._positions(batch)
        if len(positions):
            self.flights.group_wait(batch, positions, channel, pending, read_only)

    def _multiply(self, batch: Batch) -> None:
        """Warps multiply: those of a CTA are one event for each basic block."""
        positions = self._positions(batch)
        if not len(positions):
            return
        warps, now, pc = batch.warp_index[positions], self.now(), self.machine.pc
        ctas, first, counts = np.unique(self.of_warp[warps], return_index=True, return_counts=True)
        events = self.table.rows
        for cta, at, count in zip(ctas.tolist(), first.tolist(), counts.tolist(), strict=True):
            event, block = self._products.get(cta, (NOWHERE, -1))
            if block != self._block:
                added = self.table.add(
                    Kind.PRODUCT, 1, cta=cta, warp=int(self.machine.in_cta[warps[at]]), begin=now, step=pc,
                    number=-1, phase=-1,
                )  # fmt: skip
                event = int(added[0])
                self._products[cta] = event, self._block
                events = self.table.rows
            events["end"][event] = now + 1
            events["last"][event] = pc
            events["count"][event] += count * self.together


def _chosen(grid: Grid, wanted: Sequence[int] | None) -> tuple[Cta, ...]:
    """The CTAs that are watched, in order of launch. Errors: UsageError launch.trace."""
    if wanted is None:
        return tuple(_cta(grid, _split(rank, grid.cluster)) for rank in range(grid.cluster_size))
    for number in wanted:
        if not 0 <= number < grid.ctas:
            message = f"trace: there is no CTA {number}; the grid has {grid.ctas}, from 0 on"
            raise UsageError(message, code="launch.trace")
    found = [_cta(grid, _split(number, grid.grid)) for number in sorted(set(wanted))]
    return tuple(sorted(found, key=lambda cta: (cta.cluster, cta.rank)))


def _split(number: int, extents: tuple[int, int, int]) -> tuple[int, int, int]:
    x, y, _ = extents
    return number % x, number // x % y, number // (x * y)


def _cta(grid: Grid, at: tuple[int, int, int]) -> Cta:
    counts = [extent // size for extent, size in zip(grid.grid, grid.cluster, strict=True)]
    x, y, z = (place // size for place, size in zip(at, grid.cluster, strict=True))
    i, j, k = (place % size for place, size in zip(at, grid.cluster, strict=True))
    return Cta(
        number=at[0] + grid.grid[0] * (at[1] + grid.grid[1] * at[2]),
        coordinates=at,
        cluster=x + counts[0] * (y + counts[1] * z),
        rank=i + grid.cluster[0] * (j + grid.cluster[1] * k),
    )
