"""Main loop of a consumer warpgroup: it multiplies blocks of 64 rows of a tile by wgmma."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from warploom.author import Register, RingState, Shared, new, u32, when, while_
from warploom.kernels.hopper.block_scales import BlockScaling
from warploom.kernels.hopper.plan import METADATA, SPAN, STEP, Plan, metadata_slots
from warploom.kernels.hopper.tile_scheduler import WorkItem
from warploom.kernels.plan import BLOCK, size_of
from warploom.kernels.ptx import ptx
from warploom.layout.descriptor import Descriptor

_CTA_ADDRESS = 0x3FFFF
_WARPS = 4


class SparseMetadata:
    """Metadata of a compressed A, and their copies in shared memory.

    `source` is the address of the metadata, and `stages` the shared memory.

    Shapes: metadata (batch, stages of K, blocks of 64 rows, 128 threads, words).
    """

    def __init__(self, plan: Plan, source: Any, stages: Shared, m: Any, k_tiles: Any) -> None:
        self.plan, self.source, self.m, self.k_tiles = plan, source, m, k_tiles
        self.start = stages.address()
        self.block = METADATA * plan.metadata_words  # bytes of 64 rows in a stage

    def copy(self, ring: RingState, row: Any, k_tile: Any, batch: Any) -> None:
        """Start to copy the metadata of stage `k_tile`, for the tile of A that starts at `row`."""
        blocks = (self.m + 63) >> 6
        line = (batch * self.k_tiles + k_tile) * blocks
        target = self.start + ring.stage * self.plan.metadata_bytes
        for number in range(self.plan.tile.tile_consumers):
            # Beyond the last row, the last block is copied again, because zeros would be illegal metadata.
            block = line + ptx.min((row >> 6) + number, blocks - 1, type=u32)
            to = target.at(number * self.block, "shared::cluster")
            source = (self.source + ptx.mul_wide(block, self.block, type=u32)).at(0, "global")
            ptx.cp_async_bulk(to, source, self.block, ring.barrier("shared::cluster"), dst="shared::cluster")

    def load(self, ring: RingState, number: Any, thread: Any) -> list[tuple[Register, int]]:
        """Load a thread's metadata for consumer `number`. Return (register, selector) for each instruction."""
        count = self.plan.metadata_words
        here = self.start + ring.stage * self.plan.metadata_bytes + number * self.block + thread * (4 * count)
        where = here.at(0, "shared::cta")
        words = [ptx.ld(where, type="b32")] if count == 1 else ptx.ld(where, vec="v2", type="b32")
        return [(words[word], selector) for word, selector in metadata_slots(self.plan.a)]


def releases(plan: Plan) -> int:
    """Return the number of arrivals by which a consumer releases a stage."""
    # All wgmma of a consumer complete together. Each warp loads its own metadata, so each warp arrives for them.
    return _WARPS if plan.sparse else 1


