"""Operations of MLIR's nvvm dialect, generated for queries to MLIR's tools.

Multiplications are generated from the modifier tables of their Forms, because their operand types depend on each other.
Other operations are generated from their declarations in the dialect.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    IntAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    VectorType,
    f16,
    f32,
    f64,
    i1,
    i16,
    i32,
    i64,
)
from xdsl.dialects.llvm import LLVMFunctionType, LLVMPointerType, LLVMStructType, LLVMVoidType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, BaseAttr, OptOperandDef, OptPropertyDef, OptResultDef, VarOperandDef
from xdsl.irdl.constraints import (
    AllOf,
    AttrConstraint,
    AttrSetConstraint,
    EqAttrConstraint,
    ParamAttrConstraint,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
)
from xdsl.utils.exceptions import VerifyException

from warploom.isa.binding.compose import slots_of
from warploom.isa.instructions import wmma
from warploom.isa.model.form import Form
from warploom.nvvm import dialect
from warploom.nvvm.dialect import OPERATIONS, mma
from warploom.nvvm.dialect.attributes import (
    BitOperation,
    ConstantRange,
    EnumAttribute,
    Layout,
    MatrixShape,
    MmaFragment,
    MmaKind,
    MmaType,
    Overflow,
    ScaleFormat,
    ScaleIn,
    ScaleKind,
    ScaleOut,
    ScaleVector,
    Shape,
    WgmmaType,
)
from warploom.nvvm.dialect.wgmma import WgmmaCommitGroup, WgmmaFence, WgmmaMmaAsync, WgmmaWaitGroup
from warploom.nvvm.dialect.wmma import WmmaLoad, WmmaMma, WmmaStore, register_type
from warploom.nvvm.forms import MMA_DENSE, MMA_SCALED, MMA_SPARSE, MMA_SPARSE_SCALED, WGMMA_DESCRIPTORS, WMMA
from warploom_lab.ptxas.instruction_text import combinations_of

Words = Mapping[str, str]
_SEGMENTS = "operandSegmentSizes"
_TRIES = 600


@dataclass(frozen=True)
class Case:
    """MLIR module that contains one operation in a function."""

    module: ModuleOp
    operation: str

    @property
    def text(self) -> str:
        """Text of the module in the custom syntax of the dialect."""
        return str(self.module) + "\n"


# One operation in a function --------------------------------------------------------------------------------


@dataclass(frozen=True)
class OperationSpec:
    """Parts of an operation: groups of operand types, result types and properties."""

    kind: type[dialect.Operation]
    operands: Sequence[Sequence[Attribute]]  # a group of types for each operand of the declaration
    results: Sequence[Attribute]
    properties: Mapping[str, Attribute]
    constants: Mapping[int, int]  # value of each operand that must be a constant, by index


def module_of(spec: OperationSpec) -> ModuleOp:
    """Return a module whose only function runs an operation and returns the operation's result."""
    types = [each for group in spec.operands for each in group]
    arguments = [each for number, each in enumerate(types) if number not in spec.constants]
    block = Block(arg_types=arguments)
    values: list[SSAValue] = []
    free = iter(block.args)
    for number, each in enumerate(types):
        if (constant := spec.constants.get(number)) is None:
            values.append(next(free))
            continue
        literal = llvm.ConstantOp(IntegerAttr(constant, i64 if each == i64 else i32), each)
        block.add_op(literal)
        values.append(literal.result)
    properties = dict(spec.properties)
    if any(isinstance(option, AttrSizedOperandSegments) for option in spec.kind.get_irdl_definition().options):
        properties[_SEGMENTS] = DenseArrayBase.from_list(i32, [len(group) for group in spec.operands])
    operation = spec.kind.create(operands=values, result_types=list(spec.results), properties=properties)
    # A warpgroup multiplication is surrounded by its fence, commit and wait.
    block.add_ops(_protocol(operation))
    if len(spec.results) > 1:
        result = LLVMStructType.from_type_list(spec.results)
        whole: Operation = llvm.UndefOp(result)
        block.add_op(whole)
        for number, value in enumerate(operation.results):
            whole = llvm.InsertValueOp(DenseArrayBase.from_list(i64, [number]), whole.results[0], value)
            block.add_op(whole)
        block.add_op(llvm.ReturnOp(whole.results[0]))
    else:
        block.add_op(llvm.ReturnOp(*operation.results))
        result = spec.results[0] if spec.results else LLVMVoidType()
    function = llvm.FuncOp(
        "case", LLVMFunctionType(arguments, result), llvm.LinkageAttr("external"), body=Region(block)
    )
    return ModuleOp([function])


