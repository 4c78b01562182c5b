"""Matrix multiplication with the bits of the GPU's matrix units, for batches of equal instructions.

`spec` defines the results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from warploom.diagnostics import UsageError
from warploom.lazy_dataclass import dataclass
from warploom.numerics import chains, fused_fast
from warploom.numerics._numba import INSTALLED
from warploom.numerics.chains import Rounding
from warploom.numerics.formats import FORMATS, STORAGE, Array
from warploom.numerics.fused_arrays import fused_sums
from warploom.numerics.grouped_steps import GROUP
from warploom.numerics.models import Model, Sum

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from warploom.numerics._compiled import Compiled

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


@dataclass(frozen=True, slots=True)
class _Operands:
    """Arrays of one multiplication, or the parts of them that one thread uses. `out` receives the result."""

    a: Array
    b: Array
    c: Array | None
    index: Array | None = None
    scale_a: Array | None = None
    scale_b: Array | None = None
    out: Array | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the result."""
        return len(self.a), self.a.shape[1], self.b.shape[1]

    def part(self, groups: slice, rows: slice) -> _Operands:
        def of_a(array: Array | None) -> Array | None:
            return None if array is None else array[groups, rows]

        scale_b = None if self.scale_b is None else self.scale_b[groups]
        c, index, scale_a, out = (of_a(each) for each in (self.c, self.index, self.scale_a, self.out))
        return _Operands(self.a[groups, rows], self.b[groups], c, index, scale_a, scale_b, out)

    def addend(self, model: Model) -> Array:
        return np.zeros(self.shape, STORAGE[model.c_type]) if self.c is None else self.c


