"""Lowering of a builtin's call to a PTX function with its instruction, loads and stores.

The instruction has the same text as in the compiler's output.
"""

import struct
from collections.abc import Sequence

from warploom.diagnostics import Span
from warploom.isa.binding.compose import compose
from warploom.isa.instructions import control, integer, memory, move, wgmma
from warploom.isa.model.availability import Target, Version
from warploom.isa.model.form import Form
from warploom.nvvm.builtins.c_types import CType, Value, is_unsigned, wrap
from warploom.nvvm.builtins.cuda_parser import Argument, Array, Call
from warploom.nvvm.builtins.expressions import THREAD
from warploom.nvvm.builtins.selection import Selection
from warploom.nvvm.builtins.tokens import BuiltinError, diagnostic_at
from warploom.nvvm.registers import BYTES, RegisterNames
from warploom.nvvm.to_ptx import first_version
from warploom.ptx import Address, Block, Float, Function, Integer, Module, Name, Operand, Statement, Variable, Vector

_FLOATS = {"float": "f32", "double": "f64"}
_FRAGMENT_TYPES = ("b32", "b64", *_FLOATS.values())
_STRUCT_CODES = {"float": "<f", "double": "<d", "int": "<i", "unsigned int": "<I"}
_ALIGN = 16
_ACCUMULATOR = "d"


def write(call: Call, selection: Selection, target: Target, version: Version | None = None) -> Module:
    """Return a PTX module with a function that contains the lowered call.

    The default version is the first PTX version that has all instructions.

    Errors: BuiltinError builtin.computed for an argument that is no sum of a constant and variables
    """
    writer = _CallWriter(call, selection)
    function = writer.function()
    return Module.build(version or first_version([function], target), (target.name,), (*writer.variables(), function))


