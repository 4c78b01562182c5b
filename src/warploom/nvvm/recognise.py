"""From an instruction back to the operation that it is.

An operation says what it is in PTX. Which operation an instruction is, is found by asking: those that may be of its
form are made with one choice of words, types and optional operands after another, until one says the same
instruction. So an operation is described once and read both ways; what no operation says is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, product

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntAttr,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    VectorType,
    f32,
    i32,
    i64,
)
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    OperandDef,
    OptOperandDef,
    OptPropertyDef,
    OptResultDef,
    PropertyDef,
    VarOperandDef,
    VerificationContext,
)
from xdsl.irdl.constraints import (
    AllOf,
    AttrConstraint,
    AttrSetConstraint,
    BaseAttr,
    EqAttrConstraint,
    ParamAttrConstraint,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
)
from xdsl.utils.exceptions import VerifyException

from warploom.isa.binding.bind import Binding
from warploom.isa.binding.compose import form_that_allows, slots_of
from warploom.isa.model.table import FormError
from warploom.nvvm.dialect import OPERATIONS, Operation
from warploom.nvvm.dialect.pieces import (
    At,
    Constant,
    Fragment,
    Local,
    Mark,
    Piece,
    Sink,
    Statement,
    pointer_to,
    registers_of,
    width_of,
)
from warploom.nvvm.dialect.vocabulary import BitOperation, Layout, Overflow, ScaleIn, ScaleOut, WgmmaType
from warploom.nvvm.dialect.wgmma import WgmmaMmaAsync
from warploom.nvvm.dialect.wmma import element_at
from warploom.nvvm.dialect.words import Extents, Shape, Word
from warploom.nvvm.meant import meant
from warploom.ptx import Address, Integer, Name, Operand, Vector

GUARD = "@"
"""The place of the predicate that an instruction is under."""
_SEGMENTS = "operandSegmentSizes"
_PREDICATE = "predicate"
_MOST = 512
"""The choices of words that are tried of one operation."""
_SPACES = (0, 3, 1, 7)
"""The address spaces of a pointer that may be any."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a value stands in an instruction: a place, or an item of its vector or of a tensor's coordinates."""

    place: str
    item: int | None = None


@dataclass(frozen=True, slots=True)
class Seat:
    """A value of an operation: its type, and where its registers stand."""

    type: Attribute
    spots: tuple[Spot, ...]


@dataclass(frozen=True, slots=True)
class Recognised:
    """The operation that an instruction is, with the places of its operands and results."""

    kind: type[Operation]
    properties: Mapping[str, Attribute]
    operands: tuple[Seat, ...]
    results: tuple[Seat, ...]


def recognise(found: Binding, *, guarded: bool) -> Recognised | None:
    """The operation that an instruction is; None where it is none. `guarded`: it is under a predicate."""
    outline = tuple((name, _outline(each.operand)) for name, each in found.operands.items())
    key = (found.form.name, tuple(sorted(found.slots.items())), outline, guarded)
    if key not in _KNOWN:
        _KNOWN[key] = next(_recognised(found, guarded=guarded), None)
    return _KNOWN[key]


_KNOWN: dict[object, Recognised | None] = {}
"""The operation of each instruction but for the names of its registers."""


def items_of(operand: Operand) -> Sequence[Operand]:
    """The registers of a vector, the coordinates of a tensor, or the operand itself."""
    match operand:
        case Vector(items):
            return items
        case Address(_, _, (Vector(items), *_)):
            return items
        case _:
            return [operand]


def _outline(operand: Operand) -> object:
    """What decides which operation an instruction is."""
    match operand:
        case Integer(value):
            return value
        case Name("_"):
            return "_"
        case Vector() | Address():
            return type(operand), tuple(item == Name("_") for item in items_of(operand))
        case _:
            return type(operand)


# Which operations to ask ------------------------------------------------------------------------------------

_DISCARDING = {
    "mbarrier.arrive_discard": "mbarrier.arrive",
    "mbarrier.arrive_no_complete_discard": "mbarrier.arrive_no_complete",
}
"""Forms that discard a result of another, as the operation does whose result is not used."""


