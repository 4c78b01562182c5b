"""Traced lane values: the 32 values of one warp as a vector of LLVM IR.

A traced value replaces an array of lane values when a semantics function is called. Operators and NumPy functions then
append instructions to the IR of a native function, with the results that NumPy computes on arrays.
"""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from llvmlite import ir
from numpy.lib.mixins import NDArrayOperatorsMixin

LANES = 32
DType = np.dtype[Any]
_BOOL = np.dtype(np.bool_)


class TraceError(Exception):
    """Semantics that cannot be translated to LLVM IR."""


def element_type(dtype: DType) -> ir.Type:
    """Return the LLVM type of one lane value of a dtype."""
    if dtype == _BOOL:
        return ir.IntType(1)
    if dtype.kind == "f":
        return ir.FloatType() if dtype.itemsize == 4 else ir.DoubleType()
    return ir.IntType(8 * dtype.itemsize)


def vector_type(dtype: DType) -> ir.VectorType:
    """Return the LLVM type of the 32 lane values of a warp."""
    return ir.VectorType(element_type(dtype), LANES)


class VectorConstant(ir.Constant):
    """Vector constant, given as the text that follows its type in LLVM IR."""

    def __init__(self, kind: ir.VectorType, text: str) -> None:
        self.type = kind
        self.constant = text

    def get_reference(self) -> str:
        """Return the text of the constant."""
        return self.constant


def splat(value: Any, dtype: DType) -> ir.Constant:
    """Return a vector constant with the same number in all lanes."""
    return VectorConstant(vector_type(dtype), f"splat ({element_type(dtype)} {_literal(value, dtype)})")


def _literal(value: Any, dtype: DType) -> str:
    if dtype == _BOOL:
        return "true" if value else "false"
    if dtype.kind == "f":
        return ir.Constant(element_type(dtype), float(np.array(value).astype(dtype))).get_reference()
    return str(int(np.array(value).astype(dtype)) if dtype.kind in "iu" else value)


