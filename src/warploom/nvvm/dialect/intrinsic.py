"""Base class of operations that one intrinsic of LLVM replaces."""

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, VectorType, i16
from xdsl.ir import Attribute, SSAValue

from warploom.diagnostics import UsageError
from warploom.nvvm.dialect.lowering import InstructionTemplate
from warploom.nvvm.dialect.operation import Operation
from warploom.nvvm.dialect.types import registers_of, width_of
from warploom.nvvm.intrinsics import PREFIX, name_of
from warploom.nvvm.llvm_builder import LlvmBuilder


class IntrinsicOperation(Operation):
    """Operation that becomes one intrinsic with the same operands.

    The name of the intrinsic follows from the PTX instruction. Intrinsics take and return packed integers of 8 and
    16 bits as one integer of at least 16 bits.
    """

    def to_llvm(self, build: LlvmBuilder) -> Sequence[SSAValue] | None:
        (template,) = self.lower().statements
        assert isinstance(template, InstructionTemplate)
        try:
            name = self.named(name_of(template.form, template.present_words, template.operands))
        except UsageError:
            return None
        name = name.removeprefix(PREFIX)
        args = [_packed(value, build) for value in self.arguments(build)]
        if not self.results:
            build.intrinsic(name, args)
            return ()
        result = self.results[0].type
        value = build.value(name, args, _packed_type(result))
        if width := width_of(result):
            return [build.resized(value, IntegerType(width))]
        return [build.cast(value, result)]

    def arguments(self, build: LlvmBuilder) -> Sequence[SSAValue]:
        """Return the operands of the intrinsic."""
        return self.operands

    def named(self, name: str) -> str:
        """Return the name of the intrinsic. `name` follows from the PTX instruction."""
        return name


def _packed_type(type: Attribute) -> Attribute:
    return i16 if registers_of(type) == ("b16",) else type


def _packed(value: SSAValue, build: LlvmBuilder) -> SSAValue:
    match value.type:
        case IntegerType(width=width) if width.data == 8:
            return build.resized(value, i16)
        case VectorType(element_type=IntegerType(width=width)) as vector:
            return build.cast(value, IntegerType(width.data * vector.element_count()))
        case _:
            return value