@cache
def _operations() -> Mapping[str, Sequence[type[Operation]]]:
    """The operations by the forms that they may be of.

    Those of several instructions are none of one: a multiplication of a warpgroup, whose scale is a predicate
    that is computed, and a loop.
    """
    found: dict[str, list[type[Operation]]] = {}
    for kind in OPERATIONS:
        if kind is not WgmmaMmaAsync:
            for form in kind.FORMS:
                found.setdefault(form, []).append(kind)
    return found


def _recognised(found: Binding, *, guarded: bool) -> Iterator[Recognised]:
    for kind in _operations().get(_DISCARDING.get(found.form.name, found.form.name), ()):
        values = list(_values(kind, found, guarded=guarded))
        for properties in _properties(kind, found):
            for operands, results in values:
                made = _made(kind, properties, operands, results)
                if (answer := _compared(made, found, guarded=guarded)) is not None:
                    yield answer


def _made(
    kind: type[Operation],
    properties: Mapping[str, Attribute],
    operands: Sequence[Sequence[Attribute]],
    results: Sequence[Attribute],
) -> Operation:
    """An operation on values that are nothing but their types."""
    values = Block(arg_types=list(chain.from_iterable(operands))).args
    return kind.create(
        operands=values,
        result_types=results,
        properties={**properties, **segments(kind, map(len, operands))},
    )


def segments(kind: type[Operation], counts: Iterator[int]) -> dict[str, Attribute]:
    """The property that says how many operands each group has, where an operation has it."""
    options = kind.get_irdl_definition().options
    if not any(isinstance(option, AttrSizedOperandSegments) for option in options):
        return {}
    return {_SEGMENTS: DenseArrayBase.from_list(i32, list(counts))}


# What may be chosen: words ----------------------------------------------------------------------------------


def _properties(kind: type[Operation], found: Binding) -> Iterator[dict[str, Attribute]]:
    """The choices of an operation's words: those that the instruction has first, then any."""
    given = {name: each for name, each in kind.get_irdl_definition().properties.items() if name != _SEGMENTS}
    tried: set[tuple[Attribute | None, ...]] = set()
    for near in (True, False):
        choices = [_choices(name, each, found, near=near) for name, each in given.items()]
        count = 1
        for each in choices:
            count *= len(each)
        if count > _MOST:
            continue
        for chosen in product(*choices):
            if chosen not in tried:
                tried.add(chosen)
                yield {name: each for name, each in zip(given, chosen, strict=True) if each is not None}


def _choices(name: str, given: PropertyDef, found: Binding, *, near: bool) -> Sequence[Attribute | None]:
    """What a property may be, its default first; `near`: no more than the words that the instruction has."""
    (base,) = given.constr.get_bases() or {UnitAttr}
    absent: list[Attribute | None] = [None] if isinstance(given, OptPropertyDef) else []
    if _SAID_BY.get(base, GUARD) not in {*found.slots, GUARD}:
        return absent
    if issubclass(base, Word):
        words = [word for word in base.words if word in _said(found)] if near else []
        if words:
            return [base(word) for word in words]
        choices = [*absent, *map(base, base.words)]
    elif issubclass(base, Extents):
        numbers = re.findall(r"\d+", found.slots.get("shape", ""))
        choices = (
            [base(*(IntAttr(int(each)) for each in numbers))] if len(numbers) == len(base.FIELDS) else []
        )
    elif base is UnitAttr:
        choices = [*absent, UnitAttr()]
    else:
        width = _width(given.constr)
        choices = [*absent, *(IntegerAttr(each, width) for each in _numbers(name, found, width))]
    return sorted(choices, key=lambda each: each != given.default_value)


def _said(found: Binding) -> set[str]:
    """The words of an instruction, and their last parts; A and B are of halves where nothing is said."""
    said = {part for word in found.slots.values() for part in (word, word.rpartition("::")[2])}
    return said if "atype" in found.slots else said | {"f16"}


_SAID_BY: Mapping[type[Attribute], str] = {Overflow: "satfinite", BitOperation: "bitOp"}
"""The slot without which an attribute says nothing."""


