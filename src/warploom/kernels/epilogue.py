"""What becomes of sums: the arithmetic between a thread's accumulators and its elements of D.

Wgmma and mma deal out sums alike: of 8 columns a thread has two neighbours in its row and two in the row 8 below.
"""

# The plan chooses the words of instructions, which the stubs want as literals.
# pyright: reportArgumentType=false, reportCallIssue=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from warploom.author import Location, Register, f32, guarded, new, ptx, s32
from warploom.kernels.hopper.plan import Epilogue, size_of

LOG2_E = 1.4426950408889634
_GELU = 0.7978845608028654, 0.044715  # sqrt(2 / pi), and the factor of the cube


class Outcome(Protocol):
    """What a plan says about its sums and about D."""

    @property
    def sums(self) -> str: ...  # noqa: D102
    @property
    def d(self) -> str: ...  # noqa: D102
    @property
    def epilogue(self) -> Epilogue: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Factors:
    """What an epilogue needs besides the sums, as the kernel's parameters give it; addresses of f32."""

    alpha: Any
    beta: Any
    row_scales: Any
    column_scales: Any
    bias: Any
    m: Any
    n: Any
    start: Any  # the address of D
    stride: Any  # bytes from a row of D to the next
    plane: Any  # and from one batch to the next


class OfRows(NamedTuple):
    """Numbers for each of a thread's two rows, where the epilogue has some."""

    scales: list[Register] | None
    biases: list[Register] | None


class OfColumns(NamedTuple):
    """Where the numbers for a thread's columns of a tile are, where the epilogue has some; how many are left."""

    scales: Location | None
    biases: Location | None
    left: Register | None


