"""Translation of nvvm operations to calls of LLVM's intrinsics.

The file intrinsics.toml describes the results and operands of the calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.dialects.builtin import IntegerType, VectorType, i1, i16, i32, i64
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from warploom.diagnostics import UsageError
from warploom.isa.binding.compose import slots_of
from warploom.isa.model.form import Form
from warploom.nvvm import dialect
from warploom.nvvm.dialect.lowering import Immediate, InstructionTemplate, Memory, OperandTemplate, Registers
from warploom.nvvm.dialect.types import address_space_of, registers_of, width_of
from warploom.nvvm.intrinsics import PREFIX, codes, pattern_of, read_name
from warploom.nvvm.llvm_builder import LlvmBuilder

_INTEGERS = {"i1": i1, "i16": i16, "i32": i32, "i64": i64}


@dataclass(frozen=True, slots=True)
class _Item:
    """Operand or result of an intrinsic's call.

    `operand` is the name of the PTX operand. `type` is an integer type, "present" (the flag for an optional
    operand), "anywhere" (a pointer), "named", a list of `codes`, or "" for the operand's own type.
    """

    operand: str
    type: str
    is_optional: bool


@dataclass(frozen=True, slots=True)
class _Signature:
    results: tuple[_Item, ...]
    operands: tuple[_Item, ...]


@cache
def _read_signature(text: str) -> _Signature:
    results, _, operands = text.partition("=")
    return _Signature(tuple(map(_item, results.split())), tuple(map(_item, operands.split())))


def _item(text: str) -> _Item:
    operand, _, kind = text.rstrip("?=").partition(":")
    return _Item(operand, kind, "?" in text)


def call_of(operation: dialect.Operation, build: LlvmBuilder) -> Sequence[SSAValue] | None:
    """Append the call that replaces an operation. Return the values for the operation's results.

    The result is None if LLVM 22 has no intrinsic that states all modifiers.
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
        match item.type, template.operands.get(item.operand):
            case "anywhere", Memory(SSAValue() as address):
                name += f".p{address_space_of(address)}"
            case "named", SSAValue(type=type):
                name = name.replace(".i32", f".{type}")
            case _:
                pass
    return _results(operation, signature, template, name.removeprefix(PREFIX), args, build)


def _loses_words(name: str, form: Form, slots: Mapping[str, str], signature: str) -> bool:
    """Return True if a modifier is neither in the intrinsic's name nor in its arguments."""
    items = [item for item in _read_signature(signature).operands if item.operand in form.operands]
    stated = {item.operand for item in _read_signature(signature).operands} | {"ss", "space"}
    stated |= {form.operands[item.operand].when for item in items}
    named = read_name(name).words
    return any(word != named.get(slot, "") for slot, word in slots.items() if slot not in stated)


def _arguments(
    item: _Item, template: InstructionTemplate, slots: Mapping[str, str], build: LlvmBuilder
) -> Iterator[SSAValue]:
    """Yield the arguments of a call for one item of its signature."""
    name = item.operand
    if item.type == "present":
        yield build.flag(name in template.operands or slots.get(name))
    elif (words := codes().get(item.type)) is not None:
        parts = slots.get(name, "").split("::")
        found = next((k for k, word in enumerate(words) if word in parts), 0)
        yield build.constant(found, i1 if len(words) == 2 else i32)
    elif name in template.operands:
        yield from _values(template.operands[name], item, build)
    elif not item.is_optional:
        yield build.constant(0, _INTEGERS[item.type])


def _values(operand: OperandTemplate, item: _Item, build: LlvmBuilder) -> Iterator[SSAValue]:
    match operand:
        case int() as number:
            yield build.constant(number, _INTEGERS[item.type])
        case Memory(SSAValue() as value, coordinates):
            yield from (value, *coordinates)
        case Registers(values):
            for value in values:
                yield from build.elements(value)
        case Immediate(value) | (SSAValue() as value):
            yield _packed(value, build)
        case _:
            raise VerifyException(f"cannot pass operand {item.operand} to the intrinsic")


def _packed(value: SSAValue, build: LlvmBuilder) -> SSAValue:
    """Return a vector of integers as one integer, an i8 as an i16, and another value itself."""
    match value.type:
        case IntegerType(width=width) if width.data == 8:
            return build.resized(value, i16)
        case VectorType(element_type=IntegerType(width=width)) as vector:
            return build.cast(value, IntegerType(width.data * vector.element_count()))
        case _:
            return value


def _results(
    operation: dialect.Operation,
    signature: _Signature,
    template: InstructionTemplate,
    name: str,
    args: Sequence[SSAValue],
    build: LlvmBuilder,
) -> Sequence[SSAValue]:
    """Append the call of an intrinsic. Return the values for the operation's results."""
    own = operation.results[0].type if operation.results else None
    # LLVM returns one value where the operation returns a struct of one value.
    single = isinstance(own, LLVMStructType) and len(own.types) == 1
    value_type = own.types.data[0] if isinstance(own, LLVMStructType) and single else own
    # LLVM returns packed integers of 8 and 16 bits in 16 bits.
    is_packed = value_type is not None and registers_of(value_type) == ("b16",)
    types = [_INTEGERS.get(item.type, i16 if is_packed else value_type) for item in signature.results]
    value = build.intrinsic(name, args, *(each for each in types if each is not None))
    if value is None or own is None:
        return ()
    if len(types) > 1:
        places = [template.operands[item.operand] for item in signature.results]
        return (build.element(value, places.index(operation.results[0])),)
    if isinstance(own, LLVMStructType) and single:
        return (build.struct([value], own),)
    if width := width_of(own):
        return (build.resized(value, IntegerType(width)),)
    return (build.cast(value, own),)
