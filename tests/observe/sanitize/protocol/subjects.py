"""Kernels of the second mutation programme, with their launches and the results that NumPy computes.

The inputs are small integers or random words, so every result is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import warploom as wl
from warploom.ptx import Module
from warploom.runtime.api import Run

Array = NDArray[Any]
Arguments = tuple[list[object], list[tuple[Array, Array]]]

STEPS = 300_000
"""Limit of instructions, above which a mutant that polls forever ends."""

KERNELS = Path(__file__).parent / "kernels"
SUBJECTS: dict[str, Subject] = {}


@dataclass(frozen=True)
class Subject:
    """One kernel and its launch.

    `make` returns new arguments, and pairs of an array and the value that the kernel must leave in it.
    """

    name: str
    grid: int
    block: int
    cluster: int
    make: Callable[[], Arguments]

    @cached_property
    def module(self) -> Module:
        """The parsed kernel."""
        return wl.parse((KERNELS / f"{self.name}.ptx").read_text(encoding="utf-8"))

    def run(self, module: Module, schedule: str) -> bool:
        """Launch `module` in place of the kernel, and return True if the results are exact."""
        args, expected = self.make()
        wl.launch(module, args=args, schedule=schedule, **self._geometry)
        return all(found.tobytes() == right.tobytes() for found, right in expected)

    def sanitize(self, module: Module, schedules: tuple[str, ...]) -> Run:
        """Sanitize `module` in place of the kernel under each of the schedules."""
        return wl.sanitize(module, args=self.make()[0], schedules=schedules, **self._geometry)

    @property
    def _geometry(self) -> dict[str, Any]:
        return {"grid": self.grid, "block": self.block, "cluster": self.cluster, "step_budget": STEPS}


def _subject(
    grid: int, block: int, *, cluster: int = 1
) -> Callable[[Callable[[], Arguments]], Callable[[], Arguments]]:
    """Register the function that makes the arguments of the kernel of the same name."""

    def register(make: Callable[[], Arguments]) -> Callable[[], Arguments]:
        SUBJECTS[make.__name__] = Subject(make.__name__, grid, block, cluster, make)
        return make

    return register


def _words(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).integers(0, 2**32, shape, dtype=np.uint32)


def _halves(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).integers(-4, 4, shape, endpoint=True).astype(np.float16)


def _zeros(*shape: int) -> Array:
    return np.zeros(shape, np.uint32)


def _result(expected: Array) -> tuple[Array, list[tuple[Array, Array]]]:
    """Return an array of zeros, and the expectation that it becomes `expected`."""
    y = np.zeros(expected.shape, expected.dtype)
    return y, [(y, np.ascontiguousarray(expected))]


def _recurrence(start: Array, terms: Array) -> Array:
    """Return v after v = 3 v + term for each of the terms."""
    v = start.copy()
    for term in terms:
        v = v * np.uint32(3) + term
    return v


def _core_matrices(tile: Array) -> Array:
    """Return a tile of f16 in the order of its 8 x 8 core matrices, K first."""
    rows, columns = tile.shape
    return np.ascontiguousarray(tile.reshape(rows // 8, 8, columns // 8, 8).transpose(0, 2, 1, 3))


@_subject(4, 64)
def fenced_chain() -> Arguments:
    """Return the arguments of a chain of four CTAs."""
    x = _words(1, 4, 64)
    y, expected = _result(np.cumsum(x, axis=0, dtype=np.uint32))
    return [x, y, _zeros(4)], expected


@_subject(5, 32)
def look_back() -> Arguments:
    """Return the arguments of a scan over five CTAs."""
    x = _words(2, 5 * 32)
    y, expected = _result(np.cumsum(x, dtype=np.uint32))
    return [x, y, _zeros(5), _zeros(5), _zeros(5)], expected


@_subject(3, 32)
def stream_k() -> Arguments:
    """Return the arguments of an owner with two helpers."""
    x = _words(3, 3, 32)
    y, expected = _result(x[0] + np.uint32(3) * (x[1] + x[2]))
    return [x, y, _zeros(3, 32), _zeros(1)], expected


@_subject(4, 64)
def last_block() -> Arguments:
    """Return the arguments of a sum over four CTAs."""
    x = _words(4, 4, 64)
    y, expected = _result((x * np.uint32(5)).sum(axis=0, dtype=np.uint32))
    return [x, y, _zeros(4, 64), _zeros(1)], expected


@_subject(4, 32)
def ticket_lock() -> Arguments:
    """Return the arguments of four CTAs that share a row."""
    x = _words(5, 4, 32)
    y, expected = _result(x.sum(axis=0, dtype=np.uint32))
    return [x, y, _zeros(1), _zeros(1)], expected


@_subject(4, 32)
def cas_lock() -> Arguments:
    """Return the arguments of four CTAs that share two words."""
    x = _words(6, 4)
    y, expected = _result(np.array([x.sum(dtype=np.uint32), 4], np.uint32))
    return [x, y, _zeros(1)], expected


@_subject(2, 32)
def publish_to_bulk() -> Arguments:
    """Return the arguments of a row that passes from stores to a bulk copy."""
    x = _words(7, 32)
    y, expected = _result(x + np.uint32(9))
    return [x, y, _zeros(32), _zeros(1)], expected


@_subject(2, 64)
def bulk_readback() -> Arguments:
    """Return the arguments of a row that passes from a bulk copy to loads."""
    x = _words(8, 64)
    y, expected = _result(x * np.uint32(7))
    return [x, y, _zeros(64), _zeros(1)], expected


@_subject(1, 64)
def split_phase() -> Arguments:
    """Return the arguments of four rounds of a split barrier."""
    x, thread = _words(9, 64), np.arange(64, dtype=np.uint32)
    v = x
    for r in range(4):
        v = v * np.uint32(3) + v[thread ^ 33] + np.uint32(11 * r) + thread
    y, expected = _result(v)
    return [x, y, 4], expected


@_subject(1, 96)
def barrier_ring() -> Arguments:
    """Return the arguments of three warps that take two turns each."""
    lane = np.arange(32, dtype=np.uint32)
    terms = np.stack([lane + np.uint32(5 * w) for w in range(3)] * 2)
    y, expected = _result(_recurrence(np.ones(32, np.uint32), terms))
    return [y, 2], expected


@_subject(1, 32)
def warp_transpose() -> Arguments:
    """Return the arguments of two tiles."""
    x = _words(10, 2, 32, 32)
    v, lane = x.transpose(0, 2, 1), np.arange(32, dtype=np.uint32)
    ballot = ((v & 1) << lane).sum(axis=2, dtype=np.uint32, keepdims=True)
    y, expected = _result(((v + v[:, :, lane ^ 1]) ^ ballot) + v.sum(axis=2, dtype=np.uint32, keepdims=True))
    return [x, y], expected


@_subject(1, 64)
def elected_copies() -> Arguments:
    """Return the arguments of two warps with a row each."""
    x = _words(11, 64)
    y, expected = _result(x[np.arange(64) ^ 3])
    return [x, y], expected


@_subject(1, 64)
def barrier_recycle() -> Arguments:
    """Return the arguments of two exchanges in one CTA."""
    x = _words(12, 64)
    v = x * np.uint32(3) + x[::-1]
    y, expected = _result(v - v[::-1])
    return [x, y], expected


@_subject(2, 32, cluster=2)
def mailbox() -> Arguments:
    """Return the arguments of three rounds of messages."""
    v = x = _words(13, 2, 32)
    for _ in range(3):
        v = v * np.uint32(3) + v[::-1, np.arange(32) ^ 5]
    y, expected = _result(v)
    return [x, y, 3], expected


@_subject(1, 96)
def tma_ring() -> Arguments:
    """Return the arguments of eight rows, more than twice the stages."""
    a, b = _words(14, 8, 64), _words(15, 8, 64)
    y, expected = _result((a * b).sum(axis=0, dtype=np.uint32))
    return [wl.TensorMap.tiled(a, (1, 64)), b, y, 8], expected


@_subject(2, 64, cluster=2)
def multicast_pair() -> Arguments:
    """Return the arguments of four rows for a pair of CTAs."""
    x = _words(16, 4, 64)
    start = np.repeat(np.arange(2, dtype=np.uint32)[:, None], 64, axis=1)
    y, expected = _result(_recurrence(start, x))
    return [x, y, 4], expected


@_subject(2, 64, cluster=2)
def dsmem_rows() -> Arguments:
    """Return the arguments of three exchanges of rows."""
    v = x = _words(17, 2, 64)
    thread = np.arange(64, dtype=np.uint32)
    for r in range(3):
        v = v * np.uint32(3) + v[::-1, ::-1] + np.uint32(13 * r) + thread
    y, expected = _result(v)
    return [x, y, 3], expected


@_subject(2, 32, cluster=2)
def cluster_fences() -> Arguments:
    """Return the arguments of one exchange of rows."""
    x = _words(18, 2, 32)
    y, expected = _result(x * np.uint32(5) + x[::-1, np.arange(32) ^ 9])
    return [x, y], expected


@_subject(2, 64, cluster=2)
def dsmem_histogram() -> Arguments:
    """Return the arguments of 128 values."""
    x = _words(19, 128)
    y, expected = _result(np.bincount(x & 63, minlength=64).astype(np.uint32))
    return [x, y], expected


@_subject(1, 64)
def stmatrix_store() -> Arguments:
    """Return the arguments of three tiles."""
    tile, row, column = np.indices((3, 32, 8))
    element = 1000 * tile + 8 * row + column
    y, expected = _result(element.reshape(96, 8).astype(np.uint16))
    return [wl.TensorMap.tiled(y, (32, 8)), 3], expected


@_subject(3, 32)
def reduce_scatter() -> Arguments:
    """Return the arguments of three rows of three CTAs."""
    x = _words(20, 3, 3, 32)
    y, expected = _result(x.sum(axis=0, dtype=np.uint32))
    return [x, y, 3], expected


@_subject(2, 32, cluster=2)
def cluster_reduce() -> Arguments:
    """Return the arguments of a sum over two CTAs."""
    x = _words(21, 2, 32)
    y, expected = _result(x[0] + x[1] + np.uint32(100))
    return [x, y], expected


@_subject(2, 64, cluster=2)
def dsmem_push() -> Arguments:
    """Return the arguments of one exchange of rows."""
    x = _words(22, 2, 64)
    y, expected = _result(x[::-1, ::-1] * np.uint32(3))
    return [x, y], expected


@_subject(1, 64)
def tensormap_update() -> Arguments:
    """Return the arguments of a map of one array that is moved to another array."""
    x, other = _words(23, 4, 32), _words(24, 4, 32)
    y, expected = _result(other[0])
    return [wl.TensorMap.tiled(x, (1, 32)), other, np.zeros(128, np.uint8), y], expected


@_subject(1, 128)
def wgmma_two() -> Arguments:
    """Return the arguments of two products."""
    a, b = _halves(25, 64, 16), _halves(26, 2, 8, 16)
    products = np.stack([a.astype(np.float32) @ tile.astype(np.float32).T for tile in b])
    products[0] += 1
    y, expected = _result(products)
    return [_core_matrices(a), np.stack([_core_matrices(tile) for tile in b]), y], expected


@_subject(1, 128)
def wgmma_chain() -> Arguments:
    """Return the arguments of three steps of K."""
    a, b = _halves(27, 64, 48), _halves(28, 8, 48)
    y, expected = _result(a.astype(np.float32) @ b.astype(np.float32).T)
    return [a, np.stack([_core_matrices(b[:, k : k + 16]) for k in (0, 16, 32)]), y, 3], expected


@_subject(1, 64)
def cp_async_gemm() -> Arguments:
    """Return the arguments of five steps of K."""
    a, b = _halves(29, 16, 80), _halves(30, 16, 80)
    y, expected = _result(a.astype(np.float32) @ b.astype(np.float32).T)
    return [a, b, y, 5], expected


@_subject(1, 64)
def cp_async_mbarrier() -> Arguments:
    """Return the arguments of five rows."""
    x = _words(31, 5, 32)
    y, expected = _result(_recurrence(np.zeros(32, np.uint32), x[:, np.arange(32) ^ 1]))
    return [x, y, 5], expected


@_subject(1, 256)
def register_pool() -> Arguments:
    """Return the arguments of five rows."""
    x = _words(32, 5, 128)
    y, expected = _result(_recurrence(np.zeros(128, np.uint32), x[:, np.arange(128) ^ 65]))
    return [x, y, 5], expected
