"""Translation of an MLIR module of the llvm dialect to the text of LLVM IR."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import count

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, SymbolRefAttr, UnrealizedConversionCastOp
from xdsl.dialects.llvm import LLVMFunctionType, LLVMVoidType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from warploom.diagnostics import Diagnostic
from warploom.nvvm.dialect.types import pointer_to
from warploom.nvvm.errors import LowerError
from warploom.nvvm.mlir.attributes import (
    KERNEL,
    UsedAttributes,
    Words,
    convention_text,
    dictionaries_of,
    function_metadata,
    function_problems,
    function_words,
    parameter_problems,
    parameter_text,
    passed_words,
)
from warploom.nvvm.mlir.llvm_formats import COMDATS
from warploom.nvvm.mlir.llvm_operations import has_instruction, instruction_text, typed
from warploom.nvvm.mlir.llvm_values import (
    bracketed,
    constant_text,
    escaped,
    items_of,
    numbers_of,
    parts_of,
    symbol_text,
    type_text,
)
from warploom.nvvm.mlir.metadata import Metadata, number_of, parameters_of, texts_of, words_of
from warploom.nvvm.mlir_text import MALFORMED, ParsedModule

TRIPLE = "nvptx64-nvidia-cuda"
_TOPLEVEL = {
    "llvm.mlir.global": "{name} = {linkage} {local} {visibility} {thread_local} {unnamed} {space} {external}"
    " {constant} {type} {value}{section}{comdat}{align} {own}",
    "llvm.mlir.alias": "{name} = {linkage} {local} {visibility} {thread_local} {unnamed} alias {alias_type},"
    " ptr {value}",
    "llvm.mlir.global_ctors": "{startup}",
    "llvm.mlir.global_dtors": "{startup}",
    **dict.fromkeys(
        ("llvm.func", "func.func", "gpu.func"),
        "{define} {linkage} {local} {visibility} {convention} {result} {name}({parameters}) {unnamed} {words}{section}"
        "{comdat}{align}{collector}{metadata} {open}",
    ),
    "llvm.module_flags": "{flags}",
    "llvm.linker_options": "{options}",
    "llvm.comdat_selector": "${symbol} = comdat {kind}",
}
"""Template of each operation of a module, as in `INSTRUCTIONS`. The words are methods of `_Toplevel`."""
_CONTAINERS = ("gpu.module", "builtin.module", "llvm.comdat")
_CONSTANTS = {"llvm.mlir.undef": "undef", "llvm.mlir.poison": "poison", "llvm.mlir.zero": "zeroinitializer"}
_ENDS = ("llvm.return", "func.return", "gpu.return", "llvm.unreachable")
_VISIBILITY = ("", "hidden", "protected")
_UNNAMED = ("", "local_unnamed_addr", "unnamed_addr")
_BEHAVIOURS = ("", "error", "warning", "require", "override", "append", "append_unique", "max", "min")
_GPU_NAMES = {
    "kernel": KERNEL,
    "gpu.kernel": KERNEL,
    "known_block_size": "nvvm.maxntid",
    "known_cluster_size": "nvvm.cluster_dim",
}
"""Attributes of `llvm.func` by those of `gpu.func`."""
_HALF = re.compile(r"0x[HR]([0-9A-F]{4})")
_LONGEST_NAME = 1000
"""Limit of the names of values. LLVM cuts names after 1024 characters."""
_MODULE_NAMES = ("llvm.ident", "llvm.commandline", "llvm.dependent_libraries")


class LlvmText:
    """LLVM IR of a module as lines, with the operation that each line came from.

    The constructor translates the module. It raises no error, but collects the errors in `errors`.
    """

    def __init__(self, parsed: ParsedModule) -> None:
        self._parsed = parsed
        self.symbols: dict[str, Attribute | None] = {}  # the type of each function, and None for a variable
        self.spaces: dict[str, int] = {}
        self.metadata = Metadata()
        self.lines: list[str] = []
        self.origins: dict[int, Operation] = {}
        self.errors: list[Diagnostic] = []
        operations = list(_toplevel(parsed.module))
        for operation in operations:
            found = {**operation.attributes, **operation.properties}
            if isinstance(name := found.get("sym_name"), StringAttr):
                self.symbols[name.data] = found.get("function_type")
                self.spaces[name.data] = number_of(found.get("addr_space"))
        with self.reported(parsed.module):
            self._module(parsed.module)
        for operation in operations:
            with self.reported(operation):
                self._operation(operation)
        for line in self.metadata.lines():
            self.emit(line)

    @property
    def text(self) -> str:
        """LLVM IR of the module."""
        return "\n".join(self.lines) + "\n"

    def operation_at(self, line: int) -> Operation | None:
        """Return the operation of a line. The first line has the number 1."""
        operation = self.origins.get(line)
        return operation and self._parsed.sources.get(operation, operation)

    def report(self, operation: Operation, message: str, code: str = "lower.operation") -> None:
        """Append an error at an operation."""
        self.errors.append(self._parsed.diagnostic(operation, f"'{operation.name}' {message}", code))

    @contextmanager
    def reported(self, operation: Operation) -> Generator[None]:
        """Report an exception of a block of code as an error at an operation."""
        try:
            yield
        except VerifyException as error:
            self.report(operation, str(error))
        except MALFORMED:
            self.report(operation, "is malformed: the operands and attributes are not those that MLIR requires")

    def symbol(self, symbol: SymbolRefAttr) -> str:
        """Return the name of a function or variable. Errors: VerifyException for an unknown name."""
        name = symbol.root_reference.data
        if name not in self.symbols:
            raise VerifyException(f"refers to @{name}, which is not declared")
        return symbol_text(name)

    def emit(self, text: str, operation: Operation | None = None) -> None:
        """Append a line."""
        self.lines.append(text)
        if operation is not None:
            self.origins[len(self.lines)] = operation

    def _module(self, module: ModuleOp) -> None:
        found = UsedAttributes(module)
        for name, word, default in (("llvm.data_layout", "datalayout", ""), ("llvm.target_triple", "triple", TRIPLE)):
            for text in texts_of(found.get(name)) or [default] * bool(default):
                self.emit(f'target {word} = "{text}"')
        for text in texts_of(found.get("llvm.module_asm")):
            self.emit(f'module asm "{text}"')
        for name in _MODULE_NAMES:
            for text in texts_of(found.get(name)):
                self.metadata.name(name.replace("_", "-"), f'!"{text}"')
        found.refuse_unused()

    def _operation(self, operation: Operation) -> None:
        if (template := _TOPLEVEL.get(operation.name)) is None:
            if operation.name not in _CONTAINERS:
                raise VerifyException("cannot be lowered to LLVM: expected functions and variables here")
            found = UsedAttributes(operation)
            found.get("sym_name")
            found.refuse_unused()
            return
        names = _FunctionText(self)
        words = _Toplevel(operation, self, names)
        words.report_problems()
        if text := words.text(template):
            self.emit(text, operation)
        if words.open():
            names.write(operation.regions[0].blocks)
            self.emit("}")


class _Toplevel(Words):
    """Words of a function, a variable or another operation of a module."""

    def __init__(self, operation: Operation, module: LlvmText, names: _FunctionText) -> None:
        super().__init__(operation)
        self.module = module
        self.names = names
        blocks = operation.regions[0].blocks if operation.regions else ()
        self.block = blocks[0] if blocks else None
        self.is_function = operation.name.endswith("func")
        if self.is_function:
            self.inputs, self.output, self.is_variadic = _signature(self.found["function_type"])
            self.parameter_attributes = dictionaries_of(self.found.get("arg_attrs"), len(self.inputs))
            if operation.name == "gpu.func":
                for name, kernel_name in _GPU_NAMES.items():
                    if name in self.found:
                        self.found[kernel_name] = self.found[name]
                self.found.get("workgroup_attributions")  # they are arguments of the body
            self.is_kernel = KERNEL in self.found

    def report_problems(self) -> None:
        """Report the violated rules of a function."""
        if not self.is_function:
            return
        problems = [
            *function_problems(self.found),
            *(
                message
                for number, (kind, each) in enumerate(zip(self.inputs, self.parameter_attributes, strict=True))
                for message in parameter_problems(number, kind, each, is_kernel=self.is_kernel)
            ),
        ]
        if self.is_kernel and not isinstance(self.output, LLVMVoidType):
            problems.append("is a kernel and returns a value; expected none")
        for message in problems:
            self.module.report(self.operation, message, "lower.function")

    # Symbols --------------------------------------------------------------------------------------------------

    def symbol(self) -> str:
        return self.string("sym_name")

    def name(self) -> str:
        return symbol_text(self.symbol())

    def linkage(self) -> str:
        linkage = words_of(self.found.get("linkage")) or "external"
        is_declared = self.operation.name == "llvm.mlir.global" and not self.value()
        return linkage if is_declared or linkage != "external" else ""

    def local(self) -> str:
        return self.unit("dso_local")

    def visibility(self) -> str:
        return _VISIBILITY[number_of(self.found.get("visibility_"))]

    def thread_local(self) -> str:
        return self.unit("thread_local_", "thread_local")

    def unnamed(self) -> str:
        return _UNNAMED[number_of(self.found.get("unnamed_addr"))]

    def section(self) -> str:
        return self.quoted("section", f"{self.comma()} section")

    def comdat(self) -> str:
        name = str(self.found.get("comdat", "")).rpartition("@")[2].strip('"')
        return name and f"{self.comma()} comdat(${name})"

    def align(self) -> str:
        return self.number("alignment", f"{self.comma()} align {{}}")

    def comma(self) -> str:
        return "" if self.is_function else ","

    # Variables ------------------------------------------------------------------------------------------------

    def space(self) -> str:
        return f"addrspace({number})" if (number := number_of(self.found.get("addr_space"))) else ""

    def external(self) -> str:
        return self.unit("externally_initialized")

    def constant(self) -> str:
        return self.unit("constant") or "global"

    def type(self) -> str:
        text = type_text(self.found["global_type"])
        return "i16" if text in ("half", "bfloat") and _HALF.fullmatch(self._value()) else text

    def alias_type(self) -> str:
        return type_text(self.found["alias_type"])

    def value(self) -> str:
        """Return the initial value of a variable, or the aliasee."""
        # LLVM cannot print a scalar initial value of type half or bfloat.
        half = _HALF.fullmatch(text := self._value())
        return str(int(half[1], 16)) if half else text

    def _value(self) -> str:
        if self.block is not None:
            return self.names.initial_value(self.block)
        if "value" in self.found:
            return constant_text(self.found["value"], self.found["global_type"])
        return "" if words_of(self.found.get("linkage")) in {"", "external", "extern_weak"} else "undef"

    def own(self) -> str:
        return " ".join(passed_words(self.found.get("target_specific_attrs")))

    # Functions ------------------------------------------------------------------------------------------------

    def define(self) -> str:
        return "declare" + self.metadata() if self.block is None else "define"

    def metadata(self) -> str:
        return function_metadata(self.found, self.module.metadata)

    def convention(self) -> str:
        stated = convention_text(self.found)
        return "ptx_kernel" if self.is_kernel else stated

    def result(self) -> str:
        (attributes,) = dictionaries_of(self.found.get("res_attrs"), 1)
        return f"{parameter_text(attributes, 'the result')} {type_text(self.output)}".lstrip()

    def parameters(self) -> str:
        texts = [
            f"{type_text(kind)}{parameter_text(each, f'parameter {number}')}"
            for number, (kind, each) in enumerate(zip(self.inputs, self.parameter_attributes, strict=True))
        ]
        if self.block is not None:
            if len(self.block.args) != len(texts):
                raise VerifyException(f"has {len(self.block.args)} arguments in its body; expected {len(texts)}")
            texts = [f"{text} {self.names.value(arg)}" for text, arg in zip(texts, self.block.args, strict=True)]
        return ", ".join(texts + ["..."] * self.is_variadic)

    def words(self) -> str:
        return " ".join(function_words(self.found))

    def collector(self) -> str:
        return self.quoted("garbageCollector", " gc")

    def quoted(self, name: str, word: str) -> str:
        return f'{word} "{escaped(self.string(name))}"' if name in self.found else ""

    def open(self) -> str:
        return "{" * (self.is_function and self.block is not None)

    # Other operations -----------------------------------------------------------------------------------------

    def kind(self) -> str:
        return COMDATS[number_of(self.found["comdat"])]

    def startup(self) -> str:
        """Return the list of functions that run before or after a program."""
        word = self.operation.name.rpartition("_")[2]
        items: list[str] = []
        for function, priority, datum in zip(
            *(items_of(self.found[name]) for name in (word, "priorities", "data")), strict=True
        ):
            assert isinstance(function, SymbolRefAttr)
            value = self.module.symbol(datum) if isinstance(datum, SymbolRefAttr) else "null"
            name = self.module.symbol(function)
            items.append(f"{{ i32, ptr, ptr }} {{ i32 {number_of(priority)}, ptr {name}, ptr {value} }}")
        return f"@llvm.global_{word} = appending global [{len(items)} x {{ i32, ptr, ptr }}] [{', '.join(items)}]"

    def flags(self) -> str:
        for flag in items_of(self.found["flags"]):
            behaviour, name, value = parameters_of(flag)
            if not isinstance(value, str):
                raise VerifyException(f"cannot lower the flag {name} to LLVM: expected an integer or a string")
            number, _, kind = value.partition(" : ")
            operand = f"!{value}" if value.startswith('"') else f"{kind or 'i32'} {number}"
            number = _BEHAVIOURS.index(behaviour)
            self.module.metadata.name("llvm.module.flags", f"i32 {number}", f"!{name}", operand)
        return ""

    def options(self) -> str:
        self.module.metadata.name("llvm.linker.options", *(f'!"{text}"' for text in texts_of(self.found["options"])))
        return ""


def _toplevel(module: Operation) -> Iterator[Operation]:
    """Yield the operations of a module and of the modules in it."""
    for operation in (each for block in module.regions[0].blocks for each in block.ops):
        if operation.name != "gpu.module_end":
            yield operation
        if operation.name in _CONTAINERS:
            yield from _toplevel(operation)


def _signature(kind: Attribute) -> tuple[Sequence[Attribute], Attribute, bool]:
    match kind:
        case LLVMFunctionType():
            return kind.inputs.data, kind.output, kind.is_variadic
        case FunctionType() if len(kind.outputs) <= 1:
            return kind.inputs.data, kind.outputs.data[0] if kind.outputs.data else LLVMVoidType(), False
        case _:
            raise VerifyException(f"cannot lower a function of type {kind} to LLVM: expected at most one result")


class _FunctionText:
    """Writer of the blocks of one function, with the names of its values and blocks."""

    def __init__(self, module: LlvmText) -> None:
        self._module = module
        self._values: dict[SSAValue, str] = {}
        self._blocks: dict[Block, str] = {}
        self._used: set[str] = set()
        self._numbers = count()
        self._copies: dict[tuple[Operation, int], str] = {}  # blocks between a terminator and a repeated successor
        self.metadata = module.metadata

    def value(self, value: SSAValue) -> str:
        """Return a value without its type."""
        if value not in self._values:
            hint = value.name_hint
            is_free = hint is not None and len(hint) < _LONGEST_NAME and hint not in self._used
            name = hint if hint and is_free and hint.isidentifier() else f"v.{next(self._numbers)}"
            self._used.add(name)
            self._values[value] = f"%{name}"
        return self._values[value]

    def successor(self, operation: Operation, number: int) -> str:
        """Return the name of the successor with an index, such as `%b.1`.

        If the operation has the successor twice, the name is that of the inserted block.
        """
        block = self._blocks[operation.successors[number]]
        return f"%{self._copies.get((operation, number), block)}"

    def constant(self, operation: Operation) -> bool:
        """Record the text of a constant as the name of its result, because LLVM IR writes constants in place.

        Return False for an operation that is no constant.
        """
        found = UsedAttributes(operation)
        match operation.name:
            case "llvm.mlir.constant" | "arith.constant":
                text = constant_text(found["value"], operation.results[0].type)
            case "llvm.mlir.addressof":
                symbol, kind = found["global_name"], operation.results[0].type
                assert isinstance(symbol, SymbolRefAttr)
                text = self._module.symbol(symbol)
                expected = pointer_to(self._module.spaces[symbol.root_reference.data])
                if type_text(kind) != type_text(expected):
                    raise VerifyException(f"has the type {kind}; the address of {text} is a {expected}")
            case name if name in _CONSTANTS:
                text = _CONSTANTS[name]
            case _:
                return self._cast(operation)
        found.refuse_unused()
        self._values[operation.results[0]] = text
        return True

    def _cast(self, operation: Operation) -> bool:
        """Give the results of an `unrealized_conversion_cast` the names of its operands.

        Return False if the LLVM types differ, or for another operation.
        """
        if not isinstance(operation, UnrealizedConversionCastOp) or len(operation.operands) != len(operation.results):
            return False
        if [type_text(v.type) for v in operation.operands] != [type_text(v.type) for v in operation.results]:
            return False
        for operand, result in zip(operation.operands, operation.results, strict=True):
            self._values[result] = self.value(operand)
        return True

    def initial_value(self, block: Block) -> str:
        """Return the constant that a block returns, which initialises a variable."""
        parts: dict[SSAValue, list[str]] = {}
        for each in block.ops:
            if each.name == "llvm.return":
                if each.operands:
                    return self.value(each.operands[0])
                break
            if each.name == "llvm.insertvalue":
                container, value = each.operands
                kind = each.results[0].type
                types = parts_of(kind, 0)
                items = list(parts.get(container, [f"{type_text(part)} undef" for part in types]))
                (position,) = numbers_of(each.properties["position"])
                items[position] = typed(value, self)
                parts[each.results[0]] = items
                self._values[each.results[0]] = bracketed(items, kind)
            elif not self.constant(each):
                if not has_instruction(each) or len(each.results) != 1:
                    raise VerifyException(f"expected only constants in the initial value, got '{each.name}'")
                # The constant expression of an instruction has its operands in parentheses.
                word, _, operands = instruction_text(each, self).partition(" ")
                self._values[each.results[0]] = f"{word} ({operands})"
        raise VerifyException("expected an 'llvm.return' with the initial value")

    def write(self, blocks: Sequence[Block]) -> None:
        """Write the blocks of the function."""
        self._blocks = {block: f"b.{number}" for number, block in enumerate(blocks)}
        # Constants may be used before their operation in the text of a loop.
        constants = {op for block in blocks for op in block.ops if self._is_constant(op)}
        incoming = self._incoming(blocks)
        for block in blocks:
            self._module.emit(f"{self._blocks[block]}:")
            if block is not blocks[0]:
                for number, argument in enumerate(block.args):
                    pairs = ", ".join(f"[ {self.value(args[number])}, {source} ]" for args, source in incoming[block])
                    if pairs:
                        text = f"  {self.value(argument)} = phi {type_text(argument.type)} {pairs}"
                        self._module.emit(text, block.parent_op())
            for operation in block.ops:
                if operation not in constants:
                    self._operation(operation)
        for (last, number), copy in self._copies.items():
            self._module.emit(f"{copy}:")
            self._module.emit(f"  br label %{self._blocks[last.successors[number]]}")

    def _is_constant(self, operation: Operation) -> bool:
        with self._module.reported(operation):
            return self.constant(operation)
        return True

    def _operation(self, operation: Operation) -> None:
        if not has_instruction(operation):
            self._module.report(operation, "cannot be lowered to LLVM", "lower.unknown")
            return
        with self._module.reported(operation):
            if operation.name in ("llvm.call", "func.call"):
                self._check_call(operation)
            text = instruction_text(operation, self)
            name = f"{self.value(operation.results[0])} = " if operation.results else ""
            self._module.emit(f"  {name}{text}", operation)

    def _check_call(self, operation: Operation) -> None:
        """Raise VerifyException if a direct call does not fit the type of the function."""
        callee = operation.properties.get("callee")
        if not isinstance(callee, SymbolRefAttr):
            return
        name = self._module.symbol(callee)
        kind = self._module.symbols[callee.root_reference.data]
        if kind is None:
            raise VerifyException(f"calls {name}, which is a variable")
        inputs, output, is_variadic = _signature(kind)
        bundled = sum(numbers_of(operation.properties.get("op_bundle_sizes")))
        given = [value.type for value in operation.operands][: len(operation.operands) - bundled]
        results = [value.type for value in operation.results] or [LLVMVoidType()]
        fixed = given[: len(inputs)] if is_variadic else given
        if fixed != list(inputs) or results != [output]:
            texts = [", ".join(map(str, types)) for types in (given, results, inputs)]
            raise VerifyException(f"calls {name} as ({texts[0]}) -> {texts[1]}; expected ({texts[2]}) -> {output}")

    def _incoming(self, blocks: Sequence[Block]) -> dict[Block, list[tuple[Sequence[SSAValue], str]]]:
        """Return for each block the passed values and the predecessor of each entry of its phi instructions.

        Report errors of terminators. Add a block to `_copies` between a terminator and a repeated successor.
        """
        found: dict[Block, list[tuple[Sequence[SSAValue], str]]] = {block: [] for block in blocks}
        for position, block in enumerate(blocks, 1):
            last = block.last_op
            if last is None or not has_instruction(last) or not (last.successors or last.name in _ENDS):
                message = f"needs a terminator at the end of its block {position}, such as llvm.return"
                owner = block.parent_op()
                assert owner is not None
                self._module.report(owner, message)
                continue
            for number, arguments in enumerate(successor_arguments(last)):
                successor, source = last.successors[number], f"%{self._blocks[block]}"
                given, expected = [value.type for value in arguments], [value.type for value in successor.args]
                if given != expected:
                    texts = (", ".join(map(str, types)) for types in (given, expected))
                    message = "passes values of types ({}) to a block with arguments of types ({})".format(*texts)
                    self._module.report(last, message)
                    continue
                if arguments and successor in last.successors[:number]:
                    # A phi has one value for each predecessor, so that a repeated successor needs a block of its own.
                    self._copies[last, number] = f"{self._blocks[block]}.{number}"
                    source = self.successor(last, number)
                found[successor].append((arguments, source))
        return found


def successor_arguments(operation: Operation) -> list[Sequence[SSAValue]]:
    """Return the values that a terminator passes to each of its successors."""
    operands = list(operation.operands)
    if len(operation.successors) == 1:
        return [operands]
    found = {**operation.attributes, **operation.properties}
    counts = numbers_of(found.get("operandSegmentSizes"))[1:]
    if "case_operand_segments" in found:
        counts = [counts[0], *numbers_of(found["case_operand_segments"])]
    rest = operands[1:]
    arguments: list[Sequence[SSAValue]] = []
    for number in counts:
        arguments.append(rest[:number])
        rest = rest[number:]
    return arguments


def to_llvm_ir(parsed: ParsedModule) -> LlvmText:
    """Return the LLVM IR of a module, whose nvvm, gpu and scf operations must have been lowered before.

    Errors: LowerError lower.operation, lower.unknown, lower.function
    """
    found = LlvmText(parsed)
    if found.errors:
        raise LowerError(found.errors)
    return found