def _protocol(operation: dialect.Operation) -> list[Operation]:
    if not isinstance(operation, WgmmaMmaAsync):
        return [operation]
    wait = WgmmaWaitGroup.create(properties={"group": IntegerAttr(0, 64)})
    return [WgmmaFence.create(), operation, WgmmaCommitGroup.create(), wait]


def is_legal(spec: OperationSpec) -> bool:
    """Return True if the dialect's verifier accepts an operation."""
    try:
        for operation in module_of(spec).walk():
            operation.verify_()
    except VerifyException:
        return False
    return True


# From declarations ------------------------------------------------------------------------------------------

_CONSTANTS = {"offset": 8, "scaleInputD": 3, "size": 128}
"""Values of the operands that must be constants."""
_CONSTANT_OPERANDS = {
    "nvvm.tcgen05.ld": "offset",
    "nvvm.tcgen05.st": "offset",
    "nvvm.tcgen05.mma": "scaleInputD",
    "nvvm.tcgen05.mma.sp": "scaleInputD",
    "nvvm.fence.proxy.acquire": "size",
}
_COUNTS = {"coordinates": (1, 2, 3, 4, 5), "im2colOffsets": (0, 1, 2, 3), "sources": (1, 2, 4)}
"""Numbers of operands that are tried for each variadic operand."""
_NUMBERS = {
    "group": (0, 1, 3),
    "n": (0, 2),
    "num": (1, 2, 4),
    "size": (4, 8, 16),
    "regCount": (24, 64, 232, 256),
    "initVal": (0,),
    "noinc": (0, 1),
    "eventId": (0, 7, 15),
    "maskedEventId": (1, 300),
}
"""Values that are tried for each integer attribute."""
_MATRICES = ((8, 8), (8, 16), (16, 16), (16, 8))
_RANGES = ((0, 32), (1, 1025))
_VECTORS = (2, 4, 8, 16, 32, 64, 128)
_LANES = (4, 8)


def declared(kind: type[dialect.Operation], most: int, seed: int = 0) -> Iterator[OperationSpec]:
    """Yield up to `most` distinct legal operations of the class `kind`, selected by the seed."""
    chance = random.Random(f"{kind.name} {seed}")
    seen: set[object] = set()
    found = 0
    for _ in range(_TRIES):
        spec = _draw(kind, chance)
        key = (
            tuple(map(tuple, spec.operands)),
            tuple(spec.results),
            tuple(sorted(spec.properties.items(), key=lambda pair: pair[0])),
        )
        if key in seen:
            continue
        seen.add(key)
        if is_legal(spec):
            yield spec
            found += 1
            if found == most:
                return


def _draw(kind: type[dialect.Operation], chance: random.Random) -> OperationSpec:
    definition = kind.get_irdl_definition()
    constants: dict[int, int] = {}
    groups: list[list[Attribute]] = []
    at = 0
    for name, operand in definition.operands:
        if isinstance(operand, VarOperandDef) and not isinstance(operand, OptOperandDef):
            count = chance.choice(_COUNTS[name])
        else:
            count = chance.choice((0, 1)) if isinstance(operand, OptOperandDef) else 1
        types = [chance.choice(_types(operand.constr, name)) for _ in range(count)]
        if count and _CONSTANT_OPERANDS.get(kind.name) == name:
            constants[at] = _CONSTANTS[name]
        groups.append(types)
        at += count
    results: list[Attribute] = []
    for name, result in definition.results:
        if isinstance(result, OptResultDef) and chance.random() < 0.5:
            continue
        results.append(chance.choice(_types(result.constr, name)))
    properties: dict[str, Attribute] = {}
    for name, given in definition.properties.items():
        if name == _SEGMENTS or (isinstance(given, OptPropertyDef) and chance.random() < 0.5):
            continue
        properties[name] = chance.choice(_attributes(name, given.constr))
    return OperationSpec(kind, groups, results, properties, constants)


