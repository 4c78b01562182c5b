"""The Hopper kernel on a GPU: prepared once for each way that matrices lie, then launched again and again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from warploom.author import Kernel
from warploom.check.header import find_target
from warploom.diagnostics import UsageError
from warploom.gpu import Gpu
from warploom.gpu.arrays import UNORDERED, is_torch_type, number_of
from warploom.gpu.streams import current_of
from warploom.kernels.dispatch import Dispatch
from warploom.kernels.plan import DTYPES
from warploom.kernels.problem import Arrays
from warploom.kernels.warp_level.dispatch import WarpDispatch
from warploom.kernels.warp_level.plan import OLDEST
from warploom.kernels.workspace import Workspaces


@cache
def gpu_of(number: int) -> Gpu:
    """A GPU that stays open. Errors: UsageError gpu.*, kernels.target."""
    gpu = Gpu(number)
    if find_target(gpu.arch).number < OLDEST:
        raise UsageError(
            f"the kernels are for sm_{OLDEST} and newer; {gpu.name} is {gpu.arch}",
            code="kernels.target",
            hint='device="cpu" runs them on the abstract machine',
        )
    return gpu


@cache
def _workspaces(number: int) -> Workspaces:
    return Workspaces(gpu_of(number))


class Ready:
    """A multiplication on a GPU, for arrays that lie in one way: a call takes their addresses and launches."""

    def __init__(self, dispatch: Dispatch | WarpDispatch, kernel: Kernel, arrays: Arrays) -> None:
        self.number = number_of(arrays.a)
        gpu, plan = gpu_of(self.number), dispatch.plan
        self.current, self.stream = current_of(arrays.a.__class__), gpu.stream
        here = (_is_tensor(array, self.number) for array in arrays if array is not None)
        self.locate = _address if all(here) else partial(_locate, gpu)
        self.empty = _maker(arrays.a, dispatch) if arrays.out is None else None
        self.held, self.addressed = dispatch.held, dispatch.addressed
        self.alignment = dispatch.alignment
        self.workspaces = _workspaces(self.number)
        if self.held is not None:
            self.workspaces.prepare(*self.held)
        loaded = gpu.kernel(kernel.text, kernel.name)
        d = arrays.out if self.empty is None else self.empty()
        numbers = dispatch.numbers(d, arrays)
        self.scaled, self.added = plan.epilogue.scaled, arrays.c is not None
        fixed: dict[str, object] = {} if self.scaled else {"alpha": 1.0}
        if not self.added:
            fixed["beta"] = 0.0
        fixed |= dict.fromkeys(dispatch.absent(arrays))
        maps = zip("abcd", dispatch.tensors(arrays.a, arrays.b, arrays.c, d))
        self.launch = loaded.prepare(
            grid=dispatch.ctas,
            block=plan.tile.threads,
            cluster=dispatch.cluster,
            shared=kernel.shared_bytes,
            programmatic=dispatch.programmatic,
            tensors={f"{kernel.name}_{name}": each for name, each in maps},
            fixed={f"{kernel.name}_{name}": value for name, value in fixed.items()}
            | {
                each.name: value
                for each, value in zip(loaded.parameters[-len(numbers) :], numbers, strict=True)
            },
        )

    def __call__(self, alpha: float, beta: float, a: Any, b: Any, c: Any, out: Any, *vectors: Any) -> Any:
        """Launch on the stream that the arrays' library works on; returns D at once."""
        locate = self.locate
        stream = self.stream if self.current is None else self.current(a)
        made = out if self.empty is None else self.empty()
        d = locate(made, stream)
        places = [locate(a, stream), locate(b, stream), d if c is None else locate(c, stream), d]
        if self.alignment > 1 and any(place % self.alignment for place in places):
            raise UsageError(
                f"A, B, C or D begins at an address that is no multiple of {self.alignment} bytes",
                code="kernels.layout",
            )
        given: list[int | float] = [*places]
        if self.held is not None:
            given += self.workspaces.hold(stream, *self.held)
        given += [locate(vector, stream) for vector in vectors if vector is not None]
        if self.scaled:
            given.append(float(alpha))
        if self.added:
            given.append(float(beta))
        if self.addressed:
            given.append(d)
        self.launch.at(tuple(given), stream)
        return made


def _is_tensor(array: Any, number: int) -> bool:
    return is_torch_type(array.__class__) and array.get_device() == number


def _address(tensor: Any, _: int) -> int:
    """Where a tensor of PyTorch's lies, whose signature has said on which GPU."""
    return tensor.data_ptr()


def _locate(gpu: Gpu, array: Any, stream: int) -> int:
    return gpu.locate(array, UNORDERED if current_of(array.__class__) is not None else stream)


def _maker(like: Any, dispatch: Dispatch | WarpDispatch) -> Callable[[], Any]:
    """What makes an array for D, its rows a multiple of 16 bytes apart. Errors: UsageError kernels.out."""
    library = sys.modules.get(type(like).__module__.partition(".")[0])
    if library is None or library.__name__ not in ("torch", "cupy"):
        raise UsageError("D is made for PyTorch and CuPy alone; expected out", code="kernels.out")
    problem, type_word = dispatch.problem, dispatch.plan.d
    shape, pitch, dtype = problem.shape, problem.pitch(type_word), DTYPES[type_word]
    if library.__name__ == "torch":
        strides = (shape[-2] * pitch, pitch, 1)[-len(shape) :]
        made_as = getattr(library, dtype.name)
        return partial(library.empty_strided, shape, strides, dtype=made_as, device=like.device)
    return lambda: library.empty((*shape[:-1], pitch), dtype)[..., : shape[-1]]
