"""Debugger session: a launch that moves from stop to stop."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import did_you_mean
from warploom.emulator.faults import Trap
from warploom.emulator.warp_splits import unpack
from warploom.observe.debug.conditions import Condition
from warploom.runtime.debugging.breakpoints import Breakpoint, Stop
from warploom.runtime.debugging.conditions import Conditions, Target, any_lane
from warploom.runtime.debugging.execution import Execution
from warploom.runtime.debugging.focus import (
    BETWEEN,
    Coordinates,
    Filter,
    Focus,
    Moment,
    Place,
    executing,
    focus_on,
    now,
    number_of,
    place_of,
    warp_of,
)
from warploom.runtime.debugging.locations import beyond_line, exits, find_instructions, following, waits

if TYPE_CHECKING:
    from collections.abc import Callable

    from warploom.emulator.batch import Batch
    from warploom.emulator.program import Program
    from warploom.isa.model.semantics import Lanes
    from warploom.runtime import cpu
    from warploom.runtime.arguments import Arguments

UNITS = ("instruction", "line", "barrier")
"""Units of steps: an instruction, a line of the source text, or the next barrier or wait."""


class DebugSession(Execution):
    """Launch that a debugger moves from stop to stop.

    `start` stops before the first instruction. The other movements call it if necessary. Each movement returns a
    record, which is then `stop`. Steps belong to the thread in `focus`. All other warps execute what the order of the
    launch requires, and the launch also stops at breakpoints.
    """

    def __init__(self, launch: cpu.EmulatorLaunch, arguments: Arguments, *, workers: int = 1, **options: Any) -> None:
        """Prepare to run `launch`. The arguments and the errors are those of `Execution`."""
        super().__init__(launch, arguments, workers=workers, **options)
        self.program: Program = launch.request.program
        self._focus = Focus((0, 0, 0), 0)
        self._stop: Stop | None = None
        self._breakpoints: dict[int, Breakpoint] = {}
        self._last_number = 0
        self._request = Event()

    # State ------------------------------------------------------------------------------------------------

    @property
    def stop(self) -> Stop | None:
        """Stop at which the launch is, or None before the first movement."""
        return self._stop

    @property
    def focus(self) -> Focus:
        """Thread to which steps belong."""
        return self._focus

    @property
    def moment(self) -> Moment:
        """Moment at which the launch has stopped. Requires a movement."""
        return now(self.state, self.waves.number)

    @property
    def warp(self) -> int:
        """Index of the warp in focus among the resident warps.

        Errors: UsageError debug.focus if its CTA is not resident.
        """
        found = warp_of(self.state, self._focus)
        if found is None:
            raise UsageError(f"CTA {self._focus.cta} is not resident", code="debug.focus")
        return found

    def select(self, cta: Coordinates | None = None, warp: int | None = None, lane: int | None = None) -> Focus:
        """Set the focus to another thread, and return it. None keeps a part of the focus.

        Errors: UsageError debug.focus for a thread that the launch does not have, or whose CTA is not resident.
        """
        self._begin()
        old = self._focus
        chosen = Focus(
            old.cta if cta is None else cta, old.warp if warp is None else warp, old.lane if lane is None else lane
        )
        if warp_of(self.state, chosen) is None:
            resident = f"wave {self.waves.number} is resident"
            raise UsageError(f"CTA {chosen.cta} is not resident; {resident}", code="debug.focus")
        self._focus = chosen
        return chosen

    # Breakpoints ------------------------------------------------------------------------------------------

    @property
    def breakpoints(self) -> tuple[Breakpoint, ...]:
        """All breakpoints, by number."""
        return tuple(self._breakpoints.values())

    def break_at(
        self,
        where: str | int,
        *,
        within: Filter | None = None,
        condition: str = "",
        ignored: int = 0,
        log: Callable[[Stop], object] | None = None,
        temporary: bool = False,
    ) -> Breakpoint:
        """Add a breakpoint, and return it.

        `where` is a location of `locations.find_instructions`. `condition` is the text of a `Condition`. `Breakpoint`
        describes the other arguments.

        Errors: UsageError debug.location, debug.condition, debug.register, debug.type.
        """
        pcs = find_instructions(self.program, where)
        test = Condition.parse(condition, self.program.steps[min(pcs)].scope) if condition else None
        self._last_number += 1
        found = Breakpoint(
            self._last_number, str(where), pcs, within or Filter(), test, ignored, log, temporary
        )  # fmt: skip
        self._breakpoints[found.number] = found
        return found

    def delete(self, number: int | None = None) -> None:
        """Delete a breakpoint, or all of them. Errors: UsageError debug.breakpoint for an unknown number."""
        for each in self._chosen(number):
            del self._breakpoints[each.number]

    def enable(self, number: int | None = None) -> None:
        """Enable a breakpoint, or all of them. Errors: UsageError debug.breakpoint for an unknown number."""
        for each in self._chosen(number):
            each.enabled = True

    def disable(self, number: int | None = None) -> None:
        """Disable a breakpoint, or all of them. Errors: UsageError debug.breakpoint for an unknown number."""
        for each in self._chosen(number):
            each.enabled = False

    def ignore(self, number: int, count: int) -> None:
        """Ignore the next `count` hits of a breakpoint.

        Errors: UsageError debug.breakpoint for an unknown number.
        """
        (found,) = self._chosen(number)
        hits = 0 if self._stop is None else found.count(self._stop.moment)
        found.ignored = hits + max(count, 0)

    def _chosen(self, number: int | None) -> tuple[Breakpoint, ...]:
        if number is None:
            return self.breakpoints
        if number not in self._breakpoints:
            known = ", ".join(map(str, self._breakpoints)) or "none"
            raise UsageError(f"there is no breakpoint {number}; known: {known}", code="debug.breakpoint")
        return (self._breakpoints[number],)

    # Movements --------------------------------------------------------------------------------------------

    def start(self) -> Stop:
        """Stop before the first instruction of the launch. Later calls return the present stop.

        Errors: Unsupported; UsageError launch.*.
        """
        self._begin()
        assert self._stop is not None
        return self._stop

    def resume(self, count: int = 1) -> Stop:
        """Run until a breakpoint stops the launch for the `count`-th time, or until the launch ends."""
        return self._repeat(count, lambda: self._move(None), ("breakpoint", "watch", "finding"))

    def step(self, unit: str = "instruction", count: int = 1) -> Stop:
        """Run until the thread in focus comes to its next instruction, line or barrier, `count` times.

        `unit` is one of `UNITS`. A step enters functions. It ends early at a breakpoint, or when the thread leaves the
        kernel.

        Errors: UsageError debug.unit; debug.focus if the thread has left the kernel or is not resident.
        """
        return self._repeat(count, lambda: self._move(self._target(unit, into=True)), ("step",))

    def next(self, unit: str = "instruction", count: int = 1) -> Stop:
        """Run as `step` does, without stops in the functions that the thread calls."""
        return self._repeat(count, lambda: self._move(self._target(unit, into=False)), ("step",))

    def finish(self) -> Stop:
        """Run until the thread in focus returns from its function.

        Errors: UsageError debug.finish if the thread has no open call; debug.focus as `step`.
        """
        self._begin()
        place, target = self._place(), self._target("instruction", into=False)
        if not place.calls:
            raise UsageError("the thread in focus has no open call", code="debug.finish")
        target.pcs, target.depth, target.origin = frozenset({place.calls[-1] + 1}), len(place.calls) - 1, -1
        return self._move(target)

    def until(self, where: str | int) -> Stop:
        """Run until the thread in focus comes to a location of `locations.find_instructions`.

        Errors: UsageError debug.location; debug.focus as `step`.
        """
        self._begin()
        pcs, target = find_instructions(self.program, where), self._target("instruction", into=True)
        target.pcs = pcs
        return self._move(target)

    def interrupt(self) -> None:
        """Request a stop from another thread. The present movement then ends soon, between two batches."""
        self._request.set()

    # Implementation ---------------------------------------------------------------------------------------

    def _begin(self) -> None:
        if self._stop is None:
            first = _First(self.program.entry)
            self.run(first)
            self._stop = self._record("start", ())

    def _repeat(self, count: int, move: Callable[[], Stop], reasons: tuple[str, ...]) -> Stop:
        """Repeat a movement while it ends for one of some reasons. Return the last stop."""
        self._begin()
        if count < 1:
            raise UsageError(f"the count is {count}; expected at least 1", code="debug.count")
        stop = move()
        for _ in range(count - 1):
            if stop.reason not in reasons:
                break
            stop = move()
        return stop

    def _place(self) -> Place:
        found = place_of(self.state, self.warp, self._focus.lane)
        if found is None:
            raise UsageError("the thread in focus has left the kernel; select another one", code="debug.focus")
        return found

    def _target(self, unit: str, *, into: bool) -> Target:
        """Return the target of a step of the thread in focus."""
        if unit not in UNITS:
            raise UsageError(f"unknown unit '{unit}'", code="debug.unit", hint=did_you_mean(unit, UNITS, "'"))
        place, program = self._place(), self.program
        pc, calls = place.pc, place.calls
        depth = None if into else len(calls)
        after = following(program, pc, calls, into=True) if place.has_come else frozenset({pc})
        pcs = after
        if unit == "barrier":
            pcs = program.analysis(waits)
        elif place.has_come and unit == "line":
            pcs = beyond_line(program, pc, calls, into=into)
        elif place.has_come:
            pcs = following(program, pc, calls, into=into)
        origin = pc if place.has_come and pc not in after else -1
        return Target(self.warp, self._focus.lane, pcs, program.analysis(exits), depth, origin, after)

    def _move(self, target: Target | None) -> Stop:
        """Run until a condition is true, and return the stop."""
        self._begin()
        self._request.clear()
        conditions = Conditions(
            lambda: self.state, self._moment_at, self._breakpoints.values(), target, self._request, self._log
        )  # fmt: skip
        stopped = self.run(conditions)
        if not stopped:
            error = self.waves.error
            reason = "end" if error is None else "trap" if isinstance(error, Trap) else "deadlock"
            self._stop = self._record(reason, ())
        elif conditions.hits:
            found = [each for each, _ in conditions.hits]
            reason = "finding" if any(each.findings for each in found) else "breakpoint"
            lanes = any_lane([each for _, each in conditions.hits])
            self._stop = self._record(reason, found, lanes)
            for each in found:
                if each.temporary:
                    del self._breakpoints[each.number]
        else:
            reason = "step" if conditions.at_target else "exit" if conditions.has_left else "interrupt"
            self._stop = self._record(reason, ())
        return self._stop

    def _moment_at(self, pc: int) -> Moment:
        """Return the moment before the executing batch executes an instruction."""
        return Moment(self.waves.number, self.state.state.counters.batches, pc)

    def _log(self, breakpoint: Breakpoint, pc: int, batch: Batch, lanes: Lanes) -> None:
        """Call the function of a breakpoint that logs."""
        emulator = self.state
        emulator.flush()
        assert breakpoint.log is not None
        warps = batch.warp_index.tolist()
        every, chosen = executing(emulator, warps, batch.active()), executing(emulator, warps, lanes)
        number = emulator.state.counters.positions + pc - int(emulator.state.splits.pc[batch.rows[0]])
        breakpoint.log(
            Stop("breakpoint", self._moment_at(pc), number, pc, every, chosen, (breakpoint.number,))
        )  # fmt: skip

    def _record(self, reason: str, found: list[Breakpoint] | tuple[()], lanes: Lanes | None = None) -> Stop:
        """Return the record of the present stop, and move the focus to a thread that has stopped."""
        emulator, moment, block = self.state, self.moment, self.state.interrupted
        every = chosen = ()
        if block is not None:
            splits = emulator.state.splits
            warps = splits.warp[block.rows].tolist()
            mask = unpack(splits.bits[block.rows])
            every = executing(emulator, warps, mask)
            chosen = every if lanes is None else executing(emulator, warps, lanes)
            self._follow(warps, mask if lanes is None else lanes)
        elif warp_of(emulator, self._focus) is None:
            self._focus = focus_on(emulator, 0, 0)
        findings = tuple(each for one in found for each in one.findings)
        return Stop(
            reason, moment, number_of(emulator), moment.pc if block is not None else BETWEEN, every, chosen,
            tuple(each.number for each in found), (), findings, self.waves.error,
        )  # fmt: skip

    def _follow(self, warps: list[int], lanes: Lanes) -> None:
        """Move the focus if its warp is not among those that have stopped, or if its lane is not."""
        stopped = {warp: mask for warp, mask in zip(warps, lanes, strict=True) if mask.any()}
        warp = warp_of(self.state, self._focus)
        if warp not in stopped:
            warp = min(stopped, key=lambda each: (focus_on(self.state, each, 0).cta, each))
        lane = self._focus.lane
        if not stopped[warp][lane]:
            lane = int(np.argmax(stopped[warp]))
        self._focus = focus_on(self.state, warp, lane)


class _First:
    """Stop before the first instruction of a launch."""

    def __init__(self, entry: int) -> None:
        self.pcs = frozenset({entry})

    def reached(self, pc: int, batch: Batch) -> bool:
        return True

    def between_blocks(self) -> bool:
        return False
