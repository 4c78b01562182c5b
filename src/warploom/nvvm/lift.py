"""From PTX up to the nvvm dialect: the tensor-core skeleton of each kernel, readable as IR.

The operations stand in the order of the text. Registers that something else computes are arguments of the
function, a new one wherever it was written again, and so are the addresses of variables; branches, and instructions
that no operation of the dialect is, are left out. A register that is set to a constant is the constant, past labels
too where nothing else writes it. What the dialect has a family for and cannot express stands as
inline PTX, with the values that it reads and writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    f32,
    f64,
    i1,
    i32,
)
from xdsl.dialects.llvm import LLVMFunctionType, LLVMVoidType
from xdsl.ir import Attribute, Block, Region, SSAValue

from warploom.isa.binding.bind import Binding, bind
from warploom.nvvm.dialect.inline import InlinePtx
from warploom.nvvm.dialect.pieces import pointer_to
from warploom.nvvm.dialect.wgmma import WgmmaMmaAsync
from warploom.nvvm.held import Held
from warploom.nvvm.recognise import GUARD, Recognised, Seat, items_of, recognise, recognise_warpgroup
from warploom.ptx import (
    Address,
    Function,
    Guard,
    Instruction,
    Integer,
    Label,
    Module,
    Name,
    Negated,
    Operand,
    Pair,
    Variable,
    Vector,
    parse,
)
from warploom.ptx import Block as Braces

_FAMILIES = frozenset(
    {"wgmma", "mma", "sparse", "wmma", "matrix", "async_copy", "bulk", "tensor", "mbarrier", "tcgen05"}
)
"""Families that stand as inline PTX where no operation expresses an instruction."""
_SPACES = {"shared": 3, "global": 1, "const": 4, "local": 5}
_WRITTEN = ("write", "both")
_WIDTHS = (16, 32, 64, 128)


def lift(text: str | Module) -> ModuleOp:
    """The skeletons of a module's functions."""
    module = parse(text) if isinstance(text, str) else text
    shared = {
        each.name: pointer_to(_SPACES.get(each.space, 0))
        for each in module.items
        if isinstance(each, Variable)
    }
    functions = [
        _Lifter(each, shared).function() for each in module.functions.values() if each.body is not None
    ]
    return ModuleOp(functions)


class _Lifter:
    """Lifts one function."""

    def __init__(self, function: Function, variables: Mapping[str, Attribute]) -> None:
        self._function = function
        self._block = Block()
        declared = dict(variables) | {each.name: pointer_to(0) for each in function.params}
        if function.body is not None:
            declared |= dict(_declared(function.body))
        self._held = Held(self._block, declared)
        self._settled = frozenset[str]()

    def function(self) -> llvm.FuncOp:
        """The function."""
        body = self._function.body
        assert body is not None
        self._settled = _written_once(body)
        for statement in _in_order(body):
            if isinstance(statement, Label):
                self._held.forget_constants(self._settled)
            elif isinstance(found := bind(statement), Binding):
                self._instruction(statement, found)
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

    def _instruction(self, instruction: Instruction, found: Binding) -> None:
        guard = instruction.guard
        recognised = None if guard is not None and guard.negated else self._recognised(found, guard)
        if recognised is not None:
            results = self._operation(recognised, found, guard)
        elif found.form.family in _FAMILIES:
            results = self._inline(instruction, found)
        else:
            results = frozenset[str]()
        for each in found.operands.values():
            if each.place.access in _WRITTEN:
                for register in _names(each.operand):
                    if register not in results:
                        self._held.forget(register)
        if guard is None:
            self._constant(found)

    def _constant(self, found: Binding) -> None:
        """Remember what a register is set to, where that is a constant: compilers make predicates of constant
        scales so too.
        """
        constants = [each.operand for each in found.operands.values() if isinstance(each.operand, Integer)]
        match found.form.name, constants:
            case "move.mov" | "move.mov_predicate", [constant]:
                self._held.know(_names(found.operands["d"].operand), constant.value)
            case "compare.setp", [a, b] if found.slots["CmpOp"] in {"eq", "ne"}:
                is_equal = a.value == b.value
                self._held.know(
                    _names(found.operands["p"].operand), int(is_equal == (found.slots["CmpOp"] == "eq"))
                )
            case _:
                pass

    # Operations ---------------------------------------------------------------------------------------------

    def _recognised(self, found: Binding, guard: Guard | None) -> Recognised | None:
        """The operation that an instruction is, where there are values for it."""
        if found.form.name not in WgmmaMmaAsync.FORMS:
            recognised = recognise(found, guarded=guard is not None)
        elif guard is None and (adds := self._adds(found.operands["scale_d"].operand)) is not None:
            recognised = recognise_warpgroup(found, adds=adds)
        else:
            return None
        if recognised is None:
            return None
        taken = all(
            self._held.can_take(_standing(seat, found, guard), seat.type) for seat in recognised.operands
        )
        return recognised if taken else None

    def _adds(self, scale: Operand) -> bool | None:
        """Whether a product is added to its accumulator; None where that is computed, as no operation has it."""
        if isinstance(scale, Integer):
            return scale.value != 0
        known = self._held.constant(scale.text) if isinstance(scale, Name) else None
        return None if known is None else known != 0

    def _operation(self, recognised: Recognised, found: Binding, guard: Guard | None) -> frozenset[str]:
        """Write an operation; the registers that have its results."""
        values = [self._held.take(_standing(seat, found, guard), seat.type) for seat in recognised.operands]
        made = recognised.kind.create(
            operands=values,
            result_types=[seat.type for seat in recognised.results],
            properties=dict(recognised.properties),
        )
        self._block.add_op(made)
        given: set[str] = set()
        for seat, value in zip(recognised.results, made.results, strict=True):
            standing = _standing(seat, found, guard)
            self._held.give(standing, value)
            given.update(name for operand in standing for name in _names(operand))
        return frozenset(given)

    # Inline PTX ---------------------------------------------------------------------------------------------

    def _inline(self, instruction: Instruction, found: Binding) -> frozenset[str]:
        """Write an instruction as it is; the registers that have its results.

        One under a predicate may leave what it writes as it was, and so changes it.
        """
        guard = instruction.guard
        text = _Text(self._held)
        operands = list(instruction.operands)
        for each in found.operands.values():
            role = "r"
            if each.place.access in _WRITTEN:
                role = "rw" if guard is not None or each.place.access == "both" else "w"
            at, *part = each.at
            operands[at] = text.renamed(operands[at], role, part[0] if part else None)
        shown = None
        predicate: list[SSAValue] = []
        if guard is not None and guard.negated:
            shown = Guard(text.placeholder(guard.name, "r"), negated=True)
        elif guard is not None:
            predicate = [self._held.take([Name(guard.name)], i1)]
        code = str(replace(instruction, guard=shown, operands=tuple(operands)))
        reads, changes, writes = (text.names[role] for role in ("r", "rw", "w"))
        groups = [
            [self._held.take([Name(name)], self._held.type_of(name)) for name in names]
            for names in (reads, changes)
        ]
        made = InlinePtx.create(
            operands=[*groups[0], *groups[1], *predicate],
            result_types=[self._held.type_of(name) for name in writes],
            properties={
                "ptxCode": StringAttr(code),
                "operandSegmentSizes": DenseArrayBase.from_list(
                    i32, [len(reads), len(changes), len(predicate)]
                ),
            },
        )
        self._block.add_op(made)
        for names, values in ((changes, groups[1]), (writes, made.results)):
            for name, value in zip(names, values, strict=True):
                self._held.give([Name(name)], value)
        return frozenset((*changes, *writes))