def _types(allowed: RangeConstraint, name: str) -> Sequence[Attribute]:
    """Return the types that a constraint allows, or some of them if there is no limit."""
    within = allowed.constraint if isinstance(allowed, RangeLengthConstraint) else allowed
    constraint = within.constr if isinstance(within, RangeOf) else None
    if isinstance(constraint, EqAttrConstraint):
        return [constraint.attr]
    if isinstance(constraint, AttrSetConstraint):
        return sorted(constraint.values, key=str)
    if isinstance(constraint, BaseAttr) and constraint.attr is LLVMPointerType:
        return [LLVMPointerType(), LLVMPointerType(IntAttr(3))]
    if name == "disableOutputLane":
        return [VectorType(i32, [count]) for count in _LANES]
    structs = [LLVMStructType.from_type_list([i32] * count) for count in (2, 4)]
    return [i32, *structs, *(VectorType(i32, [count]) for count in _VECTORS)]


def _attributes(name: str, constraint: AttrConstraint) -> Sequence[Attribute]:
    """Return the attributes that a constraint allows, or some of them if there is no limit."""
    if isinstance(constraint, AttrSetConstraint):
        return sorted(constraint.values, key=str)
    if isinstance(constraint, EqAttrConstraint):
        return [constraint.attr]
    (base,) = constraint.get_bases() or {UnitAttr}
    if issubclass(base, EnumAttribute):
        return [base(word) for word in base.cases]
    if base is MatrixShape:
        return [MatrixShape(IntAttr(m), IntAttr(n)) for m, n in _MATRICES]
    if base is ConstantRange:
        return [ConstantRange(i32, IntAttr(lower), IntAttr(upper)) for lower, upper in _RANGES]
    if base is UnitAttr:
        return [UnitAttr()]
    width = _width(constraint)
    if width == 1:
        return [BoolAttr.from_bool(False), BoolAttr.from_bool(True)]
    return [IntegerAttr(number, width) for number in _NUMBERS[name]]


def _width(constraint: AttrConstraint) -> int:
    pending = list(constraint.param_constrs) if isinstance(constraint, ParamAttrConstraint) else [constraint]
    for each in pending:
        if isinstance(each, AllOf):
            pending += each.attr_constrs
        elif isinstance(each, EqAttrConstraint):
            return next(width for width in (1, 16, 32, 64) if each.attr == IntegerType(width))
    raise AssertionError(f"{constraint} has no width")


# From Forms -------------------------------------------------------------------------------------------------

_HALVES = VectorType(f16, [2])
_ACCUMULATORS: Mapping[str, Attribute] = {"f16": _HALVES, "f32": f32, "f64": f64}
_MULTIPLICANDS: Mapping[str, Attribute] = {"f16": _HALVES, "f64": f64}


def _rows(*forms: Form) -> Iterator[tuple[Form, dict[str, str]]]:
    """Yield (Form, words of its modifiers) for every legal combination."""
    for form in forms:
        for row in form.rows:
            if row.gone is None:
                for slots in combinations_of(form, row):
                    yield form, slots_of(form, {slot: word for slot, word in slots.items() if word})


def _struct(element: Attribute, count: int) -> LLVMStructType:
    return LLVMStructType.from_type_list([element] * count)


def _extents(shape: str) -> Shape:
    m, n, k = (int(part) for part in shape.replace("m", "").replace("n", " ").replace("k", " ").split())
    return Shape(IntAttr(m), IntAttr(n), IntAttr(k))


def warpgroup(chance: random.Random) -> Iterator[OperationSpec]:
    """Yield warpgroup multiplications of two matrices in shared memory, with random options."""
    for form, slots in _rows(*WGMMA_DESCRIPTORS):
        signed = "imm_scale_a" in form.operands
        element = f32 if slots["dtype"] == "f32" else i32
        struct = _struct(element, form.operands["d"].registers(slots))
        properties: dict[str, Attribute] = {
            "shape": _extents(slots["shape"]),
            "typeA": WgmmaType(slots["atype"]),
            "typeB": WgmmaType(slots["btype"]),
            "typeD": WgmmaType(slots["dtype"]),
            "scaleD": ScaleOut(chance.choice(ScaleOut.cases)),
            "scaleA": ScaleIn(chance.choice(ScaleIn.cases) if signed else "one"),
            "scaleB": ScaleIn(chance.choice(ScaleIn.cases) if signed else "one"),
            "layoutA": Layout(chance.choice(Layout.cases) if "imm_trans_a" in form.operands else "row"),
            "layoutB": Layout(chance.choice(Layout.cases) if "imm_trans_b" in form.operands else "col"),
        }
        if slots.get("satfinite"):
            properties["satfinite"] = Overflow("satfinite")
        elif chance.random() < 0.5:
            properties["satfinite"] = Overflow("wrapped")
        yield OperationSpec(WgmmaMmaAsync, [[struct], [i64], [i64]], [struct], properties, {})


