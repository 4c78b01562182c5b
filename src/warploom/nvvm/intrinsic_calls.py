"""Translation of nvvm operations to calls of LLVM's intrinsics, and of such calls to PTX instructions.

The file intrinsics.toml describes the results and operands of the calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerType, VectorType, i1, i32, i64
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from warploom.diagnostics import UsageError
from warploom.isa.binding.compose import slots_of
from warploom.isa.model.form import Form
from warploom.nvvm import dialect
from warploom.nvvm.dialect.lowering import Immediate, InstructionTemplate, Memory, OperandTemplate, Registers, Temporary
from warploom.nvvm.dialect.types import TENSOR_SPACE, pointer_to, registers_of, space_of
from warploom.nvvm.dialect.wmma import register_type_of
from warploom.nvvm.intrinsics import Intrinsic, codes, pattern_of, read_name, signatures
from warploom.nvvm.llvm_builder import LlvmBuilder

PREFIX = "llvm.nvvm."
_INTEGERS: dict[str, IntegerType] = {"i1": i1, "i16": IntegerType(16), "i32": i32, "i64": i64, "word": i1}
_TYPES = (*_INTEGERS, "generic", "tensor", "stated", "vector", "anywhere")


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
def _read_signature(text: str) -> _Signature:
    results, _, operands = text.partition("=")
    return _Signature(tuple(map(_item, results.split())), tuple(map(_item, operands.split())))


def _signature_of(form: Form) -> _Signature | None:
    """Return the signature of calls that lower to PTX here, or None."""
    if (text := signatures().get(form)) is None:
        return None
    found = _read_signature(text)
    typed = all(
        item.type in _TYPES or (not item.type and form.operands[item.operand].kind != "address")
        for item in found.operands
    )
    return found if typed else None


def _item(text: str) -> _Item:
    operand, _, kind = text.rstrip("!#?=").partition(":")
    return _Item(operand, kind, "!" in text, "#" in text, "?" in text)


# From an operation to a call --------------------------------------------------------------------------------


def call_of(operation: dialect.Operation, build: LlvmBuilder) -> Sequence[SSAValue] | None:
    """Call the intrinsic that replaces an operation, and return the values that replace the operation's results.

    The result is None if LLVM 22 has no such intrinsic.
    """
    template = operation.called(build)
    if template is None or template.guard is not None:
        return None
    form, words = template.form, template.present_words
    slots = slots_of(form, words)
    try:
        pattern = pattern_of(form, words, template.operands)
    except UsageError:
        return None
    name = pattern.written(slots, template.operands)
    if pattern.signature is None or pattern.origin != "llvm" or _loses_words(name, form, slots, pattern.signature):
        return None
    signature = _read_signature(pattern.signature)
    args = [value for item in signature.operands for value in _arguments(item, template, slots, build)]
    for item in signature.operands:
        if item.type == "anywhere":
            address = template.operands[item.operand]
            assert isinstance(address, Memory)
            assert isinstance(address.base, SSAValue)
            name += f".p{_space_number(address.base.type)}"
    return _results(operation, signature, template, name.removeprefix(PREFIX), args, build)


def _loses_words(name: str, form: Form, slots: Mapping[str, str], signature: str) -> bool:
    """Return True if neither the intrinsic's name nor its arguments state a modifier of the instruction."""
    items = [item for item in _read_signature(signature).operands if item.operand in form.operands]
    stated = {item.operand for item in _read_signature(signature).operands} | {"ss", "space"}
    stated |= {form.operands[item.operand].when for item in items}
    named = read_name(name).words
    return any(word != named.get(slot, "") for slot, word in slots.items() if slot not in stated)


def _space_number(type: Attribute) -> int:
    for space in range(TENSOR_SPACE + 2):
        if type == pointer_to(space):
            return space
    raise VerifyException(f"expected a pointer as an argument of an intrinsic, got {type}")


def _arguments(
    item: _Item, template: InstructionTemplate, slots: Mapping[str, str], build: LlvmBuilder
) -> Iterator[SSAValue]:
    """Yield the arguments of a call for one item of its signature."""
    name = item.operand
    if item.type == "word":
        yield build.flag(slots[name])
    elif item.type == "present":
        yield build.flag(name in template.operands)
    elif (words := codes().get(item.type)) is not None:
        parts = slots.get(name, "").split("::")
        yield build.constant(next((k for k, word in enumerate(words) if word in parts), 0), i32)
    elif name in template.operands:
        yield from _values(template.operands[name], item, build)
    elif not item.is_optional:
        yield build.constant(0, _INTEGERS[item.type])


def _values(operand: OperandTemplate, item: _Item, build: LlvmBuilder) -> Iterator[SSAValue]:
    match operand:
        case int() as number:
            yield build.constant(number, _INTEGERS[item.type])
        case Immediate(value) as immediate:
            fixed = item.is_constant and immediate.constant is not None
            yield build.constant(immediate.constant or 0, _INTEGERS[item.type]) if fixed else value
        case Memory(SSAValue() as value, coordinates):
            yield from (value, *coordinates)
        case Registers(values):
            for value in values:
                yield from build.elements(value)
        case SSAValue() as value:
            yield value
        case _:
            raise VerifyException(f"operand {item.operand} has no value in LLVM")


def _results(
    operation: dialect.Operation,
    signature: _Signature,
    template: InstructionTemplate,
    name: str,
    args: Sequence[SSAValue],
    build: LlvmBuilder,
) -> Sequence[SSAValue]:
    """Call an intrinsic and return the results of an operation from the call's results."""
    own = operation.results[0].type if operation.results else None
    # LLVM returns one value where the operation returns a struct of one value.
    single = isinstance(own, LLVMStructType) and len(own.types) == 1
    value_type = own.types.data[0] if isinstance(own, LLVMStructType) and single else own
    types = [_INTEGERS.get(item.type, value_type) for item in signature.results]
    value = build.intrinsic(name, args, *(each for each in types if each is not None))
    if value is None or own is None:
        return ()
    if len(types) > 1:
        places = [template.operands[item.operand] for item in signature.results]
        return (build.element(value, places.index(operation.results[0])),)
    return (build.struct([value], own) if isinstance(own, LLVMStructType) and single else value,)


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
    return bool(intrinsic.words.get(slot)) if slot else item.operand in intrinsic.operands


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
