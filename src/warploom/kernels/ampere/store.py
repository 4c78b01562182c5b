"""The epilogue of a warp: its sums become elements of D, 16 rows at a time by way of shared memory.

There the elements are exchanged so that a thread stores 16 bytes, and neighbours store what is side by side. The
patch is swizzled so that neither its writes nor its reads meet in a bank.
"""

# The plan chooses the words of instructions, which the stubs want as literals.
# pyright: reportArgumentType=false, reportCallIssue=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from warploom.author import Location, Register, guarded, new, ptx, u32, when
from warploom.kernels.ampere.plan import CHUNK, Plan, mask
from warploom.kernels.epilogue import Arithmetic, Factors, OfColumns, apart, unpacked
from warploom.kernels.hopper.plan import size_of

_ALL = 0xFFFFFFFF  # lanes
Addends = list[Register] | None


@dataclass(frozen=True, slots=True)
class Addend:
    """Where C is: its address, bytes from a row to the next and from a batch to the next."""

    start: Any
    stride: Any
    plane: Any


class Store:
    """One warp's way to D. `patch` is the address of its shared memory."""

    def __init__(self, plan: Plan, patch: Any, lane: Any, factors: Factors, addend: Addend) -> None:
        self.plan, self.factors, self.addend = plan, factors, addend
        self.row, self.pair = lane >> 2, (lane & 3) * 2
        self.arithmetic = Arithmetic(plan, factors, self.pair)
        size, span = size_of(plan.d), plan.row_bytes
        self.chunks = span // CHUNK
        self.rows = 32 // self.chunks  # that a warp stores at once
        inside = self.pair * size  # of the bytes of 8 columns
        to = patch + self.row * span + (self._mask(self.row) * CHUNK ^ inside)
        self.to = [to ^ chunk * CHUNK if chunk else to for chunk in range(self.chunks)]
        self.out_row, self.chunk = lane // self.chunks, lane % self.chunks
        self.back = patch + self.out_row * span + (self._mask(self.out_row) ^ self.chunk) * CHUNK

    def _mask(self, row: Any) -> Any:
        """The swizzle of the patch. Of 32 bits, 4 rows are written at once, with two chunks each."""
        if size_of(self.plan.d) == 4:
            return (row & 3) << 1
        return mask(row, min(self.plan.row_bytes, 128))

    def __call__(self, sums: Sequence[Sequence[Register]], row: Any, column: Any, batch: Any) -> None:
        """Store a warp's tile whose first element is at `row` and `column` of D."""
        plan, factors = self.plan, self.factors
        size = size_of(plan.d)
        first = column + self.chunk * (CHUNK // size)
        start = (
            factors.start + ptx.mul_wide(first, size, type=u32) + ptx.cvt(batch, dtype="u64") * factors.plane
        )
        columns = self.arithmetic.of_columns(column)
        whole = ptx.setp(first + CHUNK // size, factors.n, CmpOp="le", type=u32)
        for number, of_rows in enumerate(sums):
            line = row + number * 16
            if number:
                ptx.bar_warp(_ALL)
            self._write(of_rows, line + self.row, columns, self._addends(line + self.row, column, batch))
            ptx.bar_warp(_ALL)
            for above in range(0, 16, self.rows):
                at = line + above + self.out_row
                place = ptx.mad_wide(at, factors.stride, start, type=u32)
                self._out(place, self._read(above), at < factors.m, first, whole)

    def _addends(self, line: Any, column: Any, batch: Any) -> Iterator[Addends]:
        """A thread's elements of C as f32, for each 8 columns; 0 outside of C."""
        type_word, blocks = self.plan.epilogue.addend, self.plan.tile.warp_columns // 8
        if not type_word:
            yield from [None] * blocks
            return
        size, first = size_of(type_word), column + self.pair
        start = self.addend.start + ptx.mul_wide(first, size, type=u32)
        start = start + ptx.cvt(batch, dtype="u64") * self.addend.plane
        lines = [line + below for below in (0, 8)]
        places = [ptx.mad_wide(each, self.addend.stride, start, type=u32) for each in lines]
        inside = [each < self.factors.m for each in lines]
        for number in range(blocks):
            if number:
                ptx.bar_warp(
                    _ALL
                )  # else the assembler would load all of them at once, and run out of registers
            yield [
                each
                for place, held in zip(places, inside, strict=True)
                for each in self._pair(place, first + 8 * number, 8 * number * size, held)
            ]

    def _pair(self, place: Any, column: Any, offset: int, inside: Any) -> list[Register]:
        """Two neighbours in a row of C. Where rows end with whole 16 bytes, both are there or none."""
        type_word: Any = self.plan.epilogue.addend
        size = size_of(type_word)
        if not self.plan.ragged:
            held = ptx.setp(column, self.factors.n, inside, CmpOp="lt", BoolOp="and", type=u32)
            if size == 4:
                both = [new(type_word, 0.0) for _ in range(2)]
                with guarded(held):
                    ptx.ld(place.at(offset, "global"), vec="v2", type=type_word, out=both)
                return both
            return unpacked(type_word, _bits(place.at(offset, "global"), 2 * size, held))
        parts: list[Register] = []
        for across in range(2):
            held = ptx.setp(column + across, self.factors.n, inside, CmpOp="lt", BoolOp="and", type=u32)
            parts.append(_bits(place.at(offset + across * size, "global"), size, held))
        if size == 4:
            return [ptx.mov(part, type=type_word) for part in parts]
        if size == 2:
            return unpacked(type_word, ptx.mov(parts, type="b32"))
        return unpacked(type_word, parts[1] << 8 | parts[0])

    def _write(
        self,
        sums: Sequence[Register],
        line: Any,
        columns: OfColumns,
        addends: Iterator[list[Register] | None],
    ) -> None:
        """Put 16 rows into the patch, 8 columns at a time."""
        span, size = self.plan.row_bytes, size_of(self.plan.d)
        type_word: Any = self.plan.d if size == 4 else f"b{16 * size}"
        rows = self.arithmetic.of_rows(line)
        for number, addend in enumerate(addends):
            quad = self.arithmetic.finished(sums, 8 * number, addend, rows, columns)
            chunk, inside = divmod(8 * number * size, CHUNK)
            for below in range(2):
                place = self.to[chunk].at(inside + below * 8 * span, "shared")
                if size == 4:
                    ptx.st(place, quad[2 * below : 2 * below + 2], vec="v2", type=type_word)
                else:
                    ptx.st(place, self.arithmetic.words(quad)[below], type=type_word)

    def _read(self, above: int) -> tuple[Register, ...]:
        """A thread's 16 bytes of a row of the patch, `above` rows below its first."""
        turned = self._mask(above) * CHUNK
        here = self.back ^ turned if turned else self.back
        return ptx.ld(here.at(above * self.plan.row_bytes, "shared"), vec="v4", type="b32")

    def _out(self, place: Any, words: Sequence[Register], inside: Any, first: Any, whole: Any) -> None:
        """Store 16 bytes of a row, or the elements of them that D has."""
        size, n = size_of(self.plan.d), self.factors.n
        type_word: Any = f"b{8 * size}"
        with guarded(ptx.and_(inside, whole, type="pred")):
            ptx.st(place.at(0, "global"), list(words), vec="v4", type="b32")
        if not self.plan.ragged:
            return
        with when(ptx.and_(inside, ~whole, type="pred")):
            for number, element in enumerate(each for word in words for each in _elements(word, size)):
                with guarded(first + number < n):
                    ptx.st(place.at(number * size, "global"), element, type=type_word)


def _bits(place: Location, size: int, held: Register) -> Register:
    """Some bytes of memory where they are held, else 0."""
    type_word: Any = f"b{8 * size}"
    found = new(type_word if size > 1 else "b16", 0)
    with guarded(held):
        ptx.ld(place, type=type_word, out=found)
    return found


def _elements(word: Register, size: int) -> list[Register]:
    """The elements in a word of 32 bits, the first first."""
    if size == 4:
        return [word]
    low_high = apart("b16", word)
    return list(low_high) if size == 2 else [each for half in low_high for each in apart("b8", half)]
