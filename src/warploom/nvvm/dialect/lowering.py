"""PTX templates of an operation: labels, and instructions whose operands are SSA values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.llvm import ConstantOp
from xdsl.ir import SSAValue

from warploom.isa.binding.compose import compose, form_that_allows
from warploom.isa.model.form import Form
from warploom.isa.model.special_registers import SpecialRegister
from warploom.ptx import Address, Guard, Instruction, Integer, Name, Operand, Vector


@dataclass(frozen=True, slots=True)
class Registers:
    """Vector operand with all registers of the given values."""

    values: Sequence[SSAValue]


@dataclass(frozen=True, slots=True)
class Memory:
    """Address operand. `coordinates` are those of a box, for the address of a tensor map."""

    base: SSAValue | Temporary
    coordinates: Sequence[SSAValue] = ()


@dataclass(frozen=True, slots=True)
class Immediate:
    """Operand that is printed as a constant if its value is constant, and as a register otherwise."""

    value: SSAValue

    @property
    def constant(self) -> int | None:
        """Integer that the value contains, or None if the value is computed at run time."""
        owner = self.value.owner
        attribute = owner.value if isinstance(owner, ConstantOp | arith.ConstantOp) else None
        return attribute.value.data if isinstance(attribute, IntegerAttr) else None


@dataclass(frozen=True, slots=True)
class Temporary:
    """Register or label that is used only within the PTX of one operation."""

    name: str
    type: str = "pred"


@dataclass(frozen=True, slots=True)
class Discarded:
    """Unused result, which is printed as the sink `_`."""


@dataclass(frozen=True, slots=True)
class Element:
    """One register of a value, such as one element of a struct."""

    value: SSAValue
    position: int


OperandTemplate: TypeAlias = (
    "SSAValue | Registers | Element | Memory | Immediate | Temporary | Discarded | SpecialRegister | int"
)
RegisterNames = Callable[["SSAValue | Temporary"], tuple[str, ...]]
"""Function that returns the register names of a value or of a temporary."""


@dataclass(frozen=True, slots=True)
class InstructionTemplate:
    """Instruction on SSA values: its possible forms, its modifiers by name, its operands by name.

    `late` names the modifiers that are printed after all others, as in the PTX of MLIR.
    """

    forms: Sequence[Form]
    words: Mapping[str, str]
    operands: Mapping[str, OperandTemplate]
    guard: SSAValue | Temporary | None = None
    late: Sequence[str] = ()

    @property
    def present_words(self) -> dict[str, str]:
        """Modifiers by name, without those that are ""."""
        return {slot: word for slot, word in self.words.items() if word}

    @property
    def form(self) -> Form:
        """First form that allows the modifiers."""
        return form_that_allows(self.forms, self.present_words)

    def instruction(self, names_of: RegisterNames) -> Instruction:
        """Return the instruction with register names in place of values."""
        form = self.form
        guard = None if self.guard is None else Guard(names_of(self.guard)[0])
        # Operands that the form lacks are left out.
        operands = {name: _operand(each, names_of) for name, each in self.operands.items() if name in form.operands}
        return compose(form, self.present_words, operands, guard, self.late)


@dataclass(frozen=True, slots=True)
class Lowering:
    """PTX of an operation: instructions and labels.

    `copies` are pairs of an operand and a result that share registers. The PTX reads the operand and overwrites it.
    """

    statements: Sequence[InstructionTemplate | Temporary]
    copies: Sequence[tuple[SSAValue, SSAValue]] = field(default=())


def _operand(template: OperandTemplate, names_of: RegisterNames) -> Operand:
    match template:
        case int():
            return Integer(template)
        case Discarded():
            return Name("_")
        case Immediate(value):
            constant = template.constant
            return Name(names_of(value)[0]) if constant is None else Integer(constant)
        case SpecialRegister():
            return Name(template.name)
        case Element(value, position):
            return Name(names_of(value)[position])
        case Temporary() | SSAValue():
            return Name(names_of(template)[0])
        case Registers(values):
            return Vector(tuple(Name(name) for value in values for name in names_of(value)))
        case Memory(base, coordinates):
            extra = tuple(Name(names_of(value)[0]) for value in coordinates)
            return Address(Name(names_of(base)[0]), 0, (Vector(extra),) if extra else ())
