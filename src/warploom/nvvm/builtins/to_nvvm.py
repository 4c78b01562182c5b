"""Operations of the nvvm dialect for the call of a builtin.

The C call has pointers to fragments. The operation has the registers of the fragments as operands and result.
"""

import re
from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, f32, i32, i64
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from warploom.nvvm.builtins.c_types import DESCRIPTOR, UNSIGNED, VOID, CType, Value
from warploom.nvvm.builtins.emitter import Emitter
from warploom.nvvm.builtins.registry import Builtin
from warploom.nvvm.builtins.selection import Selection
from warploom.nvvm.dialect.attributes import BitOperation, Layout, MmaFragment, MmaType, Overflow
from warploom.nvvm.dialect.types import struct_of
from warploom.nvvm.dialect.wgmma import (
    WgmmaCommitGroup,
    WgmmaFence,
    WgmmaMmaAsync,
    WgmmaWaitGroup,
    multiplication_properties,
)
from warploom.nvvm.dialect.wmma import WmmaLoad, WmmaMma, WmmaStore, register_type


def replace_call(
    operation: Operation, builtin: Builtin, values: Sequence[Value], selection: Selection
) -> list[Operation]:
    """Replace the call of a builtin by operations of the nvvm dialect. Return the operations."""
    emitter = _CallEmitter(builtin, values, selection)
    emitter.emit()
    made = list(emitter.block.ops)
    for each in made:
        each.detach()
    Rewriter.insert_op(made, InsertPoint.before(operation))
    Rewriter.erase_op(operation)
    return made


class _CallEmitter(Emitter):
    """Emitter of the operations of a call to a block of their own."""

    def __init__(self, builtin: Builtin, values: Sequence[Value], selection: Selection) -> None:
        super().__init__()
        self._builtin, self._values, self._selection = builtin, values, selection

    def emit(self) -> None:
        """Add the operations to the block of the emitter."""
        match self._builtin.kind:
            case "load":
                self._load()
            case "store":
                self._store()
            case "multiply":
                self._multiply()
            case _:
                self._warpgroup()

    # Operands -----------------------------------------------------------------------------------------------

    def _argument(self, operand: str, ctype: CType) -> SSAValue:
        return self.ssa(self.convert(self._values[self._selection.values[operand]], ctype))

    def _pointer(self, position: int) -> Value:
        value = self._values[position]
        return value if value.type.depth else self.convert(value, VOID.pointer)

    def _matrix(self) -> SSAValue:
        return self.in_space(self._pointer(self._selection.address["p"]), self._selection.words["ss"])

    def _addresses(self, operand: str, element: Attribute) -> list[SSAValue]:
        """Return the addresses of the registers of a fragment."""
        pointer = self.ssa(self._pointer(self._selection.fragments[operand]))
        assert isinstance(pointer.type, LLVMPointerType)
        rest = range(1, self._selection.registers(operand))
        return [pointer, *(self.result(llvm.GEPOp(pointer, [k], element, (), pointer.type)) for k in rest)]

    def _registers(self, operand: str, element: Attribute) -> list[SSAValue]:
        return [self.result(llvm.LoadOp(at, element)) for at in self._addresses(operand, element)]

    def _struct(self, operand: str, element: Attribute) -> LLVMStructType:
        return struct_of(element, self._selection.registers(operand))

    def _packed(self, operand: str, element: Attribute, *, read: bool = True) -> SSAValue:
        """Return a struct with the registers of a fragment, or an undefined struct if `read` is False."""
        struct = self.result(llvm.UndefOp(self._struct(operand, element)))
        for k, value in enumerate(self._registers(operand, element) if read else ()):
            struct = self.result(llvm.InsertValueOp(DenseArrayBase.from_list(i64, [k]), struct, value))
        return struct

    def _keep(self, operand: str, result: SSAValue, element: Attribute) -> None:
        """Store the elements of a result, which is a struct or one element."""
        for k, at in enumerate(self._addresses(operand, element)):
            is_struct = isinstance(result.type, LLVMStructType)
            self.add(llvm.StoreOp(self.extracted(result, k, element) if is_struct else result, at))

    # Operations ---------------------------------------------------------------------------------------------

    def _load(self) -> None:
        words = self._selection.words
        element = register_type(words["type"])
        is_single = self._selection.registers("r") == 1 and words["type"] == "f64"
        operation = WmmaLoad.build(
            operands=[self._matrix(), self._argument("stride", UNSIGNED)],
            properties={**self._move_properties(), "frag": MmaFragment(words["matrix"])},
            result_types=[element if is_single else self._struct("r", element)],
        )
        self._keep("r", self.result(operation), element)

    def _store(self) -> None:
        target, stride = self._matrix(), self._argument("stride", UNSIGNED)
        values = self._registers("r", register_type(self._selection.words["type"]))
        self.add(WmmaStore.build(operands=[target, values, stride], properties=self._move_properties()))

    def _move_properties(self) -> dict[str, Attribute]:
        words = self._selection.words
        return self._shape() | {"layout": Layout(words["layout"]), "eltype": MmaType(words["type"])}

    def _shape(self) -> dict[str, Attribute]:
        extents = re.findall(r"\d+", self._selection.words["shape"])
        return {name: IntegerAttr(int(extent), i32) for name, extent in zip("mnk", extents, strict=True)}

    def _multiply(self) -> None:
        words, types = self._selection.words, self._builtin.types
        values = [value for name in "abc" for value in self._registers(name, register_type(types[name]))]
        properties = self._shape() | {
            "layoutA": Layout(words["alayout"]),
            "layoutB": Layout(words["blayout"]),
            "eltypeA": MmaType(types["a"]),
            "eltypeB": MmaType(types["c"]),
        }
        if "bitOp" in words:
            properties["b1Op"] = BitOperation(f"{words['bitOp']}_popc")
        if "satfinite" in words:
            properties["intOverflowBehavior"] = Overflow("satfinite")
        element = register_type(types["d"])
        operation = WmmaMma.build(operands=[values], properties=properties, result_types=[self._struct("d", element)])
        self._keep("d", self.result(operation), element)

    def _warpgroup(self) -> None:
        words, constants = self._selection.words, self._selection.constants
        element = f32 if words["dtype"] == "f32" else i32
        adds = bool(constants["scale_d"])
        accumulator = self._packed("d", element, read=adds)
        in_registers = "a" in self._selection.fragments
        a = self._packed("a", i32) if in_registers else self._argument("a_desc", DESCRIPTOR)
        b = self._argument("b_desc", DESCRIPTOR)
        properties = multiplication_properties(
            {**words, "shape": f"m64n{words['n']}k{words['k']}"},
            adds=adds,
            negates=(constants["imm_scale_a"] < 0, constants["imm_scale_b"] < 0),
            transposes=(bool(constants.get("imm_trans_a")), bool(constants.get("imm_trans_b"))),
        )
        self.add(WgmmaFence.build())
        result = self.result(
            WgmmaMmaAsync.build(operands=[accumulator, a, b], properties=properties, result_types=[accumulator.type])
        )
        self.add(WgmmaCommitGroup.build())
        self.add(WgmmaWaitGroup.build(properties={"group": IntegerAttr(0, i64)}))
        self._keep("d", result, element)
