"""Lifting of a PTX module: functions, their signatures and attributes, and variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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

from warploom.check import check
from warploom.diagnostics import Severity
from warploom.isa.model.parameters import size_of
from warploom.isa.model.types import TYPES
from warploom.nvvm.dialect.types import ADDRESS_SPACES, pointer_to
from warploom.nvvm.errors import LowerError
from warploom.nvvm.lifting.flatten import flatten, refuse
from warploom.nvvm.lifting.function import lift_body
from warploom.ptx import Directive, Float, Function, Initializer, Integer, Module, Node, Variable, parse

_NO_PASSES = ("noinline", "optnone")
"""Function attributes that keep LLVM from moving, merging and copying blocks.

`optnone` requires `noinline`.
"""
_INTEGER_DIRECTIVES = {
    ".minnctapersm": "nvvm.minctasm",
    ".maxnreg": "nvvm.maxnreg",
    ".maxclusterrank": "nvvm.cluster_max_blocks",
}
_EXTENT_DIRECTIVES = {".maxntid": "nvvm.maxntid", ".reqntid": "nvvm.reqntid", ".reqnctapercluster": "nvvm.cluster_dim"}
_LOCAL_ALIGNMENT = 16
"""Least alignment in bytes that LLVM gives to array parameters of functions without `.visible`."""
_POINTER_ALIGNMENT = 4
"""Alignment in bytes of the object that a parameter with `.ptr` and without `.align` points to."""
_LINKAGES = {"visible": "external", "extern": "external", "weak": "weak", "common": "common", "": "internal"}
"""LLVM linkage of each PTX linkage."""


def lift(text: str | Module) -> ModuleOp:
    """Return an MLIR module with the functions and variables of a PTX module.

    Errors: PtxSyntaxError; LowerError lower.lift for PTX that LLVM cannot represent, and the rule codes of `check` for
        illegal PTX
    """
    module = parse(text) if isinstance(text, str) else text
    if found := [each for each in check(module) if each.severity is Severity.ERROR]:
        raise LowerError(found)
    textual = _textual_names(module)
    names = {name: name for name in (*module.functions, *module.variables)}
    operations: list[Operation] = []
    texts: list[str] = []
    for item in module.items:
        match item:
            case Function() if item.body is not None and item.name not in textual:
                operations.append(_function(item, names))
            case Variable() if item.name not in textual:
                operations.append(_variable(item))
            case Function() | Variable():
                texts += _text_of(item, module, textual)
            case Directive(".pragma" | ".alias"):
                texts.append(str(replace(item)))
            case _:
                pass
    attributes: dict[str, Attribute] = {
        "llvm.target_triple": StringAttr("nvptx64-nvidia-cuda"),
        "ptx.version": StringAttr(".".join(map(str, module.version))),
        "ptx.target": ArrayAttr(map(StringAttr, module.target)),
    }
    if texts:
        attributes["llvm.module_asm"] = ArrayAttr(map(StringAttr, texts))
    return ModuleOp(operations, attributes)


# Text -------------------------------------------------------------------------------------------------------


def _textual_names(module: Module) -> set[str]:
    """Return the names of the variables and functions that become text in `llvm.module_asm`.

    These are the ones that LLVM cannot represent, functions with an alias, and the variables to which they refer.
    """
    variables, functions = module.variables, module.functions
    pending = [name for name, each in variables.items() if not _has_equivalent(each)]
    pending += [name for name, each in functions.items() if each.body is not None and not _is_representable(each)]
    for item in module.items:
        if isinstance(item, Directive) and item.name == ".alias":
            pending += [name for name in _names_in(str(item)) if name in functions]
    found: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            item = variables.get(name) or functions[name]
            pending += [each for each in _names_in(str(item)) if each in variables]
    return found


def _text_of(item: Function | Variable, module: Module, textual: set[str]) -> list[str]:
    """Return declarations of the lifted functions to which an item refers, and then its PTX."""
    text = re.sub(r"(?m)^\s*\.loc\b.*\n", "", str(replace(item)))
    named = [module.functions.get(each) for each in sorted(_names_in(text) - {item.name, *textual})]
    return [*(str(replace(each, body=None)) for each in named if each is not None), text]


def _names_in(text: str) -> set[str]:
    return set(re.findall(r"[\w$%]+", text))


# Functions --------------------------------------------------------------------------------------------------


def _function(function: Function, module_names: Mapping[str, str]) -> llvm.FuncOp:
    parameters = [_parameter(each, function) for each in function.params]
    result = _result_type(function)
    names = {each.name: f"{function.name}_param_{number}" for number, each in enumerate(function.params)}
    names |= {each.name: "func_retval0" for each in function.returns}
    for name in module_names.keys() & names.values() & _names_in(str(function)):
        refuse(function, f"cannot lift the use of '{name}': LLVM gives this name to a parameter", "rename the variable")
    types = [each for each, _ in parameters]
    return llvm.FuncOp(
        function.name,
        LLVMFunctionType(types, LLVMVoidType() if result is None else result),
        llvm.LinkageAttr(_linkage(function, function.linkage)),
        body=lift_body(flatten(function, {**module_names, **names}), types, result),
        other_props={"arg_attrs": ArrayAttr([DictionaryAttr(each) for _, each in parameters])},
        extra_attrs=_function_attributes(function),
    )


def _linkage(node: Node, words: tuple[str, ...]) -> str:
    if (found := _LINKAGES.get(".".join(words))) is None:
        linkage = " ".join(f".{word}" for word in words)
        refuse(node, f"cannot lift the linkage {linkage}", "write one of .visible, .extern, .weak and .common")
    return found


# Signatures -------------------------------------------------------------------------------------------------


def _is_representable(function: Function) -> bool:
    """Return False for a name with `%`, and for a device function that LLVM cannot print.

    LLVM has no parameters in registers, no second result and few directives. It passes fewer than 32 bits as 32 bits,
    and aligns the arrays of a function without `.visible` to 16 bytes.
    """
    if function.kind == "entry" or "%" in function.name:
        return "%" not in function.name
    if function.attributes or any(each.name != ".noreturn" for each in function.directives):
        return False
    least = 1 if function.linkage else _LOCAL_ALIGNMENT
    return len(function.returns) <= 1 and all(
        each.space == "param"
        and each.type in TYPES
        and (_alignment(each) >= least if each.shape else TYPES[each.type].bits in (32, 64))
        and not (each in function.returns and (size_of(each) or 0) % _alignment(each))
        for each in (*function.params, *function.returns)
    )


def _alignment(variable: Variable) -> int:
    return variable.align or TYPES[variable.type].bytes * variable.vector


def _is_scalar(variable: Variable) -> bool:
    size = TYPES[variable.type].bytes
    return not variable.shape and _alignment(variable) == size <= 8


def _parameter(variable: Variable, function: Function) -> tuple[Attribute, dict[str, Attribute]]:
    """Return the type and the attributes of a parameter."""
    if variable.type not in TYPES:
        hint = "pass the object or its address as .u64"
        refuse(variable, f"cannot lift a parameter of the type .{variable.type}", hint)
    if _is_scalar(variable):
        pointer = next((each.split() for each in variable.attributes if each.startswith(".ptr")), None)
        if pointer is None:
            return _scalar_type(variable.type), {}
        if TYPES[variable.type].bits != 64:
            hint = f"write .u64, or omit '{' '.join(pointer)}'"
            refuse(variable, "cannot lift a pointer of 32 bits: LLVM has pointers of 64 bits only", hint)
        space = next((word[1:] for word in pointer[1:] if word[1:] in ADDRESS_SPACES), "")
        align = int(pointer[pointer.index(".align") + 1]) if ".align" in pointer else _POINTER_ALIGNMENT
        return pointer_to(ADDRESS_SPACES[space]), {"llvm.align": IntegerAttr(align, 64)}
    attributes: dict[str, Attribute] = {
        "llvm.byval": _array_type(variable),
        "llvm.align": IntegerAttr(_alignment(variable), 64),
    }
    if function.kind == "entry":
        if not function.linkage and _alignment(variable) < _LOCAL_ALIGNMENT:
            hint = f"declare '{function.name}' .visible, or align the array to 16 bytes"
            refuse(variable, "LLVM aligns the array parameters of a kernel without .visible to 16 bytes", hint)
        # The text of the kernel reads the parameter in its own state space, where nothing can write.
        attributes["nvvm.grid_constant"] = UnitAttr()
    return LLVMPointerType(), attributes


def _result_type(function: Function) -> Attribute | None:
    if not function.returns:
        return None
    (result,) = function.returns
    if not result.shape:
        return _scalar_type(result.type)
    align = _alignment(result)
    element = VectorType(i64, [2]) if align == 16 else IntegerType(8 * align)
    return LLVMStructType.from_type_list([LLVMArrayType((size_of(result) or 0) // align, element)])


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
        refuse(function, f"cannot lift the function attribute {function.attributes[0]}", "omit it")
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
            refuse(each, f"cannot lift the directive {each.name} of a kernel", "write it in the body")
    if ".reqnctapercluster" in names and not {".explicitcluster", ".blocksareclusters"} & names:
        # LLVM prints both directives. The process that compiles LLVM IR removes the second one.
        passed.append("ptx.implicit_cluster")
    return {**found, "passthrough": ArrayAttr(map(StringAttr, passed))}


# Variables --------------------------------------------------------------------------------------------------


def _has_equivalent(variable: Variable) -> bool:
    """Return True if an LLVM global can represent a variable.

    It is a number or array, with numbers as initial values, without attributes, and without `%` in its name.
    """
    if "%" in variable.name or variable.attributes or variable.type not in TYPES:
        return False
    initializer = variable.initializer
    if initializer is None:
        return True
    leaves = list(_leaves(initializer))
    is_complete = size_of(variable) == len(leaves) * TYPES[variable.type].bytes
    # The number of values may state the extent of an array. Zeros follow the values in each pair of braces.
    is_list = variable.shape != (None,) and not any(isinstance(each, tuple) for each in _items(initializer))
    return all(isinstance(each, Integer | Float) for each in leaves) and (is_complete or is_list)


def _items(initializer: Initializer) -> tuple[Initializer, ...]:
    return initializer if isinstance(initializer, tuple) else (initializer,)


def _leaves(initializer: Initializer) -> Iterator[Initializer]:
    for each in _items(initializer):
        if isinstance(each, tuple):
            yield from _leaves(each)
        else:
            yield each


def _variable(variable: Variable) -> llvm.GlobalOp:
    width = 8 * TYPES[variable.type].bytes
    is_array = bool(variable.shape) or variable.vector > 1 or width > 64
    kind: Attribute = _array_type(variable) if is_array else _scalar_type(variable.type)
    value: Attribute | None = None
    body = Region()
    if variable.initializer is not None:
        numbers = [_bits(each, variable.type) % (1 << width) for each in _leaves(variable.initializer)]
        numbers = [each - (1 << width) * (each >> width - 1) for each in numbers]
        if isinstance(kind, LLVMArrayType):
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
        alignment=_alignment(variable),
        value=value,
        body=body,
    )


def _bits(number: Initializer, type: str) -> int:
    """Return a number of an initial value as an integer with the same bits."""
    if isinstance(number, Integer) and TYPES[type].kind != "float":
        return number.value
    if isinstance(number, Float) and number.width == TYPES[type].bits:
        return number.bits
    assert isinstance(number, Integer | Float)
    data = TYPES[type].dtype.type(number.value).tobytes()
    return int.from_bytes(data[: TYPES[type].bytes], "little")
