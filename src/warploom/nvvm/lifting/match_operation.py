"""Search for the NVVM operation that lowers to a given PTX instruction.

The search builds operations with the form of the instruction until the lowering of one equals the instruction.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, product
from math import prod

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntAttr, IntegerAttr, IntegerType, UnitAttr, VectorType, f32, i32, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
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
from warploom.isa.binding.compose import slots_of
from warploom.isa.instructions import barrier, mbarrier, move, tcgen05_mma, wmma
from warploom.isa.model.form import Form
from warploom.isa.model.table import FormError
from warploom.nvvm.dialect import OPERATIONS, Operation
from warploom.nvvm.dialect.attributes import BitOperation, EnumAttribute, ExtentsAttribute, Overflow
from warploom.nvvm.dialect.lowering import (
    Discarded,
    Immediate,
    InstructionTemplate,
    LabelTemplate,
    Memory,
    OperandTemplate,
    Registers,
    Temporary,
)
from warploom.nvvm.dialect.types import pointer_to, registers_of, struct_of, width_of
from warploom.nvvm.dialect.wgmma import WgmmaMmaAsync, multiplication_properties
from warploom.nvvm.dialect.wmma import register_type_of
from warploom.nvvm.forms import MMA_SCALED, MMA_SPARSE_SCALED, WMMA, forms_in
from warploom.ptx import Address, Integer, Name, Operand, Vector

GUARD = "@"
"""Operand name of the predicate that guards an instruction."""
_SEGMENTS = "operandSegmentSizes"
_PREDICATE = "predicate"
_MOST_CHOICES = 512
"""Maximum number of combinations of attributes that are tried for one operation."""
_SPACES = (0, 3, 1, 7)
"""Address spaces that are tried for an unconstrained pointer."""
_SINK = Name("_")


@dataclass(frozen=True, slots=True)
class Position:
    """Position of a register in an instruction: an operand, or an item of a vector operand."""

    operand: str
    item: int | None = None


@dataclass(frozen=True, slots=True)
class PlacedValue:
    """Operand or result of an operation: its type, and its positions in the instruction."""

    type: Attribute
    positions: tuple[Position, ...]


@dataclass(frozen=True, slots=True)
class MatchedOperation:
    """Operation that lowers to a given instruction: its class, properties, operands and results."""

    kind: type[Operation]
    properties: Mapping[str, Attribute]
    operands: tuple[PlacedValue, ...]
    results: tuple[PlacedValue, ...]


def match_operation(binding: Binding, *, guarded: bool) -> MatchedOperation | None:
    """Return the operation that lowers to an instruction, or None if there is none.

    `guarded` is True for a predicated instruction.
    """
    outline = tuple((name, _outline(each.operand)) for name, each in binding.operands.items())
    key = (binding.form, tuple(sorted(binding.slots.items())), outline, guarded)
    if key not in _MATCHES:
        _MATCHES[key] = next(_matches(binding, guarded=guarded), None)
    return _MATCHES[key]


_MATCHES: dict[object, MatchedOperation | None] = {}
"""Results of earlier searches. The key contains everything except register names."""


def items_of(operand: Operand) -> Sequence[Operand]:
    """Return the items of a vector, the coordinates of a tensor address, or the operand itself."""
    match operand:
        case Vector(items):
            return items
        case Address(_, _, (Vector(items), *_)):
            return items
        case _:
            return [operand]


def _outline(operand: Operand) -> object:
    """Return a key for the search. Operands with equal keys match the same operations."""
    match operand:
        case Integer(value):
            return value
        case Name("_"):
            return "_"
        case Vector() | Address():
            return type(operand), tuple(item == _SINK for item in items_of(operand))
        case _:
            return type(operand)


# Candidates -------------------------------------------------------------------------------------------------

_WITHOUT_RESULT = {
    mbarrier.ARRIVE_DISCARD: mbarrier.ARRIVE,
    mbarrier.ARRIVE_NO_COMPLETE_DISCARD: mbarrier.ARRIVE_NO_COMPLETE,
}
"""Form that returns a result, by form that discards the result. One operation lowers to both forms."""


def _form_of(binding: Binding) -> Form:
    return _WITHOUT_RESULT.get(binding.form, binding.form)


@cache
def _operations() -> Mapping[Form, Sequence[type[Operation]]]:
    """Return the operations that lower to one instruction, by form."""
    found: dict[Form, list[type[Operation]]] = {}
    for kind in OPERATIONS:
        # `match_multiplication` finds it, because it also sets a predicate.
        if kind is not WgmmaMmaAsync:
            for form in kind.FORMS:
                found.setdefault(form, []).append(kind)
    return found


def _matches(binding: Binding, *, guarded: bool) -> Iterator[MatchedOperation]:
    for kind in _operations().get(_form_of(binding), ()):
        types = list(_type_choices(kind, binding, guarded=guarded))
        for properties in _property_choices(kind, binding):
            for operands, results in types:
                made = _build(kind, properties, operands, results)
                if (found := _compared(made, binding, guarded=guarded)) is not None:
                    yield found


def _build(
    kind: type[Operation],
    properties: Mapping[str, Attribute],
    operands: Sequence[Sequence[Attribute]],
    results: Sequence[Attribute],
) -> Operation:
    """Build an operation on new block arguments. `operands` has the types of each operand group."""
    segments: dict[str, Attribute] = {}
    if any(isinstance(each, AttrSizedOperandSegments) for each in kind.get_irdl_definition().options):
        segments[_SEGMENTS] = DenseArrayBase.from_list(i32, list(map(len, operands)))
    values = Block(arg_types=list(chain.from_iterable(operands))).args
    return kind.create(operands=values, result_types=results, properties={**properties, **segments})


# Choices of attributes --------------------------------------------------------------------------------------


def _property_choices(kind: type[Operation], binding: Binding) -> Iterator[dict[str, Attribute]]:
    """Yield properties to try for an operation."""
    given = {name: each for name, each in kind.get_irdl_definition().properties.items() if name != _SEGMENTS}
    tried: set[tuple[Attribute | None, ...]] = set()
    # Values in the modifiers of the instruction come first.
    for near in (True, False):
        choices = [_attribute_choices(name, each, binding, near=near) for name, each in given.items()]
        if prod(map(len, choices)) > _MOST_CHOICES:
            continue
        for chosen in product(*choices):
            if chosen not in tried:
                tried.add(chosen)
                yield {name: each for name, each in zip(given, chosen, strict=True) if each is not None}


_SLOTS_OF: Mapping[type[Attribute], str] = {Overflow: "satfinite", BitOperation: "bitOp"}
"""Name of the modifier that an instruction must have so that an attribute of a class has an effect."""


def _attribute_choices(name: str, given: PropertyDef, binding: Binding, *, near: bool) -> Sequence[Attribute | None]:
    """Return the values to try for a property, with the default value first.

    `near` limits enumeration values to modifiers of the instruction.
    """
    (base,) = given.constr.get_bases() or {UnitAttr}
    absent: list[Attribute | None] = [None] if isinstance(given, OptPropertyDef) else []
    if (slot := _SLOTS_OF.get(base)) is not None and slot not in binding.slots:
        return absent
    if issubclass(base, EnumAttribute):
        words = [word for word in base.cases if word in _words(binding)] if near else []
        if words:
            return [base(word) for word in words]
        choices = [*absent, *map(base, base.cases)]
    elif issubclass(base, ExtentsAttribute):
        extents = [IntAttr(int(each)) for each in re.findall(r"\d+", binding.slots.get("shape", ""))]
        choices = [base(*extents)] if len(extents) == len(base.FIELDS) else []
    elif base is UnitAttr:
        choices = [*absent, UnitAttr()]
    else:
        width = _width(given.constr)
        choices = [*absent, *(IntegerAttr(each, width) for each in _numbers(name, binding, width))]
    return sorted(choices, key=lambda each: each != given.default_value)


def _words(binding: Binding) -> set[str]:
    """Return the modifiers of an instruction, and the part of each modifier after the last `::`."""
    words = {part for word in binding.slots.values() for part in (word, word.rpartition("::")[2])}
    # Without a modifier for the type of A, the type is f16.
    return words if "atype" in binding.slots else words | {"f16"}


def _numbers(name: str, binding: Binding, width: int) -> Sequence[int]:
    """Return candidate values of the integer property `name` for an operation that matches `binding`."""
    if width == 1:
        return (0, 1)
    # The property m, n or k has the extent of the shape.
    if extent := re.search(rf"{name}(\d+)", binding.slots.get("shape", "")):
        return (int(extent[1]),)
    constants = [each.operand.value for each in binding.operands.values() if isinstance(each.operand, Integer)]
    words = [int(each) for word in binding.slots.values() for each in re.findall(r"\d+", word)]
    return list(dict.fromkeys([*constants, *words]))


def _width(constraint: AttrConstraint) -> int:
    pending = list(constraint.param_constrs) if isinstance(constraint, ParamAttrConstraint) else [constraint]
    for each in pending:
        if isinstance(each, AllOf):
            pending += each.attr_constrs
        elif isinstance(each, EqAttrConstraint) and (width := width_of(each.attr)):
            return width
    return 1


# Choices of types -------------------------------------------------------------------------------------------

_Groups = tuple[Sequence[Sequence[Attribute]], Sequence[Attribute]]


def _type_choices(kind: type[Operation], binding: Binding, *, guarded: bool) -> Iterator[_Groups]:
    """Yield types to try: those of each operand group, and those of the results."""
    definition = kind.get_irdl_definition()
    vectors = list(_vectors(binding))
    variadic = [
        name
        for name, each in definition.operands
        if isinstance(each, VarOperandDef) and not isinstance(each, OptOperandDef)
    ]
    groups: list[Sequence[Sequence[Attribute]]] = []
    for name, operand in definition.operands:
        if name in variadic:
            own = vectors if len(variadic) == 1 else vectors[variadic.index(name) :][:1]
            only = _element_constraint(operand.constr)
            every = (each for types in own for each in types)
            groups.append([[only.attr if isinstance(only, EqAttrConstraint) else each for each in every]])
            continue
        one = [[each] for each in _types(operand.constr, binding, "read")]
        if not isinstance(operand, OptOperandDef):
            groups.append(one)
        # Only a predicated instruction has the optional predicate operand.
        elif name == _PREDICATE:
            groups.append(one if guarded else [[]])
        else:
            groups.append([[], *one])
    writes = any(each.operand != _SINK for each in binding.operands.values() if each.spec.access == "write")
    results: list[Sequence[Sequence[Attribute]]] = []
    for _, result in definition.results:
        one: list[Sequence[Attribute]] = [[each] for each in _types(result.constr, binding, "write")]
        if isinstance(result, OptResultDef):
            one = [*one, []] if writes else [[], *one]
        results.append(one)
    for operands in product(*groups):
        for given in product(*results):
            yield operands, list(chain.from_iterable(given))


def _vectors(binding: Binding) -> Iterator[Sequence[Attribute]]:
    for name, each in binding.operands.items():
        if isinstance(each.operand, Address):
            if each.operand.extra:
                yield [i32] * len(items_of(each.operand))
        elif isinstance(each.operand, Vector) and each.spec.access == "read":
            yield [register_type_of(name, binding.slots)] * len(each.operand.items)


def _element_constraint(allowed: RangeConstraint) -> AttrConstraint | None:
    within = allowed.constraint if isinstance(allowed, RangeLengthConstraint) else allowed
    return within.constr if isinstance(within, RangeOf) else None


def _types(allowed: RangeConstraint, binding: Binding, access: str) -> Sequence[Attribute]:
    """Return the types that `allowed` permits for a value. `access` is "read" or "write"."""
    constraint = _element_constraint(allowed)
    match constraint:
        case EqAttrConstraint():
            return [constraint.attr]
        case AttrSetConstraint():
            return sorted(constraint.values, key=str)
        case BaseAttr() if constraint.attr is LLVMPointerType:
            shared = any(word.startswith("shared") for word in binding.slots.values())
            return sorted(map(pointer_to, _SPACES), key=lambda each: shared and each == pointer_to(0))
        case _:
            every = dict.fromkeys(chain(*map(_whole_types, _vector_operands(binding, access))))
            return [each for each in (*every, *_SCALARS) if _allows(constraint, each)]


_SCALARS = (*(IntegerType(width) for width in (1, 32, 64)), *map(pointer_to, (*_SPACES, 6)))


def _vector_operands(binding: Binding, access: str) -> Iterator[tuple[Attribute, int]]:
    for name, each in binding.operands.items():
        if each.spec.access == access and not isinstance(each.operand, Address | Integer):
            yield register_type_of(name, binding.slots), len(items_of(each.operand))


def _whole_types(registers: tuple[Attribute, int]) -> Iterator[Attribute]:
    """Yield the possible types of one value. `registers` are the type and count of its registers."""
    element, count = registers
    if count == 1:
        yield element
    yield struct_of(element, count)
    if element == i32 and count > 1:
        yield VectorType(i32, [count])


def _allows(constraint: AttrConstraint | None, type: Attribute) -> bool:
    try:
        if constraint is not None:
            constraint.verify(type, VerificationContext())
    except VerifyException:
        return False
    return True


# Comparison -------------------------------------------------------------------------------------------------


def _compared(made: Operation, binding: Binding, *, guarded: bool) -> MatchedOperation | None:
    """Return a match if the operation `made` lowers to the instruction of `binding`, else None."""
    try:
        made.check()
        *before, template = made.lower().statements
        presets = {register: number for each in before for register, number in _preset(each)}
        if len(presets) != len(before) or not isinstance(template, InstructionTemplate):
            return None
        form = template.form
        if form is not _form_of(binding):
            return None
        if _present(slots_of(form, template.present_words)) != _present(binding.slots):
            return None
        positions = _positions(template, presets, binding, guarded=guarded)
        if positions is None or any(value not in positions for value in made.operands):
            return None
        operands = tuple(PlacedValue(value.type, positions[value]) for value in made.operands)
        _substitute_constants(made, operands, binding)
        made.verify_()
    except (VerifyException, FormError):
        return None
    results = tuple(PlacedValue(value.type, positions.get(value, ())) for value in made.results)
    return MatchedOperation(type(made), dict(made.properties), operands, results)


def _substitute_constants(made: Operation, operands: Sequence[PlacedValue], binding: Binding) -> None:
    """Replace operands of `made` by the constants in the instruction."""
    for number, placed in enumerate(operands):
        bound = binding.operands.get(placed.positions[0].operand)
        if bound is not None and isinstance(bound.operand, Integer) and width_of(placed.type):
            made.operands[number] = constant_of(bound.operand.value, placed.type).result


def constant_of(number: int, type: Attribute) -> llvm.ConstantOp:
    """Return a constant of an integer type. A number that does not fit is reduced modulo 2**width."""
    width = width_of(type)
    value = number if -(1 << width - 1) <= number < 1 << width else number % (1 << width)
    return llvm.ConstantOp(IntegerAttr(value, width), type)


def _present(slots: Mapping[str, str]) -> dict[str, str]:
    return {slot: word for slot, word in slots.items() if word}


def _preset(statement: InstructionTemplate | LabelTemplate) -> Iterator[tuple[Temporary, int]]:
    if isinstance(statement, InstructionTemplate) and move.MOV in statement.forms:
        register, number = statement.operands["d"], statement.operands["a"]
        if isinstance(register, Temporary) and isinstance(number, int):
            yield register, number


_Positions = dict[SSAValue, tuple[Position, ...]]


def _positions(
    template: InstructionTemplate, presets: Mapping[Temporary, int], binding: Binding, *, guarded: bool
) -> _Positions | None:
    """Return the positions of a template's values in an instruction, or None if the two do not match.

    `presets` maps temporaries to the constants that earlier instructions put into them.
    """
    found: _Positions = {}
    if (template.guard is not None) != guarded:
        return None
    if isinstance(template.guard, SSAValue):
        found[template.guard] = (Position(GUARD),)
    if any(each.operand != _SINK for name, each in binding.operands.items() if name not in template.operands):
        return None
    for name, each in template.operands.items():
        operand = binding.operands[name].operand if name in binding.operands else None
        if isinstance(each, Temporary) and each in presets:
            # The instruction may lack the operand or contain the constant.
            if operand is not None and operand != Integer(presets[each]):
                return None
            continue
        if operand is None or operand == _SINK:
            spec = binding.form.operands.get(name)
            if spec is None or spec.access == "write" or isinstance(each, Discarded):
                continue
            return None
        if (positions := _operand_positions(name, each, operand)) is None or positions.keys() & found.keys():
            return None
        found |= positions
    return found


def _operand_positions(name: str, template: OperandTemplate, operand: Operand) -> _Positions | None:
    """Return the positions of the template's values in one operand, or None for no match."""
    match template:
        case int():
            same = isinstance(operand, Integer) and (operand.value - template) % (1 << 32) == 0
            return {} if same else None
        case Discarded():
            return None
        case Temporary():
            return {}
        case Immediate(value):
            return {value: (Position(name),)}
        case Registers(values):
            return _vector_positions(name, values, operand)
        case Memory(base, coordinates):
            count = len(items_of(operand)) if isinstance(operand, Address) and operand.extra else 0
            if not isinstance(operand, Address) or count != len(coordinates) or isinstance(base, Temporary):
                return None
            items = {each: (Position(name, number),) for number, each in enumerate(coordinates)}
            return {base: (Position(name),), **items}
        case _:
            return None if isinstance(operand, Vector | Address) else {template: (Position(name),)}


