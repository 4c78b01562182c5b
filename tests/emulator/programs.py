"""Random structured programs: as PTX for the emulator, and run thread by thread in Python.

Every thread folds the numbers of the statements it passes into an accumulator, so that the accumulator
tells the way it took. Ways depend on the accumulator and the thread, so lanes part again and again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count

from hypothesis import strategies as st

WORD = 0xFFFF_FFFF


@dataclass(frozen=True)
class Fold:
    """acc = acc * 31 + number."""

    number: int


@dataclass(frozen=True)
class Choice:
    """if a bit of acc ^ tid * factor is set: yes, else: no."""

    factor: int
    bit: int
    yes: tuple[Statement, ...]
    no: tuple[Statement, ...]


@dataclass(frozen=True)
class Loop:
    """body, as many times as the low two bits of acc + tid * factor say; the count is taken first."""

    factor: int
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Switch:
    """One of four bodies, by the low two bits of acc + tid * factor."""

    factor: int
    bodies: tuple[tuple[Statement, ...], ...]


@dataclass(frozen=True)
class Leave:
    """break, continue, return or exit, if a bit of acc ^ tid * factor is set."""

    kind: str
    factor: int
    bit: int


@dataclass(frozen=True)
class Call:
    """acc = the function's result for acc."""

    function: int


Statement = Fold | Choice | Loop | Switch | Leave | Call

_bits = {"factor": st.integers(0, 2**16), "bit": st.integers(0, 6)}


def blocks(
    depth: int, loops: bool, returns: bool, exits: bool, functions: int
) -> st.SearchStrategy[tuple[Statement, ...]]:
    """Statements; `loops` says that a loop is around them."""
    kinds = [*(["break", "continue"] if loops else []), *(["ret"] if returns else []), *(["exit"] if exits else [])]
    simple: list[st.SearchStrategy[Statement]] = [st.builds(Fold, st.integers(1, 999))]
    if kinds:
        simple.append(st.builds(Leave, st.sampled_from(kinds), **_bits))
    if functions:
        simple.append(st.builds(Call, st.integers(0, functions - 1)))
    if depth:
        inner = blocks(depth - 1, loops, returns, exits, functions)
        simple += [
            st.builds(Choice, yes=inner, no=inner, **_bits),
            st.builds(Loop, _bits["factor"], blocks(depth - 1, True, returns, exits, functions)),
            st.builds(Switch, _bits["factor"], st.tuples(inner, inner, inner, inner)),
        ]
    return st.lists(st.one_of(simple), max_size=3).map(tuple)


@dataclass(frozen=True)
class Program:
    """A kernel's body and the functions it may call; a later function may call the earlier ones."""

    body: tuple[Statement, ...]
    functions: tuple[tuple[Statement, ...], ...]


programs = st.builds(
    Program,
    blocks(3, False, False, True, 2),
    st.tuples(blocks(2, False, True, False, 0), blocks(2, False, True, True, 1)),
)


# In Python --------------------------------------------------------------------------------------------------


class _Exit(Exception):
    """The thread leaves the kernel."""


def outcome(program: Program, tid: int) -> int:
    """The accumulator of a thread at its end."""
    thread = _Thread(program, tid)
    with suppress(_Exit):
        thread.block(program.body)
    return thread.acc


class _Thread:
    def __init__(self, program: Program, tid: int) -> None:
        self.program = program
        self.tid = tid
        self.acc = tid

    def block(self, statements: tuple[Statement, ...]) -> str:
        """Run; "" or how the block was left."""
        for statement in statements:
            left = self.statement(statement)
            if left:
                return left
        return ""

    def statement(self, statement: Statement) -> str:
        match statement:
            case Fold(number):
                self.acc = (self.acc * 31 + number) & WORD
            case Choice(factor, bit, yes, no):
                return self.block(yes if self._bit(factor, bit) else no)
            case Loop(factor, body):
                for _ in range(self._low(factor)):
                    left = self.block(body)
                    if left == "break":
                        break
                    if left == "ret":
                        return left
            case Switch(factor, bodies):
                return self.block(bodies[self._low(factor)])
            case Leave(kind, factor, bit) if self._bit(factor, bit):
                if kind == "exit":
                    raise _Exit
                return kind
            case Call(function):
                self.block(self.program.functions[function])
            case _:
                pass
        return ""

    def _bit(self, factor: int, bit: int) -> int:
        return (self.acc ^ self.tid * factor & WORD) >> bit & 1

    def _low(self, factor: int) -> int:
        return (self.acc + self.tid * factor) & 3


