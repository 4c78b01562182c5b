"""From PTX up to the nvvm dialect: the tensor-core skeleton of each kernel, readable as IR.

The operations stand in the order of the text. Registers that something else computes are arguments of the
function, a new one wherever it was written again; branches, and instructions that no operation of the dialect is,
are left out. What the dialect has a family for and cannot express stands as inline PTX.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntAttr,
    IntegerAttr,
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
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from warploom.isa.bind import Binding, bind
from warploom.nvvm import dialect
from warploom.nvvm.dialect import copies, fences, matrix, mbarrier, mma, tensor_copies, threads
from warploom.nvvm.dialect.inline import InlinePtx
from warploom.nvvm.dialect.vocabulary import (
    BitOperation,
    CacheModifier,
    GridAction,
    Layout,
    MatrixElement,
    MmaType,
    Overflow,
    Proxy,
    RegisterAction,
    ScaleIn,
    ScaleOut,
    SharedSpace,
    WgmmaType,
)
from warploom.nvvm.dialect.wgmma import WgmmaCommitGroup, WgmmaFence, WgmmaMmaAsync, WgmmaWaitGroup
from warploom.nvvm.dialect.words import MatrixShape, Shape
from warploom.ptx import Address, Function, Guard, Integer, Module, Name, Operand, Variable, Vector, parse
from warploom.ptx import Block as Braces

_TYPES: Mapping[int, Attribute] = {1: i1, 16: i16, 32: i32, 64: i64}
_SPACES = {"": 0, "global": 1, "shared": 3, "shared::cta": 3, "shared::cluster": 7}
_FAMILIES = frozenset(
    {"wgmma", "mma", "sparse", "wmma", "matrix", "async_copy", "bulk", "tensor", "mbarrier", "tcgen05"}
)
"""Families that stand as inline PTX where no operation expresses an instruction."""


def lift(text: str | Module) -> ModuleOp:
    """The skeletons of a module's functions."""
    module = parse(text) if isinstance(text, str) else text
    functions = [_Lifter(each).function() for each in module.functions.values() if each.body is not None]
    return ModuleOp(functions)


class _Unsuited(Exception):
    """An instruction that the operation meant for it cannot express."""


