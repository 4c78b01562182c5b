"""Reference results of `cuda/groups.cu`, in exact integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from warploom_lab.compiled.references.registry import Arrays, Options, reference


@reference
def warp_aggregated(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the sum of the positive elements, the last index, and their number."""
    kept = arrays["x"][arrays["x"] > 0].astype(np.int64)
    return {"sums": np.array([kept.sum(), len(kept) - 1]), "count": np.array([len(kept)])}


@reference
def tile_scratch(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return each reversed tile plus its maximum, rotated by one."""
    tiles = arrays["x"].reshape(-1, 16)[:, ::-1]
    return {"y": np.roll(tiles + tiles.max(1, keepdims=True), -1, axis=1).reshape(-1)}


@reference
def block_scan(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the inclusive prefix sums of each block."""
    return {"y": np.cumsum(arrays["x"].reshape(-1, 128).astype(np.int64), axis=1).reshape(-1)}


@reference
def bitonic_sort(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return each block's elements, sorted; a block takes elements from both halves of x."""
    halves = arrays["x"].reshape(2, -1, 64)
    return {"y": np.sort(np.concatenate([halves[0], halves[1]], axis=1), axis=1).reshape(-1)}


@reference
def warp_transpose(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the transpose of each warp's matrix plus the number of the last round."""
    return {"y": np.swapaxes(arrays["x"], 1, 2) + 1}


@reference
def turned_rows(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the reversed rows times a factor."""
    return {"y": arrays["x"][:, ::-1] * options.get("factor", 1)}


@reference
def pipelined_tiles(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the sum of the reversed rows, weighted with powers of three."""
    total = np.zeros(64, np.int64)
    for row in arrays["x"].astype(np.int64):
        total = total * 3 + row[::-1]
    return {"y": total}


@reference
def stencil(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return four times each element minus its four neighbours."""
    wide = np.pad(arrays["x"], 1)
    return {"y": 4 * arrays["x"] - wide[:-2, 1:-1] - wide[2:, 1:-1] - wide[1:-1, :-2] - wide[1:-1, 2:]}


@reference
def work_queue(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return twice each tile plus its number."""
    return {"y": arrays["x"] * 2 + np.arange(len(arrays["x"]))[:, None]}


@reference
def chained_scan(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the exclusive prefix sums."""
    return {"y": np.cumsum(arrays["x"]) - arrays["x"]}


@reference
def grid_meeting(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return three times each part plus six times the part of the next block."""
    part = arrays["x"] * 3
    return {"y": 2 * np.roll(part, -64) + part}


@reference
def locked_sum(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return a combination of the sum and the maximum, computed under a lock."""
    return {"y": np.full(128, int(arrays["x"].sum()) * 7 + int(arrays["x"].max()))}


@reference
def counted_turns(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the sum of all elements for each thread."""
    return {"y": np.full(128, int(arrays["x"].sum()))}


@reference
def swapped_sums(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the sums of the elements with even and odd index."""
    return {"y": arrays["x"].reshape(-1, 2).astype(np.float64).sum(0)}


@reference
def bulk_round_trip(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the reversed rows of each block, each plus its number."""
    return {"x": arrays["x"][:, :, ::-1] + np.arange(arrays["x"].shape[1])[:, None]}


@reference
def bulk_handover(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return twice the sum of the blocks' rows."""
    return {"y": 2 * arrays["x"].sum(0)}


@reference
def cluster_scan(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the prefix sums of each cluster, with each block's part reversed."""
    scanned = np.cumsum(arrays["x"].reshape(-1, 128), axis=1)
    return {"y": scanned.reshape(-1, 32)[:, ::-1].reshape(-1)}


@reference
def cluster_transpose(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the transpose of the other block's matrix plus the number of the last round."""
    x = arrays["x"].reshape(-1, 2, 32, 32)[:, ::-1] + 1
    return {"y": np.swapaxes(x, 2, 3).reshape(arrays["x"].shape)}


@reference
def cluster_stages(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the reversed rows for both blocks, plus the rank of the block."""
    rows = arrays["x"][:, ::-1]
    return {"y": np.stack([rows, rows + 1])}
