"""Builder for the llvm operations that replace one nvvm operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, i1, i64
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, Operation, SSAValue

from warploom.nvvm.dialect.types import pointer_to, width_of
from warploom.nvvm.mlir.llvm_syntax import operation_class

_NOT_EQUAL = IntegerAttr(1, i64)


@dataclass
class LlvmBuilder:
    """Builder of llvm operations. Each method appends to `operations` and returns the last result."""

    operations: list[Operation] = field(default_factory=list[Operation])

    def intrinsic(self, name: str, args: Sequence[SSAValue], *results: Attribute) -> SSAValue | None:
        """Call the intrinsic `llvm.nvvm.<name>`. Return its result: a struct for several, None for none."""
        types = [LLVMStructType.from_type_list(results)] if len(results) > 1 else list(results)
        call = llvm.CallIntrinsicOp(f"llvm.nvvm.{name}", args, types)
        self.operations.append(call)
        return call.ress

    def value(self, name: str, args: Sequence[SSAValue], *results: Attribute) -> SSAValue:
        """Call the intrinsic `llvm.nvvm.<name>`, which has results, and return its value."""
        result = self.intrinsic(name, args, *results)
        assert result is not None
        return result

    def constant(self, number: int, type: IntegerType) -> SSAValue:
        """Return an integer constant."""
        return self._add(llvm.ConstantOp(IntegerAttr(number, type), type))

    def flag(self, condition: object) -> SSAValue:
        """Return the i1 constant for the truth of a Python object."""
        return self.constant(int(bool(condition)), i1)

    def undefined(self, type: Attribute) -> SSAValue:
        """Return an undefined value."""
        return self._add(llvm.UndefOp(type))

    def element(self, struct: SSAValue, position: int) -> SSAValue:
        """Return one element of a struct."""
        assert isinstance(struct.type, LLVMStructType)
        at = DenseArrayBase.from_list(i64, [position])
        return self._add(llvm.ExtractValueOp(at, struct, struct.type.types.data[position]))

    def elements(self, value: SSAValue) -> list[SSAValue]:
        """Return the elements of a struct, or another value itself."""
        if not isinstance(value.type, LLVMStructType):
            return [value]
        return [self.element(value, position) for position in range(len(value.type.types))]

    def struct(self, values: Sequence[SSAValue], type: LLVMStructType) -> SSAValue:
        """Return a struct with the given elements."""
        whole = self.undefined(type)
        for position, value in enumerate(values):
            at = DenseArrayBase.from_list(i64, [position])
            whole = self._add(llvm.InsertValueOp(at, whole, value))
        return whole

    def cast(self, value: SSAValue, type: Attribute) -> SSAValue:
        """Return a value with the same bits and another type."""
        return value if value.type == type else self._add(llvm.BitcastOp(value, type))

    def resized(self, value: SSAValue, type: IntegerType) -> SSAValue:
        """Return an integer truncated or zero-extended to a type."""
        if value.type == type:
            return value
        resize = llvm.TruncOp if width_of(value.type) > width_of(type) else llvm.ZExtOp
        return self._add(resize(value, type))

    def binary(self, operation: type[llvm.AndOp | llvm.OrOp | llvm.ShlOp], a: SSAValue, b: SSAValue | int) -> SSAValue:
        """Return the result of a bitwise operation or a shift. The second operand may be a number."""
        return self._add(operation(a, self.constant(b, IntegerType(width_of(a.type))) if isinstance(b, int) else b))

    def is_not_zero(self, value: SSAValue) -> SSAValue:
        """Return the i1 result of a comparison: true if an integer is not zero."""
        return self._add(llvm.ICmpOp(value, self.constant(0, IntegerType(width_of(value.type))), _NOT_EQUAL))

    def assembly(
        self, text: str, constraints: Sequence[str], args: Sequence[SSAValue], results: Sequence[Attribute]
    ) -> list[SSAValue]:
        """Append inline assembly with side effects. Return one value for each type in `results`."""
        types = [LLVMStructType.from_type_list(results)] if len(results) > 1 else results
        asm = llvm.InlineAsmOp(text, ",".join(constraints), args, types, asm_dialect=0, has_side_effects=True)
        self.operations.append(asm)
        return [] if asm.res is None else [asm.res] if len(results) == 1 else self.elements(asm.res)

    def in_space(self, pointer: SSAValue, space: int) -> SSAValue:
        """Return a pointer converted to an address space."""
        if pointer.type == pointer_to(space):
            return pointer
        return self._add(
            operation_class("llvm.addrspacecast").create(operands=[pointer], result_types=[pointer_to(space)])
        )

    def _add(self, operation: Operation) -> SSAValue:
        self.operations.append(operation)
        return operation.results[0]