class MainLoop:
    """Multiplications of one consumer warpgroup.

    The first block of 64 rows of the consumer has the index `number` in the tile. `thread` is the thread's index in the
    consumer. `start_a` and `start_b` are the addresses of A and B in the first stage.
    """

    def __init__(
        self,
        plan: Plan,
        ring: RingState,
        number: Any,
        thread: Any,
        start_a: Any,
        start_b: Any,
        metadata: SparseMetadata | None,
        scaling: BlockScaling | None,
    ) -> None:
        self.plan, self.ring, self.number, self.thread = plan, ring, number, thread
        self.metadata, self.scaling = metadata, scaling
        rows, columns = plan.tile.rows, plan.copied_columns
        self.a = _StageDescriptors(start_a + number * (64 * plan.span_a), plan.a_major, rows, plan.span_a, STEP)
        self.b = _StageDescriptors(start_b, plan.b_major, columns, SPAN, SPAN // plan.steps)

    def __call__(self, scheduler: WorkItem, sums: Sequence[Register], issued: Callable[[], None]) -> None:
        """Multiply the stages of one work item into `sums`. Call `issued` when all wgmma are issued."""
        k_tile = new(u32, scheduler.first)
        if self.plan.promotion_stages:
            self._promoted(scheduler, k_tile, sums, issued)
            return
        before = self._stages(k_tile, scheduler.last, sums)
        issued()
        self._finish(before, 0)

    def _promoted(
        self, scheduler: WorkItem, k_tile: Register, sums: Sequence[Register], issued: Callable[[], None]
    ) -> None:
        """Multiply all stages of one work item. Every few stages, add the sums of the tensor cores in f32."""
        part = [new(self.plan.register_type) for _ in sums]
        for each in sums:
            each.set(0.0)
        with while_(lambda: k_tile < scheduler.last):
            if self.plan.promotion_stages == 1 and self.metadata is None:
                before = self._stage(k_tile, part)
            else:
                before = self._stages(k_tile, self._promotion_end(scheduler, k_tile), part)
            with when(k_tile == scheduler.last):
                issued()
            if self.scaling is None:
                self._finish(before, 0)
                for total, each in zip(sums, part, strict=True):
                    total += each
            else:
                self.scaling.prefetch(k_tile < scheduler.last)
                self._finish(before, 0)
                self.scaling.add(sums, part)

    def _promotion_end(self, scheduler: WorkItem, k_tile: Register) -> Register:
        """Return the first stage that is not summed together with stage `k_tile` in the tensor cores."""
        count = self.plan.promotion_stages
        begin = k_tile if self.scaling is None or count == 1 else k_tile & -count
        return ptx.min(begin + count, scheduler.last, type=u32)

    def _stage(self, k_tile: Register, sums: Sequence[Register]) -> Register:
        """Issue the multiplications of stage `k_tile`. Return the index of the stage in the ring."""
        self.ring.wait_full()
        self._issue(sums, 0)
        stage = new(u32, self.ring.stage)
        k_tile += 1
        self.ring.advance()
        return stage

    def _stages(self, k_tile: Register, end: Any, sums: Sequence[Register]) -> Register:
        """Issue the stages from `k_tile` to below `end`. Return the index of the last one in the ring."""
        start, before = new(u32, k_tile), new(u32)
        with while_(lambda: k_tile < end):
            self.ring.wait_full()
            accumulates = k_tile != start
            self._issue(sums, accumulates)
            self._finish(before, 1, accumulates)
            if self.plan.sparse:  # metadata registers are in use until their multiplications complete
                ptx.wgmma_wait_group(0)
            before.set(self.ring.stage)
            k_tile += 1
            self.ring.advance()
        return before

    def _finish(self, stage: Register, pending: int, condition: Register | None = None) -> None:
        """Wait until at most `pending` stages are in flight. Release `stage` unless `condition` is false."""
        ptx.wgmma_wait_group(pending)
        with nullcontext() if condition is None else when(condition):
            if self.metadata is None:
                self.ring.release(stage, self.thread)
                return
            # The next copy into the stage uses the async proxy. The loads of the metadata use the generic proxy.
            ptx.fence_proxy(proxykind="async", space="shared::cta")
            ptx.bar_warp(0xFFFFFFFF)
            self.ring.release(stage, self.thread & 31)

    def _issue(self, sums: Sequence[Register], accumulates: Any) -> None:
        """Issue the multiplications of one stage. If `accumulates` is false, they overwrite `sums`."""
        plan = self.plan
        a, b = self.a.at(self.ring.stage), self.b.at(self.ring.stage)
        flags = () if plan.accumulator == "s32" else (1, 1)  # signs of A and B
        if flags and size_of(plan.a) == 2:
            flags = (1, 1, int(plan.a_major != "k"), int(plan.b_major != "k"))
        words: dict[str, Any] = {
            "dtype": plan.accumulator, "atype": plan.a, "btype": plan.b, "n": plan.tile.columns,
        }  # fmt: skip
        metadata: Sequence[tuple[Register, int] | tuple[()]] = [()] * plan.steps
        if self.metadata is not None:
            words["sp"] = True
            metadata = self.metadata.load(self.ring, self.number, self.thread)
        ptx.wgmma_fence()
        count = plan.block_accumulators
        for step in range(plan.steps):
            scale_d = 1 if step else accumulates
            of_b = self.b.descriptor(b, step)
            for block in range(plan.tile.blocks):
                part, of_a = sums[block * count : (block + 1) * count], self.a.descriptor(a, step, block)
                ptx.wgmma_mma_async(part, of_a, of_b, *metadata[step], scale_d, *flags, **words)
        ptx.wgmma_commit_group()


class _StageDescriptors:
    """Matrix descriptors of the stages of A or B.

    A stage has `extent` rows of A or columns of B. Each has `span` bytes if K is contiguous. An instruction reads
    `step` bytes of K.
    """

    def __init__(self, start: Any, major: str, extent: int, span: int, step: int) -> None:
        leading = 0 if major == "k" else BLOCK * SPAN
        self.high, low = divmod(Descriptor(0, leading, 8 * span, swizzle=span).encode(), 1 << 32)
        # In a cluster, shared addresses have the CTA's rank in bits that a descriptor does not hold.
        word = (start & _CTA_ADDRESS) >> 4
        self.low = word | low if low else word
        self.stage, self.block = extent * span, 64 * span
        self.step = step if major == "k" else step // 2 * SPAN

    def at(self, stage: Register) -> Register:
        """Return the low 32 bits of the descriptor of a stage's first instruction."""
        return self.low + stage * (self.stage >> 4)

    def descriptor(self, low: Register, step: int, block: int = 0) -> Register:
        """Return the descriptor of instruction `step` for a block of 64 rows. `low` is a result of `at`."""
        offset = step * self.step + block * self.block >> 4
        return ptx.mov((low + offset if offset else low, self.high), type="b64")
