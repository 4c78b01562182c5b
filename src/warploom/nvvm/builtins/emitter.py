"""Operations of the llvm dialect for conversions, arithmetic and memory accesses of C values."""

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.llvm import GEP_USE_SSA_VAL, ICmpPredicateFlag, LLVMArrayType, LLVMPointerType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from warploom.nvvm.builtins.c_types import BOOL, LONG, SIZE, CType, Value, common, promoted, wrap
from warploom.nvvm.dialect.types import ADDRESS_SPACES, pointer_to
from warploom.nvvm.mlir.llvm_syntax import operation_class

_FLOATS = {"float": f32, "double": f64, "__half": f16, "__nv_bfloat16": bf16}
_INTEGERS = {1: i8, 2: i16, 4: i32, 8: i64}
ARITHMETIC: dict[str, tuple[Callable[[Any, Any], Any], Any, Any, Any]] = {
    "+": (operator.add, llvm.AddOp, llvm.AddOp, llvm.FAddOp),
    "-": (operator.sub, llvm.SubOp, llvm.SubOp, llvm.FSubOp),
    "*": (operator.mul, llvm.MulOp, llvm.MulOp, llvm.FMulOp),
    "/": (lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1), llvm.SDivOp, llvm.UDivOp, llvm.FDivOp),
    "%": (lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1), llvm.SRemOp, llvm.URemOp, None),
    "&": (int.__and__, llvm.AndOp, llvm.AndOp, None),
    "|": (int.__or__, llvm.OrOp, llvm.OrOp, None),
    "^": (int.__xor__, llvm.XOrOp, llvm.XOrOp, None),
    "<<": (int.__lshift__, llvm.ShlOp, llvm.ShlOp, None),
    ">>": (int.__rshift__, llvm.AShrOp, llvm.LShrOp, None),
}
"""Function of each operator on integers, and its operations on signed, unsigned and real values."""
COMPARISONS: dict[str, tuple[Callable[[float, float], bool], str, str, str]] = {
    "==": (operator.eq, "eq", "eq", "oeq"), "!=": (operator.ne, "ne", "ne", "une"),
    "<": (operator.lt, "slt", "ult", "olt"), ">": (operator.gt, "sgt", "ugt", "ogt"),
    "<=": (operator.le, "sle", "ule", "ole"), ">=": (operator.ge, "sge", "uge", "oge"),
}  # fmt: skip
"""Function of each comparison, and its predicates for signed, unsigned and floating-point values."""
AnyOperation = TypeVar("AnyOperation", bound=Operation)


def memory_type(ctype: CType) -> Attribute:
    """Return the LLVM type of a variable. A bool has 8 bits in memory."""
    if ctype.extents:
        found = memory_type(ctype.element)
        for extent in reversed(ctype.extents):
            found = LLVMArrayType(extent, found)
        return found
    if ctype.depth:
        return LLVMPointerType()
    return _FLOATS[ctype.base] if ctype.is_float else _INTEGERS[ctype.size]


