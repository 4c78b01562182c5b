"""Translation of scalar functions to LLVM IR over the 32 lanes of a warp.

The source of a kernel is evaluated on traced values. Numba compiles the same functions for the interpreter. If a
condition depends on lane values, both branches are evaluated, and a `select` chooses the result of each lane. Neither
branch may therefore divide integers by zero. Numbers are promoted by the rules of Numba: operations on integers have at
least 64 bits.
"""

# Evaluated values have any type.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from llvmlite import ir

from warploom.numerics._compiled import Compiled
from warploom.numerics._numba import Intrinsic
from warploom.numerics.intrinsics import ROUNDING
from warploom.numerics.tracing.values import TracedLanes, TraceError, declare

_OPERATORS: dict[type[ast.operator | ast.unaryop | ast.cmpop], Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.Pow: operator.pow, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Invert: operator.invert, ast.USub: operator.neg,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip
_SCALARS = (bool, int, float, np.generic)


def trace_kernel(function: Callable[..., Any], *arguments: Any) -> Any:
    """Evaluate a scalar function on traced lane values, which append LLVM IR, and return its result.

    Errors: TraceError if the kernel uses a part of Python or NumPy that is not implemented here.
    """
    plain = _python_function(function)
    node = _definition(plain.__code__)
    names = [argument.arg for argument in node.args.args]
    variables = dict(zip(names, arguments, strict=True))
    closure = dict(
        zip(plain.__code__.co_freevars, (cell.cell_contents for cell in plain.__closure__ or ()), strict=True)
    )
    scope = _Scope({**vars(builtins), **plain.__globals__, **closure}, variables)
    if isinstance(node, ast.Lambda):
        return scope.value(node.body)
    returned = scope.run(node.body)
    if returned is None:
        raise TraceError(f"{plain.__qualname__} does not return a value")
    return returned


def evaluate(traced: TracedLanes, kernel: Any, operands: Sequence[Any]) -> TracedLanes:
    """Return the result of an `Elementwise` of `numerics._compile` for operands of which some are traced."""
    lanes = [
        each if isinstance(each, TracedLanes) else traced.constant(each, np.asarray(each).dtype)
        for each in operands[: kernel.arrays]
    ]
    uniform = operands[kernel.arrays :]
    if kernel.is_directed:
        # The functions contain no inexact operations besides the directed operation, which LLVM does not move.
        _set_rounding(traced, operands[-1])
        result = trace_kernel(kernel.function, *lanes)
        _set_rounding(traced, ROUNDING["rn"])
        return result
    if not kernel.is_pairwise or kernel.arrays == 1:
        result = trace_kernel(kernel.function, *lanes, *uniform)
    else:
        halves = trace_kernel(kernel.function, *(each.view(np.uint16).astype(np.uint32) for each in lanes))
        result = halves.astype(np.uint16).view(np.uint32)
    if not isinstance(result, TracedLanes):
        return traced.constant(result, kernel.result)
    return result.astype(kernel.result)


def _set_rounding(traced: TracedLanes, mode: int) -> None:
    builder, kind = traced.builder, ir.IntType(32)
    builder.call(declare(builder.module, "llvm.set.rounding", ir.VoidType(), [kind]), [kind(mode)])


def _python_function(function: Callable[..., Any]) -> FunctionType:
    plain = function.function if isinstance(function, Compiled) else function
    if not isinstance(plain, FunctionType):
        raise TraceError(f"{function!r} is not written in Python")
    return plain


@cache
def _definitions(file: str) -> Mapping[tuple[int, int], ast.FunctionDef | ast.Lambda]:
    """Return the functions of a source file by line and column of their first expression or statement."""
    found: dict[tuple[int, int], ast.FunctionDef | ast.Lambda] = {}
    for node in ast.walk(ast.parse(Path(file).read_text())):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found[first, -1] = node
        elif isinstance(node, ast.Lambda):
            found[node.lineno, node.body.col_offset] = node
    return found


def _definition(code: CodeType) -> ast.FunctionDef | ast.Lambda:
    known = _definitions(code.co_filename)
    if code.co_name != "<lambda>":
        return known[code.co_firstlineno, -1]
    columns = [column for _, _, column, _ in code.co_positions() if column is not None]
    first = min(columns, default=-1)
    candidates = [
        (column, node) for (line, column), node in known.items() if line == code.co_firstlineno and column >= 0
    ]
    return min(candidates, key=lambda pair: abs(pair[0] - first))[1]


class _Scope:
    """Evaluation of the statements and expressions of one kernel."""

    def __init__(self, globals_: Mapping[str, Any], variables: dict[str, Any]) -> None:
        self.globals = globals_
        self.variables = variables

    # Statements -------------------------------------------------------------------------------------------

    def run(self, statements: Sequence[ast.stmt]) -> Any:
        """Execute statements. Return the value of a `return`, or None if none is reached."""
        for position, statement in enumerate(statements):
            match statement:
                case ast.Return(value) if value is not None:
                    return self.value(value)
                case ast.Assign([target], value):
                    self._assign(target, self.value(value))
                case ast.AugAssign(ast.Name(name), operation, value):
                    self.variables[name] = _binary(operation, self.variables[name], self.value(value))
                case ast.Expr(ast.Constant()):
                    pass
                case ast.For(ast.Name(name), items, body):
                    for item in self.value(items):
                        self.variables[name] = item
                        if self.run(body) is not None:
                            raise TraceError("a return in a loop is not implemented")
                case ast.If(test, body, otherwise):
                    condition = self.value(test)
                    if not isinstance(condition, TracedLanes):
                        returned = self.run(body if condition else otherwise)
                        if returned is not None:
                            return returned
                        continue
                    return self._branch(condition, body, [*otherwise], statements[position + 1 :])
                case _:
                    raise TraceError(f"line {statement.lineno}: this statement is not implemented in native code")
        return None

    def _branch(
        self, condition: TracedLanes, body: Sequence[ast.stmt], otherwise: Sequence[ast.stmt], rest: Sequence[ast.stmt]
    ) -> Any:
        condition = condition.astype(np.bool_)
        before = dict(self.variables)
        first = self.run(body)
        after = self.variables
        self.variables = dict(before)
        second = self.run(otherwise)
        if first is None and second is None:
            merged = {
                name: select(condition, after[name], self.variables[name])
                for name in after.keys() & self.variables.keys()
            }
            self.variables = merged
            return self.run(rest)
        if first is None:
            self.variables = after
            first = self.run(rest)
        elif second is None:
            second = self.run(rest)
        return select(condition, first, second)

    def _assign(self, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Name(name):
                self.variables[name] = value
            case ast.Tuple(targets):
                for each, item in zip(targets, value, strict=True):
                    self._assign(each, item)
            case _:
                raise TraceError(f"line {target.lineno}: this assignment is not implemented in native code")

    # Expressions ------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression: traced lanes, or a Python object."""
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name):
                return self.variables[name] if name in self.variables else self.globals[name]
            case ast.Tuple(items):
                return tuple(self.value(item) for item in items)
            case ast.Attribute(owner, name):
                return getattr(self.value(owner), name)
            case ast.BinOp(left, operation, right):
                return _binary(operation, self.value(left), self.value(right))
            case ast.UnaryOp(ast.Not(), operand):
                value = self.value(operand)
                return ~value.astype(np.bool_) if isinstance(value, TracedLanes) else not value
            case ast.UnaryOp(operation, operand):
                return _unary(operation, self.value(operand))
            case ast.Compare(left, [operation], [right]):
                return _compare(operation, self.value(left), self.value(right))
            case ast.BoolOp(operation, operands):
                return self._logic(isinstance(operation, ast.And), operands)
            case ast.IfExp(test, body, otherwise):
                condition = self.value(test)
                if not isinstance(condition, TracedLanes):
                    return self.value(body if condition else otherwise)
                return select(condition.astype(np.bool_), self.value(body), self.value(otherwise))
            case ast.Call(function, arguments, []):
                return _call(self.value(function), [self.value(each) for each in arguments])
            case ast.Subscript(table, index):
                return _element(self.value(table), self.value(index))
            case _:
                raise TraceError(f"line {node.lineno}: this expression is not implemented in native code")

    def _logic(self, both: bool, operands: Sequence[ast.expr]) -> Any:
        result: Any = both
        for node in operands:
            value = self.value(node)
            if isinstance(value, TracedLanes):
                value = value.astype(np.bool_)
                result = value if not isinstance(result, TracedLanes) else (result & value if both else result | value)
            elif bool(value) != both:
                return not both
        return result


# Operations by the rules of Numba ----------------------------------------------------------------------------


def _dtype(value: Any) -> np.dtype[Any]:
    if isinstance(value, (TracedLanes, np.generic)):
        return value.dtype
    return np.dtype(np.bool_ if isinstance(value, bool) else np.int64 if isinstance(value, int) else np.float64)


def _promoted(values: Sequence[Any], *, widen: bool = True) -> np.dtype[Any]:
    dtypes = [_dtype(value) for value in values]
    if all(dtype.kind in "iub" for dtype in dtypes):
        signed = any(dtype.kind in "ib" for dtype in dtypes)
        if not widen:
            return np.result_type(*dtypes)
        return np.dtype(np.int64 if signed else np.uint64)
    floats = [dtype for dtype in dtypes if dtype.kind == "f"]
    return np.result_type(*floats) if len(floats) == len(dtypes) else np.dtype(np.float64)


def _as(value: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, TracedLanes):
        return value.astype(dtype)
    return np.array(value).astype(dtype)[()]


def _binary(operation: ast.operator, left: Any, right: Any) -> Any:
    function = _OPERATORS[type(operation)]
    if isinstance(left, (bool, int, float)) and isinstance(right, (bool, int, float)):
        return function(left, right)
    dtypes = _dtype(left), _dtype(right)
    logical = isinstance(operation, (ast.BitAnd, ast.BitOr, ast.BitXor)) and all(each.kind == "b" for each in dtypes)
    dtype = np.dtype(np.bool_) if logical else _promoted((left, right))
    with np.errstate(all="ignore"):
        return function(_as(left, dtype), _as(right, dtype))


def _unary(operation: ast.unaryop, value: Any) -> Any:
    if not isinstance(value, (TracedLanes, np.generic)) or _dtype(value).kind in "fb":
        return _OPERATORS[type(operation)](value)
    return _OPERATORS[type(operation)](_as(value, _promoted((value,))))


def _compare(operation: ast.cmpop, left: Any, right: Any) -> Any:
    function = _OPERATORS[type(operation)]
    if not any(isinstance(each, TracedLanes) for each in (left, right)):
        return function(left, right)
    for traced, other in ((left, right), (right, left)):
        if isinstance(other, _SCALARS) and _fits(other, _dtype(traced)):
            # A comparison with a small constant needs no more bits than the traced operand.
            return function(_as(left, _dtype(traced)), _as(right, _dtype(traced)))
    dtype = _promoted((left, right))
    return function(_as(left, dtype), _as(right, dtype))


def _fits(number: Any, dtype: np.dtype[Any]) -> bool:
    """Return True if a number and a dtype are integers, and the number is in the range of the dtype."""
    if dtype.kind not in "iu" or _dtype(number).kind not in "iu":
        return False
    limits = np.iinfo(dtype)
    return limits.min <= int(number) <= limits.max


def _element(table: Any, index: Any) -> Any:
    if isinstance(table, np.ndarray) and isinstance(index, tuple):
        row, column = index
        if not isinstance(row, TracedLanes):
            return _element(table[row], column)
        return _element(table.ravel(), row * np.int64(table.shape[1]) + np.int64(column))
    return index.lookup(table) if isinstance(index, TracedLanes) else table[index]


def select(condition: TracedLanes, a: Any, b: Any) -> Any:
    """Return a where the condition is true, else b. The values may be tuples."""
    if isinstance(a, tuple):
        return tuple(select(condition, x, y) for x, y in zip(a, b, strict=True))
    if a is b:
        return a
    dtype = _promoted((a, b), widen=False)
    return condition.select(
        *(_as(each, dtype) if isinstance(each, TracedLanes) else condition.constant(each, dtype) for each in (a, b))
    )


_PLAIN = {abs: np.abs, int: np.int64, float: np.float64}


def _call(function: Any, arguments: Sequence[Any]) -> Any:
    if not any(isinstance(each, TracedLanes) for each in arguments):
        inner = getattr(function, "__self__", None)
        if isinstance(inner, TracedLanes) or isinstance(function, (type, np.ufunc)) or function in _PLAIN:
            return function(*arguments)
        return trace_kernel(function, *arguments)
    function = _PLAIN.get(function, function)
    if isinstance(function, type) and issubclass(function, np.generic):
        return arguments[0].astype(function)
    if isinstance(function, np.ufunc):
        dtype = _promoted(arguments)
        return function(*(_as(each, dtype) for each in arguments))
    if isinstance(function, Intrinsic):
        traced = next(each for each in arguments if isinstance(each, TracedLanes))
        dtype = _promoted(arguments, widen=False)
        first, *others = (
            each.astype(dtype) if isinstance(each, TracedLanes) else traced.constant(each, dtype) for each in arguments
        )
        intrinsic, options = _INTRINSICS[function.function.__name__]
        return first.intrinsic(intrinsic, *others, options=options)
    return trace_kernel(function, *arguments)


_CONSTRAINED = ("round.dynamic", "fpexcept.strict")
_INTRINSICS: dict[str, tuple[str, tuple[ir.Value | str, ...]]] = {
    "fma": ("fma", ()),
    "popcount": ("ctpop", ()),
    "reverse_bits": ("bitreverse", ()),
    "count_leading_zeros": ("ctlz", (ir.Constant(ir.IntType(1), 0),)),  # 0 means that the width is the result for 0
    **{
        f"directed_{name}": (f"experimental.constrained.{operation}", _CONSTRAINED)
        for name, operation in (("fma", "fma"), ("div", "fdiv"), ("sqrt", "sqrt"))
    },
}
"""LLVM intrinsics for the functions of `numerics.intrinsics`, with arguments that are not lane values."""
