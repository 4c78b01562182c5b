"""Input arrays of a case, inside larger arrays of NaNs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from warploom.kernels.attention_problem import AttentionOperands
from warploom.kernels.plan import ALIGNMENT, DTYPES
from warploom_lab.attention.case import Case
from warploom_lab.problems.results import Array, described_digest, filled, written_outside

_SHARP = 4.0  # factor of Q and K that makes scores of some hundreds
_TINY = {"bf16": 2.0**-18, "f16": 2.0**-18, "e4m3": 2.0**-8}  # factors that make most numbers subnormal, but in bf16
_LARGEST_E4M3 = 448.0


@dataclass(frozen=True, slots=True)
class Given:
    """Array for a result, inside a larger array `memory`. `inside` is True at the elements of the result."""

    array: Array
    memory: Array
    before: Array  # content of `memory` before the launch
    inside: Array

    def written_outside(self, name: str) -> str:
        """Return a message about elements outside the result `name` that the kernel wrote, or ""."""
        return written_outside(self.memory, self.before, self.inside, name)


@dataclass(frozen=True, slots=True)
class Inputs:
    """Arrays of one case.

    `results` has the arrays for results by name, without those that the call allocates. `do` is the gradient of O.
    """

    operands: AttentionOperands
    results: dict[str, Given]
    do: Array | None

    @property
    def digest(self) -> str:
        """SHA-256 of the elements of all input arrays."""
        return described_digest({**self.operands._asdict(), "do": self.do})


@dataclass(frozen=True, slots=True)
class Span:
    """Sequence of a case: its index in the batch, and its tokens and keys in the arrays."""

    index: int
    tokens: slice
    keys: slice

    def of_q(self, array: Array, *, packed: bool) -> Array:
        """Return the rows of an array with the layout of Q or O."""
        return array[self.tokens] if packed else array[self.index, self.tokens]

    def of_k(self, array: Array, *, packed: bool) -> Array:
        """Return the rows of an array with the layout of K or V without pages."""
        return array[self.keys] if packed else array[self.index, self.keys]

    def of_lse(self, array: Array, *, packed: bool) -> Array:
        """Return the logarithms of the sequence by head and token."""
        return array[:, self.tokens] if packed else array[self.index, :, self.tokens]


def spans(case: Case) -> Iterator[Span]:
    """Return an iterator over the sequences of a case."""
    end_q = end_k = 0
    for index, (tokens, keys) in enumerate(zip(case.tokens, case.keys, strict=True)):
        if case.packed:
            end_q, end_k = end_q + tokens, end_k + keys
            yield Span(index, slice(end_q - tokens, end_q), slice(end_k - keys, end_k))
        else:
            yield Span(index, slice(0, tokens), slice(0, keys))


def keys_of(case: Case, operands: AttentionOperands, span: Span) -> tuple[Array, Array]:
    """Return K and V of a sequence."""
    if not case.page:
        return span.of_k(operands.k, packed=case.packed), span.of_k(operands.v, packed=case.packed)
    pages = operands.table[span.index]
    k, v = (each[pages].reshape(-1, *each.shape[2:])[span.keys] for each in (operands.k, operands.v))
    return k, v


def make_inputs(case: Case) -> Inputs:
    """Return the input arrays of a case.

    Memory that belongs to no sequence contains NaNs. For gradients of packed sequences, Q and dO have zeros there.
    """
    draw = np.random.default_rng([case.seed, case.number])
    dtype = DTYPES[case.type]
    count = len(case.tokens)
    batch = () if case.packed else (count,)
    table = None
    planes = (*batch, case.k_tokens)
    if case.page:
        pages = case.k_tokens // case.page
        table = draw.permutation(count * pages + 1)[: count * pages].astype(np.int32).reshape(count, pages)
        planes = count * pages + 1, case.page
    shapes = (
        (*batch, case.q_tokens, case.heads, case.head), (*planes, case.heads_kv, case.head),
        (*planes, case.heads_kv, case.head_v),
    )  # fmt: skip
    if case.storage == "fused":
        whole = filled((*batch, case.q_tokens, case.heads + 2 * case.heads_kv, case.head), dtype)
        q, k, v = np.split(whole, [case.heads, case.heads + case.heads_kv], axis=-2)
    else:
        q, k, v = (_placed(shape, dtype, case.storage)[0] for shape in shapes)
    lengths = np.array(case.keys, np.int32) if case.lengths else None
    ends = [np.cumsum(each).astype(np.int32) if case.packed else None for each in (case.tokens, case.keys)]
    operands = AttentionOperands(q, k, v, None, None, ends[0], ends[1], lengths, table, *_factor_arrays(case))
    do = _placed((*shapes[0][:-1], case.head_v), dtype, case.storage)[0] if case.gradients else None
    if do is not None and case.packed:
        # Gradients do not support NaNs in rows of Q and dO that follow the last packed sequence.
        q[...] = do[...] = 0
    for span in spans(case):
        _fill(case, operands, do, span, draw)
    return Inputs(operands, _results(case, operands), do)


def _fill(case: Case, operands: AttentionOperands, do: Array | None, span: Span, draw: np.random.Generator) -> None:
    """Write random elements of a sequence."""
    q = span.of_q(operands.q, packed=case.packed)
    q[...] = _values(draw, case, q.shape, "q")
    count = span.keys.stop - span.keys.start
    k, v = (
        _values(draw, case, (count, case.heads_kv, size), name) for name, size in (("k", case.head), ("v", case.head_v))
    )
    for array, values in ((operands.k, k), (operands.v, v)):
        if case.page:
            pages = operands.table[span.index]
            for first in range(0, count, case.page):
                part = values[first : first + case.page]
                array[pages[first // case.page], : len(part)] = part
        else:
            span.of_k(array, packed=case.packed)[...] = values
    if do is not None:
        span.of_q(do, packed=case.packed)[...] = draw.standard_normal((len(q), case.heads, case.head_v), np.float32)


def _values(draw: np.random.Generator, case: Case, shape: tuple[int, ...], name: str) -> Array:
    """Return random elements of the operand `name`, with the shape (rows, heads, head size)."""
    values = draw.standard_normal(shape, np.float32)
    kind = case.values
    if kind == "large":
        values *= _SHARP if name in "qk" else 100.0
    elif kind == "tiny":
        values *= 1.0 if name == "q" else _TINY[case.type]
    elif kind == "one-hot" and name in "qk":
        place = draw.integers(0, shape[-1], shape[:-1])
        values = (np.arange(shape[-1]) == place[..., None]) * np.float32(8)
    elif kind == "equal" and name in "kv":
        values = np.broadcast_to(values[:1], shape) if len(values) else values
    elif kind == "graded" and name == "k":
        values *= np.linspace(0, 4, shape[0], dtype=np.float32)[:, None, None]
    return np.clip(values, -_LARGEST_E4M3, _LARGEST_E4M3) if case.type == "e4m3" else values


def _factor_arrays(case: Case) -> Iterator[Array | None]:
    """Return the arrays of scale factors of Q, K and V, or None.

    Shape: (sequences, heads of K), with contiguous sequences.
    """
    draw = np.random.default_rng([case.seed, case.number, 1])
    for name, factor in zip("qkv", case.factors, strict=True):
        if name in case.factor_arrays:
            yield (factor * draw.uniform(0.5, 1.5, (case.heads_kv, len(case.tokens)))).astype(np.float32).T
        else:
            yield None


def _results(case: Case, operands: AttentionOperands) -> dict[str, Given]:
    """Return the arrays for results by name."""
    given: dict[str, Given] = {}
    if case.out is not None:
        dtype = DTYPES[case.result_type]
        q, k, v = (each.shape for each in operands[:3])
        shapes = {"dq": q, "dk": k, "dv": v} if case.gradients else {"o": (*q[:-1], case.head_v)}
        for name, shape in shapes.items():
            array, memory = _placed(shape, dtype, case.out)
            inside = np.zeros(memory.size, bool)
            start = (array.ctypes.data - memory.ctypes.data) // dtype.itemsize
            strides = tuple(step // dtype.itemsize for step in array.strides)
            np.lib.stride_tricks.as_strided(inside[start:], array.shape, strides)[...] = True
            given[name] = Given(array, memory, memory.copy(), inside.reshape(memory.shape))
    if case.lse == "given" and not case.gradients:
        batch = () if case.packed else (len(case.tokens),)
        lse = filled((*batch, case.heads, case.q_tokens), np.dtype(np.float32))
        given["lse"] = Given(lse, lse, lse.copy(), np.ones(lse.shape, bool))
    return given


def _placed(shape: tuple[int, ...], dtype: np.dtype[Any], storage: str) -> tuple[Array, Array]:
    """Return an array of NaNs with the storage `storage`, and the memory around it."""
    *batch, tokens, heads, head = shape
    if storage == "wide":
        unit = ALIGNMENT // dtype.itemsize
        memory = filled((*batch, tokens + 3, heads + 1, head + 2 * unit), dtype)
        return memory[..., 2 : 2 + tokens, :heads, unit : unit + head], memory
    if storage == "heads":
        memory = filled((*batch, heads, tokens, head), dtype)
        return memory.swapaxes(-2, -3), memory
    if storage == "tokens" and batch:
        memory = filled((tokens, *batch, heads, head), dtype)
        return memory.swapaxes(0, 1), memory
    memory = filled(shape, dtype)
    return memory, memory
