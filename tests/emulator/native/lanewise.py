"""Execution of single instructions by the interpreter and by native functions, on the same register files."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count, product
from types import SimpleNamespace
from typing import Any
from zlib import crc32

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray

from warploom.emulator import address_space
from warploom.emulator.batch import Batch
from warploom.emulator.native.compiler import compile_functions, compile_runtime
from warploom.emulator.native.context import Field
from warploom.emulator.native.operands import RECORD, OperandTable, Records
from warploom.emulator.native.wanted import Wanted
from warploom.emulator.values import Register, VectorValue
from warploom.isa.model.form import Form
from warploom.isa.model.types import TYPES
from warploom.numerics._stored import target_machine

WARPS = 8
ARCH = "sm_100a"
"""Architecture of the native functions."""
_FILES: dict[int, Any] = {1: np.bool_, 8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, *[ctypes.c_void_p] * 2)
_BITS = np.uint32(1) << np.arange(32, dtype=np.uint32)

_numbers = count()
Words = Mapping[str, str]


def _magnitudes(bits: int, mantissa: int) -> list[int]:
    """Return zero, the limits of subnormal and normal numbers, one, infinity and NaNs of a floating-point format."""
    infinity = (1 << bits - 1) - (1 << mantissa)
    one = (infinity >> 1) & infinity
    smallest = 1 << mantissa
    nans = [infinity | 1, infinity | 1 << mantissa - 1, infinity | smallest - 1]
    return [0, 1, smallest - 1, smallest, smallest | 1, one, one + 1, one - 1, infinity - 1, infinity, *nans]


_MANTISSAS: Mapping[int, Sequence[int]] = {8: (2, 3), 16: (10, 7), 32: (23,), 64: (52,)}


def special_values(bits: int) -> NDArray[Any]:
    """Return special floating-point numbers of both signs, extreme integers, and integers near shift counts."""
    numbers = [x for mantissa in _MANTISSAS[bits] for x in _magnitudes(bits, mantissa)]
    signs = [x | 1 << bits - 1 for x in numbers]
    integers = [*range(-4, 12), 15, 16, 23, 24, 31, 32, 33, 63, 64, 65, 1 << bits - 1, (1 << bits - 1) - 1, bits]
    return np.array([x % (1 << bits) for x in (*numbers, *signs, *integers)], _FILES[bits])


class RegisterFiles:
    """Register files of `WARPS` warps, and a list of the registers that an instruction uses."""

    def __init__(self) -> None:
        self.files: dict[int, NDArray[Any]] = {bits: np.zeros((16, WARPS, 32), dtype) for bits, dtype in _FILES.items()}
        self.carry = np.zeros((WARPS, 32), np.bool_)
        self._used = dict.fromkeys(_FILES, 0)

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """All register files and the carry flags."""
        return [*self.files.values(), self.carry]

    def register(self, type: str) -> Register:
        """Return a register of a PTX type that no other operand uses."""
        bits = 1 if type == "pred" else 8 * TYPES[type].dtype.itemsize
        self._used[bits] += 1
        return Register(f"%{type}", self.files[bits], self._used[bits] - 1, type)

    def fill(self, random: np.random.Generator) -> None:
        """Fill the registers with special values, small numbers, f32 and f64 numbers of many sizes, and random bits."""
        self.carry[:] = random.integers(0, 2, self.carry.shape)
        self.files[1][:] = random.integers(0, 2, self.files[1].shape)
        for bits, file in self.files.items():
            if bits == 1:
                continue
            shape, dtype = file.shape, file.dtype
            choices = [
                np.frombuffer(random.bytes(file.nbytes), dtype).reshape(shape),
                random.choice(special_values(bits), shape),
                random.integers(0, 70, shape).astype(dtype),
            ]
            if bits >= 32:
                scaled = random.standard_normal(shape) * 10.0 ** random.integers(-6, 7, shape)
                choices.append(scaled.astype(f"f{bits // 8}").view(dtype))
            file[:] = np.choose(random.integers(0, len(choices), shape), choices)


class _Warps(Batch):
    """Batch whose warps have no diverged lanes."""

    def gather_members(self, members: NDArray[np.uint32]) -> None:
        """Do nothing, because all lanes are here."""

    to_generic = staticmethod(address_space.to_generic)
    from_generic = staticmethod(address_space.from_generic)
    is_space = staticmethod(address_space.in_window)
    map_rank = staticmethod(address_space.map_rank)
    rank_of = staticmethod(address_space.rank_of)


def variants(form: Form) -> list[Words]:
    """Return the combinations of modifiers of a form, except those with 128-bit registers."""
    found: dict[tuple[str, ...], Words] = {}
    for row in form.rows:
        columns = [column for column in form.columns if column in row.cells]
        for words in product(*(sorted(row.cells[column]) for column in columns)):
            found.setdefault(words, dict(zip(columns, words, strict=True)))
    return [words for words in found.values() if "b128" not in words.values()]


def spread(form: Form, most: int) -> list[Words]:
    """Return at most `most` variants of a form in an order that is mixed but always the same."""
    return sorted(variants(form), key=lambda words: crc32(repr(words).encode()))[:most]


_SELECTORS = ("", "b0", "b1", "b3", "h0", "h1", "h10", "h02", "h31", "b20", "b321", "b3210", "b6420", "b1357")


def _marks(form: Form, words: Words) -> dict[str, str]:
    """Return a minus sign or none, and a selector or none, for each operand that may have them."""
    found: dict[str, str] = {}
    for mark in form.syntax.marks:
        number = crc32(repr((mark.operand, words)).encode())
        pattern = form.operands[mark.operand].selector_pattern(words)
        legal = ["", *(text for text in _SELECTORS if pattern and re.fullmatch(pattern, text))]
        found |= {mark.minus: "-" * (number % 2), mark.selector: legal[number // 2 % len(legal)]}
    return found


def operands(form: Form, words: Words, files: RegisterFiles) -> SimpleNamespace:
    """Return the operands of a variant: a register for each operand, and a constant for each immediate."""
    found = SimpleNamespace(**dict.fromkeys(form.operands))
    vars(found).update({word.slot: "" for word in form.syntax.words if word.slot} | dict(words) | _marks(form, words))
    for name, spec in form.operands.items():
        if spec.when and not words.get(spec.when):
            continue
        word = spec.type_word(words)
        size = spec.registers(words)
        if spec.kind == "immediate":
            values = list(spec.constants(words) or range(256))
            setattr(found, name, values[crc32(repr((name, words)).encode()) % len(values)])
        elif size:
            setattr(found, name, VectorValue(word, tuple(files.register(word) for _ in range(size))))
        else:
            setattr(found, name, files.register(word))
    return found


@dataclass(slots=True)
class Execution:
    """Variant of an instruction with its registers, and the address of its native function."""

    form: Form
    words: Words
    files: RegisterFiles
    operands: SimpleNamespace
    table: OperandTable
    address: int = 0

    def interpret(self, masks: NDArray[np.uint32]) -> None:
        """Execute the instruction in the interpreter."""
        lanes = (masks[:, None] & _BITS) != 0
        state: Any = SimpleNamespace(splits=SimpleNamespace(diverged=False), carry=self.files.carry)
        warps = np.arange(WARPS)
        execution = self.form.execution
        assert execution is not None
        with np.errstate(all="ignore"):
            execution(_Warps(state, warps, warps, lanes), self.operands)  # type: ignore[arg-type]

    def run_natively(self, masks: NDArray[np.uint32]) -> None:
        """Execute the native function of the instruction."""
        records = Records(np.zeros(len(self.table.values), RECORD))
        records.fill(0, self.table.values)
        context = np.zeros(len(Field), np.int64)
        context[Field.CARRY] = self.files.carry.ctypes.data
        warps = np.arange(WARPS, dtype=np.int64)
        pointers = [array.ctypes.data for array in (records.table, context, warps, masks)]
        assert _FUNCTION(self.address)(*pointers[:2], WARPS, *pointers[2:]) == WARPS

    def differences(self, masks: NDArray[np.uint32]) -> list[str]:
        """Execute the instruction in both engines. Describe the lanes in which registers differ."""
        before = [array.copy() for array in self.files.arrays]
        self.interpret(masks)
        expected = [array.copy() for array in self.files.arrays]
        for array, old in zip(self.files.arrays, before, strict=True):
            array[:] = old
        self.run_natively(masks)
        return [
            f"{self.form.name} {dict(self.words)}: expected {expected[k][place]:#x}, got {array[place]:#x} at {place}"
            f" for {[hex(int(x[index, *place[-2:]])) for x, index in self._sources()]}"
            for k, array in enumerate(self.files.arrays)
            for place in map(tuple, np.argwhere(array != expected[k])[:1])
        ]

    def _sources(self) -> Iterator[tuple[NDArray[Any], int]]:
        for name, spec in self.form.operands.items():
            value = getattr(self.operands, name)
            for item in getattr(value, "items", (value,)) if spec.access == "read" else ():
                if isinstance(item, Register):
                    yield item.file, item.index


@cache
def _engine() -> Any:
    module = llvm.parse_assembly("")
    module.triple = llvm.get_default_triple()
    engine = llvm.create_mcjit_compiler(module, target_machine(1))
    engine.add_object_file(llvm.ObjectFileRef.from_data(compile_runtime()))
    return engine


def compiled(form: Form, chosen: Sequence[Words]) -> list[Execution]:
    """Compile variants of a form in one module, and return their executions.

    The cache on disk is not used.
    """
    found: list[Execution] = []
    for words in chosen:
        files = RegisterFiles()
        values = operands(form, words, files)
        found.append(Execution(form, words, files, values, OperandTable.of(values)))
    names = [f"{form.name} {' '.join(words.values())} {next(_numbers)}" for words in chosen]
    wanted = [Wanted(name, form, each.table.names, ARCH) for name, each in zip(names, found, strict=True)]
    code, kinds = compile_functions(wanted)
    assert "none" not in kinds.values(), kinds
    _engine().add_object_file(llvm.ObjectFileRef.from_data(code))
    _engine().finalize_object()
    for execution, name in zip(found, names, strict=True):
        execution.address = int(_engine().get_function_address(name))
    return found
