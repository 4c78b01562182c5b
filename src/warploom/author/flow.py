"""Structured control flow: `when`, `otherwise`, `loop`, `forever`. Each emits labels and branches.

The function of a kernel runs once, while the kernel is built: Python's own `if` and `for` choose and repeat at
that time, these do so when the kernel runs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from warploom.author.building import Building, current
from warploom.author.instructions import named, new
from warploom.author.values import Number, Register, type_of
from warploom.diag import UsageError
from warploom.ptx import Guard, Label


def branch(label: str, condition: Register | None = None, *, uniform: bool = False) -> None:
    """Go to a label, where the condition holds."""
    words = {"uni": True} if uniform else {}
    if condition is None:
        named("bra")(label, **words)
        return
    with guarded(condition):
        named("bra")(label, **words)


@contextmanager
def guarded(condition: Register) -> Generator[None]:
    """Put `@p` in front of every instruction of the block, which may not begin another."""
    building = current()
    if building.guard is not None:
        raise UsageError("an instruction has one guard; join the predicates first", code="author.guard")
    if condition.type != "pred":
        raise UsageError(f"a guard is a predicate; found {condition.type}", code="author.guard")
    building.guard = Guard(condition.name, condition.negated)
    try:
        yield
    finally:
        building.guard = None


@contextmanager
def when(condition: Register) -> Generator[None]:
    """Do the block where the condition holds. `otherwise` may follow."""
    building = current()
    end = building.label("end")
    branch(end, ~condition)
    yield
    building.place(end)


@contextmanager
def otherwise() -> Generator[None]:
    """Do the block where the condition of the `when` before it does not hold."""
    building = current()
    last = building.statements[-1][0] if building.statements else None
    if not isinstance(last, Label) or not last.name.startswith("end"):
        raise UsageError("`otherwise` follows a `when` directly", code="author.otherwise")
    building.statements.pop()
    end = building.label("end")
    branch(end)
    building.place(last.name)
    yield
    building.place(end)


class Loop:
    """A loop that is being built: `leave` goes behind it, `again` to its next turn."""

    def __init__(self, building: Building) -> None:
        self.head = building.label("loop")
        self.step = building.label("step")
        self.end = building.label("done")

    def leave(self, condition: Register | None = None) -> None:
        """Leave the loop, where the condition holds."""
        branch(self.end, condition)

    def again(self, condition: Register | None = None) -> None:
        """Go on with the next turn, where the condition holds."""
        branch(self.step, condition)


@contextmanager
def forever() -> Generator[Loop]:
    """Repeat the block until `leave`."""
    building = current()
    made = Loop(building)
    building.place(made.head)
    yield made
    building.place(made.step)
    branch(made.head)
    building.place(made.end)


@contextmanager
def while_(condition: Callable[[], Register]) -> Generator[Loop]:
    """Repeat the block while the condition, which is built at its head, holds."""
    with forever() as made:
        made.leave(~condition())
        yield made


def loop(
    start: Number | int, stop: Number | int | None = None, step: int = 1, *, type: str = "", unroll: int = 1
) -> Generator[Register]:
    """Turns of a kernel's `for`: from `start` to below `stop` by `step`, which is above 0.

    The block is built `unroll` times for as many turns at once, and once more for those that are left. The
    counter is of `type`, else of the type of the bounds, else u32.
    """
    first, last = (0, start) if stop is None else (start, stop)
    counter = new(type or type_of(first) or type_of(last) or "u32", first)
    building = current()
    if unroll > 1:
        # As signed numbers, so that a bound below the steps taken at once is below every counter.
        bound = named("sub")(last, step * (unroll - 1), type=f"s{counter.type[1:]}")
        with forever() as many:
            many.leave(named("setp")(counter, bound, CmpOp="ge", type=bound.type))
            for _ in range(unroll):
                yield counter
                counter += step
    made = Loop(building)
    building.place(made.head)
    made.leave(counter >= last)
    yield counter
    building.place(made.step)
    counter += step
    branch(made.head)
    building.place(made.end)
