"""Traced lane values: the 32 values of one warp as a vector of LLVM IR.

A traced value replaces an array of lane values when a semantics function is called. Operators and NumPy functions then
append instructions to the IR of a native function, with the results that NumPy computes on arrays.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from functools import partial, reduce
from hashlib import sha256
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


def vector_type(dtype: DType, count: int = LANES) -> ir.VectorType:
    """Return the LLVM type of `count` values, by default one for each lane of a warp."""
    return ir.VectorType(element_type(dtype), count)


class VectorConstant(ir.Constant):
    """Vector constant, given as the text that follows its type in LLVM IR."""

    def __init__(self, kind: ir.VectorType, text: str) -> None:
        self.type = kind
        self.constant = text

    def get_reference(self) -> str:
        """Return the text of the constant."""
        return self.constant


def splat(value: Any, dtype: DType, count: int = LANES) -> ir.Constant:
    """Return a vector constant with `count` equal elements."""
    return VectorConstant(vector_type(dtype, count), f"splat ({element_type(dtype)} {_literal(value, dtype)})")


def _literal(value: Any, dtype: DType) -> str:
    if dtype == _BOOL:
        return "true" if value else "false"
    if dtype.kind == "f":
        return ir.Constant(element_type(dtype), float(np.array(value).astype(dtype))).get_reference()
    return str(int(np.array(value).astype(dtype)) if dtype.kind in "iu" else value)


class TracedLanes(NDArrayOperatorsMixin):
    """Values of the 32 lanes of one warp, as a vector of LLVM IR.

    Operators follow the type promotion of NumPy. Instructions are appended by `builder`. A value that is viewed as a
    smaller dtype has `parts` elements for each lane, and the shape (32, parts).
    """

    __slots__ = ("builder", "dtype", "parts", "value")
    evaluator: ClassVar[Callable[..., TracedLanes]]

    def __init__(self, builder: ir.IRBuilder, value: ir.Value, dtype: DType) -> None:
        self.builder = builder
        self.value = value
        self.dtype = dtype
        self.parts: int = value.type.count // LANES

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of lanes, and number of values in each lane if there are several."""
        return (LANES,) if self.parts == 1 else (LANES, self.parts)

    @property
    def size(self) -> int:
        """Number of values."""
        return LANES * self.parts

    def _type(self, dtype: DType) -> ir.VectorType:
        return vector_type(dtype, self.size)

    def make(self, value: ir.Value, dtype: Any) -> TracedLanes:
        """Return a traced value with the builder of this one."""
        return TracedLanes(self.builder, value, np.dtype(dtype))

    def constant(self, value: Any, dtype: Any) -> TracedLanes:
        """Return a constant: one number for all lanes, or an array of 32 numbers."""
        dtype = np.dtype(dtype)
        numbers = np.asarray(value)
        if numbers.size == 1:
            return self.make(splat(numbers.reshape(-1)[0], dtype, self.size), dtype)
        if numbers.size != self.size:
            raise TraceError(f"a constant of shape {numbers.shape} is not one warp's")
        elements = [_literal(each, dtype) for each in numbers.reshape(-1)]
        text = ", ".join(f"{element_type(dtype)} {each}" for each in elements)
        return self.make(VectorConstant(self._type(dtype), f"<{text}>"), dtype)

    def _operand(self, other: Any, dtype: DType) -> TracedLanes:
        return other.astype(dtype) if isinstance(other, TracedLanes) else self.constant(other, dtype)

    def intrinsic(self, name: str, *others: TracedLanes, options: Sequence[ir.Value | str] = ()) -> TracedLanes:
        """Return the result of an LLVM intrinsic for this value and others, in the dtype of this value.

        `options` are further arguments, which are not lane values: IR values, or texts of metadata.
        """
        module = self.builder.module
        further = [ir.MetaDataString(module, each) if isinstance(each, str) else each for each in options]
        arguments = [self.value, *(each.value for each in others), *further]
        kind = f"{'f' if self.dtype.kind == 'f' else 'i'}{8 * self.dtype.itemsize}"
        types = [each.type for each in arguments]
        function = declare(module, f"llvm.{name}.v{self.size}{kind}", self.value.type, types)
        return self.make(self.builder.call(function, arguments), self.dtype)

    # Conversions ------------------------------------------------------------------------------------------

    def astype(self, dtype: Any, copy: bool = True) -> TracedLanes:
        """Return the values converted to a dtype, by the rules of NumPy."""
        source, target = self.dtype, np.dtype(dtype)
        if source == target:
            return self
        builder, kind = self.builder, self._type(target)
        if target == _BOOL:
            return self.compare("!=", self.constant(0, source))
        if source.kind == "f" and target.kind == "f":
            return self.make(
                (builder.fpext if target.itemsize > source.itemsize else builder.fptrunc)(self.value, kind), target
            )
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
        """Return the same bits as values of another dtype. A lane has several values of a smaller dtype."""
        target = np.dtype(dtype)
        count = self.size * self.dtype.itemsize // target.itemsize
        if _BOOL in (target, self.dtype) or count % LANES:
            raise TraceError(f"a view of {self.dtype} as {target} is not implemented")
        if element_type(target) == element_type(self.dtype):
            return self.make(self.value, target)
        return self.make(self.builder.bitcast(self.value, vector_type(target, count)), target)

    def __getitem__(self, key: Any) -> Any:
        """Return a part of each lane for the key (..., index) or (..., slice), and this value for (..., None).

        The keys (:, :, None) and (:, None, :) give pairs of lanes, and the key None a vector of one value.
        """
        match key:
            case None:
                return [self]
            case (builtins.Ellipsis, None):
                return self
            case (slice(), slice(), None):
                return TracedPairs([self] * LANES)
            case (slice(), None, slice()):
                return TracedPairs([self._broadcast(lane) for lane in range(LANES)])
            case (builtins.Ellipsis, int(part)):
                return self._parts(part, 1)
            case (builtins.Ellipsis, slice(start=int(start), stop=int(stop), step=None)):
                return self._parts(start, stop - start)
            case _:
                raise TraceError(f"the index {key!r} is not implemented in native code")

    def _broadcast(self, lane: int) -> TracedLanes:
        order = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [lane] * LANES)
        other = ir.Constant(self.value.type, ir.Undefined)
        return self.make(self.builder.shuffle_vector(self.value, other, order), self.dtype)

    def _parts(self, first: int, count: int) -> TracedLanes:
        if count == self.parts:
            return self
        elements = [lane * self.parts + first + k for lane in range(LANES) for k in range(count)]
        order = ir.Constant(ir.VectorType(ir.IntType(32), len(elements)), elements)
        other = ir.Constant(self.value.type, ir.Undefined)
        return self.make(self.builder.shuffle_vector(self.value, other, order), self.dtype)

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

    def lookup(self, table: np.ndarray[Any, DType]) -> TracedLanes:
        """Return the elements of a one-dimensional table at these indices, which are not negative."""
        # Lanes whose results are not used may have any index.
        index = self.astype(np.uint32)
        index = index.apply("minimum", index.constant(len(table) - 1, np.uint32))
        return index.gather(_table(self.builder.module, table), table.dtype)

    def gather(self, start: ir.Value, dtype: DType) -> TracedLanes:
        """Return the elements of an array of `dtype` at these indices.

        `start` is the address of the array. At least 4 bytes after the array can be read.
        """
        builder, size = self.builder, dtype.itemsize
        width = max(size, 4)  # CPUs cannot gather smaller elements
        gathered = vector_type(np.dtype(f"u{width}"))
        places = builder.gep(start, [self.value], source_etype=ir.IntType(8 * size))
        places.type = ir.VectorType(ir.PointerType(), LANES)
        name = f"llvm.masked.gather.v{LANES}i{8 * width}.v{LANES}p0"
        ones = splat(True, _BOOL)
        types = [places.type, ir.IntType(32), ones.type, gathered]
        arguments = [places, ir.IntType(32)(size), ones, ir.Constant(gathered, ir.Undefined)]
        words = self.make(builder.call(declare(builder.module, name, gathered, types), arguments), f"u{width}")
        return words.astype(f"u{size}").view(dtype)

    def permute(self, indices: TracedLanes) -> TracedLanes:
        """Return the values of this value in the lanes `indices`, which are below 32."""
        builder = self.builder
        with builder.goto_entry_block():
            stack = builder.alloca(vector_type(self.dtype, 2 * LANES))  # the second half is not used
            place = builder.inttoptr(builder.ptrtoint(stack, ir.IntType(64)), ir.PointerType())
        builder.store(self.value, place, align=self.dtype.itemsize)
        return (indices.astype(np.uint32) & np.uint32(LANES - 1)).gather(place, self.dtype)

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

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Sequence[Any], options: Any) -> Any:
        """Append the instructions of a NumPy function that is not a ufunc."""
        translate = _ARRAY_FUNCTIONS.get(function.__name__)
        if translate is None:
            raise TraceError(f"numpy.{function.__name__} is not implemented in native code")
        return translate(self, *args, **options)


