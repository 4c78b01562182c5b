# pyright: reportUnknownMemberType=false
"""Compiled copies of tensor boxes between global and shared memory."""

from collections.abc import Callable
from math import gcd

import numpy as np

from warploom.emulator.address_space import CHUNK_MASK, SHARED_START
from warploom.emulator.known_maps import TF32_WORDS
from warploom.emulator.memory import Memory
from warploom.isa.model.records import TensorCopy
from warploom.isa.model.semantics import Array
from warploom.layout import TensorMapFields, TileRows, box_bytes, boxes, fill_bytes, row_bytes, unit_bits
from warploom.layout.tile import is_simple
from warploom.numerics._compile import njit
from warploom.numerics._numba import INSTALLED
from warploom.numerics.copies import address, copy_chunk


@njit
def tile_in(
    arena: Array, base: int, rows: Array, left: int, inside: int, offsets: Array, row_bytes: int, start: int,
    mask: int, shared: Array, origin: int, fill: np.uint64,
) -> None:  # fmt: skip
    """Load one box from `arena` (the array `Arena.bytes`) to shared memory.

    Row r consists of `row_bytes` bytes at the shared address start + offsets[r]. Its bytes [left, left + inside) come
    from index base + rows[r] of the arena. All other bytes are `fill`. `mask` is a value of CHUNK_MASK, and `origin`
    the difference between indices of `shared` and shared addresses.
    """
    from_words = arena.view(np.uint64)
    to_words = shared.view(np.uint64)
    for r in range(len(rows)):
        for chunk in range(0, row_bytes, 16):
            address = start + offsets[r] + chunk
            target = origin + (address ^ (((address >> 7) & mask) << 4))  # `origin` converts addresses to indices
            source = base + rows[r] + chunk - left
            # All numbers except `inside` are multiples of 16, as tensor maps require.
            if rows[r] >= 0 and left <= chunk and chunk + 16 <= left + inside:
                to_words[target // 8] = from_words[source // 8]
                to_words[target // 8 + 1] = from_words[source // 8 + 1]
                continue
            to_words[target // 8] = fill
            to_words[target // 8 + 1] = fill
            if rows[r] >= 0:
                for byte in range(max(left - chunk, 0), min(left + inside - chunk, 16)):
                    shared[target + byte] = arena[source + byte]


@njit
def move_boxes(
    arena: Array, bases: Array, rows: Array, offsets: Array, row_bytes: int, starts: Array, mask: int,
    shared: Array, origins: Array, loads: bool,
) -> None:  # fmt: skip
    """Load boxes into shared memory if `loads` is set, else store the boxes to global memory.

    Box b is at index bases[b] of the arena and at the shared address starts[b]. Row r of each box is at the offsets
    rows[r] and offsets[r] from there. `tile_in` describes the other arguments.
    """
    far_bytes, near_bytes = address(arena), address(shared)
    for b in range(len(bases)):
        for r in range(len(rows)):
            far = far_bytes + bases[b] + rows[r]
            first = starts[b] + offsets[r]
            for chunk in range(0, row_bytes, 16):
                at = first + chunk
                near = near_bytes + origins[b] + (at ^ (((at >> 7) & mask) << 4))
                if loads:
                    copy_chunk(far + chunk, near)
                else:
                    copy_chunk(near, far + chunk)


def row_contents(fields: TensorMapFields, rows: TileRows, arena: Array, base: int) -> Array:
    """Return the bytes of the rows of a box in shared memory, before the swizzle.

    Row r begins at index base + rows.global_offset[r] of `arena`, if that offset is not negative. Each 16 elements of a
    padded type take 16 bytes of shared memory. The bytes after the packed elements are zero. Shapes: (rows, bytes).
    """
    reached = rows.global_offset >= 0
    element = np.frombuffer(fill_bytes(fields), np.uint8)
    contents = np.resize(element, (len(reached), row_bytes(fields)))
    starts = base + rows.global_offset[reached, None]
    if fields.shared_bits == fields.element_bits:
        left, inside = rows.first * fields.element_bits // 8, rows.valid * fields.element_bits // 8
        contents[reached, left : left + inside] = arena[starts + np.arange(inside)]
        return contents
    units, packed = rows.valid // 16, 2 * fields.element_bits  # bytes of 16 elements
    found = arena[starts + np.arange(units * packed)].reshape(len(starts), units, packed)
    padded = np.zeros((len(found), units, 16), np.uint8)
    padded[:, :, :packed] = found
    first = rows.first  # 16 elements take 16 bytes
    contents[reached, first : first + 16 * units] = padded.reshape(len(found), 16 * units)
    return contents


def row_sources(fields: TensorMapFields, rows: TileRows, base: int) -> tuple[Array, int]:
    """Return the index in `Arena.bytes` of each part of the rows of a box, and the bytes of a part.

    `base` is the index at which the tensor starts. Parts without a source have the index -1. The order of the parts is
    that before the swizzle. Shapes: (rows, parts).
    """
    is_packed = fields.shared_bits != fields.element_bits
    bits = 8 if is_packed else unit_bits(fields)  # 16 packed elements take 16 bytes
    first, inside, whole = rows.first * bits // 8, rows.valid * bits // 8, row_bytes(fields)
    step = 4 if is_packed else gcd(8, first, inside)
    within = np.arange(0, whole, step) - first
    reached = (rows.global_offset[:, None] >= 0) & (within >= 0) & (within < inside)
    if is_packed:
        packed = 2 * fields.element_bits  # bytes of 16 elements
        reached &= within % 16 < packed
        within = within // 16 * packed + within % 16
    return np.where(reached, base + rows.global_offset[:, None] + within, -1), step


def lane_values(array: Array, positions: Array, lanes: Array) -> Array:
    """Return array[positions[i], lanes[i]] for each copy i.

    An axis of length 1 is broadcast. Shapes: array (warps or 1, 32 or 1), positions, lanes and result (copies,).
    """
    rows, columns = array.shape
    return array[positions if rows > 1 else 0 * positions, lanes if columns > 1 else 0 * lanes]


def whole_boxes(
    memory: Memory, complete: Callable[[Array, int], None], request: TensorCopy, fields: TensorMapFields,
    positions: Array, lanes: Array, warps: Array,
) -> tuple[Array, Callable[[], None]] | None:  # fmt: skip
    """Prepare one compiled call that executes many copies of a tensor copy instruction.

    Copy c belongs to lane lanes[c] of warp warps[c], whose index in the request is positions[c]. A multicast copy has
    one box for each target CTA, and any other copy has one box. Return (copy, move): box b belongs to copy number
    copy[b], and move() moves all boxes and calls `complete`. If move() raises a Fault, its attribute `lane` has the
    number of the faulting box instead of a lane. Return None if every copy must be executed separately.

    Shapes: positions, lanes and warps (copies,). Errors: Fault, UsageError if the tensor map or an address is illegal.
    """
    if fields.rank != len(request.coordinates) or request.is_im2col or fields.is_im2col or fields.interleave:
        return None
    if not INSTALLED or not is_simple(fields):
        return None
    if request.direction == "load" and fields.element_type in TF32_WORDS:
        return None
    coordinates = request.coordinates[:, positions, lanes].astype(np.int64)
    found = boxes(fields, coordinates)
    width = row_bytes(fields)
    covered = int(found.shared_offset[-1]) + max(width, fields.swizzle_span)
    addresses = lane_values(request.shared, positions, lanes).astype(np.int64)
    starts, rank = addresses & 0xFF_FFFF, addresses >> 24
    shared, end = memory.shared, memory.shared.end
    fits = found.inside & (starts >= SHARED_START) & (starts <= end - covered)  # only whole boxes inside the tensor
    fits &= (coordinates[0] * fields.element_bits | addresses) & 127 == 0
    ctas = memory.state.topology.cta_of[warps]
    own = shared.rank[ctas]
    if request.multicast is None:
        fits &= rank == own if request.shared_space == "shared::cta" else rank < shared.cluster_size
        (copy,) = fits.nonzero()
        part = copy if len(copy) < len(fits) else slice(None)
        rank = rank[part]
    else:
        masks = lane_values(request.multicast, positions, lanes).astype(np.int64)
        copy, rank = np.nonzero(fits[:, None] & (masks[:, None] >> np.arange(shared.cluster_size) & 1 == 1))
        part = copy
    if not len(copy):
        return None
    bases = found.global_offset[part]
    low = int(bases.min())
    reach = int(bases.max()) - low + int(found.row_offset[-1]) + width
    bases = bases - low + memory.arena.find(fields.global_address + low, reach, "a tensor copy")
    owner = ctas[part] - own[part] + rank
    if shared.exited[owner].any():
        return None  # executed one by one, the copies report the fault
    origins = owner * shared.stride - SHARED_START
    mbarriers = None
    loads = request.direction == "load"
    if not loads:
        memory.arena.mark_written(fields.global_address + low)
    if request.mbarrier is not None:
        named = lane_values(request.mbarrier, positions, lanes).astype(np.int64)[part]
        objects = named & 0xFF_FFFF
        if np.count_nonzero((objects < SHARED_START) | (objects > end - 8)):
            return None
        if request.cta_group == 2 and (rank | 1).max() >= shared.cluster_size:
            return None
        signalled = owner - rank + request.mbarrier_rank(rank, named)
        if shared.exited[signalled].any():
            return None
        mbarriers = signalled * shared.stride - SHARED_START + objects

    def move() -> None:
        if memory.reports_copies:
            # Several CTAs may load one tile.
            reported = np.unique(bases, return_index=True)[1] if loads else np.arange(len(bases))
            rows = (bases[reported, None] + found.row_offset).reshape(-1)
            of = np.repeat(copy[reported], len(found.row_offset))
            kind, sizes = "read" if loads else "write", np.full(len(rows), width)
            memory.report_copy(kind, rows, sizes, issuers=(warps[of], lanes[of]))
        move_boxes(
            memory.arena.bytes, bases, found.row_offset, found.shared_offset, width, starts[part],
            CHUNK_MASK[fields.swizzle_span], memory.shared.bytes, origins, loads,
        )  # fmt: skip
        if mbarriers is not None:
            complete(mbarriers, box_bytes(fields))

    return copy, move
