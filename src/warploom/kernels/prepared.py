"""GEMM launches on a GPU that are prepared once for each layout of the arrays, and then repeated."""

import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from warploom.author import Kernel
from warploom.check.header import find_target
from warploom.diagnostics import UsageError
from warploom.gpu import Gpu
from warploom.gpu.arrays import UNORDERED, current_of, is_torch_type, number_of
from warploom.kernels.ampere.dispatch import AmpereDispatch
from warploom.kernels.ampere.plan import OLDEST
from warploom.kernels.blackwell.dispatch import BlackwellDispatch
from warploom.kernels.hopper.dispatch import HopperDispatch
from warploom.kernels.hopper.exchanged_dispatch import ExchangedDispatch
from warploom.kernels.plan import DTYPES
from warploom.kernels.problem import Operands

Dispatch = HopperDispatch | ExchangedDispatch | AmpereDispatch | BlackwellDispatch


class _Allocation(NamedTuple):
    """GPU memory for `words` 32-bit words at address `partial`, and for `flags` flags at address `marks`."""

    words: int
    flags: int
    partial: int
    marks: int

    def fits(self, words: int, flags: int) -> bool:
        return words <= self.words and flags <= self.flags


_NONE = _Allocation(0, 0, 0, 0)


class Workspaces:
    """GPU memory for partial sums and flags, for the launches on one GPU. Each CUDA stream has its own."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.spare = _NONE
        # Launches of a stream run one after another, so they share memory. A CUDA graph may hold an address, so memory
        # in use is never freed. No memory can be allocated while a graph is recorded; the spare is for this case.
        self.of_streams: dict[int, _Allocation] = {}

    def prepare(self, words: int, flags: int) -> None:
        """Allocate spare memory of these sizes, unless it exists. Errors: UsageError gpu.memory."""
        if not self.spare.fits(words, flags):
            before = self.spare
            self.spare = self._allocate(max(words, before.words), max(flags, before.flags))
            for address in (before.partial, before.marks):
                if address:
                    self.gpu.free(address)

    def get(self, stream: int, words: int, flags: int) -> tuple[int, int]:
        """Return a stream's addresses of words and flags. Errors: UsageError kernels.recording, gpu.memory."""
        found = self.of_streams.get(stream)
        if found is None or not found.fits(words, flags):
            found = self.of_streams[stream] = self._take(stream, words, flags)
        return found.partial, found.marks

    def _take(self, stream: int, words: int, flags: int) -> _Allocation:
        recording = self.gpu.is_recording(stream)
        if not recording:
            before = self.of_streams.get(stream, _NONE)  # doubling bounds the memory that a stream has outgrown
            self.prepare(max(words, 2 * before.words), max(flags, 2 * before.flags))
        found = self.spare
        if not found.fits(words, flags):
            raise UsageError(
                "a graph is being recorded and the launch needs memory that is not allocated yet",
                code="kernels.recording",
                hint="run the multiplication once before, on a stream that is not being recorded",
            )
        self.spare = _NONE
        if not recording:
            self.prepare(found.words, found.flags)
        return found

    def _allocate(self, words: int, flags: int) -> _Allocation:
        made = _Allocation(words, flags, self.gpu.allocate(4 * words), self.gpu.allocate(4 * flags))
        # Each launch leaves all flags at 0.
        self.gpu.upload(made.marks, np.zeros(4 * flags, np.uint8))
        self.gpu.wait()
        return made


@cache
def gpu_of(number: int) -> Gpu:
    """Return the GPU with index `number`. Errors: UsageError gpu.*, kernels.target."""
    gpu = Gpu(number)
    if find_target(gpu.arch).number < OLDEST:
        message = f"the kernels need sm_{OLDEST} or newer; {gpu.name} is {gpu.arch}"
        raise UsageError(message, code="kernels.target", hint='device="cpu" runs them without a GPU')
    return gpu


@cache
def workspaces_of(number: int) -> Workspaces:
    """Return the memory for the launches on the GPU with index `number`."""
    return Workspaces(gpu_of(number))


