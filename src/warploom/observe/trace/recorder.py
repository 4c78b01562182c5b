"""Recorder: an observer that records the events of some CTAs as a trace."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import SourceLine, UsageError
from warploom.emulator import events
from warploom.emulator.batch import Batch
from warploom.emulator.grid import Grid
from warploom.emulator.observers import Observer
from warploom.emulator.program import Program
from warploom.emulator.warp_splits import Status
from warploom.isa.model import effects
from warploom.observe.trace.chrome import Trace
from warploom.observe.trace.data import Cta, Kind
from warploom.observe.trace.mbarriers import Mbarriers
from warploom.observe.trace.operations import Operations
from warploom.observe.trace.recording import NOWHERE, Recording, Table
from warploom.observe.trace.spans import Spans

Array = NDArray[Any]
Rows = NDArray[np.intp]

EVENTS = 200_000
"""Number of events that a trace keeps by default."""

_BARRIERS = 16


class Recorder(Observer):
    """Observer that records the trace of one launch.

    `ctas` are the numbers of the CTAs to record, counted with x fastest. None selects the first cluster. `events`
    limits the number of events.

    Errors: UsageError launch.trace, at the launch, for a CTA that the grid does not have
    """

    recording: Recording
    spans: Spans
    mbarriers: Mbarriers
    operations: Operations

    def __init__(self, ctas: Sequence[int] | None = None, events: int = EVENTS) -> None:
        super().__init__()
        self.table = Table(events)
        self._requested = ctas
        self._ctas: tuple[Cta, ...] = ()
        self._block = 0

    # Beginning and end ------------------------------------------------------------------------------------

    def attach(self, launch: events.Launch) -> None:
        """Select the CTAs to record, and set the handlers of events."""
        self.launch = launch
        self.recording = Recording(launch, self.table)
        self._ctas = _chosen(launch.grid, self._requested)
        self.instructions = dict.fromkeys(launch.program.analysis(_find_multiplications), self._multiply)
        # These events matter only while CTAs are recorded.
        timed: dict[type[events.Event], Callable[[Any], None]] = {
            events.Suspend: self._suspend,
            events.Barrier: self._barrier,
            events.Allocate: self._allocate,
            events.PhaseComplete: self._phase_complete,
            events.PhaseWait: lambda event: self.mbarriers.test(event),  # noqa: PLW0108 - each wave of CTAs has its own
            events.Arrive: lambda event: self.mbarriers.act(event),  # noqa: PLW0108 - each wave of CTAs has its own
            events.Issue: self._issue,
            events.CopyIssue: lambda event: self.mbarriers.expect_copies(*self.operations.issue_copies(event)),
            events.TensorIssue: lambda event: self.operations.issue_tensor(event),  # noqa: PLW0108 - as above
            events.TensorTransferIssue: lambda event: self.operations.transfer(event),  # noqa: PLW0108 - as above
            events.TensorAllocate: lambda event: self.operations.allocate(event),  # noqa: PLW0108 - as above
            events.Complete: self._complete,
            events.Wait: self._wait,
        }
        self.handlers = {kind: self._timed(handler) for kind, handler in timed.items()} | {
            events.Resident: self._start,
            events.BlockStart: self._start_block,
            events.BlockEnd: self._end_block,
        }

    def _timed(self, handler: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return `handler` wrapped, so that it skips events without recorded CTAs."""
        recording = self.recording

        def handle(event: Any) -> None:
            recording.pc = event.pc
            if recording.any_recorded:
                handler(event)

        return handle

    def _start(self, event: events.Resident) -> None:
        self.table.close(self.recording.base)
        topology, numbers = self.launch.topology, _numbers(self.launch.grid.grid, event.placement.coordinates)
        chosen = {cta.number: k for k, cta in enumerate(self._ctas)}
        of_cta = np.full(topology.ctas, -1, np.int64)
        of_cta[: len(numbers)] = [chosen.get(number, -1) for number in numbers.tolist()]
        self.recording.start(event, of_cta)
        self.spans = Spans(self.recording)
        self.operations = Operations(self.recording, self.spans)
        self.mbarriers = Mbarriers(self.recording, self.spans, self.operations)
        self._at_barrier: dict[int, list[int]] = {}
        self._at_cluster: dict[int, list[int]] = {}
        self._arrived: dict[int, int] = {}  # last arrival at each CTA barrier
        self._arrived_at_cluster: dict[int, int] = {}
        self._completed: dict[int, int] = {}  # arrival that completed the last phase of a cluster barrier
        self._multiplications: dict[int, tuple[int, int]] = {}  # event and block of each CTA

    def trace(self) -> Trace:
        """Return the trace of all events so far. Open events end now."""
        self.table.close(self.recording.now() + 1)
        program = self.launch.program
        opcodes, lines, source_lines = program.analysis(_listing)
        return Trace(
            kernel=program.kernel.readable_name,
            schedule=str(self.launch.schedule),
            cluster_size=self.launch.topology.cluster_size,
            warps=self.launch.topology.warps_per_cta,
            ctas=self._ctas,
            opcodes=opcodes,
            lines=lines,
            source_lines=source_lines,
            events=self.table.events(),
            arrows=self.table.pairs(),
            uses=self.table.uses(),
            total=self.table.total,
        )

    # Blocks -----------------------------------------------------------------------------------------------

    def _start_block(self, event: events.BlockStart) -> None:
        recording = self.recording
        recording.pc = event.pc
        if not recording.any_recorded:
            return
        rows = event.batch.rows[recording.recorded[event.batch.warp_index]]
        if len(rows):
            recording.first = event.pc
            recording.in_block = True
            self._block += 1
            self.spans.begin(rows)

    def _end_block(self, event: events.BlockEnd) -> None:
        recording = self.recording
        recording.pc = event.pc
        if recording.in_block:
            recording.base = recording.now() + 1
            recording.in_block = False
            self.spans.end()

    def _positions(self, batch: Batch) -> Rows:
        return self.recording.recorded[batch.warp_index].nonzero()[0]

    def _suspend(self, event: events.Suspend) -> None:
        if event.status == Status.READY:
            return
        batch, spans = event.batch, self.spans
        positions = np.flatnonzero(event.suspended & self.recording.recorded[batch.warp_index])
        if not len(positions):
            return
        rows = batch.rows[positions]
        if event.status == Status.RECONVERGING:
            spans.hold(rows, spans.add_waits(Kind.WAIT_WARP, rows), until_resumed=True)
            return
        wait = self.launch.program.steps[event.pc].binding.form.effect(effects.Wait)
        free = spans.wait[rows] < 0
        if wait is not None and wait.on == "mbarrier" and free.any():
            self.mbarriers.wait(rows[free], positions[free])

    # Barriers ---------------------------------------------------------------------------------------------

    def _barrier(self, event: events.Barrier) -> None:
        positions = self._positions(event.batch)
        if not len(positions):
            return
        rows, keys, waits = event.batch.rows[positions], event.keys[positions], event.waits[positions]
        if event.level == "cta":
            self._arrive_at_cta(rows, keys, bool(waits.any()))
        elif event.arrives:
            ids = self.spans.mark(Kind.ARRIVE_CLUSTER, rows, phase=-1)
            self._arrived_at_cluster.update(zip(keys.tolist(), ids.tolist(), strict=True))
        else:
            self._wait_for_cluster(rows, keys, waits)

    def _arrive_at_cta(self, rows: Rows, keys: Array, waits: bool) -> None:
        number = keys % _BARRIERS
        if waits:
            ids = self.spans.add_waits(Kind.WAIT_BARRIER, rows, number=number, phase=-1)
            self.spans.hold(rows, ids)
            for key, row in zip(keys.tolist(), rows.tolist(), strict=True):
                self._at_barrier.setdefault(key, []).append(row)
        else:
            ids = self.spans.mark(Kind.ARRIVE_BARRIER, rows, number=number, phase=-1)
        self._arrived.update(zip(keys.tolist(), ids.tolist(), strict=True))

    def _wait_for_cluster(self, rows: Rows, clusters: Array, waits: Array) -> None:
        ids = self.spans.add_waits(Kind.WAIT_CLUSTER, rows, phase=-1)
        self.spans.hold(rows[waits], ids[waits])
        for cluster, row in zip(clusters[waits].tolist(), rows[waits].tolist(), strict=True):
            self._at_cluster.setdefault(cluster, []).append(row)
        for cluster, wait in zip(clusters[~waits].tolist(), ids[~waits].tolist(), strict=True):
            if (source := self._completed.get(cluster, NOWHERE)) != NOWHERE:
                self.table.arrow(source, wait)

    def _phase_complete(self, event: events.PhaseComplete) -> None:
        if event.level == "mbarrier":
            self.mbarriers.complete(event.keys)
        elif event.level == "cta":
            recorded = self.recording.cta_of_cta[event.keys // _BARRIERS] >= 0
            for key in event.keys[recorded].tolist():
                self._release(self._at_barrier.pop(key, []), self._arrived.pop(key, NOWHERE))
        else:
            for cluster in event.keys.tolist():
                last = self._arrived_at_cluster.pop(cluster, NOWHERE)
                is_now = self.table.rows["begin"][last] == self.recording.now()
                self._completed[cluster] = last if is_now else NOWHERE
                self._release(self._at_cluster.pop(cluster, []), last)

    def _release(self, rows: list[int], last: int) -> None:
        """End the waits of the warp splits `rows`, with arrows from the arrival `last`."""
        if not rows:
            return
        now, begins = self.recording.now(), self.table.rows["begin"]
        ids = self.spans.end_waits(np.array(rows, np.intp), now + 1)
        if last != NOWHERE and begins[last] == now:
            for wait in ids[(begins[ids] < now) & (ids != NOWHERE)].tolist():
                self.table.arrow(last, wait)

    def _allocate(self, event: events.Allocate) -> None:
        positions = np.flatnonzero(event.waits & self.recording.recorded[event.batch.warp_index])
        rows = event.batch.rows[positions]
        rows = rows[self.spans.wait[rows] < 0]
        if len(rows):
            ids = self.spans.add_waits(Kind.WAIT_REGISTERS, rows, number=event.count)
            self.spans.hold(rows, ids, until_resumed=True)

    # Asynchronous operations ------------------------------------------------------------------------------

    def _issue(self, event: events.Issue) -> None:
        positions = self._positions(event.batch)
        if len(positions):
            self.operations.issue(event, positions)

    def _complete(self, event: events.Complete) -> None:
        self.mbarriers.start_completion()
        self.operations.complete(event)

    def _wait(self, event: events.Wait) -> None:
        positions = self._positions(event.batch)
        if len(positions):
            self.operations.wait(event, positions)

    def _multiply(self, event: events.Execute) -> None:
        """Record synchronous multiplications: one event for each CTA and basic block."""
        recording = self.recording
        if event.pc != event.first or not recording.any_recorded:
            return  # the first instruction stands for all that execute together
        recording.pc = event.pc
        positions = self._positions(event.batch)
        if not len(positions):
            return
        warps, now, pc = event.batch.warp_index[positions], recording.now(), event.pc
        counts: dict[int, list[int]] = {}  # first position and number of the warps of each CTA
        for at, cta in enumerate(recording.cta_of_warp[warps].tolist()):
            counts.setdefault(cta, [at, 0])[1] += 1
        for cta, (at, count) in sorted(counts.items()):
            found, block = self._multiplications.get(cta, (NOWHERE, -1))
            if block != self._block:
                added = self.table.add(
                    Kind.MULTIPLICATION, 1, cta=cta, warp=int(self.launch.topology.warp_in_cta[warps[at]]), begin=now,
                    step=pc, number=-1, phase=-1,
                )  # fmt: skip
                found = int(added[0])
                self._multiplications[cta] = found, self._block
            rows = self.table.rows
            rows["end"][found] = now + 1
            rows["last"][found] = pc
            rows["count"][found] += count * event.length


def _listing(program: Program) -> tuple[tuple[str, ...], tuple[int, ...], tuple[SourceLine | None, ...]]:
    """Return the opcode, the line and the source line of each instruction."""
    every = range(len(program.steps))
    opcodes = tuple(step.instruction.opcode for step in program.steps)
    return opcodes, tuple(map(program.line_of, every)), tuple(map(program.source_line, every))


def _find_multiplications(program: Program) -> list[int]:
    """Return the program counters of the synchronous multiplications."""
    forms = [step.binding.form for step in program.steps]
    return [pc for pc, form in enumerate(forms) if form.multiplies and not form.is_asynchronous]


def _chosen(grid: Grid, requested: Sequence[int] | None) -> tuple[Cta, ...]:
    """Return the requested CTAs, or the first cluster's, in launch order. Errors: UsageError launch.trace."""
    for number in requested or ():
        if not 0 <= number < grid.ctas:
            message = f"trace: there is no CTA {number}; expected 0 to {grid.ctas - 1}"
            raise UsageError(message, code="launch.trace")
    if requested is None:
        coordinates = grid.clusters([0]).reshape(-1, 3)
    else:
        coordinates = np.stack(np.unravel_index(sorted(set(requested)), grid.grid[::-1])[::-1], axis=1)
    numbers = _numbers(grid.grid, coordinates)
    counts = tuple(extent // size for extent, size in zip(grid.grid, grid.cluster, strict=True))
    clusters = _numbers(counts, coordinates // grid.cluster)
    ranks = _numbers(grid.cluster, coordinates % grid.cluster)
    return tuple(
        Cta(int(numbers[k]), tuple(coordinates[k].tolist()), int(clusters[k]), int(ranks[k]))
        for k in np.lexsort((ranks, clusters)).tolist()
    )


def _numbers(extents: tuple[int, ...], coordinates: Array) -> Array:
    """Return the numbers of points in a box, counted with x fastest. Shapes: coordinates (points, 3)."""
    x, y, z = coordinates.T
    return x + extents[0] * (y + extents[1] * z)
