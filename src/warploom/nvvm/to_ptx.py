"""From the nvvm and llvm dialects to PTX: functions with their parameters, and operations as their Forms write them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from warploom.isa.binding.compose import compose, form_named
from warploom.isa.model.availability import FIRST_VERSION, Target, Version, lacking, read_target
from warploom.nvvm import dialect
from warploom.nvvm.calls import statement_of
from warploom.nvvm.dialect.operation import instruction_of
from warploom.nvvm.dialect.pieces import Constant, Local, Mark, registers_of, width_of
from warploom.nvvm.errors import LowerError
from warploom.nvvm.inline import CONSTANTS, Template, Unfit, filled, statements
from warploom.nvvm.reading import Reading
from warploom.nvvm.registers import Registers
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

_BYTES = {"pred": 1, "b16": 2, "b32": 4, "b64": 8, "b128": 16, "f32": 4, "f64": 8}
_PARAMETER_ALIGN = 16
_BLACKWELL = 100
_LEAST_OF_BLACKWELL = (8, 8)
"""ptxas 13.0 asks this version for block scales that say no size; 13.1 and the manual do not."""
KERNEL = "nvvm.kernel"
"""The attribute of a function that is a kernel."""


@dataclass(frozen=True)
class Lowered:
    """PTX, and the operation that each instruction is of, by its place among the instructions of all functions."""

    module: Module
    operations: Sequence[Operation]


def to_ptx(reading: Reading, target: str, version: Version | None = None) -> Lowered:
    """The PTX of a module for a target, of the first PTX version that has all it uses unless one is asked for.

    Errors: UsageError lower.target; LowerError lower.unknown for what has no PTX here
    """
    found = asked_target(target)
    functions: list[Function] = []
    owners: list[Operation] = []
    complaints: list[Diagnostic] = []
    for operation in reading.module.body.block.ops:
        if not isinstance(operation, llvm.FuncOp | func.FuncOp):
            complaints.append(_unknown(reading, operation))
            continue
        writer = _Writer(reading, operation)
        functions.append(writer.function())
        owners += writer.owners
        complaints += writer.complaints
    if complaints:
        raise LowerError(complaints)
    if version is None:
        version = first_version(functions, found)
    return Lowered(Module.build(version, (found.name,), tuple(functions)), owners)


def asked_target(name: str) -> Target:
    """Errors: UsageError lower.target for a name that no target has."""
    if (target := read_target(name)) is None:
        raise UsageError(f"'{name}' is no target", code="lower.target", hint="such as sm_90a")
    return target


def first_version(functions: Sequence[Function], target: Target) -> Version:
    """The first PTX version that has every instruction on a target; the latest where none has."""
    bindings = [
        binding
        for function in functions
        if function.body is not None
        for instruction in function.body.instructions()
        if isinstance(binding := bind(instruction), Binding)
    ]
    least = max(target.first_version, _LEAST_OF_BLACKWELL if target.number >= _BLACKWELL else (1, 0))
    known = {*FIRST_VERSION.values(), *(row.ptx for binding in bindings for row in binding.form.rows)}
    candidates = sorted({least, *(version for version in known if version >= least)})
    for version in candidates:
        if all(lacking(binding.form.rows_of(binding.slots), target, version) is None for binding in bindings):
            return version
    return max(
        target.first_version,
        *(min(row.ptx for row in binding.form.rows_of(binding.slots)) for binding in bindings),
    )


def _unknown(reading: Reading, operation: Operation) -> Diagnostic:
    return reading.finding(
        operation,
        f"'{operation.name}' has no PTX here",
        "lower.unknown",
        "functions, constants, structs, inline PTX, calls of intrinsics and the operations of the nvvm dialect have",
    )


class _Writer:
    """Writes one function."""

    def __init__(self, reading: Reading, function: llvm.FuncOp | func.FuncOp) -> None:
        self._reading = reading
        self._function = function
        self._registers = Registers()
        self._statements: list[Statement] = []
        self._now: Operation = function
        self._unwritten: dict[SSAValue, Attribute] = {}
        self.owners: list[Operation] = []
        self.complaints: list[Diagnostic] = []

    def function(self) -> Function:
        """The function; what has no PTX is among the complaints."""
        operation = self._function
        name = operation.sym_name.data
        is_kernel = KERNEL in operation.attributes or KERNEL in operation.properties
        blocks = operation.body.blocks
        results = [word for word in _results(operation) if not isinstance(word, LLVMVoidType)]
        if len(blocks) != 1:
            message = "has no body" if not blocks else "has branches, which are not lowered"
            self.complaints.append(
                self._reading.finding(operation, f"function @{name} {message}", "lower.function")
            )
            return Function("func", name)
        if is_kernel and results:
            self.complaints.append(
                self._reading.finding(
                    operation, f"kernel @{name} returns a value, which no kernel does", "lower.function"
                )
            )
        params = [self._parameter(f"{name}_param_{k}", value) for k, value in enumerate(blocks[0].args)]
        returns = [_variable(f"{name}_retval{k}", word) for k, word in enumerate(results)]
        for each in blocks[0].ops:
            self._now = each
            try:
                self._operation(each, [variable.name for variable in returns])
            except Unfit as error:
                self.complaints.append(self._reading.finding(each, f"'{each.name}' op {error}"))
            except VerifyException as error:
                self.complaints.append(self._reading.finding(each, str(error)))
        body = Block((*self._registers.declarations(), *self._statements))
        return Function(
            "entry" if is_kernel else "func",
            name,
            tuple(params),
            tuple(returns),
            body=body,
            linkage=("visible",),
        )

    # Statements ---------------------------------------------------------------------------------------------

    def _emit(self, instruction: Instruction) -> None:
        self._statements.append(instruction)
        self.owners.append(self._now)

    def _plain(self, form: str, words: dict[str, str], **operands: Operand) -> None:
        self._emit(compose(form_named(form), words, operands))

    def _move(self, word: str, to: str, source: Operand) -> None:
        if word == "pred":
            value = source.value if isinstance(source, Integer) else None
            if value is None:
                self._plain("move.mov_predicate", {"type": "pred"}, d=Name(to), a=source)
            else:
                self._plain(
                    "compare.setp", {"CmpOp": "ne", "type": "b32"}, p=Name(to), a=Integer(value), b=Integer(0)
                )
            return
        self._plain("move.mov", {"type": word}, d=Name(to), a=source)

    # Parameters ---------------------------------------------------------------------------------------------

    def _parameter(self, name: str, value: SSAValue) -> Variable:
        if value.uses:
            for at, word, register in _places(registers_of(value.type), self._registers.of(value)):
                source = Address(Name(name), at)
                if word != "pred":
                    self._plain("memory.ld", {"ss": "param", "type": word}, d=Name(register), a=source)
                    continue
                byte = self._registers.fresh("b16")
                self._plain("memory.ld", {"ss": "param", "type": "u8"}, d=Name(byte), a=source)
                self._plain(
                    "compare.setp",
                    {"CmpOp": "ne", "type": "b16"},
                    p=Name(register),
                    a=Name(byte),
                    b=Integer(0),
                )
        return _variable(name, value.type)

    def _return(self, values: Sequence[SSAValue], names: Sequence[str]) -> None:
        for value, name in zip(values, names, strict=True):
            for at, word, register in _places(registers_of(value.type), self._names(value)):
                stored = register
                if word == "pred":
                    stored, word = self._registers.fresh("b16"), "u8"
                    self._plain(
                        "compare.selp",
                        {"type": "b16"},
                        d=Name(stored),
                        a=Integer(1),
                        b=Integer(0),
                        c=Name(register),
                    )
                self._plain(
                    "memory.st", {"ss": "param", "type": word}, a=Address(Name(name), at), b=Name(stored)
                )
        self._plain("control.ret", {})

    # Operations ---------------------------------------------------------------------------------------------

    def _operation(self, operation: Operation, returns: Sequence[str]) -> None:
        registers = self._registers
        match operation:
            case dialect.InlinePtx():
                self._inline(operation)
            case dialect.Operation():
                self._nvvm(operation)
            case llvm.InlineAsmOp():
                self._asm(operation)
            case llvm.CallIntrinsicOp():
                self._call(operation)
            case llvm.ReturnOp() | func.ReturnOp():
                self._return(operation.operands, returns)
            case llvm.ConstantOp() | arith.ConstantOp():
                self._unwritten[operation.result] = operation.value
            case llvm.ZeroOp():
                for word, register in zip(
                    registers_of(operation.res.type), registers.of(operation.res), strict=True
                ):
                    self._move(word, register, _zero(word))
            case llvm.UndefOp():
                registers.of(operation.res)
            case llvm.ExtractValueOp():
                names = self._names(operation.container)
                start, count = _part(operation.container.type, operation.position.get_values())
                own = registers.comes_apart(operation.container)
                registers.bind(operation.res, names[start : start + count], own=own)
            case llvm.InsertValueOp():
                names = self._names(operation.container)
                start, count = _part(operation.container.type, operation.position.get_values())
                registers.bind(
                    operation.res, (*names[:start], *self._names(operation.value), *names[start + count :])
                )
            case llvm.IntToPtrOp() | llvm.PtrToIntOp() | llvm.BitcastOp() | UnrealizedConversionCastOp():
                self._cast(operation)
            case llvm.AddOp() if (width := width_of(operation.res.type)) in (32, 64):
                (to,) = registers.of(operation.res)
                a, b = (Name(self._names(operand)[0]) for operand in operation.operands)
                self._plain("integer.add", {"op": "add", "type": f"s{width}"}, d=Name(to), a=a, b=b)
            case _:
                self.complaints.append(_unknown(self._reading, operation))

    def _nvvm(self, operation: dialect.Operation) -> None:
        self._registers.begin()
        code = operation.code()
        for source, result in code.same:
            if not self._registers.takes_over(source, result):
                pairs = zip(
                    registers_of(result.type),
                    self._registers.of(result),
                    self._names(source),
                    strict=True,
                )
                for word, to, register in pairs:
                    self._move(word, to, Name(register))
        for statement in code.statements:
            if isinstance(statement, Mark):
                self._statements.append(Label(self._registers.label(statement.name)))
            else:
                self._emit(instruction_of(statement, self._names))

    def _inline(self, operation: dialect.InlinePtx) -> None:
        """The text with `{$r0}`, `{$rw0}` and `{$w0}` for the registers of what it reads, changes and writes."""
        text = operation.ptxCode.data.rstrip().removesuffix(";")
        groups = (
            ("r", operation.readOnlyArgs),
            ("rw", operation.readWriteArgs),
            ("w", operation.writeOnlyArgs),
        )
        for letter, values in groups:
            for number, value in enumerate(values):
                text = text.replace(f"{{${letter}{number}}}", self._names(value)[0])
        guard = "" if operation.predicate is None else f"@{self._names(operation.predicate)[0]} "
        self._text(f"{guard}{text};")

    def _asm(self, asm: llvm.InlineAsmOp) -> None:
        """The text with what its operands are called; those tied to results are in their registers."""
        template = Template.of(asm)
        types = () if asm.res is None else registers_of(asm.res.type)
        results: dict[int, str] = {}
        for number, result in template.tied.items():
            value = asm.operands_[number]
            (source,) = self._names(value)
            if self._registers.gives_up(value):
                results[result] = source
            else:
                results[result] = self._registers.fresh(types[result])
                self._move(types[result], results[result], Name(source))
        names = [results.get(k) or self._registers.fresh(word) for k, word in enumerate(types)]
        if asm.res is not None:
            self._registers.bind(asm.res, tuple(names), own=True)
        for number, (letter, value) in enumerate(zip(template.operands, asm.operands_, strict=True)):
            if (result := template.tied.get(number)) is not None:
                names.append(names[result])
            else:
                names.append(str(Constant(value).number) if letter in CONSTANTS else self._names(value)[0])
        self._text(filled(asm.asm_string.data, names))

    def _text(self, text: str) -> None:
        for statement in statements(text):
            self._statements.append(statement)
            block = statement if isinstance(statement, Block) else Block((statement,))
            self.owners += [self._now] * len(list(block.instructions()))

    def _call(self, call: llvm.CallIntrinsicOp) -> None:
        statement = statement_of(call)
        results = () if call.ress is None else self._names(call.ress)
        parts = [piece.name for piece in statement.operands.values() if isinstance(piece, Local)]
        named = dict(zip(parts, results, strict=False))
        self._emit(
            instruction_of(
                statement,
                lambda value: (named[value.name],) if isinstance(value, Local) else self._names(value),
            )
        )

    def _cast(self, operation: Operation) -> None:
        """A cast keeps the bits; where the registers are of the same types it keeps them too. A pointer has as many
        bits as its space asks for, whatever the integer has.
        """
        before, after = (
            [word for value in values for word in registers_of(value.type)]
            for values in (operation.operands, operation.results)
        )
        names = [name for value in operation.operands for name in self._names(value)]
        if before == after:
            for result in operation.results:
                count = len(registers_of(result.type))
                self._registers.bind(result, tuple(names[:count]))
                names = names[count:]
            return
        results = [name for value in operation.results for name in self._registers.of(value)]
        if isinstance(operation, llvm.IntToPtrOp | llvm.PtrToIntOp) and {*before, *after} == {"b32", "b64"}:
            words = {"dtype": f"u{after[0][1:]}", "atype": f"u{before[0][1:]}"}
            self._plain("convert.integer", words, d=Name(results[0]), a=Name(names[0]))
            return
        if [_BYTES[word] for word in before] != [_BYTES[word] for word in after]:
            source, result = (
                ", ".join(str(value.type) for value in values)
                for values in (operation.operands, operation.results)
            )
            raise VerifyException(f"'{operation.name}' from {source} to {result} has no PTX here")
        for word, to, register in zip(after, results, names, strict=True):
            self._move(f"b{8 * _BYTES[word]}", to, Name(register))

    def _names(self, value: SSAValue | Local) -> tuple[str, ...]:
        """The registers of a value; a constant is written where it is first asked for."""
        if isinstance(value, SSAValue) and (constant := self._unwritten.pop(value, None)) is not None:
            self._constant(value, constant)
        return self._registers.of(value)

    def _constant(self, result: SSAValue, value: Attribute) -> None:
        types, names = registers_of(result.type), self._registers.of(result)
        for word, register, constant in zip(types, names, _constants(value, types), strict=True):
            self._move(word, register, constant)


def _results(operation: llvm.FuncOp | func.FuncOp) -> Sequence[Attribute]:
    if isinstance(operation, llvm.FuncOp):
        return [operation.function_type.output]
    return operation.function_type.outputs.data


def _variable(name: str, type: Attribute) -> Variable:
    """The parameter of a type: of its register, or bytes for several."""
    types = registers_of(type)
    if len(types) == 1:
        word = "b8" if types[0] == "pred" or type == IntegerType(8) else types[0]
        return Variable("param", word, name)
    return Variable("param", "b8", name, align=_PARAMETER_ALIGN, shape=(_layout(types)[1],))


def _layout(types: Sequence[str]) -> tuple[list[int], int]:
    """Where the registers of a value lie in its bytes, each aligned to its size, and how many bytes there are."""
    places: list[int] = []
    at = 0
    for word in types:
        at = -(-at // _BYTES[word]) * _BYTES[word]
        places.append(at)
        at += _BYTES[word]
    return places, at


def _places(types: Sequence[str], names: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    yield from zip(_layout(types)[0], types, names, strict=True)


def _part(whole: Attribute, position: Sequence[int]) -> tuple[int, int]:
    """Which registers of a struct hold one of its parts."""
    start = 0
    for index in position:
        if not isinstance(whole, LLVMStructType) or not 0 <= index < len(whole.types):
            raise VerifyException(f"there is no part {list(position)} in that value")
        start += sum(len(registers_of(each)) for each in whole.types.data[:index])
        whole = whole.types.data[index]
    return start, len(registers_of(whole))


def _zero(word: str) -> Operand:
    return Float(0, 32) if word == "f32" else Float(0, 64) if word == "f64" else Integer(0)


def _constants(value: Attribute, types: Sequence[str]) -> Sequence[Operand]:
    """The registers of a constant. Errors: VerifyException for one that no register holds as it is."""
    match value:
        case IntegerAttr():
            bits = 1 if types[0] == "pred" else 8 * _BYTES[types[0]]
            return [Integer(value.value.data % (1 << bits))]
        case FloatAttr():
            return _words(value.type.pack((value.value.data,)), types)
        case DenseIntOrFPElementsAttr():
            data = value.data.data
            size = sum(_BYTES[word] for word in types)
            return _words(data * (size // len(data)) if value.is_splat() else data, types)
        case _:
            raise VerifyException(f"a constant {value} has no PTX here")


def _words(data: bytes, types: Sequence[str]) -> Sequence[Operand]:
    """Bytes as constants of registers; floats by their bits."""
    found: list[Operand] = []
    at = 0
    for word in types:
        bits = int.from_bytes(data[at : at + _BYTES[word]], "little")
        found.append(Float(bits, 8 * _BYTES[word]) if word in {"f32", "f64"} else Integer(bits))
        at += _BYTES[word]
    return found
