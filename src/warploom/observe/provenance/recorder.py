"""Observer that records the executions, accesses and copies of some CTAs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.events import (
    Access,
    Complete,
    CopyIssue,
    CopyWrite,
    Execute,
    Issue,
    Launch,
    PhaseWait,
    Resident,
    ThreadCopyIssue,
    Wait,
)
from warploom.emulator.grid import Placement
from warploom.emulator.observers import Observer
from warploom.isa.model.multiplication import Multiplication
from warploom.lazy_dataclass import dataclass
from warploom.observe.provenance.trace import Copied, Execution, ExecutionTrace, Reached, Waited

Array = NDArray[Any]

_STEP = 1 << 12  # of the time; multiplications that take effect together have times in between


@dataclass(slots=True, eq=False)
class _Capture:
    """Operand whose values are recorded: its name, its value, and its method that reads the values."""

    name: str
    value: Any
    is_vector: bool


class ProvenanceRecorder(Observer):
    """Observer that records what the CTAs with the numbers `ctas` execute.

    Numbers count the CTAs of the grid with x fastest.

    `trace` returns the record after the run.
    """

    launch: Launch

    def __init__(self, ctas: Collection[int]) -> None:
        super().__init__()
        self._ctas = np.array(sorted(ctas), np.int64)
        self._time = 0
        self._executions: list[Execution] = []
        self._copies: list[Copied] = []
        self._waits: list[Waited] = []

    def attach(self, launch: Launch) -> None:
        """Prepare for a launch, and select the events to observe."""
        self.launch = launch
        self._last: dict[int, Execution] = {}
        self._run: list[Execution] = []
        self._pending: dict[tuple[str, int], list[Execution]] = {}
        self._copy_issues: dict[int, tuple[tuple[int, int, int], int]] = {}
        self._issued: dict[tuple[int, int, int], int] = {}  # of the copies that take effect
        captures = [self._captures(pc) for pc in range(len(launch.instructions))]
        self.handlers = {
            Resident: self._resident, Access: self._access, Issue: self._issue, Complete: self._complete,
            ThreadCopyIssue: self._thread_copy, CopyIssue: self._copy_issue, CopyWrite: self._copy_write,
            Wait: self._wait, PhaseWait: self._phase_wait,
        }  # fmt: skip
        self.instructions = {
            pc: lambda event, each=each: self._execute(event, each) for pc, each in enumerate(captures)
        }

    def trace(self) -> ExecutionTrace:
        """Return the record of the run."""
        return ExecutionTrace(self.launch, self._ctas, self._executions, self._copies, self._waits)

    def _captures(self, pc: int) -> list[_Capture]:
        operands = self.launch.instructions[pc].operands
        product: Multiplication | None = getattr(operands, "multiplication", None)
        if product is not None:
            found = [_Capture(matrix.name, matrix.descriptor, False) for matrix in product.shared]
            return found if product.keeps is None else [*found, _Capture("keeps", product.keeps, False)]
        captures: list[_Capture] = []
        for name, spec in self.launch.program.steps[pc].binding.form.operands.items():
            value = getattr(operands, name)
            if spec.access not in ("read", "both") or spec.kind not in ("register", "predicate", "any"):
                continue
            if hasattr(value, "fetch_all"):
                captures.append(_Capture(name, value, True))
            elif hasattr(value, "fetch"):
                captures.append(_Capture(name, value, False))
        return captures

    # Events -----------------------------------------------------------------------------------------------

    def _resident(self, event: Resident) -> None:
        placement: Placement = event.placement
        topology, (width, height, _) = placement.topology, self.launch.grid.grid
        x, y, z = placement.coordinates.T
        present = (z * height + y) * width + x
        numbers = np.full(topology.ctas, -1, np.int64)
        numbers[: len(present)] = np.where(np.isin(present, self._ctas), present, -1)
        of_warps = numbers[topology.cta_of]
        self._warps = np.where(of_warps < 0, -1, of_warps * topology.warps_per_cta + topology.warp_in_cta)
        self._numbers, self._stride = numbers, event.shared.stride

    def _tick(self) -> int:
        self._time += _STEP
        return self._time

    def _execute(self, event: Execute, captures: list[_Capture]) -> None:
        batch = event.batch
        warps = self._warps[batch.warp_index]
        chosen = np.flatnonzero(warps >= 0)
        if event.pc == event.first:
            self._run = []
        if not len(chosen):
            return
        values: dict[str, Array] = {}
        for each in captures:
            array = each.value.fetch_all(batch) if each.is_vector else each.value.fetch(batch)[None]
            part = array[:, chosen] if array.shape[1] > 1 or batch.count == 1 else np.repeat(array, len(chosen), axis=1)
            values[each.name] = part.copy()
        time = self._tick()
        found = Execution(
            event.pc, time, np.full(len(chosen), time), warps[chosen], batch.active()[chosen].copy(), values, []
        )
        self._executions.append(found)
        self._last[event.pc] = found
        self._run.append(found)

    def _access(self, event: Access) -> None:
        execution = self._last.get(event.pc)
        if execution is None:
            return
        warps = self._warps[event.location.warp]
        chosen = np.flatnonzero(warps >= 0)
        if not len(chosen):
            return
        index, owners = self._located(event.space, event.index[chosen], event.location.warp[chosen])
        execution.accesses.append(
            Reached(event.kind, event.space, warps[chosen], owners, index, event.lanes[chosen].copy(), event.size)
        )

    def _located(self, space: str, index: Array, warps: Array) -> tuple[Array, Array]:
        """Return byte offsets within the memory of a CTA or a thread, and the numbers of its owners."""
        if space == "global":
            return index.copy(), np.zeros_like(index)
        if space == "shared":
            return index % self._stride, self._numbers[np.minimum(index // self._stride, len(self._numbers) - 1)]
        return index.copy(), np.broadcast_to(self._warps[warps][:, None], index.shape) * 32 + np.arange(32)

    def _issue(self, event: Issue) -> None:
        if self._run and self._run[0].pc == event.pc:
            self._pending[event.group, event.number] = self._run

    def _complete(self, event: Complete) -> None:
        if event.warps is None:
            if event.group == "bulk":
                self._issued.update(self._copy_issues.pop(number) for number in event.numbers.tolist())
            return
        warps = self._warps[event.warps]
        time = self._tick()
        for number in event.numbers.tolist():
            for position, execution in enumerate(self._pending.get((event.group, number), [])):
                execution.effect[np.isin(execution.warps, warps)] = time + position

    def _thread_copy(self, event: ThreadCopyIssue) -> None:
        execution, warps = self._last.get(event.pc), self._warps[event.location.warp]
        chosen = np.flatnonzero(warps >= 0)
        if execution is None or not len(chosen):
            return
        targets, owners = self._located("shared", event.targets[chosen], event.location.warp[chosen])
        sources = np.where(event.reading[chosen], event.sources[chosen], -1)
        execution.copies.append(
            Reached("write", "shared", warps[chosen], owners, targets, event.lanes[chosen].copy(), event.size, sources)
        )

    def _copy_issue(self, event: CopyIssue) -> None:
        time = self._tick()
        for number, (warp, lane) in enumerate(
            zip(event.warps.tolist(), event.lanes.tolist(), strict=True), event.first
        ):
            self._copy_issues[number] = (event.pc, warp, lane), time

    def _copy_write(self, event: CopyWrite) -> None:
        warp, lane = int(event.warps[0]), int(event.lanes[0])
        (targets, owners), (sources, source_owners) = (
            self._located(space, index, np.zeros(1, np.int64))
            for space, index in ((event.space, event.targets), (event.source_space, event.sources))
        )
        if event.space == "shared" and not (owners >= 0).any():
            return
        issued = self._issued.get((event.pc, warp, lane), 0)
        self._copies.append(
            Copied(
                event.pc, self._tick(), issued, int(self._warps[warp]), lane, event.space, owners,
                targets, event.source_space, source_owners, np.where(event.sources < 0, -1, sources), event.size,
                event.updates,
            )
        )  # fmt: skip

    def _wait(self, event: Wait) -> None:
        self._record_wait(event.pc, event.batch.warp_index, event.group, event.pending, None)

    def _phase_wait(self, event: PhaseWait) -> None:
        done: Mapping[str, Array] = {
            "index": event.index % self._stride, "complete": event.complete, "phase": event.phase, "lanes": event.lanes,
        }  # fmt: skip
        self._record_wait(event.pc, event.batch.warp_index, "mbarrier", 0, done)

    def _record_wait(
        self, pc: int, warp_index: Array, group: str, pending: int, done: Mapping[str, Array] | None
    ) -> None:
        warps = self._warps[warp_index]
        chosen = np.flatnonzero(warps >= 0)
        if len(chosen):
            arrays = (
                {}
                if done is None
                else {name: np.broadcast_to(array, (len(warps), 32))[chosen].copy() for name, array in done.items()}
            )
            self._waits.append(Waited(pc, self._tick(), warps[chosen], group, pending, arrays))
