"""Translation of nvvm operations to calls of LLVM's intrinsics, and of such calls to PTX instructions.

The file intrinsics.toml describes the results and operands of the calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, VectorType, i1, i32, i64
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from warploom.diagnostics import UsageError
from warploom.isa.binding.compose import slots_of
from warploom.isa.model.form import Form
from warploom.nvvm import dialect
from warploom.nvvm.dialect.lowering import Immediate, InstructionTemplate, Memory, OperandTemplate, Registers, Temporary
from warploom.nvvm.dialect.types import TENSOR_SPACE, pointer_to, registers_of, space_of
from warploom.nvvm.dialect.wmma import register_type_of
from warploom.nvvm.intrinsics import Intrinsic, name_of, read_name, signatures

_INTEGERS: dict[str, IntegerType] = {"i1": i1, "i16": IntegerType(16), "i32": i32, "i64": i64, "word": i1}

Replacement: TypeAlias = "tuple[list[Operation], Sequence[SSAValue]]"
"""Operations that replace one operation, and the values that replace its results."""


@dataclass(frozen=True, slots=True)
class _Item:
    """Operand or result of an intrinsic's call.

    `operand` is the name of the PTX operand. `type` is a type name that intrinsics.toml explains, such as "vector".
    """

    operand: str
    type: str
    # The call requires a constant.
    is_constant: bool
    # The instruction has a constant where the call has one.
    is_literal: bool
    is_optional: bool

    def types(self, form: Form, slots: Mapping[str, str]) -> list[Attribute]:
        """Return the LLVM types of the values in the call. The list is empty for a pointer to any space."""
        if (integer := _INTEGERS.get(self.type)) is not None:
            return [integer]
        count = form.operands[self.operand].registers(slots)
        match self.type:
            case "generic":
                return [pointer_to(0)]
            case "tensor":
                return [pointer_to(TENSOR_SPACE)]
            case "stated":
                return [pointer_to(3 if slots.get("ss") else 0)]
            case "vector":
                return [i32 if count == 1 else VectorType(i32, [count])]
            # A pointer to any space.
            case "anywhere":
                return []
            case _:
                return [register_type_of(self.operand, slots)] * max(1, count)


@dataclass(frozen=True, slots=True)
class _Signature:
    results: tuple[_Item, ...]
    operands: tuple[_Item, ...]

    def result_type(self, form: Form, slots: Mapping[str, str]) -> Attribute | None:
        """Return the type of the call's result, or None without a result."""
        types = [each for item in self.results for each in item.types(form, slots)]
        return types[0] if len(types) == 1 else LLVMStructType.from_type_list(types) if types else None


@cache
def _signature_of(form: Form) -> _Signature | None:
    if (text := signatures().get(form)) is None:
        return None
    results, _, operands = text.partition("=")
    return _Signature(tuple(map(_item, results.split())), tuple(map(_item, operands.split())))


def _item(text: str) -> _Item:
    operand, _, kind = text.rstrip("!#?").partition(":")
    return _Item(operand, kind, "!" in text, "#" in text, "?" in text)


# From an operation to a call --------------------------------------------------------------------------------


def call_of(operation: dialect.Operation) -> Replacement | None:
    """Return the intrinsic call that replaces an operation, or None if there is no such intrinsic."""
    lowering = operation.lower()
    if len(lowering.statements) != 1 or lowering.copies:
        return None
    (template,) = lowering.statements
    if not isinstance(template, InstructionTemplate) or template.guard is not None:
        return None
    form, words = template.form, template.present_words
    if (signature := _signature_of(form)) is None:
        return None
    slots = slots_of(form, words)
    items = [item for item in signature.operands if not item.is_optional or item.operand in template.operands]
    try:
        name = name_of(form, words, marked="stride" in template.operands)
        made: list[Operation] = []
        args = [value for item in items for value in _arguments(item, template, slots, made)]
        for address in (template.operands[item.operand] for item in items if item.type == "anywhere"):
            assert isinstance(address, Memory)
            assert isinstance(address.base, SSAValue)
            name += f".p{_space_number(address.base.type)}"
        result = signature.result_type(form, slots)
        call = llvm.CallIntrinsicOp(name, args, [] if result is None else [result])
        back = instruction_of_call(call)
    except (UsageError, VerifyException):
        return None
    if slots_of(form, back.present_words) != slots:
        return None
    made.append(call)
    return made, _results(operation, signature, template, call, made)


def _space_number(type: Attribute) -> int:
    for space in range(TENSOR_SPACE + 2):
        if type == pointer_to(space):
            return space
    raise VerifyException(f"expected a pointer as an argument of an intrinsic, got {type}")


def _arguments(
    item: _Item, template: InstructionTemplate, slots: Mapping[str, str], made: list[Operation]
) -> Iterator[SSAValue]:
    """Yield the arguments of a call for one PTX operand. Append new operations to `made`.

    Errors: VerifyException for an operand that no LLVM value represents
    """
    if item.type == "word":
        yield _constant(int(bool(slots[item.operand])), item, made)
        return
    match template.operands[item.operand]:
        case int() as number:
            yield _constant(number, item, made)
        case Immediate(value) as immediate if immediate.constant is not None and item.is_constant:
            yield _constant(immediate.constant, item, made)
        case Immediate(value) | Memory(SSAValue() as value, ()):
            yield value
        case Registers(values):
            for value in values:
                yield from elements(value, made)
        case SSAValue() as value:
            yield value
        case _:
            raise VerifyException(f"operand {item.operand} of {template.form.name} has no value in LLVM")


