"""The Hopper kernel on a GPU: prepared once for each way that matrices lie, then launched again and again."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np

from warploom.diag import UsageError
from warploom.gpu import Gpu
from warploom.gpu.arrays import UNORDERED, number_of
from warploom.gpu.streams import current_of
from warploom.kernels.dispatch import Dispatch
from warploom.kernels.gemm import gemm as hopper
from warploom.kernels.plan import DTYPES, size_of
from warploom.kernels.problem import Arrays

_NEEDED = "sm_90a"
_VECTORS = ("row_scales", "column_scales", "bias", "ends")


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

    def hold(self, dispatch: Dispatch) -> tuple[int, int]:
        """The addresses for a launch."""
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


class Ready:
    """A multiplication on a GPU, for arrays that lie in one way: a call packs their addresses and launches."""

    def __init__(self, dispatch: Dispatch, arrays: Arrays, alpha: float, beta: float) -> None:
        self.number = number_of(arrays.a)
        self.dispatch, gpu, plan = dispatch, _gpu(self.number), dispatch.plan
        self.locate, self.stream, self.current = gpu.locate, gpu.stream, current_of(arrays.a.__class__)
        text = hopper.at(plan=plan)
        kernel = gpu.kernel(text.text, text.name)
        d = _empty(arrays.a, dispatch) if arrays.out is None else arrays.out
        numbers = dispatch.numbers(d)
        fixed: dict[str, object] = {"alpha": alpha, "beta": beta, "metadata": None}
        fixed |= {name: None for name in _VECTORS if getattr(arrays, name) is None}
        self.vectors = [name for name in _VECTORS if name not in fixed]
        if not plan.addressed:
            fixed["d_start"] = None
        if dispatch.share.even:
            fixed |= {"partial": None, "flags": None}
        maps = zip("abcd", dispatch.tensors(arrays.a, arrays.b, arrays.c, d), strict=True)
        self.launch = kernel.prepare(
            grid=dispatch.share.ctas,
            block=plan.tile.threads,
            cluster=plan.tile.cluster,
            shared=text.shared_bytes,
            programmatic=True,
            tensors={f"{text.name}_{name}": each for name, each in maps},
            fixed={f"{text.name}_{name}": value for name, value in fixed.items()}
            | {
                each.name: value
                for each, value in zip(kernel.parameters[-len(numbers) :], numbers, strict=True)
            },
        )

    def __call__(self, arrays: Arrays) -> Any:
        """Launch on the stream that the arrays' library works on; returns D at once."""
        stream = self.stream if self.current is None else self.current(arrays.a)
        ordering = UNORDERED if self.current is not None else stream
        made = _empty(arrays.a, self.dispatch) if arrays.out is None else arrays.out
        d = self.locate(made, ordering)
        places = [
            self.locate(arrays.a, ordering),
            self.locate(arrays.b, ordering),
            d if arrays.c is None else self.locate(arrays.c, ordering),
            d,
        ]
        if not self.dispatch.share.even:
            places += _workspace(self.number, stream).hold(self.dispatch)
        places += [self.locate(getattr(arrays, name), ordering) for name in self.vectors]
        if self.dispatch.plan.addressed:
            places.append(d)
        self.launch(*places, stream=stream)
        return made


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
