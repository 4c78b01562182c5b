"""Control flow of kernels: labels, branches, guards, `when`, `otherwise` and loops.

The Python function of a kernel runs once, while the kernel is built. Python's own `if` and `for` choose and repeat at
build time. The functions of this module emit labels and branches that choose and repeat when the kernel runs.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from typing import Any

from warploom.author import ptx
from warploom.author.builder import Builder, current
from warploom.author.errors import author_error, caller_line
from warploom.author.instructions import new
from warploom.author.values import Register, type_of
from warploom.ptx import Guard, Label


def label(name: str) -> str:
    """Declare a label without placing it, so that `branch` can use it. Errors: AuthorError author.label."""
    builder = current()
    if name in builder.names.labels:
        raise author_error(f"label '{name}' already exists", "author.label")
    builder.names.labels[name] = Label(name)
    builder.user_labels[name] = caller_line()
    return name


def put(name: str) -> None:
    """Place the label `name` here, and declare it if necessary. Errors: AuthorError author.label."""
    builder = current()
    if any(isinstance(each, Label) and each.name == name for each, _ in builder.statements):
        raise author_error(f"label '{name}' is placed twice", "author.label")
    if name not in builder.user_labels:
        label(name)
    builder.place_label(name)


def branch(to: str, condition: Register | None = None, *, uniform: bool = False) -> None:
    """Branch to the label `to`.

    With a `condition`, only threads in which the condition holds branch. `uniform` states that all threads of a warp
    agree.
    """
    words = {"uni": True} if uniform else {}
    with nullcontext() if condition is None else guarded(condition):
        ptx.bra(to, **words)


@contextmanager
def guarded(condition: Register) -> Generator[None]:
    """Guard all instructions of the `with` block by `@condition`. Errors: AuthorError author.guard."""
    builder = current()
    if builder.guard is not None:
        message = "the block is already guarded; an instruction has only one guard"
        raise author_error(message, "author.guard", "join the predicates with &")
    _check_predicate(condition, "the guard")
    builder.guard = Guard(condition.name, condition.negated)
    try:
        yield
    finally:
        builder.guard = None


def _check_predicate(condition: object, what: str) -> None:
    if type_of(condition) != "pred":
        found = f"a register of {type_of(condition)}" if type_of(condition) else repr(condition)
        hint = "a comparison such as x != 0 returns a predicate"
        raise author_error(f"{what} is {found}; expected a predicate", "author.guard", hint)


@contextmanager
def when(condition: Register, *, uniform: bool = False) -> Generator[None]:
    """Execute the `with` block in the threads for which the condition holds.

    An `otherwise` block may follow. `uniform` states that the condition is the same in all threads of a warp.

    Errors: AuthorError author.guard.
    """
    builder = current()
    _check_predicate(condition, "the condition of `when`")
    end = builder.label("end")
    branch(end, ~condition, uniform=uniform)
    yield
    builder.place_label(end)
    builder.when_end = end


@contextmanager
def otherwise() -> Generator[None]:
    """Run the `with` block in threads that skipped the last `when`. Errors: AuthorError author.otherwise."""
    builder = current()
    last = builder.statements[-1][0] if builder.statements else None
    if not isinstance(last, Label) or last.name != builder.when_end:
        raise author_error("`otherwise` must directly follow a `when` block", "author.otherwise")
    builder.statements.pop()
    end = builder.label("end")
    branch(end)
    builder.place_label(last.name)
    yield
    builder.place_label(end)


class Loop:
    """Loop under construction, with functions to leave and to continue it."""

    def __init__(self, builder: Builder) -> None:
        self.head = builder.label("loop")
        self.step = builder.label("step")
        self.end = builder.label("done")
        builder.place_label(self.head)

    def leave(self, condition: Register | None = None) -> None:
        """Leave the loop if `condition` holds or is None."""
        branch(self.end, condition)

    def again(self, condition: Register | None = None) -> None:
        """Continue with the next iteration if `condition` holds or is None."""
        branch(self.step, condition)


@contextmanager
def forever() -> Generator[Loop]:
    """Repeat the `with` block at run time. The method `leave` of the yielded loop ends the loop."""
    builder = current()
    made = Loop(builder)
    yield made
    builder.place_label(made.step)
    branch(made.head)
    builder.place_label(made.end)


@contextmanager
def while_(condition: Callable[[], Register]) -> Generator[Loop]:
    """Repeat the `with` block while a predicate holds. `condition` computes the predicate."""
    with forever() as made:
        made.leave(~condition())
        yield made


def loop(
    start: Register | int, stop: Register | int | None = None, step: int = 1, *, type: str = "", unroll: int = 1
) -> Generator[Register]:
    """Emit a loop that counts from `start` to below `stop` by `step`, and yield the counter.

    Write `for i in loop(start, stop)`, or `loop(stop)` to start at 0. With `unroll`, each iteration contains `unroll`
    copies of the body, and a second loop executes the remaining iterations. The counter has the type `type`. By
    default, it has the type of the bounds, or u32.

    Errors: AuthorError author.loop.
    """
    if not isinstance(step, int) or step < 1 or unroll < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        message = f"a loop has step {step!r} and unroll {unroll!r}; expected integers above 0"
        raise author_error(message, "author.loop")
    first, last = (0, start) if stop is None else (start, stop)
    counter = new(type or type_of(first) or type_of(last) or "u32", first)
    builder = current()
    if unroll > 1:
        # The bound is signed, so that it is negative if the loop has fewer than `unroll` iterations.
        signed: Any = f"s{counter.type[1:]}"
        bound = ptx.sub(last, step * (unroll - 1), type=signed)
        with forever() as unrolled:
            unrolled.leave(ptx.setp(counter, bound, CmpOp="ge", type=signed))
            for _ in range(unroll):
                yield counter
                counter += step
    made = Loop(builder)
    made.leave(counter >= last)
    yield counter
    builder.place_label(made.step)
    counter += step
    branch(made.head)
    builder.place_label(made.end)
