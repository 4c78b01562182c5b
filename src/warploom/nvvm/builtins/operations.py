"""A call as an operation of the nvvm dialect, in a function whose arguments and results are the fragments.

Where the C call has pointers to fragments, the operation has their registers: a function's arguments are what the
builtin reads, its result what the builtin writes, as the compiler has it once fragments are in registers.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntAttr, IntegerAttr, IntegerType, ModuleOp, f32, i32, i64
from xdsl.dialects.llvm import LLVMFunctionType, LLVMPointerType, LLVMStructType, LLVMVoidType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from warploom.nvvm.builtins.choose import Choice
from warploom.nvvm.builtins.ctypes import CType, Value, wrap
from warploom.nvvm.builtins.source import Argument, Call
from warploom.nvvm.dialect.vocabulary import (
    BitOperation,
    Fragment,
    Layout,
    MmaType,
    Overflow,
    ScaleIn,
    ScaleOut,
    WgmmaType,
)
from warploom.nvvm.dialect.wgmma import WgmmaCommitGroup, WgmmaFence, WgmmaMmaAsync, WgmmaWaitGroup
from warploom.nvvm.dialect.wmma import WmmaLoad, WmmaMma, WmmaStore, element_of
from warploom.nvvm.dialect.words import Shape

_SPACES = {"": 0, "global": 1, "shared": 3}
_NO_WAIT = 0


def module_of(call: Call, choice: Choice) -> ModuleOp:
    """The module of a call: one function with the operation."""
    return ModuleOp([_Builder(call, choice).function()])


class _Builder:
    def __init__(self, call: Call, choice: Choice) -> None:
        self._call = call
        self._choice = choice
        self._block = Block()

    def function(self) -> llvm.FuncOp:
        """The function around the operation."""
        builtin = self._call.builtin
        made = {
            "load": self._load,
            "store": self._store,
            "multiply": self._multiply,
            "warpgroup": self._warpgroup,
        }[builtin.kind]
        result = made()
        self._block.add_op(llvm.ReturnOp(result))
        inputs = [argument.type for argument in self._block.args]
        output = result.type if result is not None else LLVMVoidType()
        kind = LLVMFunctionType(inputs, output)
        linkage = llvm.LinkageAttr("external")
        return llvm.FuncOp(self._call.function, kind, linkage, body=Region(self._block))

    # Pieces -------------------------------------------------------------------------------------------------

    def _argument(self, type: Attribute) -> SSAValue:
        return self._block.insert_arg(type, len(self._block.args))

    def _add(self, operation: Operation) -> Operation:
        self._block.add_op(operation)
        return operation

    def _of(self, operand: str) -> Argument:
        places = self._choice.address | self._choice.values | self._choice.fragments
        return self._call.arguments[places[operand]]

    def _number(self, value: Value, type: IntegerType, word: CType) -> SSAValue:
        """A constant, or an argument where it is a variable."""
        if value.constant is None:
            return self._argument(type)
        number = wrap(value.constant, word)
        assert number is not None
        return self._add(llvm.ConstantOp(IntegerAttr(int(number), type), type)).results[0]

    def _registers(self, operand: str, element: Attribute) -> list[SSAValue]:
        return [self._argument(element) for _ in range(self._choice.registers(operand))]

    def _struct(self, operand: str, element: Attribute) -> LLVMStructType:
        return LLVMStructType.from_type_list([element] * self._choice.registers(operand))

    def _shape(self) -> dict[str, Attribute]:
        m, rest = self._choice.words["shape"][1:].split("n")
        n, k = rest.split("k")
        return {name: IntegerAttr(int(value), i32) for name, value in zip("mnk", (m, n, k), strict=True)}

    def _pointer(self) -> SSAValue:
        space = _SPACES[self._choice.words["ss"]]
        return self._argument(LLVMPointerType(IntAttr(space)) if space else LLVMPointerType())

    # Operations ---------------------------------------------------------------------------------------------

    def _load(self) -> SSAValue:
        words = self._choice.words
        element = element_of(words["type"])
        count = self._choice.registers("r")
        single = count == 1 and words["type"] == "f64"
        source = self._pointer()
        stride = self._number(self._of("stride").value, i32, CType("unsigned int"))
        properties = self._shape() | {
            "layout": Layout(words["layout"]),
            "eltype": MmaType(words["type"]),
            "frag": Fragment(words["matrix"]),
        }
        result = element if single else self._struct("r", element)
        load = WmmaLoad.build(operands=[source, stride], properties=properties, result_types=[result])
        return self._add(load).results[0]

    def _store(self) -> None:
        words = self._choice.words
        target = self._pointer()
        stride = self._number(self._of("stride").value, i32, CType("unsigned int"))
        values = self._registers("r", element_of(words["type"]))
        properties = self._shape() | {"layout": Layout(words["layout"]), "eltype": MmaType(words["type"])}
        self._add(WmmaStore.build(operands=[target, values, stride], properties=properties))

    def _multiply(self) -> SSAValue:
        words, types = self._choice.words, self._call.builtin.types
        values = [value for name in "abc" for value in self._registers(name, element_of(types[name]))]
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
        result = self._struct("d", element_of(types["d"]))
        return self._add(
            WmmaMma.build(operands=[values], properties=properties, result_types=[result])
        ).results[0]

    def _warpgroup(self) -> SSAValue:
        words, constants = self._choice.words, self._choice.constants
        struct = self._struct("d", f32 if words["dtype"] == "f32" else i32)
        accumulator = self._argument(struct)
        if "a" in self._choice.fragments:
            a = self._argument(self._struct("a", i32))
        else:
            a = self._number(self._of("a_desc").value, i64, CType("unsigned long long"))
        b = self._number(self._of("b_desc").value, i64, CType("unsigned long long"))
        signs = {1: ScaleIn("one"), -1: ScaleIn("neg")}
        properties: dict[str, Attribute] = {
            "shape": Shape(*(IntAttr(int(extent)) for extent in ("64", words["n"], words["k"]))),
            "typeA": WgmmaType(words["atype"]),
            "typeB": WgmmaType(words["btype"]),
            "typeD": WgmmaType(words["dtype"]),
            "scaleD": ScaleOut("one" if constants["scale_d"] else "zero"),
            "scaleA": signs[constants["imm_scale_a"]],
            "scaleB": signs[constants["imm_scale_b"]],
            "layoutA": Layout("col" if constants.get("imm_trans_a") else "row"),
            "layoutB": Layout("row" if constants.get("imm_trans_b") else "col"),
        }
        self._add(WgmmaFence.build())
        found = WgmmaMmaAsync.build(
            operands=[accumulator, a, b], properties=properties, result_types=[struct]
        )
        self._add(found)
        self._add(WgmmaCommitGroup.build())
        self._add(WgmmaWaitGroup.build(properties={"group": IntegerAttr(_NO_WAIT, i64)}))
        return found.results[0]
