"""Base class of the dialect's operations, and the operation nvvm.inline_ptx."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import ClassVar, TypeVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr, i1
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    opt_operand_def,
    prop_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from warploom.diagnostics import Diagnostic
from warploom.isa.binding.bind import bind
from warploom.isa.model.form import Form
from warploom.isa.model.table import FormError
from warploom.nvvm.dialect.attributes import EnumAttribute
from warploom.nvvm.dialect.lowering import (
    Discarded,
    Immediate,
    InstructionTemplate,
    Lowering,
    Memory,
    OperandTemplate,
    RegisterNames,
    Temporary,
)
from warploom.nvvm.dialect.types import registers_of, space_of
from warploom.nvvm.llvm_builder import LlvmBuilder

SEGMENTED = (AttrSizedOperandSegments(as_property=True),)
"""Options of an operation with several optional or variadic operands."""
NO_WORDS: Mapping[str, str] = MappingProxyType({})


class Operation(IRDLOperation, ABC):
    """Base class of the dialect's operations."""

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"
    FORMS: ClassVar[tuple[Form, ...]] = ()
    """Forms that the instruction of the operation may have."""
    WORDS: ClassVar[Mapping[str, str]] = NO_WORDS
    """Modifiers by name that the instruction of the operation always has."""
    NAMES: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"group": "cta_group", "l2CacheHint": "cache_policy", "multicastMask": "ctaMask", "txcount": "txCount"}
    )
    """PTX name of an operand or modifier, by its MLIR name, if the names differ."""
    SPACES: ClassVar[Mapping[str, str]] = NO_WORDS
    """MLIR name of the pointer whose state space a modifier states, by the name of the modifier."""

    def check(self) -> None:
        """Raise VerifyException if MLIR refuses the operation."""

    def lower(self) -> Lowering:
        """Return the PTX of the operation."""
        return Lowering([self.declared()])

    def to_llvm(self, build: LlvmBuilder) -> Sequence[SSAValue] | None:
        """Append the llvm operations that replace the operation, and return the values for its results.

        The default, None, stands for the intrinsic of the form of the PTX instruction, or else for inline PTX.
        """
        return None

    def declared(
        self, words: Mapping[str, str] = NO_WORDS, late: Sequence[str] = (), /, **operands: OperandTemplate | None
    ) -> InstructionTemplate:
        """Return the instruction with the operands and modifiers that the class declares.

        `words` and `operands` override declared ones. An operand that is None is omitted. `late` names the modifiers
        that are printed last.
        """
        vocabulary = self.FORMS[0].vocabulary
        slots = {slot for form in self.FORMS for slot in form.slot_names}
        found: dict[str, str] = {}
        values: dict[str, OperandTemplate | None] = {}
        for slot, name in self.SPACES.items():
            space = space_of(getattr(self, name))
            found[slot] = f"{space}::cta" if space == "shared" and space not in vocabulary[slot] else space
        definition = self.get_irdl_definition()
        for name in (*dict(definition.operands), *dict(definition.results), *definition.properties):
            # An operand, result or property is an operand or modifier if a form has its PTX name.
            ptx_name, value = self.NAMES.get(name, name), getattr(self, name, None)
            if any(ptx_name in form.operands for form in self.FORMS):
                values[ptx_name] = value.value.data if isinstance(value, IntegerAttr) else value
            elif isinstance(value, EnumAttribute) and ptx_name in slots:
                found[ptx_name] = value.word
            elif value in (UnitAttr(), IntegerAttr.from_bool(True)) and ptx_name in slots:
                found[ptx_name] = min(vocabulary.get(ptx_name) or {ptx_name})
        guard = getattr(self, "predicate", None)
        return self.template({**found, **words}, guard, late, **{**values, **operands})

    def instruction(
        self,
        words: Mapping[str, str] = NO_WORDS,
        guard: SSAValue | Temporary | None = None,
        late: Sequence[str] = (),
        /,
        **operands: OperandTemplate | None,
    ) -> Lowering:
        """Return the lowering to one instruction. The parameters are those of `template`."""
        return Lowering([self.template(words, guard, late, **operands)])

    def template(
        self,
        words: Mapping[str, str] = NO_WORDS,
        guard: SSAValue | Temporary | None = None,
        late: Sequence[str] = (),
        /,
        **operands: OperandTemplate | None,
    ) -> InstructionTemplate:
        """Return an instruction template with the modifiers `words`, a guard and the operands by name.

        An operand that is None is omitted. `late` names the modifiers that are printed last.
        """
        present: dict[str, OperandTemplate] = {}
        implied: dict[str, str] = {}
        forms = self.FORMS
        for name, template in operands.items():
            if template is None:
                continue
            present[name] = template
            if not (register_types := [form for form in self.FORMS if name in form.operands]):
                continue
            place = register_types[0].operands[name]
            if place.access != "write" and not isinstance(template, Discarded):
                # Keep the forms that have all source operands.
                forms = tuple(form for form in forms if form in register_types) or forms
            if place.kind == "address" and isinstance(template, SSAValue):
                present[name] = Memory(template)
            if place.kind == "immediate" and isinstance(template, SSAValue):
                present[name] = Immediate(template)
            if slot := place.when:
                # The operand requires this modifier.
                implied[slot] = min(register_types[0].vocabulary.get(slot) or {slot})
        return InstructionTemplate(forms, {**self.WORDS, **words, **implied}, present, guard, late)

    def verify_(self) -> None:
        """Raise VerifyException if MLIR refuses the operation or its PTX is illegal."""
        try:
            self.check()
            instructions = [
                statement.instruction(_placeholders())
                for statement in self.lower().statements
                if isinstance(statement, InstructionTemplate)
            ]
        except FormError as error:
            raise self.error(f"has no PTX instruction: {error}") from None
        for instruction in instructions:
            if isinstance(found := bind(instruction), Diagnostic):
                raise self.error(found.message)

    def error(self, message: str) -> VerifyException:
        """Return an error whose message begins with the operation's name, as in MLIR."""
        return VerifyException(f"'{self.name}' op {message}")


