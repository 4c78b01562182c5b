"""Base class of the dialect's operations, and the operation nvvm.inline_ptx."""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import ClassVar, TypeVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr, i1
from xdsl.dialects.llvm import ConstantOp, LLVMStructType
from xdsl.ir import Operation as XdslOperation
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
from xdsl.irdl.dominance import DominanceInfo
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
from warploom.nvvm.dialect.types import constraint_of, parts_of, registers_of, space_of
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

    def __post_init__(self) -> None:
        # As in MLIR, the attribute dictionary of the text may state a property that has a keyword of its own.
        for name in self.get_irdl_definition().properties:
            if name in self.attributes and name not in self.properties:
                self.properties[name] = self.attributes.pop(name)
        super().__post_init__()

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

    def called(self, build: LlvmBuilder) -> InstructionTemplate | None:
        """Return the instruction whose intrinsic replaces the operation.

        The result is None if the operation has not exactly one instruction.
        """
        lowering = self.lower()
        found = lowering.statements[0] if len(lowering.statements) == 1 and not lowering.copies else None
        return found if isinstance(found, InstructionTemplate) else None

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
        for name in self.get_irdl_definition().properties:
            if name in self.attributes:
                raise self.error(f"the attribute dictionary states {name} again; expected {name} once")
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


_PLACEHOLDER = re.compile(r"\{\$(rw|w|r)(\d+)\}")
_PERCENT = re.compile(r"%(?=\d)")
_DOLLAR = re.compile(r"\$\$|\$(?![\d{])")
"""Dollar sign that names no operand of LLVM's inline assembly, which writes it twice."""


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

    def check(self) -> None:
        for kind, (values, ranks) in self._placeholders().items():
            if ranks and max(ranks.values()) >= len(values):
                last = f"{{${kind}{len(values) - 1}}}"
                expected = f"placeholders up to {last}" if values else f"no placeholder of an operand '{kind}'"
                raise self.error(f"text contains '{{${kind}{max(ranks)}}}'; expected {expected}")

    def _placeholders(self) -> dict[str, tuple[Sequence[SSAValue], dict[int, int]]]:
        """Return the values of each kind of placeholder, and their positions by the number in the text.

        If the text has a placeholder for each value, the numbers need not begin at 0 or be consecutive.
        """
        found: dict[str, tuple[Sequence[SSAValue], dict[int, int]]] = {}
        for kind, values in (("rw", self.readWriteArgs), ("w", self.writeOnlyArgs), ("r", self.readOnlyArgs)):
            numbers = sorted({int(each[2]) for each in _PLACEHOLDER.finditer(self.ptxCode.data) if each[1] == kind})
            every = len(numbers) == len(values)
            found[kind] = (values, {number: k if every else number for k, number in enumerate(numbers)})
        return found

    def to_llvm(self, build: LlvmBuilder) -> Sequence[SSAValue]:
        changed, written = self.readWriteArgs, self.writeOnlyArgs
        outputs = [each for value in (*changed, *written) for each in parts_of(value.type)]
        inputs = [each for value in self.readOnlyArgs for each in build.elements(value)]
        text = self._text(len(outputs))
        if self.predicate is not None:
            text = f"@${len(outputs) + len(inputs)} {text}"
            inputs.append(self.predicate)
        constraints = [f"={constraint_of(each)}" for each in outputs]
        constraints += ["n" if isinstance(each.owner, ConstantOp) else constraint_of(each.type) for each in inputs]
        # A value that is read and written is also an operand in the register of its result.
        tied = [each for value in changed for each in build.elements(value)]
        constraints += [str(number) for number in range(len(tied))]
        results = iter(build.assembly(text, constraints, [*inputs, *tied], outputs))
        made: list[SSAValue] = []
        for value in (*changed, *written):
            parts = [next(results) for _ in parts_of(value.type)]
            made.append(build.struct(parts, value.type) if isinstance(value.type, LLVMStructType) else parts[0])
        for value, new in zip(changed, made, strict=False):
            later = _later_users(value, self)
            value.replace_uses_with_if(new, lambda use, later=later: use.operation in later)
        return made[len(changed) :]

    def _text(self, outputs: int) -> str:
        """Return the text with LLVM's numbers of operands in place of placeholders.

        `outputs` is the number of registers that the text writes.
        """
        first = {"rw": 0, "w": sum(len(parts_of(each.type)) for each in self.readWriteArgs), "r": outputs}
        placeholders = self._placeholders()

        def number(found: re.Match[str]) -> str:
            kind = found[1]
            return f"${first[kind] + placeholders[kind][1][int(found[2])]}"

        # MLIR also accepts %0 for $0. Other dollar signs and percent signs belong to PTX names.
        return _PERCENT.sub("$", _DOLLAR.sub("$$", _PLACEHOLDER.sub(number, self.ptxCode.data)))


def _later_users(value: SSAValue, operation: IRDLOperation) -> set[XdslOperation]:
    """Return the users of a value that run after an operation on every path to them."""
    pending = {use.operation for use in value.uses} - {operation}
    found: set[XdslOperation] = set()
    at = operation.next_op
    while at is not None and pending:
        if at in pending:
            found.add(at)
        pending.discard(at)
        at = at.next_op
    block = operation.parent
    if block is not None and block.parent is not None and any(each.parent is not block for each in pending):
        order = DominanceInfo(block.parent)
        found |= {each for each in pending if each.parent and order.strictly_dominates(block, each.parent)}
    return found
