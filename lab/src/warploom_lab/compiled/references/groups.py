"""Expected results of the kernels in `cuda/groups.cu`, in exact integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from warploom_lab.compiled.references.registry import Arrays, Options, reference


@reference
def warp_aggregated(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `warp_aggregated`.

    `sums` has the sum of the positive elements of x, and the number of positive elements minus 1. `count` has this
    number.
    """
    kept = arrays["x"][arrays["x"] > 0].astype(np.int64)
    return {"sums": np.array([kept.sum(), len(kept) - 1]), "count": np.array([len(kept)])}


@reference
def tile_scratch(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `tile_scratch`.

    Each tile of 16 elements is reversed. Then the maximum of the tile is added, and the tile is rotated left by one
    element.
    """
    tiles = arrays["x"].reshape(-1, 16)[:, ::-1]
    return {"y": np.roll(tiles + tiles.max(1, keepdims=True), -1, axis=1).reshape(-1)}


@reference
def block_scan(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `block_scan`: the inclusive prefix sums of each block."""
    return {"y": np.cumsum(arrays["x"].reshape(-1, 128).astype(np.int64), axis=1).reshape(-1)}


@reference
def bitonic_sort(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `bitonic_sort`.

    Each block sorts 64 elements of the first half of x together with 64 elements of the second half.
    """
    halves = arrays["x"].reshape(2, -1, 64)
    return {"y": np.sort(np.concatenate([halves[0], halves[1]], axis=1), axis=1).reshape(-1)}


@reference
def warp_transpose(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `warp_transpose`.

    Each warp transposes a 32 x 32 matrix and adds 1 to its elements.
    """
    return {"y": np.swapaxes(arrays["x"], 1, 2) + 1}


@reference
def turned_rows(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels that reverse the rows of x and multiply them by a factor."""
    return {"y": arrays["x"][:, ::-1] * options.get("factor", 1)}


@reference
def pipelined_tiles(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `pipelined_tiles`.

    For each row of x in turn, s becomes 3 s + reversed row. The result is the final s. The initial s is zero.
    """
    total = np.zeros(64, np.int64)
    for row in arrays["x"].astype(np.int64):
        total = total * 3 + row[::-1]
    return {"y": total}


@reference
def stencil(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `stencil`.

    Each element of `y` is four times the element of x, minus the four neighbours. Elements outside x are zero.
    """
    wide = np.pad(arrays["x"], 1)
    return {"y": 4 * arrays["x"] - wide[:-2, 1:-1] - wide[2:, 1:-1] - wide[1:-1, :-2] - wide[1:-1, 2:]}


@reference
def work_queue(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `work_queue`: row k of `y` is 2 * (row k of x) + k."""
    return {"y": arrays["x"] * 2 + np.arange(len(arrays["x"]))[:, None]}


@reference
def chained_scan(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `chained_scan`: the exclusive prefix sums of x."""
    return {"y": np.cumsum(arrays["x"]) - arrays["x"]}


@reference
def grid_meeting(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `grid_meeting`.

    Each block of 64 elements writes 3 x plus 6 times the x of the next block. Block 0 follows the last block.
    """
    part = arrays["x"] * 3
    return {"y": 2 * np.roll(part, -64) + part}


@reference
def locked_sum(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `locked_sum`: 128 copies of 7 * sum(x) + max(x)."""
    return {"y": np.full(128, int(arrays["x"].sum()) * 7 + int(arrays["x"].max()))}


@reference
def counted_turns(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `counted_turns`: 128 copies of the sum of x."""
    return {"y": np.full(128, int(arrays["x"].sum()))}


@reference
def swapped_sums(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `swapped_sums`.

    `y` has the sum of the elements with even index, and the sum of the elements with odd index.
    """
    return {"y": arrays["x"].reshape(-1, 2).astype(np.float64).sum(0)}


@reference
def bulk_round_trip(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `bulk_round_trip`.

    The kernel replaces row k of each block by the reversed row plus k.
    """
    return {"x": arrays["x"][:, :, ::-1] + np.arange(arrays["x"].shape[1])[:, None]}


@reference
def bulk_handover(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `bulk_handover`: twice the sum of the rows of all blocks."""
    return {"y": 2 * arrays["x"].sum(0)}


@reference
def cluster_scan(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `cluster_scan`.

    The inclusive prefix sums run over the 128 elements of a cluster. Each block writes its 32 sums in reverse order.
    """
    scanned = np.cumsum(arrays["x"].reshape(-1, 128), axis=1)
    return {"y": scanned.reshape(-1, 32)[:, ::-1].reshape(-1)}


@reference
def cluster_transpose(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `cluster_transpose`.

    Each block of a pair transposes the other block's 32 x 32 matrix and adds 1 to all elements.
    """
    x = arrays["x"].reshape(-1, 2, 32, 32)[:, ::-1] + 1
    return {"y": np.swapaxes(x, 2, 3).reshape(arrays["x"].shape)}


@reference
def cluster_stages(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `cluster_stages`.

    Each of the two blocks of a cluster writes the reversed rows of x plus the rank of the block.
    """
    rows = arrays["x"][:, ::-1]
    return {"y": np.stack([rows, rows + 1])}