class TracedPairs(NDArrayOperatorsMixin):
    """Traced matrix over the pairs of lanes of a warp, as 32 columns.

    Element l of column k is the value for the lanes l and k.
    """

    __slots__ = ("columns",)

    def __init__(self, columns: Sequence[TracedLanes]) -> None:
        self.columns = columns

    def __getitem__(self, key: Any) -> TracedLanes:
        """Return a column for the key (..., lane)."""
        match key:
            case (builtins.Ellipsis, int(lane)):
                return self.columns[lane]
            case _:
                raise TraceError(f"the index {key!r} is not implemented in native code")

    def _column(self, operand: Any, lane: int) -> Any:
        if isinstance(operand, TracedPairs):
            return operand.columns[lane]
        row = np.asarray(operand)  # a number, or an array of one number for each column
        return row.reshape(-1)[lane] if row.size == LANES else row.reshape(-1)[0]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply a NumPy ufunc to each column, or reduce the columns with it."""
        if method == "reduce" and options.pop("axis") == -1:
            return reduce(partial(ufunc, **options), self.columns)
        columns = ([self._column(each, lane) for each in inputs] for lane in range(LANES))
        return TracedPairs([getattr(ufunc, method)(*operands, **options) for operands in columns])

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Sequence[Any], options: Any) -> Any:
        """Apply a NumPy function that is not a ufunc."""
        match function.__name__, args:
            case "broadcast_to", (matrix, _):
                return matrix
            case "where", operands:
                columns = ([self._column(each, lane) for each in operands] for lane in range(LANES))
                return TracedPairs([np.where(*each) for each in columns])
            case "packbits", (matrix,):
                bits = [column.select(np.uint32(1 << lane), np.uint32(0)) for lane, column in enumerate(matrix.columns)]
                return reduce(np.bitwise_or, bits).view(np.uint8)
            case _:
                raise TraceError(f"numpy.{function.__name__} of pairs of lanes is not implemented in native code")


def declare(module: ir.Module, name: str, result: ir.Type, arguments: Sequence[ir.Type]) -> ir.Function:
    """Return the function `name` of a module, declared on first use."""
    known = module.globals.get(name)
    return known if known is not None else ir.Function(module, ir.FunctionType(result, list(arguments)), name)


class _Bytes(ir.Constant):
    """Constant array of bytes."""

    def __init__(self, content: bytes) -> None:
        self.type = ir.ArrayType(ir.IntType(8), len(content))
        self.constant = content

    def get_reference(self) -> str:
        """Return the text of the constant."""
        return 'c"\\' + self.constant.hex("\\") + '"'


def _table(module: ir.Module, table: np.ndarray[Any, DType]) -> ir.GlobalVariable:
    """Return the constant of a module that contains a table, followed by 4 bytes."""
    content = table.tobytes() + bytes(4)
    name = f"table.{sha256(content).hexdigest()[:16]}"
    if name not in module.globals:
        found = ir.GlobalVariable(module, ir.ArrayType(ir.IntType(8), len(content)), name)
        found.initializer = _Bytes(content)
        found.global_constant, found.linkage, found.align = True, "private", 64
    return module.globals[name]


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
    def function(a: TracedLanes, b: TracedLanes) -> TracedLanes:
        return a.compare(operator, b)

    return function


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
    return a.make(a.builder.neg(a.value), a.dtype)


def _absolute(a: TracedLanes) -> TracedLanes:
    if a.dtype.kind == "f":
        return a.intrinsic("fabs")
    return a.compare("<", a.constant(0, a.dtype)).select(_negative(a), a) if a.dtype.kind == "i" else a


def _bits(a: TracedLanes) -> TracedLanes:
    return a.view(f"u{a.dtype.itemsize}")


def _sign_mask(a: TracedLanes) -> int:
    return 1 << (8 * a.dtype.itemsize - 1)


def _copysign(a: TracedLanes, b: TracedLanes) -> TracedLanes:
    sign = np.array(_sign_mask(a), _bits(a).dtype)
    return ((_bits(a) & ~sign) | (_bits(b) & sign)).view(a.dtype)


def _signbit(a: TracedLanes) -> TracedLanes:
    return a.view(f"i{a.dtype.itemsize}") < 0


def _isnan(a: TracedLanes) -> TracedLanes:
    return a.make(a.builder.fcmp_unordered("uno", a.value, a.value), _BOOL)


def _isfinite(a: TracedLanes) -> TracedLanes:
    return _absolute(a).compare("<", a.constant(np.inf, a.dtype))


def _isinf(a: TracedLanes) -> TracedLanes:
    return _absolute(a).compare("==", a.constant(np.inf, a.dtype))


def _rounding(name: str) -> Function:
    def function(a: TracedLanes) -> TracedLanes:
        return a.intrinsic(name) if a.dtype.kind == "f" else a

    return function


def _bitwise_count(a: TracedLanes) -> TracedLanes:
    return a.intrinsic("ctpop").astype(np.uint8)


def _divide_down(a: TracedLanes, b: TracedLanes) -> TracedLanes:
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
    "floor_divide": _divide_down,
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
    "logical_or": lambda a, b: a.astype(_BOOL) | b.astype(_BOOL),
    "negative": _negative,
    "absolute": _absolute,
    "copysign": _copysign,
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
    return a.apply("maximum", a.constant(low, a.dtype)).apply("minimum", a.constant(high, a.dtype))


def _packbits(traced: TracedLanes, a: TracedLanes, axis: int, bitorder: str) -> TracedLanes:
    # NumPy returns the bytes once, here all lanes have them.
    builder, word = a.builder, ir.IntType(32)
    first = builder.bitcast(builder.bitcast(a.value, word), ir.VectorType(word, 1))
    order = ir.Constant(ir.VectorType(word, LANES), [0] * LANES)
    words = builder.shuffle_vector(first, ir.Constant(first.type, ir.Undefined), order)
    return a.make(words, np.uint32).view(np.uint8)


_ARRAY_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "where": _where,
    "clip": _clip,
    "broadcast_to": lambda traced, a, shape: a,
    "full_like": lambda traced, a, value: traced.constant(value, a.dtype),
    "ones_like": lambda traced, a: traced.constant(1, a.dtype),
    "zeros_like": lambda traced, a: traced.constant(0, a.dtype),
    "take_along_axis": lambda traced, a, indices, axis: a.permute(indices),
    "transpose": lambda traced, a, axes: [a[..., part] for part in range(a.parts)],  # parts become the first axis
    "packbits": _packbits,
    "shape": lambda traced, a: a.shape,
}
"""Translation of other NumPy functions, by name. The first argument is a traced operand."""