class TracedLanes(NDArrayOperatorsMixin):
    """Values of the 32 lanes of one warp, as a vector of LLVM IR.

    Operators follow the type promotion of NumPy. Instructions are appended by `builder`.
    """

    __slots__ = ("builder", "dtype", "value")
    evaluator: ClassVar[Callable[..., TracedLanes]]
    shape = (LANES,)
    ndim = 1
    size = LANES

    def __init__(self, builder: ir.IRBuilder, value: ir.Value, dtype: DType) -> None:
        self.builder = builder
        self.value = value
        self.dtype = dtype

    def make(self, value: ir.Value, dtype: Any) -> TracedLanes:
        """Return a traced value with the builder of this one."""
        return TracedLanes(self.builder, value, np.dtype(dtype))

    def constant(self, value: Any, dtype: Any) -> TracedLanes:
        """Return a constant: one number for all lanes, or an array of 32 numbers."""
        dtype = np.dtype(dtype)
        numbers = np.asarray(value)
        if numbers.size == 1:
            return self.make(splat(numbers.reshape(-1)[0], dtype), dtype)
        if numbers.size != LANES:
            raise TraceError(f"a constant of shape {numbers.shape} is not one warp's")
        elements = [_literal(each, dtype) for each in numbers.reshape(-1)]
        text = ", ".join(f"{element_type(dtype)} {each}" for each in elements)
        return self.make(VectorConstant(vector_type(dtype), f"<{text}>"), dtype)

    def _operand(self, other: Any, dtype: DType) -> TracedLanes:
        return other.astype(dtype) if isinstance(other, TracedLanes) else self.constant(other, dtype)

    def intrinsic(self, name: str, dtype: Any, *operands: TracedLanes) -> TracedLanes:
        """Return the result of the LLVM intrinsic `name`, which is overloaded on the type of the first operand."""
        types = [each.value.type for each in operands]
        first = types[0]
        letter = "i" if isinstance(first.element, ir.IntType) else "f"
        bits = first.element.width if letter == "i" else operands[0].dtype.itemsize * 8
        function = _declare(
            self.builder.module, f"llvm.{name}.v{LANES}{letter}{bits}", vector_type(np.dtype(dtype)), types
        )
        return self.make(self.builder.call(function, [each.value for each in operands]), dtype)

    # Conversions ------------------------------------------------------------------------------------------

    def astype(self, dtype: Any, copy: bool = True) -> TracedLanes:
        """Return the values converted to a dtype, by the rules of NumPy."""
        source, target = self.dtype, np.dtype(dtype)
        if source == target:
            return self
        builder, kind = self.builder, vector_type(target)
        if target == _BOOL:
            return self.compare("!=", self.constant(0, source))
        if source.kind == "f" and target.kind == "f":
            return self.make((builder.fpext if target.itemsize > source.itemsize else builder.fptrunc)(self.value, kind), target)
        if source.kind == "f":
            return self.make((builder.fptosi if target.kind == "i" else builder.fptoui)(self.value, kind), target)
        if target.kind == "f":
            return self.make((builder.sitofp if source.kind == "i" else builder.uitofp)(self.value, kind), target)
        if source != _BOOL and target.itemsize == source.itemsize:
            return self.make(self.value, target)
        if source != _BOOL and target.itemsize < source.itemsize:
            return self.make(builder.trunc(self.value, kind), target)
        return self.make((builder.sext if source.kind == "i" else builder.zext)(self.value, kind), target)

    def copy(self) -> TracedLanes:
        """Return this value, which never changes."""
        return self

    def view(self, dtype: Any) -> TracedLanes:
        """Return the same bits as values of another dtype of the same size."""
        target = np.dtype(dtype)
        if target.itemsize != self.dtype.itemsize or _BOOL in (target, self.dtype):
            raise TraceError(f"a view of {self.dtype} as {target} is not implemented")
        if element_type(target) == element_type(self.dtype):
            return self.make(self.value, target)
        return self.make(self.builder.bitcast(self.value, vector_type(target)), target)

    def __getitem__(self, index: None) -> list[TracedLanes]:
        """Return a vector of one value. `index` is `np.newaxis`."""
        if index is not None:
            raise TraceError("lane values cannot be indexed in native code")
        return [self]

    def any(self) -> bool:
        """Return True, because some lane may be true when the native function runs."""
        return True

    # Operations -------------------------------------------------------------------------------------------

    def compare(self, operator: str, other: TracedLanes) -> TracedLanes:
        """Compare with a value of the same dtype. Comparisons with a NaN are false, except `!=`."""
        builder = self.builder
        if self.dtype.kind == "f":
            function = builder.fcmp_unordered if operator == "!=" else builder.fcmp_ordered
        else:
            function = builder.icmp_signed if self.dtype.kind == "i" else builder.icmp_unsigned
        return self.make(function(operator, self.value, other.value), _BOOL)

    def select(self, a: Any, b: Any) -> TracedLanes:
        """Return a in the lanes where this value is true, else b."""
        dtype = np.result_type(*(each.dtype if isinstance(each, TracedLanes) else each for each in (a, b)))
        x, y = self._operand(a, dtype), self._operand(b, dtype)
        return self.make(self.builder.select(self.astype(_BOOL).value, x.value, y.value), dtype)

    def apply(self, name: str, *operands: Any) -> TracedLanes:
        """Return the result of a NumPy function of one or two operands of this value's dtype."""
        return _FUNCTIONS[name](self, *operands)

    def lookup(self, indices: TracedLanes) -> TracedLanes:
        """Return the values of this value in the lanes `indices`."""
        lanes = ir.VectorType(ir.IntType(32), LANES)
        result: ir.Value = ir.Constant(self.value.type, ir.Undefined)
        index = indices.astype(np.uint32).value
        assert index.type == lanes
        for lane in range(LANES):
            source = self.builder.extract_element(index, ir.IntType(32)(lane))
            element = self.builder.extract_element(self.value, source)
            result = self.builder.insert_element(result, element, ir.IntType(32)(lane))
        return self.make(result, self.dtype)

    def evaluate(self, kernel: Any, operands: Sequence[Any]) -> TracedLanes:
        """Return the result of a compiled function of numbers, an `Elementwise` of `numerics._compile`."""
        return self.evaluator(self, kernel, operands)

    # NumPy ------------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Append the instructions of a NumPy ufunc."""
        name = ufunc.__name__
        function = _FUNCTIONS.get(name)
        dtype = options.pop("dtype", None)
        if method != "__call__" or function is None or options:
            raise TraceError(f"numpy.{name} is not implemented in native code")
        traced = next(each for each in inputs if isinstance(each, TracedLanes))
        if dtype is None:
            dtype = np.result_type(*(each.dtype if isinstance(each, TracedLanes) else each for each in inputs))
        first, *others = (traced._operand(each, np.dtype(dtype)) for each in inputs)
        return function(first, *others)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: Sequence[Any], options: Any
    ) -> Any:
        """Append the instructions of a NumPy function that is not a ufunc."""
        translate = _ARRAY_FUNCTIONS.get(function.__name__)
        if translate is None:
            raise TraceError(f"numpy.{function.__name__} is not implemented in native code")
        return translate(self, *args, **options)


