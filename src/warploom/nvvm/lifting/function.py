"""Body of a lifted function: SSA values replace registers, and operations replace instructions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, DenseIntElementsAttr, StringAttr, VectorType, i32
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from warploom.isa.binding.bind import Binding
from warploom.isa.instructions import control
from warploom.isa.model.types import TYPES
from warploom.nvvm.dialect.operation import InlinePtx
from warploom.nvvm.dialect.types import constraint_of, parts_of, registers_of
from warploom.nvvm.forms import MMA_DENSE, MMA_SCALED, WMMA
from warploom.nvvm.lifting.blocks import BasicBlock, basic_blocks, block_arguments, block_order
from warploom.nvvm.lifting.flatten import Register, Step, refuse
from warploom.nvvm.lifting.match_operation import MatchedOperation, items_of, match_operation
from warploom.nvvm.llvm_builder import LlvmBuilder
from warploom.nvvm.mlir.llvm_operations import JUMP
from warploom.nvvm.mlir.llvm_syntax import operation_class
from warploom.ptx.flow import EXIT

_LEAST_TARGETS = 4
"""Least number of distinct targets for which LLVM always emits a branch table.

For fewer targets LLVM may emit comparisons. For a repeated target it may emit one more block for each repetition.
"""


def lift_body(items: Sequence[Step | str], arguments: Sequence[Attribute], result: Attribute | None) -> Region:
    """Return the MLIR region of the statements of a function.

    `arguments` are the types of the parameters, and `result` is the type of the result or None.

    Errors: LowerError lower.lift for a jump that LLVM cannot represent
    """
    return _Lifter(basic_blocks(items), arguments, result).region()


class _Lifter:
    def __init__(self, blocks: list[BasicBlock], arguments: Sequence[Attribute], result: Attribute | None) -> None:
        self._blocks = blocks
        self._result = result
        self._dominators, self._arguments, self._live = block_arguments(blocks)
        types = [[each.type for each in registers] for registers in self._arguments]
        self._targets = [Block(arg_types=each) for each in [arguments, *types[1:]]]
        self._builders = [LlvmBuilder() for _ in blocks]
        self._values: list[dict[Register, SSAValue]] = [{} for _ in blocks]
        self._undefined: dict[Attribute, SSAValue] = {}
        self._unreachable: dict[int, Block] = {}
        self._operations: set[tuple[object, ...]] = set()
        self._number = 0

    def region(self) -> Region:
        """Return the region with all blocks."""
        for number in range(1, len(self._blocks)):
            self._number = number
            for register, value in zip(self._arguments[number], self._targets[number].args, strict=True):
                self._assign(register, value)
        for number in block_order(self._blocks):
            self._number = number
            self._block(self._blocks[number], self._live[number])
        for number, block in enumerate(self._blocks):
            self._number = number
            self._end(block)
        region = Region()
        for number, (block, builder) in enumerate(zip(self._targets, self._builders, strict=True)):
            block.add_ops(builder.operations)
            region.add_block(block)
            if number in self._unreachable:
                region.add_block(self._unreachable[number])
        return region

    # Values -------------------------------------------------------------------------------------------------

    @property
    def _build(self) -> LlvmBuilder:
        return self._builders[self._number]

    def _add(self, operation: Operation) -> Operation:
        self._build.operations.append(operation)
        return operation

    def _assign(self, register: Register, value: SSAValue) -> None:
        self._values[self._number][register] = value
        name = re.sub(r"\W", "_", register.name.strip("%"))
        value.name_hint = name if SSAValue.is_valid_name(name) else None

    def _value(self, register: Register) -> SSAValue:
        """Return the value of a register in the current block, or else in its nearest dominator."""
        number = self._number
        while number != EXIT and register not in self._values[number]:
            number = self._dominators[number]
        found = self._undefined_value(register.type) if number == EXIT else self._values[number][register]
        return self._values[self._number].setdefault(register, found)

    def _undefined_value(self, type: Attribute) -> SSAValue:
        if type not in self._undefined:
            operation = llvm.UndefOp(type)
            self._builders[0].operations.insert(0, operation)
            self._undefined[type] = operation.res
        return self._undefined[type]

    # Instructions -------------------------------------------------------------------------------------------

    def _block(self, block: BasicBlock, later: set[Register]) -> None:
        """Add the steps of a block. `later` are the registers that the blocks after it, or its jump, read."""
        after: list[set[Register]] = []
        for step in reversed(block.steps):
            after.append(later)
            later = later.difference(step.write).union(step.sources())
        for step, read_later in zip(block.steps, reversed(after), strict=True):
            if step.binding is None or not self._matched(step, step.binding, read_later):
                self._text(step)

    def _text(self, step: Step) -> None:
        """Add an instruction as text.

        The text becomes `llvm.inline_asm` if it contains `%`, has an operand of 128 bits, or changes a register. For
        these, MLIR 22's `nvvm.inline_ptx` writes `$`, is illegal, or replaces also earlier uses of the register.
        """
        is_wide = any(TYPES[each.word].bits == 128 for each in (*step.read, *step.write))
        lift = self._inline_assembly if step.change or "%" in step.text or is_wide else self._inline_ptx
        for register, value in zip((*step.change, *step.write), lift(step), strict=True):
            self._assign(register, value)

    def _inline_ptx(self, step: Step) -> Sequence[SSAValue]:
        read = [self._value(each) for each in step.read]
        guard = [] if step.guard is None else [self._value(step.guard)]
        text = _with_registers(step.text, lambda role, number: f"{{${role[0]}{number}}}")
        if step.negated:
            text = f"@!{{$r{len(read)}}} {text}"
            read, guard = [*read, *guard], []
        made = InlinePtx.create(
            operands=[*read, *guard],
            result_types=[each.type for each in step.write],
            properties={
                "ptxCode": StringAttr(text),
                "operandSegmentSizes": DenseArrayBase.from_list(i32, [len(read), 0, len(guard)]),
            },
        )
        return self._add(made).results

    def _inline_assembly(self, step: Step) -> Sequence[SSAValue]:
        written = [*step.change, *step.write]
        read = [*step.read, *([] if step.guard is None else [step.guard])]
        first = {"change": 0, "write": len(step.change), "read": len(written)}
        text = _with_registers(step.text, lambda role, number: f"${first[role] + number}")
        if step.guard is not None:
            text = f"@{'!' * step.negated}${len(written) + len(step.read)} {text}"
        constraints = [
            *(f"={constraint_of(each.type)}" for each in written),
            *(constraint_of(each.type) for each in read),
            *(str(number) for number in range(len(step.change))),
        ]
        values = [self._value(each) for each in (*read, *step.change)]
        return self._build.assembly(text, constraints, values, [each.type for each in written])

    def _matched(self, step: Step, binding: Binding, later: set[Register]) -> bool:
        """Add the operation that lowers to exactly the instruction.

        Return False if there is none, or if LLVM would remove the operation: its results are not in `later`, the
        registers that later instructions read, or the block has an equal operation.
        """
        if step.guard is not None or step.change or (step.write and not later.intersection(step.write)):
            return False
        if _must_stay_text(binding) or (matched := match_operation(binding)) is None:
            return False
        operation = matched.operation
        places = {value: _registers_at(value, matched, step, binding) for value in matched.positions}
        if not all(places.values()):
            return False
        values = [[self._value(each) for each in places[value]] for value in operation.operands]
        key = (self._number, id(matched), *chain.from_iterable(values))
        if step.write and key in self._operations:
            return False
        self._operations.add(key)
        made = type(operation).create(
            operands=list(map(self._combined, values, operation.operand_types)),
            result_types=operation.result_types,
            properties=dict(sorted(operation.properties.items())),
        )
        results = [places[value] for value in operation.results]
        for value, registers in zip(self._add(made).results, results, strict=True):
            for register, element in zip(registers, self._build.elements(value), strict=True):
                self._assign(register, self._build.cast(element, register.type))
        return True

    def _combined(self, values: Sequence[SSAValue], type: Attribute) -> SSAValue:
        parts = [self._build.cast(value, part) for value, part in zip(values, parts_of(type), strict=True)]
        return self._build.struct(parts, type) if isinstance(type, LLVMStructType) else parts[0]

    # Jumps --------------------------------------------------------------------------------------------------

    def _end(self, block: BasicBlock) -> None:
        """Add the terminator of a block."""
        if block.jump is not None:
            self._jump(block, block.jump)
        elif block.next is not None:
            if block.leave is not None:
                # No path reaches the next block. LLVM keeps it, because it does not know the instruction.
                self._text(block.leave)
            self._add(llvm.BrOp(self._targets[block.next], *self._passed(block.next)))
        elif block.leave is not None and block.leave.text != str(control.IMPLIED):
            self._text(block.leave)
            self._add(llvm.UnreachableOp())
        elif block.leave is None and block.steps and _is_trap(block.steps[-1]):
            self._add(llvm.UnreachableOp())
        else:
            value = None if self._result is None else self._undefined_value(self._result)
            self._add(llvm.ReturnOp() if value is None else llvm.ReturnOp(value))

    def _passed(self, target: int) -> list[SSAValue]:
        """Return the values that the current block passes to another block."""
        return [self._value(each) for each in self._arguments[target]]

    def _jump(self, block: BasicBlock, jump: Step) -> None:
        assert jump.binding is not None
        if jump.binding.form is control.BRX:
            self._switch(block, jump)
            return
        (taken,) = block.targets
        following = block.next
        if following is None:
            self._add(llvm.BrOp(self._targets[taken], *self._passed(taken)))
            return
        # If no path reaches the next block, LLVM keeps it, because it does not evaluate the condition of the text.
        condition = self._build.flag(True) if jump.guard is None else self._value(jump.guard)
        branches = [(self._targets[number], self._passed(number)) for number in (taken, following)]
        (first, first_values), (second, second_values) = branches[::-1] if jump.negated else branches
        made = llvm.CondBrOp(condition, first, first_values, second, second_values)
        if jump.negated or jump.binding.slots["uni"] or jump.guard is None or taken == following:
            guard = "" if jump.guard is None else f"@{'!' * jump.negated}$0 "
            made.attributes[JUMP] = StringAttr(f"{guard}{jump.text.split()[0]} ${{1:l}};")
        self._add(made)

    def _switch(self, block: BasicBlock, jump: Step) -> None:
        if jump.guard is not None:
            refuse(jump.node, "cannot lift a branch table with a predicate", "branch around it")
        default = self._targets[block.next] if block.next is not None else Block([llvm.UnreachableOp()])
        passed = [] if block.next is None else self._passed(block.next)
        if block.next is None:
            self._unreachable[self._number] = default
        values = [self._passed(number) for number in block.targets]
        made = operation_class("llvm.switch").create(
            operands=[self._value(jump.read[0]), *passed, *chain.from_iterable(values)],
            properties={
                "case_values": DenseIntElementsAttr.from_list(VectorType(i32, [len(values)]), list(range(len(values)))),
                "case_operand_segments": DenseArrayBase.from_list(i32, list(map(len, values))),
                "operandSegmentSizes": DenseArrayBase.from_list(i32, [1, len(passed), sum(map(len, values))]),
            },
            successors=[default, *(self._targets[number] for number in block.targets)],
        )
        distinct = list(dict.fromkeys(block.targets))
        assert jump.binding is not None
        is_short = len(distinct) < max(_LEAST_TARGETS, len(block.targets))
        if is_short or jump.binding.slots["uni"] or block.next is not None:
            labels = ", ".join(f"${{{distinct.index(number) + 1}:l}}" for number in block.targets)
            table = f"table_${{:uid}}: .branchtargets {labels};"
            made.attributes[JUMP] = StringAttr(f"{table}\n{jump.text.split()[0]} $0, table_${{:uid}};")
        self._add(made)


def _with_registers(text: str, register: Callable[[str, int], str]) -> str:
    """Return the text of a step. `register` returns the text of a register by its role and number."""
    return re.sub(r"\0(\w+) (\d+)\0", lambda found: register(found[1], int(found[2])), text)


def _is_trap(step: Step) -> bool:
    return step.guard is None and step.binding is not None and step.binding.form is control.TRAP


def _must_stay_text(binding: Binding) -> bool:
    """Return True if LLVM prints the operation of an instruction differently, or if MLIR 22 refuses it."""
    if binding.slots.get("relu") and binding.slots.get("satfinite"):
        return True  # LLVM prints these modifiers in another order
    words = {slot: binding.slots.get(slot, "") for slot in ("shape", "dtype", "ctype", "atype", "btype", "scale_vec")}
    types = {words["atype"], words["btype"]}
    if binding.form in WMMA:
        return words["dtype"] != words["ctype"] or bool(types & {"bf16", "b1", "s4", "u4"})
    if binding.form in MMA_DENSE:
        return bool(types & {"e4m3", "e5m2"}) or ("f64" in types and words["shape"].startswith("m16"))
    return binding.form in MMA_SCALED and binding.slots.get("stype") == "ue8m0" and words["scale_vec"].endswith("4X")


def _registers_at(value: SSAValue, matched: MatchedOperation, step: Step, binding: Binding) -> list[Register]:
    """Return the registers at the positions of a value, or none if LLVM would add a conversion or a move.

    LLVM does so for constants, pointers, packed vectors, and registers of another width.
    """
    operands = [items_of(binding.operands[name].operand)[item] for name, item in matched.positions[value]]
    found = [step.names[str(each)] for each in operands if str(each) in step.names]
    types = parts_of(value.type)
    # A packed vector in several registers is one type.
    if isinstance(value.type, LLVMPointerType) or len(types) != len(found):
        return []
    same = all(_width(register.type) == _width(each) for register, each in zip(found, types, strict=True))
    return found if same else []


def _width(type: Attribute) -> str:
    """Return the class of the register for a value: "pred", or the width in bits."""
    words = registers_of(type)
    return words[0].lstrip("bf") if len(words) == 1 else ""
