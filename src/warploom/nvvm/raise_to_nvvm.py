"""Raising of PTX to the nvvm dialect.

The result has only the tensor-core operations of each function, in the order of the text. Values from other
instructions become arguments of the function.
"""

import operator
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerType, ModuleOp, StringAttr, UnitAttr, f32, f64, i1, i32
from xdsl.dialects.llvm import LLVMFunctionType, LLVMVoidType
from xdsl.ir import Attribute, Block, Region, SSAValue

from warploom.isa.binding.bind import Binding, bind
from warploom.isa.instructions import compare, move
from warploom.nvvm.dialect.operation import InlinePtx
from warploom.nvvm.dialect.types import ADDRESS_SPACES, pointer_to
from warploom.nvvm.dialect.wgmma import WgmmaMmaAsync
from warploom.nvvm.forms import TENSOR_CORE
from warploom.nvvm.match_operation import (
    GUARD,
    MatchedOperation,
    PlacedValue,
    items_of,
    match_multiplication,
    match_operation,
)
from warploom.nvvm.value_map import ValueMap
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
from warploom.ptx import Block as PtxBlock

_WRITES = ("write", "both")
_WIDTHS = (16, 32, 64, 128)
_CONSTANT_MOVES = (move.MOV, move.MOV_PREDICATE)
_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {"eq": operator.eq, "ne": operator.ne}
"""Comparisons whose result does not depend on the sign and width of their operands."""


def raise_to_nvvm(text: str | Module) -> ModuleOp:
    """Return an MLIR module with the tensor-core operations of each function of a PTX module.

    A tensor-core instruction without an operation in the dialect becomes inline PTX.
    """
    module = parse(text) if isinstance(text, str) else text
    variables = dict(_variables(module.items))
    return ModuleOp(
        [_Raiser(each, variables).function() for each in module.functions.values() if each.body is not None]
    )


class _Raiser:
    def __init__(self, function: Function, variables: Mapping[str, Attribute]) -> None:
        assert function.body is not None
        self._function = function
        self._body = function.body
        self._block = Block()
        parameters = {each.name: pointer_to(0) for each in function.params}
        self._types = {**variables, **parameters, **dict(_declared(self._body))}
        self._values = ValueMap(self._block, self._types)

    def function(self) -> llvm.FuncOp:
        written_once = _written_once(self._body)
        for statement in _flattened(self._body):
            if isinstance(statement, Label):
                # At a label, only a register with one write surely keeps its constant.
                self._values.invalidate_constants(written_once)
            elif isinstance(binding := bind(statement), Binding):
                self._instruction(statement, binding)
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

    def _instruction(self, instruction: Instruction, binding: Binding) -> None:
        guard = instruction.guard
        matched = None if guard is not None and guard.negated else self._match(binding, guard)
        if matched is not None:
            results = self._operation(matched, binding, guard)
        elif binding.form in TENSOR_CORE:
            # No operation lowers to this instruction.
            results = self._inline(instruction, binding)
        else:
            results = frozenset[str]()
        for name in _written(binding):
            if name not in results:
                self._values.invalidate(name)
        if guard is None:
            self._record_constant(binding)

    def _record_constant(self, binding: Binding) -> None:
        """Record the constant that a move or a comparison writes to a register."""
        constants = [each.operand for each in binding.operands.values() if isinstance(each.operand, Integer)]
        match constants:
            case [constant] if binding.form in _CONSTANT_MOVES:
                self._values.assign_constant(_written(binding), constant.value)
            case [a, b] if binding.form is compare.SETP:
                if (compared := _COMPARISONS.get(binding.slots["CmpOp"])) is not None:
                    names = _register_names(binding.operands["p"].operand)
                    self._values.assign_constant(names, int(compared(a.value, b.value)))
            case _:
                pass

    # Operations ---------------------------------------------------------------------------------------------

    def _match(self, binding: Binding, guard: Guard | None) -> MatchedOperation | None:
        """Return the operation that lowers to an instruction, or None if there is none."""
        if binding.form not in WgmmaMmaAsync.FORMS:
            matched = match_operation(binding, guarded=guard is not None)
        elif guard is None and (adds := self._adds(binding.operands["scale_d"].operand)) is not None:
            matched = match_multiplication(binding, adds=adds)
        else:
            return None
        # All operands of the operation must have values.
        if matched is not None and all(
            self._values.has_value(_operands_at(each, binding, guard), each.type) for each in matched.operands
        ):
            return matched
        return None

    def _adds(self, scale: Operand) -> bool | None:
        """Return True if `scale` adds a product to the accumulator, or None if it is unknown."""
        if isinstance(scale, Integer):
            return scale.value != 0
        known = self._values.constant(scale.text) if isinstance(scale, Name) else None
        return None if known is None else known != 0

    def _operation(self, matched: MatchedOperation, binding: Binding, guard: Guard | None) -> frozenset[str]:
        """Add an operation to the function. Return the registers of its results."""
        made = matched.kind.create(
            operands=[self._values.value(_operands_at(each, binding, guard), each.type) for each in matched.operands],
            result_types=[each.type for each in matched.results],
            properties=dict(sorted(matched.properties.items())),
        )
        self._block.add_op(made)
        written: set[str] = set()
        for placed, value in zip(matched.results, made.results, strict=True):
            operands = _operands_at(placed, binding, guard)
            self._values.assign(operands, value)
            written.update(name for operand in operands for name in _register_names(operand))
        return frozenset(written)

    # Inline PTX ---------------------------------------------------------------------------------------------

    def _inline(self, instruction: Instruction, binding: Binding) -> frozenset[str]:
        """Add an instruction as inline PTX to the function. Return the registers of its results."""
        guard = instruction.guard
        text = _InlineText(self._types)
        operands = list(instruction.operands)
        for each in binding.operands.values():
            role = "r"
            if each.spec.access in _WRITES:
                # A predicated instruction may keep the old value of its destination.
                role = "rw" if guard is not None or each.spec.access == "both" else "w"
            at, *part = each.at
            operands[at] = text.renamed(operands[at], role, part[0] if part else None)
        printed_guard = None
        predicate: list[SSAValue] = []
        if guard is not None and guard.negated:
            printed_guard = Guard(text.placeholder(guard.name, "r"), negated=True)
        elif guard is not None:
            predicate = [self._values.value([Name(guard.name)], i1)]
        code = str(replace(instruction, guard=printed_guard, operands=tuple(operands)))
        read, changed, written = (text.names[role] for role in ("r", "rw", "w"))
        values = [[self._values.value([Name(name)], self._types[name]) for name in names] for names in (read, changed)]
        made = InlinePtx.create(
            operands=[*values[0], *values[1], *predicate],
            result_types=[self._types[name] for name in written],
            properties={
                "ptxCode": StringAttr(code),
                "operandSegmentSizes": DenseArrayBase.from_list(i32, [len(read), len(changed), len(predicate)]),
            },
        )
        self._block.add_op(made)
        for name, value in zip((*changed, *written), (*values[1], *made.results), strict=True):
            self._values.assign([Name(name)], value)
        return frozenset((*changed, *written))


