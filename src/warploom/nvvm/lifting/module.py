"""Lifting of a PTX module: functions, their signatures and attributes, and variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
    VectorType,
    f32,
    f64,
    i32,
    i64,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMFunctionType, LLVMPointerType, LLVMStructType, LLVMVoidType
from xdsl.ir import Attribute, Block, Operation, Region

from warploom.isa.model.parameters import size_of
from warploom.isa.model.types import TYPES
from warploom.nvvm.dialect.types import ADDRESS_SPACES, pointer_to
from warploom.nvvm.lifting.flatten import flatten, refuse
from warploom.nvvm.lifting.function import lift_body
from warploom.ptx import Directive, Float, Function, Initializer, Integer, Module, Node, Variable, parse

_NO_PASSES = ("noinline", "optnone")
"""Function attributes that keep LLVM from moving, merging and copying blocks."""
_INTEGER_DIRECTIVES = {
    ".minnctapersm": "nvvm.minctasm",
    ".maxnreg": "nvvm.maxnreg",
    ".maxclusterrank": "nvvm.cluster_max_blocks",
}
_EXTENT_DIRECTIVES = {".maxntid": "nvvm.maxntid", ".reqntid": "nvvm.reqntid", ".reqnctapercluster": "nvvm.cluster_dim"}
_LINKAGES = {"visible": "external", "extern": "external", "weak": "weak", "common": "common", "": "internal"}
"""LLVM linkage of each PTX linkage."""


def lift(text: str | Module) -> ModuleOp:
    """Return an MLIR module with the functions and variables of a PTX module.

    Errors: PtxSyntaxError; LowerError lower.lift for PTX that LLVM cannot represent, and the rule codes of `check` for
        unknown instructions
    """
    module = parse(text) if isinstance(text, str) else text
    return _ModuleLifter(module).lifted()


class _ModuleLifter:
    def __init__(self, module: Module) -> None:
        self._module = module
        self._names = {name: name for name in (*module.functions, *module.variables)}
        self._texts: list[str] = []

    def lifted(self) -> ModuleOp:
        """Return the MLIR module."""
        textual = self._textual_variables()
        operations: list[Operation] = []
        for item in self._module.items:
            if isinstance(item, Function) and item.body is not None:
                operations.append(self._function(item))
            elif isinstance(item, Variable) and item.name not in textual:
                operations.append(_variable(item))
            elif not isinstance(item, Directive):
                self._texts.append(f"{_declaration(item)}")
            elif item.name == ".pragma":
                self._texts.append(str(replace(item)))
            elif item.name == ".alias":
                refuse(item, "LLVM cannot print the alias of a function that it does not call", "call the function")
        version = ".".join(map(str, self._module.version))
        attributes: dict[str, Attribute] = {
            "llvm.target_triple": StringAttr("nvptx64-nvidia-cuda"),
            "ptx.version": StringAttr(version),
            "ptx.target": ArrayAttr(map(StringAttr, self._module.target)),
        }
        if self._texts:
            attributes["llvm.module_asm"] = ArrayAttr(map(StringAttr, self._texts))
        return ModuleOp(operations, attributes)

    # Variables ----------------------------------------------------------------------------------------------

    def _textual_variables(self) -> set[str]:
        """Return the variables that stay text: those that MLIR lacks, and those in their initial values."""
        variables = self._module.variables
        pending = [name for name, each in variables.items() if not _has_equivalent(each)]
        found: set[str] = set()
        while pending:
            if (name := pending.pop()) in variables and name not in found:
                found.add(name)
                pending += _names_in(variables[name].initializer)
        return found

    # Functions ----------------------------------------------------------------------------------------------

    def _function(self, function: Function) -> llvm.FuncOp:
        attributes = _function_attributes(function)
        parameters = [_parameter(each, function) for each in function.params]
        result = _result_type(function)
        names = {each.name: f"{function.name}_param_{number}" for number, each in enumerate(function.params)}
        names |= {each.name: "func_retval0" for each in function.returns}
        types = [each for each, _ in parameters]
        body = lift_body(flatten(function, {**self._names, **names}), types, result)
        return llvm.FuncOp(
            function.name,
            LLVMFunctionType(types, LLVMVoidType() if result is None else result),
            llvm.LinkageAttr(_linkage(function, function.linkage)),
            body=body,
            other_props={"arg_attrs": ArrayAttr([DictionaryAttr(each) for _, each in parameters])},
            extra_attrs=attributes,
        )


def _linkage(node: Node, words: tuple[str, ...]) -> str:
    if (found := _LINKAGES.get(".".join(words))) is None:
        refuse(node, f"LLVM has no linkage '{' '.join(words)}'")
    return found


def _declaration(item: Function | Variable) -> str:
    """Return the text of a declaration."""
    return str(replace(item))


# Signatures -------------------------------------------------------------------------------------------------


def _parameter(variable: Variable, function: Function) -> tuple[Attribute, dict[str, Attribute]]:
    """Return the type and the attributes of a parameter."""
    is_kernel = function.kind == "entry"
    if variable.space != "param" or variable.type not in TYPES:
        refuse(variable, f"LLVM has no parameter '{variable.declaration()}'", "declare a number in .param")
    element, natural = TYPES[variable.type], TYPES[variable.type].bytes
    scalar = not variable.shape and variable.vector == 1 and variable.align in (None, natural) and natural <= 8
    if scalar:
        if not is_kernel and element.bits < 32:
            refuse(variable, "LLVM passes a parameter of fewer than 32 bits to a function as 32 bits", "declare .b32")
        pointer = next((each.split() for each in variable.attributes if each.startswith(".ptr")), None)
        if pointer is None:
            return _scalar_type(variable.type), {}
        space = next((word[1:] for word in pointer[1:] if word[1:] in ADDRESS_SPACES), "")
        align = int(pointer[pointer.index(".align") + 1]) if ".align" in pointer else 0
        attributes: dict[str, Attribute] = {"llvm.align": IntegerAttr(align, 64)} if align else {}
        return pointer_to(ADDRESS_SPACES[space]), attributes
    attributes = {"llvm.byval": _array_type(variable), "llvm.align": IntegerAttr(variable.align or natural, 64)}
    if is_kernel:
        # The text of the kernel reads the parameter in its own state space, where nothing can write.
        attributes["nvvm.grid_constant"] = UnitAttr()
    return LLVMPointerType(), attributes


def _result_type(function: Function) -> Attribute | None:
    if not function.returns:
        return None
    (result, *more) = function.returns
    if more or result.space != "param" or result.type not in TYPES:
        refuse(function, "LLVM has functions with one result in a .param variable only")
    if not result.shape:
        if TYPES[result.type].bits < 32:
            refuse(result, "LLVM returns a result of fewer than 32 bits as 32 bits", "declare .b32")
        return _scalar_type(result.type)
    size, align = size_of(result) or 0, result.align or TYPES[result.type].bytes
    if size % align:
        refuse(
            result,
            f"LLVM has no result of {size} bytes with an alignment of {align}",
            "use a multiple of the alignment",
        )
    element = VectorType(i64, [2]) if align == 16 else IntegerType(8 * align)
    return LLVMStructType.from_type_list([LLVMArrayType(size // align, element)])


def _scalar_type(word: str) -> Attribute:
    return {"f32": f32, "f64": f64}.get(word) or IntegerType(TYPES[word].bits)


def _array_type(variable: Variable) -> LLVMArrayType:
    width = max(TYPES[variable.type].bytes, 1)
    return LLVMArrayType((size_of(variable) or 0) // width, IntegerType(8 * width))


def _function_attributes(function: Function) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {}
    passed: list[str] = [*_NO_PASSES]
    if function.kind == "entry":
        found["nvvm.kernel"] = UnitAttr()
    if function.attributes:
        refuse(function, f"LLVM has no function attribute '{function.attributes[0]}'")
    names = {each.name for each in function.directives}
    for each in function.directives:
        if (name := _EXTENT_DIRECTIVES.get(each.name)) is not None:
            found[name] = DenseArrayBase.from_list(i32, each.ints)
        elif (name := _INTEGER_DIRECTIVES.get(each.name)) is not None:
            found[name] = IntegerAttr(each.ints[0], 32)
        elif each.name == ".blocksareclusters":
            found["nvvm.blocksareclusters"] = UnitAttr()
        elif each.name == ".explicitcluster":
            # LLVM prints no extents that are zero.
            found.setdefault("nvvm.cluster_dim", DenseArrayBase.from_list(i32, [0, 0, 0]))
        elif each.name == ".noreturn":
            passed.append("noreturn")
        else:
            refuse(each, f"LLVM has no function attribute for the directive '{each.name}'")
    if ".reqnctapercluster" in names and not {".explicitcluster", ".blocksareclusters"} & names:
        # LLVM prints both directives. The process that compiles LLVM IR removes the second one.
        passed.append("ptx.implicit_cluster")
    return {**found, "passthrough": ArrayAttr(map(StringAttr, passed))}


# Variables --------------------------------------------------------------------------------------------------


def _has_equivalent(variable: Variable) -> bool:
    """Return True if a global of LLVM can represent a variable: a number or an array of numbers."""
    return not variable.attributes and variable.type in TYPES and not list(_names_in(variable.initializer))


def _names_in(initializer: Initializer | None) -> Iterator[str]:
    match initializer:
        case tuple():
            for each in initializer:
                yield from _names_in(each)
        case None | Integer() | Float():
            pass
        case _:
            yield str(getattr(initializer, "name", initializer))


def _variable(variable: Variable) -> llvm.GlobalOp:
    natural = TYPES[variable.type].bytes
    width = 8 * natural
    is_array = bool(variable.shape) or variable.vector > 1 or width > 64
    kind: Attribute = _array_type(variable) if is_array else _scalar_type(variable.type)
    value: Attribute | None = None
    body = Region()
    if variable.initializer is not None:
        numbers = [each % (1 << width) for each in _numbers(variable.initializer, variable.type)]
        numbers = [each - (1 << width) * (each >> width - 1) for each in numbers]
        if is_array:
            assert isinstance(kind, LLVMArrayType)
            numbers += [0] * (kind.size.data - len(numbers))
            value = DenseIntElementsAttr.from_list(TensorType(IntegerType(width), [len(numbers)]), numbers)
        else:
            kind = IntegerType(width)
            value = IntegerAttr(numbers[0], width)
    elif "extern" not in variable.linkage:
        # Without an initial value LLVM would declare the variable as external.
        made = llvm.UndefOp(kind) if variable.space == "shared" else llvm.ZeroOp.create(result_types=[kind])
        body = Region(Block([made, llvm.ReturnOp(made.results[0])]))
    return llvm.GlobalOp(
        kind,
        variable.name,
        _linkage(variable, variable.linkage),
        ADDRESS_SPACES[variable.space],
        constant=variable.space == "const",
        alignment=variable.align or natural * variable.vector,
        value=value,
        body=body,
    )


def _numbers(initializer: Initializer, type: str) -> Iterator[int]:
    """Yield the bits of the numbers of an initial value."""
    match initializer:
        case tuple():
            for each in initializer:
                yield from _numbers(each, type)
        case Integer(value):
            yield value if TYPES[type].kind != "float" else _bits(float(value), type)
        case Float():
            yield initializer.bits if initializer.width == TYPES[type].bits else _bits(initializer.value, type)
        case _:
            raise AssertionError(initializer)


def _bits(value: float, type: str) -> int:
    bits = TYPES[type].bits
    return int.from_bytes(TYPES[type].dtype.type(value).tobytes()[: bits // 8], "little")