def _numbers(name: str, found: Binding, width: int) -> Sequence[int]:
    """The numbers that an instruction has, in its operands and in its words; one extent of its shape."""
    if width == 1:
        return (0, 1)
    if extent := re.search(rf"{name}(\d+)", found.slots.get("shape", "")):
        return (int(extent[1]),)
    constants = [each.operand.value for each in found.operands.values() if isinstance(each.operand, Integer)]
    words = [int(each) for word in found.slots.values() for each in re.findall(r"\d+", word)]
    return list(dict.fromkeys([*constants, *words]))


def _width(constraint: AttrConstraint) -> int:
    """The bits of the numbers that a constraint allows."""
    pending = list(constraint.param_constrs) if isinstance(constraint, ParamAttrConstraint) else [constraint]
    for each in pending:
        if isinstance(each, AllOf):
            pending += each.attr_constrs
        elif isinstance(each, EqAttrConstraint) and (width := width_of(each.attr)):
            return width
    return 1


# What may be chosen: values ---------------------------------------------------------------------------------

_Groups = tuple[Sequence[Sequence[Attribute]], Sequence[Attribute]]


def _values(kind: type[Operation], found: Binding, *, guarded: bool) -> Iterator[_Groups]:
    """The choices of an operation's operands, in groups, and of its results: their types."""
    definition = kind.get_irdl_definition()
    vectors = list(_vectors(found))
    varying = [name for name, each in definition.operands if _is_varying(each)]
    groups: list[Sequence[Sequence[Attribute]]] = []
    for name, operand in definition.operands:
        if name in varying:
            own = vectors if len(varying) == 1 else vectors[varying.index(name) :][:1]
            groups.append([[each for types in own for each in _allowed(operand.constr, types)]])
            continue
        one = [[each] for each in _types(operand.constr, found, "read")]
        if not isinstance(operand, OptOperandDef):
            groups.append(one)
        elif name == _PREDICATE:
            groups.append(one if guarded else [[]])
        else:
            groups.append([[], *one])
    results: list[Sequence[Sequence[Attribute]]] = []
    for _, result in definition.results:
        one: list[Sequence[Attribute]] = [[each] for each in _types(result.constr, found, "write")]
        if isinstance(result, OptResultDef):
            one = [*one, []] if _writes(found) else [[], *one]
        results.append(one)
    for operands in product(*groups):
        for given in product(*results):
            yield operands, list(chain.from_iterable(given))


def _is_varying(operand: OperandDef) -> bool:
    return isinstance(operand, VarOperandDef) and not isinstance(operand, OptOperandDef)


def _writes(found: Binding) -> bool:
    """Whether the instruction gives anything that is wanted."""
    return any(each.operand != Name("_") for each in found.operands.values() if each.place.access == "write")


def _vectors(found: Binding) -> Iterator[Sequence[Attribute]]:
    """The types of the registers of each vector that an instruction reads."""
    for name, each in found.operands.items():
        if isinstance(each.operand, Address):
            if each.operand.extra:
                yield [i32] * len(items_of(each.operand))
        elif isinstance(each.operand, Vector) and each.place.access == "read":
            yield [element_at(name, found.slots)] * len(each.operand.items)


def _allowed(allowed: RangeConstraint, types: Sequence[Attribute]) -> Sequence[Attribute]:
    """Some types, or that which a constraint asks for instead."""
    constraint = _each(allowed)
    return [constraint.attr] * len(types) if isinstance(constraint, EqAttrConstraint) else types


def _each(allowed: RangeConstraint) -> AttrConstraint | None:
    within = allowed.constraint if isinstance(allowed, RangeLengthConstraint) else allowed
    return within.constr if isinstance(within, RangeOf) else None


def _types(allowed: RangeConstraint, found: Binding, access: str) -> Sequence[Attribute]:
    """The types that one value may have in an instruction."""
    constraint = _each(allowed)
    match constraint:
        case EqAttrConstraint():
            return [constraint.attr]
        case AttrSetConstraint():
            return sorted(constraint.values, key=str)
        case BaseAttr() if constraint.attr is LLVMPointerType:
            shared = any(word.startswith("shared") for word in found.slots.values())
            return sorted(map(pointer_to, _SPACES), key=lambda each: shared and each == pointer_to(0))
        case _:
            every = dict.fromkeys(chain(*map(_wholes, _moved(found, access))))
            return [each for each in (*every, *_SCALARS) if _takes(constraint, each)]


