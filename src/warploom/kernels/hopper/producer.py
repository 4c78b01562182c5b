"""Producer of the Hopper kernel: one thread, which copies tiles of A and B into the stages by TMA."""

from __future__ import annotations

from typing import Any

from warploom.author import Location, RingState, new, special, u16, u32, while_
from warploom.kernels.hopper.plan import SPAN, Plan
from warploom.kernels.hopper.sparse_metadata import SparseMetadata
from warploom.kernels.hopper.tile_scheduler import Scheduler
from warploom.kernels.plan import BLOCK
from warploom.kernels.ptx import ptx


def produce(
    plan: Plan,
    scheduler: Scheduler,
    ring: RingState,
    a: Any,
    b: Any,
    start_a: Any,
    start_b: Any,
    metadata: SparseMetadata | None,
) -> None:
    """Copy tiles into stages until no work item is left.

    The copies go from the tensor maps `a` and `b` to stages that begin at the addresses `start_a` and `start_b`.
    """
    tile = plan.tile
    rank = special("cluster_ctarank") if tile.cluster > 1 else 0
    mask = new(u16, (1 << tile.cluster) - 1) if tile.cluster > 1 else None
    share = tile.columns // tile.cluster  # columns of B that each CTA copies for the whole cluster
    with while_(scheduler.has_next):
        scheduler.take()
        scheduler.prefetch_group()
        row, column, batch = scheduler.origin(rank)
        column = column + rank * share
        k_tile = new(u32, scheduler.first)
        k = new(u32, scheduler.first * plan.stage_k)
        with while_(lambda: k_tile < scheduler.last):
            ring.wait_empty()
            ptx.mbarrier_arrive_expect_tx(ring.barrier(), plan.stage_bytes)
            target_a = start_a + ring.stage * (tile.rows * plan.span_a)
            target_b = start_b + ring.stage * (tile.columns * SPAN)
            if tile.cluster > 1:
                target_b = target_b + rank * (share * SPAN)
            stored = k >> 1 if plan.sparse else k
            _load(a, plan.a_major, target_a, ring, (stored, row, batch)[: plan.rank("a")], tile.rows, None)
            _load(b, plan.b_major, target_b, ring, (k, column, batch)[: plan.rank("b")], share, mask)
            if metadata is not None:
                metadata.copy(ring, row, k_tile, 0 if "a" in plan.broadcast else batch)
            k += plan.stage_k
            k_tile += 1
            ring.advance()
    if tile.cluster > 1:
        # A peer must not arrive at a CTA that has exited, so the CTA waits until all stages are released.
        for _ in range(tile.stages):
            ring.wait_empty()
            ring.advance()


def _load(
    tensor: Any, major: str, target: Any, ring: RingState, origin: tuple[Any, ...], extent: int, mask: Any
) -> None:
    """Copy `extent` rows of A or columns of B for one stage of K. With a mask, copy to several CTAs.

    The mask selects CTAs of the cluster. `origin` holds the coordinates along K, along M or N, and the batch.
    """
    k, line, *batch = origin
    blocks = 1 if major == "k" else extent // BLOCK
    words: dict[str, Any] = {} if mask is None else {"multicast": "multicast::cluster", "ctaMask": mask}
    for block in range(blocks):
        inner, outer = (k, line) if major == "k" else (line + block * BLOCK if block else line, k)
        coordinates = (inner, outer, *batch)
        words["dim"] = f"{len(coordinates)}d"
        source, to = Location(tensor, coordinates=coordinates), target.at(block * BLOCK * SPAN, "shared::cluster")
        ptx.cp_async_bulk_tensor(to, source, ring.barrier("shared::cluster"), dst="shared::cluster", **words)
