"""`attention_backward`: the gradients of attention on a GPU, or on the CPU."""

# Callers may pass objects of other types than annotated.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

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
from warploom.kernels.attention_api import Device
from warploom.kernels.attention_launch import empty_array, flat
from warploom.kernels.attention_problem import AttentionOperands, attention_problem, check_array, window_of
from warploom.kernels.hopper.backward_dispatch import HopperBackward
from warploom.kernels.hopper.plan import HOPPER
from warploom.kernels.plan import DTYPES
from warploom.kernels.prepared import gpu_of
from warploom.runtime.api import launch
from warploom.runtime.run import Run

_TARGETS = {HOPPER: HopperBackward}
_PARTS = "sums", "terms", "turns"  # of the workspace


class BackwardOperands(NamedTuple):
    """Arrays of a call. An absent array is None.

    `k_ends` has the ends of packed sequences, and `k_lengths` the lengths of padded ones.
    """

    do: Any
    q: Any
    k: Any
    v: Any
    o: Any
    lse: Any
    q_ends: Any
    k_ends: Any
    k_lengths: Any
    dq: Any
    dk: Any
    dv: Any


def attention_backward(
    do: Any,
    q: Any,
    k: Any,
    v: Any,
    o: Any,
    lse: Any,
    *,
    causal: bool = False,
    window: tuple[int | None, int | None] = (None, None),
    scale: float | None = None,
    q_ends: Any = None,
    k_ends: Any = None,
    k_lengths: Any = None,
    deterministic: bool = False,
    dq: Any = None,
    dk: Any = None,
    dv: Any = None,
    device: Device = "cuda",
    target: str = "",
) -> tuple[Any, Any, Any]:
    """Return dQ, dK and dV, the gradients of attention for the gradient `do` of O.

    `o` and `lse` are the results of `attention(q, k, v, return_lse=True)` with the same options. If several heads of Q
    share a head of K and V, dK and dV are sums over these heads. Keys after `k_lengths` have gradients of 0. The
    results are `dq`, `dk` and `dv` if these arrays are given.

    The CTAs add their parts of dQ in f32. The order of these additions varies, and with it the last bits of dQ. With
    `deterministic`, the order is fixed, and the call takes longer.

    Shapes: do and o like the result of `attention`, lse (batch, heads, tokens) or (heads, tokens) in f32, dq like q,
        dk like k, dv like v. Head size: 64 or 128. Errors: UsageError kernels.*, gpu.*.
    """
    operands = BackwardOperands(do, q, k, v, o, lse, q_ends, k_ends, k_lengths, dq, dk, dv)
    options = causal, window, scale, deterministic, target
    if device != "cuda" or not is_foreign_type(q.__class__) or not is_on_gpu(q):
        return run_backward(operands, options, device)
    key = options, *[None if array is None else signature(array) for array in operands]
    ready = _PREPARED.get(key)
    if ready is None:
        ready = _PreparedBackward(_plan(operands, options, gpu_of(number_of(q)).arch), operands)
        if len(_PREPARED) >= _MAX_PREPARED:
            _PREPARED.clear()
        _PREPARED[key] = ready
    return ready(operands)


def _plan(operands: BackwardOperands, options: tuple[Any, ...], arch: str) -> HopperBackward:
    """Return the launches for arrays and options. Errors: UsageError kernels.*."""
    causal, window, scale, deterministic, target = options
    limits = window_of(window, causal=causal)
    kind = _TARGETS.get(target or arch)
    if kind is None:
        message = f"no kernel for the gradients of attention for {target or arch}; expected {' or '.join(_TARGETS)}"
        raise UsageError(message, code="kernels.target", hint="`target` selects another kernel with device='cpu'")
    forward = AttentionOperands(
        operands.q, operands.k, operands.v,
        q_ends=operands.q_ends, k_ends=operands.k_ends, k_lengths=operands.k_lengths,
    )  # fmt: skip
    problem = attention_problem(forward, scale=scale, window=limits, most_rows=None, lse=True)
    if problem.type == "e4m3":
        raise UsageError("Q, K and V are e4m3; expected bf16 or f16 for gradients", code="kernels.type")
    made = kind.of(problem, deterministic=bool(deterministic))
    dtype = DTYPES[problem.type]
    for name in ("do", "o", "lse"):
        if getattr(operands, name) is None:
            raise UsageError(f"{name} is None; expected an array", code="kernels.type")
    shapes = {"do": problem.shape, "o": problem.shape} | {f"d{name}": getattr(operands, name).shape for name in "qkv"}
    for name, shape in shapes.items():
        check_array(name, getattr(operands, name), tuple(shape), dtype)
    check_array("lse", operands.lse, problem.lse_shape, np.dtype(np.float32))
    return made


