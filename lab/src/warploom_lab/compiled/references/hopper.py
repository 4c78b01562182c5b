"""Reference results of `cuda/hopper.cu`."""

from __future__ import annotations

from typing import Any

import numpy as np

from warploom_lab.compiled.references.registry import Arrays, Options, reference, wide


@reference
def block_copy(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the reversed rows times 3."""
    return {"y": wide(arrays["x"])[:, ::-1] * 3}


@reference
def tile_turned(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the transpose."""
    return {"y": arrays["x"].T}


@reference
def ring(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the sum of the reversed rows, where each step halves the previous sum."""
    total = np.zeros(arrays["x"].shape[1])
    for row in wide(arrays["x"])[:, ::-1]:
        total = total * 0.5 + row
    return {"y": total}


@reference
def added_rows(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return twice the sum of the rows."""
    return {"y": 2 * wide(arrays["x"]).sum(0)}


@reference
def cluster_tree(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return, for each cluster of four blocks, the sum of the rows of its blocks."""
    return {"y": wide(arrays["x"]).reshape(-1, 4, 64).sum(1)}


@reference
def pushed_around(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the rows, rotated by three blocks inside their cluster, plus 3."""
    return {"y": np.roll(wide(arrays["x"]).reshape(-1, 4, 32), 3, 1) + 3}


@reference
def remote_sums(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the sum of the two blocks' rows for both blocks."""
    both = wide(arrays["x"]).reshape(-1, 2, 32).sum(1, keepdims=True)
    return {"y": np.repeat(both, 2, 1)}


@reference
def four_stages(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the reversed rows of vectors; the last of four elements is increased by the row number."""
    y = wide(arrays["x"])[:, ::-1].copy()
    y[:, :, 3] += np.arange(len(y))[:, None]
    return {"y": y}


@reference
def dropped(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the word after three rounds of 3 v plus the right neighbour."""
    v = wide(arrays["x"])
    for _ in range(3):
        v = 3 * v + np.roll(v, -1)
    return {"y": v}


@reference
def one_by_one(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the sum of four words plus the index of the thread."""
    return {"y": wide(arrays["x"]).sum() + np.arange(128)}


@reference
def shared_halves(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the reversed row plus the rank of the block."""
    return {"y": wide(arrays["x"])[None, ::-1] + np.arange(4)[:, None] % 2}


@reference
def block_to_block(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the reversed row of the other block plus 1."""
    return {"y": wide(arrays["x"]).reshape(-1, 2, 64)[:, ::-1, ::-1] + 1}
