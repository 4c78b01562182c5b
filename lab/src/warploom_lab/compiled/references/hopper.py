"""Expected results of the kernels in `cuda/hopper.cu` and `cuda/blackwell.cu`."""

from __future__ import annotations

from typing import Any

import numpy as np

from warploom_lab.compiled.references.registry import Arrays, Options, reference, wide


@reference
def block_copy(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `block_copy`: the reversed rows of x times 3."""
    return {"y": wide(arrays["x"])[:, ::-1] * 3}


@reference
def tile_turned(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `tile_turned`: the transpose of x."""
    return {"y": arrays["x"].T}


@reference
def ring(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `ring`.

    For each row of x in turn, s becomes s / 2 + reversed row. The result is the final s. The initial s is zero.
    """
    total = np.zeros(arrays["x"].shape[1])
    for row in wide(arrays["x"])[:, ::-1]:
        total = total * 0.5 + row
    return {"y": total}


@reference
def added_rows(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `added_rows`: twice the sum of the rows of x."""
    return {"y": 2 * wide(arrays["x"]).sum(0)}


@reference
def cluster_tree(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `cluster_tree`: the sum of the 4 rows of each cluster."""
    return {"y": wide(arrays["x"]).reshape(-1, 4, 64).sum(1)}


@reference
def pushed_around(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `pushed_around`.

    In each of three rounds, a block sends its row to the next block of the cluster. The next block adds 1 to the row.
    """
    return {"y": np.roll(wide(arrays["x"]).reshape(-1, 4, 32), 3, 1) + 3}


@reference
def remote_sums(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `remote_sums`.

    Both blocks of a cluster write the sum of their two rows.
    """
    both = wide(arrays["x"]).reshape(-1, 2, 32).sum(1, keepdims=True)
    return {"y": np.repeat(both, 2, 1)}


@reference
def four_stages(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `four_stages`.

    Each row of x has vectors of four elements. The kernel reverses the order of the vectors and adds the row number to
    the last element of each vector.
    """
    y = wide(arrays["x"])[:, ::-1].copy()
    y[:, :, 3] += np.arange(len(y))[:, None]
    return {"y": y}


@reference
def dropped(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `dropped`.

    In each of three rounds, an element v becomes 3 v + right neighbour. The first element is right of the last.
    """
    v = wide(arrays["x"])
    for _ in range(3):
        v = 3 * v + np.roll(v, -1)
    return {"y": v}


@reference
def one_by_one(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `one_by_one`: the sum of x plus the thread index."""
    return {"y": wide(arrays["x"]).sum() + np.arange(128)}


@reference
def shared_halves(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `shared_halves`.

    Each of four blocks writes the reversed row x plus the block's rank in its cluster of two blocks.
    """
    return {"y": wide(arrays["x"])[None, ::-1] + np.arange(4)[:, None] % 2}


@reference
def block_to_block(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of `block_to_block`: the reversed row of the other block, plus 1."""
    return {"y": wide(arrays["x"]).reshape(-1, 2, 64)[:, ::-1, ::-1] + 1}


@reference
def cancelled_rows(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `cancelled_rows`: 3 x plus the row number."""
    x = wide(arrays["x"])
    return {"y": 3 * x + np.arange(len(x))[:, None]}


@reference
def reshaped(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `reshaped`: x."""
    return {"y": arrays["x"]}
