"""Lowering of a builtin's call to an MLIR function with an operation of the nvvm dialect.

The C call has pointers to fragments. The MLIR function has the registers of the fragments as arguments and result.
"""

import re

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp, f32, i32, i64
from xdsl.dialects.llvm import LLVMFunctionType, LLVMStructType, LLVMVoidType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from warploom.nvvm.builtins.c_types import DESCRIPTOR, CType, Value, wrap
from warploom.nvvm.builtins.cuda_parser import Call
from warploom.nvvm.builtins.selection import Selection
from warploom.nvvm.dialect.attributes import BitOperation, Layout, MmaFragment, MmaType, Overflow
from warploom.nvvm.dialect.types import ADDRESS_SPACES, pointer_to, struct_of
from warploom.nvvm.dialect.wgmma import (
    WgmmaCommitGroup,
    WgmmaFence,
    WgmmaMmaAsync,
    WgmmaWaitGroup,
    multiplication_properties,
)
from warploom.nvvm.dialect.wmma import WmmaLoad, WmmaMma, WmmaStore, register_type

_UNSIGNED = CType("unsigned int")


def module_of(call: Call, selection: Selection) -> ModuleOp:
    """Return an MLIR module whose only function contains the operation of a builtin's call."""
    return ModuleOp([_Builder(call, selection).function()])


class _Builder:
    def __init__(self, call: Call, selection: Selection) -> None:
        self._call = call
        self._selection = selection
        self._block = Block()

    def function(self) -> llvm.FuncOp:
        build = {"load": self._load, "store": self._store, "multiply": self._multiply, "warpgroup": self._warpgroup}[
            self._call.builtin.kind
        ]
        result = build()
        self._block.add_op(llvm.ReturnOp(result))
        inputs = [argument.type for argument in self._block.args]
        kind = LLVMFunctionType(inputs, LLVMVoidType() if result is None else result.type)
        linkage = llvm.LinkageAttr("external")
        return llvm.FuncOp(self._call.function, kind, linkage, body=Region(self._block))

    # Operands -----------------------------------------------------------------------------------------------

    def _argument(self, type: Attribute) -> SSAValue:
        return self._block.insert_arg(type, len(self._block.args))

    def _add(self, operation: Operation) -> SSAValue:
        self._block.add_op(operation)
        return operation.results[0]

    def _number(self, operand: str, type: IntegerType, word: CType) -> SSAValue:
        """Return a scalar operand: an MLIR constant, or a new argument of the MLIR function.

        A constant is converted to the C type `word`.
        """
        value: Value = self._call.arguments[self._selection.values[operand]].value
        if value.constant is None:
            return self._argument(type)
        number = wrap(value.constant, word)
        assert number is not None
        return self._add(llvm.ConstantOp(IntegerAttr(int(number), type), type))

    def _registers(self, operand: str, element: Attribute) -> list[SSAValue]:
        return [self._argument(element) for _ in range(self._selection.registers(operand))]

    def _struct(self, operand: str, element: Attribute) -> LLVMStructType:
        return struct_of(element, self._selection.registers(operand))

    def _shape(self) -> dict[str, Attribute]:
        extents = re.findall(r"\d+", self._selection.words["shape"])
        return {name: IntegerAttr(int(extent), i32) for name, extent in zip("mnk", extents, strict=True)}

    # Operations ---------------------------------------------------------------------------------------------

    def _load(self) -> SSAValue:
        words = self._selection.words
        element = register_type(words["type"])
        is_single = self._selection.registers("r") == 1 and words["type"] == "f64"
        properties = {**self._move_properties(), "frag": MmaFragment(words["matrix"])}
        operands = [self._pointer(), self._number("stride", i32, _UNSIGNED)]
        result = element if is_single else self._struct("r", element)
        return self._add(WmmaLoad.build(operands=operands, properties=properties, result_types=[result]))

    def _store(self) -> None:
        target, stride = self._pointer(), self._number("stride", i32, _UNSIGNED)
        values = self._registers("r", register_type(self._selection.words["type"]))
        properties = self._move_properties()
        self._block.add_op(WmmaStore.build(operands=[target, values, stride], properties=properties))

    def _pointer(self) -> SSAValue:
        return self._argument(pointer_to(ADDRESS_SPACES[self._selection.words["ss"]]))

    def _move_properties(self) -> dict[str, Attribute]:
        words = self._selection.words
        return self._shape() | {"layout": Layout(words["layout"]), "eltype": MmaType(words["type"])}

    def _multiply(self) -> SSAValue:
        words, types = self._selection.words, self._call.builtin.types
        values = [value for name in "abc" for value in self._registers(name, register_type(types[name]))]
        properties = self._shape() | {
            "layoutA": Layout(words["alayout"]),
            "layoutB": Layout(words["blayout"]),
            "eltypeA": MmaType(types["a"]),
            "eltypeB": MmaType(types["c"]),
        }
        if "bitOp" in words:
            properties["b1Op"] = BitOperation(f"{words['bitOp']}_popc")
        if words.get("satfinite"):
            properties["intOverflowBehavior"] = Overflow("satfinite")
        result = self._struct("d", register_type(types["d"]))
        return self._add(WmmaMma.build(operands=[values], properties=properties, result_types=[result]))

    def _warpgroup(self) -> SSAValue:
        words, constants = self._selection.words, self._selection.constants
        struct = self._struct("d", f32 if words["dtype"] == "f32" else i32)
        accumulator = self._argument(struct)
        in_registers = "a" in self._selection.fragments
        a = self._argument(self._struct("a", i32)) if in_registers else self._number("a_desc", i64, DESCRIPTOR)
        b = self._number("b_desc", i64, DESCRIPTOR)
        properties = multiplication_properties(
            {**words, "shape": f"m64n{words['n']}k{words['k']}"},
            adds=bool(constants["scale_d"]),
            negates=(constants["imm_scale_a"] < 0, constants["imm_scale_b"] < 0),
            transposes=(bool(constants.get("imm_trans_a")), bool(constants.get("imm_trans_b"))),
        )
        self._block.add_op(WgmmaFence.build())
        result = self._add(
            WgmmaMmaAsync.build(operands=[accumulator, a, b], properties=properties, result_types=[struct])
        )
        self._block.add_op(WgmmaCommitGroup.build())
        self._block.add_op(WgmmaWaitGroup.build(properties={"group": IntegerAttr(0, i64)}))
        return result
