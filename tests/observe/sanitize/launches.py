"""The handwritten kernels and how each is launched: arguments, geometry, and what NumPy says they leave.

A kernel of `kernels/` or `kernels/bugs/` has one entry, and a launch of the same name here. Inputs are small whole
numbers, so that every sum is exact and the expected arrays hold the very bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import warploom as wl
from warploom.ptx import Module
from warploom.runtime.api import Run

Array = NDArray[Any]
Made = tuple[list[object], list[tuple[Array, Array]]]

KERNELS = Path(__file__).parent / "kernels"
LAUNCHES: dict[str, Launch] = {}


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel. `make` gives new arguments, and arrays that they hold with what is expected there."""

    file: str
    grid: int
    block: int
    make: Callable[[], Made]
    cluster: int = 1

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return Path(self.file).stem

    @property
    def text(self) -> str:
        """The kernel as it is written."""
        return (KERNELS / self.file).read_text(encoding="utf-8")

    @property
    def faulty(self) -> str:
        """The kernel with its fault: without the lines marked `// fix`, with those after `// bad:`."""
        lines = [re.sub(r"// bad: ", "", line) for line in self.text.splitlines()]
        return "\n".join("" if line.endswith("// fix") else line for line in lines) + "\n"

    def run(self, ptx: str | Module | None = None, **options: Any) -> tuple[Run, bool]:
        """Launch the kernel, or a changed one; whether every expected array was met to the bit."""
        args, expected = self.make()
        done = wl.launch(
            self.text if ptx is None else ptx, grid=self.grid, block=self.block, cluster=self.cluster,
            args=args, **options,
        )  # fmt: skip
        return done, all(found.tobytes() == right.tobytes() for found, right in expected)


def _launch(
    file: str, grid: int, block: int, *, cluster: int = 1
) -> Callable[[Callable[[], Made]], Callable[[], Made]]:
    """Register the function that makes the arguments of a file's kernel."""

    def register(make: Callable[[], Made]) -> Callable[[], Made]:
        made = Launch(file, grid, block, make, cluster)
        LAUNCHES[made.name] = made
        return make

    return register


def _whole(seed: int, *shape: int, dtype: Any = np.float16, limit: int = 4) -> Array:
    return np.random.default_rng(seed).integers(-limit, limit, shape, endpoint=True).astype(dtype)


def _words(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).integers(0, 2**32, shape, dtype=np.uint32)


def _mapped(x: Array, expected: Array, *more: object) -> Made:
    """The arguments x, y and more, where y should come to hold what is expected."""
    y = np.zeros(expected.shape, expected.dtype)
    return [x, y, *more], [(y, np.ascontiguousarray(expected))]


def _product(a: Array, b: Array) -> Array:
    return a.astype(np.float32) @ b.astype(np.float32).T


@_launch("tma_wgmma.ptx", 1, 128)
def _tma_wgmma() -> Made:
    a, b, c = _whole(1, 64, 64), _whole(2, 16, 64), np.zeros((64, 16), np.float32)
    maps = [wl.TensorMap.tiled(array, (rows, 64), swizzle=128) for array, rows in ((a, 64), (b, 16))]
    return [*maps, c], [(c, _product(a, b))]


@_launch("double_buffer.ptx", 1, 160)
def _double_buffer() -> Made:
    a, b, c = _whole(3, 64, 320), _whole(4, 16, 320), np.zeros((64, 16), np.float32)
    maps = [wl.TensorMap.tiled(array, (rows, 64), swizzle=128) for array, rows in ((a, 64), (b, 16))]
    return [*maps, c, 5], [(c, _product(a, b))]


@_launch("warp_specialised.ptx", 1, 384)
def _warp_specialised() -> Made:
    a, b, c = _whole(5, 128, 224), _whole(6, 16, 224), np.zeros((128, 16), np.float32)
    maps = [wl.TensorMap.tiled(array, (rows, 32), swizzle=64) for array, rows in ((a, 128), (b, 16))]
    return [*maps, c, 7], [(c, _product(a, b))]


@_launch("cp_async_mma.ptx", 1, 64)
def _cp_async_mma() -> Made:
    a, b, c = _whole(7, 32, 96), _whole(8, 8, 96), np.zeros((32, 8), np.float32)
    return [a, b, c], [(c, _product(a, b))]


@_launch("dsmem_exchange.ptx", 8, 64, cluster=4)
def _dsmem_exchange() -> Made:
    x = _words(9, 2, 4, 64)
    return _mapped(x, np.roll(x, -1, axis=1))


@_launch("st_async_ring.ptx", 4, 64, cluster=2)
def _st_async_ring() -> Made:
    x = _words(10, 2, 2, 64)
    return _mapped(x, x[:, ::-1])


@_launch("bulk_in_place.ptx", 1, 128)
def _bulk_in_place() -> Made:
    x = _words(11, 5, 128)
    return _mapped(x, x * np.uint32(2) + np.uint32(1), 5)


