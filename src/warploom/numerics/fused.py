"""Matrix multiplication with the bits of the GPU's matrix units, for batches of equal instructions.

`spec` defines the results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from warploom.numerics import chains, fused_exact, fused_fast
from warploom.numerics.chains import Rounding
from warploom.numerics.formats import F16, FORMATS, STORAGE, Array, translation
from warploom.numerics.models import Model, Sum

if TYPE_CHECKING:
    from concurrent.futures import Executor

_PRODUCTS_PER_THREAD = 1 << 18
"""Number of products from which on a further thread saves time."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Thread pool. One call may use `count` of its threads."""

    pool: Executor
    count: int


def shares(workers: Workers | None, groups: int, products: int) -> list[slice]:
    """Divide `groups` instructions into ranges, one for each thread to use.

    `products` is the number of products of all instructions. With few products, few threads are used.
    """
    count = 1 if workers is None else max(1, min(workers.count, groups, products // _PRODUCTS_PER_THREAD))
    edges = [groups * i // count for i in range(count + 1)]
    return [slice(*pair) for pair in pairwise(edges)]


@dataclass(slots=True)
class _Operands:
    """Arrays of `multiply`, or the parts of them that one thread uses. `d` receives the result."""

    a: Array
    b: Array
    c: Array | None
    index: Array | None
    scale_a: Array | None
    scale_b: Array | None
    d: Array | None

    def part(self, groups: slice, rows: slice) -> _Operands:
        def of_a(array: Array | None) -> Array | None:
            return None if array is None else array[groups, rows]

        scale_b = None if self.scale_b is None else self.scale_b[groups]
        c, index, scale_a, d = (of_a(each) for each in (self.c, self.index, self.scale_a, self.d))
        return _Operands(self.a[groups, rows], self.b[groups], c, index, scale_a, scale_b, d)

    def addend(self, model: Model) -> Array:
        if self.c is not None:
            return self.c
        return np.zeros((len(self.a), self.a.shape[1], self.b.shape[1]), STORAGE[model.c_type])


@dataclass(slots=True)
class _Options:
    negate_a: bool
    negate_b: bool
    satfinite: bool
    rounding: Rounding


def multiply(
    a: Array, b: Array, c: Array | None, model: Model,
    *,
    index: Array | None = None,
    negate_a: bool = False, negate_b: bool = False, satfinite: bool = False, rounding: Rounding = "rn",
    scale_a: Array | None = None, scale_b: Array | None = None,
    out: Array | None = None, workers: Workers | None = None,
) -> Array:  # fmt: skip
    """Return D = A B + C for G independent instructions with the arithmetic of `model`.

    Operands contain raw bits in the dtypes of `formats.STORAGE`, one element per entry (for b1, 32 elements). If `c` is
    None, C is zero. For a sparse A, `a` contains the stored elements, and `index` the index along K of each. `negate_a`
    and `negate_b` flip the signs of floating-point elements. `satfinite` clamps integer sums. `rounding` applies to
    f64. `scale_a` and `scale_b` have one block scale for each K/S elements of a row. The result is written to `out` if
    that is given; `out` may be `c`. K may be a multiple of the instruction's K: each fused step adds to the result of
    the previous step.

    Shapes: a (G, M, K); b (G, N, K), or longer along K with `index` (G, M, K); c, out and the result (G, M, N); scale_a
    (G, M, S); scale_b (G, N, S). Errors: ValueError for other shapes or dtypes.
    """
    operands = _Operands(a, b, c, index, scale_a, scale_b, out)
    _check(operands, model)
    options = _Options(negate_a, negate_b, satfinite, rounding)
    compute = _COMPUTE[model.sum]
    parts = _parts(operands, workers)
    if workers is None or len(parts) == 1:
        return _store(out, compute(operands, model, options))
    if operands.d is None:
        operands.d = np.empty((len(a), a.shape[1], b.shape[1]), STORAGE[model.d_type])

    def compute_part(part: tuple[slice, slice]) -> None:
        own = operands.part(*part)
        _store(own.d, compute(own, model, options))

    for _ in workers.pool.map(compute_part, parts):
        pass
    return operands.d


def _store(out: Array | None, result: Array) -> Array:
    if out is None or np.may_share_memory(out, result):
        return result
    out[:] = result
    return out


def _check(operands: _Operands, model: Model) -> None:
    a, b = operands.a, operands.b
    if a.ndim != 3 or b.ndim != 3 or len(a) != len(b) or (operands.index is None and a.shape[2] != b.shape[2]):
        raise ValueError(f"a and b must be (G, M, K) and (G, N, K); found {a.shape} and {b.shape}")
    _check_one("a", a, a.shape, STORAGE[model.a_type])
    _check_one("b", b, b.shape, STORAGE[model.b_type])
    for name, array, kind in (("c", operands.c, model.c_type), ("out", operands.d, model.d_type)):
        if array is not None:
            _check_one(name, array, (len(a), a.shape[1], b.shape[1]), STORAGE[kind])
    if operands.index is not None:
        _check_one("index", operands.index, a.shape, operands.index.dtype)
    if (model.scale_type is None) != (operands.scale_a is None or operands.scale_b is None):
        raise ValueError("a scaled model needs block scales for both operands, and other models allow none")
    if operands.scale_a is not None and operands.scale_b is not None:
        count = operands.scale_a.shape[-1]
        _check_one("scale_a", operands.scale_a, (*a.shape[:2], count), np.dtype(np.uint8))
        _check_one("scale_b", operands.scale_b, (*b.shape[:2], count), np.dtype(np.uint8))


def _check_one(name: str, array: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}; found {array.shape}")
    if array.dtype != dtype:
        raise ValueError(f"{name} must be of {dtype}; found {array.dtype}")


def _parts(operands: _Operands, workers: Workers | None) -> list[tuple[slice, slice]]:
    groups, rows, depth = operands.a.shape
    products = groups * rows * operands.b.shape[1] * depth
    count = 1 if workers is None else min(workers.count, products // _PRODUCTS_PER_THREAD)
    if count <= 1:
        return [(slice(None), slice(None))]
    if groups >= count:
        return [(part, slice(None)) for part in shares(workers, groups, products)]
    step = -(-rows // (16 * count)) * 16
    return [(slice(g, g + 1), slice(m, m + step)) for g in range(groups) for m in range(0, rows, step)]


def _fused(operands: _Operands, model: Model, options: _Options) -> Array:
    if model.c_type != model.d_type:
        return _exact(operands, model, options)  # the fast code gives all addends the least exponent of c
    rows, columns = operands.a.shape[1], operands.b.shape[1]
    padded = _padded(operands, model)
    a, b, c, index = padded.a, padded.b, padded.c, padded.index
    addend = c
    if c is not None:
        addend = c.view(np.float32) if model.c_type == "f32" else fused_fast.widened(c)
    if padded.d is not None and model.d_type == "f32":
        d = padded.d.view(np.float32)
    else:
        d = np.empty((len(a), a.shape[1], b.shape[1]), np.float32)
    flagged = fused_fast.run(a, b, addend, d, model, index, options.negate_a, options.negate_b)
    bits = d.view(np.uint32) if model.d_type == "f32" else fused_fast.halved(d)
    # These elements contain NaN, infinity or extreme exponents.
    if len(flagged):
        a, b = _signed(padded, model, options)
        if model.sum is Sum.T_FDPA_SPLIT:
            a, b = (translation(FORMATS[n], F16)[x] for n, x in ((model.a_type, a), (model.b_type, b)))
            model = replace(model, a_type="f16", b_type="f16")
        fused_exact.outputs(flagged, bits, a, b, c, model, index)
    return bits if bits.shape[1:] == (rows, columns) else bits[:, :rows, :columns].copy()


def _exact(operands: _Operands, model: Model, options: _Options) -> Array:
    a, b = _signed(operands, model, options)
    d = np.empty((len(a), a.shape[1], b.shape[1]), STORAGE[model.d_type])
    scales = operands.scale_a, operands.scale_b
    fused_exact.outputs(np.arange(d.size), d, a, b, operands.c, model, operands.index, *scales)
    return d


def _signed(operands: _Operands, model: Model, options: _Options) -> tuple[Array, Array]:
    a, b = operands.a, operands.b
    if options.negate_a:
        a = a ^ a.dtype.type(_sign(model.a_type))
    if options.negate_b:
        b = b ^ b.dtype.type(_sign(model.b_type))
    return a, b


def _sign(name: str) -> int:
    return FORMATS[name].sign_bit << FORMATS[name].padding


def _padded(operands: _Operands, model: Model) -> _Operands:
    """Return contiguous operands, padded with zeros to the sizes that `fused_fast.run` requires."""
    groups, rows, depth = operands.a.shape
    columns, b_depth = operands.b.shape[1:]
    rows, columns = _up(rows, fused_fast.ROWS), _up(columns, 8)
    to_depth = _up(depth, 4 if depth <= model.length else model.length)

    def fill(array: Array | None, *shape: int) -> Array | None:
        if array is None or array.shape == shape:
            return array if array is None or array.flags.c_contiguous else np.ascontiguousarray(array)
        full = np.zeros(shape, array.dtype)
        full[tuple(slice(size) for size in array.shape)] = array
        return full

    a = fill(operands.a, groups, rows, to_depth)
    b = fill(operands.b, groups, columns, b_depth if operands.index is not None else to_depth)
    c = fill(operands.c, groups, rows, columns)
    index = fill(operands.index, groups, rows, to_depth)
    assert a is not None
    assert b is not None
    index = None if index is None else index.astype(np.int32, copy=False)
    d = operands.d
    fits = d is not None and d.shape == (groups, rows, columns) and d.flags.c_contiguous
    return _Operands(a, b, c, index, None, None, d if fits else None)


def _up(size: int, step: int) -> int:
    return -(-size // step) * step


def _converted(operands: _Operands, model: Model, options: _Options) -> Array:
    """Return D by the arithmetic of `spec.t_fdpa_converted`."""
    addend = operands.addend(model)
    if model.c_type == "f16":
        addend = addend.view(np.float16).astype(np.float32).view(np.uint32)
    wide = replace(model, c_type="f32", d_type="f32", sum=Sum.T_FDPA)
    bits = _fused(replace(operands, c=addend, d=None), wide, options)
    return bits if model.d_type == "f32" else _rounded_to_f16(bits.view(np.float32))


def _rounded_to_f16(values: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        bits = values.astype(np.float16).view(np.uint16)
    bits[np.isnan(values)] = 0x7FFF
    return bits


def _halves(operands: _Operands, model: Model, options: _Options) -> Array:
    """Return D by the arithmetic of `spec.t_fdpa_split`."""
    depth = operands.a.shape[2]
    order = np.array([k for half in (0, 2) for k in range(depth) if k & 2 == half])
    a, b, index = fused_fast.chosen(np.ascontiguousarray(operands.a), order), operands.b, operands.index
    if index is None:
        b = fused_fast.chosen(np.ascontiguousarray(b), order)
    else:
        index = np.ascontiguousarray(index[:, :, order])
    half = replace(model, c_type=model.d_type, length=min(model.length, depth // 2))
    products = _fused(_Operands(a, b, None, index, None, None, None), half, options)
    return _added(products, operands.addend(model), model)


def _added(products: Array, c: Array, model: Model) -> Array:
    """Return products + c in the type of D, rounded to nearest even. A NaN becomes canonical."""
    kind, nan = (np.float32, 0x7FFFFFFF) if model.d_type == "f32" else (np.float16, 0x7FFF)
    addend = c.view(np.float32 if model.c_type == "f32" else np.float16).astype(kind)
    with np.errstate(over="ignore", invalid="ignore"):
        total: Array = products.view(kind) + addend
    bits = total.view(STORAGE[model.d_type])
    bits[np.isnan(total)] = nan
    return bits


def _multiply_add(operands: _Operands, model: Model, options: _Options) -> Array:
    a, b = (x.view(np.float16).astype(np.float32) for x in _signed(operands, model, options))
    d = chains.multiply_add(a, b, np.zeros((len(a), a.shape[1], b.shape[1]), np.float32))
    return _added(d, operands.addend(model), model)


def _pairs(operands: _Operands, model: Model, options: _Options) -> Array:
    a, b = (x.view(np.float16).astype(np.float32) for x in _signed(operands, model, options))
    zero = np.full((len(a), a.shape[1], b.shape[1]), -0.0, np.float32)  # -0 keeps the sign of a zero product
    addend = operands.addend(model).view(np.float16).astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for first in (0, 2):
            pair = slice(first, first + 2)
            addend = addend + chains.multiply_add(a[:, :, pair], b[:, :, pair], zero)
    return _rounded_to_f16(addend)


_COMPUTE: dict[Sum, Callable[[_Operands, Model, _Options], Array]] = {
    Sum.T_FDPA: _fused,
    Sum.T_FDPA_SCALED: _exact,
    Sum.T_FDPA_GROUPED: _exact,
    Sum.T_FDPA_CONVERTED: _converted,
    Sum.T_FDPA_SPLIT: _halves,
    Sum.FMA_CHAIN: lambda x, model, options: chains.double(x.a, x.b, x.addend(model), options.rounding),
    Sum.FMA_CHAIN_PLUS_ADDEND: _multiply_add,
    Sum.PAIRED: _pairs,
    Sum.INTEGER: lambda x, model, options: chains.integer(x.a, x.b, x.addend(model), x.index, options.satfinite),
    Sum.XOR: lambda x, model, options: chains.bits(x.a, x.b, x.addend(model), True),
    Sum.AND: lambda x, model, options: chains.bits(x.a, x.b, x.addend(model), False),
}