_Class = TypeVar("_Class", bound=Operation)


def operation(
    name: str,
    *forms: Form,
    words: Mapping[str, str] = NO_WORDS,
    names: Mapping[str, str] = NO_WORDS,
    spaces: Mapping[str, str] = NO_WORDS,
) -> Callable[[type[_Class]], type[_Class]]:
    """Return a decorator that sets the MLIR name and the forms of an operation class.

    `words` are modifiers that the PTX instruction always has. `names` maps MLIR names to PTX names. `spaces` maps the
    name of a state space modifier to the MLIR name of the pointer. Entries of base classes remain.
    """

    def define(cls: type[_Class]) -> type[_Class]:
        cls.name = name
        defined = irdl_op_definition(cls)
        defined.FORMS = forms or cls.FORMS
        defined.WORDS = {**cls.WORDS, **words}
        defined.NAMES = {**cls.NAMES, **names}
        defined.SPACES = {**cls.SPACES, **spaces}
        return defined

    return define


def _placeholders() -> RegisterNames:
    """Return a function that gives fresh names to the registers of a value."""
    numbers = count()

    def names_of(value: SSAValue | Temporary) -> tuple[str, ...]:
        size = 1 if isinstance(value, Temporary) else len(registers_of(value.type))
        return tuple(f"%v{next(numbers)}" for _ in range(size))

    return names_of


@operation("nvvm.inline_ptx")
class InlinePtx(Operation):
    """PTX text with the values that the text reads, changes and writes."""

    irdl_options = SEGMENTED
    readOnlyArgs = var_operand_def()
    readWriteArgs = var_operand_def()
    ptxCode = prop_def(StringAttr)
    predicate = opt_operand_def(i1)
    writeOnlyArgs = var_result_def()
    assembly_format = (
        "$ptxCode (`ro` `(` $readOnlyArgs^ `:` type($readOnlyArgs) `)`)?"
        " (`rw` `(` $readWriteArgs^ `:` type($readWriteArgs) `)`)?"
        " (`,` `predicate` `=` $predicate^)? attr-dict (`->` type($writeOnlyArgs)^)?"
    )

    def lower(self) -> Lowering:
        return Lowering([])