def _declare(module: ir.Module, name: str, result: ir.Type, arguments: Sequence[ir.Type]) -> ir.Function:
    known = module.globals.get(name)
    return known if known is not None else ir.Function(module, ir.FunctionType(result, list(arguments)), name)


# Functions of operands with one dtype -----------------------------------------------------------------------

Function = Callable[..., TracedLanes]


def _arithmetic(integer: str, floating: str = "", signed: str = "") -> Function:
    def function(a: TracedLanes, b: TracedLanes) -> TracedLanes:
        name = floating if a.dtype.kind == "f" else signed if signed and a.dtype.kind == "i" else integer
        if not name:
            raise TraceError(f"an operation on {a.dtype} is not implemented in native code")
        return a.make(getattr(a.builder, name)(a.value, b.value), a.dtype)

    return function


def _comparison(operator: str) -> Function:
    return lambda a, b: a.compare(operator, b)


def _extreme(operator: str) -> Function:
    # For integers only: NumPy propagates a NaN.
    def function(a: TracedLanes, b: TracedLanes) -> TracedLanes:
        if a.dtype.kind == "f":
            first = (a.apply("isnan") | a.compare(operator, b)).value
            return a.make(a.builder.select(first, a.value, b.value), a.dtype)
        return a.make(a.builder.select(a.compare(operator, b).value, a.value, b.value), a.dtype)

    return function


def _invert(a: TracedLanes) -> TracedLanes:
    ones = a.constant(True if a.dtype == _BOOL else np.invert(a.dtype.type(0)), a.dtype)
    return a.make(a.builder.xor(a.value, ones.value), a.dtype)


def _negative(a: TracedLanes) -> TracedLanes:
    if a.dtype.kind == "f":
        return a.make(a.builder.fneg(a.value), a.dtype)
    return a.make(a.builder.sub(splat(0, a.dtype), a.value), a.dtype)


def _absolute(a: TracedLanes) -> TracedLanes:
    if a.dtype.kind == "f":
        return a.intrinsic("fabs", a.dtype, a)
    return a.compare("<", a.constant(0, a.dtype)).select(_negative(a), a) if a.dtype.kind == "i" else a


def _bits(a: TracedLanes) -> TracedLanes:
    return a.view(f"u{a.dtype.itemsize}")


def _sign_mask(a: TracedLanes) -> int:
    return 1 << (8 * a.dtype.itemsize - 1)


def _signbit(a: TracedLanes) -> TracedLanes:
    return a.view(f"i{a.dtype.itemsize}") < 0