_SCALARS = (*(IntegerType(width) for width in (1, 32, 64)), *map(pointer_to, (*_SPACES, 6)))


def _moved(found: Binding, access: str) -> Iterator[tuple[Attribute, int]]:
    """The vectors that an instruction reads or writes: what each register is, and how many there are."""
    for name, each in found.operands.items():
        if each.place.access == access and not isinstance(each.operand, Address | Integer):
            yield element_at(name, found.slots), len(items_of(each.operand))


def _wholes(moved: tuple[Attribute, int]) -> Iterator[Attribute]:
    """What registers may be together."""
    element, count = moved
    if count == 1:
        yield element
    yield LLVMStructType.from_type_list([element] * count)
    if element == i32 and count > 1:
        yield VectorType(i32, [count])


def _takes(constraint: AttrConstraint | None, type: Attribute) -> bool:
    try:
        if constraint is not None:
            constraint.verify(type, VerificationContext())
    except VerifyException:
        return False
    return True


# Whether it is the same -------------------------------------------------------------------------------------


def _compared(made: Operation, found: Binding, *, guarded: bool) -> Recognised | None:
    """The places of an operation's values, if it is this instruction and legal."""
    try:
        made.check()
        code = made.code()
        *before, statement = code.statements
        presets = {local: number for each in before for local, number in _preset(each)}
        if len(presets) != len(before) or not isinstance(statement, Statement):
            return None
        words = {slot: word for slot, word in statement.words.items() if word}
        form = form_that_allows(statement.forms, words)
        if form.name != _DISCARDING.get(found.form.name, found.form.name):
            return None
        if meant(form.name, slots_of(form, words)) != meant(form.name, found.slots):
            return None
        spots = _spots(statement, presets, found, guarded=guarded)
        if spots is None or any(value not in spots for value in made.operands):
            return None
        operands = tuple(Seat(value.type, spots[value]) for value in made.operands)
        _fill(made, operands, found)
        made.verify_()
    except (VerifyException, FormError):
        return None
    results = tuple(Seat(value.type, spots.get(value, ())) for value in made.results)
    return Recognised(type(made), dict(made.properties), operands, results)


def _fill(made: Operation, operands: Sequence[Seat], found: Binding) -> None:
    """Make those operands of an operation constants that are constants in the instruction."""
    for number, seat in enumerate(operands):
        bound = found.operands.get(seat.spots[0].place)
        if bound is not None and isinstance(bound.operand, Integer) and width_of(seat.type):
            made.operands[number] = constant_of(bound.operand.value, seat.type).result


def constant_of(number: int, type: Attribute) -> llvm.ConstantOp:
    """A constant of an integer's type; one that has no sign there by its bits."""
    width = width_of(type)
    written = number if -(1 << width - 1) <= number < 1 << width else number % (1 << width)
    return llvm.ConstantOp(IntegerAttr(written, width), type)


def _preset(statement: Statement | Mark) -> Iterator[tuple[Local, int]]:
    """The register that an operation sets to a constant for itself."""
    if isinstance(statement, Statement) and statement.forms == ("move.mov",):
        register, number = statement.operands["d"], statement.operands["a"]
        if isinstance(register, Local) and isinstance(number, int):
            yield register, number


def _spots(
    statement: Statement, presets: Mapping[Local, int], found: Binding, *, guarded: bool
) -> dict[SSAValue, tuple[Spot, ...]] | None:
    """Where the values of a statement stand in an instruction; None where it is another. A constant that it sets
    a register to for itself is one that the instruction says, or leaves unsaid.
    """
    spots: dict[SSAValue, tuple[Spot, ...]] = {}
    if (statement.guard is not None) != guarded:
        return None
    if isinstance(statement.guard, SSAValue):
        spots[statement.guard] = (Spot(GUARD),)
    if any(
        each.operand != Name("_") for name, each in found.operands.items() if name not in statement.operands
    ):
        return None
    for name, piece in statement.operands.items():
        operand = found.operands[name].operand if name in found.operands else None
        if isinstance(piece, Local) and piece in presets:
            if operand is not None and operand != Integer(presets[piece]):
                return None
            continue
        if operand is None or operand == Name("_"):
            if found.form.operands.get(name) is None or found.form.operands[name].access == "write":
                continue
            if isinstance(piece, Sink):
                continue
            return None
        standing = _standing(name, piece, operand)
        if standing is None:
            return None
        for value, where in standing:
            if value in spots:
                return None
            spots[value] = where
    return spots


