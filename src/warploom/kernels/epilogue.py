"""Arithmetic of the epilogue: it turns the accumulators of a thread into elements of D.

In each 8 columns a thread has four accumulators: two neighbours in a row, and two neighbours 8 rows below.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from warploom.author import Location, Register, f32, guarded, new, s32
from warploom.kernels.plan import GemmPlan, size_of
from warploom.kernels.ptx import ptx

Registers = Sequence[Register]
LOG2_E = 1.4426950408889634
_GELU = 0.7978845608028654, 0.044715  # sqrt(2 / pi), and the factor of the cubic term


@dataclass(frozen=True, slots=True)
class EpilogueArguments:
    """Kernel parameters of an epilogue.

    `row_scales`, `column_scales` and `bias` are pointers to f32.
    """

    alpha: Any
    beta: Any
    row_scales: Any
    column_scales: Any
    bias: Any
    m: Any
    n: Any
    start: Any  # address of D
    stride: Any  # bytes from a row of D to the next
    plane: Any  # bytes from a batch of D to the next


class RowTerms(NamedTuple):
    """Scales and biases of the two rows of a thread. A field is None if the epilogue does not need it."""

    scales: list[Register] | None
    biases: list[Register] | None


class ColumnTerms(NamedTuple):
    """Locations of the scale and the bias of a thread's first column.

    `left` is the number of columns from this column to the end of D. A field is None if the epilogue does not need it.
    """

    scales: Location | None
    biases: Location | None
    left: Register | None


class EpilogueMath:
    """Epilogue of one thread. It computes columns `pair` and `pair + 1` of each 8 columns."""

    def __init__(self, plan: GemmPlan, arguments: EpilogueArguments, pair: Any) -> None:
        self.plan, self.arguments, self.pair = plan, arguments, pair
        # Accumulators in f16 go to D unchanged, two in a register.
        self.is_copy = plan.accumulator == "f16" and plan.epilogue.is_identity

    def row_terms(self, row: Any) -> RowTerms:
        """Load the scales and biases of rows `row` and `row + 8`."""
        epilogue, arguments = self.plan.epilogue, self.arguments

        def both(array: Any) -> list[Register]:
            left = arguments.m - row
            return [_load_or_zero(array.element(row) + below * 4, below, left) for below in (0, 8)]

        return RowTerms(
            both(arguments.row_scales) if epilogue.row_scales else None,
            both(arguments.bias) if epilogue.bias == "row" else None,
        )

    def column_terms(self, column: Any, group_offset: Any = None) -> ColumnTerms:
        """Return the locations of a thread's scale and bias, in a tile that starts at `column`.

        `group_offset` is the number of scales that precede those of this group of rows.
        """
        epilogue, arguments = self.plan.epilogue, self.arguments
        has_bias = epilogue.bias == "column"
        if not (has_bias or epilogue.column_scales):
            return ColumnTerms(None, None, None)
        first = column + self.pair
        index = first if group_offset is None else first + group_offset
        return ColumnTerms(
            arguments.column_scales.element(index) if epilogue.column_scales else None,
            arguments.bias.element(index) if has_bias else None,
            arguments.n - first,
        )

    def apply(
        self, accumulators: Registers, first: int, addend: Registers | None, rows: RowTerms, columns: ColumnTerms
    ) -> list[Register]:
        """Return a thread's results for 8 columns, from column `first` of the tile on.

        The results are four registers of f32 or s32. For copies of f16 accumulators they are two registers of two f16
        each. `addend` contains the elements of C as f32.
        """
        if self.is_copy:
            return list(accumulators[first // 4 : first // 4 + 2])
        quad = self._as_f32(accumulators, first)
        if self.plan.epilogue.is_identity:
            return quad
        epilogue, arguments = self.plan.epilogue, self.arguments
        scales, biases = (
            None
            if place is None
            else [_load_or_zero(place + each * 4, each, columns.left) for each in (first, first + 1)]
            for place in (columns.scales, columns.biases)
        )
        results: list[Register] = []
        for number, value in enumerate(quad):
            across, below = number % 2, number // 2
            if epilogue.scaled:
                value = value * arguments.alpha
            if rows.scales is not None:
                value = value * rows.scales[below]
            if scales is not None:
                value = value * scales[across]
            if addend is not None:
                value = ptx.fma(addend[number], arguments.beta, value, rnd="rn", type=f32)
            if rows.biases is not None:
                value = value + rows.biases[below]
            if biases is not None:
                value = value + biases[across]
            results.append(_activated(value, epilogue.activation))
        return results

    def packed(self, quad: Registers) -> list[Register]:
        """Convert `quad`, a result of `apply`, to the type of D. Return one register for each of two rows."""
        return list(quad) if self.is_copy else [pack(self.plan.d, *quad[i : i + 2]) for i in (0, 2)]

    def elements(self, quad: Registers, below: int) -> tuple[Register, ...]:
        """Return two elements of D from `quad`, a result of `apply`. `below` selects the row, 0 or 1."""
        pair = quad[2 * below : 2 * below + 2]
        if size_of(self.plan.d) == 4:
            return tuple(pair)
        return split_pair(self.plan.d, quad[below] if self.is_copy else pack(self.plan.d, *pair))

    def _as_f32(self, accumulators: Registers, first: int) -> list[Register]:
        """Return the four accumulators of 8 columns as f32, or as s32 if D is s32.

        `first` is the first of the columns.
        """
        if self.plan.accumulator == "f16":
            words = accumulators[first // 4 : first // 4 + 2]
            halved = [half for word in words for half in halves(word, "f16")]
            return [ptx.cvt(half, dtype="f32") for half in halved]
        quad = list(accumulators[first // 2 : first // 2 + 4])
        if self.plan.accumulator == "s32" and self.plan.d != "s32":
            return [ptx.cvt(each, rnd="rn", dtype="f32") for each in quad]
        return quad


def _load_or_zero(place: Location, number: int, left: Any) -> Register:
    """Return the f32 at `place` if `number` is below `left`, otherwise 0."""
    found = new(f32, 0.0)
    with guarded(ptx.setp(left, number, CmpOp="gt", type=s32)):
        ptx.ld(place, type=f32, out=found)
    return found


def pack(type_word: str, low: Register, high: Register) -> Register:
    """Convert two f32 to the type `type_word`. Return both in one register."""
    saturation = {"satfinite": True} if size_of(type_word) == 1 else {}
    return ptx.cvt(high, low, rnd="rn", **saturation, dtype=f"{type_word}x2")


def unpack(type_word: str, word: Register) -> list[Register]:
    """Convert two elements of type `type_word` in a register to f32."""
    held = type_word
    if size_of(type_word) == 1:
        word, held = ptx.cvt(word, rn=True, dtype="f16x2", atype=f"{type_word}x2"), "f16"
    return [ptx.cvt(half, dtype="f32") for half in halves(word, held)]


def split_pair(type_word: str, word: Register) -> tuple[Register, Register]:
    """Return the two packed elements of `word`. Each result has 16 bits.

    If the elements have 8 bits, the upper bits of a result are undefined.
    """
    return halves(word, "b16") if size_of(type_word) == 2 else (word, ptx.shr(word, 8, type="u16"))


def halves(word: Register, type_word: str) -> tuple[Register, Register]:
    """Return the two 16-bit halves of a 32-bit register. The results have the type `type_word`."""
    low, high = new(type_word), new(type_word)
    ptx.mov(word, out=[low, high], type="b32")
    return low, high


def _activated(value: Register, activation: str) -> Register:
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
