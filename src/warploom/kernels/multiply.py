"""The main loop of a consumer: the sums of its 64 rows, stage by stage, one stage of wgmma in flight."""

# The plan chooses the words of instructions, which the stubs want as literals.
# pyright: reportArgumentType=false, reportCallIssue=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from warploom.author import Place, Register, new, ptx, u32, when, while_
from warploom.kernels.load import BLOCK
from warploom.kernels.plan import SPAN, Plan, size_of
from warploom.kernels.work import Work
from warploom.layout.descriptor import Descriptor

STEPS = 4  # instructions of 32 bytes of K in a stage
_WITHIN_CTA = 0x3FFFF
_GROUP = 8 * SPAN  # bytes of 8 rows, which the swizzle mixes
_ALONG_K = Descriptor(0, 0, _GROUP, swizzle=SPAN)
_OFFSETS = {"k": _ALONG_K, **dict.fromkeys("mn", Descriptor(0, BLOCK * SPAN, _GROUP, swizzle=SPAN))}


def multiply(
    plan: Plan,
    work: Work,
    place: Place,
    thread: Any,
    sums: Sequence[Register],
    low_a: Any,
    low_b: Any,
    begun: Callable[[], None],
) -> None:
    """Sum up one piece of work. `low_a` and `low_b` are lower words of the descriptors of stage 0.

    `begun` is called where every stage of the piece has come and its products are on their way.
    """
    if plan.promoted:
        _promoted(plan, work, place, thread, sums, low_a, low_b)
        begun()
        return
    turn, before = new(u32, work.first), new(u32)
    with while_(lambda: turn < work.last):
        place.wait_full()
        goes_on = turn != work.first
        _stage(plan, place, sums, low_a, low_b, goes_on)
        ptx.wgmma_wait_group(1)  # the turn before is over: its stage may be filled again
        with when(goes_on):
            place.release(before, thread)
        before.set(place.stage)
        turn += 1
        place.advance()
    begun()
    ptx.wgmma_wait_group(0)
    place.release(before, thread)


def _promoted(
    plan: Plan, work: Work, place: Place, thread: Any, sums: Sequence[Register], low_a: Any, low_b: Any
) -> None:
    """The sums of a few stages start from zero and are added to the others in f32."""
    part = [new(plan.word) for _ in sums]
    for each in sums:
        each.set(0.0)
    turn = new(u32, work.first)
    with while_(lambda: turn < work.last):
        end = ptx.min(turn + plan.promoted, work.last, type=u32)
        start, before = new(u32, turn), new(u32)
        with while_(lambda: turn < end):
            place.wait_full()
            goes_on = turn != start
            _stage(plan, place, part, low_a, low_b, goes_on)
            ptx.wgmma_wait_group(1)
            with when(goes_on):
                place.release(before, thread)
            before.set(place.stage)
            turn += 1
            place.advance()
        ptx.wgmma_wait_group(0)
        place.release(before, thread)
        for total, each in zip(sums, part, strict=True):
            total += each


def _stage(plan: Plan, place: Place, sums: Sequence[Register], low_a: Any, low_b: Any, goes_on: Any) -> None:
    """The products of one stage, as one group."""
    tile = plan.tile
    a = low_a + place.stage * (tile.rows * SPAN >> 4)
    b = low_b + place.stage * (tile.columns * SPAN >> 4)
    if plan.sums == "s32":
        switches: tuple[int, ...] = ()
    elif size_of(plan.a) == 2:
        switches = (1, 1, int(plan.a_major != "k"), int(plan.b_major != "k"))
    else:
        switches = (1, 1)
    ptx.wgmma_fence()
    for step in range(STEPS):
        from_a = _descriptor(a, plan.a_major, step)
        from_b = _descriptor(b, plan.b_major, step)
        keep = 1 if step else goes_on
        ptx.wgmma_mma_async(
            sums, from_a, from_b, keep, *switches, n=tile.columns, dtype=plan.sums, atype=plan.a, btype=plan.b
        )
    ptx.wgmma_commit_group()


def lower_word(address: Any, major: str) -> Any:
    """The lower word of the descriptor of a tile at an address in shared memory."""
    # In a cluster an address has the CTA's rank above the bits that a descriptor has room for.
    word = (address & _WITHIN_CTA) >> 4
    offsets = _OFFSETS[major].encode() & 0xFFFFFFFF
    return word | offsets if offsets else word


def _descriptor(low: Any, major: str, step: int) -> Register:
    """The descriptor of 32 bytes of K within a stage."""
    onward = step * (32 if major == "k" else 16 * SPAN) >> 4
    return ptx.mov((low + onward if onward else low, _OFFSETS[major].encode() >> 32), type="b64")
