"""The main loop of a consumer: the sums of its 64 rows, stage by stage, one stage of wgmma in flight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from warploom.author import RingState, Register, new, ptx, u32, when, while_
from warploom.kernels.hopper.block_scales import BlockFactors
from warploom.kernels.hopper.plan import SPAN, STEP, Plan, size_of
from warploom.kernels.hopper.producer import BLOCK
from warploom.kernels.hopper.sparse_metadata import Metadata
from warploom.kernels.hopper.tile_scheduler import Groups, Work
from warploom.layout.descriptor import Descriptor

_WITHIN_CTA = 0x3FFFF
_WARPS = 4


def releases(plan: Plan) -> int:
    """Arrivals by which a consumer gives a stage back.

    The products of all its warps are over when they are for one of them. Metadata are read by each warp for itself.
    """
    return _WARPS if plan.sparse else 1


class Products:
    """A consumer's products. It has block `number` of the tile's rows, `mine` counts its threads."""

    def __init__(
        self,
        plan: Plan,
        place: RingState,
        number: Any,
        mine: Any,
        start_a: Any,
        start_b: Any,
        metadata: Metadata | None,
        factors: BlockFactors | None,
    ) -> None:
        self.plan, self.place, self.number, self.mine = plan, place, number, mine
        self.metadata, self.factors = metadata, factors
        self.a = _Tile(start_a + number * (64 * plan.span_a), plan.a_major, plan.tile.rows, plan.span_a, STEP)
        self.b = _Tile(start_b, plan.b_major, plan.tile.columns, SPAN, SPAN // plan.steps)

    def __call__(self, work: Work | Groups, sums: Sequence[Register], begun: Callable[[], None]) -> None:
        """Sum up one piece of work. `begun` is called where every stage of the piece has come and its products are on
        their way.
        """
        turn = new(u32, work.first)
        if self.plan.promoted:
            self._promoted(work, turn, sums, begun)
            return
        before = self._stages(turn, work.last, sums)
        begun()
        self._end(before, 0)

    def _promoted(
        self, work: Work | Groups, turn: Register, sums: Sequence[Register], begun: Callable[[], None]
    ) -> None:
        """The sums of a few stages start from zero and are added to the others in f32."""
        part = [new(self.plan.word) for _ in sums]
        for each in sums:
            each.set(0.0)
        with while_(lambda: turn < work.last):
            if self.plan.promoted == 1 and self.metadata is None:
                before = self._stage(turn, part)
            else:
                before = self._stages(turn, self._end_of_part(work, turn), part)
            with when(turn == work.last):
                begun()
            if self.factors is None:
                self._end(before, 0)
                for total, each in zip(sums, part, strict=True):
                    total += each
            else:
                self.factors.take(turn < work.last)
                self._end(before, 0)
                self.factors.add(sums, part)

    def _end_of_part(self, work: Work | Groups, turn: Register) -> Register:
        """Where a part of the sums that begins at a stage ends; a block ends where it does for all pieces of work."""
        count = self.plan.promoted
        begin = turn if self.factors is None or count == 1 else turn & -count
        return ptx.min(begin + count, work.last, type=u32)

    def _stage(self, turn: Register, sums: Sequence[Register]) -> Register:
        """Sum up one stage, whose place in the ring is the result; it is still in flight."""
        self.place.wait_full()
        self._issue(sums, 0)
        stage = new(u32, self.place.stage)
        turn += 1
        self.place.advance()
        return stage

    def _stages(self, turn: Register, end: Any, sums: Sequence[Register]) -> Register:
        """Sum up stages until `turn` is `end`. The last, whose place in the ring is the result, is still in flight."""
        start, before = new(u32, turn), new(u32)
        # Metadata stay in their registers until the products that they belong to are over.
        with while_(lambda: turn < end):
            self.place.wait_full()
            goes_on = turn != start
            self._issue(sums, goes_on)
            self._end(before, 1, goes_on)
            if self.plan.sparse:
                ptx.wgmma_wait_group(0)
            before.set(self.place.stage)
            turn += 1
            self.place.advance()
        return before

    def _end(self, before: Register, pending: int, condition: Register | None = None) -> None:
        """Wait until all products but those of `pending` stages are over, and give the stage `before` back."""
        ptx.wgmma_wait_group(pending)
        if condition is None:
            self._release(before)
            return
        with when(condition):
            self._release(before)

    def _release(self, stage: Register) -> None:
        if self.metadata is None:
            self.place.release(stage, self.mine)
            return
        # The copy that fills the stage again goes through another proxy than the reads of all lanes.
        ptx.fence_proxy(proxykind="async", space="shared::cta")
        ptx.bar_warp(0xFFFFFFFF)
        self.place.release(stage, self.mine & 31)

    def _issue(self, sums: Sequence[Register], goes_on: Any) -> None:
        """The products of one stage, as one group."""
        plan = self.plan
        a, b = self.a.at(self.place.stage), self.b.at(self.place.stage)
        if plan.sums == "s32":
            switches: tuple[int, ...] = ()
        elif size_of(plan.a) == 2:
            switches = (1, 1, int(plan.a_major != "k"), int(plan.b_major != "k"))
        else:
            switches = (1, 1)
        words: dict[str, Any] = {"dtype": plan.sums, "atype": plan.a, "btype": plan.b, "n": plan.tile.columns}
        indices: Sequence[tuple[Register, int] | tuple[()]] = [()] * plan.steps
        if self.metadata is not None:
            words["sp"] = True
            indices = self.metadata.read(self.place, self.number, self.mine)
        ptx.wgmma_fence()
        for step in range(plan.steps):
            keep = 1 if step else goes_on
            from_both = self.a.descriptor(a, step), self.b.descriptor(b, step)
            operands: list[Any] = [sums, *from_both, *indices[step], keep, *switches]
            ptx.wgmma_mma_async(*operands, **words)
        ptx.wgmma_commit_group()


class _Tile:
    """The descriptors of A or B. A stage has `extent` lines of M or N, of `span` bytes where K is along them; an
    instruction takes `step` bytes of K.
    """

    def __init__(self, start: Any, major: str, extent: int, span: int, step: int) -> None:
        leading = 0 if major == "k" else BLOCK * SPAN
        self.high, low = divmod(Descriptor(0, leading, 8 * span, swizzle=span).encode(), 1 << 32)
        # In a cluster an address has the CTA's rank above the bits that a descriptor has room for.
        word = (start & _WITHIN_CTA) >> 4
        self.low = word | low if low else word
        self.stage = extent * span
        self.step = step if major == "k" else step // 2 * SPAN

    def at(self, stage: Register) -> Register:
        """The lower word of a stage's first descriptor."""
        return self.low + stage * (self.stage >> 4)

    def descriptor(self, low: Register, step: int) -> Register:
        """The descriptor of one instruction."""
        onward = step * self.step >> 4
        return ptx.mov((low + onward if onward else low, self.high), type="b64")