def _constant(number: int, item: _Item, made: list[Operation]) -> SSAValue:
    integer = _INTEGERS[item.type]
    made.append(constant := llvm.ConstantOp(IntegerAttr(number, integer), integer))
    return constant.result


def elements(value: SSAValue, made: list[Operation]) -> Iterator[SSAValue]:
    """Yield the elements of a struct, or another value itself. Append extractions to `made`."""
    if not isinstance(value.type, LLVMStructType):
        yield value
        return
    for k, element in enumerate(value.type.types.data):
        made.append(part := llvm.ExtractValueOp(DenseArrayBase.from_list(i64, [k]), value, element))
        yield part.res


def _results(
    operation: dialect.Operation,
    signature: _Signature,
    template: InstructionTemplate,
    call: llvm.CallIntrinsicOp,
    made: list[Operation],
) -> Sequence[SSAValue]:
    """Return the results of an operation from the intrinsic's call. Append extractions to `made`."""
    if call.ress is None:
        return ()
    (result,) = operation.results
    if result.type == call.ress.type:
        return (call.ress,)
    if isinstance(result.type, LLVMStructType):
        at = DenseArrayBase.from_list(i64, [0])
        made.append(whole := llvm.UndefOp(result.type))
        made.append(filled := llvm.InsertValueOp(at, whole.res, call.ress))
        return (filled.res,)
    number = next(k for k, item in enumerate(signature.results) if template.operands[item.operand] is result)
    made.append(part := llvm.ExtractValueOp(DenseArrayBase.from_list(i64, [number]), call.ress, result.type))
    return (part.res,)


# From a call to an instruction ------------------------------------------------------------------------------


def instruction_of_call(call: llvm.CallIntrinsicOp) -> InstructionTemplate:
    """Return the instruction that a call of an intrinsic lowers to.

    Errors: VerifyException for an unknown intrinsic, for one without a signature, and for wrong arguments
    """
    name = call.intrin.data
    try:
        intrinsic = read_name(name)
    except UsageError as error:
        raise VerifyException(error.diagnostics[0].message) from None
    form = intrinsic.form
    if (signature := _signature_of(form)) is None:
        raise VerifyException(f"cannot lower {name!r}: its operands are unknown, because no public compiler calls it")
    words = {slot: word for slot, word in intrinsic.words.items() if word and slot not in form.parts}
    slots = slots_of(form, words)
    items = [item for item in signature.operands if not item.is_optional or _is_present(item, intrinsic)]
    operands: dict[str, OperandTemplate] = {}
    rest = list(call.args)
    spaces: list[int] = []
    for item in items:
        types = item.types(form, slots) or [pointer_to(_space_number(value.type)) for value in rest[:1]]
        given, rest = rest[: len(types)], rest[len(types) :]
        if len(given) != len(types) or not types or [value.type for value in given] != types:
            raise _wrong_types(name, signature, form, slots, items)
        if item.is_constant and Immediate(given[0]).constant is None:
            raise VerifyException(f"{name!r} expects a constant for {item.operand}")
        if item.type == "word":
            if Immediate(given[0]).constant:
                words[item.operand] = min(form.vocabulary[item.operand])
            continue
        if item.type == "anywhere":
            spaces.append(_space_number(given[0].type))
            words["ss"] = space_of(given[0])
        operands[item.operand] = _operand(item, form, given)
    if rest or (call.ress.type if call.ress is not None else None) != signature.result_type(form, slots):
        raise _wrong_types(name, signature, form, slots, items)
    named = [int(part[1:]) for part in name.split(".") if part[:1] == "p" and part[1:].isdigit()]
    if named and named != spaces:
        raise VerifyException(f"{name!r} expects pointers to address spaces {named}, got {spaces}")
    if call.ress is not None:
        operands |= _result_operands(signature, call.ress)
    return InstructionTemplate([form], words, operands)


def _is_present(item: _Item, intrinsic: Intrinsic) -> bool:
    slot = intrinsic.form.operands[item.operand].when
    return bool(intrinsic.words.get(slot)) if slot else ".stride" in intrinsic.name


def _operand(item: _Item, form: Form, values: Sequence[SSAValue]) -> OperandTemplate:
    if item.is_constant or item.is_literal:
        return Immediate(values[0])
    if form.operands[item.operand].kind == "address":
        return Memory(values[0])
    return Registers(values) if item.type in {"", "vector"} else values[0]


def _result_operands(signature: _Signature, result: SSAValue) -> dict[str, OperandTemplate]:
    if len(signature.results) == 1:
        return {signature.results[0].operand: Registers([result])}
    # The instruction writes the elements of a struct to temporaries.
    words = registers_of(result.type)
    return {item.operand: Temporary(item.operand, word) for item, word in zip(signature.results, words, strict=True)}


def _wrong_types(
    name: str, signature: _Signature, form: Form, slots: Mapping[str, str], items: Sequence[_Item]
) -> VerifyException:
    types = [f"{each}" for item in items for each in item.types(form, slots) or [LLVMPointerType()]]
    result = signature.result_type(form, slots)
    return VerifyException(f"{name!r} expects the type ({', '.join(types)}) -> {'()' if result is None else result}")
