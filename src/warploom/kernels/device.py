"""The Hopper kernel on a GPU: prepared once for each way that matrices lie, then launched again and again."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from warploom.diag import UsageError
from warploom.gpu import Gpu, Launch
from warploom.gpu.arrays import number_of
from warploom.gpu.streams import current_of
from warploom.kernels.dispatch import Dispatch
from warploom.kernels.gemm import gemm as hopper
from warploom.kernels.plan import DTYPES, size_of
from warploom.kernels.problem import swapped

_NEEDED = "sm_90a"


@dataclass(slots=True)
class _Prepared:
    """A launch, and what of its arguments never changes."""

    launch: Launch
    numbers: tuple[int, ...]
    swaps: tuple[bool, bool]  # whether A and B are turned before their maps see them


@cache
def _gpu(number: int) -> Gpu:
    """A GPU that stays open. Errors: UsageError gpu.*, kernels.target."""
    gpu = Gpu(number)
    if gpu.arch != _NEEDED:
        raise UsageError(
            f"the kernels are for {_NEEDED}; {gpu.name} is {gpu.arch}",
            code="kernels.target",
            hint='device="cpu" runs them on the abstract machine',
        )
    return gpu


class _Workspace:
    """Memory of one stream for the sums of tiles that are cut, and for their flags, which launches leave at 0."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.words = self.flags = self.partial = self.marks = 0

    def hold(self, dispatch: Dispatch) -> tuple[int | None, int | None]:
        """The addresses for a launch."""
        if dispatch.share.even:
            return None, None
        if dispatch.partial_words > self.words:
            self.words, self.partial = dispatch.partial_words, self.gpu.allocate(4 * dispatch.partial_words)
        if dispatch.flags > self.flags:
            self.flags, self.marks = dispatch.flags, self.gpu.allocate(4 * dispatch.flags)
            self.gpu.upload(self.marks, np.zeros(4 * dispatch.flags, np.uint8))
            self.gpu.wait()
        return self.partial, self.marks


@cache
def _workspace(number: int, stream: int) -> _Workspace:
    return _Workspace(_gpu(number))


@lru_cache(maxsize=256)
def _prepared(dispatch: Dispatch, number: int, lies: tuple[Any, ...], example: _Example) -> _Prepared:
    """A launch for arrays that lie as the example's do (`lies`)."""
    gpu, plan = _gpu(number), dispatch.plan
    kernel = hopper.at(plan=plan)
    a, b, c, d = dispatch.tensors(*example.arrays)
    made = gpu.kernel(kernel.text, kernel.name).prepare(
        grid=dispatch.share.ctas,
        block=plan.tile.threads,
        cluster=plan.tile.cluster,
        shared=kernel.shared_bytes,
        programmatic=True,
        tensors={"gemm_a": a, "gemm_b": b, "gemm_c": c, "gemm_d": d},
    )
    return _Prepared(made, dispatch.numbers(example.arrays[3]), (plan.a_major != "k", plan.b_major == "k"))


class _Example:
    """Arrays to prepare a launch by. All are equal, for `lies` tells launches apart."""

    def __init__(self, *arrays: Any) -> None:
        self.arrays = arrays

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Example)

    def __hash__(self) -> int:
        return 0


def on_gpu(
    dispatch: Dispatch, a: Any, b: Any, c: Any, out: Any, vectors: tuple[Any, ...], alpha: float, beta: float
) -> Any:
    """Launch on the GPU that A is on, and on the stream its library works on; returns D at once."""
    number = number_of(a)
    made = _empty(a, dispatch) if out is None else out
    lies = tuple(_lies(each) for each in (a, b, c, made))
    ready = _prepared(dispatch, number, lies, _Example(a, b, c, made))
    current = current_of(type(a))
    stream = _gpu(number).stream if current is None else current(a)
    partial, flags = _workspace(number, stream).hold(dispatch)
    first = swapped(a) if ready.swaps[0] else a
    second = swapped(b) if ready.swaps[1] else b
    ready.launch(
        first, second, made if c is None else c, made, partial, flags, *vectors, alpha, beta,
        made if dispatch.plan.ragged else None, *ready.numbers, stream=stream,
    )  # fmt: skip
    return made


def _lies(array: Any) -> object:
    """How an array lies, in its library's own words."""
    if array is None:
        return None
    return array.shape, array.stride() if hasattr(array, "stride") else getattr(array, "strides", None)


def _empty(like: Any, dispatch: Dispatch) -> Any:
    """A new array for D, its rows a multiple of 16 bytes apart. Errors: UsageError kernels.out."""
    library = sys.modules.get(type(like).__module__.partition(".")[0])
    asked, plan = dispatch.problem, dispatch.plan
    per_row = 16 // size_of(plan.d)
    whole = (*asked.shape[:-1], -(-asked.n // per_row) * per_row)
    if library is None or library.__name__ not in ("torch", "cupy"):
        raise UsageError("D is made for PyTorch and CuPy alone; expected out", code="kernels.out")
    if library.__name__ == "torch":
        found = like.new_empty(whole, dtype=getattr(library, DTYPES[plan.d].name))
    else:
        found = library.empty(whole, DTYPES[plan.d])
    return found[..., : asked.n]
