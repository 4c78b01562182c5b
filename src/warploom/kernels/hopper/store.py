"""The epilogue of a consumer: its sums become elements of D, patch by patch through shared memory, stored by TMA.

A patch is 64 rows of up to 128 bytes, swizzled, so that neither its writes nor the copy meet in a bank; two take
turns. Of 8 columns a thread has two neighbours in its row and two in the row 8 below (the accumulator fragment of
wgmma). A copy writes whole patches: what is below the last row of a group stays where it is, so that the patch which
that row is in goes from shared memory to D by the threads.
"""

# The plan chooses the words of instructions, which the stubs want as literals.
# pyright: reportArgumentType=false, reportCallIssue=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from warploom.author import (
    Location,
    Register,
    Shared,
    guarded,
    new,
    otherwise,
    ptx,
    u32,
    wait,
    when,
)
from warploom.kernels.epilogue import Arithmetic, Factors, OfColumns, OfRows, pairs, unpacked
from warploom.kernels.hopper.plan import Plan, size_of


class Store:
    """One consumer's way to D. `number` counts the consumers, `mine` the threads of the warpgroup."""

    def __init__(
        self,
        plan: Plan,
        d: Any,
        c: Any,
        patches: Shared,
        arrivals: Shared,
        number: Any,
        mine: Any,
        factors: Factors,
    ) -> None:
        self.plan, self.d, self.c, self.factors = plan, d, c, factors
        self.number, self.mine = number, mine
        self.leads = mine == 0
        self.base = patches.address() + number * (plan.tile.buffers * plan.turn_bytes)
        self.buffer = new(u32, 0)  # of the two that take turns, in bytes
        self.arrival = arrivals.address() + number * 8
        self.phase = new(u32, 0)
        warp, lane = mine >> 5, mine & 31
        self.line = warp * 16 + (lane >> 2)
        self.pair = (lane & 3) * 2
        self.arithmetic = Arithmetic(plan, factors, self.pair)
        size, span = size_of(plan.d), plan.row_bytes
        if size == 2:
            row, low = warp * 16 + (lane & 15), lane >> 4
            self.places = [self._spot(row, low, chunk) for chunk in range(0, span // 16, 2)]
        elif size == 4:
            low, inside = (lane & 3) >> 1, (lane & 1) * 8
            self.places = [self._spot(self.line, low, chunk) + inside for chunk in range(0, span // 16, 2)]
        else:
            self.places = [self._spot(self.line, 0, chunk) + self.pair for chunk in range(span // 16)]

    def _spot(self, row: Any, low: Any, chunk: int) -> Register:
        """Where 16 bytes of a row of a patch are: number `chunk` or, where `low` is 1, the next."""
        span = self.plan.row_bytes
        where = low | chunk if chunk else low
        if span > 16:
            above = (128 // span).bit_length() - 1  # rows of the swizzle's pattern that share a mask
            mask = (row >> above if above else row) & (span // 16 - 1)
            where = mask ^ where
        return self.base + row * span + where * 16

    def __call__(self, sums: Sequence[Register], row: Any, column: Any, batch: Any, bottom: Any) -> None:
        """Store a tile whose first element is at `row` and `column` of D, as far as it is above row `bottom`."""
        if not self.plan.grouped:
            self._tile(sums, row, column, batch, bottom)
            return
        with when(row < bottom):
            self._tile(sums, row, column, batch, bottom)

    def _tile(self, sums: Sequence[Register], row: Any, column: Any, batch: Any, bottom: Any) -> None:
        """Store a tile, turn by turn."""
        plan = self.plan
        line = row + self.line
        own = batch * self.factors.n if plan.grouped else None
        rows, columns = self.arithmetic.of_rows(line), self.arithmetic.of_columns(column, own)
        for start in range(0, plan.tile.columns, plan.turn):
            width = min(plan.turn, plan.tile.columns - start)
            first = column + start
            with guarded(self.leads):
                ptx.cp_async_bulk_wait_group(plan.tile.buffers - 1, read=True)
            if plan.epilogue.addend:
                self._fetch(width, first, row, batch)
            ptx.bar(self.number + 1, 128)
            here = [place + self.buffer for place in self.places]
            quads = {
                block: self._finished(sums, start + block, block, here, rows, columns)
                for block in range(0, width, 16)
            }
            if plan.ragged:
                with when(ptx.setp(first + width, self.factors.n, CmpOp="le", type=u32)):
                    self._by_patches(quads, here, width, first, row, batch, bottom)
                with otherwise():
                    self._by_element(quads, first, line, batch, bottom)
                    self._read()
            else:
                self._by_patches(quads, here, width, first, row, batch, bottom)
            with guarded(self.leads):
                ptx.cp_async_bulk_commit_group()
            if plan.tile.buffers > 1:
                self.buffer ^= plan.turn_bytes

    def _by_patches(
        self,
        quads: Quads,
        here: Sequence[Register],
        width: int,
        column: Any,
        row: Any,
        batch: Any,
        bottom: Any,
    ) -> None:
        """Store a turn by way of shared memory."""
        for block, both in quads.items():
            self._write(both, block, here)
        ptx.fence_proxy(proxykind="async", space="shared::cta")
        ptx.bar(self.number + 1, 128)
        if not self.plan.grouped:
            self._by_tensor(width, column, row, batch)
            return
        with when(row + 64 <= bottom):
            self._by_tensor(width, column, row, batch)
        with otherwise():
            self._by_rows(width, column, row, bottom)
            self._read()

    def _by_tensor(self, width: int, column: Any, row: Any, batch: Any) -> None:
        """Copy the patches of a turn to D."""
        with when(self.leads):
            for offset, corner in self._patches(width, column, row, batch):
                source = (self.base + self.buffer).at(offset, "shared::cta")
                target = Location(self.d, coordinates=corner)
                ptx.cp_async_bulk_tensor(target, source, dim=f"{len(corner)}d", src="shared::cta")

    def _by_rows(self, width: int, column: Any, row: Any, bottom: Any) -> None:
        """Copy the rows of a turn's patches that are above `bottom`: neighbours in the warp take 16 bytes each."""
        factors, plan, size = self.factors, self.plan, size_of(self.plan.d)
        chunks = plan.row_bytes // 16
        line, chunk = self.mine >> chunks.bit_length() - 1, self.mine & chunks - 1
        source = self._spot(line, chunk, 0) + self.buffer
        first = column + chunk * (16 // size)
        target = factors.start + ptx.mul_wide(first, size, type=u32)
        target = target + ptx.cvt(row + line, dtype="u64") * factors.stride
        together = min(128 // chunks, 64)  # rows
        for below in range(0, 64, together):
            with when(row + (line + below) < bottom):
                for start in range(0, width, plan.patch):
                    offset = start // plan.patch * 64 * plan.row_bytes + below * plan.row_bytes
                    words = ptx.ld(source.at(offset, "shared::cta"), vec="v4", type="b32")
                    with guarded(first + start < factors.n):
                        ptx.st(target.at(start * size, "global"), words, vec="v4", type="b32")
            if below + together < 64:
                target = target + factors.stride * together

    def _read(self) -> None:
        """Let what comes next into a buffer come, after threads have read there what a copy brought or took away."""
        ptx.fence_proxy(proxykind="async", space="shared::cta")
        if self.plan.epilogue.addend and self.plan.tile.buffers == 1:
            ptx.bar(self.number + 1, 128)

    def _patches(
        self, width: int, column: Any, row: Any, batch: Any, operand: str = "d"
    ) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """The patches of a turn: bytes from its begin, and coordinates in D or C."""
        plan, rank = self.plan, self.plan.rank(operand)
        for start in range(0, width, plan.patch):
            corner = (column + start if start else column, row, batch)[:rank]
            yield start // plan.patch * 64 * plan.row_bytes, corner

    def _by_element(self, quads: Quads, column: Any, line: Any, batch: Any, bottom: Any) -> None:
        """Store a patch that the end of the rows cuts: a copy would write whole 16 bytes, beyond that end too."""
        factors, size = self.factors, size_of(self.plan.d)
        first = column + self.pair
        start = factors.start + ptx.mul_wide(first, size, type=u32)
        if self.plan.batched:
            start = start + ptx.cvt(batch, dtype="u64") * factors.plane
        for below in (0, 8):
            row = line + below
            inside = row < bottom
            place = start + ptx.cvt(row, dtype="u64") * factors.stride
            for block, both in quads.items():
                for half, quad in enumerate(both):
                    offset = block + half * 8
                    for across, element in enumerate(self.arithmetic.elements(quad, below // 8)):
                        held = ptx.setp(
                            first + (offset + across), factors.n, inside, CmpOp="lt", BoolOp="and", type=u32
                        )
                        with guarded(held):
                            where = place.at((offset + across) * size, "global")
                            ptx.st(where, element, type=f"b{8 * size}")

    def finish(self) -> None:
        """Wait until everything is stored."""
        with guarded(self.leads):
            ptx.cp_async_bulk_wait_group(0)

    def _fetch(self, width: int, column: Any, row: Any, batch: Any) -> None:
        """Bring C to where D will be."""
        barrier = self.arrival.at(0, "shared::cta")
        with when(self.leads):
            ptx.mbarrier_arrive_expect_tx(barrier, width * size_of(self.plan.d) * 64)
            for offset, corner in self._patches(width, column, row, batch, "c"):
                ptx.cp_async_bulk_tensor(
                    (self.base + self.buffer).at(offset, "shared::cluster"),
                    Location(self.c, coordinates=corner),
                    self.arrival.at(0, "shared::cluster"),
                    dim=f"{len(corner)}d",
                    dst="shared::cluster",
                )
        wait(barrier, self.phase)
        self.phase ^= 1

    def _finished(
        self,
        sums: Sequence[Register],
        first: int,
        block: int,
        here: Sequence[Register],
        rows: OfRows,
        columns: OfColumns,
    ) -> tuple[list[Register], list[Register]]:
        """What 16 columns of the tile become, from `first` on: columns from `block` on of the patch."""
        low, high = (
            self.arithmetic.finished(sums, first + half, addend, rows, columns)
            for addend, half in zip(self._addends(block, here), (0, 8), strict=True)
        )
        return low, high

    def _write(
        self, both: tuple[list[Register], list[Register]], block: int, here: Sequence[Register]
    ) -> None:
        """Put 16 columns into the patch."""
        size = size_of(self.plan.d)
        if size == 2:
            words = [word for quad in both for word in self.arithmetic.words(quad)]
            place = self._matrix(block, here)
            ptx.stmatrix(place, words, shape="m8n8", num="x4", type="b16")
            return
        if size == 4:
            for place, pair in zip(self._spots(block, here), pairs(both), strict=True):
                ptx.st(place, pair, vec="v2", type=self.plan.d)
            return
        words = (word for quad in both for word in self.arithmetic.words(quad))
        for place, word in zip(self._spots(block, here), words, strict=True):
            ptx.st(place, word, type="b16")

    def _matrix(self, block: int, here: Sequence[Register]) -> Location:
        """A thread's row of the four matrices that 16 columns of 16 bits are."""
        patch, inside = divmod(block, self.plan.patch)
        return here[inside // 16].at(patch * 64 * self.plan.row_bytes, "shared::cta")

    def _spots(self, block: int, here: Sequence[Register]) -> Iterator[Location]:
        """Where the four pairs of a thread's 16 columns are, of elements that no matrix instruction moves."""
        plan = self.plan
        wide = size_of(plan.d) == 4
        for half in (0, 8):
            patch, inside = divmod(block + half, plan.patch)
            place = here[inside // 8 if wide else inside // 16]
            for below in (0, 8):
                offset = patch * 64 * plan.row_bytes + below * plan.row_bytes + (0 if wide else half)
                yield place.at(offset, "shared::cta")

    def _addends(self, block: int, here: Sequence[Register]) -> list[list[Register] | None]:
        """The elements of C for 16 columns, as f32."""
        addend = self.plan.epilogue.addend
        if not addend:
            return [None, None]
        if size_of(addend) == 2:
            place = self._matrix(block, here)
            words = ptx.ldmatrix(place, shape="m8n8", num="x4", type="b16")
            found = [each for word in words for each in unpacked(addend, word)]
        elif size_of(addend) == 4:
            found = [
                each for place in self._spots(block, here) for each in ptx.ld(place, vec="v2", type=addend)
            ]
        else:
            found = [
                each
                for place in self._spots(block, here)
                for each in unpacked(addend, ptx.ld(place, type="b16"))
            ]
        return [found[:4], found[4:]]


Quads = dict[int, tuple[list[Register], list[Register]]]
"""What a thread has of a patch, by the first of 16 columns: of each 8 columns four numbers."""
