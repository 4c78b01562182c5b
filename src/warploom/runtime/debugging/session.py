"""Debugger session: a launch that moves from stop to stop."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import did_you_mean
from warploom.emulator.faults import Trap
from warploom.emulator.stops import Stops
from warploom.emulator.warp_splits import unpack
from warploom.observe.debug.conditions import Condition
from warploom.runtime.debugging.breakpoints import Breakpoint, Change, Stop
from warploom.runtime.debugging.conditions import Conditions, Target, any_lane
from warploom.runtime.debugging.execution import BATCHES_PER_CALL, Execution, Passive
from warploom.runtime.debugging.findings import choose_findings, names_findings, sanitized
from warploom.runtime.debugging.focus import (
    BETWEEN,
    Coordinates,
    Filter,
    Focus,
    Moment,
    Place,
    executing,
    focus_on,
    number_at,
    number_of,
    place_of,
    warp_of,
)
from warploom.runtime.debugging.locations import (
    beyond_line,
    everywhere,
    exits,
    find_instructions,
    following,
    multiplied,
    waits,
)
from warploom.runtime.debugging.reverse import previous_stop, previous_visit
from warploom.runtime.debugging.watches import Watch, Watches, make_watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warploom.diagnostics import Diagnostic
    from warploom.emulator.batch import Batch
    from warploom.emulator.faults import RunError
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
        self._first = Moment(0, 0, BETWEEN)
        self._breakpoints: dict[int, Breakpoint] = {}
        self._watches: dict[int, Watch] = {}
        self._last_number = 0
        self._request = Event()
        self._findings: tuple[Diagnostic, ...] | None = None

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

        `where` is a location of `locations.find_instructions`, or "finding" for the moments of all `findings`,
        "finding CODE" for those of one rule, or "#NUMBER" for that of one finding. `condition` is the text of a
        `Condition`. `Breakpoint` describes the other arguments.

        Errors: UsageError debug.location, debug.condition, debug.register, debug.type; debug.finding if there is no
            such finding.
        """
        moments: tuple[Moment, ...] | None = None
        found: tuple[Diagnostic, ...] = ()
        if names_findings(where):
            found = choose_findings(self.findings, str(where))
            moments = tuple(sorted({Moment(*each.moment) for each in found if each.moment is not None}))
        pcs = find_instructions(self.program, where) if moments is None else frozenset(each.pc for each in moments)
        test = Condition.parse(condition, self.program.steps[min(pcs)].scope) if condition else None
        self._last_number += 1
        added = Breakpoint(
            self._last_number, str(where), pcs, within or Filter(), test, ignored, log, temporary,
            moments=moments, findings=found,
            needs_flush=test is not None and not test.names.isdisjoint(self.program.analysis(multiplied)),
        )  # fmt: skip
        self._breakpoints[added.number] = added
        return added

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """Findings of the sanitizer in the whole launch, with their moments.

        The first use runs a copy of the launch under the sanitizer.

        Errors: UsageError launch.sanitize; debug.history if the launch has moved and cannot go back.
        """
        if self._findings is None:
            self._begin()
            is_over, present = self.waves.is_over, self.moment
            self.go_to(self._first)
            copy = self._launch.fork()
            if is_over:
                self.run(Passive())
            else:
                self.go_to(present)
            self._findings = sanitized(copy)
        return self._findings

    @property
    def watches(self) -> tuple[Watch, ...]:
        """All watches, by number."""
        return tuple(self._watches.values())

    def watch(self, space: str, where: int | str, size: int = 4) -> Watch:
        """Add a watch, and return it. The launch stops after an instruction or a batch that changes the value.

        `space` is "global", "shared", "local", "tensor" or "register". `where` is an address, which in tensor memory
        has the lane in its upper 16 bits, or the name of a register of the lane in focus. The memory is that of the
        thread in focus. An mbarrier is a value of 8 bytes in shared memory. While there are watches, native code
        executes one batch at a time. A write of an equal value is no change. Units: `size` in bytes.

        Errors: UsageError debug.watch, debug.memory, debug.register; debug.focus if the CTA in focus is not resident.
        """
        self._begin()
        place = place_of(self.state, self.warp, self._focus.lane)
        pc = self.program.entry if place is None else place.pc
        found = make_watch(self._last_number + 1, space, where, size, self._focus, pc)
        if space != "tensor":  # columns may be allocated later
            found.read(self.state, self.warp)
        self._last_number += 1
        self._watches[found.number] = found
        return found

    def delete(self, number: int | None = None) -> None:
        """Delete a breakpoint or a watch, or all of them.

        Errors: UsageError debug.breakpoint for an unknown number.
        """
        for each in self._chosen(number):
            self._breakpoints.pop(each.number, None)
            self._watches.pop(each.number, None)

    def enable(self, number: int | None = None) -> None:
        """Enable a breakpoint or a watch, or all of them.

        Errors: UsageError debug.breakpoint for an unknown number.
        """
        for each in self._chosen(number):
            each.enabled = True

    def disable(self, number: int | None = None) -> None:
        """Disable a breakpoint or a watch, or all of them.

        Errors: UsageError debug.breakpoint for an unknown number.
        """
        for each in self._chosen(number):
            each.enabled = False

    def ignore(self, number: int, count: int) -> None:
        """Ignore the next `count` hits of a breakpoint.

        Errors: UsageError debug.breakpoint for an unknown number.
        """
        self._begin()
        (found,) = self._chosen(number)
        if not isinstance(found, Breakpoint):
            raise UsageError(f"{number} is a watch, which has no count of hits", code="debug.breakpoint")
        now = self.moment
        found.ignored, found.since = max(count, 0), now._replace(pc=now.pc + 1)

    def _chosen(self, number: int | None) -> tuple[Breakpoint | Watch, ...]:
        known: dict[int, Breakpoint | Watch] = {**self._breakpoints, **self._watches}
        if number is None:
            return tuple(known.values())
        if number not in known:
            numbers = ", ".join(map(str, sorted(known))) or "none"
            raise UsageError(f"there is no breakpoint {number}; known: {numbers}", code="debug.breakpoint")
        return (known[number],)

    # Movements --------------------------------------------------------------------------------------------

    def start(self) -> Stop:
        """Stop before the first instruction of the launch. Later calls return the present stop.

        Errors: Unsupported; UsageError launch.*.
        """
        self._begin()
        assert self._stop is not None
        return self._stop

    def resume(self, count: int = 1) -> Stop:
        """Run until breakpoints or watches have stopped the launch `count` times, or until the launch ends."""
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

    def goto(self, where: int | str | Moment) -> Stop:
        """Go to the first instruction with this number or a larger one, to a moment, or to "start" or "end".

        Breakpoints and watches do not stop this movement.

        Errors: UsageError debug.goto for another word; debug.history if the launch cannot go back.
        """
        self._begin()
        if where == "start":
            self.go_to(self._first)
        elif where == "end":
            self.run(Passive())
        elif isinstance(where, Moment):
            self.go_to(where)
        elif isinstance(where, int):
            self.go_to_number(where)
        else:
            raise UsageError(f"cannot go to '{where}'; expected a number, start or end", code="debug.goto")
        return self._ended() if self.waves.is_over else self._arrived("goto")

    def reverse_step(self, unit: str = "instruction", count: int = 1) -> Stop:
        """Go back to the previous instruction, line or barrier of the thread in focus, `count` times.

        In the middle of a line, the first step goes to the start of the line. If the thread has executed fewer steps,
        the launch stays where it is, and the stop has the reason "start". Breakpoints have no effect.

        Errors: as `step`; debug.history if the launch cannot go back.
        """
        return self._reverse(unit, count, into=True)

    def reverse_next(self, unit: str = "instruction", count: int = 1) -> Stop:
        """Go back as `reverse_step` does, without stops in functions that the thread has called."""
        return self._reverse(unit, count, into=False)

    def reverse_resume(self, count: int = 1) -> Stop:
        """Go back to the `count`-th last stop of a breakpoint or a watch, or to the start of the launch.

        The stops are those of `resume`. Breakpoints that log do not stop the movement.

        Errors: UsageError debug.history if the launch cannot go back.
        """
        self._begin()
        _check_count(count)
        watches = Watches(self._watches.values())
        found = previous_stop(self, self.breakpoints, watches, count)
        if found is None:
            self.go_to(self._first)
            return self._arrived("start")
        self._return_to(found, watches)
        hits = [each for each in self.breakpoints if found in each.hits and each.enabled and each.log is None]
        return self._arrived(_reason(hits) if hits else "watch", hits, watches.changes)

    def interrupt(self) -> None:
        """Request a stop from another thread. The present movement then ends soon, between two batches."""
        self._request.set()

    # Implementation ---------------------------------------------------------------------------------------

    def _begin(self) -> None:
        if self._stop is None:
            first = _First(self.program.entry)
            self.run(first)
            self._first = self.moment
            self._arrived("start")

    def _repeat(self, count: int, move: Callable[[], Stop], reasons: tuple[str, ...]) -> Stop:
        """Repeat a movement while it ends for one of some reasons. Return the last stop."""
        self._begin()
        _check_count(count)
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
        _check_unit(unit)
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

    def _reverse(self, unit: str, count: int, *, into: bool) -> Stop:
        self._begin()
        _check_count(count)
        _check_unit(unit)
        found = previous_visit(self, self.warp, self._focus.lane, unit, count, into=into)
        if found is None:
            return self._arrived("start")
        self.go_to(found)
        return self._arrived("step")

    def _move(self, target: Target | None) -> Stop:
        """Run until a condition is true, and return the stop."""
        self._begin()
        self._request.clear()
        began, watches = self.moment, Watches(self._watches.values())
        conditions = Conditions(
            lambda: self.state, self.moment_at, self._breakpoints.values(), target, self._request, self._log, watches
        )  # fmt: skip
        stopped = self.run(conditions)
        self.state.batches_per_call = BATCHES_PER_CALL
        if conditions.has_changed() and self._locate(began, watches):
            return self._arrived("watch", (), watches.changes)
        if not stopped:
            self.run(Passive())
            return self._ended()
        found = [each for each, _ in conditions.hits]
        if not found:
            return self._arrived(
                "step" if conditions.at_target else "exit" if conditions.has_left else "interrupt"
            )  # fmt: skip
        for each in found:
            if each.temporary:
                del self._breakpoints[each.number]
        return self._arrived(_reason(found), found, (), any_lane([each for _, each in conditions.hits]))

    def _locate(self, began: Moment, watches: Watches) -> bool:
        """Return to the first change of a watched value after the moment `began`, in the present batch."""
        if not self.can_go_back:
            return False
        self.go_to(max(began, self.moment_at(BETWEEN)))
        return watches.locate(self) is not None

    def _return_to(self, moment: Moment, watches: Watches) -> None:
        """Go to a moment. If a watched value changes directly before it, set `Watches.changes`."""
        batch = moment.batch - (moment.pc == BETWEEN)
        if watches.enabled:
            self.go_to(moment._replace(batch=batch, pc=BETWEEN))
            while (change := watches.locate(self)) is not None and change < moment:
                pass
            if change == moment:
                return
            watches.changes = ()
        self.go_to(moment)

    def _ended(self) -> Stop:
        """Return the stop at the end of the launch. Before a trap, go back to the instruction at fault."""
        error = self.waves.error
        if error is None:
            return self._arrived("end")
        if not isinstance(error, Trap):
            return self._arrived("deadlock")
        if self.can_go_back:
            self.go_to(self.moment_at(BETWEEN))
            before, last = self.moment, _Last(self)
            self.run(last)
            self.go_to(last.moment or before)
        return self._arrived("trap", error=error)

    def _log(self, breakpoint: Breakpoint, pc: int, batch: Batch, lanes: Lanes) -> None:
        """Call the function of a breakpoint that logs."""
        emulator = self.state
        emulator.flush()
        assert breakpoint.log is not None
        warps = batch.warp_index.tolist()
        every, chosen = executing(emulator, warps, batch.active()), executing(emulator, warps, lanes)
        moment, number = self.moment_at(pc), number_at(emulator, pc, batch)
        breakpoint.log(Stop("breakpoint", moment, number, pc, every, chosen, (breakpoint.number,)))

    def _arrived(
        self,
        reason: str,
        found: Sequence[Breakpoint] = (),
        changes: tuple[Change, ...] = (),
        lanes: Lanes | None = None,
        error: RunError | None = None,
    ) -> Stop:
        """Record the present stop, and move the focus to a thread that has stopped."""
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
        self._stop = Stop(
            reason, moment, number_of(emulator), moment.pc, every, chosen, tuple(each.number for each in found),
            changes, tuple(finding for each in found for finding in each.findings if finding.moment == moment),
            error or self.waves.error,
        )  # fmt: skip
        return self._stop

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


def _reason(hits: Sequence[Breakpoint]) -> str:
    """Return the reason of a stop at breakpoints."""
    return "finding" if any(each.findings for each in hits) else "breakpoint"


def _check_count(count: int) -> None:
    if count < 1:
        raise UsageError(f"the count is {count}; expected at least 1", code="debug.count")


def _check_unit(unit: str) -> None:
    if unit not in UNITS:
        raise UsageError(f"unknown unit '{unit}'", code="debug.unit", hint=did_you_mean(unit, UNITS, "'"))


class _Last(Passive):
    """Moment of the last instruction that a batch comes to."""

    def __init__(self, session: DebugSession) -> None:
        self.pcs = everywhere(session.program)
        self.moment: Moment | None = None
        self._session = session

    def reached(self, pc: int, batch: Batch) -> bool:
        self.moment = self._session.moment_at(pc)
        return False


class _First(Stops):
    """Stop before the first instruction of a launch."""

    def __init__(self, entry: int) -> None:
        self.pcs = frozenset({entry})

    def reached(self, pc: int, batch: Batch) -> bool:
        return True
