"""Partial sums of tiles that are cut along K, in global memory.

A quad is 8 columns of a block of 64 rows, of which a thread has four sums.

The clusters that multiply parts of a tile are its participants. Each stores the sums of its part. When the sums of all
parts are stored, each participant adds the parts of some columns, and stores these columns of D. The parts are added
from the last to the first.
"""

from collections.abc import Callable, Sequence
from typing import Any

from warploom.author import Register, forever, guarded, new, otherwise, special, u32, when, while_
from warploom.kernels.hopper.plan import LOADS, QUADS, Plan
from warploom.kernels.hopper.tile_scheduler import TileScheduler
from warploom.kernels.ptx import ptx

Prepare = Callable[[Any], Callable[[Sequence[Register], Any], object]]
"""Function that takes the number of a tile, and returns a function that stores a quad of the tile.

The result takes the sums of the quad, and its index.
"""


class PartialSums:
    """Partial sums of a consumer.

    A cluster stores at most two parts: one that does not start its tile, and one that starts its tile and does not end
    it. Global memory has a slot for each, at `partial`. `flags` has a counter for each consumer of each CTA of a cut
    tile. `number` is the index of the consumer, and `thread` that of the thread in the consumer.
    """

    def __init__(
        self, plan: Plan, scheduler: TileScheduler, partial: Any, flags: Any, number: Any, thread: Any
    ) -> None:
        self.plan, self.scheduler, self.partial, self.flags = plan, scheduler, partial, flags
        self.number, self.thread = number, thread
        self.leads = thread == 0
        self.rank = special("cluster_ctarank") if plan.tile.ctas > 1 else 0
        self.in_tile = 0 if plan.tile.pingpong else number
        width = plan.quad_registers
        self.width, self.vector = width, {"vec": f"v{width}", "type": plan.register_type}
        self.step = 128 * 4 * width  # bytes of a quad: the sums of 8 columns in a block of 64 rows
        self.slot_bytes = self.step * (plan.accumulators // width)
        self.stride = plan.tile.ctas * plan.tile.tile_consumers * self.slot_bytes  # from a cluster to the next
        # 1 + tile of the part that does not start it, and of the part that starts it
        self.tiles = new(u32, 0), new(u32, 0)

    def _consumer(self, cluster: Any) -> Any:
        return (cluster * self.plan.tile.ctas + self.rank) * self.plan.tile.tile_consumers + self.in_tile

    def _slot(self, cluster: Any, is_begin: Any) -> Register:
        """Return the address of this thread's sums of a part of a tile.

        `is_begin` is 1 if the part starts its tile.
        """
        slot = self._consumer(self.scheduler.clusters * is_begin + cluster)
        start = self.partial + ptx.mul_wide(slot, self.slot_bytes, type=u32)
        return start + ptx.mul_wide(self.thread, 4 * self.width, type=u32)

    def _counter(self, tile: Any) -> Any:
        return (self.flags + ptx.mul_wide(self._consumer(tile), 4, type=u32)).at(0, "global")

    def _quads(self, registers: Sequence[Register]) -> list[Sequence[Register]]:
        return [registers[at : at + self.width] for at in range(0, len(registers), self.width)]

    def store(self, sums: Sequence[Register]) -> None:
        """Store the sums of the current part, and count it."""
        scheduler = self.scheduler
        is_begin = ptx.selp(1, 0, scheduler.first == 0, type=u32)
        slot = self._slot(scheduler.me, is_begin)
        for number, quad in enumerate(self._quads(sums)):
            ptx.st(slot.at(number * self.step, "global"), quad, **self.vector)
        ptx.fence(sem="acq_rel", scope="gpu")
        ptx.bar(self.number + 1, 128)
        with guarded(self.leads):
            ptx.red_add(self._counter(scheduler.tile), 1, sem="release", scope="gpu", type=u32)
        with when(is_begin != 0):
            self.tiles[1].set(scheduler.tile + 1)
        with otherwise():
            self.tiles[0].set(scheduler.tile + 1)

    def finish(self, prepare: Prepare) -> None:
        """Complete the tiles of the stored parts, after all other work of the consumer."""
        following = new(u32, 0)
        with while_(lambda: following < 2):
            stored = ptx.selp(*self.tiles, following == 0, type=u32)
            following += 1
            with when(stored != 0):
                self._complete(stored - 1, prepare)

    def _complete(self, tile: Any, prepare: Prepare) -> None:
        scheduler, counter = self.scheduler, self._counter(tile)
        base = tile * scheduler.sizes.k_tiles
        first = new(u32, scheduler.owner(base))
        parts = new(u32, scheduler.owner(base + (scheduler.sizes.k_tiles - 1)) - first + 1)
        with when(self.leads), forever() as waiting:
            count = ptx.ld(counter, sem="acquire", scope="gpu", type=u32)
            waiting.leave(count >= parts)
        ptx.bar(self.number + 1, 128)
        store, count = prepare(tile), self.plan.accumulators // self.width
        quad = new(u32, scheduler.me - first)
        with while_(lambda: quad < count):
            # Loads from L2 take long, so that many must be in flight: of several quads, or of many parts of one.
            with when(quad + parts < count):
                quads = [quad + parts * number for number in range(QUADS)]
                for each, sums in zip(quads, self._sums(quads, first, parts, LOADS // QUADS), strict=True):
                    with when(each < count):
                        store(sums, each)
                quad += parts * QUADS
            with otherwise():
                store(self._sums([quad], first, parts, LOADS)[0], quad)
                quad += parts
        # The last participant clears the counter for the next launch.
        ptx.bar(self.number + 1, 128)
        with when(self.leads):
            before = ptx.atom_add(counter, 1, sem="acq_rel", scope="gpu", type=u32)
            with guarded(before == parts * 2 - 1):
                ptx.st(counter, 0, sem="relaxed", scope="gpu", type=u32)

    def _sums(self, quads: Sequence[Any], first: Any, parts: Any, in_flight: int) -> list[list[Register]]:
        """Return the sums of all parts for each of several quads.

        The loads of `in_flight` parts are in flight at a time. Cluster `first` has the first of `parts` parts. Sums of
        quads after the last are arbitrary.
        """
        last = self.plan.accumulators // self.width - 1
        offsets = [ptx.mul_wide(ptx.min(each, last, type=u32), self.step, type=u32) for each in quads]
        ordered: dict[str, Any] = {"sem": "relaxed", "scope": "gpu", **self.vector}

        def load(slot: Register) -> list[list[Register]]:
            found = [[new(self.plan.register_type) for _ in range(self.width)] for _ in quads]
            for words, offset in zip(found, offsets, strict=True):
                ptx.ld((slot + offset).at(0, "global"), out=words, **ordered)
            return found

        end = first + parts - 1
        totals, begins = load(self._slot(end, 0)), load(self._slot(first, 1))
        places, left = [self._slot(end - 1, 0) + offset for offset in offsets], new(u32, parts - 2)
        with while_(lambda: left > 0):
            found: list[list[list[Register]]] = []
            for number in range(in_flight):
                exists = left > number
                found.append([[new(self.plan.register_type, 0) for _ in total] for total in totals])
                for place, words in zip(places, found[-1], strict=True):
                    with guarded(exists):
                        ptx.ld(place.at(0, "global"), out=words, **ordered)
                    place -= self.stride
            for part in found:
                for total, words in zip(totals, part, strict=True):
                    self._add(total, words)
            left.set(left - ptx.min(left, in_flight, type=u32))
        for total, words in zip(totals, begins, strict=True):
            self._add(total, words)
        return totals

    def _add(self, totals: Sequence[Register], words: Sequence[Register]) -> None:
        for total, word in zip(totals, words, strict=True):
            if self.plan.accumulator == "f16":
                ptx.add(total, word, type="f16x2", out=total)
            else:
                total += word