class _Text:
    """The placeholders of registers in inline PTX, by what is done to each: read, written, or both."""

    def __init__(self, held: Held) -> None:
        self._held = held
        self.names: dict[str, list[str]] = {"r": [], "rw": [], "w": []}

    def placeholder(self, name: str, role: str) -> str:
        """What stands for a register."""
        if not self._held.is_register(name):
            return name
        names = self.names[role]
        if name not in names:
            names.append(name)
        return f"{{${role}{names.index(name)}}}"

    def renamed(self, operand: Operand, role: str, part: int | None = None) -> Operand:
        """An operand, or one part of it, with placeholders for its registers."""
        match operand:
            case Vector(items) if part is not None:
                return Vector((*items[:part], self.renamed(items[part], role), *items[part + 1 :]))
            case Pair(first, second) if part is not None:
                one = self.renamed(second if part else first, role)
                return Pair(first, one) if part else Pair(one, second)
            case Name(name):
                return Name(self.placeholder(name, role))
            case Negated(name, sign):
                return Negated(self.placeholder(name, role), sign)
            case Vector(items):
                return Vector(tuple(self.renamed(item, role) for item in items))
            case Address(base, offset, extra, unified):
                renamed = None if base is None else self.renamed(base, "r")
                return Address(renamed, offset, tuple(self.renamed(each, "r") for each in extra), unified)
            case _:
                return operand


def _standing(seat: Seat, found: Binding, guard: Guard | None) -> list[Operand]:
    """What stands at the spots of a seat."""
    standing: list[Operand] = []
    for spot in seat.spots:
        if spot.place == GUARD:
            assert guard is not None
            standing.append(Name(guard.name))
        elif spot.item is None:
            standing.append(found.operands[spot.place].operand)
        else:
            standing.append(items_of(found.operands[spot.place].operand)[spot.item])
    return standing


def _in_order(block: Braces) -> Iterator[Instruction | Label]:
    """The instructions and labels of a function, those in inner braces too."""
    for statement in block.statements:
        if isinstance(statement, Braces):
            yield from _in_order(statement)
        elif isinstance(statement, Instruction | Label):
            yield statement


def _written_once(body: Braces) -> frozenset[str]:
    """The registers that no more than one instruction writes."""
    writes: Counter[str] = Counter()
    for instruction in body.instructions():
        if isinstance(found := bind(instruction), Binding):
            for each in found.operands.values():
                if each.place.access in _WRITTEN:
                    writes.update(_names(each.operand))
    return frozenset(name for name, count in writes.items() if count == 1)


def _names(operand: Operand) -> list[str]:
    """The registers that are written where an operand stands."""
    return [
        item.text
        for item in items_of(operand)
        if isinstance(item, Name) and item.text != "_" and not isinstance(operand, Address)
    ]


def _declared(block: Braces) -> Iterator[tuple[str, Attribute]]:
    """The declared registers and their types, and variables with those of their addresses."""
    for statement in block.statements:
        if isinstance(statement, Braces):
            yield from _declared(statement)
        elif isinstance(statement, Variable) and statement.space != "reg":
            yield statement.name, pointer_to(_SPACES.get(statement.space, 0))
        elif isinstance(statement, Variable):
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
    digits, _, times = word.lstrip("busf").partition("x")
    width = int(digits) * int(times or "1") if digits.isdigit() else 0
    return IntegerType(width) if width in _WIDTHS else None
