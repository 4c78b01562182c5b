"""Expected results of the kernels in `cuda/cooperative.cu`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from warploom_lab.compiled.references.registry import REFERENCES, Array, Arrays, Options, reference, wide


def _warps(x: Array) -> Array:
    return x.reshape(-1, 32).astype(np.int64)


@reference
def shuffles(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `shuffles`: sums of values from other lanes of the warp."""
    v, lane = _warps(arrays["x"]), np.arange(32)

    def up(v: Array, k: int) -> Array:
        return v[:, np.where(lane >= k, lane - k, lane)]

    down = v[:, np.where(lane % 16 + 3 < 16, lane + 3, lane)]
    r = v[:, lane * 7 & 31] + 3 * up(v, 5) + 5 * down + 7 * v[:, lane ^ 9]
    r += 11 * v[:, lane // 8 * 8 + (lane + 3) % 8]
    r = r.astype(np.int32) ^ (v * 0x100000001 >> 32)[:, lane ^ 1].astype(np.int32)
    return {"y": (r.astype(np.int64) + up(v, 2)).ravel()}


@reference
def votes(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `votes`.

    Shapes: `y` is (threads, 8). Columns 0 to 5 are votes and matches over the warp. Columns 6 and 7 are a vote and a
    reduction over the lanes with odd x, or two reductions over the lanes with even x.
    """
    rows: list[list[int]] = []
    for warp in _warps(arrays["x"]):
        values = [int(v) for v in warp]

        def ballot(test: Callable[[int], bool], values: list[int] = values) -> int:
            return sum(1 << k for k, v in enumerate(values) if test(v))

        odd = [v for v in values if v & 1]
        even = [v & 0xFFFFFFFF for v in values if not v & 1]
        same = len({v & 1024 for v in values}) == 1
        xor = 0
        for v in even:
            xor ^= v
        for v in values:
            first = [
                ballot(lambda u: u & 1 == 1),
                int(all(u > -1000 for u in values)),
                int(3 in values),
                ballot(lambda u, v=v: u & 7 == v & 7),
            ]
            first += [0xFFFFFFFF if same else 0, int(same)]
            rows.append(
                [
                    *first,
                    *(
                        (ballot(lambda u: u & 1 == 1 and u & 2 == 2), sum(odd) ^ max(odd))
                        if v & 1
                        else (xor, min(even))
                    ),
                ]
            )
    return {"y": np.array(rows, object)}


@reference
def block_sum(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels `block_sum` and `last_block_done`: the sum of x."""
    return {"y": np.array([wide(arrays["x"]).sum()])}


REFERENCES["last_block_done"] = block_sum


@reference
def spin_lock(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `spin_lock`.

    Each of 120 threads adds 1 to `y` twice, under the lock.
    """
    return {"y": np.array([3 * 40 * 2])}


@reference
def global_atomics(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `global_atomics`.

    All 140 threads apply one atomic operation to each word of `i`, `l`, `f` and `d`, except that words 13 and 14 of `i`
    belong to one CTA each, and words 9 and 15 to none. The words start at zero.
    """
    t = [int(k) for k in range(140)]
    xor = xorl = 0
    inc = dec = 0
    for k in t:
        xor, xorl = xor ^ (k * 77), xorl ^ (0x100000001 * k)
        inc = 0 if inc >= 9 else inc + 1
        dec = 6 if dec == 0 or dec > 6 else dec - 1
    i = [sum(t), -sum(t), -50, max(t), 0, -1, xor, inc, dec, 0, 280, 5, 0, 70, 70, 0]
    return {
        "i": np.array(i), "l": np.array([140 << 33, 139 << 40, -139, xorl, (1 << 64) - 1, 0, 0, 0], object),
        "f": np.array([210.0, 3.0]), "d": np.array([35.0]),
    }  # fmt: skip


@reference
def half_atomics(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `half_atomics`.

    64 threads add constants to f16, packed f16, bf16 and a vector of four f32 in global memory.
    """
    return {
        "h": np.array([32.0, 0]),
        "h2": np.array([64.0, -16.0]),
        "b": np.array([64.0, 0]),
        "v": np.array([64.0, 128, 192, 256]),
    }


@reference
def shared_histogram(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `shared_histogram`: the number of occurrences of each byte."""
    return {"y": np.bincount(arrays["x"], minlength=256)}


@reference
def tiles(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `tiles`.

    Shapes: `y` is (threads, 8). Each column is the result of one operation of a cooperative group of 32 or 8 threads.
    """
    v = _warps(arrays["x"])
    eights = v.reshape(-1, 8)
    lane = np.arange(8)
    scan = np.cumsum(eights, 1)
    masks = ((v[:, :, None] & 3) == (v[:, None, :] & 3)) @ (1 << np.arange(32, dtype=np.int64))
    columns = [
        np.repeat(scan[:, -1], 8), np.cumsum(v, 1).ravel(), (scan - eights).ravel(), eights[:, lane ^ 3].ravel(),
        np.repeat((eights > 90).any(1), 8).astype(np.int64), np.tile(np.repeat(np.arange(4), 8), len(v)), np.repeat(v.max(1), 32), masks.ravel(),
    ]  # fmt: skip
    return {"y": np.stack(columns, 1)}


@reference
def coalesced(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `coalesced`.

    `y` encodes for each thread the size of its coalesced group, and a rank or thread index.
    """
    y: list[int] = []
    for first in range(0, 64, 32):
        values = [int(v) for v in arrays["x"][first : first + 32]]
        third = [k for k, v in enumerate(values) if v % 3 == 0]
        for k, v in enumerate(values):
            if v % 3 == 0:
                y.append(len(third) * 101000 + third.index(k))
            else:
                group = [j for j, u in enumerate(values) if u % 3 and u & 3 == v & 3]
                y.append(len(group) + 100 * (first + group[0]))
    return {"y": np.array(y), "counter": np.array([int((arrays["x"] % 3 == 0).sum())])}


@reference
def barriers(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `barriers`: the sums of the columns of x, in reverse order."""
    return {"y": wide(arrays["x"])[:, ::-1].sum(0)}


def _decayed(x: Array) -> Array:
    s = np.zeros(x.shape[1])
    for row in x:
        s = s * 0.5 + row
    return s


@reference
def pipelines(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `pipelines`.

    For each row of x in turn, s becomes s / 2 + row. The result is the final s. The initial s is zero.
    """
    return {"y": _decayed(wide(arrays["x"]))}


@reference
def shared_pipeline(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `shared_pipeline`.

    For each row of x in turn, s becomes s / 2 + reversed row. The result is the final s. The initial s is zero.
    """
    return {"y": _decayed(wide(arrays["x"])[:, ::-1])}


@reference
def group_copy(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `group_copy`.

    Each row of x has vectors of four elements. The kernel reverses the order of the vectors and adds 1 to the first
    element of each vector.
    """
    return {"y": arrays["x"][:, ::-1] + np.array([1, 0, 0, 0])}


@reference
def scoped_atomics(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `scoped_atomics`.

    Element 0 of `y` counts the updates of all threads. Elements 1 and 2 are the largest thread indices of the two CTAs,
    and element 3 is the OR of eight bits.
    """
    return {"y": np.array([96 * 3 + 96 * 2, 47, 47, 255])}


@reference
def flag_wait(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `flag_wait`.

    Block 0 stores 42, sets a flag and writes 1. Blocks 1 and 2 wait for the flag and write 42 plus the thread index.
    """
    t = np.arange(96)
    return {"y": np.where(t < 32, 1, 42 + t % 32)}


@reference
def named_barriers(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `named_barriers`.

    Warps 0 and 1 exchange values at two named barriers. Warp 2 writes a constant.
    """
    return {"y": np.repeat([22, 11, 5], 32) + 1}


@reference
def cluster_histogram(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of `cluster_histogram`: the number of times that x & 63 has each value."""
    return {"y": np.bincount(arrays["x"] & 63, minlength=64)}


@reference
def cluster_exchange(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `cluster_exchange`.

    Each block of a pair writes 2 * own row + reversed row of the other block + 2 + thread rank in the cluster.
    """
    x = wide(arrays["x"]).reshape(-1, 2, 64)
    return {"y": (2 * x + x[:, ::-1, ::-1] + 2 + np.arange(128).reshape(2, 64)).reshape(-1, 64)}


@reference
def bulk_stream(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `bulk_stream`: `y` is 2 x + 1."""
    return {"y": wide(arrays["x"]) * 2 + 1}