@_launch("tma_store.ptx", 1, 128)
def _tma_store() -> Made:
    y = np.zeros((64, 32), np.float32)
    tile, word = np.indices((4, 512))
    expected = (1000 * tile + word).astype(np.float32)
    return [wl.TensorMap.tiled(y, (16, 32)), 4], [(y, expected)]


@_launch("multicast.ptx", 4, 128, cluster=2)
def _multicast() -> Made:
    x = _words(12, 5, 128)
    return _mapped(x, np.stack([x, x + np.uint32(1)]), 5)


@_launch("message_passing.ptx", 4, 64)
def _message_passing() -> Made:
    x = _words(13, 4, 64)
    right = np.cumsum(x, axis=0, dtype=np.uint32)
    y, total = np.zeros_like(x), np.zeros(1, np.uint32)
    scratch = [np.zeros(n, np.uint32) for n in (4, 4, 1)]
    return [x, y, *scratch, total], [(y, right), (total, right[:, 0].sum(dtype=np.uint32, keepdims=True))]


@_launch("wgmma_registers.ptx", 1, 128)
def _wgmma_registers() -> Made:
    a, b, c = _whole(14, 64, 32), _whole(15, 8, 32), np.zeros((64, 8), np.float32)
    return [a, b, c], [(c, _product(a, b))]


@_launch("named_barriers.ptx", 1, 128)
def _named_barriers() -> Made:
    x = _words(16, 6, 64)
    return _mapped(x, x[:, ::-1] * np.uint32(3), 6)


@_launch("reduction.ptx", 1, 256)
def _reduction() -> Made:
    x = np.random.default_rng(17).integers(-900, 900, 256, dtype=np.int32)
    return _mapped(x, np.array([x.sum(), (x < 0).sum(), (x < 1000).all(), x.max()], np.int32))


# Faults of real kernels, mended: see kernels/bugs/README.md.


@_launch("bugs/flashkda_24.ptx", 1, 64)
def _flashkda_24() -> Made:
    y = np.zeros(64, np.uint32)
    return [y], [(y, np.arange(7, 71, dtype=np.uint32))]


@_launch("bugs/deepep_642.ptx", 1, 64)
def _deepep_642() -> Made:
    x = _words(20, 4, 32)
    return _mapped(x, x + np.uint32(1), 4)


@_launch("bugs/deepep_657.ptx", 1, 32)
def _deepep_657() -> Made:
    x = _words(21, 5, 32)
    return _mapped(x, x, 5)


@_launch("bugs/deepgemm_429.ptx", 2, 32, cluster=2)
def _deepgemm_429() -> Made:
    x = _words(22, 3, 32)
    return _mapped(x, np.stack([x, x]), 3)


@_launch("bugs/cutlass_2418.ptx", 1, 96)
def _cutlass_2418() -> Made:
    x = _words(23, 3, 64)
    return _mapped(x, x + np.uint32(1), 3)


@_launch("bugs/cutlass_3643.ptx", 2, 32, cluster=2)
def _cutlass_3643() -> Made:
    x = _words(24, 32)
    return _mapped(x, x)


@_launch("bugs/sglang_32907.ptx", 2, 32, cluster=2)
def _sglang_32907() -> Made:
    x = _words(25, 32)
    return _mapped(x, x)


@_launch("bugs/sglang_37287.ptx", 1, 64)
def _sglang_37287() -> Made:
    x = _words(26, 64)
    return _mapped(x, (2 * x + x[::-1])[::-1])


@_launch("bugs/tilelang_2634.ptx", 1, 128)
def _tilelang_2634() -> Made:
    a, b, c = _whole(27, 64, 16), _whole(28, 8, 16), np.zeros((64, 8), np.float32)
    return [a, b, c], [(c, _product(a, b))]


@_launch("bugs/tilelang_2927.ptx", 1, 32)
def _tilelang_2927() -> Made:
    x = _words(29, 4, 32)
    return _mapped(x, x)


@_launch("bugs/cudnn_frontend_426.ptx", 1, 64)
def _cudnn_frontend_426() -> Made:
    x = _words(30, 32)
    return _mapped(x, x[::-1])


@_launch("bugs/transformer_engine_3417.ptx", 1, 64)
def _transformer_engine_3417() -> Made:
    y = np.zeros((4, 64), np.uint32)
    row, word = np.indices(y.shape)
    return [y, 4], [(y, (100 * row + word).astype(np.uint32))]


@_launch("bugs/sglang_39124.ptx", 1, 128)
def _sglang_39124() -> Made:
    a, b = _whole(31, 64, 8).astype(np.float32), _whole(32, 8, 8).astype(np.float32)
    c = np.zeros((64, 8), np.float32)
    return [a, b.astype(ml_dtypes.bfloat16), c], [(c, a @ b.T)]


@_launch("bugs/tilelang_2566.ptx", 1, 64)
def _tilelang_2566() -> Made:
    x = _words(33, 32)
    return _mapped(x, x + np.uint32(1))
