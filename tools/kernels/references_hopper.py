"""What the kernels of `cuda/hopper.cu` should leave."""

from __future__ import annotations

from typing import Any

import numpy as np
from registry import Arrays, Options, reference, wide


@reference
def block_copy(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Rows backwards, times three."""
    return {"y": wide(arrays["x"])[:, ::-1] * 3}


@reference
def tile_turned(arrays: Arrays, options: Options) -> dict[str, Any]:
    """The transpose."""
    return {"y": arrays["x"].T}


@reference
def ring(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Rows added backwards while what was there is halved."""
    total = np.zeros(arrays["x"].shape[1])
    for row in wide(arrays["x"])[:, ::-1]:
        total = total * 0.5 + row
    return {"y": total}


@reference
def added_rows(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Twice the sum of the rows."""
    return {"y": 2 * wide(arrays["x"]).sum(0)}


@reference
def cluster_tree(arrays: Arrays, options: Options) -> dict[str, Any]:
    """The rows of four blocks added."""
    return {"y": wide(arrays["x"]).reshape(-1, 4, 64).sum(1)}


@reference
def pushed_around(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Rows moved on by three blocks of their cluster, one more each time."""
    return {"y": np.roll(wide(arrays["x"]).reshape(-1, 4, 32), 3, 1) + 3}


@reference
def remote_sums(arrays: Arrays, options: Options) -> dict[str, Any]:
    """The sum of both blocks, in both."""
    both = wide(arrays["x"]).reshape(-1, 2, 32).sum(1, keepdims=True)
    return {"y": np.repeat(both, 2, 1)}


@reference
def four_stages(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Rows of vectors backwards, the last of four more by the row's number."""
    y = wide(arrays["x"])[:, ::-1].copy()
    y[:, :, 3] += np.arange(len(y))[:, None]
    return {"y": y}


@reference
def dropped(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Three times a word and its right neighbour, round after round."""
    v = wide(arrays["x"])
    for _ in range(3):
        v = 3 * v + np.roll(v, -1)
    return {"y": v}


@reference
def one_by_one(arrays: Arrays, options: Options) -> dict[str, Any]:
    """The sum of four words, and the thread."""
    return {"y": wide(arrays["x"]).sum() + np.arange(128)}


@reference
def shared_halves(arrays: Arrays, options: Options) -> dict[str, Any]:
    """The row backwards, more by the block's rank."""
    return {"y": wide(arrays["x"])[None, ::-1] + np.arange(4)[:, None] % 2}


@reference
def block_to_block(arrays: Arrays, options: Options) -> dict[str, Any]:
    """The peer's row backwards, plus one."""
    return {"y": wide(arrays["x"]).reshape(-1, 2, 64)[:, ::-1, ::-1] + 1}
