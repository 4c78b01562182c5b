"""Search for the NVVM operation that lowers to a given PTX instruction.

The search builds candidate operations whose class lists the instruction's Form, and lowers each of them until the
result equals the instruction.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, product

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
    AttrConstraint,
    AttrSetConstraint,
    BaseAttr,
    EqAttrConstraint,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
)
from xdsl.utils.exceptions import VerifyException

from warploom.diagnostics import Diagnostic
from warploom.isa.binding.bind import Binding, bind
from warploom.isa.model.form import Form
from warploom.isa.model.table import FormError
from warploom.nvvm.dialect import OPERATIONS, Operation, special_registers
from warploom.nvvm.dialect.attributes import BitOperation, EnumAttribute, ExtentsAttribute, Overflow
from warploom.nvvm.dialect.lowering import InstructionTemplate
from warploom.nvvm.dialect.types import registers_of, struct_of
from warploom.nvvm.dialect.wmma import register_type_of
from warploom.ptx import Address, Integer, Name, Operand, Vector

_SEGMENTS = "operandSegmentSizes"
_WIDTHS = (8, 16, 32, 64)
"""Widths of integer properties other than Boolean ones."""


Position = tuple[str, int]
"""Position of a register in an instruction: the name of an operand, and the index in a vector or 0."""


@dataclass(frozen=True, slots=True)
class MatchedOperation:
    """Operation that lowers to a given instruction, and the positions of its registers."""

    operation: Operation
    positions: Mapping[SSAValue, Sequence[Position]]


def match_operation(binding: Binding) -> MatchedOperation | None:
    """Return the operation that lowers to an instruction without a predicate, or None if there is none.

    There is none for an instruction with an address or with the sink `_`. A constant operand matches only a property of
    an operation, such as 232 in `nvvm.setmaxregister increase 232`.
    """
    if any(isinstance(each.operand, Address) or each.operand == Name("_") for each in binding.operands.values()):
        return None
    key = _key(binding)
    if key not in _MATCHES:
        _MATCHES[key] = next(_matches(binding), None)
    return _MATCHES[key]


_MATCHES: dict[object, MatchedOperation | None] = {}
"""Results of earlier searches."""


def _key(binding: Binding) -> object:
    """Return everything on which a match depends: all except the names of registers."""
    outlines = {name: _outline(each.operand) for name, each in binding.operands.items()}
    return binding.form, frozenset(binding.slots.items()), frozenset(outlines.items())


def _outline(operand: Operand) -> object:
    match operand:
        case Integer(value):
            return value % (1 << 32)
        case Vector(items):
            return tuple(map(_outline, items))
        case Name("_"):
            return "_"
        case _:
            return type(operand)


def items_of(operand: Operand) -> Sequence[Operand]:
    """Return the items of a vector, or the operand itself."""
    return operand.items if isinstance(operand, Vector) else [operand]


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
        # MLIR writes `umax` for `max` of an unsigned type, and `async.global` for `async` with a state space.
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
        choices = [*absent, *(each for each in _numbers(name, binding) if _allows(given.constr, each))]
    return sorted(choices, key=lambda each: each != given.default_value)


def _words(binding: Binding) -> set[str]:
    """Return the modifiers of an instruction, and the parts of each modifier between `::`."""
    words = {part for word in binding.slots.values() for part in (word, *word.split("::"))}
    # Without a modifier for the type of A, the type is f16.
    return words if "atype" in binding.slots else words | {"f16"}


def _numbers(name: str, binding: Binding) -> Iterator[Attribute]:
    """Yield candidates for an integer property: the extent that it names, or numbers in the text."""
    yield from (IntegerAttr(0, 1), IntegerAttr(1, 1))
    # The property m, n or k has the extent of the shape.
    extent = re.search(rf"{name}(\d+)", binding.slots.get("shape", ""))
    constants = [each.operand.value for each in binding.operands.values() if isinstance(each.operand, Integer)]
    words = [int(each) for word in binding.slots.values() for each in re.findall(r"\d+", word)]
    for number in dict.fromkeys([*constants, *words] if extent is None else [int(extent[1])]):
        for width in _WIDTHS:
            if number < 1 << width:
                yield IntegerAttr(number, width)


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
        only, types = _element_constraint(operand.constr), next(following, ())
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
            # Registers without a type for floating point need no cast to an integer.
            types = sorted(constraint.values, key=lambda each: (not isinstance(each, IntegerType), str(each)))
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
    values = (*made.operands, *made.results)
    try:
        made.check()
        (template,) = made.lower().statements
        if not isinstance(template, InstructionTemplate) or template.guard or template.form is not binding.form:
            return None
        names = {
            value: tuple(f"%v{number}_{item}" for item in range(len(registers_of(value.type))))
            for number, value in enumerate(values)
        }
        found = bind(template.instruction(lambda value: (isinstance(value, SSAValue) and names[value]) or ("_",)))
        if isinstance(found, Diagnostic) or _key(found) != _key(binding):
            return None
        made.verify_()
    except (VerifyException, FormError, ValueError):
        return None
    places: dict[str, list[Position]] = {}
    for operand, each in found.operands.items():
        for number, item in enumerate(items_of(each.operand)):
            places.setdefault(str(item), []).append((operand, number))
    positions = {value: [place for name in names[value] for place in places.get(name, ())] for value in values}
    is_complete = all(len(positions[value]) == len(names[value]) for value in made.operands)
    return MatchedOperation(made, positions) if is_complete else None
