"""What every operation of the dialect has: PTX that follows from its Form, and with it its legality."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar

from xdsl.ir import SSAValue
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, ParsePropInAttrDict
from xdsl.utils.exceptions import VerifyException

from warploom import isa  # declares every form
from warploom.diagnostics import Diagnostic
from warploom.isa.binding.bind import bind
from warploom.isa.binding.compose import compose, form_that_allows
from warploom.isa.model.table import FormError
from warploom.nvvm.dialect.pieces import (
    At,
    Code,
    Constant,
    Fragment,
    Local,
    Piece,
    Sink,
    Statement,
    registers_of,
)
from warploom.ptx import Address, Guard, Instruction, Integer, Name, Operand, Vector

NameOf = Callable[[SSAValue | Local], tuple[str, ...]]

__all__ = ["Operation", "instruction_of", "isa"]

OPTIONS = (ParsePropInAttrDict(),)
SEGMENTED = (*OPTIONS, AttrSizedOperandSegments(as_property=True))
"""The options of an operation with several operands whose number varies."""


class Operation(IRDLOperation, ABC):
    """An operation of the dialect.

    Its verifier asks `check_types` and `check` first, which have MLIR's own messages, and then binds what the
    operation is in PTX: what no Form allows is refused with the Form's message.
    """

    irdl_options = OPTIONS
    FORMS: ClassVar[tuple[str, ...]] = ()
    """The forms that its instruction may be of."""

    def check(self) -> None:
        """What the dialect asks of the operation. Errors: VerifyException."""

    @abstractmethod
    def code(self) -> Code:
        """What the operation is in PTX."""

    def verify_(self) -> None:
        """Errors: VerifyException."""
        try:
            self.check()
            instructions = [
                instruction_of(statement, _placeholders())
                for statement in self.code().statements
                if isinstance(statement, Statement)
            ]
        except FormError as error:
            raise self.refuse(f"is of no instruction: {error}") from None
        for instruction in instructions:
            if isinstance(found := bind(instruction), Diagnostic):
                raise self.refuse(found.message)

    def refuse(self, message: str) -> VerifyException:
        """The complaint about this operation, as MLIR words it."""
        return VerifyException(f"'{self.name}' op {message}")


def instruction_of(statement: Statement, name_of: NameOf) -> Instruction:
    """The instruction of a statement once values have registers."""
    words = {slot: word for slot, word in statement.words.items() if word}
    form = form_that_allows(statement.forms, words)
    guard = None if statement.guard is None else Guard(name_of(statement.guard)[0])
    operands = {name: _operand(piece, name_of) for name, piece in statement.operands.items()}
    return compose(form, words, operands, guard, statement.late)


def _operand(piece: Piece, name_of: NameOf) -> Operand:
    match piece:
        case int():
            return Integer(piece)
        case Sink():
            return Name("_")
        case Constant(value):
            return Name(name_of(value)[0]) if piece.number is None else Integer(piece.number)
        case Local() | SSAValue():
            return Name(name_of(piece)[0])
        case Fragment(values, bare):
            names = tuple(Name(name) for value in values for name in name_of(value))
            return names[0] if bare and len(names) == 1 else Vector(names)
        case At(base, coordinates):
            extra = tuple(Name(name_of(value)[0]) for value in coordinates)
            return Address(Name(name_of(base)[0]), 0, (Vector(extra),) if extra else ())


def _placeholders() -> NameOf:
    """Names that show nothing but how many registers a value has."""

    def names() -> Iterator[str]:
        number = 0
        while True:
            yield f"%v{number}"
            number += 1

    fresh = names()

    def name_of(value: SSAValue | Local) -> tuple[str, ...]:
        if isinstance(value, Local):
            return (next(fresh),)
        return tuple(next(fresh) for _ in registers_of(value.type))

    return name_of
