"""Sizes, types and masks of an attention problem, which its arrays and options determine."""

# Callers may pass objects of other types than annotated.
# pyright: reportUnnecessaryIsInstance=false

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from warploom.diagnostics import UsageError
from warploom.gpu.arrays import is_on_gpu
from warploom.kernels.plan import ALIGNMENT, DTYPES
from warploom.kernels.problem import array_error
from warploom.layout import strided

_TYPES = {DTYPES[word].name: word for word in ("bf16", "f16", "e4m3")}
_RESULTS = {"bf16": ("bf16",), "f16": ("f16",), "e4m3": ("bf16", "f16")}  # types that O may have, the default first
_WIDEST_HEAD = 256
_MAX_TOKENS = 1 << 30
_SMALLEST_PAGE = 8


class AttentionOperands(NamedTuple):
    """Arrays of an attention problem. An absent array is None."""

    q: Any
    k: Any
    v: Any
    out: Any = None
    lse: Any = None
    q_ends: Any = None
    k_ends: Any = None
    k_lengths: Any = None
    table: Any = None
    q_scale: Any = None
    k_scale: Any = None
    v_scale: Any = None


@dataclass(frozen=True, slots=True)
class Window:
    """Keys to which a row attends: at most `left` before its diagonal, and at most `right` after it.

    None is no limit. The diagonal of the last row is the last key.
    """

    left: int | None = None
    right: int | None = None