class Arithmetic:
    """One thread's epilogue. `pair` is the first of its two columns among 8."""

    def __init__(self, plan: Outcome, factors: Factors, pair: Any) -> None:
        self.plan, self.factors, self.pair = plan, factors, pair

    @property
    def kept(self) -> bool:
        """Whether sums in f16 go to D as they are, two in a word."""
        return self.plan.sums == "f16" and self.plan.epilogue.plain

    def of_rows(self, line: Any) -> OfRows:
        """What a thread's rows, `line` and the one 8 below, are scaled by, and what is added to them."""
        epilogue, factors = self.plan.epilogue, self.factors

        def each(array: Any) -> list[Register]:
            left = factors.m - line
            return [_number(array.element(line) + below * 4, below, left) for below in (0, 8)]

        return OfRows(
            each(factors.row_scales) if epilogue.row_scales else None,
            each(factors.bias) if epilogue.bias == "row" else None,
        )

    def of_columns(self, column: Any, own: Any = None) -> OfColumns:
        """What a thread's columns are scaled by, and what is added to them, in a tile that begins at `column` of D.

        `own` numbers come before those of the tile's group, where each group has its own.
        """
        epilogue, factors = self.plan.epilogue, self.factors
        biased = epilogue.bias == "column"
        if not (biased or epilogue.column_scales):
            return OfColumns(None, None, None)
        first = column + self.pair
        place = first if own is None else first + own
        return OfColumns(
            factors.column_scales.element(place) if epilogue.column_scales else None,
            factors.bias.element(place) if biased else None,
            factors.n - first,
        )

    def finished(
        self,
        sums: Sequence[Register],
        first: int,
        addend: Sequence[Register] | None,
        rows: OfRows,
        columns: OfColumns,
    ) -> list[Register]:
        """What 8 columns of the tile become, from `first` on.

        Four numbers, or two words of f16 where the sums stay what they are. `addend` are the elements of C as f32.
        """
        if self.kept:
            return list(sums[first // 4 : first // 4 + 2])
        quad = self._values(sums, first)
        return quad if self.plan.epilogue.plain else self._through(quad, first, addend, rows, columns)

    def words(self, quad: Sequence[Register]) -> list[Register]:
        """Of 8 finished columns the elements of D, two in a word where two have room: the row, then the one 8 below."""
        return (
            list(quad) if self.kept else [packed(self.plan.d, *quad[below : below + 2]) for below in (0, 2)]
        )

    def elements(self, quad: Sequence[Register], below: int) -> tuple[Register, ...]:
        """The two elements of a thread's row of 8 finished columns, each in a word of its size."""
        pair = quad[2 * below : 2 * below + 2]
        if size_of(self.plan.d) == 4:
            return tuple(pair)
        return apart(self.plan.d, quad[below] if self.kept else packed(self.plan.d, *pair))

    def _values(self, sums: Sequence[Register], first: int) -> list[Register]:
        """The four numbers of a thread in 8 columns of the tile."""
        if self.plan.sums == "f16":
            halved = [half for word in sums[first // 4 : first // 4 + 2] for half in halves(word, "f16")]
            return [ptx.cvt(half, dtype="f32") for half in halved]
        quad = list(sums[first // 2 : first // 2 + 4])
        if self.plan.sums == "s32" and self.plan.d != "s32":
            return [ptx.cvt(each, rnd="rn", dtype="f32") for each in quad]
        return quad

    def _through(
        self,
        quad: list[Register],
        first: int,
        addend: Sequence[Register] | None,
        rows: OfRows,
        columns: OfColumns,
    ) -> list[Register]:
        """What becomes of four sums: scaled, with C and bias added, through the activation."""
        epilogue, factors = self.plan.epilogue, self.factors
        of_columns, biases_of_columns = (
            None
            if place is None
            else [_number(place + each * 4, each, columns.left) for each in (first, first + 1)]
            for place in (columns.scales, columns.biases)
        )
        made: list[Register] = []
        for number, value in enumerate(quad):
            across, below = number % 2, number // 2
            if epilogue.scaled:
                value = value * factors.alpha
            if rows.scales is not None:
                value = value * rows.scales[below]
            if of_columns is not None:
                value = value * of_columns[across]
            if addend is not None:
                value = ptx.fma(addend[number], factors.beta, value, rnd="rn", type=f32)
            if rows.biases is not None:
                value = value + rows.biases[below]
            if biases_of_columns is not None:
                value = value + biases_of_columns[across]
            made.append(_activated(value, epilogue.activation))
        return made


def _number(place: Location, number: int, left: Any) -> Register:
    """An f32, 0 where `number` is not among the elements that are left."""
    found = new(f32, 0.0)
    with guarded(ptx.setp(left, number, CmpOp="gt", type=s32)):
        ptx.ld(place, type=f32, out=found)
    return found


def pairs(quads: Sequence[Sequence[Register]]) -> Iterator[tuple[Register, Register]]:
    """Of each 8 columns a thread's two numbers in its row, then the two in the row 8 below."""
    for quad in quads:
        yield quad[0], quad[1]
        yield quad[2], quad[3]


def packed(type_word: str, low: Register, high: Register) -> Register:
    """Two f32 as two elements of D in one word."""
    word: Any = f"{type_word}x2"
    if size_of(type_word) == 1:
        return ptx.cvt(high, low, rnd="rn", satfinite=True, dtype=word)
    return ptx.cvt(high, low, rnd="rn", dtype=word)


def unpacked(type_word: str, word: Register) -> list[Register]:
    """Two elements of C in one word as two f32."""
    held = type_word
    if size_of(type_word) == 1:
        pair: Any = f"{type_word}x2"
        word, held = ptx.cvt(word, rn=True, dtype="f16x2", atype=pair), "f16"
    return [ptx.cvt(half, dtype="f32") for half in halves(word, held)]


def apart(type_word: str, word: Register) -> tuple[Register, Register]:
    """Two elements in one word, each in a word of 16 bits; what is above an element of 8 bits does not count."""
    return halves(word, "b16") if size_of(type_word) == 2 else (word, ptx.shr(word, 8, type="u16"))


def halves(word: Register, type_word: str) -> tuple[Register, Register]:
    """The two halves of a word of 32 bits."""
    low, high = new(type_word), new(type_word)
    ptx.mov(word, out=[low, high], type="b32")
    return low, high


def _activated(value: Register, activation: str) -> Register:
    """The activation of a sum, by the approximations that the machine has in one instruction."""
    match activation:
        case "relu":
            return ptx.max(value, 0.0, type=f32)
        case "silu":
            shrunk = ptx.ex2(value * -LOG2_E, approx=True, ftz=True, type=f32)
            return value * ptx.rcp(shrunk + 1.0, approx=True, ftz=True, type=f32)
        case "gelu":
            root, cube = _GELU
            inner = value * ptx.fma(value * value, root * cube, root, rnd="rn", type=f32)
            half = value * 0.5
            return ptx.fma(half, ptx.tanh(inner, approx=True, type=f32), half, rnd="rn", type=f32)
        case _:
            return value
