"""Search for the NVVM operation that lowers to a given PTX instruction.

The search builds operations with the form of the instruction until the lowering of one equals the instruction.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, product
from math import prod

from xdsl.dialects.builtin import DenseArrayBase, IntAttr, IntegerAttr, IntegerType, UnitAttr, VectorType, i32
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
from warploom.isa.model.form import Form
from warploom.isa.model.table import FormError
from warploom.nvvm.dialect import OPERATIONS, Operation, special_registers
from warploom.nvvm.dialect.attributes import BitOperation, EnumAttribute, ExtentsAttribute, Overflow
from warploom.nvvm.dialect.lowering import InstructionTemplate, OperandTemplate, Registers
from warploom.nvvm.dialect.types import registers_of, struct_of, width_of
from warploom.nvvm.dialect.wmma import register_type_of
from warploom.ptx import Address, Integer, Name, Operand, Vector

_SEGMENTS = "operandSegmentSizes"
_MOST_CHOICES = 512
"""Maximum number of combinations of attributes that are tried for one operation."""


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


def match_operation(binding: Binding) -> MatchedOperation | None:
    """Return the operation that lowers to an instruction without a predicate, or None if there is none.

    There is none for an instruction with an address, a constant operand or an unused result, because LLVM would compute
    the operand with more instructions.
    """
    if any(isinstance(each.operand, Address) or each.operand == Name("_") for each in binding.operands.values()):
        return None
    outline = tuple((name, _outline(each.operand)) for name, each in binding.operands.items())
    key = (binding.form, tuple(sorted(binding.slots.items())), outline)
    if key not in _MATCHES:
        _MATCHES[key] = next(_matches(binding), None)
    return _MATCHES[key]


_MATCHES: dict[object, MatchedOperation | None] = {}
"""Results of earlier searches. The key contains everything except register names."""


def items_of(operand: Operand) -> Sequence[Operand]:
    """Return the items of a vector, or the operand itself."""
    return operand.items if isinstance(operand, Vector) else [operand]


def _outline(operand: Operand) -> object:
    """Return a key for the search. Operands with equal keys match the same operations."""
    match operand:
        case Integer(value):
            return value
        case Vector(items):
            return tuple(map(_outline, items))
        case _:
            return type(operand)


# Candidates -------------------------------------------------------------------------------------------------


@cache
def _operations() -> Mapping[Form, Sequence[type[Operation]]]:
    """Return the operations that lower to one instruction, by form."""
    found: dict[Form, list[type[Operation]]] = {}
    for kind in OPERATIONS:
        # LLVM merges and moves reads of special registers.
        for form in kind.FORMS if kind not in special_registers.GENERATED else ():
            found.setdefault(form, []).append(kind)
    return found


def _matches(binding: Binding) -> Iterator[MatchedOperation]:
    for kind in _operations().get(binding.form, ()):
        types = list(_type_choices(kind, binding))
        for properties in _property_choices(kind, binding):
            for operands, results in types:
                made = _build(kind, properties, operands, results)
                if (found := _compared(made, binding)) is not None:
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
    absent: list[Attribute | None] = [None] if isinstance(given, OptPropertyDef) else []
    bases = given.constr.get_bases() or {UnitAttr}
    if len(bases) > 1:
        return absent
    (base,) = bases
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
    elif not issubclass(base, IntegerAttr):
        choices = absent
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


def _type_choices(kind: type[Operation], binding: Binding) -> Iterator[_Groups]:
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
        groups.append([[], *one] if isinstance(operand, OptOperandDef) else one)
    writes = any(each.spec.access == "write" for each in binding.operands.values())
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
        if isinstance(each.operand, Vector) and each.spec.access == "read":
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
            return []
        case _:
            every = dict.fromkeys(chain(*map(_whole_types, _vector_operands(binding, access))))
            return [each for each in (*every, *_SCALARS) if _allows(constraint, each)]


_SCALARS = tuple(map(IntegerType, (1, 32, 64)))


def _vector_operands(binding: Binding, access: str) -> Iterator[tuple[Attribute, int]]:
    for name, each in binding.operands.items():
        if each.spec.access == access and not isinstance(each.operand, Integer):
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


def _compared(made: Operation, binding: Binding) -> MatchedOperation | None:
    """Return a match if the operation `made` lowers to the instruction of `binding`, else None."""
    try:
        made.check()
        (template,) = made.lower().statements
        if not isinstance(template, InstructionTemplate) or template.guard is not None:
            return None
        form = template.form
        if form is not binding.form:
            return None
        if _present(slots_of(form, template.present_words)) != _present(binding.slots):
            return None
        positions = _positions(template, binding)
        if positions is None or any(value not in positions for value in made.operands):
            return None
        operands = tuple(PlacedValue(value.type, positions[value]) for value in made.operands)
        made.verify_()
    except (VerifyException, FormError, ValueError):
        return None
    results = tuple(PlacedValue(value.type, positions.get(value, ())) for value in made.results)
    return MatchedOperation(type(made), dict(made.properties), operands, results)


def _present(slots: Mapping[str, str]) -> dict[str, str]:
    return {slot: word for slot, word in slots.items() if word}


_Positions = dict[SSAValue, tuple[Position, ...]]


def _positions(template: InstructionTemplate, binding: Binding) -> _Positions | None:
    """Return the positions of a template's values in an instruction, or None if the two do not match."""
    found: _Positions = {}
    if template.operands.keys() != binding.operands.keys():
        return None
    for name, each in template.operands.items():
        positions = _operand_positions(name, each, binding.operands[name].operand)
        if positions is None or positions.keys() & found.keys():
            return None
        found |= positions
    return found


def _operand_positions(name: str, template: OperandTemplate, operand: Operand) -> _Positions | None:
    """Return the positions of the template's values in one operand, or None for no match."""
    match template:
        case int():
            same = isinstance(operand, Integer) and (operand.value - template) % (1 << 32) == 0
            return {} if same else None
        case Registers(values):
            return _vector_positions(name, values, operand)
        case SSAValue():
            return None if isinstance(operand, Vector) else {template: (Position(name),)}
        case _:
            return None


def _vector_positions(name: str, values: Sequence[SSAValue], operand: Operand) -> _Positions | None:
    counts = [len(registers_of(value.type)) for value in values]
    if sum(counts) != len(items_of(operand)):
        return None
    items = iter(range(sum(counts)))
    return {
        value: tuple(Position(name, next(items)) for _ in range(count))
        for value, count in zip(values, counts, strict=True)
    }
