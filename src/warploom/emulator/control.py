"""Branches, calls and returns of a batch, and the gathering of lanes for warp-wide instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.faults import Fault
from warploom.emulator.strands import State, lanes_named

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.emulator.emulator import Machine

Array = NDArray[Any]

Rows = NDArray[np.intp]

_LANE_BITS = np.uint32(1) << np.arange(32, dtype=np.uint32)


class Control:
    """Where strands go next. After a method that moves them, the batch is over."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.anywhere: dict[
            int, int
        ] = {}  # member masks of strands that gather at some barrier of their warp
        self.aligned: set[int] = set()  # strands that gather at an `.aligned` instruction

    def branch(self, batch: Batch, target: int) -> None:
        """The active lanes go to `target`, the others to the next instruction."""
        strands, pc = self.machine.strands, self.machine.pc
        self.machine.moved = True
        if batch.mask is None:
            strands.goto(batch.rows, target)
            return
        taken = batch.mask
        present = strands.mask[batch.rows]
        some = taken.any(axis=1)
        every = (taken == present).all(axis=1)
        strands.goto_each(batch.rows[every], np.full(int(every.sum()), target, np.int64))
        strands.goto_each(batch.rows[~some], np.full(int((~some).sum()), pc + 1, np.int64))
        for position in np.flatnonzero(some & ~every):
            targets = np.where(taken[position], target, pc + 1)
            strands.split(int(batch.rows[position]), targets, self.machine.program.meet[pc])

    def branch_table(self, batch: Batch, table: Array, index: Array) -> None:
        """Each active lane goes to its entry of the table, the others to the next instruction."""
        strands, pc = self.machine.strands, self.machine.pc
        self.machine.moved = True
        taken = batch.active()
        wide = index.astype(np.int64)
        wrong = taken & (wide >= len(table))
        if wrong.any():
            lane = int(np.flatnonzero(wrong)[0])
            found = int(wide.reshape(-1)[lane])
            raise Fault(
                "emulator.branch-table",
                f"branch index {found} is beyond a table of {len(table)} targets",
                lane,
            )
        goals = np.where(taken, table[np.where(taken, wide, 0)], pc + 1)
        for position, row in enumerate(batch.rows):
            lanes = goals[position][strands.mask[row]]
            if (lanes == lanes[0]).all():
                strands.goto(batch.rows[position : position + 1], int(lanes[0]))
            else:
                strands.split(int(row), goals[position], self.machine.program.meet[pc])

    # Calls ------------------------------------------------------------------------------------------------

    def call(self, batch: Batch, function: Any, results: Any, arguments: Any) -> None:
        """Call a device function: its arguments are copied to its parameters, its results when it returns."""
        machine, strands, pc = self.machine, self.machine.strands, self.machine.pc
        machine.moved = True
        active = batch.active()
        entries = np.broadcast_to(batch.read(function), (batch.count, 32)).astype(np.int64)
        for position, row in enumerate(batch.rows):
            lanes = active[position]
            if not lanes.any():
                strands.goto(batch.rows[position : position + 1], pc + 1)
                continue
            first = int(np.flatnonzero(lanes)[0])
            entry = int(entries[position, first]) - machine.code_base
            activation = machine.program.by_entry.get(entry)
            if activation is None:
                found = f"{int(entries[position, first]):#x}"
                raise Fault(
                    "emulator.indirect-call",
                    f"the call goes to {found}, which is no function",
                    position * 32 + first,
                )
            together = lanes & (entries[position] == entries[position, first])
            others_call = bool((lanes & ~together).any())
            one = batch.single(position, together)
            for formal, actual in zip(activation.params, arguments or (), strict=True):
                machine.copy(one, machine.formal(formal), actual)
            strands.enter(int(row), together, entry, pc, pc if others_call else pc + 1)

    def leave(self, batch: Batch, whole_kernel: bool) -> None:
        """Return to the caller, or leave the kernel."""
        strands, pc = self.machine.strands, self.machine.pc
        self.machine.moved = True
        if (
            not strands.diverged
            and batch.mask is None
            and not any(strands.calls[int(row)] for row in batch.rows)
        ):
            strands.live[batch.warp_index] = False
            strands.state[batch.rows] = State.DONE
            self.machine.left(batch.warp_index)
            return
        active = batch.active()
        for position, row in enumerate(batch.rows):
            slot, lanes = int(row), active[position]
            if strands.calls[slot] and not whole_kernel:
                self._return(batch, position, slot, lanes)
                continue
            stays = bool((strands.mask[slot] & ~lanes).any())
            if stays:
                strands.goto(batch.rows[position : position + 1], pc + 1)
            if lanes.any():
                strands.leave(slot, lanes)
        self.machine.left(batch.warp_index)

    def _return(self, batch: Batch, position: int, slot: int, lanes: Array) -> None:
        strands, pc = self.machine.strands, self.machine.pc
        site = strands.calls[slot][-1]
        if (lanes != strands.mask[slot]).any():
            # The returning lanes stay at this return for a strand of their own; all meet after the call.
            targets = np.where(lanes, pc, pc + 1)
            strands.split(slot, targets, site + 1, strands.calls[slot][:-1])
            return
        returned = self.machine.results_of(site)
        activation = self.machine.program.activations[self.machine.program.steps[pc].function]
        one = batch.single(position, lanes)
        for actual, formal in zip(returned, activation.returns, strict=True):
            self.machine.copy(one, actual, self.machine.formal(formal))
        strands.calls[slot] = strands.calls[slot][:-1]
        strands.goto(np.array([slot], np.intp), site + 1)

    # Gathering --------------------------------------------------------------------------------------------

    def gather_members(self, batch: Batch, members: Array, anywhere: bool) -> None:
        """Strands that lack live lanes of the member mask wait for them; the batch narrows to complete ones.

        With `anywhere`, lanes that wait for the same members at another instruction are as good as here.
        """
        strands = self.machine.strands
        if not strands.diverged:
            return
        bits = (np.broadcast_to(members, (batch.count, 32)).astype(np.uint32)[:, :, None] & _LANE_BITS) != 0
        wanted = (bits & batch.active()[:, :, None]).any(axis=1) & strands.live[batch.warp_index]
        missing: Array = (wanted & ~strands.mask[batch.rows]).any(axis=1)
        if not anywhere:
            self.gather(batch, missing)
        elif missing.any():
            first = np.take_along_axis(
                np.broadcast_to(members, (batch.count, 32)), batch.active().argmax(axis=1)[:, None], axis=1
            )
            self._gather_anywhere(batch, missing, first[missing, 0], wanted[missing])

    def _gather_anywhere(self, batch: Batch, missing: Array, members: Array, wanted: Array) -> None:
        strands = self.machine.strands
        rows = batch.suspend(missing, self.machine.pc, State.GATHERING)
        for row, mask, lanes in zip(rows, members, wanted, strict=True):
            self.anywhere[int(row)] = int(mask)
            self.aligned.discard(int(row))
            strands.merge_gathering(int(row))
            same = np.flatnonzero((strands.warp == strands.warp[row]) & (strands.state == State.GATHERING))
            there = np.array([slot for slot in same if self.anywhere.get(int(slot)) == int(mask)], np.intp)
            if not (lanes & ~strands.mask[there].any(axis=0)).any():
                strands.state[there] = State.READY
                for slot in there:
                    del self.anywhere[int(slot)]
                    strands.goto(np.array([slot], np.intp), int(strands.pc[slot]) + 1)

    def gather_warps(self, batch: Batch) -> None:
        """Strands of an `.aligned` instruction wait for all live lanes of their warps."""
        strands = self.machine.strands
        if strands.diverged:
            missing = np.any(strands.live[batch.warp_index] & ~strands.mask[batch.rows], axis=1)
            for row in self.gather(batch, missing):
                self.aligned.add(int(row))

    def check_whole(self, batch: Batch) -> None:
        """An `.aligned` instruction's guard holds for all lanes of a warp or for none."""
        if batch.mask is None or batch.mask is batch.base:
            return
        out = self.machine.strands.mask[batch.rows] & ~batch.mask
        apart = np.flatnonzero(out.any(axis=1) & batch.mask.any(axis=1))
        if len(apart):
            warp = int(apart[0])
            lane = int(np.flatnonzero(batch.mask[warp])[0])
            raise Fault(
                "emulator.aligned",
                "an .aligned instruction is executed by all lanes of a warp together; "
                f"its guard keeps {lanes_named(out[warp])} away",
                warp * 32 + lane,
            )

    def torn(self) -> dict[int, int]:
        """Warps some of whose lanes wait at an `.aligned` instruction for the others, each with that strand."""
        strands = self.machine.strands
        held = [row for row in sorted(self.aligned) if strands.state[row] == State.GATHERING]
        return {int(strands.warp[row]): row for row in held}

    def fault_of_torn(self) -> Fault | None:
        """What is wrong where lanes of a warp wait at an `.aligned` instruction and the others do not come."""
        strands, machine = self.machine.strands, self.machine
        for warp, row in self.torn().items():
            others = np.flatnonzero((strands.warp == warp) & (strands.state != State.DONE)).tolist()
            places = [
                f"{lanes_named(strands.mask[other])} at line {machine.program.line_of(int(strands.pc[other]))}"
                for other in others
                if other != row
            ]
            met = strands.live[warp] & ~np.any(strands.mask[others], axis=0)
            if met.any():
                places.append(f"{lanes_named(met)} where branches meet")
            machine.at(int(strands.pc[row]), warp, -1)
            here = f"{lanes_named(strands.mask[row])} {'is' if strands.mask[row].sum() == 1 else 'are'} here"
            return Fault(
                "emulator.aligned",
                "an .aligned instruction is executed by all lanes of a warp together; "
                f"{here}, {', '.join(places)}",
            )
        return None

    def gather_warpgroups(self, batch: Batch) -> None:
        """Strands of a warpgroup instruction wait for the other warps of their warpgroup."""
        if batch.has_warpgroups:
            return
        machine, strands = self.machine, self.machine.strands
        group = machine.warpgroup_of[batch.warp_index]
        ids, counts = np.unique(group, return_counts=True)
        if (counts == 4).all():
            batch.has_warpgroups = True
            return
        for row in batch.suspend(~np.isin(group, ids[counts == 4]), machine.pc, State.GATHERING):
            self.anywhere.pop(int(row), None)
            self.aligned.discard(int(row))
        gathering = np.flatnonzero((strands.state == State.GATHERING) & (strands.pc == machine.pc))
        groups = machine.warpgroup_of[strands.warp[gathering]]
        ids, counts = np.unique(groups, return_counts=True)
        strands.state[gathering[np.isin(groups, ids[counts == 4])]] = State.READY

    def gather(self, batch: Batch, missing: Array) -> Rows:
        """Suspend the strands in `missing`, wake those that this completes; returns the slots of all."""
        if not missing.any():
            return batch.rows[:0]
        strands = self.machine.strands
        rows = batch.suspend(missing, self.machine.pc, State.GATHERING)
        for row in rows:
            self.anywhere.pop(int(row), None)
            self.aligned.discard(int(row))
            if strands.state[row] == State.GATHERING and strands.merge_gathering(int(row)):
                strands.state[row] = State.READY
        return rows
