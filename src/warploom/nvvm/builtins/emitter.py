"""Operations of the llvm dialect for conversions, arithmetic and memory accesses of C values."""

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from xdsl.dialects import llvm
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, bf16, f16, f32, f64, i1, i8, i16, i32, i64
from xdsl.dialects.llvm import GEP_USE_SSA_VAL, ICmpPredicateFlag, LLVMArrayType, LLVMPointerType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from warploom.nvvm.builtins.c_types import BOOL, CType, Value, common, is_float, is_unsigned, promoted, wrap
from warploom.nvvm.dialect.types import ADDRESS_SPACES, pointer_to
from warploom.nvvm.mlir.llvm_syntax import operation_class

_FLOATS = {"float": f32, "double": f64, "__half": f16, "__nv_bfloat16": bf16}
_INTEGERS = {1: i8, 2: i16, 4: i32, 8: i64}
LONG = CType("long")
_SIGNED = {
    "+": llvm.AddOp, "-": llvm.SubOp, "*": llvm.MulOp, "&": llvm.AndOp, "|": llvm.OrOp, "^": llvm.XOrOp,
    "<<": llvm.ShlOp, ">>": llvm.AShrOp, "/": llvm.SDivOp, "%": llvm.SRemOp,
}  # fmt: skip
_UNSIGNED = {**_SIGNED, ">>": llvm.LShrOp, "/": llvm.UDivOp, "%": llvm.URemOp}
_REAL = {"+": llvm.FAddOp, "-": llvm.FSubOp, "*": llvm.FMulOp, "/": llvm.FDivOp}
COMPARISONS: dict[str, tuple[Callable[[float, float], bool], str, str, str]] = {
    "==": (operator.eq, "eq", "eq", "oeq"), "!=": (operator.ne, "ne", "ne", "une"),
    "<": (operator.lt, "slt", "ult", "olt"), ">": (operator.gt, "sgt", "ugt", "ogt"),
    "<=": (operator.le, "sle", "ule", "ole"), ">=": (operator.ge, "sge", "uge", "oge"),
}  # fmt: skip
"""Function of each comparison, and its predicates for signed, unsigned and floating-point values."""
_FOLDED: dict[str, Callable[[int, int], int]] = {
    "|": int.__or__, "^": int.__xor__, "&": int.__and__, "+": int.__add__, "-": int.__sub__, "*": int.__mul__,
}  # fmt: skip
_Operation = TypeVar("_Operation", bound=Operation)


def memory_type(ctype: CType) -> Attribute:
    """Return the LLVM type of a variable. A bool has 8 bits in memory."""
    if ctype.extents:
        found = memory_type(ctype.element)
        for extent in reversed(ctype.extents):
            found = LLVMArrayType(extent, found)
        return found
    if ctype.depth:
        return LLVMPointerType()
    return _FLOATS[ctype.base] if is_float(ctype) else _INTEGERS[ctype.size]


