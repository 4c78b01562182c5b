"""Store of a warp's part of a tile, 16 rows at a time.

The results go through shared memory, so that each thread stores 16 contiguous bytes of D.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from warploom.author import Location, Register, guarded, new, u32, when
from warploom.kernels.epilogue import ColumnTerms, EpilogueArguments, EpilogueMath, split_pair, unpack
from warploom.kernels.plan import CHUNK, GemmPlan, size_of, swizzle_mask
from warploom.kernels.ptx import ptx

_ALL_LANES = 0xFFFFFFFF


def buffer_bytes(plan: GemmPlan, columns: int) -> int:
    """Return the size of the shared memory through which a warp stores 16 rows of `columns` columns of D."""
    return 16 * columns * size_of(plan.d)


class Store:
    """Epilogue and store of one warp, for `columns` columns at a time.

    `buffer` is the address of the warp's shared memory, which has `buffer_bytes(plan, columns)` bytes. `addend` has the
    address of C, the byte distance of two rows of C, and the byte distance of two batches of C.
    """

    def __init__(
        self, plan: GemmPlan, columns: int, buffer: Any, lane: Any, arguments: EpilogueArguments,
        addend: tuple[Any, Any, Any],
    ) -> None:  # fmt: skip
        self.plan, self.columns, self.arguments, self.addend = plan, columns, arguments, addend
        self.row, self.pair = lane >> 2, (lane & 3) * 2
        self.math = EpilogueMath(plan, arguments, self.pair)
        self.size = size_of(plan.d)
        self.span = span = columns * self.size
        chunks = span // CHUNK
        self.rows = 32 // chunks  # rows that a warp stores at once
        inside = self.pair * self.size  # offset of the thread's columns in the bytes of 8 columns
        first = buffer + self.row * span + (self._mask(self.row) * CHUNK ^ inside)
        self.targets = [first ^ chunk * CHUNK if chunk else first for chunk in range(chunks)]
        self.out_row, self.chunk = lane // chunks, lane % chunks
        self.source = buffer + self.out_row * span + (self._mask(self.out_row) ^ self.chunk) * CHUNK

    def _mask(self, row: Any) -> Any:
        if self.size == 4:  # 4 rows with two chunks each are written at once
            return (row & 3) << 1
        return swizzle_mask(row, min(self.span, 128))

    def __call__(self, sums: Sequence[Sequence[Register]], row: Any, column: Any, batch: Any) -> None:
        """Apply the epilogue to the accumulators `sums`, and store the results at a row and column of D."""
        arguments, size = self.arguments, self.size
        first = column + self.chunk * (CHUNK // size)
        start = arguments.start + ptx.mul_wide(first, size, type=u32)
        start = start + ptx.cvt(batch, dtype="u64") * arguments.plane
        columns = self.math.column_terms(column)
        whole = ptx.setp(first + CHUNK // size, arguments.n, CmpOp="le", type=u32)
        for number, of_rows in enumerate(sums):
            line = row + number * 16
            if number:
                ptx.bar_warp(_ALL_LANES)
            self._write(of_rows, line + self.row, columns, self._addends(line + self.row, column, batch))
            ptx.bar_warp(_ALL_LANES)
            for above in range(0, 16, self.rows):
                at = line + above + self.out_row
                place = ptx.mad_wide(at, arguments.stride, start, type=u32)
                self._store(place, self._read(above), at < arguments.m, first, whole)

    # C ------------------------------------------------------------------------------------------------------

    def _addends(self, line: Any, column: Any, batch: Any) -> Iterator[list[Register] | None]:
        """Yield four elements of C as f32 for each 8 columns of D. Yield None if there is no C."""
        type_word, blocks = self.plan.epilogue.addend, self.columns // 8
        if not type_word:
            yield from [None] * blocks
            return
        size, first = size_of(type_word), column + self.pair
        start, stride, plane = self.addend
        start = start + ptx.mul_wide(first, size, type=u32)
        start = start + ptx.cvt(batch, dtype="u64") * plane
        lines = [line + below for below in (0, 8)]
        places = [ptx.mad_wide(each, stride, start, type=u32) for each in lines]
        inside = [each < self.arguments.m for each in lines]
        for number in range(blocks):
            if number:
                ptx.bar_warp(_ALL_LANES)  # prevents ptxas from loading all columns at once, which would spill
            yield [
                each
                for place, exists in zip(places, inside, strict=True)
                for each in self._pair(place, first + 8 * number, 8 * number * size, exists)
            ]

    def _pair(self, place: Any, column: Any, offset: int, inside: Any) -> list[Register]:
        """Load the elements of C in `column` and `column + 1` as f32. An element outside of C becomes 0.

        The elements are `offset` bytes after `place`. `inside` is true if the row exists.
        """
        type_word = self.plan.epilogue.addend
        size = size_of(type_word)

        def exists(number: int) -> Register:
            at = column + number if self.plan.unaligned else column
            return ptx.setp(at, self.arguments.n, inside, CmpOp="lt", BoolOp="and", type=u32)

        if not self.plan.unaligned:
            if size == 4:
                guard = exists(0)
                both = [new(type_word, 0.0) for _ in range(2)]
                with guarded(guard):
                    ptx.ld(place.at(offset, "global"), vec="v2", type=type_word, out=both)
                return both
            return unpack(type_word, _load_or_zero(place.at(offset, "global"), 2 * size, exists(0)))
        parts = [_load_or_zero(place.at(offset + i * size, "global"), size, exists(i)) for i in range(2)]
        if size == 4:
            return [ptx.mov(part, type=type_word) for part in parts]
        return unpack(type_word, ptx.mov(parts, type="b32") if size == 2 else parts[1] << 8 | parts[0])

    # D ------------------------------------------------------------------------------------------------------

    def _write(
        self, sums: Sequence[Register], line: Any, columns: ColumnTerms, addends: Iterator[list[Register] | None]
    ) -> None:
        """Write the results of 16 rows to the buffer. `addends` is a result of `_addends`."""
        span, size = self.span, self.size
        rows = self.math.row_terms(line)
        for number, addend in enumerate(addends):
            quad = self.math.apply(sums, 8 * number, addend, rows, columns)
            chunk, inside = divmod(8 * number * size, CHUNK)
            for below in range(2):
                place = self.targets[chunk].at(inside + below * 8 * span, "shared")
                if size == 4:
                    ptx.st(place, quad[2 * below : 2 * below + 2], vec="v2", type=self.plan.d)
                else:
                    ptx.st(place, self.math.packed(quad)[below], type=f"b{16 * size}")

    def _read(self, above: int) -> tuple[Register, ...]:
        mask = self._mask(above) * CHUNK
        address = self.source ^ mask if mask else self.source
        return ptx.ld(address.at(above * self.span, "shared"), vec="v4", type="b32")

    def _store(self, place: Any, words: Sequence[Register], inside: Any, first: Any, whole: Any) -> None:
        """Store `words`, 16 bytes of a row of D, at `place`. Skip elements that are outside of D.

        `first` is the column of the first element. `inside` is true if the row exists. `whole` is true if all columns
        exist.
        """
        size = self.size
        with guarded(ptx.and_(inside, whole, type="pred")):
            ptx.st(place.at(0, "global"), list(words), vec="v4", type="b32")
        if not self.plan.unaligned:
            return
        with when(ptx.and_(inside, ~whole, type="pred")):
            for number, element in enumerate(each for word in words for each in _elements(word, size)):
                with guarded(first + number < self.arguments.n):
                    ptx.st(place.at(number * size, "global"), element, type=f"b{8 * size}")


def _load_or_zero(place: Location, size: int, exists: Register) -> Register:
    type_word = f"b{8 * size}"
    found = new(type_word if size > 1 else "b16", 0)
    with guarded(exists):
        ptx.ld(place, type=type_word, out=found)
    return found


def _elements(word: Register, size: int) -> list[Register]:
    """Return the elements that are packed in a 32-bit register, the lowest first. Each has `size` bytes."""
    if size == 4:
        return [word]
    low_high = split_pair("b16", word)
    return list(low_high) if size == 2 else [each for half in low_high for each in split_pair("b8", half)]
