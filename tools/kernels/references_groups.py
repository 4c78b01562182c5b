"""What the kernels of cuda/groups.cu should leave, in exact integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from registry import Arrays, Options, reference


@reference
def warp_aggregated(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Sum of what is kept, the last place, and the count."""
    kept = arrays["x"][arrays["x"] > 0].astype(np.int64)
    return {"sums": np.array([kept.sum(), len(kept) - 1]), "count": np.array([len(kept)])}


@reference
def tile_scratch(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Each tile turned, its greatest added, moved by one."""
    tiles = arrays["x"].reshape(-1, 16)[:, ::-1]
    return {"y": np.roll(tiles + tiles.max(1, keepdims=True), -1, axis=1).reshape(-1)}


@reference
def block_scan(arrays: Arrays, options: Options) -> dict[str, Any]:
    """A scan of each block."""
    return {"y": np.cumsum(arrays["x"].reshape(-1, 128).astype(np.int64), axis=1).reshape(-1)}


@reference
def bitonic_sort(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Each block's elements in order: one from either half of x."""
    halves = arrays["x"].reshape(2, -1, 64)
    return {"y": np.sort(np.concatenate([halves[0], halves[1]], axis=1), axis=1).reshape(-1)}


@reference
def warp_transpose(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Each warp's matrix turned, with the last round's number added."""
    return {"y": np.swapaxes(arrays["x"], 1, 2) + 1}


@reference
def turned_rows(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Each row from its end, times a factor."""
    return {"y": arrays["x"][:, ::-1] * options.get("factor", 1)}


@reference
def pipelined_tiles(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Rows from their ends, summed with powers of three."""
    total = np.zeros(64, np.int64)
    for row in arrays["x"].astype(np.int64):
        total = total * 3 + row[::-1]
    return {"y": total}


@reference
def stencil(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Four times each element less its neighbours."""
    wide = np.pad(arrays["x"], 1)
    return {"y": 4 * arrays["x"] - wide[:-2, 1:-1] - wide[2:, 1:-1] - wide[1:-1, :-2] - wide[1:-1, 2:]}


@reference
def work_queue(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Twice each tile and its number."""
    return {"y": arrays["x"] * 2 + np.arange(len(arrays["x"]))[:, None]}


@reference
def chained_scan(arrays: Arrays, options: Options) -> dict[str, Any]:
    """What stands before each element, summed."""
    return {"y": np.cumsum(arrays["x"]) - arrays["x"]}


@reference
def grid_meeting(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Twice another block's parts and the block's own."""
    part = arrays["x"] * 3
    return {"y": 2 * np.roll(part, -64) + part}


@reference
def locked_sum(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Sum and greatest under a lock."""
    return {"y": np.full(128, int(arrays["x"].sum()) * 7 + int(arrays["x"].max()))}


@reference
def counted_turns(arrays: Arrays, options: Options) -> dict[str, Any]:
    """The sum of all."""
    return {"y": np.full(128, int(arrays["x"].sum()))}


@reference
def swapped_sums(arrays: Arrays, options: Options) -> dict[str, Any]:
    """The sums of even and of odd elements, which are whole numbers."""
    return {"y": arrays["x"].reshape(-1, 2).astype(np.float64).sum(0)}


@reference
def bulk_round_trip(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Each row of a block from its end, with its number added."""
    return {"x": arrays["x"][:, :, ::-1] + np.arange(arrays["x"].shape[1])[:, None]}


@reference
def bulk_handover(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Twice the sum of the blocks' rows."""
    return {"y": 2 * arrays["x"].sum(0)}


@reference
def cluster_scan(arrays: Arrays, options: Options) -> dict[str, Any]:
    """A scan over each cluster, each block's part from its end."""
    scanned = np.cumsum(arrays["x"].reshape(-1, 128), axis=1)
    return {"y": scanned.reshape(-1, 32)[:, ::-1].reshape(-1)}


@reference
def cluster_transpose(arrays: Arrays, options: Options) -> dict[str, Any]:
    """The other block's matrix, turned, with the last round's number added."""
    x = arrays["x"].reshape(-1, 2, 32, 32)[:, ::-1] + 1
    return {"y": np.swapaxes(x, 2, 3).reshape(arrays["x"].shape)}


@reference
def cluster_stages(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Every row from its end for both blocks, with the block's rank added."""
    rows = arrays["x"][:, ::-1]
    return {"y": np.stack([rows, rows + 1])}
