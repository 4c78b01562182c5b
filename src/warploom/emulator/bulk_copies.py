# pyright: reportUnknownMemberType=false
"""Execution of bulk copies and tensor copies between global and shared memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import counted
from warploom.emulator.address_space import CHUNK_MASK, GLOBAL_BASE
from warploom.emulator.batch import Batch
from warploom.emulator.events import AccessKind
from warploom.emulator.faults import Fault, refuse
from warploom.emulator.known_maps import MAP_BYTES, TF32_WORDS, KnownMaps
from warploom.emulator.memory import Memory
from warploom.emulator.pending_clusters import PendingClusters
from warploom.emulator.tensor_boxes import lane_values, move_boxes, row_contents, row_sources, tile_in, whole_boxes
from warploom.isa.instructions.reductions import combine_bulk, tensor_map_types
from warploom.isa.model.records import BulkCopy, TensorCopy
from warploom.isa.model.semantics import Array
from warploom.isa.model.types import TYPES
from warploom.layout import TensorMapFields, TileRows, coordinate_error, fill_bytes, row_bytes, tile_rows, unit_bits
from warploom.layout.tile import FOUR, is_simple, shared_addresses, wide_pixels, wide_rows
from warploom.lazy_dataclass import dataclass
from warploom.numerics.convert import tf32_from_float
from warploom.numerics.formats import TF32

_unpack = lru_cache(maxsize=1024)(TensorMapFields.unpack)


@dataclass(slots=True, eq=False)
class CopyExecutor:
    """Executor of bulk copies and tensor copies.

    A request (`BulkCopy` or `TensorCopy`) describes the copies of several lanes, by arrays over warps and lanes.
    `position` and `lane` are the indices of one copy in these arrays, and `cta` is the CTA that issued the copy.
    """

    memory: Memory
    complete: Callable[[Array, int], None]  # subtracts bytes from mbarriers at offsets of shared memory
    explicit_cluster: bool
    known: KnownMaps = field(default_factory=KnownMaps)
    pending: PendingClusters | None = None  # set at the start of a launch that may cancel clusters

    def check(self, batch: Batch, request: Any) -> None:
        """Check the bulk copies of the active lanes at issue.

        Errors: Fault emulator.no-cluster, emulator.misaligned.
        """
        active = batch.active()
        if isinstance(request, BulkCopy):
            spaces = {request.source_space, request.destination_space}
            if not {"global", "clusters"} & spaces and not self.explicit_cluster:
                message = "a bulk copy goes from shared memory to shared memory in a launch without clusters"
                refuse("emulator.no-cluster", active, message)
            addresses = {"source": request.source, "destination": request.destination, "size": request.bytes}
            for name, array in addresses.items():
                message = f"the {name} of a bulk copy is {{:#x}}; expected a multiple of 16"
                refuse("emulator.misaligned", active & (array % 16 != 0), message, array)
            for count in request.ignored or ():
                message = "a bulk copy ignores {} bytes at one end of its source; expected 0 to 15"
                refuse("emulator.misaligned", active & (count > 15), message, count)

    def execute_together(self, request: Any, positions: Array, lanes: Array, warps: Array) -> NDArray[np.bool_]:
        """Execute those copies of a request that one compiled call can execute.

        Lane lanes[i] of warps[i] issues copy i, and positions[i] is the index of the warp in the request. Return a mask
        of the executed copies. The caller must execute the other copies.

        Shapes: positions, lanes, warps and result (copies,).
        """
        done = np.zeros(len(positions), np.bool_)
        if not isinstance(request, TensorCopy) or request.reduction or self.memory.reports_copy_writes:
            return done
        for fields, of_map in self._by_tensor_map(lane_values(request.tensor_map, positions, lanes)):
            try:
                found = whole_boxes(
                    self.memory, self.complete, request, fields, positions[of_map], lanes[of_map], warps[of_map]
                )
            except (Fault, UsageError):
                continue  # the fault is reported when the copies are executed one by one
            if found is None:
                continue
            copies, move = of_map[found[0]], found[1]
            try:
                move()
            except Fault as fault:
                blamed = copies[fault.lane]
                lane = int(positions[blamed]) * 32 + int(lanes[blamed])
                raise Fault(fault.code, fault.message, lane) from None
            done[copies] = True
            self.known.add(self.memory.arena, lane_values(request.tensor_map, positions[copies], lanes[copies]), fields)
        return done

    def tensor_maps(
        self, request: Any, positions: Array, lanes: Array
    ) -> list[tuple[TensorMapFields, NDArray[np.intp]]]:
        """Group the tensor copies of a request by the contents of their tensor maps.

        Return pairs of a decoded tensor map and the indices of its copies. Copies with an unreadable tensor map are
        left out.

        Shapes: positions and lanes (copies,).
        """
        if not isinstance(request, TensorCopy):
            return []
        found = self._by_tensor_map(lane_values(request.tensor_map, positions, lanes))
        return [(_copied_fields(fields, request, positions[of], lanes[of]), of) for fields, of in found]

    def _by_tensor_map(self, tensor_maps: Array) -> list[tuple[TensorMapFields, NDArray[np.intp]]]:
        different = set(tensor_maps.tolist())
        if len(different) == 1:
            with suppress(Fault, UsageError):
                return [(self.fields(*different), np.arange(len(tensor_maps)))]
            return []
        if (common := self._common_fields(tensor_maps)) is not None:
            return [(common, np.arange(len(tensor_maps)))]
        addresses, which = np.unique(tensor_maps, return_inverse=True)
        kinds: dict[TensorMapFields, list[int]] = {}
        for k, address in enumerate(addresses.tolist()):
            with suppress(Fault, UsageError):
                kinds.setdefault(self.fields(address), []).append(k)
        if len(kinds) == 1 and len(addresses) == len(next(iter(kinds.values()))):
            return [(next(iter(kinds)), np.arange(len(tensor_maps)))]
        return [(fields, np.flatnonzero(np.isin(which, of_kind))) for fields, of_kind in kinds.items()]

    def _common_fields(self, addresses: Array) -> TensorMapFields | None:
        """Return the decoded tensor map if the maps at all addresses are equal.

        Return None if an observer handles the reads of the maps.
        """
        arena = self.memory.arena
        segments = arena.locate(addresses)
        first = addresses.astype(np.int64)
        legal = (segments >= 0) & (first + MAP_BYTES <= arena.ends[segments]) & (first % 64 == 0)
        if self.memory.reports_copies or not legal.all():
            return None
        maps = arena.bytes[(first - GLOBAL_BASE)[:, None] + np.arange(MAP_BYTES)]
        if (maps != maps[0]).any():
            return None
        with suppress(UsageError):
            return _unpack(maps[0].tobytes())
        return None

    def execute(self, request: Any, position: int, lane: int, cta: int, data: Array | None = None) -> None:
        """Execute one copy of a request. `CopyExecutor` describes the parameters of a copy.

        `data` contains the source bytes if `read_source` has already returned them.

        Errors: Fault if an address, the tensor map or the rank mask is illegal.
        """
        pick = _Pick(position, lane)
        if isinstance(request, TensorCopy):
            self._tensor(request, pick, cta)
        else:
            self._plain(request, pick, cta, self._source(request, pick, cta) if data is None else data)

    def read_source(self, request: Any, position: int, lane: int, cta: int) -> Array | None:
        """Return the source bytes of one bulk copy. Return None for a tensor copy."""
        return None if isinstance(request, TensorCopy) else self._source(request, _Pick(position, lane), cta)

    def preview(self, request: Any, position: int, lane: int, cta: int, start: int, size: int) -> bytes | None:
        """Return the bytes that one copy would write to [start, start + size) of `Arena.bytes`.

        Return None for a reduction, and for a copy that does not write the whole range. The docstring of `CopyExecutor`
        describes `position`, `lane` and `cta`.
        """
        pick = _Pick(position, lane)
        if request.reduction:
            return None
        if isinstance(request, BulkCopy):
            first = start + GLOBAL_BASE - pick.number(request.destination) - pick.number(request.source_range()[0])
            if request.destination_space != "global" or request.byte_mask is not None or first < 0:
                return None
            found = self._source(request, pick, cta)[first : first + size]
            return found.tobytes() if len(found) == size else None
        fields, coordinates = self._validate(request, pick)
        offsets = [] if request.offsets is None else [pick.number(part) for part in request.offsets]
        rows = _rows(fields, request, coordinates, offsets)
        (here,) = np.nonzero(
            (rows.global_offset >= 0) & (rows.global_offset + fields.global_address == start + GLOBAL_BASE)
        )
        if request.direction != "store" or start + GLOBAL_BASE < fields.global_address or not len(here):
            return None
        address = pick.number(request.shared)
        covered = int(rows.shared_offset[-1]) + max(row_bytes(fields), fields.swizzle_span)
        ((owner, low),) = self._targets(request.shared_space, address, cta, None)
        origin = self.memory.shared.origin(owner, low, covered, "a tensor copy")
        sources = shared_addresses(fields, low + int(rows.shared_offset[here[0]]) + np.arange(size))
        return self.memory.shared.bytes[origin + sources].tobytes()

    # Addresses ------------------------------------------------------------------------------------------

    def _targets(self, space: str, address: int, cta: int, ranks: int | None) -> list[tuple[int, int]]:
        """Return the CTA and the low 24 address bits of each destination in shared memory.

        `ranks` is the rank mask of a multicast, or None.
        """
        shared = self.memory.shared
        first = cta - int(shared.rank[cta])
        low = address & 0xFF_FFFF
        if ranks is not None:
            if ranks >> shared.cluster_size:
                message = (
                    f"a multicast has the rank mask {ranks:#x}; the cluster has {counted(shared.cluster_size, 'CTA')}"
                )
                raise Fault("emulator.out-of-bounds", message)
            owners = [first + rank for rank in range(shared.cluster_size) if ranks >> rank & 1]
            self._check_present(owners)
            return [(owner, low) for owner in owners]
        rank = address >> 24
        if rank >= shared.cluster_size or (space == "shared::cta" and rank != int(shared.rank[cta])):
            held = counted(shared.cluster_size, "CTA")
            message = f"shared address {address:#x} names CTA rank {rank}; the cluster has {held}"
            raise Fault("emulator.out-of-bounds", message)
        if first + rank != cta:
            self._check_present([first + rank])
        return [(first + rank, low)]

    def _check_present(self, ctas: Sequence[int]) -> None:
        shared = self.memory.shared
        for cta in ctas:
            if shared.exited[cta]:
                raise shared.fault_of_exited(cta)

    def _signalled(self, request: TensorCopy, owner: int, mbarrier: int) -> int:
        """Return the CTA whose mbarrier counts the bytes that a copy writes to the CTA `owner`."""
        if request.cta_group == 1:
            return owner
        shared = self.memory.shared
        rank = int(shared.rank[owner])
        if rank | 1 >= shared.cluster_size:
            message = f"a tensor copy with .cta_group::2 writes to the CTA of rank {rank}, which has no pair"
            raise Fault("emulator.out-of-bounds", message)
        found = owner - rank + request.mbarrier_rank(rank, mbarrier)
        self._check_present([found])
        return found

    def _complete(self, cta: int, mbarrier: int, transferred: int) -> None:
        origin = self.memory.shared.origin(cta, mbarrier & 0xFF_FFFF, 8, "an mbarrier")
        self.complete(np.array([origin + (mbarrier & 0xFF_FFFF)]), transferred)

    # Plain copies -----------------------------------------------------------------------------------------

    def _source(self, request: BulkCopy, pick: _Pick, cta: int) -> Array:
        if request.source_space == "clusters":
            assert self.pending is not None
            return self.pending.cancel()
        memory = self.memory
        offset, size = (pick.number(each) for each in request.source_range())
        source = pick.number(request.source) + offset
        if request.source_space == "global":
            first = memory.arena.find(source, size, "a bulk copy's source")
            memory.report_copy("read", [first], [size])
            return memory.arena.bytes[first : first + size].copy()
        ((owner, low),) = self._targets("shared::cta", source, cta, None)
        origin = memory.shared.origin(owner, low, size, "a bulk copy's source")
        return memory.shared.bytes[origin + low : origin + low + size].copy()

    def _plain(self, request: BulkCopy, pick: _Pick, cta: int, data: Array) -> None:
        memory, size = self.memory, pick.number(request.bytes)
        first_read = pick.number(request.source_range()[0])
        received = slice(first_read, first_read + len(data))
        destination = pick.number(request.destination)
        if request.destination_space == "global":
            first = memory.arena.find(destination, size, "a bulk copy's destination")
            self._report_put(first, size, request, pick)
            self._report_plain(request, pick, cta, "global", first + first_read, len(data))
            self._put(memory.arena.bytes[first : first + size][received], data, request, pick)
            memory.arena.mark_written(destination)
        else:
            ranks = pick.optional(request.multicast)
            if ranks is not None and request.source_space == "clusters":
                ranks &= (1 << memory.shared.cluster_size) - 1
            for owner, low in self._targets(request.destination_space, destination, cta, ranks):
                origin = memory.shared.origin(owner, low, size, "a bulk copy's destination")
                self._report_plain(request, pick, cta, "shared", origin + low + first_read, len(data))
                self._put(memory.shared.bytes[origin + low : origin + low + size][received], data, request, pick)
                if request.mbarrier is not None:
                    mbarrier = pick.number(request.mbarrier)
                    if ranks is None and mbarrier >> 24 != destination >> 24:
                        message = (
                            f"the mbarrier of a bulk copy is in the CTA of rank {mbarrier >> 24}, and the destination "
                            f"is in the CTA of rank {destination >> 24}; expected the same CTA"
                        )
                        raise Fault("emulator.out-of-bounds", message)
                    self._complete(owner, mbarrier, size)

    def _put(self, target: Array, data: Array, request: BulkCopy, pick: _Pick) -> None:
        if request.reduction:
            dtype = TYPES[request.type].dtype
            old = target.view(dtype)
            old[:] = combine_bulk(request.reduction, request.type)(old.copy(), data.view(dtype))
            return
        if request.byte_mask is None:
            target[:] = data
        else:
            keep = _kept(request.byte_mask, pick, len(data))
            target[keep] = data[keep]

    def _report_put(self, first: int, size: int, request: BulkCopy, pick: _Pick) -> None:
        memory = self.memory
        if request.reduction:
            memory.report_copy("update", [first], [size], request.reduction, request.type)
        elif request.byte_mask is None:
            memory.report_copy("write", [first], [size])
        else:
            single = np.arange(first, first + size)[_kept(request.byte_mask, pick, size)]
            memory.report_copy("write", single, np.ones(len(single)))

    def _report_plain(self, request: BulkCopy, pick: _Pick, cta: int, space: str, target: int, size: int) -> None:
        """Create the event `CopyWrite` of `size` bytes that a copy writes to index `target` of a memory."""
        memory = self.memory
        if not memory.reports_copy_writes or request.source_space == "clusters":
            return
        source, from_space = pick.number(request.source) + pick.number(request.source_range()[0]), "global"
        if request.source_space == "global":
            first = memory.arena.find(source, size, "a bulk copy's source")
        else:
            ((owner, low),) = self._targets("shared::cta", source, cta, None)
            first, from_space = memory.shared.origin(owner, low, size, "a bulk copy's source") + low, "shared"
        step = 16 if size % 16 == 0 and request.byte_mask is None else 1
        within = np.arange(0, size, step)
        if request.byte_mask is not None:
            within = within[_kept(request.byte_mask, pick, size)]
        updates = bool(request.reduction)
        memory.report_copy_write(space, target + within, from_space, first + within, step, updates=updates)

    # Tensor tiles -----------------------------------------------------------------------------------------

    def _validate(self, request: TensorCopy, pick: _Pick) -> tuple[TensorMapFields, list[int]]:
        fields = self.fields(pick.number(request.tensor_map))
        if fields.rank != request.dimensions:
            expected = request.dimensions
            message = f"a {expected}-dimensional copy needs a tensor map of rank {expected}, got rank {fields.rank}"
            raise Fault("emulator.tensor-map", message)
        if fields.is_im2col != request.is_im2col:
            own, other = ("im2col", "tile")[:: 1 if request.is_im2col else -1]
            message = f"a copy in {own} mode uses a tensor map for {other} mode; expected a map for {own} mode"
            raise Fault("emulator.tensor-map", message)
        coordinates = [pick.number(part) for part in request.coordinates]
        is_store = request.direction == "store"
        if message := coordinate_error(fields, coordinates, stores=is_store, wide=bool(request.wide)):
            raise Fault("emulator.tensor-map", message)
        return fields, coordinates

    def prefetch(self, batch: Batch, request: TensorCopy) -> None:
        """Check the tensor prefetch of the active lanes. A prefetch has no other effect. Errors: Fault."""
        for position, lane in np.argwhere(batch.active()).tolist():
            try:
                self._validate(request, _Pick(position, lane))
            except Fault as fault:
                raise Fault(fault.code, fault.message, position * 32 + lane) from None

    def _tensor(self, request: TensorCopy, pick: _Pick, cta: int) -> None:
        fields, coordinates = self._validate(request, pick)
        try:
            offsets = [] if request.offsets is None else [pick.number(part) for part in request.offsets]
            rows = _rows(fields, request, coordinates, offsets)
        except UsageError as error:
            raise Fault("emulator.tensor-map", str(error)) from None
        if request.reduction and fields.element_type not in tensor_map_types(request.reduction):
            legal = ", ".join(tensor_map_types(request.reduction))
            message = f"a reduction by {request.reduction} has elements of {fields.element_type}; expected {legal}"
            raise Fault("emulator.tensor-map", message)
        address = pick.number(request.shared)
        if address % 128:
            message = f"a tensor copy's shared address is {address:#x}; expected a multiple of 128"
            raise Fault("emulator.misaligned", message)
        if request.direction == "load":
            self._tile_load(request, pick, cta, fields, rows, address)
        else:
            self._tile_store(request, cta, fields, rows, address)

    def fields(self, address: int) -> TensorMapFields:
        """Return the decoded tensor map at a global address.

        Errors: Fault if the address is misaligned or out of bounds, UsageError if the map is malformed.
        """
        arena = self.memory.arena
        if address % 64:
            raise Fault("emulator.misaligned", f"a tensor map is at {address:#x}; expected a multiple of 64")
        first = arena.find(address, MAP_BYTES, "a tensor map")
        self.memory.report_copy("read", [first], [MAP_BYTES])
        return _unpack(arena.bytes[first : first + MAP_BYTES].tobytes())

    def _global_span(self, fields: TensorMapFields, rows: TileRows, size: int) -> int:
        """Check the rows of a box. Return the index in `Arena.bytes` at which the tensor starts.

        Units: `size` is the number of bytes of a row.
        """
        arena = self.memory.arena
        inside = rows.global_offset[rows.global_offset >= 0]
        if not len(inside):
            return 0
        low, high = int(inside.min()), int(inside.max()) + size
        return arena.find(fields.global_address + low, high - low, "a tensor copy") - low

    def _report_rows(
        self, kind: AccessKind, base: int, rows: TileRows, size: int, operation: str = "", type: str = ""
    ) -> None:
        inside = rows.global_offset[rows.global_offset >= 0]
        self.memory.report_copy(kind, base + inside, np.full(len(inside), size), operation, type)

    def _tile_load(
        self, request: TensorCopy, pick: _Pick, cta: int, fields: TensorMapFields, rows: TileRows, address: int
    ) -> None:
        memory = self.memory
        bits, whole = unit_bits(fields), row_bytes(fields)
        left, inside = rows.first * bits // 8, rows.valid * bits // 8
        if fields.shared_bits != fields.element_bits:
            inside = rows.valid * fields.element_bits // 8
        base = self._global_span(fields, rows, inside)
        source, offsets = memory.arena.bytes, rows.global_offset
        self._report_rows("read", base, rows, inside)
        global_base = base
        if fields.element_type in TF32_WORDS:
            source, offsets = _as_tf32(source, base + offsets, offsets >= 0, inside)
            base = 0
        covered = int(rows.shared_offset[-1]) + max(whole, fields.swizzle_span)
        element = fill_bytes(fields)
        fill = np.uint64(int.from_bytes(element * (8 // len(element)), "little"))
        # An mbarrier counts elements without their padding: Triton and CUTLASS expect these bytes.
        transferred = len(rows.shared_offset) * whole * fields.element_bits // fields.shared_bits
        simple = is_simple(fields)
        contents = None if simple else row_contents(fields, rows, source, base)
        for owner, low in self._targets(request.shared_space, address, cta, pick.optional(request.multicast)):
            origin = self.memory.shared.origin(owner, low, covered, "a tensor copy")
            if memory.reports_copy_writes:
                from_rows, step = row_sources(fields, rows, global_base)
                near = shared_addresses(fields, low + rows.shared_offset[:, None] + np.arange(0, whole, step))
                memory.report_copy_write("shared", (origin + near).ravel(), "global", from_rows.ravel(), step)
            if contents is None:
                tile_in(
                    source, base, offsets, left, inside, rows.shared_offset, whole, low,
                    CHUNK_MASK[fields.swizzle_span], memory.shared.bytes, origin, fill,
                )  # fmt: skip
            else:
                places = shared_addresses(fields, low + rows.shared_offset[:, None] + np.arange(whole))
                memory.shared.bytes[origin + places] = contents
            if request.mbarrier is not None:
                mbarrier = pick.number(request.mbarrier)
                self._complete(self._signalled(request, owner, mbarrier), mbarrier, transferred)

    def _tile_store(self, request: TensorCopy, cta: int, fields: TensorMapFields, rows: TileRows, address: int) -> None:
        memory = self.memory
        # Whole chunks of 16 bytes are written, even if the last one of a row exceeds the tensor.
        inside, whole = -(-rows.valid * unit_bits(fields) // 128) * 16, row_bytes(fields)
        base = self._global_span(fields, rows, inside)
        covered = int(rows.shared_offset[-1]) + max(whole, fields.swizzle_span)
        ((owner, low),) = self._targets(request.shared_space, address, cta, None)
        origin = self.memory.shared.origin(owner, low, covered, "a tensor copy")
        reached = rows.global_offset >= 0
        if not reached.any():
            return
        memory.arena.mark_written(base + int(rows.global_offset.max()) + GLOBAL_BASE)
        if memory.reports_copy_writes:
            chunks = np.arange(0, inside, 8)
            near = shared_addresses(fields, low + rows.shared_offset[reached, None] + chunks)
            far = base + rows.global_offset[reached, None] + chunks
            updates = bool(request.reduction)
            memory.report_copy_write("global", far.ravel(), "shared", (origin + near).ravel(), 8, updates=updates)
        if request.reduction:
            self._report_rows("update", base, rows, inside, request.reduction, fields.element_type)
        else:
            self._report_rows("write", base, rows, inside)
            if is_simple(fields):
                move_boxes(
                    memory.arena.bytes, np.array([base]), rows.global_offset[reached], rows.shared_offset[reached],
                    inside, np.array([low]), CHUNK_MASK[fields.swizzle_span], memory.shared.bytes, np.array([origin]),
                    False,
                )  # fmt: skip
                return
        firsts = base + rows.global_offset[reached]
        sources = shared_addresses(fields, low + rows.shared_offset[reached, None] + np.arange(inside))
        if not request.reduction:
            memory.arena.bytes[firsts[:, None] + np.arange(inside)] = memory.shared.bytes[origin + sources]
            return
        dtype = TYPES[fields.element_type.removesuffix(".ftz")].dtype
        dtype = np.dtype(np.float32) if fields.element_type in TF32_WORDS else dtype
        new = memory.shared.bytes[origin + sources].view(dtype)
        act = combine_bulk(request.reduction, fields.element_type)
        apart = (np.diff(np.sort(firsts)) >= inside).all()
        # Rows may overlap if the strides allow it; they are then combined one after the other.
        for some in [slice(None)] if apart else [slice(k, k + 1) for k in range(len(firsts))]:
            index = firsts[some, None] + np.arange(inside)
            reduced = act(memory.arena.bytes[index].view(dtype), new[some])
            memory.arena.bytes[index] = np.ascontiguousarray(reduced).view(np.uint8)


def _rows(
    fields: TensorMapFields, request: TensorCopy, coordinates: Sequence[int], offsets: Sequence[int]
) -> TileRows:  # fmt: skip
    """Return the rows of one copy of a request."""
    if not request.wide:
        return tile_rows(fields, coordinates, offsets)
    return wide_rows(fields, coordinates, offsets[0], offsets[1], request.wide == "w::128")


def _copied_fields(fields: TensorMapFields, request: TensorCopy, positions: Array, lanes: Array) -> TensorMapFields:
    """Return the fields of a map whose box has the rows of the copies in shared memory, for observers."""
    if len(request.coordinates) == 1 + FOUR and fields.rank == 2:
        return replace(fields, box=(fields.box[0], FOUR, 0, 0, 0))
    if not request.wide or request.offsets is None:
        return fields
    halo = int(lane_values(request.offsets[0], positions, lanes).max(initial=0))
    pixels = wide_pixels(fields, halo, request.wide == "w::128")
    # With an element stride of 0, the map has no known rows in global memory.
    return replace(fields, pixels_per_column=pixels, element_stride=(0, *fields.element_stride[1:]))


def _kept(byte_mask: Array, pick: _Pick, size: int) -> Array:
    mask = pick.number(byte_mask)
    return np.resize(np.array([mask >> bit & 1 for bit in range(16)], np.bool_), size)


def _as_tf32(arena: Array, sources: Array, reached: Array, inside: int) -> tuple[Array, Array]:
    """Round the f32 elements of the rows in `reached` to tf32. Return the new rows and their offsets.

    Row r has `inside` bytes at index sources[r] of the arena. Other rows have the offset -1.

    Shapes: sources, reached and offsets (rows,).
    """
    pitch = -(-inside // 16) * 16
    rows = np.zeros((len(sources), pitch), np.uint8)
    found = arena[sources[reached, None] + np.arange(inside)].view(np.float32)
    rounded = np.where(np.isnan(found), np.uint32(TF32.nan_code), tf32_from_float(found, "rn"))
    rows[reached, :inside] = rounded.view(np.uint8)
    return rows.reshape(-1), np.where(reached, np.arange(len(sources)) * pitch, -1)


@dataclass(slots=True, eq=False)
class _Pick:
    """Reader of one lane's values in the arrays of a request."""

    position: int  # index of the lane's warp
    lane: int

    def number(self, array: Array) -> int:
        rows, columns = array.shape
        return int(array[self.position if rows > 1 else 0, self.lane if columns > 1 else 0])

    def optional(self, array: Array | None) -> int | None:
        return None if array is None else self.number(array)