def _fragments(form: Form, slots: Words) -> list[list[Attribute]]:
    groups: list[list[Attribute]] = []
    for letter in "abc":
        elements = _ACCUMULATORS if letter == "c" else _MULTIPLICANDS
        groups.append([elements.get(slots[f"{letter}type"], i32)] * form.operands[letter].registers(slots))
    return groups


def _common_properties(slots: Words) -> dict[str, Attribute]:
    return {
        "shape": _extents(slots["shape"]),
        "multiplicandAPtxType": MmaType(slots["atype"]),
        "multiplicandBPtxType": MmaType(slots["btype"]),
    }


def _result(form: Form, slots: Words) -> LLVMStructType:
    return _struct(_ACCUMULATORS.get(slots["dtype"], i32), form.operands["d"].registers(slots))


def _overflow(slots: Words) -> dict[str, Attribute]:
    if slots["dtype"] != "s32":
        return {}
    return {"intOverflowBehavior": Overflow("satfinite" if slots.get("satfinite") else "wrapped")}


def dense(chance: random.Random) -> Iterator[OperationSpec]:
    """Yield dense warp-level multiplications of all legal types and shapes."""
    for form, slots in _rows(*MMA_DENSE):
        if slots.get("kind") or slots.get("rnd"):
            continue
        properties = _common_properties(slots) | _overflow(slots)
        properties["layoutA"] = Layout(slots.get("alayout") or "row")
        properties["layoutB"] = Layout(slots.get("blayout") or "col")
        if slots.get("bitOp"):
            properties["b1Op"] = BitOperation(f"{slots['bitOp']}_popc")
            del properties["intOverflowBehavior"]
        yield OperationSpec(mma.MmaSync, _fragments(form, slots), [_result(form, slots)], properties, {})


def sparse(chance: random.Random) -> Iterator[OperationSpec]:
    """Yield sparse warp-level multiplications of all legal types and shapes, with random selectors."""
    for form, slots in _rows(*MMA_SPARSE):
        properties = _common_properties(slots) | _overflow(slots)
        if slots["spvariant"] != "sp":
            properties["orderedMetadata"] = UnitAttr()
        if slots.get("kind"):
            properties["kind"] = MmaKind(slots["kind"].removeprefix("kind::"))
        groups = [*_fragments(form, slots), [i32], [i32]]
        selector = chance.choice(sorted(form.operands["f"].constants(slots) or (0,)))
        number = sum(map(len, groups)) - 1
        yield OperationSpec(mma.MmaSparse, groups, [_result(form, slots)], properties, {number: selector})


def scaled(chance: random.Random) -> Iterator[OperationSpec]:
    """Yield warp-level multiplications with block scales, of all legal types and shapes."""
    for form, slots in _rows(*MMA_SCALED, *MMA_SPARSE_SCALED):
        if not slots["scale_vec"]:
            continue
        properties = _common_properties(slots) | {
            "scaleVecSize": ScaleVector(f"x{slots['scale_vec'][-2]}"),
            "blockScaleFormat": ScaleFormat(slots["stype"]),
            "kind": ScaleKind(slots["kind"].removeprefix("kind::")),
        }
        groups = _fragments(form, slots)
        constants: dict[int, int] = {}
        kind: type[dialect.Operation] = mma.MmaBlockScale
        if form in MMA_SPARSE_SCALED:
            kind = mma.MmaSparseBlockScale
            properties["orderedMetadata"] = UnitAttr()
            groups += [[i32], [i32]]
            constants[sum(map(len, groups)) - 1] = 0
        groups += [[i32], [i16], [i16], [i32], [i16], [i16]]
        yield OperationSpec(kind, groups, [_result(form, slots)], properties, constants)


