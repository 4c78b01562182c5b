"""Lowering of the nvvm and llvm dialects to PTX: functions, parameters and operations."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, func, llvm
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    UnrealizedConversionCastOp,
)
from xdsl.dialects.llvm import LLVMStructType, LLVMVoidType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from warploom.diagnostics import Diagnostic, UsageError
from warploom.isa.binding.bind import Binding, bind
from warploom.isa.binding.compose import compose
from warploom.isa.instructions import compare, control, convert, integer, memory, move
from warploom.isa.model.availability import FIRST_VERSION, Target, Version, is_version, read_target, unmet_by_rows
from warploom.isa.model.form import Form
from warploom.nvvm import dialect
from warploom.nvvm.dialect.lowering import Immediate, LabelTemplate, Temporary
from warploom.nvvm.dialect.types import registers_of, width_of
from warploom.nvvm.errors import LowerError
from warploom.nvvm.inline_asm import IMMEDIATES, AsmError, Constraints, parse_statements, with_operands
from warploom.nvvm.intrinsic_calls import instruction_of_call
from warploom.nvvm.mlir_text import ParsedModule
from warploom.nvvm.registers import BYTES, ValueRegisters
from warploom.ptx import (
    Address,
    Block,
    Float,
    Function,
    Instruction,
    Integer,
    Label,
    Module,
    Name,
    Operand,
    Statement,
    Variable,
)

_PARAMETER_ALIGN = 16
_BLACKWELL = 100
_FIRST_VERSION_OF_BLACKWELL = (8, 8)
"""PTX version that ptxas 13.0, unlike 13.1 and the manual, requires for block scales without a size."""
KERNEL = "nvvm.kernel"
"""Attribute of a function that is a kernel."""


@dataclass(frozen=True)
class LoweredModule:
    """PTX module, and the source operation of each instruction in text order."""

    module: Module
    operations: Sequence[Operation]


def to_ptx(parsed: ParsedModule, target: str, version: Version | None = None) -> LoweredModule:
    """Return the PTX of a module for a target.

    The default version is the first PTX version that has all instructions.

    Errors: UsageError lower.target; LowerError lower.unknown, lower.function, lower.operation
    """
    known = target_named(target)
    functions: list[Function] = []
    operations: list[Operation] = []
    errors: list[Diagnostic] = []
    for operation in parsed.module.body.block.ops:
        if not isinstance(operation, llvm.FuncOp | func.FuncOp):
            errors.append(_unknown(parsed, operation))
            continue
        writer = _FunctionWriter(parsed, operation)
        functions.append(writer.function())
        operations += writer.operations
        errors += writer.errors
    if errors:
        raise LowerError(errors)
    if version is None:
        version = first_version(functions, known)
    return LoweredModule(Module.build(version, (known.name,), tuple(functions)), operations)


def target_named(name: str) -> Target:
    """Return the target with a name such as "sm_90a". Errors: UsageError lower.target for an unknown name."""
    if (target := read_target(name)) is None:
        raise UsageError(f"unknown target '{name}'", code="lower.target", hint="such as sm_90a")
    return target


def check_version(version: Version | None) -> None:
    """Raise UsageError lower.target for an unknown PTX version."""
    if version is not None and not is_version(version):
        raise UsageError(f"unknown PTX version {version[0]}.{version[1]}", code="lower.target")


def first_version(functions: Sequence[Function], target: Target) -> Version:
    """Return the first PTX version that has all instructions of some functions on a target."""
    bindings = [
        binding
        for function in functions
        if function.body is not None
        for instruction in function.body.instructions()
        if isinstance(binding := bind(instruction), Binding)
    ]
    least = max(target.first_version, _FIRST_VERSION_OF_BLACKWELL if target.number >= _BLACKWELL else (1, 0))
    known = {*FIRST_VERSION.values(), *(row.ptx for binding in bindings for row in binding.form.rows)}
    for version in sorted({least, *(version for version in known if version >= least)}):
        if all(unmet_by_rows(binding.form.rows_of(binding.slots), target, version) is None for binding in bindings):
            return version
    # No version has all of them: return the highest that an instruction needs.
    return max(
        target.first_version, *(min(row.ptx for row in binding.form.rows_of(binding.slots)) for binding in bindings)
    )


def _unknown(parsed: ParsedModule, operation: Operation) -> Diagnostic:
    return parsed.diagnostic(
        operation,
        f"cannot lower '{operation.name}' to PTX",
        "lower.unknown",
        "functions, constants, structs, inline PTX, calls of intrinsics and nvvm operations can be lowered",
    )


class _FunctionWriter:
    def __init__(self, parsed: ParsedModule, function: llvm.FuncOp | func.FuncOp) -> None:
        self._parsed = parsed
        self._function = function
        self._registers = ValueRegisters()
        self._statements: list[Statement] = []
        self._current: Operation = function
        self._pending_constants: dict[SSAValue, Attribute] = {}
        self.operations: list[Operation] = []
        self.errors: list[Diagnostic] = []

    def function(self) -> Function:
        """Return the PTX function. Operations that cannot be lowered go to `errors`."""
        operation = self._function
        name = operation.sym_name.data
        is_kernel = KERNEL in operation.attributes or KERNEL in operation.properties
        blocks = operation.body.blocks
        is_llvm = isinstance(operation, llvm.FuncOp)
        types = [operation.function_type.output] if is_llvm else operation.function_type.outputs.data
        results = [word for word in types if not isinstance(word, LLVMVoidType)]
        if len(blocks) != 1:
            message = "has no body" if not blocks else "has branches, which cannot be lowered"
            self._error(operation, f"function @{name} {message}", "lower.function")
            return Function("func", name)
        if is_kernel and results:
            self._error(operation, f"kernel @{name} returns a value; expected none", "lower.function")
        params = [self._parameter(f"{name}_param_{k}", value) for k, value in enumerate(blocks[0].args)]
        returns = [_variable(f"{name}_retval{k}", word) for k, word in enumerate(results)]
        for each in blocks[0].ops:
            self._current = each
            try:
                self._operation(each, [variable.name for variable in returns])
            except AsmError as error:
                self._error(each, f"'{each.name}' op {error}")
            except VerifyException as error:
                self._error(each, str(error))
        return Function(
            "entry" if is_kernel else "func",
            name,
            tuple(params),
            tuple(returns),
            body=Block((*self._registers.declarations(), *self._statements)),
            linkage=("visible",),
        )

    def _error(self, operation: Operation, message: str, code: str = "lower.operation") -> None:
        self.errors.append(self._parsed.diagnostic(operation, message, code))

    # Statements ---------------------------------------------------------------------------------------------

    def _emit(self, instruction: Instruction) -> None:
        self._statements.append(instruction)
        self.operations.append(self._current)

    def _write(self, form: Form, words: dict[str, str], **operands: Operand) -> None:
        self._emit(compose(form, words, operands))

    def _move(self, word: str, to: str, source: Operand) -> None:
        if word != "pred":
            self._write(move.MOV, {"type": word}, d=Name(to), a=source)
        elif isinstance(source, Integer):
            self._is_not_zero("b32", to, source)
        else:
            self._write(move.MOV_PREDICATE, {"type": "pred"}, d=Name(to), a=source)

    def _is_not_zero(self, word: str, to: str, source: Operand) -> None:
        self._write(compare.SETP, {"CmpOp": "ne", "type": word}, p=Name(to), a=source, b=Integer(0))

    # Parameters ---------------------------------------------------------------------------------------------

    def _parameter(self, name: str, value: SSAValue) -> Variable:
        if value.uses:
            types = registers_of(value.type)
            for at, word, register in zip(_offsets(types), types, self._registers.names(value), strict=False):
                is_predicate = word == "pred"
                loaded = self._registers.fresh("b16") if is_predicate else register
                words = {"ss": "param", "type": "u8" if is_predicate else word}
                self._write(memory.LD, words, d=Name(loaded), a=Address(Name(name), at))
                if is_predicate:
                    self._is_not_zero("b16", register, Name(loaded))
        return _variable(name, value.type)

    def _return(self, values: Sequence[SSAValue], names: Sequence[str]) -> None:
        for value, name in zip(values, names, strict=True):
            types = registers_of(value.type)
            for at, word, register in zip(_offsets(types), types, self._names(value), strict=False):
                is_predicate = word == "pred"
                stored = self._registers.fresh("b16") if is_predicate else register
                if is_predicate:
                    one, zero = Integer(1), Integer(0)
                    self._write(compare.SELP, {"type": "b16"}, d=Name(stored), a=one, b=zero, c=Name(register))
                words = {"ss": "param", "type": "u8" if is_predicate else word}
                self._write(memory.ST, words, a=Address(Name(name), at), b=Name(stored))
        self._write(control.RET, {})

    # Operations ---------------------------------------------------------------------------------------------

    def _operation(self, operation: Operation, returns: Sequence[str]) -> None:
        registers = self._registers
        match operation:
            case dialect.InlinePtx():
                self._inline_ptx(operation)
            case dialect.Operation():
                self._nvvm(operation)
            case llvm.InlineAsmOp():
                self._inline_asm(operation)
            case llvm.CallIntrinsicOp():
                self._call(operation)
            case llvm.ReturnOp() | func.ReturnOp():
                self._return(operation.operands, returns)
            case llvm.ConstantOp() | arith.ConstantOp():
                self._pending_constants[operation.result] = operation.value
            case llvm.ZeroOp():
                names = registers.names(operation.res)
                for word, register in zip(registers_of(operation.res.type), names, strict=True):
                    bits = {"f32": 32, "f64": 64}.get(word)
                    self._move(word, register, Integer(0) if bits is None else Float(0, bits))
            case llvm.UndefOp():
                registers.names(operation.res)
            case llvm.ExtractValueOp():
                names = self._names(operation.container)
                start, count = _element(operation.container.type, operation.position.get_values())
                owns = registers.owns_elements(operation.container)
                registers.bind(operation.res, names[start : start + count], owns=owns)
            case llvm.InsertValueOp():
                names = self._names(operation.container)
                start, count = _element(operation.container.type, operation.position.get_values())
                inserted = self._names(operation.value)
                registers.bind(operation.res, (*names[:start], *inserted, *names[start + count :]))
            case llvm.IntToPtrOp() | llvm.PtrToIntOp() | llvm.BitcastOp() | UnrealizedConversionCastOp():
                self._cast(operation)
            case llvm.AddOp() if (width := width_of(operation.res.type)) in (32, 64):
                (to,) = registers.names(operation.res)
                a, b = (Name(self._names(operand)[0]) for operand in operation.operands)
                self._write(integer.ADD, {"op": "add", "type": f"s{width}"}, d=Name(to), a=a, b=b)
            case _:
                self.errors.append(_unknown(self._parsed, operation))

    def _nvvm(self, operation: dialect.Operation) -> None:
        self._registers.begin_operation()
        lowering = operation.lower()
        if not lowering.statements:
            self.errors.append(_unknown(self._parsed, operation))
        for source, result in lowering.copies:
            if not self._registers.reuse(source, result):
                names = zip(self._registers.names(result), self._names(source), strict=True)
                for word, (to, register) in zip(registers_of(result.type), names, strict=True):
                    self._move(word, to, Name(register))
        for statement in lowering.statements:
            if isinstance(statement, LabelTemplate):
                label = Temporary(statement.name, "label")
                self._statements.append(Label(self._registers.names(label)[0]))
            else:
                self._emit(statement.instruction(self._names))

    def _inline_ptx(self, operation: dialect.InlinePtx) -> None:
        """Write inline PTX with registers in place of its placeholders."""
        text = operation.ptxCode.data.rstrip().removesuffix(";")
        groups = (("r", operation.readOnlyArgs), ("rw", operation.readWriteArgs), ("w", operation.writeOnlyArgs))
        for letter, values in groups:
            for number, value in enumerate(values):
                text = text.replace(f"{{${letter}{number}}}", self._names(value)[0])
        guard = "" if operation.predicate is None else f"@{self._names(operation.predicate)[0]} "
        self._text(f"{guard}{text};")

    def _inline_asm(self, asm: llvm.InlineAsmOp) -> None:
        """Write the text of `asm` with registers in place of `$0`, `$1` and so on."""
        constraints = Constraints.of(asm)
        types = () if asm.res is None else registers_of(asm.res.type)
        results: dict[int, str] = {}
        # A tied operand shares the register of its result.
        for number, result in constraints.tied.items():
            value = asm.operands_[number]
            (source,) = self._names(value)
            if self._registers.release(value):
                results[result] = source
            else:
                results[result] = self._registers.fresh(types[result])
                self._move(types[result], results[result], Name(source))
        names = [results.get(k) or self._registers.fresh(word) for k, word in enumerate(types)]
        if asm.res is not None:
            self._registers.bind(asm.res, tuple(names), owns=True)
        for number, (letter, value) in enumerate(zip(constraints.operands, asm.operands_, strict=True)):
            if (result := constraints.tied.get(number)) is not None:
                names.append(names[result])
            elif letter in IMMEDIATES:
                names.append(str(Immediate(value).constant))
            else:
                names.append(self._names(value)[0])
        self._text(with_operands(asm.asm_string.data, names))

    def _text(self, text: str) -> None:
        for statement in parse_statements(text):
            self._statements.append(statement)
            block = statement if isinstance(statement, Block) else Block((statement,))
            self.operations += [self._current] * len(list(block.instructions()))

    def _call(self, call: llvm.CallIntrinsicOp) -> None:
        template = instruction_of_call(call)
        results = () if call.ress is None else self._names(call.ress)
        temporaries = [each.name for each in template.operands.values() if isinstance(each, Temporary)]
        named = dict(zip(temporaries, results, strict=False))

        def names(value: SSAValue | Temporary) -> tuple[str, ...]:
            return (named[value.name],) if isinstance(value, Temporary) else self._names(value)

        self._emit(template.instruction(names))

    def _cast(self, operation: Operation) -> None:
        """Write a cast that keeps the bits."""
        before, after = (
            [word for value in values for word in registers_of(value.type)]
            for values in (operation.operands, operation.results)
        )
        names = [name for value in operation.operands for name in self._names(value)]
        # Operand and result share registers.
        if before == after:
            for result in operation.results:
                count = len(registers_of(result.type))
                self._registers.bind(result, tuple(names[:count]))
                names = names[count:]
            return
        results = [name for value in operation.results for name in self._registers.names(value)]
        # The width of a pointer depends on its address space.
        if isinstance(operation, llvm.IntToPtrOp | llvm.PtrToIntOp) and {*before, *after} == {"b32", "b64"}:
            words = {"dtype": f"u{after[0][1:]}", "atype": f"u{before[0][1:]}"}
            self._write(convert.INTEGER, words, d=Name(results[0]), a=Name(names[0]))
            return
        if [BYTES[word] for word in before] != [BYTES[word] for word in after]:
            source, result = (
                ", ".join(str(value.type) for value in values) for values in (operation.operands, operation.results)
            )
            raise VerifyException(f"cannot lower '{operation.name}' with operands {source} and results {result} to PTX")
        for word, to, register in zip(after, results, names, strict=True):
            self._move(f"b{8 * BYTES[word]}", to, Name(register))

    def _names(self, value: SSAValue | Temporary) -> tuple[str, ...]:
        names = self._registers.names(value)
        # The first use of a constant also writes its moves.
        if isinstance(value, SSAValue) and (constant := self._pending_constants.pop(value, None)) is not None:
            types = registers_of(value.type)
            for word, register, operand in zip(types, names, _constants(constant, types), strict=True):
                self._move(word, register, operand)
        return names


def _variable(name: str, type: Attribute) -> Variable:
    """Return a `.param` variable for a type. A type of several registers becomes an array of bytes."""
    types = registers_of(type)
    if len(types) == 1:
        word = "b8" if types[0] == "pred" or type == IntegerType(8) else types[0]
        return Variable("param", word, name)
    return Variable("param", "b8", name, align=_PARAMETER_ALIGN, shape=(_offsets(types)[-1],))


def _offsets(types: Sequence[str]) -> list[int]:
    """Return the aligned offset of each register in bytes, and last the total size."""
    offsets: list[int] = []
    at = 0
    for word in types:
        at = -(-at // BYTES[word]) * BYTES[word]
        offsets.append(at)
        at += BYTES[word]
    return [*offsets, at]


def _element(whole: Attribute, position: Sequence[int]) -> tuple[int, int]:
    """Return the first register and the register count of an element of a nested struct."""
    start = 0
    for index in position:
        if not isinstance(whole, LLVMStructType) or not 0 <= index < len(whole.types):
            raise VerifyException(f"the value has no element {list(position)}")
        start += sum(len(registers_of(each)) for each in whole.types.data[:index])
        whole = whole.types.data[index]
    return start, len(registers_of(whole))


def _constants(value: Attribute, types: Sequence[str]) -> Sequence[Operand]:
    """Return one constant for each register of a value. Errors: VerifyException for other values."""
    match value:
        case IntegerAttr():
            bits = 1 if types[0] == "pred" else 8 * BYTES[types[0]]
            return [Integer(value.value.data % (1 << bits))]
        case FloatAttr():
            return _operands_of(value.type.pack((value.value.data,)), types)
        case DenseIntOrFPElementsAttr():
            data = value.data.data
            size = sum(BYTES[word] for word in types)
            return _operands_of(data * (size // len(data)) if value.is_splat() else data, types)
        case _:
            raise VerifyException(f"cannot lower the constant {value} to PTX")


def _operands_of(data: bytes, types: Sequence[str]) -> Sequence[Operand]:
    """Return constants for registers of the types `types`, which together contain `data`."""
    found: list[Operand] = []
    at = 0
    for word in types:
        bits = int.from_bytes(data[at : at + BYTES[word]], "little")
        found.append(Float(bits, 8 * BYTES[word]) if word in {"f32", "f64"} else Integer(bits))
        at += BYTES[word]
    return found
