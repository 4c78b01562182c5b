"""Arithmetic of the epilogue, which converts the accumulators of a thread to its elements of D.

The accumulators of wgmma and mma have the same layout. In each 8 columns, a thread holds four elements: two neighbours
in its row, and two in the same columns 8 rows further down.
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
    """Kernel parameters of an epilogue: factors, pointers to f32 vectors, sizes, and the layout of D."""

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
    """Scales and biases of the two rows of a thread. A field is None if the epilogue lacks it."""

    scales: list[Register] | None
    biases: list[Register] | None


class ColumnTerms(NamedTuple):
    """Locations of the scales and biases of a thread's first column.

    `left` is the number of columns from this column to the end of D. A field is None if the epilogue does not need it.
    """

    scales: Location | None
    biases: Location | None
    left: Register | None


class EpilogueMath:
    """Epilogue of one thread, which computes columns `pair` and `pair + 1` of each 8 columns."""

    def __init__(self, plan: GemmPlan, arguments: EpilogueArguments, pair: Any) -> None:
        self.plan, self.arguments, self.pair = plan, arguments, pair
        # Accumulators in f16 go to D unchanged, two in a register.
        self.is_copy = plan.accumulator == "f16" and plan.epilogue.is_identity

    def row_terms(self, row: Any) -> RowTerms:
        """Load the scales and biases of the two rows of a thread, `row` and `row + 8`."""
        epilogue, arguments = self.plan.epilogue, self.arguments

        def both(array: Any) -> list[Register]:
            left = arguments.m - row
            return [_load_or_zero(array.element(row) + below * 4, below, left) for below in (0, 8)]

        return RowTerms(
            both(arguments.row_scales) if epilogue.row_scales else None,
            both(arguments.bias) if epilogue.bias == "row" else None,
        )

    def column_terms(self, column: Any, group_offset: Any = None) -> ColumnTerms:
        """Return the locations of the column scales and biases of a thread in a tile that starts at `column`.

        `group_offset` is the number of scales, or biases, of earlier groups of rows.
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
        """Return the results of a thread in the 8 columns of the tile from column `first` on.

        The results are four registers of f32 or s32. If the epilogue copies f16 accumulators unchanged, they are two
        registers of two f16 each. `addend` contains the elements of C as f32.
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
        """Return `quad`, a result of `apply`, as two registers of elements of D, one for each row."""
        return list(quad) if self.is_copy else [pack(self.plan.d, *quad[i : i + 2]) for i in (0, 2)]

    def elements(self, quad: Registers, below: int) -> tuple[Register, ...]:
        """Return the two elements of D in row `below` (0 or 1) of `quad`, a result of `apply`."""
        pair = quad[2 * below : 2 * below + 2]
        if size_of(self.plan.d) == 4:
            return tuple(pair)
        return split_pair(self.plan.d, quad[below] if self.is_copy else pack(self.plan.d, *pair))

    def _as_f32(self, accumulators: Registers, first: int) -> list[Register]:
        """Return the four accumulators in the 8 columns from `first` on as f32, or as s32 if D is s32."""
        if self.plan.accumulator == "f16":
            words = accumulators[first // 4 : first // 4 + 2]
            halved = [half for word in words for half in halves(word, "f16")]
            return [ptx.cvt(half, dtype="f32") for half in halved]
        quad = list(accumulators[first // 2 : first // 2 + 4])
        if self.plan.accumulator == "s32" and self.plan.d != "s32":
            return [ptx.cvt(each, rnd="rn", dtype="f32") for each in quad]
        return quad


def _load_or_zero(place: Location, number: int, left: Any) -> Register:
    """Return the f32 at `place` if `number` is below `left`, the number of remaining elements, else 0."""
    found = new(f32, 0.0)
    with guarded(ptx.setp(left, number, CmpOp="gt", type=s32)):
        ptx.ld(place, type=f32, out=found)
    return found


def pack(type_word: str, low: Register, high: Register) -> Register:
    """Convert the f32 `low` and `high` to the type `type_word`, and return both in one register."""
    saturation = {"satfinite": True} if size_of(type_word) == 1 else {}
    return ptx.cvt(high, low, rnd="rn", **saturation, dtype=f"{type_word}x2")


def unpack(type_word: str, word: Register) -> list[Register]:
    """Convert the two elements of a register from the type `type_word` to f32."""
    held = type_word
    if size_of(type_word) == 1:
        word, held = ptx.cvt(word, rn=True, dtype="f16x2", atype=f"{type_word}x2"), "f16"
    return [ptx.cvt(half, dtype="f32") for half in halves(word, held)]


def split_pair(type_word: str, word: Register) -> tuple[Register, Register]:
    """Return the two packed elements of `word` in 16 bits each. Bits above an 8-bit element are undefined."""
    return halves(word, "b16") if size_of(type_word) == 2 else (word, ptx.shr(word, 8, type="u16"))


def halves(word: Register, type_word: str) -> tuple[Register, Register]:
    """Return the two 16-bit halves of a 32-bit register, as registers of the type `type_word`."""
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