class _Lifter:
    """Lifts one function."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._block = Block()
        self._values: dict[str, SSAValue] = {}
        self._known: dict[str, bool] = {}
        self._guard: Guard | None = None
        self._declared = dict(_registers(function.body)) if function.body is not None else {}

    def function(self) -> llvm.FuncOp:
        """The function."""
        body = self._function.body
        assert body is not None
        for instruction in body.instructions():
            found = bind(instruction)
            if isinstance(found, Binding):
                self._guard = instruction.guard
                self._instruction(found, str(instruction))
        self._block.add_op(llvm.ReturnOp())
        arguments = [argument.type for argument in self._block.args]
        is_kernel = {"nvvm.kernel": UnitAttr()} if self._function.kind == "entry" else {}
        return llvm.FuncOp(
            self._function.name,
            LLVMFunctionType(arguments, LLVMVoidType()),
            llvm.LinkageAttr("external"),
            body=Region(self._block),
            extra_attrs=is_kernel,
        )

    def _instruction(self, found: Binding, text: str) -> None:
        make = _LIFTS.get(found.form.name)
        before = self._block.last_op
        if make is not None and (self._guard is None or found.form.name in _GUARDED):
            try:
                make(self, found)
            except _Unsuited:
                while self._block.last_op is not before:
                    last = self._block.last_op
                    assert last is not None
                    last.detach()
                    last.erase()
            else:
                return
        if found.form.family in _FAMILIES:
            self._block.add_op(InlinePtx.create(properties={"ptxCode": StringAttr(text), **InlinePtx.NONE}))
        for name, each in found.operands.items():
            if found.form.operands[name].access in {"write", "both"}:
                for register in _names(each.operand):
                    self._values.pop(register, None)
                    self._known.pop(register, None)
        if found.form.name == "compare.setp" and self._guard is None:
            self._compared(found)

    def _compared(self, found: Binding) -> None:
        """Remember a predicate that compares two constants, as compilers make that of a constant scale."""
        a, b, p = (found.operands[name].operand for name in ("a", "b", "p"))
        if isinstance(a, Integer) and isinstance(b, Integer) and found.slots["CmpOp"] in {"eq", "ne"}:
            for name in _names(p):
                self._known[name] = (a.value == b.value) == (found.slots["CmpOp"] == "eq")

    def constant(self, operand: Operand) -> bool:
        """A predicate that is known."""
        if isinstance(operand, Integer):
            return operand.value != 0
        if isinstance(operand, Name) and operand.text in self._known:
            return self._known[operand.text]
        raise _Unsuited

    def guard(self) -> list[SSAValue]:
        """The predicate that an instruction is under, as the operand of an operation."""
        if self._guard is None:
            return []
        if self._guard.negated:
            raise _Unsuited
        return [self.value(self._guard.name)]

    # Values -------------------------------------------------------------------------------------------------

    def value(self, name: str) -> SSAValue:
        """The value that a register has now."""
        if name not in self._values:
            if name not in self._declared:
                raise _Unsuited
            argument = self._block.insert_arg(self._declared[name], len(self._block.args))
            argument.name_hint = name.strip("%").replace(".", "_").replace("$", "_")
            self._values[name] = argument
        return self._values[name]

    def read(self, operand: Operand, type: Attribute) -> SSAValue:
        """An operand as a value of a type."""
        if isinstance(operand, Integer):
            assert type in (i16, i32, i64)
            width = next(bits for bits, each in _TYPES.items() if each == type)
            written = llvm.ConstantOp(IntegerAttr(operand.value, width), type)
            self._block.add_op(written)
            return written.result
        if not isinstance(operand, Name):
            raise _Unsuited
        return self._cast(self.value(operand.text), type)

    def pointer(self, operand: Operand, space: str) -> SSAValue:
        """The pointer that an address operand is."""
        if not isinstance(operand, Address) or not isinstance(operand.base, Name) or space not in _SPACES:
            raise _Unsuited
        base = self.value(operand.base.text)
        if operand.offset:
            offset = llvm.ConstantOp(IntegerAttr(operand.offset, 32 if base.type == i32 else 64), base.type)
            total = llvm.AddOp(base, offset.result)
            self._block.add_ops([offset, total])
            base = total.res
        number = _SPACES[space]
        return self._cast(base, LLVMPointerType(IntAttr(number)) if number else LLVMPointerType())

    def fragment(self, operand: Operand, element: Attribute) -> list[SSAValue]:
        """The values of a vector of registers."""
        return [self.read(item, element) for item in _items(operand)]

    def add(self, operation: dialect.Operation) -> dialect.Operation:
        """Write an operation, if it is legal."""
        self._block.add_op(operation)
        try:
            operation.verify_()
        except VerifyException:
            raise _Unsuited from None
        return operation

    def write(self, operand: Operand, results: Sequence[SSAValue]) -> None:
        """Registers have new values."""
        for name, result in zip(_names(operand), results, strict=True):
            declared = self._declared.get(name)
            self._values[name] = result if declared is None else self._cast(result, declared)

    def unpacked(self, struct: SSAValue) -> list[SSAValue]:
        """The elements of a struct; the value itself where it is none."""
        if not isinstance(struct.type, LLVMStructType):
            return [struct]
        found: list[SSAValue] = []
        for k, element in enumerate(struct.type.types.data):
            taken = llvm.ExtractValueOp(DenseArrayBase.from_list(i64, [k]), struct, element)
            self._block.add_op(taken)
            found.append(taken.res)
        return found

    def packed(self, values: Sequence[SSAValue]) -> SSAValue:
        """A struct of values."""
        start = llvm.UndefOp(LLVMStructType.from_type_list([value.type for value in values]))
        self._block.add_op(start)
        struct: SSAValue = start.res
        for k, value in enumerate(values):
            put = llvm.InsertValueOp(DenseArrayBase.from_list(i64, [k]), struct, value)
            self._block.add_op(put)
            struct = put.res
        return struct

    def _cast(self, value: SSAValue, type: Attribute) -> SSAValue:
        if value.type == type:
            return value
        owner = value.owner
        if isinstance(owner, llvm.BitcastOp) and owner.arg.type == type:
            return owner.arg
        if isinstance(type, LLVMPointerType):
            cast = llvm.IntToPtrOp.create(operands=[value], result_types=[type])
            self._block.add_op(cast)
            return cast.output
        bits = llvm.BitcastOp(value, type)
        self._block.add_op(bits)
        return bits.result


def _registers(block: Braces) -> Iterator[tuple[str, Attribute]]:
    """The declared registers and their types."""
    for statement in block.statements:
        if isinstance(statement, Braces):
            yield from _registers(statement)
        elif isinstance(statement, Variable) and statement.space == "reg":
            held = _register_type(statement.type)
            if held is None:
                continue
            if statement.count is None:
                yield statement.name, held
            else:
                yield from ((f"{statement.name}{k}", held) for k in range(statement.count))


def _register_type(word: str) -> Attribute | None:
    if word == "pred":
        return i1
    if word in {"f32", "f64"}:
        return f32 if word == "f32" else f64
    digits = word.lstrip("busf").partition("x")[0]
    return _TYPES.get(int(digits)) if digits.isdigit() else None


def _items(operand: Operand) -> Sequence[Operand]:
    return operand.items if isinstance(operand, Vector) else [operand]


def _names(operand: Operand) -> list[str]:
    return [item.text for item in _items(operand) if isinstance(item, Name) and item.text != "_"]


def _number(operand: Operand) -> int:
    if not isinstance(operand, Integer):
        raise _Unsuited
    return operand.value


# Instructions, by form --------------------------------------------------------------------------------------

Lift = Callable[[_Lifter, Binding], None]
_HALVES = VectorType(f16, [2])
_ELEMENTS: Mapping[str, Attribute] = {"f16": _HALVES, "f32": f32, "f64": f64}
_MULTIPLICANDS: Mapping[str, Attribute] = {"f16": _HALVES, "f64": f64}


def _operand(found: Binding, name: str) -> Operand:
    if name not in found.operands:
        raise _Unsuited
    return found.operands[name].operand


def _plain(kind: type[dialect.Operation], **properties: Attribute) -> Lift:
    """An instruction without operands."""
    return lambda lifter, found: lifter.add(kind.create(properties=properties)) and None


def _counted(kind: type[dialect.Operation], name: str, width: int) -> Lift:
    """An instruction whose one operand is a constant."""

    def lifted(lifter: _Lifter, found: Binding) -> None:
        properties: dict[str, Attribute] = {name: IntegerAttr(_number(_operand(found, "N")), width)}
        if found.slots.get("read"):
            properties["read"] = UnitAttr()
        lifter.add(kind.create(properties=properties))

    return lifted


def _extents(shape: str) -> Shape:
    numbers = shape.replace("m", " ").replace("n", " ").replace("k", " ").split()
    m, n, k = (IntAttr(int(number)) for number in numbers)
    return Shape(m, n, k)


def _warpgroup(lifter: _Lifter, found: Binding) -> None:
    slots = found.slots
    element = f32 if slots["dtype"] == "f32" else i32
    adds = lifter.constant(_operand(found, "scale_d"))  # MLIR's operation has a constant there
    a = found.operands.get("a")
    descriptor = (
        lifter.packed(lifter.fragment(a.operand, i32)) if a else lifter.read(_operand(found, "a_desc"), i64)
    )

    def sign(name: str) -> ScaleIn:
        return ScaleIn("neg" if name in found.operands and _number(_operand(found, name)) < 0 else "one")

    def is_transposed(name: str) -> bool:
        return name in found.operands and _number(_operand(found, name)) == 1

    accumulator = lifter.packed(lifter.fragment(_operand(found, "d"), element))
    properties: dict[str, Attribute] = {
        "shape": _extents(slots["shape"]),
        "typeA": WgmmaType(slots["atype"]),
        "typeB": WgmmaType(slots["btype"]),
        "typeD": WgmmaType(slots["dtype"]),
        "scaleD": ScaleOut("one" if adds else "zero"),
        "scaleA": sign("imm_scale_a"),
        "scaleB": sign("imm_scale_b"),
        "layoutA": Layout("col" if is_transposed("imm_trans_a") else "row"),
        "layoutB": Layout("row" if is_transposed("imm_trans_b") else "col"),
    }
    if slots.get("satfinite"):
        properties["satfinite"] = Overflow("satfinite")
    operands = [accumulator, descriptor, lifter.read(_operand(found, "b_desc"), i64)]
    made = WgmmaMmaAsync.create(operands=operands, result_types=[accumulator.type], properties=properties)
    lifter.write(_operand(found, "d"), lifter.unpacked(lifter.add(made).results[0]))


def _dense(lifter: _Lifter, found: Binding) -> None:
    slots = found.slots
    if slots.get("kind") or slots.get("rnd"):
        raise _Unsuited
    groups = [
        lifter.fragment(_operand(found, letter), elements.get(slots[f"{letter}type"], i32))
        for letter, elements in (("a", _MULTIPLICANDS), ("b", _MULTIPLICANDS), ("c", _ELEMENTS))
    ]
    count = len(_items(_operand(found, "d")))
    result = LLVMStructType.from_type_list([_ELEMENTS.get(slots["dtype"], i32)] * count)
    properties: dict[str, Attribute] = {
        "shape": _extents(slots["shape"]),
        "multiplicandAPtxType": MmaType(slots["atype"]),
        "multiplicandBPtxType": MmaType(slots["btype"]),
        "layoutA": Layout(slots.get("alayout") or "row"),
        "layoutB": Layout(slots.get("blayout") or "col"),
        **mma.segments(map(len, groups)),
    }
    if slots.get("bitOp"):
        properties["b1Op"] = BitOperation(f"{slots['bitOp']}_popc")
    elif slots["dtype"] == "s32":
        properties["intOverflowBehavior"] = Overflow("satfinite" if slots.get("satfinite") else "wrapped")
    values = [value for group in groups for value in group]
    made = mma.MmaSync.create(operands=values, result_types=[result], properties=properties)
    lifter.write(_operand(found, "d"), lifter.unpacked(lifter.add(made).results[0]))


def _matrix_words(found: Binding) -> dict[str, Attribute]:
    slots = found.slots
    m, n = (IntAttr(int(number)) for number in slots["shape"].replace("m", "").split("n"))
    element = slots.get("type") or f"{slots['dst_fmt']}.{slots['src_fmt']}"
    return {
        "layout": Layout("col" if slots["trans"] else "row"),
        "shape": MatrixShape(m, n),
        "eltType": MatrixElement(element),
    }


def _load_matrices(lifter: _Lifter, found: Binding) -> None:
    registers = _items(_operand(found, "r"))
    result = i32 if len(registers) == 1 else LLVMStructType.from_type_list([i32] * len(registers))
    properties = _matrix_words(found) | {"num": IntegerAttr(int(found.slots["num"][1:]), 32)}
    where = lifter.pointer(_operand(found, "p"), found.slots["ss"] or "shared")
    made = matrix.LdMatrix.create(operands=[where], result_types=[result], properties=properties)
    lifter.write(_operand(found, "r"), lifter.unpacked(lifter.add(made).results[0]))


def _store_matrices(lifter: _Lifter, found: Binding) -> None:
    where = lifter.pointer(_operand(found, "p"), found.slots["ss"] or "shared")
    sources = lifter.fragment(_operand(found, "r"), i32)
    lifter.add(matrix.StMatrix.create(operands=[where, *sources], properties=_matrix_words(found)))


def _copy(lifter: _Lifter, found: Binding) -> None:
    if found.slots["level::cache_hint"] or found.slots["level::prefetch_size"]:
        raise _Unsuited
    operands = [
        lifter.pointer(_operand(found, "dst"), "shared"),
        lifter.pointer(_operand(found, "src"), "global"),
    ]
    if "src_size" in found.operands:
        operands.append(lifter.read(_operand(found, "src_size"), i32))
    properties: dict[str, Attribute] = {
        "size": IntegerAttr(_number(_operand(found, "cp_size")), 32),
        "modifier": CacheModifier(found.slots["cop"]),
    }
    lifter.add(copies.CpAsync.create(operands=operands, properties=properties))


def _box(lifter: _Lifter, found: Binding) -> tuple[SSAValue, list[SSAValue]]:
    where = _operand(found, "tensorMap")
    if not isinstance(where, Address) or not where.extra:
        raise _Unsuited
    base = Address(where.base, where.offset)
    return lifter.pointer(base, ""), lifter.fragment(where.extra[0], i32)


def _load_box(lifter: _Lifter, found: Binding) -> None:
    slots = found.slots
    tensor, coordinates = _box(lifter, found)
    groups: list[list[SSAValue]] = [
        [lifter.pointer(_operand(found, "dstMem"), slots["dst"])],
        [tensor],
        coordinates,
        [lifter.pointer(_operand(found, "mbar"), "shared")],
        [],
        [lifter.read(_operand(found, "ctaMask"), i16)] if slots["multicast"] else [],
        [lifter.read(_operand(found, "cache_policy"), i64)] if slots["level::cache_hint"] else [],
        lifter.guard(),
    ]
    if slots["cta_group"]:
        raise _Unsuited
    properties: dict[str, Attribute] = {
        "isCTAOnly": IntegerAttr.from_bool(slots["dst"] == "shared::cta"),
        **mma.segments(map(len, groups)),
    }
    values = [value for group in groups for value in group]
    lifter.add(tensor_copies.TensorLoad.create(operands=values, properties=properties))


def _store_box(lifter: _Lifter, found: Binding) -> None:
    tensor, coordinates = _box(lifter, found)
    policy = [lifter.read(_operand(found, "cache_policy"), i64)] if found.slots["level::cache_hint"] else []
    source = lifter.pointer(_operand(found, "srcMem"), "shared")
    groups = [[tensor], [source], coordinates, policy, lifter.guard()]
    values = [value for group in groups for value in group]
    lifter.add(tensor_copies.TensorStore.create(operands=values, properties=mma.segments(map(len, groups))))


def _init(lifter: _Lifter, found: Binding) -> None:
    where = lifter.pointer(_operand(found, "addr"), found.slots["space"])
    count = lifter.read(_operand(found, "count"), i32)
    lifter.add(mbarrier.MbarrierInit.create(operands=[where, count, *lifter.guard()]))


def _expect(lifter: _Lifter, found: Binding) -> None:
    if found.slots["op"] != "arrive" or found.slots["sem"]:
        raise _Unsuited
    where = lifter.pointer(_operand(found, "addr"), found.slots["space"])
    operands = [where, lifter.read(_operand(found, "txCount"), i32), *lifter.guard()]
    state = _operand(found, "state") if "state" in found.operands else Name("_")
    kept = state != Name("_")
    made = mbarrier.MbarrierArriveExpectTx.create(operands=operands, result_types=[i64] if kept else [])
    lifter.add(made)
    if kept:
        lifter.write(state, made.results)


def _wait(kind: type[dialect.Operation]) -> Lift:
    def lifted(lifter: _Lifter, found: Binding) -> None:
        if found.slots["sem"]:
            raise _Unsuited
        where = lifter.pointer(_operand(found, "addr"), found.slots["space"])
        operands = [where, lifter.read(_operand(found, "phase"), i32 if found.slots["parity"] else i64)]
        if "suspendTimeHint" in found.operands:
            operands.append(lifter.read(_operand(found, "suspendTimeHint"), i32))
        made = kind.create(operands=operands, result_types=[i1])
        lifter.add(made)
        lifter.write(_operand(found, "waitComplete"), made.results)

    return lifted


def _elect(lifter: _Lifter, found: Binding) -> None:
    mask = lifter.read(_operand(found, "membermask"), i32)
    made = lifter.add(threads.ElectSync.create(operands=[mask], result_types=[i1]))
    lifter.write(_operand(found, "p"), made.results)


def _fence_proxy(lifter: _Lifter, found: Binding) -> None:
    kind, space = found.slots["proxykind"], found.slots["space"]
    properties: dict[str, Attribute] = {
        "kind": Proxy(f"{kind}.{space.partition('::')[0]}" if space else kind)
    }
    if space.startswith("shared::"):
        properties["space"] = SharedSpace(space.removeprefix("shared::"))
    lifter.add(fences.FenceProxy.create(properties=properties))


def _fence_init(lifter: _Lifter, found: Binding) -> None:
    if found.slots["op_restrict"] != "mbarrier_init":
        raise _Unsuited
    lifter.add(fences.FenceMbarrierInit.create())


def _cluster_arrive(lifter: _Lifter, found: Binding) -> None:
    kind = threads.ClusterArriveRelaxed if found.slots["sem"] == "relaxed" else threads.ClusterArrive
    lifter.add(kind.create(properties={"aligned": UnitAttr()} if found.slots["aligned"] else {}))


def _cluster_wait(lifter: _Lifter, found: Binding) -> None:
    lifter.add(
        threads.ClusterWait.create(properties={"aligned": UnitAttr()} if found.slots["aligned"] else {})
    )


def _registers_moved(lifter: _Lifter, found: Binding) -> None:
    action = RegisterAction({"inc": "increase", "dec": "decrease"}[found.slots["action"]])
    count = IntegerAttr(_number(_operand(found, "imm_reg_count")), 32)
    lifter.add(threads.SetMaxRegister.create(properties={"action": action, "regCount": count}))


def _grid(lifter: _Lifter, found: Binding) -> None:
    lifter.add(threads.Griddepcontrol.create(properties={"kind": GridAction(found.slots["action"])}))


_LIFTS: Mapping[str, Lift] = {
    "wgmma.fence": _plain(WgmmaFence),
    "wgmma.commit_group": _plain(WgmmaCommitGroup),
    "wgmma.wait_group": _counted(WgmmaWaitGroup, "group", 64),
    **dict.fromkeys((*WgmmaMmaAsync.DESCRIBED, *WgmmaMmaAsync.REGISTERED), _warpgroup),
    **dict.fromkeys(mma.MmaSync.FORMS, _dense),
    "matrix.ldmatrix": _load_matrices,
    "matrix.ldmatrix-widened": _load_matrices,
    "matrix.stmatrix": _store_matrices,
    "async_copy.cp_async": _copy,
    "async_copy.commit_group": _plain(copies.CpAsyncCommitGroup),
    "async_copy.wait_group": _counted(copies.CpAsyncWaitGroup, "n", 32),
    "bulk.commit_group": _plain(copies.BulkCommitGroup),
    "bulk.wait_group": _counted(copies.BulkWaitGroup, "group", 32),
    "tensor.load": _load_box,
    "tensor.store": _store_box,
    "mbarrier.init": _init,
    "mbarrier.arrive_expect_tx": _expect,
    "mbarrier.test_wait": _wait(mbarrier.MbarrierTestWait),
    "mbarrier.try_wait": _wait(mbarrier.MbarrierTryWait),
    "warp.elect": _elect,
    "barrier.fence_proxy": _fence_proxy,
    "barrier.fence_restricted": _fence_init,
    "barrier.cluster_arrive": _cluster_arrive,
    "barrier.cluster_wait": _cluster_wait,
    "control.setmaxnreg": _registers_moved,
    "control.griddepcontrol": _grid,
}
"""How the instructions of each form are lifted."""

_GUARDED = frozenset({"tensor.load", "tensor.store", "mbarrier.init", "mbarrier.arrive_expect_tx"})
"""Forms whose operation may be under a predicate."""
