"""Store of a consumer warpgroup: results go through shared memory to D by TMA.

A consumer stores each block of 64 rows in subtiles. A buffer holds one subtile, which consists of boxes of 64 rows of
up to 128 bytes. The boxes are swizzled so that neither the writes of the threads nor the copy have bank conflicts. A
tensor copy of the last rows of a group would also write rows of the next group. Therefore the threads copy these last
rows from shared memory. At the unaligned end of rows, the threads store each element from a register.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

from warploom.author import Location, Register, Shared, guarded, new, otherwise, u32, wait, when
from warploom.kernels.epilogue import EpilogueArguments, EpilogueMath, unpack
from warploom.kernels.hopper.plan import Plan
from warploom.kernels.plan import size_of, swizzle_mask
from warploom.kernels.ptx import ptx

Results = dict[int, list[list[Register]]]
"""Results of a thread by the first of each 16 columns: those of the first 8 and of the last 8 columns."""


class Store:
    """Epilogue and store of one consumer warpgroup.

    `number` is the index of the consumer in the CTA. `thread` is the index of the thread in the consumer.
    """

    def __init__(
        self,
        plan: Plan,
        d: Any,
        c: Any,
        buffers: Shared,
        addend_barriers: Shared,
        number: Any,
        thread: Any,
        arguments: EpilogueArguments,
    ) -> None:
        self.plan, self.d, self.c, self.arguments = plan, d, c, arguments
        self.number, self.thread = number, thread
        self.leads = thread == 0
        self.base = buffers.address() + number * (plan.tile.buffers * plan.buffer_bytes)
        self.buffer = new(u32, 0)  # offset of the current buffer in bytes
        self.addend_barrier = addend_barriers.address() + number * 8
        self.phase = new(u32, 0)
        warp, lane = thread >> 5, thread & 31
        self.row = warp * 16 + (lane >> 2)
        self.pair = (lane & 3) * 2
        self.math = EpilogueMath(plan, arguments, self.pair)
        self.box_bytes = 64 * plan.box_row_bytes
        self.size = size_of(plan.d)
        chunks = plan.box_row_bytes // 16
        if self.size == 2:
            row, low = warp * 16 + (lane & 15), lane >> 4
            self.places = [self._chunk(row, low, chunk) for chunk in range(0, chunks, 2)]
        elif self.size == 4:
            low, inside = (lane & 3) >> 1, (lane & 1) * 8
            self.places = [self._chunk(self.row, low, chunk) + inside for chunk in range(0, chunks, 2)]
        else:
            self.places = [self._chunk(self.row, 0, chunk) + self.pair for chunk in range(chunks)]

    def _chunk(self, row: Any, low: Any, chunk: int) -> Register:
        """Return the address of chunk `chunk + low` in a row of a box. A chunk has 16 bytes."""
        span = self.plan.box_row_bytes
        where = low | chunk if chunk else low
        if span > 16:
            where = swizzle_mask(row, span) ^ where
        return self.base + row * span + where * 16

    def __call__(self, sums: Sequence[Register], row: Any, column: Any, batch: Any, bottom: Any) -> None:
        """Apply the epilogue, and store the tile at a row and column of D. Skip rows from `bottom` on."""
        count = self.plan.block_accumulators
        for block in range(self.plan.tile.blocks):
            part, first = sums[block * count : (block + 1) * count], row + 64 * block if block else row
            with when(first < bottom) if self.plan.grouped else nullcontext():
                self._block(part, first, column, batch, bottom)

    def finish(self) -> None:
        """Wait until all tensor copies of this consumer are complete."""
        with guarded(self.leads):
            ptx.cp_async_bulk_wait_group(0)

    def _block(self, sums: Sequence[Register], row: Any, column: Any, batch: Any, bottom: Any) -> None:
        plan = self.plan
        line = row + self.row
        group_offset = batch * self.arguments.n if plan.grouped else None
        rows, columns = self.math.row_terms(line), self.math.column_terms(column, group_offset)
        for start in range(0, plan.tile.columns, plan.subtile_columns):
            width = min(plan.subtile_columns, plan.tile.columns - start)
            first = column + start
            with guarded(self.leads):
                ptx.cp_async_bulk_wait_group(plan.tile.buffers - 1, read=True)
            if plan.epilogue.addend:
                self._load_addend(width, first, row, batch)
            ptx.bar(self.number + 1, 128)
            places = [place + self.buffer for place in self.places]
            results: Results = {}
            for block in range(0, width, 16):
                results[block] = [
                    self.math.apply(sums, start + block + half, addend, rows, columns)
                    for addend, half in zip(self._addends(block, places), (0, 8), strict=True)
                ]
            if plan.unaligned:
                with when(ptx.setp(first + width, self.arguments.n, CmpOp="le", type=u32)):
                    self._store_boxes(results, places, width, first, row, batch, bottom)
                with otherwise():
                    self._store_elements(results, first, line, batch, bottom)
                    self._end_reads()
            else:
                self._store_boxes(results, places, width, first, row, batch, bottom)
            with guarded(self.leads):
                ptx.cp_async_bulk_commit_group()
            if plan.tile.buffers > 1:
                self.buffer ^= plan.buffer_bytes

    # Stores -------------------------------------------------------------------------------------------------

    def _store_boxes(
        self, results: Results, places: Sequence[Register], width: int, column: Any, row: Any, batch: Any, bottom: Any
    ) -> None:
        """Store `width` columns through the buffer. `places` are the thread's addresses in the buffer."""
        for block, both in results.items():
            self._write(both, block, places)
        ptx.fence_proxy(proxykind="async", space="shared::cta")
        ptx.bar(self.number + 1, 128)
        if not self.plan.grouped:
            self._store_tensor(width, column, row, batch)
            return
        with when(row + 64 <= bottom):
            self._store_tensor(width, column, row, batch)
        with otherwise():
            # A tensor copy would write a whole box, beyond the end of the group.
            self._store_rows(width, column, row, bottom)
            self._end_reads()

    def _store_tensor(self, width: int, column: Any, row: Any, batch: Any) -> None:
        with when(self.leads):
            for offset, origin in self._boxes(width, column, row, batch):
                source = (self.base + self.buffer).at(offset, "shared::cta")
                target = Location(self.d, coordinates=origin)
                ptx.cp_async_bulk_tensor(target, source, dim=f"{len(origin)}d", src="shared::cta")

    def _store_rows(self, width: int, column: Any, row: Any, bottom: Any) -> None:
        """Copy the rows before row `bottom` from the buffer to D, without a tensor copy."""
        arguments, plan, size = self.arguments, self.plan, self.size
        chunks = plan.box_row_bytes // 16
        line, chunk = self.thread >> chunks.bit_length() - 1, self.thread & chunks - 1
        source = self._chunk(line, chunk, 0) + self.buffer
        first = column + chunk * (16 // size)
        target = arguments.start + ptx.mul_wide(first, size, type=u32)
        target = target + ptx.cvt(row + line, dtype="u64") * arguments.stride
        step = min(128 // chunks, 64)  # rows that all threads copy at once
        for below in range(0, 64, step):
            with when(row + (line + below) < bottom):
                for start in range(0, width, plan.box_columns):
                    offset = start // plan.box_columns * self.box_bytes + below * plan.box_row_bytes
                    words = ptx.ld(source.at(offset, "shared::cta"), vec="v4", type="b32")
                    with guarded(first + start < arguments.n):
                        ptx.st(target.at(start * size, "global"), words, vec="v4", type="b32")
            if below + step < 64:
                target = target + arguments.stride * step

    def _store_elements(self, results: Results, column: Any, line: Any, batch: Any, bottom: Any) -> None:
        """Store elements one by one, at the unaligned end of rows."""
        start = self._element_start(column, line, batch)
        for block, both in results.items():
            for half, quad in enumerate(both):
                self._store_quad(quad, block + half * 8, start, column, line, bottom)

    def _element_start(self, column: Any, line: Any, batch: Any) -> Register:
        """Return the address of the thread's first element of D, in a part that starts at a column."""
        arguments = self.arguments
        start = arguments.start + ptx.mul_wide(column + self.pair, self.size, type=u32)
        if self.plan.batched:
            start = start + ptx.cvt(batch, dtype="u64") * arguments.plane
        return start + ptx.cvt(line, dtype="u64") * arguments.stride

    def _store_quad(
        self, quad: list[Register], offset: int, start: Register, column: Any, line: Any, bottom: Any
    ) -> None:
        """Store the thread's four results of 8 columns, `offset` columns after `column`."""
        arguments, size, first = self.arguments, self.size, column + self.pair
        for below in (0, 8):
            inside = line + below < bottom
            place = start + arguments.stride * below if below else start
            for across, element in enumerate(self.math.elements(quad, below // 8)):
                exists = ptx.setp(first + (offset + across), arguments.n, inside, CmpOp="lt", BoolOp="and", type=u32)
                with guarded(exists):
                    ptx.st(place.at((offset + across) * size, "global"), element, type=f"b{8 * size}")

    def columns(self, row: Any, column: Any, batch: Any, bottom: Any) -> Callable[[Sequence[Register], Any], None]:
        """Return a function that stores single quads of a tile at a row and column of D (see `Prepare`)."""

        def store(sums: Sequence[Register], index: Any) -> None:
            top, quad, quads = row, index, self.plan.tile.columns // 8
            if self.plan.tile.blocks > 1:
                is_below = index >= quads
                top = row + ptx.selp(64, 0, is_below, type=u32)
                quad = index - ptx.selp(quads, 0, is_below, type=u32)
            line, first = top + self.row, column + quad * 8
            addend = self._addend_of_quad(quad * 8, column, top, batch) if self.plan.epilogue.addend else None
            terms = self.math.row_terms(line), self.math.column_terms(first)
            results = self.math.apply(sums, 0, addend, *terms)
            self._store_quad(results, 0, self._element_start(first, line, batch), first, line, bottom)

        return store

    def _addend_of_quad(self, first: Any, column: Any, row: Any, batch: Any) -> list[Register]:
        """Return the thread's elements of C in 8 columns from column `first` of the tile on."""
        plan, size = self.plan, self.size
        with guarded(self.leads):
            ptx.cp_async_bulk_wait_group(0, read=True)
        ptx.bar(self.number + 1, 128)
        inside = first & plan.box_columns - 1
        self._load_addend(plan.box_columns, column + (first - inside), row, batch)
        start, offset = self.base + self.buffer, (inside + self.pair) * size
        found: list[Register] = []
        for below in (0, 8):
            line = self.row + below
            chunk = offset >> 4
            if plan.box_row_bytes > 16:
                chunk = swizzle_mask(line, plan.box_row_bytes) ^ chunk
            place = (start + line * plan.box_row_bytes + chunk * 16 + (offset & 15)).at(0, "shared::cta")
            if size == 4:
                found += ptx.ld(place, vec="v2", type=plan.epilogue.addend)
            else:
                found += unpack(plan.epilogue.addend, ptx.ld(place, type=f"b{16 * size}"))
        self._end_reads()
        return found

    def _end_reads(self) -> None:
        """Order the threads' reads of the buffer before the next writes to the buffer."""
        ptx.fence_proxy(proxykind="async", space="shared::cta")
        if self.plan.epilogue.addend and self.plan.tile.buffers == 1:
            ptx.bar(self.number + 1, 128)

    # Buffers ------------------------------------------------------------------------------------------------

    def _boxes(
        self, width: int, column: Any, row: Any, batch: Any, operand: str = "d"
    ) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Yield (offset in the buffer, coordinates in D or C) for each box of `width` columns."""
        for number in range(width // self.plan.box_columns):
            start = number * self.plan.box_columns
            origin = (column + start if start else column, row, batch)[: self.plan.rank(operand)]
            yield number * self.box_bytes, origin

    def _load_addend(self, width: int, column: Any, row: Any, batch: Any) -> None:
        """Copy a part of C into the buffer, and wait for the copy."""
        barrier = self.addend_barrier.at(0, "shared::cta")
        with when(self.leads):
            ptx.mbarrier_arrive_expect_tx(barrier, width * self.size * 64)
            for offset, origin in self._boxes(width, column, row, batch, "c"):
                target = (self.base + self.buffer).at(offset, "shared::cluster")
                source, signal = Location(self.c, coordinates=origin), self.addend_barrier.at(0, "shared::cluster")
                ptx.cp_async_bulk_tensor(target, source, signal, dim=f"{len(origin)}d", dst="shared::cluster")
        wait(barrier, self.phase)
        self.phase ^= 1

    def _addends(self, block: int, places: Sequence[Register]) -> list[list[Register] | None]:
        """Return the thread's elements of C in 16 columns, from column `block` of the buffer on.

        The result has a list for each 8 columns, or None without C. `places` are the thread's addresses in the buffer.
        """
        addend = self.plan.epilogue.addend
        if not addend:
            return [None, None]
        if size_of(addend) == 2:
            place = self._matrix(block, places)
            words = ptx.ldmatrix(place, shape="m8n8", num="x4", type="b16")
            found = [each for word in words for each in unpack(addend, word)]
        elif size_of(addend) == 4:
            pairs = self._pairs(block, places)
            found = [each for place in pairs for each in ptx.ld(place, vec="v2", type=addend)]
        else:
            pairs = self._pairs(block, places)
            found = [each for place in pairs for each in unpack(addend, ptx.ld(place, type="b16"))]
        return [found[:4], found[4:]]

    def _write(self, both: list[list[Register]], block: int, places: Sequence[Register]) -> None:
        if self.size == 2:
            words = [word for quad in both for word in self.math.packed(quad)]
            ptx.stmatrix(self._matrix(block, places), words, shape="m8n8", num="x4", type="b16")
        elif self.size == 4:
            pairs = [quad[i : i + 2] for quad in both for i in (0, 2)]
            for place, pair in zip(self._pairs(block, places), pairs, strict=True):
                ptx.st(place, pair, vec="v2", type=self.plan.d)
        else:
            words = (word for quad in both for word in self.math.packed(quad))
            for place, word in zip(self._pairs(block, places), words, strict=True):
                ptx.st(place, word, type="b16")

    def _matrix(self, block: int, places: Sequence[Register]) -> Location:
        box, inside = divmod(block, self.plan.box_columns)
        return places[inside // 16].at(box * self.box_bytes, "shared::cta")

    def _pairs(self, block: int, places: Sequence[Register]) -> Iterator[Location]:
        """Yield the locations of the thread's four pairs of elements in 16 columns, from `block` on."""
        wide = self.size == 4
        for half in (0, 8):
            box, inside = divmod(block + half, self.plan.box_columns)
            place = places[inside // 8 if wide else inside // 16]
            for below in (0, 8):
                offset = box * self.box_bytes + below * self.plan.box_row_bytes + (0 if wide else half)
                yield place.at(offset, "shared::cta")