def _standing(
    name: str, piece: Piece, operand: Operand
) -> Sequence[tuple[SSAValue, tuple[Spot, ...]]] | None:
    """The values of one place and where they stand; None where something else stands there."""
    match piece:
        case int():
            same = isinstance(operand, Integer) and (operand.value - piece) % (1 << 32) == 0
            return [] if same else None
        case Sink():
            return None
        case Local():
            return []
        case Constant(value):
            return [(value, (Spot(name),))]
        case Fragment(values):
            return _of_fragment(name, values, operand)
        case At(base, coordinates):
            count = len(items_of(operand)) if isinstance(operand, Address) and operand.extra else 0
            if (
                not isinstance(operand, Address)
                or count != len(coordinates)
                or not isinstance(base, SSAValue)
            ):
                return None
            return [(base, (Spot(name),)), *((each, (Spot(name, k),)) for k, each in enumerate(coordinates))]
        case _:
            return None if isinstance(operand, Vector | Address) else [(piece, (Spot(name),))]


def _of_fragment(
    name: str, values: Sequence[SSAValue], operand: Operand
) -> Sequence[tuple[SSAValue, tuple[Spot, ...]]] | None:
    counts = [len(registers_of(value.type)) for value in values]
    if isinstance(operand, Address) or sum(counts) != len(items_of(operand)):
        return None
    found: list[tuple[SSAValue, tuple[Spot, ...]]] = []
    at = 0
    for value, count in zip(values, counts, strict=True):
        found.append((value, tuple(Spot(name, at + k) for k in range(count))))
        at += count
    return found


# Warpgroups -------------------------------------------------------------------------------------------------


def recognise_warpgroup(found: Binding, *, adds: bool) -> Recognised | None:
    """The multiplication of a warpgroup, which adds its product to the accumulator or does not; None where the
    dialect has none such.
    """
    slots = found.slots
    a = "a" if "a" in found.operands else "a_desc"

    def number(name: str) -> int:
        constant = found.operands[name].operand if name in found.operands else None
        return constant.value if isinstance(constant, Integer) else 0

    properties: dict[str, Attribute] = {
        "shape": Shape(*(IntAttr(int(each)) for each in re.findall(r"\d+", slots["shape"]))),
        "typeA": WgmmaType(slots["atype"]),
        "typeB": WgmmaType(slots["btype"]),
        "typeD": WgmmaType(slots["dtype"]),
        "scaleD": ScaleOut("one" if adds else "zero"),
        "scaleA": ScaleIn("neg" if number("imm_scale_a") < 0 else "one"),
        "scaleB": ScaleIn("neg" if number("imm_scale_b") < 0 else "one"),
        "layoutA": Layout("col" if number("imm_trans_a") else "row"),
        "layoutB": Layout("row" if number("imm_trans_b") else "col"),
    }
    if slots.get("satfinite"):
        properties["satfinite"] = Overflow("satfinite")
    accumulator = _seat("d", found, f32 if slots["dtype"] == "f32" else i32)
    multiplied = _seat("a", found, i32) if a == "a" else Seat(i64, (Spot(a),))
    operands = (accumulator, multiplied, Seat(i64, (Spot("b_desc"),)))
    made = _made(WgmmaMmaAsync, properties, [[seat.type] for seat in operands], [accumulator.type])
    try:
        made.verify_()
    except VerifyException:
        return None
    return Recognised(WgmmaMmaAsync, properties, operands, (accumulator,))


def _seat(name: str, found: Binding, element: Attribute) -> Seat:
    """The struct that a vector of registers is."""
    count = len(items_of(found.operands[name].operand))
    struct = LLVMStructType.from_type_list([element] * count)
    return Seat(struct, tuple(Spot(name, number) for number in range(count)))