# In PTX -----------------------------------------------------------------------------------------------------


def text(program: Program) -> tuple[str, str]:
    """The body of a kernel with a parameter `out`, and the functions that stand before it."""
    labels = count()
    before = "".join(
        f".func (.reg .u32 %result) f{number}(.reg .u32 %given, .reg .u32 %thread, .reg .u64 %rd1)\n{{\n"
        ".reg .b32 %r<50>, %acc; .reg .pred %p<10>;\nmov.u32 %acc, %given;\nmov.u32 %r0, %thread;\n"
        + "\n".join(_lines(body, labels, ()))
        + "\nmov.u32 %result, %acc;\nret;\n}\n"
        for number, body in enumerate(program.functions)
    )
    lines = [
        ".reg .b32 %acc;",
        "mov.u32 %acc, %r0;",
        *_lines(program.body, labels, ()),
        "st.global.u32 [%rd1], %acc;",
        "ret;",
    ]
    return "\n".join(lines), before


def _lines(
    statements: tuple[Statement, ...], labels: Iterator[int], around: tuple[tuple[str, str], ...]
) -> Iterator[str]:
    for statement in statements:
        yield from _statement(statement, labels, around)


def _statement(statement: Statement, labels: Iterator[int], around: tuple[tuple[str, str], ...]) -> Iterator[str]:
    match statement:
        case Fold(number):
            yield f"mad.lo.u32 %acc, %acc, 31, {number};"
        case Choice(factor, bit, yes, no):
            label = next(labels)
            yield from _test(factor, bit)
            yield f"@!%p1 bra ELSE{label};"
            yield from _lines(yes, labels, around)
            yield f"bra END{label};"
            yield f"ELSE{label}:"
            yield from _lines(no, labels, around)
            yield f"END{label}:"
        case Loop(factor, body):
            label = next(labels)
            counter = f"%r{20 + len(around)}"
            yield f"mad.lo.u32 {counter}, %r0, {factor}, %acc;"
            yield f"and.b32 {counter}, {counter}, 3;"
            yield f"LOOP{label}:"
            yield f"setp.eq.u32 %p1, {counter}, 0;"
            yield f"@%p1 bra DONE{label};"
            yield f"sub.u32 {counter}, {counter}, 1;"
            yield from _lines(body, labels, (*around, (f"DONE{label}", f"LOOP{label}")))
            yield f"bra LOOP{label};"
            yield f"DONE{label}:"
        case Switch(factor, bodies):
            label = next(labels)
            yield f"mad.lo.u32 %r1, %r0, {factor}, %acc;"
            yield "and.b32 %r1, %r1, 3;"
            yield f"TABLE{label}: .branchtargets {', '.join(f'CASE{label}_{n}' for n in range(4))};"
            yield f"brx.idx %r1, TABLE{label};"
            for number, body in enumerate(bodies):
                yield f"CASE{label}_{number}:"
                yield from _lines(body, labels, around)
                yield f"bra END{label};"
            yield f"END{label}:"
        case Leave(kind, factor, bit):
            yield from _test(factor, bit)
            if kind == "exit":
                yield "@%p1 st.global.u32 [%rd1], %acc;"
                yield "@%p1 exit;"
            elif kind == "ret":
                yield "@%p1 mov.u32 %result, %acc;"
                yield "@%p1 ret;"
            else:
                yield f"@%p1 bra {around[-1][kind == 'continue']};"
        case Call(function):
            yield f"call (%acc), f{function}, (%acc, %r0, %rd1);"


def _test(factor: int, bit: int) -> Iterator[str]:
    yield f"mul.lo.u32 %r1, %r0, {factor};"
    yield "xor.b32 %r1, %r1, %acc;"
    yield f"bfe.u32 %r1, %r1, {bit}, 1;"
    yield "setp.ne.u32 %p1, %r1, 0;"
