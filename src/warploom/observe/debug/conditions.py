"""Conditions on the registers and the position of each lane, such as `%r5 == 3 and lane < 7`.

A condition has the syntax of a Python expression. The parser accepts a few kinds of nodes and translates them into
NumPy operations. No text is executed as Python code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import did_you_mean
from warploom.emulator.batch import Batch
from warploom.emulator.program import Scope
from warploom.isa.model.semantics import Lanes
from warploom.isa.model.types import TYPES
from warploom.lazy_dataclass import dataclass
from warploom.observe.debug.registers import source_of
from warploom.observe.debug.values import numbers

_CODE = "debug.condition"
_NUMBER = r"0[xX][0-9a-fA-F]+|0[bB][01]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
_NAME = r"%?[A-Za-z_$][\w$]*(?:\.[A-Za-z_]\w*)*"
_TOKEN = re.compile(rf"(?P<number>{_NUMBER})|(?P<name>{_NAME})|(?P<space>\s+)|(?P<other>.)", re.ASCII)
_WORDS = frozenset({"and", "or", "not"})


def _axis(axis: int) -> Callable[[Batch], Any]:
    return lambda batch: batch.state.placement.coordinates[batch.location.cta, axis][:, None]


_POSITIONS: Mapping[str, Callable[[Batch], Any]] = {
    "lane": lambda _: np.arange(32)[None, :],
    "warp": lambda batch: batch.state.topology.warp_in_cta[batch.warp_index][:, None],
    "cta.x": _axis(0),
    "cta.y": _axis(1),
    "cta.z": _axis(2),
}
_COMPARISONS: Mapping[type[ast.cmpop], np.ufunc] = {
    ast.Eq: np.equal, ast.NotEq: np.not_equal, ast.Lt: np.less, ast.LtE: np.less_equal, ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
}  # fmt: skip
_OPERATIONS: Mapping[type[ast.operator], np.ufunc] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.FloorDiv: np.floor_divide,
    ast.Mod: np.remainder, ast.BitAnd: np.bitwise_and, ast.BitOr: np.bitwise_or, ast.BitXor: np.bitwise_xor,
    ast.LShift: np.left_shift, ast.RShift: np.right_shift,
}  # fmt: skip
_OF_INTEGERS = frozenset[type[ast.operator]]({ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift})
_BY_CONSTANT: Mapping[type[ast.operator], range] = {
    ast.FloorDiv: range(1, 1 << 32), ast.Mod: range(1, 1 << 32), ast.LShift: range(64), ast.RShift: range(64),
}  # fmt: skip
"""Legal values of the right operand of operations that need a constant there."""
_LONGEST = 1000  # characters
_DEEPEST = 50  # operations inside each other
_NARROW = 1 << 31  # integers below are exact in sums of 64 bits


@dataclass(frozen=True, slots=True, eq=False)
class _Term:
    """Part of a condition: a function that returns its value in a batch, and the kind of the value.

    Shapes: the value broadcasts to (warps, 32).
    """

    kind: str  # "truth", "integer" or "float"
    value: Callable[[Batch], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """Condition on each lane of a batch. `text` is its source text, and `names` are its names.

    - Names are registers and special registers, and `lane`, `warp` (in the CTA), `cta.x`, `cta.y` and `cta.z`.
    - `TYPE(name)` reads a register as another PTX type, such as `s32(%r5)`. Registers of a bit type are unsigned.
    - Operations are comparisons, `and`, `or`, `not`, `+ - * // % & | ^ << >> ~`. The right operand of `//`, `%`, `<<`
      and `>>` is a constant. Integers are exact, and floating-point numbers are f64.
    """

    text: str
    names: frozenset[str]
    _truth: Callable[[Batch], Any]

    @staticmethod
    def parse(text: str, scope: Scope) -> Condition:
        """Return the condition with a source text. `scope` has the registers.

        Errors: UsageError debug.condition for wrong syntax or an unknown name, debug.register for an unknown register,
            debug.type for a type that does not fit a register.
        """
        truth = _as_truth(_compile(text, scope))
        return Condition(text, frozenset(_without_names(text)[1].values()), truth)

    def lanes(self, batch: Batch) -> Lanes:
        """Return the active lanes of a batch for which the condition is true.

        The caller first writes cached accumulators back to the registers (`Accumulators.flush`). Shapes: (warps, 32).
        """
        with np.errstate(all="ignore"):
            truth = np.asarray(self._truth(batch), np.bool_)
        return np.broadcast_to(truth, (batch.count, 32)) & batch.active()


def evaluate(text: str, scope: Scope, batch: Batch) -> NDArray[Any]:
    """Return the value of an expression in each lane of a batch.

    The syntax, the errors and the duty of the caller are those of `Condition`. Shapes: (warps, 32).
    """
    term = _compile(text, scope)
    with np.errstate(all="ignore"):
        return np.broadcast_to(np.asarray(term.value(batch)), (batch.count, 32))


def _compile(text: str, scope: Scope) -> _Term:
    if len(text) > _LONGEST:
        raise UsageError(f"a condition has {len(text)} characters; expected at most {_LONGEST}", code=_CODE)
    plain, names = _without_names(text)
    try:
        tree = ast.parse(plain, mode="eval").body
    except (SyntaxError, RecursionError, MemoryError) as error:
        column = (getattr(error, "offset", None) or len(text) + 1) - 1
        _refuse(text, column, "the condition is not an expression")
    return _Compiler(text, names, scope).compile(tree, 0)


def _without_names(text: str) -> tuple[str, dict[int, str]]:
    """Replace each name by a Python name of the same length. Return the text, and the name at each column.

    A `%` after an operand is an operator. Otherwise it is the first character of a register.
    """
    names: dict[int, str] = {}
    parts: list[str] = []
    column, is_after_operand = 0, False
    while column < len(text):
        token = _TOKEN.match(text, column)
        word = "" if token is None else token.group()
        if token is None or not word.isascii():
            _refuse(text, column, f"unexpected character {text[column]!r}")
        if word.startswith("%") and is_after_operand:
            word = "%"
        is_name = token.lastgroup == "name" and word != "%" and word not in _WORDS
        if is_name:
            names[column] = word
        parts.append("_" * len(word) if is_name else word)
        if not word.isspace():
            is_after_operand = is_name or token.lastgroup == "number" or word == ")"
        column += len(word)
    return "".join(parts), names


@dataclass(frozen=True, slots=True, eq=False)
class _Compiler:
    """Translator of the nodes of a condition to functions. `names` has the name at each column."""

    text: str
    names: Mapping[int, str]
    scope: Scope

    def compile(self, node: ast.expr, depth: int) -> _Term:
        """Return the term of a node. Errors: UsageError."""
        if depth > _DEEPEST:
            self._refuse(node, "the condition is nested too deeply")
        match node:
            case ast.Constant(value=int() | float() as constant):
                return _constant(constant)
            case ast.Name(col_offset=column):
                return self._name(node, self.names[column], "")
            case ast.Call(func=ast.Name(col_offset=column), args=[ast.Name() as register], keywords=[]):
                as_type = self.names[column]
                if as_type not in TYPES:
                    self._refuse(node, f"unknown type '{as_type}'", did_you_mean(as_type, TYPES, "'"))
                return self._name(register, self.names[register.col_offset], as_type)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = _as_truth(self.compile(operand, depth + 1))
                return _Term("truth", lambda batch: np.logical_not(truth(batch)))
            case ast.UnaryOp(op=ast.USub() | ast.Invert() as op, operand=operand):
                term = self.compile(operand, depth + 1)
                if isinstance(op, ast.Invert) and term.kind == "float":
                    self._refuse(node, "this operation needs an integer")
                function, value = np.negative if isinstance(op, ast.USub) else np.invert, _as_number(term)
                kind = "float" if term.kind == "float" else "integer"
                return _Term(kind, lambda batch: function(value(batch)))
            case ast.BinOp(op=op) if type(op) in _OPERATIONS:
                return self._operation(node, depth)
            case ast.BoolOp(op=op, values=values):
                join = np.logical_and if isinstance(op, ast.And) else np.logical_or
                truths = [_as_truth(self.compile(each, depth + 1)) for each in values]
                return _Term("truth", lambda batch: reduce(join, [truth(batch) for truth in truths]))
            case ast.Compare(ops=ops) if all(type(op) in _COMPARISONS for op in ops):
                return self._comparison(node, depth)
            case _:
                return self._refuse(node, "a condition cannot contain this")

    def _operation(self, node: ast.BinOp, depth: int) -> _Term:
        terms = self.compile(node.left, depth + 1), self.compile(node.right, depth + 1)
        kind = "float" if "float" in {term.kind for term in terms} else "integer"
        operation = type(node.op)
        if operation in _OF_INTEGERS and kind == "float":
            self._refuse(node, "this operation needs integers")
        if (legal := _BY_CONSTANT.get(operation)) is not None:
            constant = node.right.value if isinstance(node.right, ast.Constant) else None
            if not isinstance(constant, int) or constant not in legal:
                self._refuse(node.right, f"expected a constant from {legal.start} to {legal.stop - 1}")
        function, (left, right) = _OPERATIONS[operation], map(_as_number, terms)
        if operation in (ast.Mult, ast.LShift):
            return _Term(kind, lambda batch: function(_exact(left(batch)), _exact(right(batch))))
        return _Term(kind, lambda batch: function(left(batch), right(batch)))

    def _comparison(self, node: ast.Compare, depth: int) -> _Term:
        values = [_as_number(self.compile(each, depth + 1)) for each in (node.left, *node.comparators)]
        functions = [_COMPARISONS[type(op)] for op in node.ops]

        def compare(batch: Batch) -> Any:
            found = [value(batch) for value in values]
            return reduce(np.logical_and, [f(found[k], found[k + 1]) for k, f in enumerate(functions)])

        return _Term("truth", compare)

    def _name(self, node: ast.expr, name: str, as_type: str) -> _Term:
        if (position := _POSITIONS.get(name)) is not None:
            if as_type:
                self._refuse(node, f"'{name}' has no PTX type; expected a register")
            return _Term("integer", position)
        if not name.startswith("%") and self.scope.location(name) is None:
            self._refuse(node, f"unknown name '{name}'", did_you_mean(name, _POSITIONS, "'"))
        declared, bits = source_of(self.scope, name)
        chosen = TYPES[as_type or declared]
        if chosen.kind == "packed":
            message = f"a value of type .{chosen.name} has several elements; expected a type with one"
            self._refuse(node, message, "read the low element with a type such as f16(%r1)")
        kind = {"predicate": "truth", "float": "float"}.get(chosen.kind, "integer")
        # The types of numbers in which all operations are exact.
        exact = {"truth": np.bool_, "float": np.float64}.get(kind, np.int64 if chosen.bits < 64 else object)

        def read(batch: Batch) -> Any:
            return numbers(bits(batch.state, batch.warp_index), chosen.name).astype(exact)

        self._check_type(declared, chosen.name)
        return _Term(kind, read)

    @staticmethod
    def _check_type(declared: str, chosen: str) -> None:
        """Refuse a type that does not fit a register. Errors: UsageError debug.type."""
        kind = TYPES[declared]
        numbers(np.zeros(1, kind.dtype if kind.dtype.kind in "bV" else f"u{kind.dtype.itemsize}"), chosen)

    def _refuse(self, node: ast.expr, message: str, hint: str = "") -> NoReturn:
        _refuse(self.text, node.col_offset, message, hint)


def _constant(value: float) -> _Term:
    if isinstance(value, float):
        return _Term("float", lambda _: value)
    found = int(value) if value < _NARROW else np.array([[value]], object)
    return _Term("integer", lambda _: found)


def _as_truth(term: _Term) -> Callable[[Batch], Any]:
    return term.value if term.kind == "truth" else lambda batch: np.not_equal(term.value(batch), 0)


def _as_number(term: _Term) -> Callable[[Batch], Any]:
    return term.value if term.kind != "truth" else lambda batch: np.asarray(term.value(batch), np.int64)


def _exact(value: Any) -> Any:
    """Return integers as Python integers, which have no largest value."""
    found: NDArray[Any] = np.asarray(value)
    return found.astype(object) if found.dtype.kind == "i" else found


def _refuse(text: str, column: int, message: str, hint: str = "") -> NoReturn:
    raise UsageError(f"{message}, at character {column + 1} of the condition '{text}'", code=_CODE, hint=hint)
