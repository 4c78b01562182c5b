"""A call as PTX: the kernel or function around it, its fragments loaded and stored, and its instruction.

The instruction is the compiler's word for word. Around it stands what makes it run: fragments come from where the
pointers point, by the addresses of the state space that the compiler knows, and a warpgroup multiplication stands
between the fence that lets it begin and the wait that lets its result be read.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence

from warploom.diagnostics import Span
from warploom.isa.binding.compose import compose
from warploom.isa.instructions.control import RET
from warploom.isa.instructions.integer import ADD, MAD
from warploom.isa.instructions.memory import CVTA, CVTA_TO, LD, ST
from warploom.isa.instructions.move import MOV
from warploom.isa.instructions.wgmma import COMMIT, FENCE, WAIT
from warploom.isa.model.availability import Target, Version
from warploom.isa.model.form import Form
from warploom.nvvm.builtins.choose import Choice
from warploom.nvvm.builtins.ctypes import CType, Value, is_unsigned, wrap
from warploom.nvvm.builtins.expressions import THREAD
from warploom.nvvm.builtins.source import Argument, Array, Call
from warploom.nvvm.builtins.tokens import BuiltinError, problem
from warploom.nvvm.to_ptx import first_version
from warploom.ptx import (
    Address,
    Block,
    Float,
    Function,
    Integer,
    Module,
    Name,
    Operand,
    Statement,
    Variable,
    Vector,
)

_PREFIXES = {"b32": "r", "b64": "rd", "f32": "f", "f64": "fd"}
_SIZES = {"b32": 4, "b64": 8, "f32": 4, "f64": 8}
_FLOATS = {"float": "f32", "double": "f64"}
_PACKED = {"float": "<f", "double": "<d", "int": "<i", "unsigned int": "<I"}
_ALIGN = 16
_UPDATED = "d"


def write(call: Call, choice: Choice, target: Target, version: Version | None = None) -> Module:
    """The module of a call, of the first PTX version that has all it uses unless one is asked for.

    Errors: BuiltinError builtin.computed for an argument that more than a constant and a variable make
    """
    writer = _Writer(call, choice)
    function = writer.function()
    wanted = version or first_version([function], target)
    return Module.build(wanted, (target.name,), (*writer.variables(), function))


class _Writer:
    def __init__(self, call: Call, choice: Choice) -> None:
        self._call = call
        self._choice = choice
        self._used: Counter[str] = Counter()
        self._statements: list[Statement] = []
        self._bases: dict[tuple[str, str], Name] = {}
        self._arrays: dict[str, Array] = {}
        self._thread: Name | None = None

    def function(self) -> Function:
        """The kernel, or the function, around the call."""
        call, choice = self._call, self._choice
        operands: dict[str, Operand] = {name: Integer(value) for name, value in choice.constants.items()}
        for operand, place in choice.address.items():
            operands[operand] = self._address(call.arguments[place])
        for operand, place in choice.values.items():
            operands[operand] = self._value(call.arguments[place], "b32" if operand == "stride" else "b64")
        for operand, place in choice.fragments.items():
            operands[operand] = self._fragment(operand, call.arguments[place])
        if call.builtin.kind == "warpgroup":
            self._plain(FENCE)
        self._statements.append(compose(choice.form, choice.words, operands, None, choice.late))
        if call.builtin.kind == "warpgroup":
            self._plain(COMMIT)
            self._plain(WAIT, N=Integer(0))
        self._store(operands)
        self._plain(RET)
        registers = [
            Variable("reg", word, f"%{_PREFIXES[word]}", count=count) for word, count in self._used.items()
        ]
        own = [self._array(name, array) for name, array in self._arrays.items() if array.space == "shared"]
        params = [
            Variable("param", _word(ctype), self._parameter(name)) for name, ctype in call.parameters.items()
        ]
        return Function(
            "entry" if call.is_kernel else "func",
            call.function,
            tuple(params),
            body=Block((*own, *registers, *self._statements)),
            linkage=("visible",),
        )

    def variables(self) -> Sequence[Variable]:
        """The arrays of the module."""
        return [self._array(name, array) for name, array in self._arrays.items() if array.space != "shared"]

    def _array(self, name: str, array: Array) -> Variable:
        space = "shared" if array.space == "shared" else "global"
        return Variable(space, "b8", name, align=_ALIGN, shape=(array.count * array.type.size,))

    # Statements ---------------------------------------------------------------------------------------------

    def _plain(self, form: Form, words: dict[str, str] | None = None, **operands: Operand) -> None:
        self._statements.append(compose(form, words or {}, operands))

    def _fresh(self, word: str) -> Name:
        number = self._used[word]
        self._used[word] += 1
        return Name(f"%{_PREFIXES[word]}{number}")

    def _parameter(self, name: str) -> str:
        return f"{self._call.function}_param_{list(self._call.parameters).index(name)}"

    def _load_parameter(self, name: str, word: str) -> Name:
        if (name, word) not in self._bases:
            self._bases[name, word] = register = self._fresh(word)
            source = Address(Name(self._parameter(name)))
            self._plain(LD, {"ss": "param", "type": word}, d=register, a=source)
        return self._bases[name, word]

    # Operands -----------------------------------------------------------------------------------------------

    def _value(self, argument: Argument, word: str) -> Name:
        """A single value in a register: a leading dimension, a descriptor."""
        value, ctype = argument.value, CType("unsigned int" if word == "b32" else "unsigned long long")
        if value.constant is not None:
            constant = wrap(value.constant, ctype)
            assert constant is not None
            return self._constant(word, int(constant))
        if value.terms is None or value.base or not value.type.is_integer or value.type.size < ctype.size:
            raise self._computed(argument.span)
        (first, factor), *rest = value.terms
        found = self._variable(first, word)
        if factor != 1 or value.offset:
            found = self._scaled(word, found, factor, Integer(value.offset))
        for name, each in rest:
            found = self._scaled(word, self._variable(name, word), each, found)
        return found

    def _constant(self, word: str, value: int) -> Name:
        register = self._fresh(word)
        self._plain(MOV, {"type": word}, d=register, a=Integer(value))
        return register

    def _variable(self, name: str, word: str) -> Name:
        """A variable in a register, of its low bits where it has more."""
        if name != THREAD:
            return self._load_parameter(name, word)
        if self._thread is None:
            self._thread = self._fresh("b32")
            self._plain(MOV, {"type": "b32"}, d=self._thread, a=Name(THREAD))
        return self._thread

    def _scaled(self, word: str, register: Name, factor: int, more: Operand) -> Name:
        """`register * factor + more`."""
        result = self._fresh(word)
        words = {"mode": "lo", "type": f"s{word[1:]}"}
        self._plain(MAD, words, d=result, a=register, b=Integer(factor), c=more)
        return result

    def _address(self, argument: Argument) -> Address:
        """Where a pointer points: an address of a state space, or a generic one. Where the instruction adds no
        offset, it is added before.
        """
        base = self._base(argument, self._choice.words["ss"])
        if (more := argument.value.offset - self._choice.offset) == 0:
            return Address(base, self._choice.offset)
        result = self._fresh("b64")
        self._plain(ADD, {"op": "add", "type": "s64"}, d=result, a=base, b=Integer(more))
        return Address(result, self._choice.offset)

    def _base(self, argument: Argument, space: str) -> Name:
        """Where a pointer points but for its constant offset."""
        value = argument.value
        if value.terms is None:
            raise self._computed(argument.span)
        key = (str((value.base, value.terms)), space)
        if key not in self._bases:
            self._bases[key] = self._along(self._origin(value, space), value)
        return self._bases[key]

    def _origin(self, value: Value, space: str) -> Name:
        """Where the pointer's parameter or array begins."""
        if not value.base:
            return self._constant("b64", int(value.constant or 0))
        array = self._call.arrays.get(value.base)
        if array is not None:
            return self._of_array(value.base, array, space)
        pointer = self._load_parameter(value.base, "b64")
        if not space:
            return pointer
        register = self._fresh("b64")
        self._plain(CVTA_TO, {"space": space, "size": "u64"}, p=register, a=pointer)
        return register

    def _of_array(self, name: str, array: Array, space: str) -> Name:
        self._arrays[name] = array
        register = self._fresh("b64")
        self._plain(MOV, {"type": "b64"}, d=register, a=Name(name))
        if space:
            return register
        generic = self._fresh("b64")
        self._plain(CVTA, {"space": array.space, "size": "u64"}, p=generic, a=register)
        return generic

    def _along(self, base: Name, value: Value) -> Name:
        """A base with the variables of the sum added, each extended as its type asks."""
        for name, factor in value.terms or ():
            ctype = self._call.parameters.get(name, CType("unsigned int"))
            if ctype.size != 4:
                base = self._scaled("b64", self._variable(name, "b64"), factor, base)
                continue
            register = self._fresh("b64")
            words = {"mode": "wide", "type": "u32" if is_unsigned(ctype) else "s32"}
            source = self._variable(name, "b32")
            self._plain(MAD, words, d=register, a=source, b=Integer(factor), c=base)
            base = register
        return base

    def _fragment(self, operand: str, argument: Argument) -> Vector:
        """The registers of a fragment, loaded where the instruction reads them."""
        word = self._register_word(operand)
        names = [self._fresh(word) for _ in range(self._choice.registers(operand))]
        if self._is_read(operand) and argument.value.space == "local":
            self._initial(argument, names, word)
        elif self._is_read(operand):
            for at, name in enumerate(names):
                self._plain(
                    LD,
                    self._words(argument, word),
                    d=name,
                    a=self._element(argument, at * _SIZES[word]),
                )
        return Vector(tuple(names))

    def _initial(self, argument: Argument, names: Sequence[Name], word: str) -> None:
        """What an array of the function holds, where it was given something."""
        array = self._call.arrays.get(argument.value.base)
        if array is None or array.initial is None:
            return
        if argument.value.offset or argument.value.terms or array.type.size != _SIZES[word]:
            raise self._computed(argument.span)
        for at, name in enumerate(names):
            constant = array.initial[at].constant if at < len(array.initial) else 0
            bits = int.from_bytes(struct.pack(_PACKED[str(array.type)], constant), "little")
            given = Float(bits, 8 * _SIZES[word]) if word in _FLOATS.values() else Integer(bits)
            self._plain(MOV, {"type": word}, d=name, a=given)

    def _is_read(self, operand: str) -> bool:
        """Whether registers have to be loaded: those of a load, and of a D that is overwritten, are not."""
        if self._call.builtin.kind == "load":
            return False
        return operand != _UPDATED or self._choice.constants.get("scale_d", 0) == 1

    def _store(self, operands: dict[str, Operand]) -> None:
        """What the instruction wrote goes where its pointer points."""
        if self._call.builtin.kind == "store":
            return
        operand = "r" if self._call.builtin.kind == "load" else _UPDATED
        argument = self._call.arguments[self._choice.fragments[operand]]
        written = operands[operand]
        assert isinstance(written, Vector)
        if argument.value.space == "local":
            return
        word = self._register_word(operand)
        for at, name in enumerate(written.items):
            self._plain(ST, self._words(argument, word), a=self._element(argument, at * _SIZES[word]), b=name)

    def _element(self, argument: Argument, offset: int) -> Address:
        return Address(self._base(argument, argument.value.space), argument.value.offset + offset)

    def _words(self, argument: Argument, word: str) -> dict[str, str]:
        return {"ss": argument.value.space, "type": word}

    def _register_word(self, operand: str) -> str:
        word = self._choice.register_type(operand)
        return word if word in _PREFIXES else "b32"

    def _computed(self, span: Span) -> BuiltinError:
        message = "an argument that has to be computed; expected a constant, a variable, or a pointer and a constant"
        return BuiltinError([problem(self._call.source, span, message, "builtin.computed")])


def _word(ctype: CType) -> str:
    """The PTX type of a parameter."""
    return _FLOATS.get(str(ctype), f"b{8 * ctype.size}")
