"""`attention`: softmax(scale Q K^T) V on a GPU, or on the CPU with the same bits."""

# Callers may pass objects of other types than annotated.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from warploom.diagnostics import UsageError
from warploom.gpu.arrays import as_numpy, is_foreign_type, is_on_gpu, number_of, signature
from warploom.kernels.ampere.attention_dispatch import warp_attention
from warploom.kernels.attention_launch import AttentionDispatch, PreparedAttention, run_on_numpy
from warploom.kernels.attention_problem import AttentionOperands, attention_problem, split_scales, window_of
from warploom.kernels.hopper.attention_dispatch import hopper_attention
from warploom.kernels.hopper.cost_model import H200
from warploom.kernels.hopper.plan import HOPPER
from warploom.kernels.plan import DTYPES
from warploom.kernels.prepared import gpu_of
from warploom.runtime.run import Run

Device = Literal["cpu", "cuda"]


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    window: tuple[int | None, int | None] = (None, None),
    scale: float | None = None,
    q_scale: Any = None,
    k_scale: Any = None,
    v_scale: Any = None,
    q_ends: Any = None,
    k_ends: Any = None,
    k_lengths: Any = None,
    table: Any = None,
    most_rows: int | None = None,
    return_lse: bool = False,
    out: Any = None,
    lse: Any = None,
    device: Device = "cuda",
    target: str = "",
) -> Any:
    """Return O = softmax(scale Q K^T) V. With `return_lse`, return O and the logarithms of the sums.

    Q, K and V are arrays of bf16, f16 or e4m3, of one library. PyTorch and CuPy arrays on a GPU are used in place.
    NumPy arrays are copied. With device="cpu" all arrays are NumPy arrays, and the result has the bits that the GPU
    returns. If Q has more heads than K and V, neighbouring heads of Q share a head of K and V. `scale` is
    1 / sqrt(head size) by default.

    Arrays of e4m3 need sm_90a. Their elements are multiplied by `q_scale`, `k_scale` and `v_scale`. Each scale is a
    number above 0, or an array with such a number for each sequence and head of K.

    The last row of Q is aligned with the last key: row i has its diagonal at key i + keys - tokens. `window` is a pair
    (left, right): a row attends to at most `left` keys before its diagonal and at most `right` keys after it. None is
    no limit. `causal` sets `right` to 0. A row without keys becomes 0, and its logarithm minus infinity.

    Sequences of different lengths are padded or packed. `k_lengths` has the number of keys of each sequence of padded
    arrays. `q_ends` and `k_ends` have the end of each sequence in packed arrays, which have no batch axis. If `q_ends`
    is on a GPU, `most_rows` is the number of rows of the longest sequence. Without it, each sequence gets tiles for all
    rows of Q, and the kernel skips tiles without rows. K and V may be pages of a cache, for few tokens of Q. `table`
    then has the numbers of the pages of each sequence.

    `out` is the array for O, and `lse` the array for the logarithms. Without `out`, O is a new array of the type of Q,
    or of bf16 if Q is e4m3. With e4m3, `out` may also be f16.

    `target` selects the kernel. The default is the target of the GPU, and sm_90a with device="cpu". The kernels of
    sm_90a use wgmma. The kernel of all other targets from sm_80 on uses mma.

    Shapes: q (batch, tokens, heads, head size), k and v (batch, keys, heads of K, head size), O like q with the head
        size of v, logarithms (batch, heads, tokens) in f32. Packed: the same without batch. Pages: k and v (pages, keys
        of a page, heads of K, head size), table (batch, pages of a sequence), int32. q_ends, k_ends, k_lengths
        (batch,), int32. q_scale, k_scale, v_scale (batch, heads of K), f32, with the same strides. Head sizes are
        multiples of 8 up to 256, and of 16 for e4m3.
    Errors: UsageError kernels.*, gpu.*.
    """
    scales, numbers = split_scales({"q_scale": q_scale, "k_scale": k_scale, "v_scale": v_scale})
    operands = AttentionOperands(q, k, v, out, lse, q_ends, k_ends, k_lengths, table, **scales)
    options = causal, window, scale, most_rows, return_lse, target, numbers
    if device != "cuda" or not is_foreign_type(q.__class__) or not is_on_gpu(q):
        return run_attention(operands, options, device)
    key = options, *[None if array is None else signature(array) for array in operands]
    ready = _PREPARED.get(key)
    if ready is None:
        gpu = gpu_of(number_of(q))
        made = plan_attention(operands, options, gpu.arch, gpu.multiprocessors)
        ready = PreparedAttention(made, operands)
        if len(_PREPARED) >= _MAX_PREPARED:
            _PREPARED.clear()
        _PREPARED[key] = ready
    found = ready(operands)
    return (found.out, found.lse) if return_lse else found.out


def plan_attention(
    operands: AttentionOperands, options: tuple[Any, ...], arch: str, multiprocessors: int
) -> AttentionDispatch:
    """Check arrays and options, and return the launches that compute attention, without running them.

    A launch is a kernel with its tile sizes, its grid and its arguments.

    Errors: UsageError kernels.*, check.target.

    `options` are causal, window, scale, most_rows, return_lse and target of `attention`, and the numbers of the scales
    of Q, K and V.
    """
    causal, window, scale, most_rows, return_lse, target, scales = options
    limits = window_of(window, causal=causal)
    if not isinstance(target, str):
        raise UsageError(f"target is {target!r}; expected a name such as sm_90a", code="kernels.option")
    problem = attention_problem(
        operands, scale=scale, window=limits, most_rows=most_rows, lse=return_lse, scales=scales
    )
    target = target or arch
    if problem.type == "e4m3" and target != HOPPER:
        raise UsageError(f"no e4m3 attention kernel for {target}; expected {HOPPER}", code="kernels.target")
    return hopper_attention(problem, multiprocessors) if target == HOPPER else warp_attention(problem, target)


def run_attention(
    operands: AttentionOperands,
    options: tuple[Any, ...],
    device: Device,
    multiprocessors: int = 0,
    start: Callable[..., Run] | None = None,
) -> Any:
    """Compute attention for NumPy arrays.

    `options` are those of `plan_attention`. `start` is called instead of `launch`, with the same arguments. A caller
    can thus add options, for example the sanitizer. The launches are those for a GPU with `multiprocessors`
    multiprocessors, or for the given device if this number is 0.

    Errors: UsageError kernels.*, gpu.*.
    """
    given = operands
    operands = AttentionOperands(*[as_numpy(each) if is_foreign_type(each.__class__) else each for each in operands])
    gpu = gpu_of(0) if device == "cuda" else None
    arch, available = (gpu.arch, gpu.multiprocessors) if gpu else (HOPPER, H200.multiprocessors)
    made = plan_attention(operands, options, arch, multiprocessors or available)
    problem = made.problem
    out = np.zeros(problem.shape, DTYPES[problem.result]) if operands.out is None else operands.out
    lse = np.zeros(problem.lse_shape, np.float32) if operands.lse is None and problem.lse else operands.lse
    run_on_numpy(made, operands._replace(out=out, lse=lse), device, start)
    results = [out if theirs is None else theirs for out, theirs in ((out, given.out), (lse, given.lse))]
    return tuple(results) if options[4] else results[0]


_PREPARED: dict[tuple[Any, ...], PreparedAttention] = {}
_MAX_PREPARED = 1024