class Emitter:
    """Builder of operations at the end of the block `block`.

    SSA values of the C type bool have the type i1.
    """

    block: Block

    def add(self, operation: _Operation) -> _Operation:
        """Add an operation to the block and return it."""
        self.block.add_op(operation)
        return operation

    def result(self, operation: Operation) -> SSAValue:
        """Add an operation to the block and return its result."""
        return self.add(operation).results[0]

    def cast(self, name: str, value: SSAValue, type: Attribute) -> SSAValue:
        """Return the result of a cast of the llvm dialect, such as "addrspacecast"."""
        return self.result(operation_class(f"llvm.{name}").create(operands=[value], result_types=[type]))

    def integer(self, number: int, width: int = 32) -> SSAValue:
        """Return an integer constant."""
        ctype = {1: i1, 8: i8, 16: i16, 32: i32, 64: i64}[width]
        number = (number + (1 << (width - 1))) % (1 << width) - (1 << (width - 1)) if width > 1 else number & 1
        return self.result(llvm.ConstantOp(IntegerAttr(number, ctype), ctype))

    def ssa(self, value: Value) -> SSAValue:
        """Return the SSA value of a value."""
        if value.ssa is not None:
            return value.ssa
        ctype, constant = value.type, value.constant
        if constant is None:
            return self.result(llvm.UndefOp(i1 if ctype.base == "bool" and not ctype.depth else memory_type(ctype)))
        if is_float(ctype):
            kind = _FLOATS[ctype.base]
            return self.result(llvm.ConstantOp(FloatAttr(float(constant), kind), kind))
        if ctype.depth and not constant:
            return self.result(llvm.ZeroOp.build(result_types=[LLVMPointerType()]))
        is_bool = ctype.base == "bool" and not ctype.depth
        found = self.integer(int(constant), 1 if is_bool else 8 * ctype.size)
        return self.result(llvm.IntToPtrOp(found)) if ctype.depth else found

    # Memory -------------------------------------------------------------------------------------------------

    def from_memory(self, loaded: SSAValue, ctype: CType) -> Value:
        """Return the value of a loaded variable, a parameter or a result."""
        if replace(ctype, const=False) == BOOL:
            loaded = self._compare("ne", loaded, self.integer(0, 8))
        return Value(ctype, None, loaded)

    def in_memory(self, value: Value) -> SSAValue:
        """Return the SSA value that a variable, a parameter or a result contains."""
        found = self.ssa(value)
        return self.result(llvm.ZExtOp(found, i8)) if replace(value.type, const=False) == BOOL else found

    def store(self, value: Value, pointer: SSAValue) -> None:
        """Store a value."""
        # LLVM's default alignment of 64-bit integers is 4 bytes.
        self.add(llvm.StoreOp(self.in_memory(value), pointer, value.type.size))

    def in_space(self, value: Value, space: str) -> SSAValue:
        """Return a pointer to a state space; "" is the generic space."""
        pointer, kind = self.ssa(value), pointer_to(ADDRESS_SPACES[space])
        return pointer if pointer.type == kind or not space else self.cast("addrspacecast", pointer, kind)

    def moved(self, pointer: Value, index: Value, sign: int = 1) -> Value:
        """Return a pointer plus or minus an index in elements."""
        pointee = pointer.type.pointee
        offset = pointer.offset + (sign * int(index.constant) * pointee.size if index.constant is not None else 0)
        wide = self.convert(index, CType("unsigned long") if is_unsigned(index.type) else LONG)
        if wide.constant is not None:
            at, operands = sign * int(wide.constant), []
        else:
            step = self.ssa(wide)
            at, operands = GEP_USE_SSA_VAL, [step if sign > 0 else self.result(llvm.SubOp(self.integer(0, 64), step))]
        if not -(1 << 31) < at < 1 << 31 and not operands:
            at, operands = GEP_USE_SSA_VAL, [self.integer(at, 64)]
        found = self.result(llvm.GEPOp(self.ssa(pointer), [at], memory_type(pointee), operands))
        return Value(pointer.type, None, found, pointer.space, offset, 0 if operands else pointer.room)

    # Conversions --------------------------------------------------------------------------------------------

    def convert(self, value: Value, ctype: CType) -> Value:
        """Return a value converted to the type `ctype`. A pointer keeps its state space."""
        ctype = ctype if ctype.depth else replace(ctype, const=False)
        source = value.type
        if value.constant is not None:
            return Value(ctype, wrap(value.constant, ctype))
        if value.ssa is None or (source.depth and ctype.depth):
            return replace(value, type=ctype)
        if replace(source, const=False) == ctype:
            return replace(value, type=ctype)
        if ctype == BOOL:
            zero = Value(source, 0.0 if is_float(source) else 0)
            return self.compare("!=", value, zero, source)
        space = value.space if source.size == ctype.size and not is_float(source) else ""
        return Value(ctype, None, self._converted(value.ssa, source, ctype), space)

    def _converted(self, ssa: SSAValue, source: CType, target: CType) -> SSAValue:
        if source.depth:
            ssa, source = self.result(llvm.PtrToIntOp(ssa, i64)), CType("unsigned long")
        if target.depth:
            return self.result(llvm.IntToPtrOp(self._converted(ssa, source, CType("unsigned long"))))
        kind = memory_type(target)
        if is_float(source) and is_float(target):
            if source.size == target.size:
                ssa = self.cast("fpext", ssa, f32)
            return self.cast("fpext" if source.size < target.size else "fptrunc", ssa, kind)
        if is_float(source):
            return self.cast("fptoui" if is_unsigned(target) else "fptosi", ssa, kind)
        if is_float(target):
            return self.cast("uitofp" if is_unsigned(source) else "sitofp", ssa, kind)
        if source.size == target.size and source != BOOL:
            return ssa
        if source.size > target.size:
            return self.cast("trunc", ssa, kind)
        return self.cast("zext" if is_unsigned(source) else "sext", ssa, kind)

    # Arithmetic ---------------------------------------------------------------------------------------------

    def negated(self, sign: str, value: Value) -> Value:
        """Return the result of the operator "+", "-" or "~"."""
        ctype = promoted(value.type)
        operand = self.convert(value, ctype)
        if sign == "+":
            return operand
        if sign == "~":
            return self.arithmetic("^", operand, Value(ctype, -1))
        if operand.constant is not None:
            return Value(ctype, wrap(-operand.constant, ctype))
        if is_float(ctype):
            return Value(ctype, None, self.result(llvm.FNegOp(self.ssa(operand))))
        return self.arithmetic("-", Value(ctype, 0), operand)

    def arithmetic(self, sign: str, left: Value, right: Value) -> Value:
        """Return the result of a binary operator on two numbers by the rules of C++."""
        is_shift = sign in ("<<", ">>")
        ctype = promoted(left.type) if is_shift else common(left.type, right.type)
        a, b = self.convert(left, ctype), self.convert(right, ctype)
        if a.constant is not None and b.constant is not None:
            number = _folded(sign, a.constant, int(right.constant or 0) if is_shift else b.constant, ctype)
            return Value(ctype, None if number is None else wrap(number, ctype))
        table = _REAL if is_float(ctype) else _UNSIGNED if is_unsigned(ctype) else _SIGNED
        return Value(ctype, None, self.result(table[sign](self.ssa(a), self.ssa(b))))

    def compare(self, sign: str, left: Value, right: Value, ctype: CType) -> Value:
        """Return the result of a comparison of two values converted to the type `ctype`."""
        a, b = self.convert(left, ctype), self.convert(right, ctype)
        function, signed, unsigned, real = COMPARISONS[sign]
        if a.constant is not None and b.constant is not None:
            return Value(BOOL, int(function(a.constant, b.constant)))
        if ctype.depth:
            a, b = self.convert(a, CType("unsigned long")), self.convert(b, CType("unsigned long"))
        predicate = real if is_float(ctype) else unsigned if is_unsigned(ctype) else signed
        return Value(BOOL, None, self._compare(predicate, self.ssa(a), self.ssa(b)))

    def _compare(self, predicate: str, left: SSAValue, right: SSAValue) -> SSAValue:
        if predicate[0] == "o" or predicate == "une":
            return self.result(llvm.FCmpOp(left, right, predicate))
        number = ICmpPredicateFlag(predicate).to_int()
        return self.result(llvm.ICmpOp(left, right, IntegerAttr(number, i64)))


def _folded(sign: str, a: float, b: float, ctype: CType) -> float | None:
    """Return the result of a binary operator on two constants, or None if it is undefined."""
    if is_float(ctype):
        real: dict[str, Callable[[], float]] = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b}
        return a / b if sign == "/" and b else real[sign]() if sign in real else None
    a, b = int(a), int(b)
    if sign in ("<<", ">>"):
        if not 0 <= b < 8 * ctype.size:
            return None
        return a << b if sign == "<<" else a >> b
    if sign in ("/", "%"):
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if sign == "/" else a - b * quotient
    return _FOLDED[sign](a, b)
