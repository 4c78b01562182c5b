"""Calls of LLVM's intrinsics: what the arguments of one are in PTX, both ways.

`call_of` makes the call of an operation where LLVM has one, `statement_of` the PTX of a call. One table says in which
order LLVM takes the places of a Form, what they are to it, and what the call gives back.
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
from warploom.isa.binding.compose import form_that_allows, slots_of
from warploom.isa.model.form import Form
from warploom.nvvm import dialect
from warploom.nvvm.dialect.pieces import (
    TENSOR_SPACE,
    At,
    Constant,
    Fragment,
    Local,
    Piece,
    Statement,
    pointer_to,
    registers_of,
    space_of,
)
from warploom.nvvm.dialect.wmma import element_at
from warploom.nvvm.intrinsics import Intrinsic, name_of, read_name

_SCALES = " ".join(f"scale_{x}_data:i32 byte_id_{x}:i16 thread_id_{x}:i16" for x in "ab")
_MULTIPLY = "d = a b c"
_SPARSE = f"{_MULTIPLY} e:i32 f:i32!"
_ORDERS = {
    "wmma.load": "r = p:anywhere stride:i32?",
    "wmma.store": "= p:anywhere r stride:i32?",
    **dict.fromkeys(("wmma.half", "wmma.float", "wmma.integer", "wmma.bit"), _MULTIPLY),
    **dict.fromkeys(("mma.half", "mma.float", "mma.double", "mma.integer", "mma.bit"), _MULTIPLY),
    "sparse.float": _SPARSE,
    "sparse.integer": _SPARSE,
    "mma.scaled": f"{_MULTIPLY} {_SCALES}",
    "sparse.scaled": f"{_SPARSE} {_SCALES}",
    "matrix.ldmatrix": "r = p:anywhere",
    "matrix.ldmatrix-widened": "r = p:anywhere",
    "matrix.stmatrix": "= p:anywhere r",
    "wgmma.fence": "=",
    "wgmma.commit_group": "=",
    "wgmma.wait_group": "= N:i64!",
    "async_copy.commit_group": "=",
    "async_copy.wait_group": "= N:i32!",
    "async_copy.wait_all": "=",
    "bulk.commit_group": "=",
    "bulk.wait_group": "= N:i32!",
    "warp.elect": "d:i32 p:i1 = membermask:i32#",
    "barrier.cluster_arrive": "=",
    "barrier.cluster_wait": "=",
    "barrier.fence": "=",
    "barrier.fence_restricted": "=",
    "barrier.fence_proxy": "=",
    "barrier.fence_proxy_acquire": "= addr:generic size:i32!",
    "barrier.fence_proxy_release": "=",
    "control.setmaxnreg": "= imm_reg_count:i32!",
    "control.griddepcontrol": "=",
    "tcgen05.alloc": "= dst:stated nCols:i32",
    "tcgen05.dealloc": "= taddr:tensor nCols:i32",
    "tcgen05.relinquish": "=",
    "tcgen05.ld": "r:vector = taddr:tensor pack:word!",
    "tcgen05.ld-split": "r:vector = taddr:tensor immHalfSplitoff:i64! pack:word!",
    "tcgen05.st": "= taddr:tensor r:vector unpack:word!",
    "tcgen05.st-split": "= taddr:tensor immHalfSplitoff:i64! r:vector unpack:word!",
    "tcgen05.wait": "=",
    "tcgen05.fence": "=",
    "tcgen05.shift": "= taddr:tensor",
    "tcgen05.commit": "= mbar:stated ctaMask:i16?",
    "tcgen05.cp": "= taddr:tensor s_desc:i64",
}
"""What a call gives and takes, by Form: places with their types, registers of fragments where none is said. `vector` is
one of 32 bits, `word` a boolean that chooses an optional word. A pointer is generic, into tensor memory, `stated` in
the name, or `anywhere`, which the name ends in. `!` is a constant, `#` stands in
the text where it is one, `?` is what may be absent.
"""

_INTEGERS: dict[str, IntegerType] = {"i1": i1, "i16": IntegerType(16), "i32": i32, "i64": i64, "word": i1}

Made: TypeAlias = "tuple[list[Operation], Sequence[SSAValue]]"
"""Operations that stand for one, and its results."""


@dataclass(frozen=True, slots=True)
class _Item:
    """What a call takes or gives, one place of the Form."""

    place: str
    type: str
    constant: bool
    shown: bool
    optional: bool

    def types(self, form: Form, slots: Mapping[str, str]) -> list[Attribute]:
        """What it is to LLVM: several values for a fragment; none where any pointer may stand."""
        if (integer := _INTEGERS.get(self.type)) is not None:
            return [integer]
        match self.type:
            case "generic":
                return [pointer_to(0)]
            case "tensor":
                return [pointer_to(TENSOR_SPACE)]
            case "stated":
                return [pointer_to(3 if slots.get("ss") else 0)]
            case "vector":
                count = form.operands[self.place].registers(slots)
                return [i32 if count == 1 else VectorType(i32, [count])]
            case "anywhere":
                return []
            case _:
                return [element_at(self.place, slots)] * max(1, form.operands[self.place].registers(slots))


@dataclass(frozen=True, slots=True)
class _Order:
    gives: tuple[_Item, ...]
    takes: tuple[_Item, ...]


@cache
def _order_of(form: str) -> _Order | None:
    if (text := _ORDERS.get(form)) is None:
        return None
    gives, _, takes = text.partition("=")
    return _Order(tuple(map(_item, gives.split())), tuple(map(_item, takes.split())))


def _item(text: str) -> _Item:
    place, _, word = text.rstrip("!#?").partition(":")
    return _Item(place, word, "!" in text, "#" in text, "?" in text)


def _result(order: _Order, form: Form, slots: Mapping[str, str]) -> Attribute | None:
    """The type of what a call gives: a struct of several values."""
    types = [each for item in order.gives for each in item.types(form, slots)]
    return types[0] if len(types) == 1 else LLVMStructType.from_type_list(types) if types else None


# From an operation to a call --------------------------------------------------------------------------------


def call_of(operation: dialect.Operation) -> Made | None:
    """The call of the intrinsic that an operation is; None where LLVM has none with these operands."""
    code = operation.code()
    if len(code.statements) != 1 or code.same:
        return None
    (statement,) = code.statements
    if not isinstance(statement, Statement) or statement.guard is not None:
        return None
    words = {slot: word for slot, word in statement.words.items() if word}
    form = form_that_allows(statement.forms, words)
    order = _order_of(form.name)
    if order is None:
        return None
    slots = slots_of(form, words)
    items = [item for item in order.takes if not item.optional or item.place in statement.operands]
    try:
        name = name_of(form, words, marked="stride" in statement.operands)
        made: list[Operation] = []
        args = [value for item in items for value in _values(item, statement, slots, form, made)]
        name += "".join(_suffix(statement, item) for item in items if item.type == "anywhere")
        result = _result(order, form, slots)
        call = llvm.CallIntrinsicOp(name, args, [] if result is None else [result])
        back = statement_of(call)
    except (UsageError, VerifyException):
        return None
    if slots_of(form, {slot: word for slot, word in back.words.items() if word}) != slots:
        return None
    made.append(call)
    return made, _results(operation, order, statement, call, made)


def _suffix(statement: Statement, item: _Item) -> str:
    piece = statement.operands[item.place]
    assert isinstance(piece, At)
    assert isinstance(piece.base, SSAValue)
    return f".p{_number(piece.base.type)}"


def _number(type: Attribute) -> int:
    """The address space of a pointer. Errors: VerifyException for what is none."""
    for space in range(TENSOR_SPACE + 2):
        if type == pointer_to(space):
            return space
    raise VerifyException(f"{type} is no pointer that an intrinsic takes")


def _values(
    item: _Item, statement: Statement, slots: Mapping[str, str], form: Form, made: list[Operation]
) -> Iterator[SSAValue]:
    """What an operand is as arguments. Errors: VerifyException where it is none that a call takes."""
    if item.type == "word":
        yield _constant(int(bool(slots[item.place])), item, made)
        return
    match statement.operands[item.place]:
        case int() as number:
            yield _constant(number, item, made)
        case Constant(value) as constant if constant.number is not None and item.constant:
            yield _constant(constant.number, item, made)
        case Constant(value) | At(SSAValue() as value, ()):
            yield value
        case Fragment(values):
            for value in values:
                yield from _parts(value, made)
        case SSAValue() as value:
            yield value
        case _:
            raise VerifyException(f"operand {item.place} of {form.name} is no value")


def _constant(number: int, item: _Item, made: list[Operation]) -> SSAValue:
    integer = _INTEGERS[item.type]
    made.append(constant := llvm.ConstantOp(IntegerAttr(number, integer), integer))
    return constant.result


def _parts(value: SSAValue, made: list[Operation]) -> Iterator[SSAValue]:
    """The elements of a struct; a value itself where it is none."""
    if not isinstance(value.type, LLVMStructType):
        yield value
        return
    for k, element in enumerate(value.type.types.data):
        made.append(part := llvm.ExtractValueOp(DenseArrayBase.from_list(i64, [k]), value, element))
        yield part.res


def _results(
    operation: dialect.Operation,
    order: _Order,
    statement: Statement,
    call: llvm.CallIntrinsicOp,
    made: list[Operation],
) -> Sequence[SSAValue]:
    """What the call gives, as the results of the operation are."""
    if call.ress is None:
        return ()
    (result,) = operation.results
    if result.type == call.ress.type:
        return (call.ress,)
    at = DenseArrayBase.from_list(i64, [0])
    if isinstance(result.type, LLVMStructType):
        made.append(whole := llvm.UndefOp(result.type))
        made.append(filled := llvm.InsertValueOp(at, whole.res, call.ress))
        return (filled.res,)
    number = next(k for k, item in enumerate(order.gives) if statement.operands[item.place] is result)
    at = DenseArrayBase.from_list(i64, [number])
    made.append(part := llvm.ExtractValueOp(at, call.ress, result.type))
    return (part.res,)


# From a call to an instruction ------------------------------------------------------------------------------


def statement_of(call: llvm.CallIntrinsicOp) -> Statement:
    """The instruction that the call of an intrinsic is; the parts of a struct of several places are local.

    Errors: VerifyException for a name that no intrinsic has, or one without PTX here, and for arguments that it
        does not take
    """
    name = call.intrin.data
    try:
        intrinsic = read_name(name)
    except UsageError as error:
        raise VerifyException(error.diagnostics[0].message) from None
    form = intrinsic.form
    if (order := _order_of(form.name)) is None:
        raise VerifyException(f"what {name!r} takes is not known: no public compiler calls it")
    words = _words(intrinsic)
    slots = slots_of(form, words)
    items = [item for item in order.takes if not item.optional or _stands(item, intrinsic)]
    operands: dict[str, Piece] = {}
    rest = list(call.args)
    spaces: list[int] = []
    for item in items:
        types = item.types(form, slots) or [pointer_to(_number(value.type)) for value in rest[:1]]
        given, rest = rest[: len(types)], rest[len(types) :]
        if len(given) != len(types) or not types or [value.type for value in given] != types:
            raise _other(name, order, form, slots, items)
        if item.constant and Constant(given[0]).number is None:
            raise VerifyException(f"{name!r} takes a constant as {item.place}")
        if item.type == "word":
            if Constant(given[0]).number:
                words[item.place] = min(form.vocabulary[item.place])
            continue
        if item.type == "anywhere":
            spaces.append(_number(given[0].type))
            words["ss"] = space_of(given[0])
        operands[item.place] = _piece(item, form, given)
    if rest or (call.ress.type if call.ress is not None else None) != _result(order, form, slots):
        raise _other(name, order, form, slots, items)
    said = [int(part[1:]) for part in name.split(".") if part[:1] == "p" and part[1:].isdigit()]
    if said and said != spaces:
        raise VerifyException(f"{name!r} is not called for pointers to address spaces {spaces}")
    if call.ress is not None:
        operands |= _given(order, call.ress)
    return Statement((form.name,), words, operands)


def _words(intrinsic: Intrinsic) -> dict[str, str]:
    return {slot: word for slot, word in intrinsic.words.items() if word and slot not in intrinsic.form.parts}


def _stands(item: _Item, intrinsic: Intrinsic) -> bool:
    """Whether an operand that may be absent is there, as the name says."""
    when = intrinsic.form.operands[item.place].when
    return bool(intrinsic.words.get(when)) if when else ".stride" in intrinsic.name


def _piece(item: _Item, form: Form, values: Sequence[SSAValue]) -> Piece:
    place = form.operands[item.place]
    if item.constant or item.shown:
        return Constant(values[0])
    if place.kind == "address":
        return At(values[0])
    return Fragment(tuple(values)) if item.type in {"", "vector"} else values[0]


def _given(order: _Order, result: SSAValue) -> dict[str, Piece]:
    """The result by place: a fragment has all of it, several places one register each."""
    if len(order.gives) == 1:
        return {order.gives[0].place: Fragment.of(result)}
    words = registers_of(result.type)
    return {item.place: Local(item.place, word) for item, word in zip(order.gives, words, strict=True)}


def _other(
    name: str, order: _Order, form: Form, slots: Mapping[str, str], items: Sequence[_Item]
) -> VerifyException:
    """The complaint about arguments that an intrinsic does not take."""
    types = [f"{each}" for item in items for each in item.types(form, slots) or [LLVMPointerType()]]
    gives = _result(order, form, slots)
    return VerifyException(
        f"{name!r} is called as ({', '.join(types)}) -> {'()' if gives is None else gives}"
    )
