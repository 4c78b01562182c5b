"""`attention`: softmax(scale Q K^T) V on a GPU, or on the CPU with the same bits."""

# Callers may pass objects of other types than annotated.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import sys
from typing import Any, Literal

import numpy as np

from warploom.diagnostics import UsageError
from warploom.gpu.arrays import (
    UNORDERED,
    as_numpy,
    current_of,
    is_foreign_type,
    is_on_gpu,
    is_torch_type,
    number_of,
    signature,
)
from warploom.kernels.attention_problem import AttentionOperands, attention_problem, window_of
from warploom.kernels.hopper.attention_dispatch import HopperAttention
from warploom.kernels.hopper.cost_model import H200
from warploom.kernels.hopper.plan import HOPPER
from warploom.kernels.plan import DTYPES
from warploom.kernels.prepared import gpu_of, workspaces_of
from warploom.runtime.api import launch

Device = Literal["cpu", "cuda"]
_TARGETS = {HOPPER: HopperAttention}


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    window: tuple[int | None, int | None] = (None, None),
    scale: float | None = None,
    q_ends: Any = None,
    k_ends: Any = None,
    k_lengths: Any = None,
    most_rows: int | None = None,
    return_lse: bool = False,
    out: Any = None,
    lse: Any = None,
    device: Device = "cuda",
    target: str = "",
) -> Any:
    """Return O = softmax(scale Q K^T) V. With `return_lse`, return O and the logarithms of the sums.

    Q, K and V are arrays of one library, of bf16 or f16. PyTorch and CuPy arrays on a GPU are used in place. NumPy
    arrays are copied. With device="cpu" all arrays are NumPy arrays, and the result has the bits that the GPU returns.
    If Q has more heads than K and V, neighbouring heads of Q share a head of K and V. `scale` is 1 / sqrt(head size) by
    default.

    The last row of Q has its diagonal at the last key. `window` is a pair (left, right): a row attends to at most
    `left` keys before its diagonal and at most `right` keys after it. None is no limit. `causal` sets `right` to 0. A
    row without keys becomes 0, and its logarithm minus infinity.

    Sequences of different lengths are padded or packed. `k_lengths` has the number of keys of each sequence of padded
    arrays. `q_ends` and `k_ends` have the end of each sequence in packed arrays, which have no batch axis. If `q_ends`
    is on a GPU, `most_rows` is the number of rows of the longest sequence; without it, more of the launch is idle.

    O is `out` if `out` is given. `lse` receives the logarithms. `target` selects the kernel. The default is the target
    of the GPU, and sm_90a with device="cpu".

    Shapes: q (batch, tokens, heads, head size), k and v (batch, keys, heads of K, head size), O like q with the head
        size of v, logarithms (batch, heads, tokens) in f32; packed: the same without batch. Head sizes are multiples of
        8 up to 256. q_ends, k_ends, k_lengths (batch,), int32. Errors: UsageError kernels.*, gpu.*.
    """
    operands = AttentionOperands(q, k, v, out, lse, q_ends, k_ends, k_lengths)
    options = causal, window, scale, most_rows, return_lse, target
    if device != "cuda" or not is_foreign_type(q.__class__) or not is_on_gpu(q):
        return _run_on_numpy(operands, options, device)
    key = options, *[None if array is None else signature(array) for array in operands]
    ready = _PREPARED.get(key)
    if ready is None:
        gpu = gpu_of(number_of(q))
        made = _plan(operands, options, gpu.arch, gpu.multiprocessors)
        ready = _PreparedAttention(made, operands)
        if len(_PREPARED) >= _MAX_PREPARED:
            _PREPARED.clear()
        _PREPARED[key] = ready
    return ready(operands, return_lse)


def _plan(operands: AttentionOperands, options: tuple[Any, ...], arch: str, multiprocessors: int) -> HopperAttention:
    """Return the launch for arrays and options. Errors: UsageError kernels.*."""
    causal, window, scale, most_rows, return_lse, target = options
    limits = window_of(window, causal=causal)
    kind = _TARGETS.get(target or arch)
    if kind is None:
        message = f"no attention kernel for {target or arch}; expected {' or '.join(_TARGETS)}"
        raise UsageError(message, code="kernels.target", hint="`target` selects another kernel with device='cpu'")
    problem = attention_problem(operands, scale=scale, window=limits, most_rows=most_rows, lse=return_lse)
    return kind.of(problem, multiprocessors)