def _isnan(a: TracedLanes) -> TracedLanes:
    return a.make(a.builder.fcmp_unordered("uno", a.value, a.value), _BOOL)


def _isfinite(a: TracedLanes) -> TracedLanes:
    return _absolute(a).compare("<", a.constant(np.inf, a.dtype))


def _isinf(a: TracedLanes) -> TracedLanes:
    return _absolute(a).compare("==", a.constant(np.inf, a.dtype))


def _rounding(name: str) -> Function:
    return lambda a: a if a.dtype.kind != "f" else a.intrinsic(name, a.dtype, a)


def _bitwise_count(a: TracedLanes) -> TracedLanes:
    return a.intrinsic("ctpop", a.dtype, a).astype(np.uint8)


def _floor_divide(a: TracedLanes, b: TracedLanes) -> TracedLanes:
    if a.dtype.kind == "u":
        return a.make(a.builder.udiv(a.value, b.value), a.dtype)
    quotient = a.make(a.builder.sdiv(a.value, b.value), a.dtype)
    rest = a - quotient * b
    lower = (rest != 0) & ((rest < 0) != (b < 0))
    return lower.select(quotient - 1, quotient)


_FUNCTIONS: dict[str, Function] = {
    "add": _arithmetic("add", "fadd"),
    "subtract": _arithmetic("sub", "fsub"),
    "multiply": _arithmetic("mul", "fmul"),
    "divide": _arithmetic("", "fdiv"),
    "floor_divide": _floor_divide,
    "bitwise_and": _arithmetic("and_"),
    "bitwise_or": _arithmetic("or_"),
    "bitwise_xor": _arithmetic("xor"),
    "left_shift": _arithmetic("shl"),
    "right_shift": _arithmetic("lshr", signed="ashr"),
    "minimum": _extreme("<"),
    "maximum": _extreme(">"),
    "equal": _comparison("=="),
    "not_equal": _comparison("!="),
    "less": _comparison("<"),
    "less_equal": _comparison("<="),
    "greater": _comparison(">"),
    "greater_equal": _comparison(">="),
    "invert": _invert,
    "logical_not": lambda a: _invert(a.astype(_BOOL)),
    "negative": _negative,
    "absolute": _absolute,
    "copysign": lambda a, b: ((_bits(a) & ~np.array(_sign_mask(a), _bits(a).dtype)) | (_bits(b) & np.array(_sign_mask(a), _bits(a).dtype))).view(a.dtype),
    "signbit": _signbit,
    "isnan": _isnan,
    "isfinite": _isfinite,
    "isinf": _isinf,
    "sqrt": _rounding("sqrt"),
    "trunc": _rounding("trunc"),
    "rint": _rounding("rint"),
    "floor": _rounding("floor"),
    "ceil": _rounding("ceil"),
    "bitwise_count": _bitwise_count,
}
"""Translation of NumPy ufuncs, by name."""


def _where(traced: TracedLanes, condition: Any, a: Any, b: Any) -> Any:
    if not isinstance(condition, TracedLanes):
        return a if condition else b
    return condition.select(a, b)


def _clip(traced: TracedLanes, a: TracedLanes, low: int, high: int) -> TracedLanes:
    limits = np.iinfo(a.dtype)
    low, high = max(low, limits.min), min(high, limits.max)
    return np.minimum(np.maximum(a, a.constant(low, a.dtype)), a.constant(high, a.dtype))


_ARRAY_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "where": _where,
    "clip": _clip,
    "broadcast_to": lambda traced, a, shape: a,
    "full_like": lambda traced, a, value: traced.constant(value, a.dtype),
    "ones_like": lambda traced, a: traced.constant(1, a.dtype),
    "zeros_like": lambda traced, a: traced.constant(0, a.dtype),
    "take_along_axis": lambda traced, a, indices, axis: a.lookup(indices),
    "shape": lambda traced, a: a.shape,
}
"""Translation of other NumPy functions, by name. The first argument is a traced operand."""
