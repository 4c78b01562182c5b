"""Expressions of CUDA C, evaluated as constants or as operations of the llvm dialect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import StringAttr, i1, i8
from xdsl.dialects.llvm import LLVMArrayType
from xdsl.ir import Attribute, Block, SSAValue

from warploom.diagnostics.wording import did_you_mean
from warploom.nvvm.builtins.c_types import BOOL, DOUBLE, INT, NULL, CType, Value, common, is_float, type_of_words, wrap
from warploom.nvvm.builtins.emitter import COMPARISONS, LONG, Emitter, memory_type
from warploom.nvvm.builtins.source import BuiltinError, CudaText
from warploom.nvvm.dialect.types import ADDRESS_SPACES, pointer_to

_ESCAPES = dict(zip("abfnrtv\\'\"?", b"\a\b\f\n\r\t\v\\'\"?", strict=True)) | {str(n): n for n in range(8)}
_REGISTERS = {"threadIdx": "tid", "blockIdx": "ctaid", "blockDim": "ntid", "gridDim": "nctaid"}
"""Special register of each variable of CUDA."""
_WORDS = {
    "true": Value(BOOL, 1), "false": Value(BOOL, 0), "nullptr": Value(NULL, 0), "NULL": Value(LONG, 0),
    "warpSize": Value(INT, 32),
}  # fmt: skip
_NODES = {"Label": "a label", "CompoundLiteral": "a compound literal", "InitList": "a list of initializers here"}
_INTEGRAL = frozenset({"%", "&", "|", "^", "<<", ">>"})
UNSIGNED = CType("unsigned int")
VOID = CType("void")


@dataclass(frozen=True, slots=True)
class Place:
    """Variable in memory: its address and C type. `name` identifies a whole variable."""

    address: Value
    type: CType
    name: object = None


@dataclass(frozen=True, slots=True)
class Global:
    """Variable of the module."""

    name: str
    space: str
    type: CType


class Expressions(Emitter):
    """Walk over the expressions of a syntax tree.

    `expected` is the type that an undeclared name has in a fragment. `spaces` has the state space of the pointers in
    each variable. It is known after a first walk, so the walk is repeated while `stale` is set.
    """

    def __init__(self, text: CudaText, spaces: dict[object, str]) -> None:
        self.text = text
        self.scopes: list[dict[str, Value | Place | Global | CType]] = [{}]
        self.expected: CType = INT
        self.spaces = spaces
        self.stale = False
        self._read_spaces: set[object] = set()

    def error(self, message: str, node: Any, hint: str = "") -> BuiltinError:
        """Return an error at the token at which a node begins."""
        return self.text.error(message, self.text.span(node), hint)

    def refused(self, node: Any) -> BuiltinError:
        """Return the error for a node that cannot be lowered."""
        name = type(node).__name__
        return self.error(f"cannot lower {_NODES.get(name, name)}", node)

    def undeclared(self, name: str) -> Place | Value | None:
        """Return the parameter that an undeclared name becomes, or None if the name is an error."""
        raise NotImplementedError

    def call(self, name: str, node: Any) -> Value:
        """Return the result of a call."""
        raise NotImplementedError

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
                if pointee.extents:
                    return replace(pointee, depth=pointee.depth + 1, extents=(), rows=pointee.extents)
                return replace(pointee, depth=pointee.depth + 1)
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
            raise self.error(f"unsupported type '{' '.join(node.names)}'", node)
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
        """Return the value of an expression that is not executed."""
        kept, self.block = self.block, Block()
        value = self.value(node)
        self.block = kept
        return value

    # Places -------------------------------------------------------------------------------------------------

    def find(self, name: str) -> Value | Place | None:
        """Return the innermost variable or constant with a name."""
        found = next((scope[name] for scope in reversed(self.scopes) if name in scope), None)
        if isinstance(found, Global):
            pointer = replace(found.type, depth=found.type.depth + 1, extents=())
            address = self.result(llvm.AddressOfOp(found.name, pointer_to(ADDRESS_SPACES[found.space])))
            generic = self.cast("addrspacecast", address, pointer_to(0))
            return Place(Value(pointer, None, generic, found.space, 0, found.type.size), found.type)
        return None if isinstance(found, CType) else found

    def place(self, node: Any) -> Place:
        """Return the variable that an expression designates."""
        match type(node).__name__:
            case "ID":
                found = self._name(node)
                if isinstance(found, Place):
                    return found
            case "ArrayRef":
                pointer = self.value(node.name, self._expected_pointer())
                index = self.value(node.subscript, INT)
                if index.type.depth:
                    pointer, index = index, pointer
                self._expect_pointer(pointer, node)
                self._expect_integer(index, node.subscript)
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
        found = self.find(node.name) or _WORDS.get(node.name) or self.undeclared(node.name)
        if found is None:
            names = [name for scope in self.scopes for name in scope]
            raise self.error(f'identifier "{node.name}" is undefined', node, did_you_mean(node.name, names))
        return found

    def _expected_pointer(self) -> CType:
        return replace(self.expected, depth=self.expected.depth + 1)

    def _expect_pointer(self, value: Value, node: Any) -> None:
        if not value.type.depth or (value.type.depth == 1 and value.type.base == "void"):
            raise self.error(f"expected a pointer to a complete type, got {value.type}", node)

    def _expect_integer(self, value: Value, node: Any) -> None:
        if not value.type.is_integer:
            raise self.error(f"expected an integer, got {value.type}", node)

    def read(self, place: Place) -> Value:
        """Return the value of a variable. An array becomes a pointer to its first element."""
        if place.type.extents:
            return replace(place.address, type=place.type.pointer)
        self._read_spaces.add(place.name)
        loaded = self.result(llvm.LoadOp(self.ssa(place.address), memory_type(place.type), place.type.size))
        return replace(self.from_memory(loaded, place.type), space=self.spaces.get(place.name, ""))

    def write(self, value: Value, place: Place) -> None:
        """Store a value in a variable."""
        if place.name is not None and not value.is_null:
            self.note_space(place.name, value.space)
        self.store(value, self.ssa(place.address))

    def note_space(self, name: object, space: str) -> None:
        """Record the state space of a pointer that a variable contains. "" is unknown."""
        known = self.spaces.get(name)
        joined = space if known in (None, space) else ""
        self.stale |= joined != (known or "") and name in self._read_spaces
        self.spaces[name] = joined

    def implicit(self, value: Value, ctype: CType, node: Any) -> Value:
        """Return a value converted to `ctype`. Errors: BuiltinError if C++ has no implicit conversion."""
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
        kept, self.expected = self.expected, expected or self.expected
        found = getattr(self, f"_visit_{type(node).__name__}", self._visit_unknown)(node)
        self.expected = kept
        return found

    def condition(self, node: Any) -> Value:
        """Return the value of a condition, converted to bool."""
        value = self.value(node, INT)
        if value.type in (VOID, NULL):
            raise self.error(f"expected a condition, got a value of type {value.type}", node)
        return self.convert(value, BOOL)

    def _visit_unknown(self, node: Any) -> Value:
        raise self.refused(node)

    def _visit_ID(self, node: Any) -> Value:  # noqa: N802
        found = self._name(node)
        return self.read(found) if isinstance(found, Place) else found

    def _visit_ArrayRef(self, node: Any) -> Value:  # noqa: N802
        return self.read(self.place(node))

    def _visit_StructRef(self, node: Any) -> Value:  # noqa: N802
        name = getattr(node.name, "name", "")
        if name not in _REGISTERS or node.type != "." or node.field.name not in ("x", "y", "z"):
            raise self.error("cannot lower a member; expected threadIdx, blockIdx, blockDim or gridDim", node)
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
            return self._string(node)
        if node.type == "char":
            return Value(CType("char"), self._character(node))
        if not any(mark in node.type for mark in ("float", "double")):
            return _integer(text)
        ctype = CType("float") if text[-1] in "fF" and not text.startswith("0x") else DOUBLE
        digits = text.rstrip("fFlL")
        return Value(ctype, wrap(float.fromhex(digits) if "p" in digits.lower() else float(digits), ctype))

    def _character(self, node: Any) -> int:
        body = node.value[1:-1]
        if len(body) == 1 and body.isascii():
            return ord(body)
        if body[1:] not in _ESCAPES:
            raise self.error(f"unknown character {node.value}", node)
        return _ESCAPES[body[1:]]

    def _string(self, node: Any) -> Value:
        body = node.value[1:-1].encode().decode("unicode_escape") + "\0"
        kind = LLVMArrayType(len(body), i8)
        name = self.global_name("string")
        space = ADDRESS_SPACES["global"]
        self.add_global(llvm.GlobalOp(kind, name, "internal", space, constant=True, value=StringAttr(body)))
        self.scopes[0][name] = Global(name, "global", CType("char", 0, const=True, extents=(len(body),)))
        found = self.find(name)
        assert isinstance(found, Place)
        return self.read(found)

    def global_name(self, name: str) -> str:
        """Return a name that no global variable or function of the module has."""
        raise NotImplementedError

    def add_global(self, variable: llvm.GlobalOp) -> None:
        """Add a global variable to the module."""
        raise NotImplementedError

    def _visit_Cast(self, node: Any) -> Value:  # noqa: N802
        ctype = self.type_of(node.to_type)
        value = self.value(node.expr, ctype)
        if ctype == VOID:
            return Value(VOID)
        if VOID in (value.type, replace(ctype, const=False)) or (ctype.depth and is_float(value.type)):
            raise self.error(f'cannot convert a value of type "{value.type}" to "{ctype}"', node)
        if value.type.depth and is_float(ctype):
            raise self.error(f'cannot convert a value of type "{value.type}" to "{ctype}"', node)
        return self.convert(value, ctype)

    def _visit_UnaryOp(self, node: Any) -> Value:  # noqa: N802
        sign: str = node.op
        if sign in ("sizeof", "_Alignof"):
            is_type = type(node.expr).__name__ == "Typename"
            return Value(CType("unsigned long"), (self.type_of(node.expr) if is_type else self._type(node.expr)).size)
        if sign == "&":
            return self._address(node)
        if sign == "*":
            return self.read(self.place(node))
        if sign.strip("p") in ("++", "--"):
            place = self.place(node.expr)
            old = self.read(place)
            new = self.assign(node, place, self.binary(node, sign[-1], old, Value(INT, 1)))
            return old if sign[0] == "p" else new
        if sign == "!":
            value = self.condition(node.expr)
            if value.constant is not None:
                return Value(BOOL, int(not value.constant))
            return Value(BOOL, None, self.result(llvm.XOrOp(self.ssa(value), self.integer(1, 1))))
        value = self.value(node.expr)
        if not (value.type.is_integer or (is_float(value.type) and sign != "~")):
            raise self.error(f"operator {sign} is not defined for {value.type}", node)
        return self.negated(sign, value)

    def _type(self, node: Any) -> CType:
        """Return the type of an expression that is not executed. An array does not become a pointer."""
        if type(node).__name__ in ("ID", "ArrayRef"):
            kept, self.block = self.block, Block()
            found = self._name(node) if type(node).__name__ == "ID" else self.place(node)
            self.block = kept
            return found.type
        return self.without_effects(node).type

    def _address(self, node: Any) -> Value:
        """Return the address of a variable. The name of an undeclared fragment is a pointer."""
        inner, kept = node.expr, self.expected
        if type(inner).__name__ == "ID" and self.find(inner.name) is None:
            self.expected = kept if kept.depth else replace(kept, depth=1)
            if (found := self.undeclared(inner.name)) is not None:
                self.expected = kept
                return self.read(found) if isinstance(found, Place) else found
        self.expected = replace(kept, depth=max(kept.depth - 1, 0))
        place = self.place(inner)
        self.expected = kept
        if place.name is not None and place.type.depth:
            self.note_space(place.name, "")  # a store through the address may change the pointer
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
        numbers = all(each.is_integer or is_float(each) for each in (a, b))
        if numbers and sign not in COMPARISONS and not (sign in _INTEGRAL and not (a.is_integer and b.is_integer)):
            return self.arithmetic(sign, left, right)
        if numbers and sign in COMPARISONS:
            return self.compare(sign, left, right, common(a, b))
        if sign in COMPARISONS and (a.depth or left.is_null) and (b.depth or right.is_null):
            return self.compare(sign, left, right, a if a.depth else b if b.depth else CType("void", 1))
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
        converted = self.implicit(value, place.type, node)
        self.write(converted, place)
        return converted

    def _visit_Assignment(self, node: Any) -> Value:  # noqa: N802
        place = self.place(node.lvalue)
        right = self.value(node.rvalue, place.type)
        if node.op != "=":
            right = self.binary(node, node.op[:-1], self.read(place), right)
            right = right if right.type.depth else self.convert(right, place.type)
        return self.assign(node, place, right)

    def _logical(self, node: Any) -> Value:
        stops = int(node.op == "||")
        left = self.condition(node.left)
        if left.constant is not None:
            return Value(BOOL, stops) if bool(left.constant) == bool(stops) else self.condition(node.right)
        start, other, end = self.block, Block(), Block(arg_types=[self.ssa(left).type])
        self.block = other
        right = self.condition(node.right)
        self.add(llvm.BrOp(end, self.ssa(right)))
        self.block = start
        constant = self.integer(stops, 1)
        condition = self.ssa(left)
        if stops:
            self.add(llvm.CondBrOp(condition, end, [constant], other, []))
        else:
            self.add(llvm.CondBrOp(condition, other, [], end, [constant]))
        self.start(other, end)
        return Value(BOOL, None, end.args[0])

    def start(self, *blocks: Block) -> None:
        """Add blocks to the function and continue at the last one."""
        raise NotImplementedError

    def _visit_TernaryOp(self, node: Any) -> Value:  # noqa: N802
        chosen = self.condition(node.cond)
        if chosen.constant is not None:
            yes, no = (self.without_effects(each) for each in (node.iftrue, node.iffalse))
            value = self.value(node.iftrue if chosen.constant else node.iffalse)
            return value if yes.type == VOID else self.convert(value, self._united(node, yes, no))
        yes_block, no_block = Block(), Block()
        self.add(llvm.CondBrOp(self.ssa(chosen), yes_block, [], no_block, []))
        self.start(yes_block)
        yes, yes_end = self.value(node.iftrue), self.block
        self.start(no_block)
        no = self.value(node.iffalse)
        ctype, end = VOID, Block()
        first: list[SSAValue] = []
        second: list[SSAValue] = []
        if not yes.type == no.type == VOID:
            ctype = self._united(node, yes, no)
            second.append(self.ssa(self.convert(no, ctype)))
            no_end, self.block = self.block, yes_end
            first.append(self.ssa(self.convert(yes, ctype)))
            yes_end, self.block = self.block, no_end
            end = Block(arg_types=[first[0].type])
        self.add(llvm.BrOp(end, *second))
        yes_end.add_op(llvm.BrOp(end, *first))
        self.start(end)
        return Value(ctype, None, end.args[0] if first else None, yes.space if yes.space == no.space else "")

    def _united(self, node: Any, yes: Value, no: Value) -> CType:
        a, b = yes.type, no.type
        if replace(a, const=False) == replace(b, const=False):
            return replace(a, const=a.const or b.const)
        if a.depth and no.is_null:
            return a
        if b.depth and yes.is_null:
            return b
        if all(each.is_integer or is_float(each) for each in (a, b)):
            return common(a, b)
        raise self.error(f'expected two values of one type, got "{a}" and "{b}"', node)

    def _visit_FuncCall(self, node: Any) -> Value:  # noqa: N802
        if type(node.name).__name__ != "ID":
            raise self.error("expected the name of a function before (", node)
        return self.call(node.name.name, node)


def _integer(text: str) -> Value:
    digits = text.rstrip("uUlL")
    suffix = text[len(digits) :].lower()
    octal = digits[0] == "0" and digits.isdigit()
    number = int(digits, 8 if octal else 0)
    order = ("int", "long", "unsigned long") if "u" not in suffix else ("unsigned int", "unsigned long")
    if not digits.isdigit() or octal:
        order = ("int", "unsigned int", "long", "unsigned long") if "u" not in suffix else order
    if suffix.count("l"):
        word = "long long" if suffix.count("l") == 2 else "long"
        order = (f"unsigned {word}",) if "u" in suffix else (word, f"unsigned {word}")
    types = [CType(word) for word in order]
    ctype = next((each for each in types if wrap(number, each) == number), types[-1])
    return Value(ctype, wrap(number, ctype))