class _CallWriter:
    def __init__(self, call: Call, selection: Selection) -> None:
        self._call = call
        self._selection = selection
        self._registers = RegisterNames()
        self._statements: list[Statement] = []
        self._bases: dict[tuple[str, str], Name] = {}
        self._arrays: dict[str, Array] = {}
        self._thread: Name | None = None

    def function(self) -> Function:
        """Return the PTX kernel or function that contains the lowered call."""
        call, selection = self._call, self._selection
        operands: dict[str, Operand] = {name: Integer(value) for name, value in selection.constants.items()}
        for operand, position in selection.address.items():
            operands[operand] = self._address(call.arguments[position])
        for operand, position in selection.values.items():
            operands[operand] = self._value(call.arguments[position], "b32" if operand == "stride" else "b64")
        for operand, position in selection.fragments.items():
            operands[operand] = self._fragment(operand, call.arguments[position])
        if call.builtin.kind == "warpgroup":
            self._write(wgmma.FENCE)
        self._statements.append(compose(selection.form, selection.words, operands, None, selection.late))
        if call.builtin.kind == "warpgroup":
            self._write(wgmma.COMMIT)
            self._write(wgmma.WAIT, N=Integer(0))
        self._store(operands)
        self._write(control.RET)
        arrays = [self._array(name, array) for name, array in self._arrays.items() if array.space == "shared"]
        types = {name: _FLOATS.get(str(ctype), f"b{8 * ctype.size}") for name, ctype in call.parameters.items()}
        params = [Variable("param", word, self._parameter(name)) for name, word in types.items()]
        return Function(
            "entry" if call.is_kernel else "func",
            call.function,
            tuple(params),
            body=Block((*arrays, *self._registers.declarations(), *self._statements)),
            linkage=("visible",),
        )

    def variables(self) -> Sequence[Variable]:
        """Return the global-memory arrays that the module declares outside the function."""
        return [self._array(name, array) for name, array in self._arrays.items() if array.space != "shared"]

    def _array(self, name: str, array: Array) -> Variable:
        space = "shared" if array.space == "shared" else "global"
        return Variable(space, "b8", name, align=_ALIGN, shape=(array.count * array.type.size,))

    # Statements ---------------------------------------------------------------------------------------------

    def _write(self, form: Form, words: dict[str, str] | None = None, **operands: Operand) -> None:
        self._statements.append(compose(form, words or {}, operands))

    def _computed(self, form: Form, word: str, words: dict[str, str], result: str, **operands: Operand) -> Name:
        """Write an instruction with a new register as the operand `result`. Return the register."""
        register = Name(self._registers.fresh(word))
        self._write(form, words, **{result: register}, **operands)
        return register

    def _parameter(self, name: str) -> str:
        return f"{self._call.function}_param_{list(self._call.parameters).index(name)}"

    def _load_parameter(self, name: str, word: str) -> Name:
        if (name, word) not in self._bases:
            source = Address(Name(self._parameter(name)))
            words = {"ss": "param", "type": word}
            self._bases[name, word] = self._computed(memory.LD, word, words, "d", a=source)
        return self._bases[name, word]

    # Operands -----------------------------------------------------------------------------------------------

    def _value(self, argument: Argument, word: str) -> Name:
        """Return a register of the PTX type `word` that contains an integer argument."""
        value, ctype = argument.value, CType("unsigned int" if word == "b32" else "unsigned long long")
        if value.constant is not None:
            constant = wrap(value.constant, ctype)
            assert constant is not None
            return self._constant(word, int(constant))
        if value.terms is None or value.base or not value.type.is_integer or value.type.size < ctype.size:
            raise self._unsupported(argument.span)
        (first, factor), *rest = value.terms
        found = self._variable(first, word)
        if factor != 1 or value.offset:
            found = self._multiply_add(word, found, factor, Integer(value.offset))
        for name, each in rest:
            found = self._multiply_add(word, self._variable(name, word), each, found)
        return found

    def _constant(self, word: str, value: int) -> Name:
        return self._computed(move.MOV, word, {"type": word}, "d", a=Integer(value))

    def _variable(self, name: str, word: str) -> Name:
        """Return a register of the PTX type `word` that contains the low bits of a variable."""
        if name != THREAD:
            return self._load_parameter(name, word)
        if self._thread is None:
            self._thread = self._computed(move.MOV, "b32", {"type": "b32"}, "d", a=Name(THREAD))
        return self._thread

    def _multiply_add(self, word: str, register: Name, factor: int, addend: Operand) -> Name:
        words = {"mode": "lo", "type": f"s{word[1:]}"}
        return self._computed(integer.MAD, word, words, "d", a=register, b=Integer(factor), c=addend)

    def _address(self, argument: Argument) -> Address:
        base = self._base(argument, self._selection.words["ss"])
        # The address operand contains only a part of the offset.
        if more := argument.value.offset - self._selection.offset:
            base = self._computed(integer.ADD, "b64", {"op": "add", "type": "s64"}, "d", a=base, b=Integer(more))
        return Address(base, self._selection.offset)

    def _base(self, argument: Argument, space: str) -> Name:
        """Return a register with a pointer argument's address in `space`, without its constant offset."""
        value = argument.value
        if value.terms is None:
            raise self._unsupported(argument.span)
        key = (str((value.base, value.terms)), space)
        if key not in self._bases:
            self._bases[key] = self._add_terms(self._origin(value, space), value)
        return self._bases[key]

    def _origin(self, value: Value, space: str) -> Name:
        """Return a register with the base address of a pointer in the state space `space`."""
        if not value.base:
            return self._constant("b64", int(value.constant or 0))
        if (array := self._call.arrays.get(value.base)) is not None:
            self._arrays[value.base] = array
            address = self._computed(move.MOV, "b64", {"type": "b64"}, "d", a=Name(value.base))
            if space:
                return address
            return self._computed(memory.CVTA, "b64", {"space": array.space, "size": "u64"}, "p", a=address)
        pointer = self._load_parameter(value.base, "b64")
        if not space:
            return pointer
        return self._computed(memory.CVTA_TO, "b64", {"space": space, "size": "u64"}, "p", a=pointer)

    def _add_terms(self, base: Name, value: Value) -> Name:
        """Return a register with the sum of `base` and the variables of a value times their factors."""
        for name, factor in value.terms or ():
            ctype = self._call.parameters.get(name, CType("unsigned int"))
            if ctype.size != 4:
                base = self._multiply_add("b64", self._variable(name, "b64"), factor, base)
                continue
            register = Name(self._registers.fresh("b64"))
            words = {"mode": "wide", "type": "u32" if is_unsigned(ctype) else "s32"}
            source = self._variable(name, "b32")
            self._write(integer.MAD, words, d=register, a=source, b=Integer(factor), c=base)
            base = register
        return base

    def _fragment(self, operand: str, argument: Argument) -> Vector:
        """Return fresh registers for a fragment. Write their loads if the instruction reads them."""
        word = self._register_type(operand)
        names = [Name(self._registers.fresh(word)) for _ in range(self._selection.registers(operand))]
        if self._is_read(operand) and argument.value.space == "local":
            self._initialise(argument, names, word)
        elif self._is_read(operand):
            for number, name in enumerate(names):
                source = self._element(argument, number * BYTES[word])
                self._write(memory.LD, {"ss": argument.value.space, "type": word}, d=name, a=source)
        return Vector(tuple(names))

    def _initialise(self, argument: Argument, names: Sequence[Name], word: str) -> None:
        """Set the registers `names` to the initial values of a local array."""
        array = self._call.arrays.get(argument.value.base)
        if array is None or array.initial is None:
            return
        if argument.value.offset or argument.value.terms or array.type.size != BYTES[word]:
            raise self._unsupported(argument.span)
        for at, name in enumerate(names):
            constant = array.initial[at].constant if at < len(array.initial) else 0
            bits = int.from_bytes(struct.pack(_STRUCT_CODES[str(array.type)], constant), "little")
            source = Float(bits, 8 * BYTES[word]) if word in _FLOATS.values() else Integer(bits)
            self._write(move.MOV, {"type": word}, d=name, a=source)

    def _is_read(self, operand: str) -> bool:
        if self._call.builtin.kind == "load":
            return False
        return operand != _ACCUMULATOR or self._selection.constants.get("scale_d", 0) == 1

    def _store(self, operands: dict[str, Operand]) -> None:
        """Write stores of the instruction's result to the fragment of the result."""
        if self._call.builtin.kind == "store":
            return
        operand = "r" if self._call.builtin.kind == "load" else _ACCUMULATOR
        argument = self._call.arguments[self._selection.fragments[operand]]
        written = operands[operand]
        assert isinstance(written, Vector)
        if argument.value.space == "local":
            return
        word = self._register_type(operand)
        for number, name in enumerate(written.items):
            target = self._element(argument, number * BYTES[word])
            self._write(memory.ST, {"ss": argument.value.space, "type": word}, a=target, b=name)

    def _element(self, argument: Argument, offset: int) -> Address:
        return Address(self._base(argument, argument.value.space), argument.value.offset + offset)

    def _register_type(self, operand: str) -> str:
        word = self._selection.register_type(operand)
        return word if word in _FRAGMENT_TYPES else "b32"

    def _unsupported(self, span: Span) -> BuiltinError:
        message = "the argument has to be computed; expected a constant, a variable, or a pointer plus a constant"
        return BuiltinError([diagnostic_at(self._call.source, span, message, "builtin.computed")])