def _arrays(made: HopperBackward, operands: BackwardOperands, workspace: Any) -> dict[str, Any]:
    """Return the arrays of the launches by name."""
    sums, terms, _ = made.workspace
    parts = workspace[:sums], workspace[sums : sums + terms], workspace[sums + terms :]
    arrays = operands._asdict() | dict(zip(_PARTS, parts, strict=True))
    if made.problem.lengths:
        arrays["k_ends"] = operands.k_lengths
    return arrays


def run_backward(
    operands: BackwardOperands, options: tuple[Any, ...], device: Device, start: Callable[..., Run] | None = None
) -> tuple[Any, Any, Any]:
    """Return the gradients of attention for NumPy arrays.

    `options` are causal, window, scale, deterministic and target of `attention_backward`. `start` is called instead of
    `launch`, with the same arguments.

    Errors: UsageError kernels.*, gpu.*.
    """
    given = operands
    operands = BackwardOperands(*[as_numpy(each) if is_foreign_type(each.__class__) else each for each in operands])
    made = _plan(operands, options, gpu_of(0).arch if device == "cuda" else HOPPER)
    dtype = DTYPES[made.problem.type]
    new = {
        name: np.zeros(like.shape, dtype)
        for name, like in (("dq", operands.q), ("dk", operands.k), ("dv", operands.v))
        if getattr(operands, name) is None
    }
    operands = operands._replace(**new)
    arrays = _arrays(made, operands, np.zeros(sum(made.workspace), np.float32))
    run = start or launch
    for step in made.steps(arrays):
        values = {name: None if source is None else flat(arrays[source]) for name, source in step.arrays.items()}
        values |= step.tensor_maps(arrays, packed=made.problem.packed) | step.numbers
        arguments = [values[name] for name in step.parameters]
        run(step.kernel, grid=step.grid, block=step.block, args=arguments, device=device)
    dq, dk, dv = (
        ours if theirs is None else theirs
        for ours, theirs in ((operands.dq, given.dq), (operands.dk, given.dk), (operands.dv, given.dv))
    )
    return dq, dk, dv


class _PreparedBackward:
    """Gradients of attention for arrays with fixed layouts, ready to launch with new addresses."""

    def __init__(self, made: HopperBackward, operands: BackwardOperands) -> None:
        self.number = number_of(operands.q)
        self.made, self.gpu = made, gpu_of(self.number)
        self.current, self.stream = current_of(operands.q.__class__), self.gpu.stream
        self.is_torch = is_torch_type(operands.q.__class__)
        arrays = self._complete(operands)
        self.launches: list[tuple[Any, list[str]]] = []
        for step in made.steps(arrays):
            kernel, prefix = step.kernel, f"{step.kernel.entry}_"
            fixed = dict.fromkeys(name for name, source in step.arrays.items() if source is None) | step.numbers
            ready = self.gpu.kernel(kernel.text, kernel.entry).prepare(
                grid=step.grid, block=step.block, shared=kernel.shared, programmatic=True,
                tensors={
                    f"{prefix}{name}": each
                    for name, each in step.tensor_maps(arrays, packed=made.problem.packed).items()
                },
                fixed={f"{prefix}{name}": value for name, value in fixed.items()},
            )  # fmt: skip
            sources = [step.arrays.get(name) or name for name in step.parameters if name not in fixed]
            self.launches.append((ready, sources))
        self.used = sorted({source for _, sources in self.launches for source in sources})

    def __call__(self, operands: BackwardOperands) -> tuple[Any, Any, Any]:
        """Launch on the current CUDA stream of the arrays' library. Return the results without waiting."""
        stream = self.stream if self.current is None else self.current(operands.q)
        arrays = self._complete(operands)
        places = {name: self._address(arrays[name], stream) for name in self.used}
        for ready, sources in self.launches:
            ready.at(tuple(places[name] for name in sources), stream)
        return arrays["dq"], arrays["dk"], arrays["dv"]

    def _complete(self, operands: BackwardOperands) -> dict[str, Any]:
        """Return the arrays of the launches by name. Results and workspace are new if they were not given."""
        problem, like = self.made.problem, operands.q
        dtype = DTYPES[problem.type]
        results = {
            f"d{name}": empty_array(like, tuple(getattr(operands, name).shape), dtype)
            for name in "qkv"
            if getattr(operands, f"d{name}") is None
        }
        workspace = empty_array(like, (sum(self.made.workspace),), np.dtype(np.float32))
        return _arrays(self.made, operands._replace(**results), workspace)

    def _address(self, array: Any, stream: int) -> int:
        if self.is_torch and is_torch_type(array.__class__):
            return array.data_ptr()
        return self.gpu.locate(array, UNORDERED if current_of(array.__class__) is not None else stream)


_PREPARED: dict[tuple[Any, ...], _PreparedBackward] = {}
_MAX_PREPARED = 1024