class PreparedGemm:
    """Multiplication of arrays with fixed layouts, ready to launch with new addresses."""

    def __init__(self, dispatch: Dispatch, kernel: Kernel, operands: Operands) -> None:
        self.number = number_of(operands.a)
        gpu, plan = gpu_of(self.number), dispatch.plan
        self.current, self.stream = current_of(operands.a.__class__), gpu.stream
        given = [array for array in operands if array is not None]
        all_torch = all(is_torch_type(each.__class__) and each.get_device() == self.number for each in given)
        self.locate = _address if all_torch else partial(_locate, gpu)
        self.empty = _allocator(operands.a, dispatch) if operands.out is None else None
        self.workspace, self.stores_by_address = dispatch.workspace, dispatch.stores_by_address
        self.alignment = dispatch.alignment
        self.workspaces = workspaces_of(self.number)
        if self.workspace is not None:
            self.workspaces.prepare(*self.workspace)
        loaded = gpu.kernel(kernel.text, kernel.entry)
        d = operands.out if self.empty is None else self.empty()
        numbers = dispatch.numbers(d, operands)
        self.scaled, self.added = plan.epilogue.scaled, operands.c is not None
        fixed: dict[str, object] = {} if self.scaled else {"alpha": 1.0}
        if not self.added:
            fixed["beta"] = 0.0
        fixed |= dict.fromkeys(dispatch.unused_pointers(operands))
        maps = dispatch.tensor_maps(operands, d).items()
        names = [each.name for each in loaded.parameters[-len(numbers) :]]
        self.launch = loaded.prepare(
            grid=dispatch.grid,
            block=plan.tile.threads,
            cluster=dispatch.cluster,
            shared=kernel.shared,
            programmatic=dispatch.programmatic,
            tensors={f"{kernel.entry}_{name}": each for name, each in maps},
            fixed={f"{kernel.entry}_{name}": value for name, value in fixed.items()}
            | dict(zip(names, numbers, strict=True)),
        )

    def __call__(self, alpha: float, beta: float, a: Any, b: Any, c: Any, out: Any, *vectors: Any) -> Any:
        """Launch on the current CUDA stream of the arrays' library. Return D without waiting for the GPU.

        `vectors` are the fields of `Operands` after `out`, in order.
        """
        locate = self.locate
        stream = self.stream if self.current is None else self.current(a)
        made = out if self.empty is None else self.empty()
        d = locate(made, stream)
        places = [locate(a, stream), locate(b, stream), d if c is None else locate(c, stream), d]
        if self.alignment > 1 and any(place % self.alignment for place in places):
            message = f"A, B, C or D is not aligned; expected addresses that are multiples of {self.alignment} bytes"
            raise UsageError(message, code="kernels.layout")
        given: list[int | float] = [*places]
        if self.workspace is not None:
            given += self.workspaces.get(stream, *self.workspace)
        given += [locate(vector, stream) for vector in vectors if vector is not None]
        if self.scaled:
            given.append(float(alpha))
        if self.added:
            given.append(float(beta))
        if self.stores_by_address:
            given.append(d)
        self.launch.at(tuple(given), stream)
        return made


def _address(tensor: Any, _: int) -> int:
    return tensor.data_ptr()


def _locate(gpu: Gpu, array: Any, stream: int) -> int:
    return gpu.locate(array, UNORDERED if current_of(array.__class__) is not None else stream)


def _allocator(like: Any, dispatch: Dispatch) -> Callable[[], Any]:
    """Return a function that allocates D in the library of `like`. Errors: UsageError kernels.out."""
    library = sys.modules.get(type(like).__module__.partition(".")[0])
    if library is None or library.__name__ not in ("torch", "cupy"):
        raise UsageError("D can be allocated only for PyTorch and CuPy; expected `out`", code="kernels.out")
    problem, type_word = dispatch.problem, dispatch.plan.d
    shape, pitch, dtype = problem.shape, problem.pitch(type_word), DTYPES[type_word]
    if library.__name__ == "torch":
        strides = (shape[-2] * pitch, pitch, 1)[-len(shape) :]
        torch_type = getattr(library, dtype.name)
        return partial(library.empty_strided, shape, strides, dtype=torch_type, device=like.device)
    return lambda: library.empty((*shape[:-1], pitch), dtype)[..., : shape[-1]]