def _run_on_numpy(operands: AttentionOperands, options: tuple[Any, ...], device: Device) -> Any:
    given = operands
    operands = AttentionOperands(*[as_numpy(each) if is_foreign_type(each.__class__) else each for each in operands])
    gpu = gpu_of(0) if device == "cuda" else None
    made = _plan(operands, options, gpu.arch if gpu else HOPPER, gpu.multiprocessors if gpu else H200.multiprocessors)
    problem, kernel = made.problem, made.kernel
    out = np.zeros(problem.shape, DTYPES[problem.type]) if operands.out is None else operands.out
    lse = np.zeros(problem.lse_shape, np.float32) if operands.lse is None and problem.lse else operands.lse
    operands = operands._replace(out=out, lse=lse)
    arguments = {
        **made.tensor_maps(operands), **made.addresses(operands, np.zeros(1, np.uint32)), **made.numbers(operands)
    }  # fmt: skip
    names = [each.name.removeprefix(f"{kernel.entry}_") for each in kernel.built.parameters]
    launch(kernel, grid=made.grid, block=made.block, args=[arguments[name] for name in names], device=device)
    results = [out if theirs is None else theirs for out, theirs in ((out, given.out), (lse, given.lse))]
    return tuple(results) if options[4] else results[0]


class _PreparedAttention:
    """Attention of arrays with fixed layouts, ready to launch with new addresses."""

    def __init__(self, made: HopperAttention, operands: AttentionOperands) -> None:
        self.number = number_of(operands.q)
        gpu, kernel = gpu_of(self.number), made.kernel
        self.made, self.gpu = made, gpu
        self.current, self.stream = current_of(operands.q.__class__), gpu.stream
        self.workspaces = workspaces_of(self.number)
        self.workspaces.prepare(0, 1)
        self.is_torch = is_torch_type(operands.q.__class__)
        made_out, made_lse = self._results(operands)
        whole = operands._replace(out=made_out, lse=made_lse)
        loaded, prefix = gpu.kernel(kernel.text, kernel.entry), f"{kernel.entry}_"
        used = made.addresses(whole, operands.q)
        self.names = [name for name, array in used.items() if array is not None]
        fixed = dict.fromkeys(used.keys() - set(self.names)) | made.numbers(whole)
        self.launch = loaded.prepare(
            grid=made.grid, block=made.block, shared=kernel.shared, programmatic=True,
            tensors={f"{prefix}{name}": each for name, each in made.tensor_maps(whole).items()},
            fixed={f"{prefix}{name}": value for name, value in fixed.items()},
        )  # fmt: skip

    def __call__(self, operands: AttentionOperands, both: bool) -> Any:
        """Launch on the current CUDA stream of the arrays' library. Return the results without waiting."""
        stream = self.stream if self.current is None else self.current(operands.q)
        out, lse = self._results(operands)
        whole = operands._replace(out=out, lse=lse)
        _, counter = self.workspaces.get(stream, 0, 1)
        used = self.made.addresses(whole, None)
        places = [self._address(each, stream) for each in (whole.q, whole.k, whole.v, whole.out)]
        places += [counter if name == "counter" else self._address(used[name], stream) for name in self.names]
        self.launch.at(tuple(places), stream)
        return (out, lse) if both else out

    def _results(self, operands: AttentionOperands) -> tuple[Any, Any]:
        """Return the arrays for O and the logarithms, which are new if none were given."""
        problem, like, out, lse = self.made.problem, operands.q, operands.out, operands.lse
        if out is None:
            out = empty_array(like, problem.shape, DTYPES[problem.type])
        if lse is None and problem.lse:
            lse = empty_array(like, problem.lse_shape, np.dtype(np.float32))
        return out, lse

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


_PREPARED: dict[tuple[Any, ...], _PreparedAttention] = {}
_MAX_PREPARED = 1024