class Emitter:
    """Builder of operations at the end of the block `block`.

    SSA values of the C type bool have the type i1.
    """

    def __init__(self) -> None:
        self.block = Block()

    def add(self, operation: AnyOperation) -> AnyOperation:
        """Add an operation to the block and return it."""
        self.block.add_op(operation)
        return operation

    def result(self, operation: Operation) -> SSAValue:
        """Add an operation to the block and return its result."""
        return self.add(operation).results[0]

    def cast(self, name: str, value: SSAValue, type: Attribute) -> SSAValue:
        """Return the result of a cast of the llvm dialect, such as "addrspacecast"."""
        return self.result(operation_class(f"llvm.{name}").create(operands=[value], result_types=[type]))

    def extracted(self, struct: SSAValue, position: int, type: Attribute) -> SSAValue:
        """Return a member of a struct."""
        return self.result(llvm.ExtractValueOp(DenseArrayBase.from_list(i64, [position]), struct, type))

    def integer(self, number: int, width: int = 32) -> SSAValue:
        """Return an integer constant."""
        kind = IntegerType(width)
        return self.result(llvm.ConstantOp(IntegerAttr(number, kind, truncate_bits=True), kind))

    def ssa(self, value: Value) -> SSAValue:
        """Return the SSA value of a C value. A constant becomes an operation."""
        if value.ssa is not None:
            return value.ssa
        ctype, constant = value.type.plain, value.constant
        if constant is None:
            return self.result(llvm.UndefOp(i1 if ctype == BOOL else memory_type(ctype)))
        if ctype.is_float:
            kind = _FLOATS[ctype.base]
            return self.result(llvm.ConstantOp(FloatAttr(float(constant), kind), kind))
        if ctype.depth and not constant:
            return self.result(llvm.ZeroOp.build(result_types=[LLVMPointerType()]))
        found = self.integer(int(constant), 1 if ctype == BOOL else 8 * ctype.size)
        return self.result(llvm.IntToPtrOp(found)) if ctype.depth else found

    # Memory -------------------------------------------------------------------------------------------------

    def from_memory(self, loaded: SSAValue, ctype: CType) -> Value:
        """Convert an SSA value from its type in memory: a bool has 8 bits in memory, and 1 bit otherwise."""
        if ctype.plain == BOOL:
            loaded = self.icmp("ne", loaded, self.integer(0, 8))
        return Value(ctype, None, loaded)

    def in_memory(self, value: Value) -> SSAValue:
        """Convert a C value to its type in memory: a bool from 1 bit to 8 bits."""
        found = self.ssa(value)
        return self.result(llvm.ZExtOp(found, i8)) if value.type.plain == BOOL else found

    def store(self, value: Value, pointer: SSAValue) -> None:
        """Store a value."""
        # LLVM's default alignment of 64-bit integers is 4 bytes.
        self.add(llvm.StoreOp(self.in_memory(value), pointer, value.type.size))

    def in_space(self, value: Value, space: str) -> SSAValue:
        """Return a pointer cast to a state space, or the same pointer for ""."""
        pointer, kind = self.ssa(value), pointer_to(ADDRESS_SPACES[space])
        return pointer if pointer.type == kind or not space else self.cast("addrspacecast", pointer, kind)

    def moved(self, pointer: Value, index: Value, sign: int = 1) -> Value:
        """Return `pointer + sign * index`, where the index counts elements."""
        pointee = pointer.type.pointee
        wide = self.convert(index, SIZE if index.type.is_unsigned else LONG)
        at, operands, offset = GEP_USE_SSA_VAL, list[SSAValue](), pointer.offset
        if wide.constant is None:
            step = self.ssa(wide)
            operands = [step if sign > 0 else self.result(llvm.SubOp(self.integer(0, 64), step))]
        else:
            number = sign * int(wide.constant)
            offset += number * pointee.size
            if -(1 << 31) < number < 1 << 31:
                at = number
            else:
                operands = [self.integer(number, 64)]
        found = self.result(llvm.GEPOp(self.ssa(pointer), [at], memory_type(pointee), operands))
        return Value(pointer.type, None, found, offset, 0 if operands else pointer.room)

    # Conversions --------------------------------------------------------------------------------------------

    def convert(self, value: Value, ctype: CType) -> Value:
        """Return a value converted to the type `ctype`."""
        ctype, source = ctype.plain, value.type
        if value.constant is not None:
            return Value(ctype, wrap(value.constant, ctype))
        if value.ssa is None or (source.depth and ctype.depth) or source.plain == ctype:
            return replace(value, type=ctype)
        if ctype == BOOL:
            return self.compare("!=", value, Value(source, 0.0 if source.is_float else 0), source)
        return Value(ctype, None, self._converted(value.ssa, source, ctype))

    def _converted(self, ssa: SSAValue, source: CType, target: CType) -> SSAValue:
        if source.depth:
            ssa, source = self.result(llvm.PtrToIntOp(ssa, i64)), SIZE
        if target.depth:
            return self.result(llvm.IntToPtrOp(self._converted(ssa, source, SIZE)))
        kind = memory_type(target)
        if source.is_float and target.is_float:
            if source.size == target.size:
                ssa = self.cast("fpext", ssa, f32)
            return self.cast("fpext" if source.size < target.size else "fptrunc", ssa, kind)
        if source.is_float:
            return self.cast("fptoui" if target.is_unsigned else "fptosi", ssa, kind)
        if target.is_float:
            return self.cast("uitofp" if source.is_unsigned else "sitofp", ssa, kind)
        if source.size == target.size and source != BOOL:
            return ssa
        if source.size > target.size:
            return self.cast("trunc", ssa, kind)
        return self.cast("zext" if source.is_unsigned else "sext", ssa, kind)

    # Arithmetic ---------------------------------------------------------------------------------------------

    def unary(self, sign: str, value: Value) -> Value:
        """Return the result of the operator "+", "-" or "~" on a number."""
        operand = self.convert(value, promoted(value.type))
        ctype, constant = operand.type, operand.constant
        if sign == "+":
            return operand
        if sign == "~":
            return self.arithmetic("^", operand, Value(ctype, -1))
        if not ctype.is_float:
            return self.arithmetic("-", Value(ctype, 0), operand)
        ssa = self.result(llvm.FNegOp(self.ssa(operand))) if constant is None else None
        return Value(ctype, None if constant is None else -constant, ssa)

    def arithmetic(self, sign: str, left: Value, right: Value) -> Value:
        """Return the result of a binary operator on two numbers by the rules of C++."""
        is_shift = sign in ("<<", ">>")
        ctype = promoted(left.type) if is_shift else common(left.type, right.type)
        a, b = self.convert(left, ctype), self.convert(right, ctype)
        function, signed, unsigned, real = ARITHMETIC[sign]
        if a.constant is not None and b.constant is not None:
            by = right.constant or 0 if is_shift else b.constant
            if (sign in ("/", "%") and not by) or (is_shift and not 0 <= by < 8 * ctype.size):
                return Value(ctype)
            number = a.constant / by if ctype.is_float and sign == "/" else function(a.constant, by)
            return Value(ctype, wrap(number, ctype))
        operation = real if ctype.is_float else unsigned if ctype.is_unsigned else signed
        return Value(ctype, None, self.result(operation(self.ssa(a), self.ssa(b))))

    def compare(self, sign: str, left: Value, right: Value, ctype: CType) -> Value:
        """Return the result of a comparison of two values converted to the type `ctype`."""
        a, b = self.convert(left, ctype), self.convert(right, ctype)
        function, signed, unsigned, real = COMPARISONS[sign]
        if a.constant is not None and b.constant is not None:
            return Value(BOOL, int(function(a.constant, b.constant)))
        if ctype.is_float:
            return Value(BOOL, None, self.result(llvm.FCmpOp(self.ssa(a), self.ssa(b), real)))
        if ctype.depth:
            a, b = self.convert(a, SIZE), self.convert(b, SIZE)
        return Value(BOOL, None, self.icmp(unsigned if ctype.is_unsigned else signed, self.ssa(a), self.ssa(b)))

    def icmp(self, predicate: str, left: SSAValue, right: SSAValue) -> SSAValue:
        """Return the result of a comparison of integers."""
        number = ICmpPredicateFlag(predicate).to_int()
        return self.result(llvm.ICmpOp(left, right, IntegerAttr(number, i64)))