def wmma_operations(chance: random.Random) -> Iterator[OperationSpec]:
    """Yield loads, stores and multiplications of wmma fragments."""
    for form, slots in _rows(wmma.LOAD, wmma.STORE):
        if not slots["aligned"] or slots["ss"] == "shared::cta":
            continue
        count, element = form.operands["r"].registers(slots), register_type(slots["type"])
        pointer = (
            LLVMPointerType(IntAttr({"global": 1, "shared": 3}[slots["ss"]])) if slots["ss"] else LLVMPointerType()
        )
        properties = _extent_properties(slots["shape"]) | {
            "layout": Layout(slots["layout"]),
            "eltype": MmaType(slots["type"]),
        }
        if form is wmma.STORE:
            yield OperationSpec(WmmaStore, [[pointer], [element] * count, [i32]], [], properties, {})
            continue
        properties["frag"] = MmaFragment(slots["matrix"])
        result = element if (count, element) == (1, f64) else _struct(element, count)
        yield OperationSpec(WmmaLoad, [[pointer], [i32]], [result], properties, {})
    for form, slots in _rows(*WMMA):
        if slots.get("rnd") or slots["dtype"] != slots["ctype"] or slots.get("bitOp"):
            continue
        if slots.get("satfinite"):
            continue
        a = slots.get("atype") or "f16"
        properties = _extent_properties(slots["shape"]) | {
            "layoutA": Layout(slots["alayout"]),
            "layoutB": Layout(slots["blayout"]),
            "eltypeA": MmaType(a),
            "eltypeB": MmaType(slots["dtype"]),
        }
        arguments: list[Attribute] = []
        for letter, element in zip("abc", (a, a, slots["ctype"]), strict=True):
            arguments += [register_type(element)] * form.operands[letter].registers(slots)
        result = _struct(register_type(slots["dtype"]), form.operands["d"].registers(slots))
        yield OperationSpec(WmmaMma, [arguments], [result], properties, {})


def _extent_properties(shape: str) -> dict[str, Attribute]:
    extents = _extents(shape)
    return {name: IntegerAttr(number, 32) for name, number in zip("mnk", extents.extents, strict=True)}


FROM_FORMS = {
    WgmmaMmaAsync: (warpgroup, 40),
    mma.MmaSync: (dense, 60),
    mma.MmaSparse: (sparse, 50),
    mma.MmaBlockScale: (scaled, 40),
    WmmaLoad: (wmma_operations, 60),
}
"""Generator and number of samples of each family that comes from Forms, by one of its operations."""
_BY_FORMS = frozenset({*FROM_FORMS, mma.MmaSparseBlockScale, WmmaStore, WmmaMma})
_MOST = 14


_INLINE: Sequence[tuple[Sequence[Attribute], Sequence[Attribute], Sequence[Attribute], bool]] = (
    ((i32, i32), (), (i32,), False),
    ((i32,), (), (), True),
    ((i32, i32), (), (i32, f32), False),
    ((), (i32,), (), False),
    ((), (i32, f32), (i64,), False),
    ((i1, i16, i64, f64), (), (i1,), False),
    ((LLVMPointerType(), LLVMPointerType(IntAttr(3)), LLVMPointerType(IntAttr(1))), (), (), True),
    ((i32, VectorType(f16, [2])), (), (f64,), False),
)
"""Types that inline PTX reads, changes and writes, and whether it has a predicate.

MLIR confuses the operands of inline PTX that changes some operands and has others, or has a predicate and results.
"""


def inline() -> Iterator[OperationSpec]:
    """Yield operations with inline PTX, whose text is a comment."""
    for read, changed, written, has_predicate in _INLINE:
        groups = (("rw", changed), ("w", written), ("r", read))
        names = [f"{{${kind}{number}}}" for kind, types in groups for number in range(len(types))]
        operands = [read, changed, [i1] * has_predicate]
        code = StringAttr(f"/* {', '.join(names)} */")
        yield OperationSpec(dialect.InlinePtx, operands, written, {"ptxCode": code}, {})


def cases(seed: int = 0, most: int = _MOST) -> Iterator[Case]:
    """Yield legal operations of every family, selected by the seed.

    `most` limits the operations from one declaration of the dialect.
    """
    for kind in OPERATIONS:
        if kind in FROM_FORMS:
            make, count = FROM_FORMS[kind]
            chance = random.Random(f"{kind.name} {seed}")
            found = [spec for spec in make(chance) if is_legal(spec)]
            yield from map(_case, chance.sample(found, min(count, len(found))))
        elif kind not in _BY_FORMS:
            yield from map(_case, declared(kind, most, seed))
    yield from map(_case, inline())


def _case(spec: OperationSpec) -> Case:
    return Case(module_of(spec), spec.kind.name)
