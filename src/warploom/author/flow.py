"""Structured control flow: `when`, `otherwise`, `loop`, `forever`. Each emits labels and branches.

The function of a kernel runs once, while the kernel is built: Python's own `if` and `for` choose and repeat at
that time, these do so when the kernel runs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from warploom.author.building import Building, current, here, misuse
from warploom.author.instructions import named, new
from warploom.author.values import Number, Register, type_of
from warploom.ptx import Guard, Label


def label(name: str) -> str:
    """A label with a name of its own, for `branch` and `put`. Errors: AuthorError author.label."""
    building = current()
    if name in building.names.labels:
        raise misuse(f"there is a label '{name}' already", "author.label")
    building.names.labels[name] = Label(name)
    building.marks[name] = here()
    return name


def put(name: str) -> None:
    """Put a label here, one that `label` made or a new one. Errors: AuthorError author.label."""
    building = current()
    if any(isinstance(each, Label) and each.name == name for each, _ in building.statements):
        raise misuse(f"the label '{name}' stands twice", "author.label")
    if name not in building.marks:
        label(name)
    building.place(name)


def branch(to: str, condition: Register | None = None, *, uniform: bool = False) -> None:
    """Go to a label, where the condition holds."""
    words = {"uni": True} if uniform else {}
    if condition is None:
        named("bra")(to, **words)
        return
    with guarded(condition):
        named("bra")(to, **words)


@contextmanager
def guarded(condition: Register) -> Generator[None]:
    """Put `@p` in front of every instruction of the block, which may not begin another."""
    building = current()
    if building.guard is not None:
        raise misuse(
            "this is guarded already; an instruction has one guard",
            "author.guard",
            "join the predicates with &",
        )
    _predicate(condition, "a guard")
    building.guard = Guard(condition.name, condition.negated)
    try:
        yield
    finally:
        building.guard = None


def _predicate(condition: object, what: str) -> None:
    if type_of(condition) != "pred":
        found = f"a register of {type_of(condition)}" if type_of(condition) else repr(condition)
        raise misuse(
            f"{what} is {found}; expected a predicate", "author.guard", "a comparison makes one: x != 0"
        )


@contextmanager
def when(condition: Register, *, uniform: bool = False) -> Generator[None]:
    """Do the block where the condition holds, which with `uniform` is the same in every thread of a warp.
    `otherwise` may follow.
    """
    building = current()
    _predicate(condition, "the condition of `when`")
    end = building.label("end")
    branch(end, ~condition, uniform=uniform)
    yield
    building.place(end)
    building.open_end = end


@contextmanager
def otherwise() -> Generator[None]:
    """Do the block where the condition of the `when` before it does not hold."""
    building = current()
    last = building.statements[-1][0] if building.statements else None
    if not isinstance(last, Label) or last.name != building.open_end:
        raise misuse("there is no `when` directly before this `otherwise`", "author.otherwise")
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
    if not isinstance(step, int) or step < 1 or unroll < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise misuse(
            f"a loop by steps of {step!r}, unrolled {unroll!r} times; expected whole numbers above 0",
            "author.loop",
        )
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
