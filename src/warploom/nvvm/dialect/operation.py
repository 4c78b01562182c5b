"""Base class of the dialect's operations, and the operation nvvm.inline_ptx."""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import ClassVar, TypeAlias, cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr, i1
from xdsl.dialects.llvm import ConstantOp, LLVMPointerType, LLVMStructType
from xdsl.ir import Operation as XdslOperation
from xdsl.ir import SSAValue, TypeAttribute
from xdsl.irdl import (
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
from warploom.nvvm.dialect.attributes import EnumAttribute, ExtentsAttribute
from warploom.nvvm.dialect.directives import OptionalTypes, Pointer, WgmmaTypes
from warploom.nvvm.dialect.fields import SEGMENTED, read_signature
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

NO_WORDS: Mapping[str, str] = MappingProxyType({})
_NAMES: Mapping[str, str] = MappingProxyType(
    {"group": "cta_group", "l2CacheHint": "cache_policy", "multicastMask": "ctaMask", "txcount": "txCount"}
)


Rule: TypeAlias = Callable[["Operation"], str]
"""Function that returns the message for an illegal operation, and "" for a legal one."""


class Operation(IRDLOperation, ABC):
    """Base class of the dialect's operations."""

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"
    custom_directives = (OptionalTypes, Pointer, WgmmaTypes)
    FORMS: ClassVar[tuple[Form, ...]] = ()
    """Forms that the instruction of the operation may have."""
    WORDS: ClassVar[Mapping[str, str]] = NO_WORDS
    """Modifiers by name that the instruction of the operation always has."""
    NAMES: ClassVar[Mapping[str, str]] = _NAMES
    """Map from an MLIR name to the PTX name of the operand or modifier, if the names differ."""
    SPACES: ClassVar[Mapping[str, str]] = NO_WORDS
    """Map from the name of a state-space modifier to the MLIR name of the pointer in that space."""
    RULES: ClassVar[Sequence[Rule]] = ()
    """Rules of MLIR."""

    # Fields -------------------------------------------------------------------------------------------------

    def has(self, name: str) -> bool:
        """Return True if the operation has a field, and the field is not the attribute `false`."""
        return getattr(self, name, None) not in (None, IntegerAttr.from_bool(False))

    def value(self, name: str) -> SSAValue:
        """Return an operand or result."""
        found: SSAValue = getattr(self, name)
        return found

    def optional(self, name: str) -> SSAValue | None:
        """Return an operand or result, or None if it is absent."""
        return self.value(name) if self.has(name) else None

    def values(self, name: str) -> Sequence[SSAValue]:
        """Return the values of a variadic operand."""
        return tuple(getattr(self, name))

    def number(self, name: str) -> int:
        """Return the value of an integer property."""
        found: IntegerAttr = getattr(self, name)
        return found.value.data

    def constant(self, name: str) -> int | None:
        """Return the value of an integer operand, or None if the operand is absent or computed at run time."""
        return Immediate(self.value(name)).constant if self.has(name) else None

    def extents(self, name: str) -> tuple[int, ...]:
        """Return the numbers of a property such as `#nvvm.shape`."""
        found: ExtentsAttribute = getattr(self, name)
        return found.extents

    def text(self, name: str) -> str:
        """Return the case or number of a property, the state space of a pointer, or the type of another value.

        The result is "generic" for a generic pointer, and "" for an absent field. The text of `name` is the name of the
        operation without that of the dialect.
        """
        match getattr(self, name, None):
            case EnumAttribute(data=case):
                return case
            case IntegerAttr(value=number):
                return str(number.data)
            case SSAValue(type=LLVMPointerType()):
                return self.address_space(name) or "generic"
            case SSAValue(type=other):
                return str(other)
            case TypeAttribute() as stated:
                return str(stated)
            case str() as operation_name:
                return operation_name.removeprefix("nvvm.")
            case _:
                return ""

    def address_space(self, name: str) -> str:
        """Return the state space of a pointer, or "" for a generic pointer."""
        return space_of(self.value(name))

    # Legality -----------------------------------------------------------------------------------------------

    def __post_init__(self) -> None:
        # As in MLIR, the attribute dictionary of the text may state a property that has a keyword of its own.
        for name in self.get_irdl_definition().properties:
            if name in self.attributes and name not in self.properties:
                self.properties[name] = self.attributes.pop(name)
        super().__post_init__()

    def check(self) -> None:
        """Raise VerifyException if MLIR refuses the operation."""
        for rule in self.RULES:
            if message := rule(self):
                raise self.error(message)

    def verify_(self) -> None:
        """Raise VerifyException if MLIR refuses the operation or its PTX is illegal."""
        for name in self.get_irdl_definition().properties:
            if name in self.attributes:
                raise self.error(f"the attribute dictionary states {name} again; expected {name} once")
        try:
            self.check()
            instructions = [
                statement.instruction(_fresh_names())
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

    # Lowering -----------------------------------------------------------------------------------------------

    def lower(self) -> Lowering:
        """Return the PTX of the operation."""
        return self.instruction()

    def to_llvm(self, build: LlvmBuilder) -> Sequence[SSAValue] | None:
        """Append the llvm operations that replace the operation, and return the values for its results.

        None selects the default: the intrinsic of the PTX instruction, or inline PTX if there is none.
        """
        return None

    def called(self, build: LlvmBuilder) -> InstructionTemplate | None:
        """Return the instruction whose intrinsic replaces the operation.

        The result is None for no or several instructions. `build` receives conversions of operands.
        """
        lowering = self.lower()
        found = lowering.statements[0] if len(lowering.statements) == 1 and not lowering.copies else None
        return found if isinstance(found, InstructionTemplate) else None

    def instruction(
        self, words: Mapping[str, str] = NO_WORDS, late: Sequence[str] = (), /, **operands: OperandTemplate | None
    ) -> Lowering:
        """Return the lowering that consists of `template(...)`."""
        return Lowering([self.template(words, late, **operands)])

    def template(
        self, words: Mapping[str, str] = NO_WORDS, late: Sequence[str] = (), /, **operands: OperandTemplate | None
    ) -> InstructionTemplate:
        """Return the instruction with the operands and modifiers that the fields state.

        `words` and `operands` override those of the fields. An operand that is None is omitted. `late` names the
        modifiers that are printed last.
        """
        stated, values = self._of_fields()
        present: dict[str, OperandTemplate] = {}
        implied: dict[str, str] = {}
        forms = self.FORMS
        for name, template in {**values, **operands}.items():
            if template is None:
                continue
            present[name] = template
            if not (having := [form for form in self.FORMS if name in form.operands]):
                continue
            spec = having[0].operands[name]
            if spec.access != "write" and not isinstance(template, Discarded):
                # Keep the forms that have all source operands.
                forms = tuple(form for form in forms if form in having) or forms
            if spec.kind == "address" and isinstance(template, SSAValue):
                present[name] = Memory(template)
            if spec.kind == "immediate" and isinstance(template, SSAValue):
                present[name] = Immediate(template)
            if slot := spec.when:
                # The operand requires this modifier.
                implied[slot] = min(having[0].vocabulary.get(slot) or {slot})
        guard = getattr(self, "predicate", None)
        return InstructionTemplate(forms, {**self.WORDS, **stated, **words, **implied}, present, guard, late)

    def _of_fields(self) -> tuple[dict[str, str], dict[str, OperandTemplate | None]]:
        """Return the modifiers and the operands that the fields state, by their PTX names.

        A field is an operand or a modifier if a form has its PTX name.
        """
        vocabulary = self.FORMS[0].vocabulary
        slots = {slot for form in self.FORMS for slot in form.slot_names}
        words: dict[str, str] = {}
        values: dict[str, OperandTemplate | None] = {}
        for slot, name in self.SPACES.items():
            space = self.address_space(name)
            words[slot] = f"{space}::cta" if space == "shared" and space not in vocabulary[slot] else space
        definition = self.get_irdl_definition()
        for name in (*dict(definition.operands), *dict(definition.results), *definition.properties):
            ptx_name, value = self.NAMES.get(name, name), getattr(self, name, None)
            if any(ptx_name in form.operands for form in self.FORMS):
                values[ptx_name] = value.value.data if isinstance(value, IntegerAttr) else value
            elif isinstance(value, EnumAttribute) and ptx_name in slots:
                words[ptx_name] = value.word
            elif value in (UnitAttr(), IntegerAttr.from_bool(True)) and ptx_name in slots:
                words[ptx_name] = min(vocabulary.get(ptx_name) or {ptx_name})
        return words, values


def operation(
    signature: str,
    description: str,
    *forms: Form,
    syntax: str | None = "attr-dict",
    words: Mapping[str, str] = NO_WORDS,
    rules: str | Sequence[str | Rule] = (),
    base: type[Operation] = Operation,
    lower: Callable[[Operation], Lowering] | None = None,
    to_llvm: Callable[[Operation, LlvmBuilder], Sequence[SSAValue] | None] | None = None,
) -> type[Operation]:
    """Define an operation.

    `warploom.nvvm.dialect.fields` describes the signature. `syntax` is MLIR's declarative assembly format, or None if
    the base class parses and prints the text. `words` are modifiers that the PTX instruction always has. `rules` are
    functions, or tables that `_rules_of` describes. `lower` and `to_llvm` replace the methods of the base class.
    """
    read = read_signature(signature)
    members = {"name": read.name, "assembly_format": syntax, "__doc__": description, **read.members}
    members |= {name: each for name, each in (("lower", lower), ("to_llvm", to_llvm)) if each is not None}
    defined = irdl_op_definition(cast("type[Operation]", type(read.name, (base,), members)))
    defined.FORMS = forms
    defined.WORDS = words
    defined.NAMES = {**base.NAMES, **read.ptx_names}
    defined.SPACES = read.spaces
    given = [rules] if isinstance(rules, str) else rules
    defined.RULES = [rule for each in given for rule in (_rules_of(each) if isinstance(each, str) else [each])]
    return defined


_TERM = re.compile(r"(?P<absent>!?)(?P<name>\w+)(?:(?P<relation>!?=|<|>)(?P<words>\S+))?")


def _rules_of(text: str) -> Iterator[Rule]:
    """Yield one rule for each line of a table.

    A line consists of the terms under which the operation is refused, a colon and the message. The term `size` is true
    if the field is present, `!size` if it is absent, `size=4|8` if the text of the field is 4 or 8, `size!=4|8` for
    another text, and `size<4` or `size>8` for such a number. In the message, `{size}` is the text of the field.
    """
    for line in text.strip().splitlines():
        condition, _, message = line.strip().partition(": ")
        yield partial(_message, [_TERM.fullmatch(each) for each in condition.split()], message)


def _message(terms: Sequence[re.Match[str] | None], message: str, op: Operation) -> str:
    for term in terms:
        assert term is not None, message
        name, relation = term["name"], term["relation"]
        if relation is None:
            found = op.has(name)
        elif relation in ("<", ">"):
            number, limit = int(op.text(name) or term["words"]), int(term["words"])
            found = number < limit if relation == "<" else number > limit
        else:
            found = op.text(name) in term["words"].split("|")
        if found == (term["absent"] == "!" or relation == "!="):
            return ""
    return re.sub(r"\{(\w+)\}", lambda field: op.text(field[1]), message)


def _fresh_names() -> RegisterNames:
    """Return a function that gives fresh names to the registers of a value."""
    numbers = count()

    def names_of(value: SSAValue | Temporary) -> tuple[str, ...]:
        size = 1 if isinstance(value, Temporary) else len(registers_of(value.type))
        return tuple(f"%v{next(numbers)}" for _ in range(size))

    return names_of


_PLACEHOLDER = re.compile(r"\{\$(rw|w|r)(\d+)\}")
_PERCENT = re.compile(r"%(?=\d)")
_DOLLAR = re.compile(r"\$\$|\$(?![\d{])")
"""Dollar sign of a PTX name. LLVM's inline assembly writes it as `$$`."""


@irdl_op_definition
class InlinePtx(Operation):
    """PTX text with the values that the text reads, changes and writes."""

    name = "nvvm.inline_ptx"
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
        """Return the values of each kind of placeholder, and the index of a value by number in the text.

        As in MLIR, the numbers may have gaps if the text has a placeholder for each value: `{$r3}` may be the only one.
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
