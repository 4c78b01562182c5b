"""The producer: one thread that brings the tiles of A and B into the ring of stages by TMA."""

# The plan chooses the words of instructions, which the stubs want as literals.
# pyright: reportArgumentType=false, reportCallIssue=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

from warploom.author import Location, RingState, new, ptx, special, u16, u32, while_
from warploom.kernels.hopper.plan import SPAN, Plan
from warploom.kernels.hopper.sparse_metadata import Metadata
from warploom.kernels.hopper.tile_scheduler import Groups, Work

BLOCK = 64  # elements of 16 bits in a row of 128 bytes, where neighbours stand along M or N


def produce(
    plan: Plan,
    work: Work | Groups,
    place: RingState,
    a: Any,
    b: Any,
    start_a: Any,
    start_b: Any,
    metadata: Metadata | None,
) -> None:
    """Fill stage after stage. `start_a` and `start_b` are addresses in shared memory, `a` and `b` tensor maps."""
    tile = plan.tile
    rank = special("cluster_ctarank") if tile.cluster > 1 else 0
    mask = new(u16, (1 << tile.cluster) - 1) if tile.cluster > 1 else None
    share = tile.columns // tile.cluster
    with while_(work.left):
        work.take()
        work.walk()
        row, column, batch = work.corner(rank)
        column = column + rank * share
        turn = new(u32, work.first)
        k = new(u32, work.first * plan.depth)
        with while_(lambda: turn < work.last):
            place.wait_empty()
            ptx.mbarrier_arrive_expect_tx(place.barrier(), plan.stage_bytes)
            target_a = start_a + place.stage * (tile.rows * plan.span_a)
            target_b = start_b + place.stage * (tile.columns * SPAN)
            if tile.cluster > 1:
                target_b = target_b + rank * (share * SPAN)
            stored = k >> 1 if plan.sparse else k
            _load(a, plan.a_major, target_a, place, (stored, row, batch)[: plan.rank("a")], tile.rows, None)
            _load(b, plan.b_major, target_b, place, (k, column, batch)[: plan.rank("b")], share, mask)
            if metadata is not None:
                metadata.bring(place, row, turn, 0 if "a" in plan.common else batch)
            k += plan.depth
            turn += 1
            place.advance()
    if tile.cluster > 1:
        # A peer's arrival must not meet a CTA that has left: every stage is given back first.
        for _ in range(tile.stages):
            place.wait_empty()
            place.advance()


def _load(
    tensor: Any,
    major: str,
    target: Any,
    place: RingState,
    at: tuple[Any, ...],
    extent: int,
    mask: Any,
) -> None:
    """Copies of `extent` rows of M or N and one stage of K, to every CTA of the cluster where there is a mask."""
    k, line, *batch = at
    blocks = 1 if major == "k" else extent // BLOCK
    words: dict[str, Any] = {} if mask is None else {"multicast": "multicast::cluster", "ctaMask": mask}
    for block in range(blocks):
        inner, outer = (k, line) if major == "k" else (line + block * BLOCK if block else line, k)
        coordinates = (inner, outer, *batch)
        words["dim"] = f"{len(coordinates)}d"
        ptx.cp_async_bulk_tensor(
            target.at(block * BLOCK * SPAN, "shared::cluster"),
            Location(tensor, coordinates=coordinates),
            place.barrier("shared::cluster"),
            dst="shared::cluster",
            **words,
        )