@dataclass(frozen=True, slots=True)
class AttentionProblem:
    """Sizes, types and masks of an attention problem.

    `batch` is the number of sequences. `q_tokens` and `k_tokens` are the extents of the axes of tokens. If `packed`,
    the sequences lie one after another along these axes, and the longest Q has at most `most_rows` rows. If `lengths`,
    each sequence of K has its own length. Pages of K and V have `page` keys; `page` is 0 without pages.

    `result` is the type of O. O is multiplied by `v_scale`. The arrays of scales among the operands have the strides
    `scale_strides` along the batch and the heads, in elements; without arrays it is None.
    """

    type: str
    batch: int
    q_tokens: int
    k_tokens: int
    most_rows: int
    heads: int
    heads_kv: int
    head: int
    head_v: int
    scale: float
    window: Window = Window()
    packed: bool = False
    lengths: bool = False
    lse: bool = False
    page: int = 0
    result: str = "bf16"
    v_scale: float = 1.0
    scale_strides: tuple[int, int] | None = None

    @property
    def sharing(self) -> int:
        """Number of heads of Q that share a head of K and V."""
        return self.heads // self.heads_kv

    @property
    def plan_fields(self) -> dict[str, Any]:
        """Masks and options as keyword arguments of `AttentionShape`, and the type of O."""
        return {
            "right": self.window.right is not None, "left": self.window.left is not None, "packed": self.packed,
            "lengths": self.lengths, "lse": self.lse, "result": self.result,
        }  # fmt: skip

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of O."""
        plane = (self.q_tokens, self.heads, self.head_v)
        return plane if self.packed else (self.batch, *plane)

    @property
    def lse_shape(self) -> tuple[int, ...]:
        """Shape of the logarithms of the sums."""
        return (self.heads, self.q_tokens) if self.packed else (self.batch, self.heads, self.q_tokens)


def window_of(window: object, *, causal: bool) -> Window:
    """Return the window of a pair (left, right) and of the option `causal`.

    Errors: UsageError kernels.option.
    """
    if not isinstance(window, tuple) or len(limits := cast("tuple[Any, ...]", window)) != 2:
        raise UsageError(f"window is {window!r}; expected a pair (left, right)", code="kernels.option")
    return Window(limits[0], 0 if causal else limits[1])


def split_scales(scales: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[float, ...]]:
    """Return the scales that are arrays by name, and a number for each scale.

    The number is 1 for an array and for None.

    Errors: UsageError kernels.option.
    """
    arrays = {name: each for name, each in scales.items() if getattr(each, "shape", ())}
    numbers = [1.0 if each is None or name in arrays else each for name, each in scales.items()]
    for name, each in zip(scales, numbers, strict=True):
        _check_scale(name, each)
    return arrays, tuple(map(float, numbers))


def _check_scale(name: str, scale: Any) -> None:
    if not (isinstance(scale, (int, float, np.number)) and 0 < scale < np.inf):
        raise UsageError(f"{name} is {scale!r}; expected a finite number above 0", code="kernels.option")


def attention_problem(
    operands: AttentionOperands,
    *,
    scale: float | None,
    window: Window,
    most_rows: int | None,
    lse: bool,
    scales: tuple[float, ...] = (1.0, 1.0, 1.0),
) -> AttentionProblem:
    """Return the problem of arrays and options. `scales` are the numbers of the scales of Q, K and V.

    Errors: UsageError kernels.shape, kernels.type, kernels.layout, kernels.option, kernels.ends.
    """
    packed = operands.q_ends is not None
    if packed != (operands.k_ends is not None):
        raise UsageError("only one of q_ends and k_ends is given; expected both or neither", code="kernels.option")
    if packed and operands.k_lengths is not None:
        raise UsageError("k_lengths and k_ends exclude each other; expected one of them", code="kernels.option")
    table = operands.table
    if table is not None and operands.k_lengths is None:
        raise UsageError(
            "table is given without k_lengths; expected the number of keys of each sequence", code="kernels.option"
        )
    rank = 3 if packed else 4
    axes = "(tokens, heads, head size)" if packed else "(batch, tokens, heads, head size)"
    named = {"q": operands.q, "k": operands.k, "v": operands.v}
    for name, array in named.items():
        if not hasattr(array, "shape"):
            raise UsageError(f"{name} is {array!r}; expected an array", code="kernels.type")
        if len(array.shape) != rank or 0 in tuple(array.shape):
            message = f"{name} has shape {tuple(array.shape)}; expected {axes}, all above 0"
            raise UsageError(message, code="kernels.shape")
        _check_rows(name, array)
    q, k, v = (strided(each) for each in named.values())
    if len({each.dtype for each in (q, k, v)}) > 1 or q.dtype.name not in _TYPES:
        found = ", ".join(f"{name} {strided(each).dtype}" for name, each in named.items())
        raise UsageError(f"the types are {found}; expected {' or '.join(_TYPES)} for all", code="kernels.type")
    other_batch = q.shape[0] != k.shape[0] and not packed and table is None
    if k.shape[:-1] != v.shape[:-1] or other_batch or q.shape[-1] != k.shape[-1]:
        shapes = ", ".join(f"{name} {tuple(each.shape)}" for name, each in named.items())
        expected = "one batch, K and V with the same tokens and heads, and Q and K with the same head size"
        raise UsageError(f"the shapes are {shapes}; expected {expected}", code="kernels.shape")
    heads, heads_kv, head, head_v = q.shape[-2], k.shape[-2], q.shape[-1], v.shape[-1]
    if heads % heads_kv:
        message = f"Q has {heads} heads and K has {heads_kv}; expected a multiple of the heads of K"
        raise UsageError(message, code="kernels.shape")
    unit = ALIGNMENT // q.dtype.itemsize
    if head % unit or head_v % unit or max(head, head_v) > _WIDEST_HEAD:
        message = f"the head sizes are {head} and {head_v}; expected multiples of {unit} up to {_WIDEST_HEAD}"
        raise UsageError(message, code="kernels.shape")
    batch = int(operands.q_ends.shape[0]) if packed else q.shape[0]
    page = 0 if table is None else k.shape[1]
    k_tokens = k.shape[-3] if table is None else _paged_tokens(table, batch, page, operands.q)
    for name, array, total in (
        ("q_ends", operands.q_ends, q.shape[-3]), ("k_ends", operands.k_ends, k_tokens),
        ("k_lengths", operands.k_lengths, k_tokens),
    ):  # fmt: skip
        if array is not None:
            _check_lengths(name, array, batch, total, operands.q)
    options: dict[str, Any] = {"left": window.left, "right": window.right, "most_rows": most_rows}
    for name, value in options.items():
        if value is not None and not (isinstance(value, int) and 0 <= value < _MAX_TOKENS):
            message = f"{name} is {value!r}; expected an integer from 0 to {_MAX_TOKENS - 1}"
            raise UsageError(message, code="kernels.option")
    if scale is not None:
        _check_scale("scale", scale)
    word = _TYPES[q.dtype.name]
    problem = AttentionProblem(
        word, batch, q.shape[-3], k_tokens, _longest(operands.q_ends, q.shape[-3], most_rows), heads, heads_kv, head,
        head_v, (head**-0.5 if scale is None else float(scale)) * scales[0] * scales[1], window, packed,
        operands.k_lengths is not None, lse or operands.lse is not None, page, _result_of(word, operands.out),
        scales[2], _scale_strides(operands, word, scales, (batch, heads_kv)),
    )  # fmt: skip
    check_array("out", operands.out, problem.shape, DTYPES[problem.result])
    check_array("lse", operands.lse, problem.lse_shape, np.dtype(np.float32))
    return problem


def _result_of(type: str, out: Any) -> str:
    """Return the type of O: the type of `out` if O may have this type, otherwise the default."""
    fitting = [each for each in _RESULTS[type] if out is not None and DTYPES[each] == getattr(out, "dtype", None)]
    return (fitting or _RESULTS[type])[0]


def _scale_strides(
    operands: AttentionOperands, type: str, numbers: tuple[float, ...], shape: tuple[int, int]
) -> tuple[int, int] | None:
    """Return the common strides of the arrays of scales in elements, or None without arrays.

    Errors: UsageError kernels.type, kernels.layout, kernels.ends.
    """
    found: set[tuple[int, ...]] = set()
    for name in ("q_scale", "k_scale", "v_scale"):
        array = getattr(operands, name)
        if array is None:
            continue
        layout = strided(array)
        if layout.shape != shape or layout.dtype != np.float32 or any(step < 0 or step % 4 for step in layout.strides):
            raise array_error(name, layout, f"float32 of shape {shape}, sequences and heads of K")
        if is_on_gpu(array) != is_on_gpu(operands.q):
            raise UsageError(f"{name} and Q are on different devices; expected the same device", code="kernels.ends")
        found.add(tuple(step // 4 for step in layout.strides))
    if len(found) > 1:
        message = f"the arrays of scales have the strides {sorted(found)} in elements; expected the same strides"
        raise UsageError(message, code="kernels.layout")
    if type != "e4m3" and (found or any(each != 1 for each in numbers)):
        message = f"q_scale, k_scale or v_scale is given for elements of {DTYPES[type].name}; expected float8_e4m3fn"
        raise UsageError(message, code="kernels.option")
    return cast("tuple[int, int]", found.pop()) if found else None


def _check_rows(name: str, array: Any) -> None:
    layout = strided(array)
    aligned = all(step > 0 and step % ALIGNMENT == 0 for step in layout.strides[:-1])
    if layout.strides[-1] != layout.itemsize or not aligned:
        expected = f"contiguous heads, and positive strides of the other axes that are multiples of {ALIGNMENT} bytes"
        raise array_error(name, layout, expected)


def _check_lengths(name: str, array: Any, batch: int, total: int, q: Any) -> None:
    layout = strided(array)
    if layout.shape != (batch,) or layout.dtype != np.int32 or not layout.is_contiguous:
        raise array_error(name, layout, f"{batch} contiguous numbers of int32", "kernels.shape")
    if is_on_gpu(array) != is_on_gpu(q):
        raise UsageError(f"{name} and Q are on different devices; expected the same device", code="kernels.ends")
    if is_on_gpu(array):
        return
    numbers = np.asarray(array, np.int64)
    steps = numbers if name == "k_lengths" else np.diff(numbers, prepend=0)
    if np.any(steps < 0) or np.any(numbers > total):
        rule = f"from 0 to {total}" if name == "k_lengths" else f"that ascend from 0 to at most {total}"
        raise UsageError(f"{name} has other numbers than those {rule}, the tokens of the array", code="kernels.ends")


def _paged_tokens(table: Any, batch: int, page: int, q: Any) -> int:
    """Return the number of keys in the pages of a sequence.

    Errors: UsageError kernels.shape, kernels.ends.
    """
    layout = strided(table)
    if layout.ndim != 2 or layout.shape[0] != batch or layout.dtype != np.int32 or not layout.is_contiguous:
        raise array_error("table", layout, f"contiguous int32 of shape ({batch}, pages)", "kernels.shape")
    if is_on_gpu(table) != is_on_gpu(q):
        raise UsageError("table and Q are on different devices; expected the same device", code="kernels.ends")
    if page & (page - 1) or page < _SMALLEST_PAGE:
        message = f"a page of K has {page} keys; expected a power of two from {_SMALLEST_PAGE} on"
        raise UsageError(message, code="kernels.shape")
    return layout.shape[1] * page


def _longest(q_ends: Any, tokens: int, most_rows: int | None) -> int:
    """Return the number of rows of the longest sequence of Q, or a bound on it."""
    if q_ends is None or is_on_gpu(q_ends):
        return tokens if most_rows is None or q_ends is None else min(most_rows, tokens)
    return max(1, int(np.diff(np.asarray(q_ends, np.int64), prepend=0).max()))


def check_array(name: str, array: Any, shape: tuple[int, ...], dtype: Any) -> None:
    """Refuse an array with another shape, type or layout than required. None is no array.

    Errors: UsageError kernels.type, kernels.layout.
    """
    if array is None:
        return
    if not hasattr(array, "shape"):
        raise UsageError(f"{name} is {array!r}; expected an array", code="kernels.type")
    layout = strided(array)
    if layout.shape != shape or layout.dtype != dtype:
        raise array_error(name, layout, f"{dtype} of shape {shape}")
    if name != "lse":
        _check_rows(name, array)
    elif not layout.is_contiguous:
        raise array_error(name, layout, "contiguous elements")