class Multiplier:
    """Multiplication of matrices with the arithmetic of one instruction.

    `negate_a` and `negate_b` flip the signs of floating-point elements. `satfinite` clamps integer sums. `rounding`
    applies to f64. C is divided by 2**`divisor` (the operand scale-input-d) before it enters a fused sum.
    """

    def __init__(
        self, model: Model, negate_a: bool = False, negate_b: bool = False, satfinite: bool = False,
        rounding: Rounding = "rn", divisor: int = 0,
    ) -> None:  # fmt: skip
        if divisor and model.sum is not Sum.T_FDPA:
            raise ValueError(f"C is divided before fused sums only; found {model.formula()}")
        self.model, self.negate_a, self.negate_b = model, negate_a, negate_b
        self.satfinite, self.divisor = satfinite, divisor
        self.rounding: Rounding = rounding
        self._compute = _COMPUTE[model.sum]
        self._dtypes = tuple(STORAGE[name] for name in (model.a_type, model.b_type, model.c_type, model.d_type))
        self._run: Callable[..., bool] = self._first_run
        self._parameters = self.parameters(model) if model.sum is Sum.T_FDPA and INSTALLED else None

    def parameters(self, model: Model) -> Array:
        """Return the argument `parameters` of `fused_fast.run` for the steps of `model`."""
        return fused_fast.parameters(model, self.negate_a, self.negate_b, divisor=self.divisor)

    def _first_run(self, *arguments: Any) -> bool:
        """Call `fused_fast.run`, and replace `_run` by its function for the types of the arguments."""
        run = cast("Compiled", fused_fast.run)
        result = run(*arguments)
        self._run = run.specific(*arguments)
        return result

    def __call__(
        self, a: Array, b: Array, c: Array | None = None,
        *,
        index: Array | None = None, scale_a: Array | None = None, scale_b: Array | None = None,
        out: Array | None = None, workers: Workers | None = None,
    ) -> Array:  # fmt: skip
        """Return D = A B + C for G independent instructions.

        Operands contain raw bits in the dtypes of `formats.STORAGE`, one element per entry (for b1, 32 elements). If
        `c` is None, C is zero. For a sparse A, `a` contains the stored elements, and `index` the index along K of each.
        `scale_a` and `scale_b` have one block scale for each K/S elements of a row. The result is written to `out` if
        that is given; `out` may be `c`. K may be a multiple of the instruction's K: each fused step adds to the result
        of the previous step.

        Shapes: a (G, M, K); b (G, N, K), or longer along K with `index` (G, M, K); c, out and the result (G, M, N);
        scale_a (G, M, S); scale_b (G, N, S). Errors: ValueError for other shapes or dtypes.
        """
        a_type, b_type, c_type, d_type = self._dtypes
        # The general path takes longer than the sums of one small instruction.
        if (
            self._parameters is not None and c is not None and index is None and workers is None
            and a.dtype is a_type and b.dtype is b_type and c.dtype is c_type and c.ndim == 3
            and (out is None or out.dtype is d_type)
        ):  # fmt: skip
            d = out
            if d is None:
                d = c.copy() if c_type is d_type else np.empty(c.shape, d_type)  # a copy is faster than `np.empty`
            if self._run(a, b, c, d, None, None, None, None, fused_fast.strip(c.shape[-1]), self._parameters):
                return d
        operands = _Operands(a, b, c, index, scale_a, scale_b, out)
        self._check(operands)
        parts = [] if workers is None else _parts(operands, workers)
        if workers is None or len(parts) == 1:
            return _store(out, self._compute(operands, self))
        d = np.empty(operands.shape, d_type) if out is None else out
        operands = replace(operands, out=d)

        def compute_part(part: tuple[slice, slice]) -> None:
            own = operands.part(*part)
            _store(own.out, self._compute(own, self))

        for _ in workers.pool.map(compute_part, parts):
            pass
        return d

    def _check(self, operands: _Operands) -> None:
        a, b, index, scale_a, scale_b = operands.a, operands.b, operands.index, operands.scale_a, operands.scale_b
        if a.ndim != 3 or b.ndim != 3 or len(a) != len(b) or (index is None and a.shape[2] != b.shape[2]):
            raise ValueError(f"a and b must be (G, M, K) and (G, N, K); found {a.shape} and {b.shape}")
        a_type, b_type, c_type, d_type = self._dtypes
        _check_one("a", a, a.shape, a_type)
        _check_one("b", b, b.shape, b_type)
        for name, array, dtype in (("c", operands.c, c_type), ("out", operands.out, d_type)):
            if array is not None:
                _check_one(name, array, operands.shape, dtype)
        if index is not None:
            _check_one("index", index, a.shape, index.dtype)
        if (self.model.scale_type is None) != (scale_a is None or scale_b is None):
            raise ValueError("a scaled model needs block scales for both operands, and other models allow none")
        if scale_a is not None and scale_b is not None:
            count = scale_a.shape[-1]
            _check_one("scale_a", scale_a, (*a.shape[:2], count), np.dtype(np.uint8))
            _check_one("scale_b", scale_b, (*b.shape[:2], count), np.dtype(np.uint8))
            unit = GROUP if self.model.sum is Sum.T_FDPA_GROUPED else min(self.model.length, a.shape[2])
            if a.shape[2] % (unit * count):
                raise ValueError(f"a scale must apply to a multiple of {unit} elements; found {count} for {a.shape[2]}")


@cache
def multiplier(
    model: Model, negate_a: bool = False, negate_b: bool = False, satfinite: bool = False, rounding: Rounding = "rn",
    divisor: int = 0,
) -> Multiplier:  # fmt: skip
    """Return the `Multiplier` of an instruction."""
    return Multiplier(model, negate_a, negate_b, satfinite, rounding, divisor)


def multiply(
    a: Array, b: Array, c: Array | None, model: Model,
    *,
    negate_a: bool = False, negate_b: bool = False, satfinite: bool = False, rounding: Rounding = "rn",
    divisor: int = 0, **operands: Any,
) -> Array:  # fmt: skip
    """Return D = A B + C with the arithmetic of `model`. `operands` are those of `Multiplier`."""
    return multiplier(model, negate_a, negate_b, satfinite, rounding, divisor)(a, b, c, **operands)