class _InlineText:
    """Placeholders of registers in inline PTX, by role.

    The role is "r" for a read register, "w" for a written one, "rw" for both.
    """

    def __init__(self, registers: Collection[str]) -> None:
        self._registers = registers
        self.names: dict[str, list[str]] = {"r": [], "rw": [], "w": []}

    def placeholder(self, name: str, role: str) -> str:
        """Return the placeholder of a register. Return any other name unchanged."""
        if name not in self._registers:
            return name
        names = self.names[role]
        if name not in names:
            names.append(name)
        return f"{{${role}{names.index(name)}}}"

    def renamed(self, operand: Operand, role: str, part: int | None = None) -> Operand:
        """Return an operand with placeholders for its registers.

        `part` limits the placeholders to one item of a vector or of a pair.
        """
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


def _operands_at(placed: PlacedValue, binding: Binding, guard: Guard | None) -> list[Operand]:
    """Return the operands of the instruction, or its guard, at the positions of a value."""
    found: list[Operand] = []
    for position in placed.positions:
        if position.operand == GUARD:
            assert guard is not None
            found.append(Name(guard.name))
        else:
            operand = binding.operands[position.operand].operand
            found.append(operand if position.item is None else items_of(operand)[position.item])
    return found


def _flattened(block: PtxBlock) -> Iterator[Instruction | Label]:
    for statement in block.statements:
        if isinstance(statement, PtxBlock):
            yield from _flattened(statement)
        elif isinstance(statement, Instruction | Label):
            yield statement


def _written_once(body: PtxBlock) -> frozenset[str]:
    bindings = (binding for each in body.instructions() if isinstance(binding := bind(each), Binding))
    writes = Counter(name for binding in bindings for name in _written(binding))
    return frozenset(name for name, count in writes.items() if count == 1)


def _written(binding: Binding) -> list[str]:
    return [
        name
        for each in binding.operands.values()
        if each.spec.access in _WRITES
        for name in _register_names(each.operand)
    ]


def _register_names(operand: Operand) -> list[str]:
    if isinstance(operand, Address):
        return []
    return [item.text for item in items_of(operand) if isinstance(item, Name) and item.text != "_"]


def _variables(statements: Sequence[object]) -> Iterator[tuple[str, Attribute]]:
    for each in statements:
        if isinstance(each, Variable) and each.space != "reg":
            yield each.name, pointer_to(ADDRESS_SPACES.get(each.space, 0))


def _declared(block: PtxBlock) -> Iterator[tuple[str, Attribute]]:
    yield from _variables(block.statements)
    for statement in block.statements:
        if isinstance(statement, PtxBlock):
            yield from _declared(statement)
        elif isinstance(statement, Variable) and statement.space == "reg":
            if (declared := _register_type(statement.type)) is None:
                continue
            if statement.count is None:
                yield statement.name, declared
            else:
                yield from ((f"{statement.name}{number}", declared) for number in range(statement.count))


def _register_type(word: str) -> Attribute | None:
    if (known := {"pred": i1, "f32": f32, "f64": f64}.get(word)) is not None:
        return known
    digits, _, times = word.lstrip("busf").partition("x")
    width = int(digits) * int(times or "1") if digits.isdigit() else 0
    return IntegerType(width) if width in _WIDTHS else None
