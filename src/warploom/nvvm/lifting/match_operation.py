"""Search for the NVVM operation that lowers to a given PTX instruction.

The search builds candidate operations whose class lists the instruction's Form, and lowers each of them until the
result equals the instruction.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice, product, repeat

from xdsl.dialects.builtin import DenseArrayBase, IntAttr, IntegerAttr, IntegerType, UnitAttr, VectorType, i32
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    OpDef,
    OperandDef,
    OptOperandDef,
    OptPropertyDef,
    OptResultDef,
    PropertyDef,
    ResultDef,
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
from warploom.nvvm.dialect.lowering import InstructionTemplate, Registers
from warploom.nvvm.dialect.types import registers_of, struct_of, width_of
from warploom.nvvm.dialect.wmma import register_type_of
from warploom.ptx import Address, Integer, Name, Operand, Vector

_SEGMENTS = "operandSegmentSizes"


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

    There is none for an instruction with an address or with the sink `_`. A constant operand matches only a property of
    an operation, such as 232 in `nvvm.setmaxregister increase 232`.
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
    """Return what the search depends on in an operand: a constant, the items of a vector, or the class."""
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
        definition = kind.get_irdl_definition()
        given = {name: each for name, each in definition.properties.items() if name != _SEGMENTS}
        operands = _operand_choices(definition, binding)
        results = [_types(each, binding, "write", isinstance(each, OptResultDef)) for _, each in definition.results]
        is_segmented = any(isinstance(each, AttrSizedOperandSegments) for each in definition.options)
        for chosen in product(*(_attribute_choices(name, each, binding) for name, each in given.items())):
            properties = {name: each for name, each in zip(given, chosen, strict=True) if each is not None}
            for groups, types in product(product(*operands), product(*results)):
                if is_segmented:
                    properties[_SEGMENTS] = DenseArrayBase.from_list(i32, list(map(len, groups)))
                values = Block(arg_types=list(chain.from_iterable(groups))).args
                made = kind.create(
                    operands=values, result_types=list(chain.from_iterable(types)), properties={**properties}
                )
                if (found := _match_if_equal(made, binding)) is not None:
                    yield found


_SLOTS_OF: Mapping[type[Attribute], str] = {Overflow: "satfinite", BitOperation: "bitOp"}
"""Modifier that a Form must have so that an attribute class applies."""


def _attribute_choices(name: str, given: PropertyDef, binding: Binding) -> Sequence[Attribute | None]:
    """Return the values to try for a property, with the default value first.

    The values of an enumeration are modifiers of the instruction, or all values if the instruction has none of them.
    """
    absent: list[Attribute | None] = [None] if isinstance(given, OptPropertyDef) else []
    base, *others = given.constr.get_bases() or {UnitAttr}
    if others or ((slot := _SLOTS_OF.get(base)) is not None and slot not in binding.slots):
        return absent
    choices = absent
    if issubclass(base, EnumAttribute):
        # MLIR writes `umax` for `max.u32`, and `async.global` for `async` with a state space.
        words = _words(binding)
        near = [case for case in base.cases if words & {case, case[1:], case.partition(".")[0]}]
        if near:
            return [base(case) for case in near]
        choices = [*absent, *map(base, base.cases)]
    elif issubclass(base, ExtentsAttribute):
        extents = [IntAttr(int(each)) for each in re.findall(r"\d+", binding.slots.get("shape", ""))]
        choices = [base(*extents)] if len(extents) == len(base.FIELDS) else []
    elif base is UnitAttr:
        choices = [*absent, UnitAttr()]
    elif issubclass(base, IntegerAttr):
        width = _width(given.constr)
        choices = [*absent, *(IntegerAttr(each, width) for each in _numbers(name, binding, width))]
    return sorted(choices, key=lambda each: each != given.default_value)


def _words(binding: Binding) -> set[str]:
    """Return the modifiers of an instruction, and the parts of each modifier between `::`."""
    words = {part for word in binding.slots.values() for part in (word, *word.split("::"))}
    # Without a modifier for the type of A, the type is f16.
    return words if "atype" in binding.slots else words | {"f16"}


def _numbers(name: str, binding: Binding, width: int) -> Sequence[int]:
    """Return candidate values for an integer property: the extent that it names, or constants and numbers in words."""
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


_Group = Sequence[Attribute]
"""Types of the values that belong to one operand or result of a declaration."""


def _operand_choices(definition: OpDef, binding: Binding) -> Sequence[Sequence[_Group]]:
    """Return the groups of types to try for each operand."""
    vectors = [[element] * count for element, count, is_vector in _registers(binding, "read") if is_vector]
    if sum(_is_variadic(each) for _, each in definition.operands) == 1:
        # The only variadic operand has the registers of all vectors.
        vectors = [list(chain.from_iterable(vectors))]
    following = iter(vectors)
    found: list[Sequence[_Group]] = []
    for _, operand in definition.operands:
        if not _is_variadic(operand):
            found.append(_types(operand, binding, "read", isinstance(operand, OptOperandDef)))
            continue
        only, types = _element_constraint(operand.constr), next(following, [])
        found.append([[only.attr] * len(types) if isinstance(only, EqAttrConstraint) else types])
    return found


def _is_variadic(operand: OperandDef) -> bool:
    return isinstance(operand, VarOperandDef) and not isinstance(operand, OptOperandDef)


def _registers(binding: Binding, access: str) -> Iterator[tuple[Attribute, int, bool]]:
    """Yield the type and number of the registers of each operand, and True for a vector."""
    for name, each in binding.operands.items():
        if each.spec.access == access and not isinstance(each.operand, Integer):
            is_vector = isinstance(each.operand, Vector)
            yield register_type_of(name, binding.slots), len(items_of(each.operand)), is_vector


def _element_constraint(allowed: RangeConstraint) -> AttrConstraint | None:
    within = allowed.constraint if isinstance(allowed, RangeLengthConstraint) else allowed
    return within.constr if isinstance(within, RangeOf) else None


_SCALARS = tuple(map(IntegerType, (1, 32, 64)))


def _types(given: OperandDef | ResultDef, binding: Binding, access: str, is_optional: bool) -> Sequence[_Group]:
    """Return the types that a declaration permits for a value. `access` is "read" or "write"."""
    constraint = _element_constraint(given.constr)
    registers = list(_registers(binding, access))
    match constraint:
        case EqAttrConstraint():
            types: _Group = [constraint.attr]
        case AttrSetConstraint():
            types = sorted(constraint.values, key=str)
        case BaseAttr() if constraint.attr is LLVMPointerType:
            types = []
        case _:
            whole = dict.fromkeys(chain(*(_whole_types(element, count) for element, count, _ in registers)))
            types = [each for each in (*whole, *_SCALARS) if constraint is None or _allows(constraint, each)]
    absent: list[_Group] = [[]] if is_optional else []
    some = [[each] for each in types]
    # An instruction that writes registers has the optional result.
    return [*some, *absent] if access == "write" and registers else [*absent, *some]


def _whole_types(element: Attribute, count: int) -> Iterator[Attribute]:
    """Yield the possible types of one value with `count` registers."""
    if count == 1:
        yield element
    yield struct_of(element, count)
    if element == i32 and count > 1:
        yield VectorType(i32, [count])


def _allows(constraint: AttrConstraint, type: Attribute) -> bool:
    try:
        constraint.verify(type, VerificationContext())
    except VerifyException:
        return False
    return True


# Comparison -------------------------------------------------------------------------------------------------


def _match_if_equal(made: Operation, binding: Binding) -> MatchedOperation | None:
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
        operand = binding.operands[name].operand
        match each:
            case int():
                if not isinstance(operand, Integer) or (operand.value - each) % (1 << 32):
                    return None
                continue
            case Registers(values):
                counts = [len(registers_of(value.type)) for value in values]
                items = map(Position, repeat(name), range(sum(counts)))
                if sum(counts) != len(items_of(operand)):
                    return None
                positions = {value: tuple(islice(items, count)) for value, count in zip(values, counts, strict=True)}
            case SSAValue() if not isinstance(operand, Vector):
                positions = {each: (Position(name),)}
            case _:
                return None
        if positions.keys() & found.keys():
            return None
        found |= positions
    return found
