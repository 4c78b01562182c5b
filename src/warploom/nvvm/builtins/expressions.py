"""Expressions of CUDA C, evaluated as constants or as operations of the llvm dialect."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import StringAttr, i1
from xdsl.ir import Attribute, Block, Region, SSAValue

from warploom.diagnostics.wording import did_you_mean
from warploom.nvvm.builtins.c_types import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    NULL,
    SIZE,
    UNSIGNED,
    VOID,
    CType,
    Value,
    common,
    type_of_words,
    wrap,
)
from warploom.nvvm.builtins.emitter import ARITHMETIC, COMPARISONS, memory_type
from warploom.nvvm.builtins.registry import BY_NAME
from warploom.nvvm.builtins.spaces import is_constant_memory
from warploom.nvvm.builtins.variables import Place, Variables

_ESCAPES = dict(zip("abfnrtv\\'\"?", "\a\b\f\n\r\t\v\\'\"?", strict=True))
_ESCAPE = re.compile(r"""\\(?:([abfnrtv\\'"?])|([0-7]{1,3})|x([0-9a-fA-F]+))?""")
_DIGITS = 100
"""Length of an integer that has more than 64 bits in each notation."""
_REGISTERS = {"threadIdx": "tid", "blockIdx": "ctaid", "blockDim": "ntid", "gridDim": "nctaid"}
"""Special register of each variable of CUDA."""
_WORDS = {
    "true": Value(BOOL, 1), "false": Value(BOOL, 0), "nullptr": Value(NULL, 0), "NULL": Value(LONG, 0),
    "warpSize": Value(INT, 32),
}  # fmt: skip


class Expressions(Variables):
    """Walk over the expressions of a syntax tree.

    `expected` is the type that an undeclared name has in a fragment.
    """

    expected: CType = INT

    # Types --------------------------------------------------------------------------------------------------

    def type_of(self, node: Any) -> CType:
        """Return the C type that a declaration or type name states."""
        match type(node).__name__:
            case "Decl" | "Typename" | "Typedef":
                return self.type_of(node.type)
            case "TypeDecl":
                found = self.type_of(node.type)
                return replace(found, const=found.const or "const" in node.quals)
            case "PtrDecl":
                pointee = self.type_of(node.type)
                rows = pointee.extents or pointee.rows
                return replace(pointee, depth=pointee.depth + 1, extents=(), rows=rows)
            case "ArrayDecl":
                element = self.type_of(node.type)
                return replace(element, extents=(self._extent(node), *element.extents))
            case "IdentifierType":
                return self._named(node)
            case "Enum":
                return INT
            case "FuncDecl":
                raise self.error("cannot lower a pointer to a function", node)
            case _:
                raise self.refused(node)

    def _named(self, node: Any) -> CType:
        for scope in reversed(self.scopes):
            if len(node.names) == 1 and isinstance(found := scope.get(node.names[0]), CType):
                return found
        if (found := type_of_words(node.names)) is None:
            raise self.error(f"cannot lower the type '{' '.join(node.names)}'", node)
        return found

    def _extent(self, node: Any) -> int:
        if node.dim is None:
            return 0
        value = self.constant(node.dim)
        if value is None or value < 1:
            raise self.error("an array's extent must be a positive constant", node.dim)
        return value

    def constant(self, node: Any) -> int | None:
        """Return the value of an integer constant expression, or None for another expression."""
        value = self.without_effects(node)
        return value.constant if isinstance(value.constant, int) else None

    def without_effects(self, node: Any) -> Value:
        """Return the value of an expression whose operations are discarded, such as the operand of `sizeof`."""
        block = Block()
        with self.inside(block, Region(block)):
            return self.value(node)

    # Places -------------------------------------------------------------------------------------------------

    def place(self, node: Any) -> Place:
        """Return the variable that an expression designates."""
        match type(node).__name__:
            case "ID":
                found = self._name(node)
                if isinstance(found, Place):
                    return found
                if node.name not in _WORDS:
                    raise self.error(f"expected a variable, got the constant '{node.name}'", node)
            case "ArrayRef":
                pointer = self.value(node.name, self._expected_pointer())
                index = self.value(node.subscript, INT)
                if index.type.depth:
                    pointer, index = index, pointer
                self._expect_pointer(pointer, node)
                if not index.type.is_integer:
                    raise self.error(f"expected an integer, got {index.type}", node.subscript)
                moved = self.moved(pointer, index)
                return Place(moved, moved.type.pointee)
            case "UnaryOp" if node.op == "*":
                pointer = self.value(node.expr, self._expected_pointer())
                self._expect_pointer(pointer, node)
                return Place(pointer, pointer.type.pointee)
            case _:
                pass
        raise self.error("expected a variable, got a value", node)

    def _name(self, node: Any) -> Value | Place:
        name: str = node.name
        if (found := self.find(name) or _WORDS.get(name)) is not None:
            return found
        if self.text.is_fragment and len(self.scopes) > 1 and name not in BY_NAME:
            ctype = replace(self.expected, extents=(), rows=())
            return self.parameter(name, INT if ctype == VOID else ctype, scope=1)
        names = [name for scope in self.scopes for name in scope]
        raise self.error(f'identifier "{name}" is undefined', node, did_you_mean(name, names))

    def _expected_pointer(self) -> CType:
        return replace(self.expected, depth=self.expected.depth + 1)

    def _expect_pointer(self, value: Value, node: Any) -> None:
        if not value.type.depth or (value.type.depth == 1 and value.type.base == "void"):
            raise self.error(f"expected a pointer to a complete type, got {value.type}", node)

    def implicit(self, value: Value, ctype: CType, node: Any) -> Value:
        """Return a value after the implicit conversion to `ctype`. Errors: BuiltinError if C++ has none."""
        source = value.type
        if ctype.depth:
            same = (source.base, source.depth, source.rows) == (ctype.base, ctype.depth, ctype.rows)
            fits = source.depth and (same or (ctype.base, ctype.depth) == ("void", 1)) and source.const <= ctype.const
            legal = fits or (value.is_null and not source.depth)
        else:
            legal = VOID not in (source, ctype) and (ctype == BOOL or not (source.depth or source == NULL))
        if not legal:
            raise self.error(f'expected a value of type "{ctype}", got one of type "{source}"', node)
        return self.convert(value, ctype)

    # Expressions --------------------------------------------------------------------------------------------

    def value(self, node: Any, expected: CType | None = None) -> Value:
        """Return the value of an expression. `expected` is the type of an undeclared name in it."""
        kept = self.expected, self.position
        self.expected, self.position = expected or self.expected, self.text.span(node)
        visit = getattr(self, f"_visit_{type(node).__name__}", None)
        if visit is None:
            raise self.refused(node)
        found = visit(node)
        self.expected, self.position = kept
        return found

    def condition(self, node: Any) -> Value:
        """Return the value of a condition, converted to bool."""
        value = self.value(node, INT)
        if value.type in (VOID, NULL):
            raise self.error(f"expected a number or a pointer as the condition, got {value.type}", node)
        return self.convert(value, BOOL)

    def _visit_ID(self, node: Any) -> Value:  # noqa: N802
        found = self._name(node)
        return self.read(found) if isinstance(found, Place) else found

    def _visit_ArrayRef(self, node: Any) -> Value:  # noqa: N802
        return self.read(self.place(node))

    def _visit_StructRef(self, node: Any) -> Value:  # noqa: N802
        name = getattr(node.name, "name", "")
        if name in _REGISTERS and node.type == "." and node.field.name not in ("x", "y", "z"):
            raise self.error(f"unknown member '{node.field.name}' of {name}; expected x, y or z", node)
        if name not in _REGISTERS or node.type != ".":
            raise self.error(
                f"cannot lower the member '{node.field.name}'; expected threadIdx, blockIdx, blockDim or gridDim", node
            )
        return self.intrinsic(f"llvm.nvvm.read.ptx.sreg.{_REGISTERS[name]}.{node.field.name}", [], UNSIGNED)

    def intrinsic(self, name: str, operands: Sequence[SSAValue], ctype: CType) -> Value:
        """Return the result of an intrinsic of LLVM."""
        results: list[Attribute] = [] if ctype == VOID else [i1 if ctype == BOOL else memory_type(ctype)]
        return Value(ctype, None, self.add(llvm.CallIntrinsicOp(name, operands, results)).ress)

    def _visit_ExprList(self, node: Any) -> Value:  # noqa: N802
        return [self.value(each) for each in node.exprs][-1]

    def _visit_Constant(self, node: Any) -> Value:  # noqa: N802
        text: str = node.value
        if node.type == "string":
            body = self.string(node) + "\0"
            ctype = CType("char", 0, const=True, extents=(len(body.encode()),))
            found = self.variable("string", ctype, "global", "internal", value=StringAttr(body), constant=True)
            return self.read(self.place_of(found))
        if node.type == "char":
            if len(body := self._characters(node)) != 1:
                raise self.error(f"unknown character {text}", node)
            return Value(CType("char"), wrap(ord(body), CType("char")))
        if any(mark in node.type for mark in ("float", "double")):
            ctype = FLOAT if text[-1] in "fF" and not text.startswith("0x") else DOUBLE
            digits = text.rstrip("fFlL")
            try:
                return Value(ctype, wrap(float.fromhex(digits) if "p" in digits.lower() else float(digits), ctype))
            except OverflowError:
                return Value(ctype, math.inf)
        if len(text) > _DIGITS or (found := _integer(text)) is None:
            raise self.error("expected an integer of at most 64 bits", node)
        return found

    def string(self, node: Any) -> str:
        """Return the text of a string literal."""
        if getattr(node, "type", "") != "string":
            raise self.error("expected a string", node)
        try:
            return self._characters(node).encode("latin-1").decode()
        except UnicodeDecodeError:
            raise self.error("expected text in UTF-8 in a string", node) from None

    def _characters(self, node: Any) -> str:
        """Return the bytes of a literal, each as one character."""

        def decoded(found: re.Match[str]) -> str:
            letter, octal, digits = found.groups()
            if not letter and not octal and not digits:
                expected = r"expected \n, \t, \0, \x41 or the like"
                raise self.error(f"unknown escape sequence in {node.value[:40]}; {expected}", node)
            return _ESCAPES[letter] if letter else chr((int(octal, 8) if octal else int(digits, 16)) & 0xFF)

        return _ESCAPE.sub(decoded, node.value[1:-1].encode().decode("latin-1"))

    def _visit_Cast(self, node: Any) -> Value:  # noqa: N802
        ctype = self.type_of(node.to_type)
        value = self.value(node.expr, ctype)
        if ctype == VOID:
            return Value(VOID)
        pointer_and_float = (ctype.depth and value.type.is_float) or (value.type.depth and ctype.is_float)
        if VOID in (value.type, ctype.plain) or pointer_and_float:
            raise self.error(f'cannot convert a value of type "{value.type}" to "{ctype}"', node)
        return self.convert(value, ctype)

    def _visit_UnaryOp(self, node: Any) -> Value:  # noqa: N802
        sign: str = node.op
        if sign in ("sizeof", "_Alignof"):
            return Value(SIZE, self._measured(node.expr).size)
        if sign == "&":
            return self._address(node.expr)
        if sign == "*":
            return self.read(self.place(node))
        if sign.strip("p") in ("++", "--"):
            place = self.place(node.expr)
            old = self.read(place)
            new = self.assign(node, place, self.binary(node, sign[-1], old, Value(INT, 1)))
            return old if sign[0] == "p" else new
        if sign == "!":
            return self.compare("==", self.condition(node.expr), Value(BOOL, 0), BOOL)
        value = self.value(node.expr)
        if not (value.type.is_integer or (value.type.is_float and sign != "~")):
            raise self.error(f"operator {sign} is not defined for {value.type}", node)
        return self.unary(sign, value)

    def _measured(self, node: Any) -> CType:
        """Return the type that `sizeof` measures: an array does not become a pointer."""
        match type(node).__name__:
            case "Typename":
                return self.type_of(node)
            case "ID" | "ArrayRef":
                with self.inside(Block()):
                    return (self._name(node) if type(node).__name__ == "ID" else self.place(node)).type
            case _:
                return self.without_effects(node).type

    def _address(self, node: Any) -> Value:
        """Return the address of a variable. An undeclared name in a fragment becomes a pointer."""
        kept = self.expected
        if type(node).__name__ == "ID" and self.text.is_fragment and not (self.find(node.name) or node.name in _WORDS):
            return self.value(node, kept if kept.depth else self._expected_pointer())
        self.expected = replace(kept, depth=max(kept.depth - 1, 0))
        place = self.place(node)
        self.expected = kept
        pointer = place.type.pointer if place.type.extents else replace(place.type, depth=place.type.depth + 1)
        return replace(place.address, type=pointer)

    # Operators ----------------------------------------------------------------------------------------------

    def _visit_BinaryOp(self, node: Any) -> Value:  # noqa: N802
        if node.op in ("&&", "||"):
            return self._logical(node)
        left = self.value(node.left)
        right = self.value(node.right, INT if left.type.depth else None)
        return self.binary(node, node.op, left, right)

    def binary(self, node: Any, sign: str, left: Value, right: Value) -> Value:
        """Return the result of a binary operator, such as "+"."""
        a, b = left.type, right.type
        if a.is_number and b.is_number:
            if sign in COMPARISONS:
                return self.compare(sign, left, right, common(a, b))
            if (a.is_integer and b.is_integer) or ARITHMETIC[sign][-1] is not None:
                return self.arithmetic(sign, left, right)
        if sign in COMPARISONS and (a.depth or left.is_null) and (b.depth or right.is_null):
            return self.compare(sign, left, right, a if a.depth else b if b.depth else VOID.pointer)
        if sign in ("+", "-") and a.depth and b.is_integer:
            self._expect_pointer(left, node)
            return self.moved(left, right, 1 if sign == "+" else -1)
        if sign == "+" and a.is_integer and b.depth:
            return self.binary(node, sign, right, left)
        if sign == "-" and a.depth == b.depth and a.base == b.base and a.depth:
            self._expect_pointer(left, node)
            bytes_ = self.arithmetic("-", self.convert(left, LONG), self.convert(right, LONG))
            return self.arithmetic("/", bytes_, Value(LONG, a.pointee.size))
        raise self.error(f'operator {sign} is not defined for "{a}" and "{b}"', node)

    def assign(self, node: Any, place: Place, value: Value) -> Value:
        """Store a value in a variable, converted to the type of the variable. Return the converted value."""
        if place.type.extents or (place.type.const and not place.type.depth):
            kind = "an array" if place.type.extents else "a constant"
            raise self.error(f"cannot assign to {kind}; expected a variable", node)
        if is_constant_memory(self.ssa(place.address)):
            raise self.error("cannot assign to a variable in constant memory", node)
        converted = self.implicit(value, place.type, node)
        self.write(converted, place)
        return converted

    def _visit_Assignment(self, node: Any) -> Value:  # noqa: N802
        right = self.value(node.rvalue, self._measured(node.lvalue))
        place = self.place(node.lvalue)
        if node.op != "=":
            right = self.binary(node, node.op[:-1], self.read(place), right)
            right = right if right.type.depth else self.convert(right, place.type)
        return self.assign(node, place, right)

    def _logical(self, node: Any) -> Value:
        stops = int(node.op == "||")
        left = self.condition(node.left)
        if left.constant is not None:
            return Value(BOOL, stops) if bool(left.constant) == bool(stops) else self.condition(node.right)
        other, end = Block(), Block(arg_types=[i1])
        known, condition = self.integer(stops, 1), self.ssa(left)
        if stops:
            self.add(llvm.CondBrOp(condition, end, [known], other, []))
        else:
            self.add(llvm.CondBrOp(condition, other, [], end, [known]))
        self.start(other)
        self.add(llvm.BrOp(end, self.ssa(self.condition(node.right))))
        self.start(end)
        return Value(BOOL, None, end.args[0])

    def _visit_TernaryOp(self, node: Any) -> Value:  # noqa: N802
        chosen = self.condition(node.cond)
        if chosen.constant is not None:
            yes, no = (self.without_effects(each) for each in (node.iftrue, node.iffalse))
            value = self.value(node.iftrue if chosen.constant else node.iffalse)
            return value if yes.type == VOID else self.convert(value, self._united(node, yes, no))
        blocks = Block(), Block()
        self.add(llvm.CondBrOp(self.ssa(chosen), blocks[0], [], blocks[1], []))
        ends: list[tuple[Block, Value]] = []
        for block, branch in zip(blocks, (node.iftrue, node.iffalse), strict=True):
            self.start(block)
            value = self.value(branch)
            ends.append((self.block, value))
        (_, yes), (_, no) = ends
        ctype = VOID if yes.type == no.type == VOID else self._united(node, yes, no)
        end = Block(arg_types=[] if ctype == VOID else [i1 if ctype.plain == BOOL else memory_type(ctype)])
        for block, value in ends:
            with self.inside(block):
                self.add(llvm.BrOp(end, *([] if ctype == VOID else [self.ssa(self.convert(value, ctype))])))
        self.start(end)
        return Value(ctype, None, end.args[0] if end.args else None)

    def _united(self, node: Any, yes: Value, no: Value) -> CType:
        a, b = yes.type, no.type
        if replace(a, const=b.const) == b:
            return replace(a, const=a.const or b.const)
        if a.depth and no.is_null:
            return a
        if b.depth and yes.is_null:
            return b
        if a.is_number and b.is_number:
            return common(a, b)
        raise self.error(f'expected two values of one type, got "{a}" and "{b}"', node)


def _integer(text: str) -> Value | None:
    """Return the value of an integer literal, or None if no type contains it."""
    digits = text.rstrip("uUlL")
    suffix = text[len(digits) :].lower()
    is_decimal = digits.isdigit() and digits[0] != "0"
    number = int(digits, 8 if digits[0] == "0" and digits.isdigit() else 0)
    word = "long long" if suffix.count("l") == 2 else "long"
    order = [word, f"unsigned {word}"] if "l" in suffix else ["int", "unsigned int", "long", "unsigned long"]
    if "u" in suffix:
        order = [each for each in order if "unsigned" in each]
    elif is_decimal and "l" not in suffix:
        order.remove("unsigned int")
    return next((Value(CType(each), number) for each in order if wrap(number, CType(each)) == number), None)
