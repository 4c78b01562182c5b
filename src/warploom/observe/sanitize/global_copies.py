# pyright: reportUnknownMemberType=false
"""Reads and writes of global memory by bulk copies and tensor copies."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.events import CopyIssue
from warploom.emulator.faults import Fault
from warploom.isa.model.records import BulkCopy
from warploom.isa.model.types import TYPES
from warploom.layout import TensorMapFields, coordinate_error, row_bytes, tile_rows, unit_bits
from warploom.layout.tile import boxes
from warploom.observe.sanitize.clock_arrays import GPU
from warploom.observe.sanitize.clocks import strength_at
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.copies import Copies
from warploom.observe.sanitize.global_shadow import GlobalShadow, Load
from warploom.observe.sanitize.mbarriers import Mbarriers

Array = NDArray[Any]
Rows = tuple[Array, Array, Array]  # copy, byte offset and size of each range


class GlobalCopies:
    """Recorder of the accesses of bulk copies to global memory during one wave of CTAs."""

    def __init__(self, context: Context, shadow: GlobalShadow, mbarriers: Mbarriers) -> None:
        self.context = context
        self.arena = context.launch.arena
        self.shadow = shadow
        self.mbarriers = mbarriers

    def plain(self, copies: Copies, sizes: Array, objects: Array) -> None:
        """Record the accesses of copies without a tensor map.

        Copy k stores sizes[k] bytes. objects[k] is the number of the mbarrier that completes copy k, -1 for none.
        Shapes: (copies,).
        """
        request: BulkCopy = copies.event.request
        if request.destination_space == "global":
            starts = copies.values(request.destination) - GLOBAL_BASE
            good = self._inside(starts, sizes)
            size = TYPES[request.type].element_bytes if request.reduction else 0
            self._write(copies, (np.flatnonzero(good), starts[good], sizes[good]), size)
        if request.source_space == "global":
            first, sizes = (copies.values(each) for each in request.source_range())
            starts = copies.values(request.source) + first - GLOBAL_BASE
            heads = self.shadow.heads(copies.warps, objects, self.mbarriers.phase)
            for copy in np.flatnonzero(self._inside(starts, sizes)).tolist():
                at = slice(copy, copy + 1)
                self._read(copies, heads, (np.array([copy]), starts[at], sizes[at]))

    def stores(self, copies: Copies, fields: TensorMapFields, coordinates: Array, offsets: Array) -> None:
        """Record the accesses of tensor copies to global memory.

        `fields` describes the tensor map. Column k of `coordinates` and `offsets` is the position of copy k, as
        `Copies.box_positions` returns it.
        """
        self._write(copies, self._rows(fields, coordinates, offsets, stores=True), fields.element_bits // 8)

    def loads(
        self, copies: Copies, fields: TensorMapFields, coordinates: Array, offsets: Array, objects: Array
    ) -> None:  # fmt: skip
        """Record the accesses of tensor copies from global memory.

        objects[k] is the number of the mbarrier that completes copy k, -1 for none. The other arguments are as in
        `stores`. Shapes: objects (copies,).
        """
        heads = self.shadow.heads(copies.warps, objects, self.mbarriers.phase)
        deferred = self.shadow.deferred(fields.global_address - GLOBAL_BASE)
        if deferred is None:
            self._read(copies, heads, self._rows(fields, coordinates, offsets, stores=False))
            return
        number = self.shadow.number(fields)
        positions = np.concatenate([coordinates, offsets]).T.tolist()
        for copy, (head, position) in enumerate(zip(heads.tolist(), positions, strict=True)):
            if head >= 0:
                deferred[number, *position] = Load(
                    head, copies.event.pc,
                    lambda at=copy: self._rows(fields, coordinates[:, [at]], offsets[:, [at]], stores=False)[1:],
                )  # fmt: skip

    def _write(self, copies: Copies, rows: Rows, size: int) -> None:
        # `size` is the number of bytes of an element.
        event = copies.event
        strength = strength_at(GPU, size) if event.request.reduction else 0  # PTX ISA 9.7.9.25.5.2
        of, starts, sizes = copies.index[rows[0]], rows[1], rows[2]
        self.shadow.write_rows(
            event.warps[of], event.lanes[of], starts, sizes, strength, event.pc,
            self._sameness(event, of, starts, sizes),
        )  # fmt: skip

    def _read(self, copies: Copies, heads: Array, rows: Rows) -> None:
        which, starts, sizes = rows
        deferred = self.shadow.deferred(int(starts[0])) if len(which) == 1 else None
        if deferred is None:
            self.shadow.read_rows(
                copies.warps[which], copies.lanes[which], starts, sizes, heads[which], copies.event.pc
            )  # fmt: skip
        elif heads[which[0]] >= 0:
            key = int(starts[0]), int(sizes[0])
            deferred[key] = Load(int(heads[which[0]]), copies.event.pc, lambda: (starts, sizes))

    def _rows(self, fields: TensorMapFields, coordinates: Array, offsets: Array, *, stores: bool) -> Rows:
        """Return the byte ranges that tensor copies access, clipped to the tensor.

        `stores` is set for copies to the tensor. Shapes: coordinates (dimensions, copies); offsets (im2col offsets,
        copies).
        """
        nothing: Array = np.zeros(0, np.int64)
        found: list[Rows] = [(nothing, nothing, nothing)]
        left: list[int] = list(range(coordinates.shape[1]))
        if len(coordinates) == fields.rank and not fields.is_im2col and not fields.interleave:
            try:
                whole = boxes(fields, coordinates)
            except UsageError:
                return found[0]  # the emulator will report the illegal copies
            here = np.flatnonzero(whole.inside)
            inside = (whole.global_offset[here, None] + whole.row_offset[None, :]).reshape(-1)
            found.append((np.repeat(here, len(whole.row_offset)), inside, np.full(len(inside), row_bytes(fields))))
            left = np.flatnonzero(~whole.inside).tolist()
        for copy in left:
            at = coordinates[:, copy].tolist()
            try:
                if coordinate_error(fields, at, stores=stores):
                    continue
                part = tile_rows(fields, at, offsets[:, copy].tolist())
            except UsageError:
                continue  # the emulator will report the illegal copy
            inside = part.global_offset[part.global_offset >= 0]
            # Rounded to 4-byte granules.
            size = part.valid * unit_bits(fields) // 32 * 4
            found.append((np.full(len(inside), copy), inside, np.full(len(inside), size)))
        of: Array = np.concatenate([rows[0] for rows in found])
        starts: Array = np.concatenate([rows[1] for rows in found]) + fields.global_address - GLOBAL_BASE
        sizes: Array = np.concatenate([rows[2] for rows in found])
        good = self._inside(starts, sizes)
        return of[good], starts[good], sizes[good]

    def _sameness(self, event: CopyIssue, of: Array, starts: Array, sizes: Array) -> Callable[[int, int, int], bool]:
        """Return a function that returns True if a copy stores the bytes that memory already has.

        The arguments of the function are the index of the range, and the warp and program counter of the last write.
        Copy of[k] stores sizes[k] bytes at offset starts[k]. Shapes: of, starts and sizes (ranges,).
        """
        cta_of = self.context.topology.cta_of

        def stored(copy: int, start: int, size: int) -> bytes | None:
            cta = int(cta_of[event.warps[copy]])
            where = (int(event.positions[copy]), int(event.lanes[copy]), cta)
            return event.pending.preview(event.request, *where, start, size)

        def same(row: int, warp: int, site: int) -> bool:
            start, size, copy = int(starts[row]), int(sizes[row]), int(of[row])
            beside = np.flatnonzero(event.warps == warp).tolist() if site == event.pc else []
            try:
                new = stored(copy, start, size)
                old = [stored(other, start, size) for other in beside if other != copy]
            except (Fault, UsageError):
                return False  # the emulator will report an illegal copy
            # If the last write is a pending copy, its bytes take the place of memory.
            found = [each for each in old if each is not None]
            found = found or event.pending.pending_stores(warp, site, start, size)
            return all(each == new for each in found or [self.arena.bytes[start : start + size].tobytes()])

        return same

    def _inside(self, starts: Array, sizes: Array) -> Array:
        return (starts >= 0) & (starts + sizes <= len(self.arena.bytes))
