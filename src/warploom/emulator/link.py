"""Linking of a program: its operands become registers, constants and addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from types import SimpleNamespace
from typing import Any

import numpy as np

from warploom.diagnostics import Diagnostic
from warploom.diagnostics.symbols import readable_name
from warploom.emulator import multiplications
from warploom.emulator.address_space import LOCAL_WINDOW, SHARED_START
from warploom.emulator.faults import diagnostic
from warploom.emulator.grid import Topology
from warploom.emulator.multiplications import AsyncRun, Run
from warploom.emulator.program import Program, RegisterLocation, Scope, Step, Storage
from warploom.emulator.values import (
    AddressValue,
    Constant,
    Dynamic,
    NotPredicate,
    PerWarp,
    Register,
    VectorValue,
    float_constant,
    integer_constant,
    registers_of,
)
from warploom.isa.binding.bind import Binding
from warploom.isa.binding.operands import BoundOperand
from warploom.isa.model.effects import Issue
from warploom.isa.model.form import Form, no_effect
from warploom.isa.model.multiplication import Multiplication
from warploom.isa.model.semantics import Array, Geometry
from warploom.isa.model.special_registers import SpecialRegister, special
from warploom.isa.model.types import TYPES
from warploom.lazy_dataclass import dataclass
from warploom.ptx import Address, Float, Integer, Name, Negated, Operand, Symbol, Tuple, Vector

_DEVICE_RUNTIME = re.compile(r"(__)?cuda[A-Z]")  # such as cudaLaunchDeviceV2 and __cudaCDP2LaunchDeviceV2


@dataclass(frozen=True, slots=True)
class LocalBytes:
    """Range of local memory for a parameter of a device function. Units: bytes."""

    offset: int
    size: int


@dataclass(slots=True)
class Linked:
    """Instruction that is ready to run.

    `act` executes the instruction. If a run of adjacent multiplications starts at this instruction, `run` executes the
    whole run.
    """

    act: Callable[[Any, Any], None]
    operands: SimpleNamespace
    guard: Register | None
    negated: bool
    family: str
    reconverges: str  # "warp" or "warpgroup" if all its live lanes must execute together, else ""
    skips_idle: bool  # True if warps without active lanes leave the batch first
    flushes: bool = False  # True if cached accumulators and queued loads are written to registers first
    run: Run | AsyncRun | None = None

    @property
    def multiplication(self) -> Multiplication | None:
        """Record of a matrix multiplication, or None for other instructions."""
        return getattr(self.operands, "multiplication", None)


@dataclass(frozen=True, slots=True)
class _Kind:
    """Properties of all instructions with the same Form and modifiers.

    `operands` is a template: it has the modifiers, and None in the place of each operand. `unsupported` is the reason
    why the emulator cannot execute the instructions, or "".
    """

    operands: dict[str, Any]
    unsupported: str
    act: Callable[[Any, Any], None]
    family: str
    skips_idle: bool


@dataclass(slots=True)
class Linker:
    """Linker of a program, which resolves operands to registers, addresses and constants.

    `files` contains the register files by width in bits. `segments` is the result of `execute.reserve`. `problems`
    collects a diagnostic for each operand that cannot be resolved.
    """

    program: Program
    files: Mapping[int, Array]
    segments: Mapping[str, int]
    geometry: Geometry
    topology: Topology
    arch: str
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])
    _specials: dict[tuple[str, str], PerWarp | Dynamic] = field(
        default_factory=dict[tuple[str, str], "PerWarp | Dynamic"]
    )
    _registers: dict[tuple[int, int, str], Register] = field(default_factory=dict[tuple[int, int, str], Register])
    _kinds: dict[int, _Kind] = field(default_factory=dict[int, _Kind])  # by the `id` of the modifiers
    _resolved: dict[tuple[Any, ...], Any] = field(default_factory=dict[tuple[Any, ...], Any])
    _guards: dict[tuple[Scope, str], Register] = field(default_factory=dict[tuple[Scope, str], Register])
    _samples: dict[tuple[int, str], Register] = field(default_factory=dict[tuple[int, str], Register])
    _vectors: dict[tuple[Any, ...], VectorValue] = field(default_factory=dict[tuple[Any, ...], VectorValue])
    _tables: list[tuple[PerWarp, SpecialRegister]] = field(default_factory=list[tuple[PerWarp, SpecialRegister]])

    def link_all(self) -> list[Linked]:
        """Link every instruction of the program, and set `Linked.run` and `Linked.flushes`."""
        linked = [self._link(step) for step in self.program.steps]
        if not self.problems:
            self.find_runs(linked)
            self._find_flushes(linked)
        return linked

    def _link(self, step: Step) -> Linked:
        binding = step.binding
        kind = self._kinds.get(id(binding.slots)) or self._kind(binding)
        values = SimpleNamespace()
        operands = vars(values)
        operands.update(kind.operands)
        for name, bound in binding.operands.items():
            try:
                operands[name] = self._operand(step, bound)
            except _Unresolved as problem:
                self._refuse(step, problem.code, problem.message)
        form = binding.form
        if kind.unsupported:
            message = f"'{step.instruction.opcode}' cannot run on {self.arch}: {kind.unsupported}"
            self._refuse(step, "emulator.unsupported", message, form.source)
        guard = self._guard(step)
        negated = step.instruction.guard is not None and step.instruction.guard.negated
        if form.multiply is not None and not self.problems:
            values.multiplication = form.multiply(values)
        return Linked(kind.act, values, guard, negated, kind.family, form.collective, kind.skips_idle)

    def _kind(self, binding: Binding) -> _Kind:
        form = binding.form
        act = form.execution or no_effect
        if form.multiply is not None:
            act = multiplications.issue if form.is_asynchronous else multiplications.multiply
        skips_idle = form.arrives or form.suspends or form.collective == "warpgroup"
        skips_idle |= form.collective == "warp" and form.is_asynchronous
        operands = dict.fromkeys(form.operands, None) | dict(binding.slots)
        kind = _Kind(operands, form.unsupported(self.arch, binding.slots), act, form.family, skips_idle)
        self._kinds[id(binding.slots)] = kind
        return kind

    def _refuse(self, step: Step, code: str, message: str, section: str = "") -> None:
        span = step.instruction.span
        self.problems.append(diagnostic(code, message, self.program.source, span, "", section))

    # Runs and flushes -----------------------------------------------------------------------------------

    def find_runs(self, linked: list[Linked]) -> None:
        """Find adjacent multiplications that can execute together, and set `Linked.run` of the first of them."""
        pc = 0
        while pc < len(linked):
            end = self._end_of_run(linked, pc)
            first = linked[pc]
            if first.multiplication is not None and first.guard is None:
                products = [each.operands.multiplication for each in linked[pc:end]]
                is_async = first.act is multiplications.issue
                first.run = AsyncRun.of(products) if is_async else Run.of(products, self.arch)
            pc = end

    def _end_of_run(self, linked: list[Linked], first: int) -> int:
        if linked[first].multiplication is None or linked[first].guard is not None:
            return first + 1
        written: set[tuple[int, int]] = set()
        in_order = self.program.steps[first].binding.form.is_asynchronous
        for pc in range(first, self.program.block_end[first]):
            each = linked[pc]
            if each.act is not linked[first].act or each.guard is not None:
                return pc
            places = self.program.steps[pc].binding.form.operands
            if in_order:  # multiplications of an asynchronous run may use earlier results of the run
                if len(each.operands.multiplication.shared) != len(linked[first].operands.multiplication.shared):
                    return pc
                continue
            if written & _registers(each, places):
                return pc
            written |= _registers(each, [name for name, spec in places.items() if spec.access != "read"])
        return self.program.block_end[first]

    def _find_flushes(self, linked: list[Linked]) -> None:
        forms = [step.binding.form for step in self.program.steps]
        updated, loaded = ({form: names(form) for form in set(forms)} for names in (_accumulators, _loaded))
        accumulators, loads = set[tuple[int, int]](), set[tuple[int, int]]()
        for form, each in zip(forms, linked, strict=True):
            accumulators |= _registers(each, updated[form])
            loads |= _registers(each, loaded[form])
        if not accumulators and not loads:
            return
        touches: dict[tuple[int, bool], bool] = {}  # by the `id` of an operand, because instructions share operands
        for form, each in zip(forms, linked, strict=True):
            operands = vars(each.operands)
            each.flushes = form.control == "call" or form.ends_thread
            for name in form.operands:
                key = id(operands[name]), name in updated[form]
                if key not in touches:
                    kept = loads if key[1] else accumulators | loads
                    touches[key] = not kept.isdisjoint(registers_of(operands[name]))
                each.flushes |= touches[key]
        for pc, each in enumerate(linked):
            if each.run is not None:
                each.flushes = any(part.flushes for part in linked[pc : pc + len(each.run)])

    def refresh(self) -> None:
        """Read the special registers again, for the CTAs of a new wave."""
        for value, register in self._tables:
            value.table = register.read(self.geometry).astype(TYPES[value.type].dtype, copy=False)

    def formal(self, location: Storage | RegisterLocation) -> Register | LocalBytes:
        """Return the operand for a parameter or a result of a device function."""
        if isinstance(location, RegisterLocation):
            return Register("parameter", self.files[location.width], location.index, location.type)
        return LocalBytes(location.offset, location.size)

    # Operands -------------------------------------------------------------------------------------------

    def _guard(self, step: Step) -> Register | None:
        guard = step.instruction.guard
        if guard is None:
            return None
        key = step.scope, guard.name
        if key not in self._guards:
            found = step.scope.location(guard.name)
            if found is None or found.width != 1:
                message = f"the guard '{guard.name}' is not a declared predicate"
                self._refuse(step, "emulator.undeclared", message)
                return None
            self._guards[key] = Register(guard.name, self.files[1], found.index, "pred")
        return self._guards[key]

    def _operand(self, step: Step, bound: BoundOperand) -> Any:
        operand, scope, kind = bound.operand, step.scope, bound.spec.kind
        if kind == "immediate":
            assert isinstance(operand, Integer)
            return bound.spec.legal.examined(operand.value, step.binding.slots)
        key = scope, id(operand), kind, bound.type  # the program keeps its operands
        if key not in self._resolved:
            self._resolved[key] = self._resolve(scope, bound)
        return self._resolved[key]

    def _resolve(self, scope: Scope, bound: BoundOperand) -> Any:
        operand = bound.operand
        match bound.spec.kind:
            case "label":
                assert isinstance(operand, Name)
                return self._label(scope, operand.text)
            case "symbol":
                assert isinstance(operand, Name)
                return self._symbol(scope, operand.text)
            case "tuple":
                assert isinstance(operand, Tuple)
                return tuple(self._argument(scope, item) for item in operand.items)
            case "sink":
                return None
            case "any" if isinstance(operand, Negated) or self._is_predicate(scope, operand):
                return self._value(scope, operand, "pred")
            case _:
                return self._value(scope, operand, bound.type)

    def _is_predicate(self, scope: Scope, operand: Operand) -> bool:
        found = scope.location(operand.text) if isinstance(operand, Name) else None
        return found is not None and found.width == 1

    def _value(self, scope: Scope, operand: Operand, type: str) -> Any:
        match operand:
            case Name("_"):
                return None
            case Name(text):
                return self._name(scope, text, type)
            case Negated(name, "!"):
                return NotPredicate(self._register(scope, name, "pred"))
            case Integer(value):
                return integer_constant(value, type)
            case Float(bits, width):
                return float_constant(bits, width, operand.value, type)
            case Symbol(name, offset):
                return self._offset(self._name(scope, name, type), offset, type)
            case Vector(items):
                return self._vector(type, tuple(self._value(scope, item, type) for item in items))
            case Address(base, offset, extra):
                return AddressValue(
                    None if base is None else self._base(scope, base),
                    offset,
                    tuple(self._value(scope, item, "s32") for item in extra),
                )
            case _:
                raise _Unresolved("emulator.operand", f"this kind of operand is not implemented: {operand}")

    def _vector(self, type: str, items: tuple[Any, ...]) -> VectorValue:
        if not all(isinstance(item, Register) for item in items):
            return VectorValue(type, items)
        key = (type, *((item.file.dtype.itemsize, item.index) for item in items))
        if key not in self._vectors:  # one object for equal registers, as multiplications compare by identity
            self._vectors[key] = VectorValue(type, items)
        return self._vectors[key]

    def _base(self, scope: Scope, base: Operand) -> Any:
        if isinstance(base, Name):
            found = scope.location(base.text)
            if found is not None:
                if found.width not in (32, 64):
                    message = f"the address register '{base.text}' has {found.width} bits; expected 32 or 64"
                    raise _Unresolved("emulator.operand", message)
                return self._register_at(found, base.text, f"b{found.width}")
            return self._name(scope, base.text, "b64")
        return self._value(scope, base, "b64")

    def _name(self, scope: Scope, text: str, type: str) -> Any:
        found = scope.location(text)
        if found is not None:
            return self._register_at(found, text, type)
        if text.startswith("%"):
            known = special(text)
            if known is not None:
                return self._special(known, type)
        variable = scope.variable(text)
        if variable is not None:
            return self._address_of(variable, type)
        address = self.program.address_of(text)
        if address is not None:
            return integer_constant(address, type)
        raise _Unresolved("emulator.undeclared", f"'{text}' is neither declared nor an implemented special register")

    def _register(self, scope: Scope, text: str, type: str) -> Register:
        found = scope.location(text)
        if found is None:
            raise _Unresolved("emulator.undeclared", f"the register '{text}' is not declared")
        return self._register_at(found, text, type)

    def _register_at(self, found: RegisterLocation, text: str, type: str) -> Register:
        key = (found.width, found.index, type)
        known = self._registers.get(key)
        if known is not None:
            return known
        sample = self._samples.get((found.width, type))
        if sample is None:
            kind = TYPES[type]
            width = kind.dtype.itemsize * 8 if kind.kind != "predicate" else 1
            if found.width < width or (width == 1) != (found.width == 1):
                message = f"the register '{text}' of type .{found.type} cannot hold a value of type .{type}"
                raise _Unresolved("emulator.operand", message)
            sample = self._samples[found.width, type] = Register(text, self.files[found.width], found.index, type)
        register = self._registers[key] = sample.at(text, found.index)
        return register

    def _special(self, register: SpecialRegister, type: str) -> PerWarp | Dynamic:
        key = (register.name, type)
        if key not in self._specials:
            dtype = TYPES[type].dtype

            def read() -> Array:
                self.geometry.ticks += 1  # a clock advances with each read
                return register.read(self.geometry).astype(dtype)

            if register.dynamic:
                self._specials[key] = Dynamic(type, read)
            else:
                value = PerWarp(type, register.read(self.geometry).astype(dtype, copy=False))
                self._tables.append((value, register))
                self._specials[key] = value
        return self._specials[key]

    def _address_of(self, variable: Storage, type: str) -> Any:
        if variable.space in ("shared", "dynamic"):
            start = self.program.dynamic_start if variable.space == "dynamic" else variable.offset
            if self.topology.cluster_size == 1:
                return integer_constant(SHARED_START + start, type)
            dtype = TYPES[type].dtype
            windows = (self.topology.rank[self.topology.cta_of] << 24).astype(np.uint64)[:, None]
            return PerWarp(type, (windows + np.uint64(SHARED_START + start)).astype(dtype))
        if variable.space == "local":
            return integer_constant(variable.offset, type)
        if variable.space == "stack":
            return integer_constant(LOCAL_WINDOW + variable.offset, type)
        base = self.segments["" if variable.space == "param" else variable.name]
        return integer_constant(base + variable.offset, type)

    def _offset(self, value: Any, offset: int, type: str) -> Any:
        dtype = TYPES[type].dtype
        if isinstance(value, Constant):
            return Constant(type, value.array + dtype.type(offset))
        if isinstance(value, PerWarp):
            return PerWarp(type, value.table + dtype.type(offset))
        raise _Unresolved("emulator.operand", "an offset from a register is only allowed in an address operand")

    # Control --------------------------------------------------------------------------------------------

    def _label(self, scope: Scope, text: str) -> int:
        found = scope.label(text)
        if found is None:
            raise _Unresolved("emulator.undeclared", f"the label '{text}' is not declared")
        return found

    def _symbol(self, scope: Scope, text: str) -> Any:
        table = scope.table(text)
        if table is not None:
            if table.name != ".branchtargets":
                return None
            return np.array([self._label(scope, name) for name in table.names], np.int64)
        address = self.program.address_of(text)
        if address is not None:
            return integer_constant(address, "u64")
        found = scope.location(text)
        if found is not None:
            return self._register_at(found, text, "u64")
        if _DEVICE_RUNTIME.match(text):
            message = f"'{text}' is a function of the CUDA device runtime; launches from the device are not implemented"
            raise _Unresolved("emulator.device-launch", message)
        raise _Unresolved("emulator.extern", f"the function '{readable_name(text)}' is not defined in the module")

    def _argument(self, scope: Scope, operand: Operand) -> Any:
        if isinstance(operand, Name):
            variable = scope.variable(operand.text)
            if variable is not None and variable.space == "stack":
                return LocalBytes(variable.offset, variable.size)
            found = scope.location(operand.text)
            if found is not None:
                return self._register_at(found, operand.text, found.type)
        return self._value(scope, operand, "b64")


def _accumulators(form: Form) -> list[str]:
    """Return the operands to which multiplications of a warpgroup add."""
    if not form.multiplies or form.collective != "warpgroup":
        return []
    return [name for name, spec in form.operands.items() if spec.access == "both"]


def _loaded(form: Form) -> list[str]:
    """Return the operands that an asynchronous instruction writes later."""
    if not any(isinstance(effect, Issue) for effect in form.effects):
        return []
    return [name for name, spec in form.operands.items() if (spec.kind, spec.access) == ("register", "write")]


def _registers(each: Linked, names: Iterable[str]) -> set[tuple[int, int]]:
    return set[tuple[int, int]]().union(*(registers_of(getattr(each.operands, name)) for name in names))


class _Unresolved(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
