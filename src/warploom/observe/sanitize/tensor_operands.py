# pyright: reportUnknownMemberType=false
"""Reads of shared memory by operations on tensor memory, and the commits that complete them.

In the records, the agent of a read is the class MULTIPLICATIONS of the warp's asynchronous operations (see `clocks`).
The time is the number of the operation.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import SHARED_START, SHARED_WINDOW
from warploom.emulator.events import TensorIssue
from warploom.emulator.tensor_memory.shared_operands import start_addresses
from warploom.isa.model.tensor_memory import Matrix, TensorCommit, TensorMemoryCopy, TensorMultiply
from warploom.numerics._compile import njit
from warploom.numerics.formats import FORMATS
from warploom.observe.sanitize._shared_shadow import (
    BLOCK,
    READ_WRITE,
    UNWRITTEN,
    SharedArrays,
    add_conflict,
    check_async,
    is_visible,
)
from warploom.observe.sanitize.clock_arrays import KNOWN, MULTIPLICATIONS, ClockArrays
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.lifetimes import Lifetimes
from warploom.observe.sanitize.mbarriers import Mbarriers
from warploom.observe.sanitize.shared_shadow import SharedShadow

Array = NDArray[Any]


class TensorOperands:
    """Recorder of the reads of shared memory, and of the commits, of one wave of CTAs."""

    def __init__(self, context: Context, shadow: SharedShadow, mbarriers: Mbarriers, lifetimes: Lifetimes) -> None:
        self.context = context
        self.topology = context.topology
        self.clocks = context.clocks
        self.shadow = shadow
        self.mbarriers = mbarriers
        self.lifetimes = lifetimes

    def read(
        self, record: Any, values: dict[str, Array], k: int, warp: int, lane: int, pc: int, number: int
    ) -> None:  # fmt: skip
        """Record the reads of shared memory by operation `k` of a record, and report their conflicts.

        `values` has the operands by name, and `number` is the number of the operation in its warp.
        """
        cta = int(self.topology.cta_of[warp])
        for matrix, descriptor, used in _matrices(record, values, k):
            start = int(start_addresses(np.array([descriptor], np.uint64))[0])
            for of in [cta] if record.ctas == 1 else [cta & ~1, cta | 1]:
                self._read(matrix, start, of, used, warp, lane, pc, number)

    def _read(
        self, matrix: Matrix, start: int, cta: int, used: int, warp: int, lane: int, pc: int, number: int
    ) -> None:  # fmt: skip
        shadow, c = self.shadow, self.clocks.arrays
        slot = warp // c.ctas
        if cta != int(self.topology.cta_of[warp]):
            slot += c.per_cta
        mask, shift = matrix.exchange
        found = _read_matrix(
            c, shadow.arrays, warp, lane, slot, cta * shadow.shared.stride, start, matrix.second, matrix.offsets, mask,
            matrix.phase, shift, SHARED_START, shadow.shared.end, used, pc, number,
        )  # fmt: skip
        if found:
            shadow.report_tiles(min(found, len(shadow.arrays.out)), np.array([warp]), pc)

    def commit(self, event: TensorIssue, values: dict[str, Array]) -> Iterator[tuple[int, int, list[int]]]:
        """Yield the warp, lane and mbarriers (byte offset / 8) of each commit, and record the arrivals."""
        record: TensorCommit = event.record
        topology, shared, mbarriers = self.topology, self.context.shared, self.mbarriers
        for k, (warp, lane) in enumerate(zip(event.warps.tolist(), event.lanes.tolist(), strict=True)):
            address = int(values["mbarrier"][k]) - (0 if record.space else SHARED_WINDOW)
            cta = int(topology.cta_of[warp])
            leader = cta - int(topology.rank[cta])
            low, rank = (address & 0xFF_FFFF) - SHARED_START, address >> 24
            ranks = [rank]
            if record.multicast is not None:
                mask = int(values["multicast"][k])
                ranks = [each for each in range(16) if mask >> each & 1]
            inside = 0 <= low <= shared.end - SHARED_START - 8 and low % 8 == 0
            if not inside or not ranks or max(ranks) >= topology.cluster_size:
                continue  # the emulator reports the address
            starts = np.array([(leader + each) * shared.stride + low for each in ranks], np.int64)
            warps, lanes = np.full(len(starts), warp), np.full(len(starts), lane)
            self.lifetimes.start(starts, warps, lanes, event.pc)
            self.shadow.check_initialised(warps, lanes, starts, event.pc)
            found = mbarriers.of(starts)
            if found.min() < 0:
                mbarriers.report_missing(starts, found, warps, lanes, event.pc, "a commit arrives")
            known = found[found >= 0]
            for each in known.tolist():
                if each // self.clocks.mbarriers != cta:
                    phase = int(mbarriers.phase[each]) + 1
                    self.lifetimes.expect(each // self.clocks.mbarriers, warp, each, phase, event.pc)
            # The operations were issued, so the phases that the warp knew at the issue are complete.
            self.clocks.release_phases(np.full(len(known), warp), known)
            mbarriers.commit(warp, known, event.pc)
            yield warp, lane, (starts >> 3).tolist()

    def complete(self, warp: int, number: int, words: list[int]) -> None:
        """Record that phases of the mbarriers `words` complete the operations of a warp up to `number`."""
        clocks = self.clocks
        column = int(clocks.own[warp]) + MULTIPLICATIONS * clocks.per_cta
        found = self.mbarriers.at[np.array(words)]
        found = found[found >= 0]
        for local in (False,) if clocks.kinds == 2 else (False, True):
            rows = clocks.arriving(found.copy(), local)
            clocks.vectors[rows, KNOWN, column] = np.maximum(clocks.vectors[rows, KNOWN, column], number)


def _matrices(record: Any, values: dict[str, Array], k: int) -> Iterator[tuple[Matrix, int, int]]:
    """Yield each matrix in shared memory that an operation reads.

    With it, yield its descriptor, and the number of used bytes in each chunk of 16 bytes.
    """
    match record:
        case TensorMultiply():
            plan = record.plan(int(values["idesc"][k]))
            buffer, use = record.collector
            kept = buffer[0] if use in ("use", "lastuse") else ""
            if not record.a_in_tensor and kept != "a":
                a = record.matrix_a(plan, int(values["a"][k]))
                yield a, int(values["a"][k]), _used_bytes(a)
            if kept != "b":
                b = record.matrix_b(plan, int(values["b"][k]))
                yield b, int(values["b"][k]), _used_bytes(b)
        case TensorMemoryCopy():
            used = 2 * int(record.decompression[1]) if record.decompression else 16
            descriptor = int(values["descriptor"][k])
            yield record.matrix(descriptor), descriptor, used
        case _:
            pass


def _used_bytes(matrix: Matrix) -> int:
    """Return the number of bytes of each chunk of 16 bytes that elements occupy. The others are padding."""
    bits = FORMATS[matrix.element].bits if matrix.padded and matrix.element in FORMATS else 8
    return 2 * bits if bits < 8 else 16


@njit
def _read_matrix(
    c: ClockArrays, s: SharedArrays, w: int, lane: int, slot: int, origin: int, start: int, second: int,
    offsets: Array, mask: int, phase: int, shift: int, low: int, high: int, used: int, pc: int, clock: int,
) -> int:  # fmt: skip
    """Record the reads of a matrix by a lane of warp `w`. Return the number of conflicts.

    `slot` is the position of the warp among the readers of the CTA, whose shared memory begins at the byte offset
    `origin`. The first `used` bytes of each chunk must have been written. The other arguments describe the matrix as in
    `emulator.tensor_memory.compiled_copies.read_chunks`.
    """
    found = 0
    entry = (np.int64(clock) << 32) | (np.int64(pc) << 10) | (np.int64(lane) << 4)
    good = np.int64(-1)
    lines, chunks = offsets.shape
    for line in range(lines):
        for place in range(chunks):
            address = start + offsets[line, place]
            if second >= 0:
                within = (start & 127) + 16 * place
                if within >= 128:
                    address = second + offsets[line, 0] + within - 128
            address ^= (((address >> 7) - phase) & mask) << shift
            if address < low or address + 16 > high:
                continue  # the emulator reports the access
            chunk = (origin + address - low) >> 4
            s.async_reads[slot, chunk] = entry
            s.last_reads[chunk << (4 - s.shift) >> BLOCK, slot, 1] = clock
            for granule in range(chunk << (4 - s.shift), (chunk + 1) << (4 - s.shift)):
                record = s.records[granule]
                if record == good:
                    continue
                if record == 0:
                    if (granule << s.shift) & 15 < used:
                        found = add_conflict(s.out, found, UNWRITTEN, 0, lane, granule, 0, -1)
                elif not is_visible(c.vectors, w, record, s.fences_copies):
                    found = check_async(c, s, w, lane, granule, READ_WRITE, s.fences_copies, 0, found)
                good = record
    return found