def _vector_positions(name: str, values: Sequence[SSAValue], operand: Operand) -> _Positions | None:
    counts = [len(registers_of(value.type)) for value in values]
    if isinstance(operand, Address) or sum(counts) != len(items_of(operand)):
        return None
    items = iter(range(sum(counts)))
    return {
        value: tuple(Position(name, next(items)) for _ in range(count))
        for value, count in zip(values, counts, strict=True)
    }


# Warpgroup multiplications ----------------------------------------------------------------------------------


def match_multiplication(binding: Binding, *, adds: bool) -> MatchedOperation | None:
    """Return the operation that lowers to a warpgroup multiplication, or None if there is none.

    `adds` is True if the product is added to the accumulator.
    """

    def constant(name: str) -> int:
        found = binding.operands[name].operand if name in binding.operands else None
        return found.value if isinstance(found, Integer) else 0

    properties = multiplication_properties(
        dict(binding.slots),
        adds=adds,
        negates=(constant("imm_scale_a") < 0, constant("imm_scale_b") < 0),
        transposes=(bool(constant("imm_trans_a")), bool(constant("imm_trans_b"))),
    )
    accumulator = _placed_struct("d", binding, f32 if binding.slots["dtype"] == "f32" else i32)
    a = _placed_struct("a", binding, i32) if "a" in binding.operands else PlacedValue(i64, (Position("a_desc"),))
    operands = (accumulator, a, PlacedValue(i64, (Position("b_desc"),)))
    made = _build(WgmmaMmaAsync, properties, [[each.type] for each in operands], [accumulator.type])
    try:
        made.verify_()
    except VerifyException:
        return None
    return MatchedOperation(WgmmaMmaAsync, properties, operands, (accumulator,))


def _placed_struct(name: str, binding: Binding, element: Attribute) -> PlacedValue:
    count = len(items_of(binding.operands[name].operand))
    return PlacedValue(struct_of(element, count), tuple(Position(name, number) for number in range(count)))
