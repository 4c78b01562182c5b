"""Launches of attention kernels on the emulator and on a GPU."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from warploom.author import Kernel
from warploom.diagnostics import UsageError
from warploom.gpu.arrays import UNORDERED, current_of, is_torch_type, number_of
from warploom.kernels.attention_problem import AttentionOperands, AttentionProblem
from warploom.kernels.plan import ALIGNMENT, DTYPES, size_of
from warploom.kernels.prepared import gpu_of, workspaces_of
from warploom.layout import TensorMap, strided
from warploom.runtime.api import launch
from warploom.runtime.run import Run

LOG2_E = 1.4426950408889634
_L2_BYTES = 32e6  # keys and values that all CTAs share in L2 at a time


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """Launch of one kernel. The names of parameters are without the name of the kernel.

    `maps` has a tensor map for each parameter that is the name of an operand. `arrays` has the names of the operands
    whose addresses the kernel receives, by parameter. `memory` has byte offsets in the workspace, by parameter.
    `numbers` has the other arguments. A `programmatic` kernel waits for the previous grid of the stream itself.
    """

    kernel: Kernel
    grid: int | tuple[int, int]
    block: int
    maps: Mapping[str, TensorMap]
    arrays: Mapping[str, str]
    numbers: Mapping[str, int | float | None]
    memory: Mapping[str, int] = field(default_factory=dict[str, int])
    programmatic: bool = True

    @property
    def parameters(self) -> list[str]:
        """Names of the parameters in order."""
        return [each.name.removeprefix(f"{self.kernel.entry}_") for each in self.kernel.built.parameters]


class AttentionDispatch(Protocol):
    """Launches that compute attention. `words` is the size of the workspace in 32-bit words."""

    @property
    def problem(self) -> AttentionProblem:
        """Problem that the launches solve."""
        ...

    @property
    def words(self) -> int:
        """Size of the workspace. Units: 32-bit words."""
        ...

    def launches(self, operands: AttentionOperands) -> Sequence[KernelLaunch]:
        """Return the launches in order, for operands that include the results."""
        ...


COUNTER = "counter"
"""Parameter for zeros in GPU memory, which each launch leaves at zero."""
_COUNTERS = 3


def line_numbers(problem: AttentionProblem, heads: int, blocks: int) -> dict[str, int | float | None]:
    """Return the numbers by parameter of a kernel whose lines have `heads` heads of Q and `blocks` tiles."""
    lines = problem.heads // heads * problem.batch
    line_bytes = size_of(problem.type) * problem.k_tokens * (problem.head + problem.head_v)
    section = max(1, int(_L2_BYTES / line_bytes)) * (problem.sharing // heads)
    return {
        "scale": problem.scale * LOG2_E, "q_tokens": problem.q_tokens, "k_tokens": problem.k_tokens,
        "heads": problem.heads, "sharing": problem.sharing, "blocks": blocks, "lines": lines,
        "section": min(section, lines), "left": problem.window.left or 0, "right": problem.window.right or 0,
    }  # fmt: skip


def run_on_numpy(
    made: AttentionDispatch, operands: AttentionOperands, device: Any, start: Callable[..., Run] | None = None
) -> None:
    """Launch the kernels with NumPy arrays, which include the results.

    `start` is called instead of `launch`, with the same arguments.
    """
    run = start or launch
    workspace, counter = np.zeros(made.words, np.float32), np.zeros(_COUNTERS, np.uint32)
    for each in made.launches(operands):
        values: dict[str, Any] = {**each.maps, **each.numbers, COUNTER: counter}
        values |= {name: flat(getattr(operands, source)) for name, source in each.arrays.items()}
        values |= {name: workspace[offset // 4 :] for name, offset in each.memory.items()}
        args = [values[name] for name in each.parameters]
        run(each.kernel, grid=each.grid, block=each.block, args=args, device=device)


def flat(array: Any) -> Any:
    """Return the memory from the first to the last element of an array as a contiguous array."""
    layout = strided(array)
    if layout.is_contiguous:
        return array
    last = sum((extent - 1) * step for extent, step in zip(layout.shape, layout.strides, strict=True))
    return np.lib.stride_tricks.as_strided(array, (last // layout.itemsize + 1,), (layout.itemsize,))


class PreparedAttention:
    """Attention of arrays with fixed layouts, ready to launch with new addresses."""

    def __init__(self, made: AttentionDispatch, operands: AttentionOperands) -> None:
        self.problem, self.words = made.problem, made.words
        self.gpu = gpu_of(number_of(operands.q))
        self.current = current_of(operands.q.__class__)
        self.is_torch = is_torch_type(operands.q.__class__)
        self.workspaces = workspaces_of(self.gpu.number)
        self.workspaces.prepare(self.words, _COUNTERS)
        self.steps = [self._prepare(each) for each in made.launches(self._with_results(operands))]

    def _prepare(self, step: KernelLaunch) -> tuple[Any, list[str | int]]:
        """Return the prepared launch, and the source of each address.

        A source is the name of an operand, or an offset in the workspace in bytes.
        """
        prefix = f"{step.kernel.entry}_"
        loaded = self.gpu.kernel(step.kernel.text, step.kernel.entry)
        prepared = loaded.prepare(
            grid=step.grid, block=step.block, shared=step.kernel.shared, programmatic=step.programmatic,
            tensors={f"{prefix}{name}": each for name, each in step.maps.items()},
            fixed={f"{prefix}{name}": value for name, value in step.numbers.items()},
        )  # fmt: skip
        sources: dict[str, str | int] = {**{name: name for name in step.maps}, **step.arrays, **step.memory}
        return prepared, [sources.get(name, name) for name in step.parameters if name not in step.numbers]

    def __call__(self, operands: AttentionOperands) -> AttentionOperands:
        """Launch on the current CUDA stream of the arrays' library. Return the operands with the results."""
        stream = self.gpu.stream if self.current is None else self.current(operands.q)
        whole = self._with_results(operands)
        workspace, counter = self.workspaces.get(stream, self.words, _COUNTERS)
        places = {name: self._address(array, stream) for name, array in whole._asdict().items() if array is not None}
        if any(places[name] % ALIGNMENT for name in ("q", "k", "v", "out")):
            message = f"Q, K, V or O is not aligned; expected addresses that are multiples of {ALIGNMENT} bytes"
            raise UsageError(message, code="kernels.layout")
        places[COUNTER] = counter
        for prepared, sources in self.steps:
            found = [places[each] if isinstance(each, str) else workspace + each for each in sources]
            prepared.at(tuple(found), stream)
        return whole

    def _with_results(self, operands: AttentionOperands) -> AttentionOperands:
        """Return the operands with new arrays for missing results."""
        problem, like, out, lse = self.problem, operands.q, operands.out, operands.lse
        if out is None:
            out = empty_array(like, problem.shape, DTYPES[problem.result])
        if lse is None and problem.lse:
            lse = empty_array(like, problem.lse_shape, np.dtype(np.float32))
        return operands._replace(out=out, lse=lse)

    def _address(self, array: Any, stream: int) -> int:
        if self.is_torch and is_torch_type(array.__class__):
            return array.data_ptr()
        return self.gpu.locate(array, UNORDERED if current_of(array.__class__) is not None else stream)


def empty_array(like: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Return a new array in the library of `like`, PyTorch or CuPy. Errors: UsageError kernels.out."""
    library = sys.modules.get(type(like).__module__.partition(".")[0])
    if library is None or library.__name__ not in ("torch", "cupy"):
        message = "the result can be allocated only for PyTorch and CuPy; expected arrays for the results"
        raise UsageError(message, code="kernels.out")
    if library.__name__ == "torch":
        return library.empty(shape, dtype=getattr(library, dtype.name), device=like.device)
    return library.empty(shape, dtype)
