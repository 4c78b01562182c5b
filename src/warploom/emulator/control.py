"""Control flow of a batch: branches, calls, returns and reconvergence."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.batch import Batch
from warploom.emulator.events import WarpBarrier
from warploom.emulator.faults import Fault, refuse
from warploom.emulator.link import Linked, LocalBytes
from warploom.emulator.memory import Memory
from warploom.emulator.observers import Dispatcher
from warploom.emulator.program import Program, RegisterLocation, Storage
from warploom.emulator.services import Services
from warploom.emulator.stacks import Stacks
from warploom.emulator.state import State
from warploom.emulator.values import Register
from warploom.emulator.warp_splits import KINDS, Event, Status, describe_lanes, pack, unpack
from warploom.isa.model.semantics import Array
from warploom.lazy_dataclass import dataclass

Rows = NDArray[np.intp]

_TOGETHER = "all lanes of a warp must execute an .aligned instruction together"
_LANE_BITS = np.uint32(1) << np.arange(32, dtype=np.uint32)


@dataclass(eq=False)
class Control:
    """Control flow of warp splits.

    `formal` returns the operand for a parameter of a device function. `on_exit` receives the indices of warps after
    some of their lanes have left the kernel.
    """

    STATE = ("_members", "_aligned")

    state: State
    program: Program
    linked: Sequence[Linked]
    memory: Memory
    services: Services
    stacks: Stacks
    formal: Callable[[Storage | RegisterLocation], Register | LocalBytes]
    on_exit: Callable[[Rows], None]
    events: Dispatcher

    def __post_init__(self) -> None:
        self.splits = self.state.splits
        self._on_warp_barrier = self.events.handler(WarpBarrier)
        self.start()

    def start(self) -> None:
        """Forget all waiting warp splits before a new wave."""
        # Slot -> member masks of the lanes of a warp split that waits at a warp barrier.
        self._members: dict[int, Array] = {}
        self.stacks.start()
        self._aligned: set[int] = set()  # slots of warp splits that wait at an `.aligned` instruction

    # Branches ---------------------------------------------------------------------------------------------

    def branch(self, batch: Batch, target: int) -> None:
        """Continue the active lanes at `target`, and the other lanes at the next instruction."""
        splits, pc = self.splits, self.state.pc
        self.state.moved = True
        if batch.mask is None:
            splits.goto(batch.rows, target)
            return
        splits.branch(batch.rows, pack(batch.mask), target, pc + 1, self.program.reconvergence[pc])

    def branch_table(self, batch: Batch, table: Array, index: Array) -> None:
        """Continue each active lane at `table[index]`, and the other lanes at the next instruction.

        Errors: Fault emulator.branch-table if an index is beyond the table.
        """
        splits, pc = self.splits, self.state.pc
        self.state.moved = True
        taken = batch.active()
        wide = index.astype(np.int64)
        message = f"branch index {{}} is beyond a table of {len(table)} targets"
        refuse("emulator.branch-table", taken & (wide >= len(table)), message, wide)
        goals = np.where(taken, table[np.where(taken, wide, 0)], pc + 1)
        present = unpack(splits.bits[batch.rows])
        first = goals[np.arange(batch.count), present.argmax(axis=1)]
        together = ((goals == first[:, None]) | ~present).all(axis=1)
        splits.goto(batch.rows[together], first[together])
        for position in np.flatnonzero(~together).tolist():
            splits.split(int(batch.rows[position]), goals[position], self.program.reconvergence[pc])

    # Calls ------------------------------------------------------------------------------------------------

    def call(self, batch: Batch, function: Any, results: Any, arguments: Any) -> None:
        """Call a device function or a service with the active lanes.

        The operand `function` has the address of the function for each lane.

        Errors: Fault emulator.indirect-call if no function is at an address; emulator.call for illegal arguments; the
            faults of services.
        """
        splits, pc = self.splits, self.state.pc
        self.state.moved = True
        active = batch.active()
        entries = np.broadcast_to(batch.read(function), (batch.count, 32)).astype(np.int64)
        for position, row in enumerate(batch.rows):
            lanes = active[position]
            if not lanes.any():
                splits.goto(batch.rows[position : position + 1], pc + 1)
                continue
            first = int(np.flatnonzero(lanes)[0])
            address = int(entries[position, first])
            together = lanes & (entries[position] == address)
            others = lanes & ~together
            one = batch.single(position, together)
            service = self.program.services.get(address)
            if service is not None:
                try:
                    self.services.call(service, one, results, arguments)
                except Fault as fault:
                    fault.lane += position * 32  # an index in the whole batch
                    raise
                if others.any():  # they execute the call again
                    splits.split(int(row), np.where(others, pc, pc + 1), pc + 1)
                else:
                    splits.goto(batch.rows[position : position + 1], pc + 1)
                continue
            callee = self.program.function_at(address)
            if callee is None:
                message = f"the call goes to {address:#x}, which is not the address of a function"
                raise Fault("emulator.indirect-call", message, position * 32 + first)
            for formal, actual in zip(callee.params, arguments or (), strict=True):
                self._copy(one, self.formal(formal), actual)
            if self.program.uses_stack:
                self.stacks.enter(len(splits.call_stack(int(row))), int(one.warp_index[0]), together)
            splits.call(int(row), together, callee.entry, pc, pc if others.any() else pc + 1)

    def leave(self, batch: Batch, whole_kernel: bool) -> None:
        """Let the active lanes return from their device function.

        Lanes outside device functions leave the kernel. If `whole_kernel` is set, all active lanes leave the kernel.
        """
        splits, pc = self.splits, self.state.pc
        self.state.moved = True
        if not splits.diverged and batch.mask is None and not splits.calls[batch.rows].any():
            splits.live_bits[batch.warp_index] = 0
            splits.status[batch.rows] = Status.DONE
            self.on_exit(batch.warp_index)
            return
        active = batch.active()
        for position, row in enumerate(batch.rows):
            slot, lanes = int(row), active[position]
            if splits.calls[slot] and not whole_kernel:
                self._return(batch, position, slot, lanes)
                continue
            stays = int(splits.bits[slot]) != int(pack(lanes))
            if stays:
                splits.goto(batch.rows[position : position + 1], pc + 1)
            if lanes.any():
                splits.exit(slot, lanes)
        self.on_exit(batch.warp_index)

    def _return(self, batch: Batch, position: int, slot: int, lanes: Array) -> None:
        splits, pc = self.splits, self.state.pc
        *outer, site = splits.call_stack(slot)
        if int(splits.bits[slot]) != int(pack(lanes)):
            # The returning lanes repeat this return as their own warp split. All lanes reconverge after the call.
            targets = np.where(lanes, pc, pc + 1)
            splits.split(slot, targets, site + 1, tuple(outer))
            return
        results = self.linked[site].operands.ret_param or ()
        function = self.program.functions[self.program.steps[pc].function]
        one = batch.single(position, lanes)
        for actual, formal in zip(results, function.returns, strict=True):
            self._copy(one, actual, self.formal(formal))
        if self.program.uses_stack:
            self.stacks.leave(len(outer), int(one.warp_index[0]), lanes)
        splits.leave_call(slot)

    def _copy(self, one: Batch, target: Any, source: Any) -> None:
        if isinstance(target, LocalBytes) and isinstance(source, LocalBytes):
            local = self.memory.local
            lanes = int(one.warp_index[0]) * 32 + np.flatnonzero(one.active()[0])
            starts = lanes * self.memory.local_stride
            for byte in range(min(target.size, source.size)):
                local[starts + target.offset + byte] = local[starts + source.offset + byte]
        elif isinstance(target, LocalBytes) or isinstance(source, LocalBytes):
            raise Fault("emulator.call", "a call passes a register where the function declares memory", 0)
        else:
            one.write(target, np.broadcast_to(one.read(source), (1, 32)))

    # Reconvergence ----------------------------------------------------------------------------------------

    def reconverge_members(self, batch: Batch, members: Array) -> None:
        """Suspend warp splits until all live lanes of their member mask arrive at the instruction."""
        if self.splits.diverged:
            missing: Array = np.any(self._wanted(batch, members) & ~unpack(self.splits.bits[batch.rows]), axis=1)
            self._reconverge(batch, missing)

    def warp_barrier(self, batch: Batch, members: Array) -> None:
        """Suspend warp splits until all live lanes of their member mask wait at a warp barrier with this mask."""
        members = np.broadcast_to(members, (batch.count, 32)).astype(np.uint32)
        if self.splits.diverged or batch.mask is not batch.base:
            members = self._suspend_incomplete(batch, members)
        if self._on_warp_barrier is not None and batch.count:
            for lanes in _lanes_by_mask(batch.active(), members):
                held = lanes.any(axis=1)
                self._on_warp_barrier(WarpBarrier(self.state.pc, batch.warp_index[held], lanes[held]))

    def _wanted(self, batch: Batch, members: Array) -> Array:
        """Return the live lanes in the member masks of the active lanes. Shapes: both (warps, 32)."""
        bits = (np.broadcast_to(members, (batch.count, 32)).astype(np.uint32)[:, :, None] & _LANE_BITS) != 0
        return (bits & batch.active()[:, :, None]).any(axis=1) & self.splits.live[batch.warp_index]

    def _suspend_incomplete(self, batch: Batch, members: Array) -> Array:
        """Suspend the warp splits whose active lanes lack members. Return the member masks of the others."""
        splits, pc, active = self.splits, self.state.pc, batch.active()
        missing: Array = np.any(self._wanted(batch, members) & ~active, axis=1)
        excluded: Array = missing & (splits.bits[batch.rows] != pack(active))
        if excluded.any():
            # Lanes that the guard excludes do not wait, as behind a branch. The others execute the barrier again.
            for row, lanes in zip(batch.suspend(excluded, pc, Status.READY).tolist(), active[excluded], strict=True):
                splits.split(row, np.where(lanes, pc, pc + 1), pc + 1)
            members, missing = members[~excluded], missing[~excluded]
        if missing.any():
            for row, masks in zip(batch.suspend(missing, pc, Status.RECONVERGING), members[missing], strict=True):
                self._members[int(row)] = masks
                self._aligned.discard(int(row))
                self._complete_warp_barriers(int(splits.warp[row]))
        return members[~missing]

    def _complete_warp_barriers(self, warp: int) -> None:
        """Continue the warp splits of a warp whose lanes all wait with the live lanes of their member mask."""
        splits = self.splits
        slots = np.flatnonzero((splits.warp == warp) & (splits.status == Status.RECONVERGING))
        there = np.array([slot for slot in slots.tolist() if slot in self._members], np.intp)
        while len(there):
            waiting: Array = np.any(splits.mask[there], axis=0)
            members = np.zeros(32, np.uint32)
            for slot in there.tolist():
                members[splits.mask[slot]] = self._members[slot][splits.mask[slot]]
            together = waiting & (members[:, None] == members)
            wanted = splits.live[warp] & ((members[:, None] & _LANE_BITS) != 0)
            incomplete = np.any(wanted & ~together, axis=1)
            whole = ~np.any(splits.mask[there] & incomplete, axis=1)
            if whole.all():
                self._leave_warp_barriers(warp, there, waiting, members)
                return
            there = there[whole]

    def _leave_warp_barriers(self, warp: int, slots: Rows, lanes: Array, members: Array) -> None:
        splits = self.splits
        if self._on_warp_barrier is not None:
            sets = np.concatenate(list(_lanes_by_mask(lanes[None], members[None])))
            self._on_warp_barrier(WarpBarrier(self.state.pc, np.full(len(sets), warp), sets))
        for slot in slots.tolist():
            del self._members[slot]
            if splits.status[slot] == Status.RECONVERGING:  # not merged with an earlier one
                splits.merge_reconverging(slot, slots)
                splits.status[slot] = Status.READY
                splits.goto(np.array([slot], np.intp), int(splits.pc[slot]) + 1)

    def reconverge_warps(self, batch: Batch) -> None:
        """Suspend warp splits at an `.aligned` instruction until all live lanes of their warp arrive."""
        splits = self.splits
        if splits.diverged:
            missing = splits.live_bits[batch.warp_index] != splits.bits[batch.rows]
            for row in self._reconverge(batch, missing):
                self._aligned.add(int(row))

    def reconverge_warpgroups(self, batch: Batch) -> None:
        """Suspend warp splits at a warpgroup instruction until all four warps arrive."""
        if batch.has_warpgroups:
            return
        state, splits, warpgroup_of = self.state, self.splits, self.state.topology.warpgroup_of
        present = _in_whole_warpgroups(warpgroup_of[batch.warp_index])
        if present.all():
            batch.has_warpgroups = True
            return
        for row in batch.suspend(~present, state.pc, Status.RECONVERGING):
            self._members.pop(int(row), None)
            self._aligned.discard(int(row))
        waiting = np.flatnonzero((splits.status == Status.RECONVERGING) & (splits.pc == state.pc))
        rows = waiting[_in_whole_warpgroups(warpgroup_of[splits.warp[waiting]])]
        splits.status[rows] = Status.READY
        # A schedule may delay warps with a later epoch. The warps of a warpgroup must be selected together.
        groups = warpgroup_of[splits.warp[rows]]
        for group in np.unique(groups):
            members = rows[groups == group]
            splits.epoch[members] = splits.epoch[members].max()

    def _reconverge(self, batch: Batch, missing: Array) -> Rows:
        """Suspend the warp splits in the mask `missing`, and return their indices in `WarpSplits`."""
        if not missing.any():
            return batch.rows[:0]
        splits = self.splits
        rows = batch.suspend(missing, self.state.pc, Status.RECONVERGING)
        for row in rows:
            self._members.pop(int(row), None)
            self._aligned.discard(int(row))
            if splits.status[row] == Status.RECONVERGING:
                others = np.flatnonzero(splits.warp == splits.warp[row])
                # The merged warp split executes the instruction again.
                if splits.merge_reconverging(int(row), others):
                    splits.status[row] = Status.READY
        return rows

    # Aligned instructions ---------------------------------------------------------------------------------

    def check_aligned(self, batch: Batch) -> None:
        """Check that the guard of an `.aligned` instruction does not divide a warp split.

        Errors: Fault emulator.aligned.
        """
        if batch.mask is None or batch.mask is batch.base:
            return
        out = unpack(self.splits.bits[batch.rows]) & ~batch.mask
        partial = np.flatnonzero(out.any(axis=1) & batch.mask.any(axis=1))
        if len(partial):
            warp = int(partial[0])
            lane = int(np.flatnonzero(batch.mask[warp])[0])
            message = f"{_TOGETHER}; its guard excludes {describe_lanes(out[warp])}"
            raise Fault("emulator.aligned", message, warp * 32 + lane)

    def partially_arrived(self) -> dict[int, int]:
        """Map each warp that has only partly arrived at an `.aligned` instruction to a waiting warp split.

        Keys are indices of warps, and values are indices in `WarpSplits`.
        """
        splits = self.splits
        held = [row for row in sorted(self._aligned) if splits.status[row] == Status.RECONVERGING]
        return {int(splits.warp[row]): row for row in held}

    def fault_of_partially_arrived(self) -> Fault | None:
        """Return the fault of a warp that has only partly arrived at an `.aligned` instruction, or None.

        A warp whose other lanes wait for an mbarrier or for resources has no fault, because they may arrive after this
        wait. The wait that does not end is the cause. A barrier of threads waits for the lanes that have arrived here.
        """
        splits = self.splits
        for warp, row in self.partially_arrived().items():
            others = np.flatnonzero((splits.warp == warp) & (splits.status != Status.DONE)).tolist()
            awaited = splits.awaited[others]
            meets = (awaited >= 0) & np.isin(awaited % KINDS, (Event.BARRIER, Event.CLUSTER))
            if np.any((splits.status[others] == Status.WAITING) & ~meets):
                continue
            elsewhere = [
                f"{describe_lanes(splits.mask[other])} at {self.program.place_of(int(splits.pc[other]))}"
                for other in others
                if other != row
            ]
            met = splits.live[warp] & ~np.any(splits.mask[others], axis=0)
            if met.any():
                elsewhere.append(f"{describe_lanes(met)} at a reconvergence point")
            self.state.origin = (int(splits.pc[row]), warp, -1)
            verb = "is" if splits.mask[row].sum() == 1 else "are"
            message = f"{_TOGETHER}; {describe_lanes(splits.mask[row])} {verb} here, {', '.join(elsewhere)}"
            return Fault("emulator.aligned", message)
        return None


def _in_whole_warpgroups(groups: Rows) -> Array:
    """Return a mask of the warps whose warpgroup has all four warps.

    `groups` has the warpgroup of each warp, or a negative number for a warp outside any warpgroup. Shapes: (warps,).
    """
    inside = groups >= 0
    numbers = np.where(inside, groups, 0)
    return inside & (np.bincount(numbers, inside)[numbers] == 4)


def _lanes_by_mask(active: Array, members: Array) -> Iterator[Array]:
    """Yield the active lanes of each warp with one member mask, until no lane is left.

    Shapes: all (warps, 32).
    """
    while active.any():
        first = np.take_along_axis(members, active.argmax(axis=1)[:, None], axis=1)
        same = active & (members == first)
        yield same
        active = active & ~same
