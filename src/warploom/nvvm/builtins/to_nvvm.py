"""Operations of the nvvm dialect for the call of a builtin.

The C call has pointers to fragments. The operation has the registers of the fragments as operands and result.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, f32, i32, i64
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, SSAValue

from warploom.diagnostics import Diagnostic, Severity, Source, Span
from warploom.isa.model.availability import Target
from warploom.nvvm.builtins.c_types import DESCRIPTOR, CType, Value
from warploom.nvvm.builtins.emitter import Emitter
from warploom.nvvm.builtins.registry import Builtin
from warploom.nvvm.builtins.selection import RefusedCall, Selection, select
from warploom.nvvm.builtins.source import BuiltinError, diagnostic_at
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

_UNSIGNED = CType("unsigned int")


@dataclass(frozen=True, slots=True)
class Call:
    """Call of a builtin: its span, its arguments with their spans, and the selected instruction."""

    builtin: Builtin
    span: Span
    arguments: tuple[tuple[Value, Span], ...]
    selection: Selection


def select_call(
    source: Source, builtin: Builtin, span: Span, arguments: Sequence[tuple[Value, Span]], target: Target
) -> Call:
    """Select the instruction for a call.

    Errors: BuiltinError builtin.arguments, builtin.operand, builtin.target
    """
    try:
        selection = select(builtin, [value for value, _ in arguments], target)
    except RefusedCall as refused:
        spans: dict[int | None, Span] = {at: each for at, (_, each) in enumerate(arguments)}
        errors = [
            diagnostic_at(source, spans.get(each.position, span), each.message, each.code) for each in refused.errors
        ]
        raise BuiltinError(errors) from None
    return Call(builtin, span, tuple(arguments), selection)


class CallEmitter:
    """Emitter of the operations of a call."""

    def __init__(self, emitter: Emitter, call: Call) -> None:
        self._emitter = emitter
        self._selection = call.selection
        self._builtin = call.builtin
        self._values = [value for value, _ in call.arguments]

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
        value = self._values[self._selection.values[operand]]
        return self._emitter.ssa(self._emitter.convert(value, ctype))

    def _pointer(self) -> SSAValue:
        value = self._values[self._selection.address["p"]]
        return self._emitter.in_space(self._as_pointer(value), self._selection.words["ss"])

    def _as_pointer(self, value: Value) -> Value:
        return value if value.type.depth else self._emitter.convert(value, CType("void", 1))

    def _addresses(self, operand: str, element: Attribute) -> list[SSAValue]:
        """Return the addresses of the registers of a fragment."""
        pointer = self._emitter.ssa(self._as_pointer(self._values[self._selection.fragments[operand]]))
        kind = pointer.type
        assert isinstance(kind, LLVMPointerType)
        rest = range(1, self._selection.registers(operand))
        return [pointer, *(self._emitter.result(llvm.GEPOp(pointer, [k], element, (), kind)) for k in rest)]

    def _registers(self, operand: str, element: Attribute) -> list[SSAValue]:
        return [self._emitter.result(llvm.LoadOp(at, element)) for at in self._addresses(operand, element)]

    def _struct(self, operand: str, element: Attribute) -> LLVMStructType:
        return struct_of(element, self._selection.registers(operand))

    def _packed(self, operand: str, element: Attribute, *, read: bool = True) -> SSAValue:
        """Return a struct with the registers of a fragment."""
        struct = self._emitter.result(llvm.UndefOp(self._struct(operand, element)))
        for k, value in enumerate(self._registers(operand, element) if read else ()):
            struct = self._emitter.result(llvm.InsertValueOp(DenseArrayBase.from_list(i64, [k]), struct, value))
        return struct

    def _keep(self, operand: str, result: SSAValue, element: Attribute) -> None:
        """Store the elements of a result, which is a struct or one element."""
        for k, at in enumerate(self._addresses(operand, element)):
            value = result
            if isinstance(result.type, LLVMStructType):
                position = DenseArrayBase.from_list(i64, [k])
                value = self._emitter.result(llvm.ExtractValueOp(position, result, element))
            self._emitter.add(llvm.StoreOp(value, at))

    def _shape(self) -> dict[str, Attribute]:
        extents = re.findall(r"\d+", self._selection.words["shape"])
        return {name: IntegerAttr(int(extent), i32) for name, extent in zip("mnk", extents, strict=True)}

    # Operations ---------------------------------------------------------------------------------------------

    def _load(self) -> None:
        words = self._selection.words
        element = register_type(words["type"])
        is_single = self._selection.registers("r") == 1 and words["type"] == "f64"
        properties = {**self._move_properties(), "frag": MmaFragment(words["matrix"])}
        operands = [self._pointer(), self._argument("stride", _UNSIGNED)]
        result = element if is_single else self._struct("r", element)
        operation = WmmaLoad.build(operands=operands, properties=properties, result_types=[result])
        self._keep("r", self._emitter.result(operation), element)

    def _store(self) -> None:
        target, stride = self._pointer(), self._argument("stride", _UNSIGNED)
        values = self._registers("r", register_type(self._selection.words["type"]))
        self._emitter.add(WmmaStore.build(operands=[target, values, stride], properties=self._move_properties()))

    def _move_properties(self) -> dict[str, Attribute]:
        words = self._selection.words
        return self._shape() | {"layout": Layout(words["layout"]), "eltype": MmaType(words["type"])}

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
        if words.get("satfinite"):
            properties["intOverflowBehavior"] = Overflow("satfinite")
        element = register_type(types["d"])
        operation = WmmaMma.build(operands=[values], properties=properties, result_types=[self._struct("d", element)])
        self._keep("d", self._emitter.result(operation), element)

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
        self._emitter.add(WgmmaFence.build())
        operation = WgmmaMmaAsync.build(
            operands=[accumulator, a, b], properties=properties, result_types=[accumulator.type]
        )
        result = self._emitter.result(operation)
        self._emitter.add(WgmmaCommitGroup.build())
        self._emitter.add(WgmmaWaitGroup.build(properties={"group": IntegerAttr(0, i64)}))
        self._keep("d", result, element)


def note_on(source: Source, call: Call) -> Iterator[Diagnostic]:
    """Yield a note that states which operations surround the operation of a call."""
    if call.builtin.kind == "warpgroup":
        added = "lower adds a wgmma fence before the call, and a commit and a wait after it"
        found = diagnostic_at(source, call.span, f"'{call.builtin.name}': {added}", "builtin.added")
        yield replace(found, severity=Severity.NOTE)
