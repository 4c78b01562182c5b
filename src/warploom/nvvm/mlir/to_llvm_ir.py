"""Translation of an MLIR module of the llvm dialect to the text of LLVM IR."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count

from xdsl.dialects.builtin import (
    FunctionType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    UnrealizedConversionCastOp,
)
from xdsl.dialects.llvm import LLVMFunctionType, LLVMVoidType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from warploom.diagnostics import Diagnostic
from warploom.nvvm.errors import LowerError
from warploom.nvvm.mlir.attributes import (
    KERNEL,
    function_metadata,
    function_problems,
    function_words,
    parameter_problems,
    parameter_text,
    passed_words,
)
from warploom.nvvm.mlir.llvm_operations import (
    Attributes,
    attributes_of,
    convention_text,
    dictionaries_of,
    number_of,
    unsupported,
    words_of,
    writer_of,
)
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
from warploom.nvvm.mlir_text import ParsedModule

TRIPLE = "nvptx64-nvidia-cuda"
_FUNCTIONS = ("llvm.func", "func.func", "gpu.func")
_CONSTANTS = {"llvm.mlir.undef": "undef", "llvm.mlir.poison": "poison", "llvm.mlir.zero": "zeroinitializer"}
_ENDS = ("llvm.return", "func.return", "gpu.return", "llvm.unreachable")
_VISIBILITY = ("", "hidden", "protected")
_UNNAMED = ("", "local_unnamed_addr", "unnamed_addr")
_COMDATS = ("any", "exactmatch", "largest", "nodeduplicate", "samesize")
_BEHAVIOURS = {
    "error": 1,
    "warning": 2,
    "require": 3,
    "override": 4,
    "append": 5,
    "append_unique": 6,
    "max": 7,
    "min": 8,
}


class LlvmText:
    """Text of a module of LLVM IR, and the operation of each line."""

    def __init__(self, parsed: ParsedModule) -> None:
        self._parsed = parsed
        self._symbols = {  # the type of each function, and None for a variable
            name.data: attributes_of(each).get("function_type")
            for each in _toplevel(parsed.module)
            if isinstance(name := attributes_of(each).get("sym_name"), StringAttr)
        }
        self._nodes: dict[str, int] = {}
        self._named: dict[str, list[str]] = {}
        self.lines: list[str] = []
        self.origins: dict[int, Operation] = {}
        self.errors: list[Diagnostic] = []
        self._module(parsed.module)
        self._parsed_operations()

    @property
    def text(self) -> str:
        """LLVM IR of the module."""
        return "\n".join(self.lines) + "\n"

    def operation_at(self, line: int) -> Operation | None:
        """Return the operation of a line. The first line has the number 1."""
        operation = self.origins.get(line)
        return operation and self._parsed.sources.get(operation, operation)

    def symbol(self, symbol: SymbolRefAttr) -> str:
        """Return the name of a function or variable. Errors: VerifyException for an unknown name."""
        if (name := symbol.root_reference.data) not in self._symbols:
            raise VerifyException(f"needs a function or variable @{name}, which the module lacks")
        return symbol_text(name)

    def check_call(self, operation: Operation) -> None:
        """Raise VerifyException if a direct call does not fit the type of the function."""
        callee = attributes_of(operation).get("callee")
        if not isinstance(callee, SymbolRefAttr):
            return
        self.symbol(callee)
        kind = self._symbols[callee.root_reference.data]
        if kind is None:
            raise VerifyException(f"calls @{callee.root_reference.data}, which is a variable")
        inputs, output, is_variadic = _signature(kind)
        bundled = sum(numbers_of(attributes_of(operation).get("op_bundle_sizes")))
        given = [value.type for value in operation.operands][: len(operation.operands) - bundled]
        results = [value.type for value in operation.results] or [LLVMVoidType()]
        fits = given == list(inputs) or (is_variadic and given[: len(inputs)] == list(inputs))
        if not fits or results != [output]:
            texts = [", ".join(map(str, types)) for types in (given, results)]
            expected = f"({', '.join(map(str, inputs))}) -> {output}"
            raise VerifyException(
                f"calls @{callee.root_reference.data} as ({texts[0]}) -> {texts[1]}; expected {expected}"
            )

    def metadata(self, text: str) -> str:
        """Return the number of a metadata node, such as `!3`."""
        return f"!{self._nodes.setdefault(text, len(self._nodes))}"

    def emit(self, text: str, operation: Operation | None = None) -> None:
        """Append a line."""
        self.lines.append(text)
        if operation is not None:
            self.origins[len(self.lines)] = operation

    def _module(self, module: ModuleOp) -> None:
        found = module.attributes
        for name, word, default in (("llvm.data_layout", "datalayout", ""), ("llvm.target_triple", "triple", TRIPLE)):
            value = found.get(name)
            if text := value.data if isinstance(value, StringAttr) else default:
                self.emit(f'target {word} = "{escaped(text)}"')
        for item in items_of(found.get("llvm.module_asm")):
            if isinstance(item, StringAttr):
                self.emit(f'module asm "{escaped(item.data)}"')
        for name in ("llvm.ident", "llvm.commandline", "llvm.dependent_libraries"):
            value = found.get(name)
            texts = [value.data] if isinstance(value, StringAttr) else re.findall(r'"([^"]*)"', str(value or ""))
            for text in texts:
                self._name(name.replace("_", "-"), f'!{{!"{escaped(text)}"}}')

    def _name(self, name: str, node: str) -> None:
        """Append a metadata node to named metadata."""
        self._named.setdefault(name, []).append(self.metadata(node))

    def _parsed_operations(self) -> None:
        for operation in _toplevel(self._parsed.module):
            try:
                self._toplevel(operation)
            except VerifyException as error:
                self.errors.append(self._parsed.diagnostic(operation, str(error)))
        for name, numbers in self._named.items():
            self.emit(f"!{name} = !{{{', '.join(numbers)}}}")
        for text, number in self._nodes.items():
            self.emit(f"!{number} = {text}")

    def _toplevel(self, operation: Operation) -> None:
        found = attributes_of(operation)
        match operation.name:
            case "llvm.mlir.global":
                self._global(operation, found)
            case "llvm.module_flags":
                self._flags(found["flags"])
            case "llvm.linker_options":
                texts = [f'!"{escaped(text)}"' for text in re.findall(r'"([^"]*)"', str(found["options"]))]
                self._name("llvm.linker.options", f"!{{{', '.join(texts)}}}")
            case "llvm.comdat":
                for each in operation.regions[0].block.ops:
                    kind = attributes_of(each)["comdat"]
                    word = words_of(kind) or _COMDATS[number_of(kind)]
                    self.emit(f"{_comdat(each)} = comdat {word}", each)
            case "llvm.mlir.global_ctors" | "llvm.mlir.global_dtors":
                self._startup(operation, found)
            case "llvm.mlir.alias":
                name = found["sym_name"]
                assert isinstance(name, StringAttr)
                aliasee = _FunctionText(self, self._parsed).initial_value(operation.regions[0].block)
                words = [*self._symbol_words(found), "alias", f"{type_text(found['alias_type'])}, ptr {aliasee}"]
                self.emit(f"{symbol_text(name.data)} = {_spaced(*words)}", operation)
            case name if name in _FUNCTIONS:
                self._function(operation, found)
            case _:
                raise VerifyException(f"cannot lower '{operation.name}' to LLVM: expected functions and variables here")

    def _flags(self, flags: Attribute) -> None:
        for behaviour, name, value in re.findall(r"module_flag<(\w+), \"([^\"]*)\", ([^>]*)>", str(flags)):
            number, _, kind = value.partition(" : ")
            constant = f"{kind or 'i32'} {number}" if number.lstrip("-").isdigit() else f"!{number}"
            self._name("llvm.module.flags", f'!{{i32 {_BEHAVIOURS[behaviour]}, !"{name}", {constant}}}')

    def _startup(self, operation: Operation, found: Attributes) -> None:
        """Write the list of functions that run before or after a program."""
        word = operation.name.rpartition("_")[2]
        items: list[str] = []
        for function, priority, datum in zip(
            *(items_of(found[name]) for name in (word, "priorities", "data")), strict=True
        ):
            assert isinstance(function, SymbolRefAttr)
            name = self.symbol(function)
            value = self.symbol(datum) if isinstance(datum, SymbolRefAttr) else "null"
            items.append(f"{{ i32, ptr, ptr }} {{ i32 {number_of(priority)}, ptr {name}, ptr {value} }}")
        array = f"[{len(items)} x {{ i32, ptr, ptr }}] [{', '.join(items)}]"
        self.emit(f"@llvm.global_{word} = appending global {array}", operation)

    # Variables ------------------------------------------------------------------------------------------------

    def _global(self, operation: Operation, found: Attributes) -> None:
        kind, linkage = found["global_type"], words_of(found.get("linkage")) or "external"
        name = found["sym_name"]
        assert isinstance(name, StringAttr)
        initial = self._initial_value(operation, found, kind)
        space = number_of(found.get("addr_space"))
        if initial is None and linkage not in {"external", "extern_weak"}:
            initial = "undef"
        words = [
            *self._symbol_words(found, keep=initial is None),
            f"addrspace({space})" if space else "",
            "externally_initialized" if "externally_initialized" in found else "",
            "constant" if "constant" in found else "global",
            type_text(kind),
            initial or "",
        ]
        text = f"{symbol_text(name.data)} = {_spaced(*words)}"
        section = found.get("section")
        text += f', section "{escaped(section.data)}"' if isinstance(section, StringAttr) else ""
        text += f", comdat({_comdat(found['comdat'])})" if "comdat" in found else ""
        text += f", align {number_of(found['alignment'])}" if "alignment" in found else ""
        own = passed_words(found.get("target_specific_attrs"))
        self.emit(_spaced(text, *own), operation)

    def _symbol_words(self, found: Attributes, *, keep: bool = False) -> list[str]:
        """Return the words before the kind of a variable or alias. `keep` keeps the linkage `external`."""
        linkage = words_of(found.get("linkage")) or "external"
        return [
            linkage if keep or linkage != "external" else "",
            "dso_local" if "dso_local" in found else "",
            _VISIBILITY[number_of(found.get("visibility_"))],
            "thread_local" if "thread_local_" in found else "",
            _UNNAMED[number_of(found.get("unnamed_addr"))],
        ]

    def _initial_value(self, operation: Operation, found: Attributes, kind: Attribute) -> str | None:
        if operation.regions and operation.regions[0].blocks:
            return _FunctionText(self, self._parsed).initial_value(operation.regions[0].block)
        return constant_text(found["value"], kind) if "value" in found else None

    # Functions ------------------------------------------------------------------------------------------------

    def _function(self, operation: Operation, found: Attributes) -> None:
        inputs, output, is_variadic = _signature(found["function_type"])
        marks = (KERNEL, "kernel", "gpu.kernel") if operation.name == "gpu.func" else (KERNEL,)
        if is_kernel := any(mark in found for mark in marks):
            found = {**found, KERNEL: UnitAttr()}
        attributes = dictionaries_of(found.get("arg_attrs"), len(inputs))
        for message in (
            *function_problems(found),
            *(
                message
                for number, (kind, each) in enumerate(zip(inputs, attributes, strict=True))
                for message in parameter_problems(number, kind, each, is_kernel=is_kernel)
            ),
            *(
                ["is a kernel and returns a value; expected none"]
                * (is_kernel and not isinstance(output, LLVMVoidType))
            ),
        ):
            self.errors.append(self._parsed.diagnostic(operation, f"'{operation.name}' {message}", "lower.function"))
        blocks = operation.regions[0].blocks
        names = _FunctionText(self, self._parsed)
        parameters = [
            f"{type_text(kind)}{parameter_text(each)}{f' {names.value(blocks[0].args[k])}' if blocks else ''}"
            for k, (kind, each) in enumerate(zip(inputs, attributes, strict=True))
        ] + ["..."] * is_variadic
        (result,) = dictionaries_of(found.get("res_attrs"), 1)
        linkage = words_of(found.get("linkage")).removeprefix("external")
        convention = "ptx_kernel" if is_kernel else convention_text(found)
        name = found["sym_name"]
        assert isinstance(name, StringAttr)
        head = [
            "define" if blocks else "declare",
            "" if not blocks and linkage != "extern_weak" else linkage,
            "dso_local" if "dso_local" in found else "",
            _VISIBILITY[number_of(found.get("visibility_"))],
            convention,
            parameter_text(result).strip(),
            type_text(output),
            f"{symbol_text(name.data)}({', '.join(parameters)})",
            _UNNAMED[number_of(found.get("unnamed_addr"))],
            *function_words(found),
        ]
        text = _spaced(*head)
        for key, pattern in (
            ("section", ' section "{}"'),
            ("alignment", " align {}"),
            ("garbageCollector", ' gc "{}"'),
        ):
            if key in found:
                value = found[key]
                text += pattern.format(escaped(value.data) if isinstance(value, StringAttr) else number_of(value))
            if key == "section" and "comdat" in found:
                text += f" comdat({_comdat(found['comdat'])})"
        nodes = "".join(f" !{kind} {self.metadata(node)}" for kind, node in function_metadata(found))
        if not blocks:
            self.emit(text, operation)
            return
        self.emit(f"{text}{nodes} {{", operation)
        names.write(blocks)
        self.emit("}")


def _spaced(*words: str) -> str:
    return " ".join(filter(None, words))


def _comdat(found: Attribute | Operation) -> str:
    """Return the name of a comdat for its selector, or for a reference to it."""
    text = str(found if isinstance(found, Attribute) else attributes_of(found)["sym_name"])
    return f"${text.rpartition('@')[2].strip(chr(34))}"


def _toplevel(module: Operation) -> Iterator[Operation]:
    """Yield the functions and variables of a module and of its `gpu.module`s."""
    for operation in module.regions[0].block.ops:
        if operation.name in ("gpu.module", "builtin.module"):
            yield from _toplevel(operation)
        elif operation.name != "gpu.module_end":
            yield operation


def _signature(kind: Attribute) -> tuple[Sequence[Attribute], Attribute, bool]:
    match kind:
        case LLVMFunctionType():
            return kind.inputs.data, kind.output, kind.is_variadic
        case FunctionType() if len(kind.outputs) <= 1:
            return kind.inputs.data, kind.outputs.data[0] if kind.outputs.data else LLVMVoidType(), False
        case _:
            raise VerifyException(f"cannot lower a function of type {kind} to LLVM: expected at most one result")


class _FunctionText:
    """Names of one function, and its blocks as text."""

    def __init__(self, module: LlvmText, parsed: ParsedModule) -> None:
        self._module = module
        self._parsed = parsed
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
            name = hint if hint and hint.isidentifier() and hint not in self._used else f"v.{next(self._numbers)}"
            self._used.add(name)
            self._values[value] = f"%{name}"
        return self._values[value]

    def typed(self, value: SSAValue) -> str:
        """Return a value with its type."""
        return f"{type_text(value.type)} {self.value(value)}"

    def attributes(self, attributes: Attributes) -> str:
        """Return attributes of a parameter or result, such as `noundef`, with a space before each."""
        return parameter_text(attributes)

    def successor(self, operation: Operation, number: int) -> str:
        """Return the name of the block that is a successor of an operation, such as `%b.1`."""
        block = self._blocks[operation.successors[number]]
        return f"%{self._copies.get((operation, number), block)}"

    def constant(self, operation: Operation) -> bool:
        """Record the value of a constant, which has no instruction. Return False for another operation."""
        found = attributes_of(operation)
        match operation.name:
            case "llvm.mlir.constant" | "arith.constant":
                text = constant_text(found["value"], operation.results[0].type)
            case "llvm.mlir.addressof":
                symbol = found["global_name"]
                assert isinstance(symbol, SymbolRefAttr)
                text = self._module.symbol(symbol)
            case name if name in _CONSTANTS:
                text = _CONSTANTS[name]
            case _:
                return self._cast(operation)
        self._values[operation.results[0]] = text
        return True

    def _cast(self, operation: Operation) -> bool:
        """Treat a cast between types with one LLVM type as the value itself."""
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
                return self.value(each.operands[0])
            if each.name == "llvm.insertvalue":
                container, value = each.operands
                kind = each.results[0].type
                types = parts_of(kind, 0)
                items = list(parts.get(container, [f"{type_text(part)} undef" for part in types]))
                (position,) = numbers_of(attributes_of(each)["position"])
                items[position] = self.typed(value)
                parts[each.results[0]] = items
                self._values[each.results[0]] = bracketed(items, kind)
            elif not self.constant(each):
                if (write := writer_of(each)) is None or len(each.results) != 1:
                    raise VerifyException(f"expects an initial value of constants, got '{each.name}'")
                # The constant expression of an instruction has its operands in parentheses.
                word, _, operands = write(each, attributes_of(each), self).partition(" ")
                self._values[each.results[0]] = f"{word} ({operands})"
        raise VerifyException("expects an initial value after 'llvm.return'")

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
        try:
            return self.constant(operation)
        except VerifyException as error:
            self._module.errors.append(self._parsed.diagnostic(operation, f"'{operation.name}' {error}"))
            return True

    def _operation(self, operation: Operation) -> None:
        if (write := writer_of(operation)) is None:
            self._module.errors.append(self._parsed.diagnostic(operation, str(unsupported(operation)), "lower.unknown"))
            return
        try:
            if operation.name in ("llvm.call", "func.call"):
                self._module.check_call(operation)
            text = write(operation, attributes_of(operation), self)
        except VerifyException as error:
            self._module.errors.append(self._parsed.diagnostic(operation, f"'{operation.name}' {error}"))
            return
        name = f"{self.value(operation.results[0])} = " if operation.results else ""
        self._module.emit(f"  {name}{text}", operation)

    def _incoming(self, blocks: Sequence[Block]) -> dict[Block, list[tuple[Sequence[SSAValue], str]]]:
        """Return the arguments of each block, and the name of the block that passes them."""
        found: dict[Block, list[tuple[Sequence[SSAValue], str]]] = {block: [] for block in blocks}
        for block in blocks:
            last = block.last_op
            if last is None or writer_of(last) is None or not (last.successors or last.name in _ENDS):
                message = f"needs a terminator at the end of block {self._blocks[block]}, such as llvm.return"
                owner = block.parent_op()
                assert owner is not None
                self._module.errors.append(self._parsed.diagnostic(owner, f"'{owner.name}' {message}"))
                continue
            for number, arguments in enumerate(successor_arguments(last)):
                successor, source = last.successors[number], f"%{self._blocks[block]}"
                given, expected = [value.type for value in arguments], [value.type for value in successor.args]
                if given != expected:
                    texts = (", ".join(map(str, types)) for types in (given, expected))
                    message = "passes values of types ({}) to a block with arguments of types ({})".format(*texts)
                    self._module.errors.append(self._parsed.diagnostic(last, f"'{last.name}' {message}"))
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
    found = attributes_of(operation)
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
    """Return the LLVM IR of a module without nvvm operations. Errors: LowerError."""
    found = LlvmText(parsed)
    if found.errors:
        raise LowerError(found.errors)
    return found