def _store(out: Array | None, result: Array) -> Array:
    if out is None or np.may_share_memory(out, result):
        return result
    out[:] = result
    return out


def _check_one(name: str, array: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}; found {array.shape}")
    if array.dtype != dtype:
        raise ValueError(f"{name} must be of {dtype}; found {array.dtype}")


def _parts(operands: _Operands, workers: Workers) -> list[tuple[slice, slice]]:
    """Divide a multiplication into ranges of instructions and rows, one or more for each thread to use."""
    groups, rows, columns = operands.shape
    products = groups * rows * columns * operands.a.shape[2]
    count = min(workers.count, products // _PRODUCTS_PER_THREAD)
    if count <= 1:
        return [(slice(None), slice(None))]
    if groups >= count:
        return [(part, slice(None)) for part in shares(workers, groups, products)]
    step = -(-rows // (16 * count)) * 16
    return [(slice(g, g + 1), slice(m, m + step)) for g in range(groups) for m in range(0, rows, step)]


def _fused(x: _Operands, by: Multiplier) -> Array:
    return _sums(x, by.model, by)


def _sums(x: _Operands, model: Model, by: Multiplier) -> Array:
    """Return the fused sums of `model` for operands `x`.

    `by` has the other properties of the multiplication.

    Errors: UsageError launch.engine for block scales without Numba.
    """
    if not INSTALLED:
        if model.scale_type is not None:
            message = "multiplications with block scales need Numba, which is not installed"
            raise UsageError(message, code="launch.engine")
        return fused_sums(x.a, x.b, x.c, x.index, model, by.negate_a, by.negate_b, by.divisor)
    groups, rows, columns = x.shape
    depth, b_depth = x.a.shape[2], x.b.shape[2]
    to_rows, to_columns, to_depth = fused_fast.rounded_up(rows, columns, depth, model.length)
    a = _filled(x.a, groups, to_rows, to_depth)
    b = _filled(x.b, groups, to_columns, to_depth if x.index is None else -(-b_depth // 4) * 4)
    c = np.empty((0, 0, 0), STORAGE[model.c_type])
    if x.c is not None:
        c = _filled(x.c, groups, to_rows, to_columns)
    shape, dtype = (groups, to_rows, to_columns), STORAGE[model.d_type]
    d = np.empty(shape, dtype)
    if x.out is not None and x.out.shape == shape and x.out.dtype == dtype and x.out.flags.carray:
        d = x.out
    index = None if x.index is None else _filled(x.index, groups, to_rows, to_depth).astype(np.int32, copy=False)
    scale_a, scale_b, table = None, None, None
    if x.scale_a is not None and x.scale_b is not None:
        count = x.scale_a.shape[2]
        scale_a, scale_b = _filled(x.scale_a, groups, to_rows, count), _filled(x.scale_b, groups, to_columns, count)
        table = fused_fast.scale_table(str(model.scale_type))
    run = fused_fast.grouped if model.sum is Sum.T_FDPA_GROUPED else fused_fast.run
    accepted = run(a, b, c, d, index, scale_a, scale_b, table, fused_fast.strip(to_columns), by.parameters(model))
    assert accepted
    return d if shape == x.shape else d[:, :rows, :columns].copy()


def _filled(array: Array, *shape: int) -> Array:
    """Return a contiguous and writable array, padded with zeros to `shape`."""
    if array.shape == shape:
        return np.require(array, requirements=["C", "W"])
    full = np.zeros(shape, array.dtype)
    full[tuple(slice(size) for size in array.shape)] = array
    return full


def _signed(x: _Operands, by: Multiplier) -> tuple[Array, Array]:
    a, b = x.a, x.b
    if by.negate_a:
        a = a ^ a.dtype.type(_sign(by.model.a_type))
    if by.negate_b:
        b = b ^ b.dtype.type(_sign(by.model.b_type))
    return a, b


def _sign(name: str) -> int:
    return FORMATS[name].sign_bit << FORMATS[name].padding


def _converted(x: _Operands, by: Multiplier) -> Array:
    """Return D by the arithmetic of `spec.t_fdpa_converted`."""
    addend = x.addend(by.model)
    if by.model.c_type == "f16":
        addend = addend.view(np.float16).astype(np.float32).view(np.uint32)
    wide = replace(by.model, c_type="f32", d_type="f32", sum=Sum.T_FDPA)
    bits = _sums(replace(x, c=addend), wide, by)
    return bits if by.model.d_type == "f32" else _rounded_to_f16(bits.view(np.float32))


def _rounded_to_f16(values: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        bits = values.astype(np.float16).view(np.uint16)
    bits[np.isnan(values)] = 0x7FFF
    return bits


def _halves(x: _Operands, by: Multiplier) -> Array:
    """Return D by the arithmetic of `spec.t_fdpa_split`."""
    depth = x.a.shape[2]
    order = np.array([k for half in (0, 2) for k in range(depth) if k & 2 == half])
    a, b, index = fused_fast.chosen(np.ascontiguousarray(x.a), order), x.b, x.index
    if index is None:
        b = fused_fast.chosen(np.ascontiguousarray(b), order)
    else:
        index = np.ascontiguousarray(index[:, :, order])
    half = replace(by.model, c_type=by.model.d_type, length=min(by.model.length, depth // 2))
    products = _sums(_Operands(a, b, None, index), half, by)
    return _added(products, x.addend(by.model), by.model)


def _added(products: Array, c: Array, model: Model) -> Array:
    """Return products + c in the type of D, rounded to nearest even. A NaN becomes canonical."""
    kind, nan = (np.float32, 0x7FFFFFFF) if model.d_type == "f32" else (np.float16, 0x7FFF)
    addend = c.view(np.float32 if model.c_type == "f32" else np.float16).astype(kind)
    with np.errstate(over="ignore", invalid="ignore"):
        total: Array = products.view(kind) + addend
    bits = total.view(STORAGE[model.d_type])
    bits[np.isnan(total)] = nan
    return bits


def _multiply_add(x: _Operands, by: Multiplier) -> Array:
    a, b = (each.view(np.float16).astype(np.float32) for each in _signed(x, by))
    return _added(chains.multiply_add(a, b, np.zeros(x.shape, np.float32)), x.addend(by.model), by.model)


def _pairs(x: _Operands, by: Multiplier) -> Array:
    a, b = (each.view(np.float16).astype(np.float32) for each in _signed(x, by))
    zero = np.full(x.shape, -0.0, np.float32)  # -0 keeps the sign of a zero product
    addend = x.addend(by.model).view(np.float16).astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for first in (0, 2):
            pair = slice(first, first + 2)
            addend = addend + chains.multiply_add(a[:, :, pair], b[:, :, pair], zero)
    return _rounded_to_f16(addend)


_COMPUTE: dict[Sum, Callable[[_Operands, Multiplier], Array]] = {
    Sum.T_FDPA: _fused,
    Sum.T_FDPA_SCALED: _fused,
    Sum.T_FDPA_GROUPED: _fused,
    Sum.T_FDPA_CONVERTED: _converted,
    Sum.T_FDPA_SPLIT: _halves,
    Sum.FMA_CHAIN: lambda x, by: chains.double(x.a, x.b, x.addend(by.model), by.rounding),
    Sum.FMA_CHAIN_PLUS_ADDEND: _multiply_add,
    Sum.PAIRED: _pairs,
    Sum.INTEGER: lambda x, by: chains.integer(x.a, x.b, x.addend(by.model), x.index, by.satfinite),
    Sum.XOR: lambda x, by: chains.bits(x.a, x.b, x.addend(by.model), True),
    Sum.AND: lambda x, by: chains.bits(x.a, x.b, x.addend(by.model), False),
}
