# pyright: reportUnknownMemberType=false
"""What bulk copies read and write in global memory, row by row; only bytes inside a tensor count."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.emulator.boxes import chosen
from warploom.emulator.faults import Fault
from warploom.emulator.memory import GLOBAL_BASE
from warploom.isa.instructions.bulk import BulkCopy, TensorCopy
from warploom.layout import TensorMapFields, coordinate_error, row_bytes, tile_rows, unit_bits
from warploom.layout.tile import boxes

if TYPE_CHECKING:
    from warploom.observe.sanitize.watcher import Sanitizer

Array = NDArray[Any]
Rows = tuple[Array, Array, Array]  # the copy, the start in the arena and the size of each row


class Beyond:
    """The global side of copies. Shapes: positions, lanes, warps and objects of copies are all (copies,)."""

    def __init__(self, sanitizer: Sanitizer) -> None:
        self.sanitizer = sanitizer
        self.machine = sanitizer.machine

    def plain(
        self, request: BulkCopy, positions: Array, lanes: Array, warps: Array, sizes: Array, objects: Array
    ) -> None:
        """Rows of bytes. `objects` are the mbarriers that show copies out of global memory done, -1 for none."""
        if request.destination_space == "global":
            starts = chosen(request.destination, positions, lanes).astype(np.int64) - GLOBAL_BASE
            good = self._inside(starts, sizes)
            self._write(request, positions, lanes, warps, (np.flatnonzero(good), starts[good], sizes[good]))
        if request.source_space == "global":
            starts = chosen(request.source, positions, lanes).astype(np.int64) - GLOBAL_BASE
            heads = self._heads(warps, objects)
            for copy in np.flatnonzero(self._inside(starts, sizes)).tolist():
                at = slice(copy, copy + 1)
                self._read(lanes, warps, heads, (np.array([copy]), starts[at], sizes[at]))

    def boxes(
        self, request: TensorCopy, fields: TensorMapFields, positions: Array, lanes: Array, warps: Array,
        objects: Array,
    ) -> None:  # fmt: skip
        """Boxes of a tensor, or columns of its pixels."""
        coordinates = np.stack([chosen(part, positions, lanes) for part in request.coordinates]).astype(
            np.int64
        )
        offsets = np.zeros((0, len(warps)), np.int64)
        if request.offsets is not None:
            offsets = np.stack([chosen(part, positions, lanes) for part in request.offsets]).astype(np.int64)
        if request.direction == "store":
            rows = self._rows(fields, coordinates, offsets, stores=True)
            self._write(request, positions, lanes, warps, rows)
            return
        heads = self._heads(warps, objects)
        start = fields.global_address - GLOBAL_BASE
        if self.sanitizer.arena.is_written(start):
            self._read(lanes, warps, heads, self._rows(fields, coordinates, offsets, stores=False))
            return
        for copy in np.flatnonzero(heads >= 0).tolist():
            place = (fields, *coordinates[:, copy].tolist(), *offsets[:, copy].tolist())
            self.sanitizer.arena.remember(
                start, place, int(heads[copy]), self.machine.pc,
                lambda at=copy: self._rows(fields, coordinates[:, [at]], offsets[:, [at]], stores=False)[1:],
            )  # fmt: skip

    def _write(
        self, request: BulkCopy | TensorCopy, positions: Array, lanes: Array, warps: Array, rows: Rows
    ) -> None:
        of, starts, sizes = rows
        self.sanitizer.arena.write_rows(
            warps[of], lanes[of], starts, sizes, request.reduction != "", self.machine.pc,
            self._sameness(request, positions, lanes, warps, rows),
        )  # fmt: skip

    def _read(self, lanes: Array, warps: Array, heads: Array, rows: Rows) -> None:
        of, starts, sizes = rows
        arena = self.sanitizer.arena
        if len(of) != 1 or arena.is_written(int(starts[0])):
            arena.read_rows(warps[of], lanes[of], starts, sizes, heads[of], self.machine.pc)
        elif heads[of[0]] >= 0:
            place = int(starts[0]), int(sizes[0])
            arena.remember(place[0], place, int(heads[of[0]]), self.machine.pc, lambda: (starts, sizes))

    def _heads(self, warps: Array, objects: Array) -> Array:
        phases = self.sanitizer.objects.phase
        if not len(phases):
            return np.full(len(warps), -1)
        return self.sanitizer.arena.heads(warps, objects, phases[np.maximum(objects, 0)] + 1)

    def _rows(self, fields: TensorMapFields, coordinates: Array, offsets: Array, *, stores: bool) -> Rows:
        """The rows of boxes, as far as they are inside the tensor, in whole granules of 4 bytes."""
        nothing: Array = np.zeros(0, np.int64)
        found: list[Rows] = [(nothing, nothing, nothing)]
        left: list[int] = list(range(coordinates.shape[1]))
        if len(coordinates) == fields.rank and not fields.is_im2col and not fields.interleave:
            try:
                whole = boxes(fields, coordinates)
            except UsageError:
                return found[0]  # the machine is about to refuse the copies
            here = np.flatnonzero(whole.inside)
            inside = (whole.global_offset[here, None] + whole.row_offset[None, :]).reshape(-1)
            found.append(
                (np.repeat(here, len(whole.row_offset)), inside, np.full(len(inside), row_bytes(fields)))
            )
            left = np.flatnonzero(~whole.inside).tolist()
        for copy in left:
            at = coordinates[:, copy].tolist()
            try:
                if coordinate_error(fields, at, stores=stores):
                    continue
                part = tile_rows(fields, at, offsets[:, copy].tolist())
            except UsageError:
                continue  # the machine is about to refuse the copy
            inside = part.global_offset[part.global_offset >= 0]
            size = part.valid * unit_bits(fields) // 32 * 4
            found.append((np.full(len(inside), copy), inside, np.full(len(inside), size)))
        of: Array = np.concatenate([rows[0] for rows in found])
        starts: Array = np.concatenate([rows[1] for rows in found]) + fields.global_address - GLOBAL_BASE
        sizes: Array = np.concatenate([rows[2] for rows in found])
        good = self._inside(starts, sizes)
        return of[good], starts[good], sizes[good]

    def _sameness(
        self, request: BulkCopy | TensorCopy, positions: Array, lanes: Array, warps: Array, rows: Rows
    ) -> Callable[[int, int, int], bool]:
        """Whether a row that a copy stores has the bytes that are there, or that a copy under way brings there."""
        of, starts, sizes = rows
        engines, arena = self.machine.engines, self.machine.arena

        def stored(copy: int, start: int, size: int) -> bytes | None:
            where = (int(positions[copy]), int(lanes[copy]), int(self.machine.cta_of[warps[copy]]))
            return engines.copier.stored(request, *where, start, size)

        def same(row: int, other: int, site: int) -> bool:
            start, size = int(starts[row]), int(sizes[row])
            beside = np.flatnonzero(warps == other).tolist() if site == self.machine.pc else []
            try:
                new = stored(int(of[row]), start, size)
                old = [stored(copy, start, size) for copy in beside if copy != of[row]]
            except (Fault, UsageError):
                return False  # the machine is about to refuse a copy
            found = [each for each in old if each is not None] or engines.storing(other, site, start, size)
            return all(each == new for each in found or [arena.bytes[start : start + size].tobytes()])

        return same

    def _inside(self, starts: Array, sizes: Array) -> Array:
        return (starts >= 0) & (starts + sizes <= len(self.machine.arena.bytes))
