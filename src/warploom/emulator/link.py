"""From operands of the tree to values of the machine: names are resolved, constants made arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import Diagnostic
from warploom.emulator.faults import diagnostic
from warploom.emulator.memory import LOCAL_WINDOW, SHARED_START
from warploom.emulator.program import Program, RegisterPlace, Scope, Step, Storage
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
)
from warploom.isa.binding.operands import BoundOperand
from warploom.isa.model.semantics import Geometry
from warploom.isa.model.special_registers import SpecialRegister, special
from warploom.isa.model.types import TYPES
from warploom.ptx import Address, Float, Integer, Name, Negated, Operand, Symbol, Tuple, Vector

CODE_BASE = 0x100_0000_0000  # addresses of device functions


@dataclass(frozen=True, slots=True)
class LocalBytes:
    """A parameter of a device function, in each thread's local memory."""

    offset: int
    size: int


@dataclass(slots=True)
class Linked:
    """An instruction ready to run."""

    act: Callable[[Any, Any], None]
    operands: SimpleNamespace
    guard: Register | None
    negated: bool
    family: str
    gather: str  # "", "warp" or "warpgroup": who must be here
    whole: bool  # warps none of whose lanes are active take no part
    together: Callable[[Any, Any], None] | None  # what a run of such instructions does
    settles: bool = False  # it touches registers that may be held as matrices
    run: tuple[SimpleNamespace, ...] = ()  # operands of the run that begins here, when there is one


@dataclass(slots=True)
class Linker:
    """Resolves the operands of a program against register files and addresses.

    `segments` gives the address of each global variable and of the kernel's parameters (under "").
    """

    program: Program
    files: Mapping[int, NDArray[Any]]
    segments: Mapping[str, int]
    geometry: Geometry
    arch: str
    rank_base: NDArray[np.uint64]  # (warps, 1): rank << 24 of each warp's CTA
    clustered: bool
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])
    specials: dict[tuple[str, str], PerWarp | Dynamic] = field(
        default_factory=dict[tuple[str, str], "PerWarp | Dynamic"]
    )
    _registers: dict[tuple[int, int, str], Register] = field(
        default_factory=dict[tuple[int, int, str], Register]
    )
    _vectors: dict[tuple[Any, ...], VectorValue] = field(default_factory=dict[tuple[Any, ...], VectorValue])
    _tables: list[tuple[PerWarp, SpecialRegister]] = field(
        default_factory=list[tuple[PerWarp, SpecialRegister]]
    )

    def link(self, step: Step) -> Linked:
        """One instruction. What cannot be resolved is added to `problems`."""
        values = SimpleNamespace(**dict.fromkeys(step.binding.form.operands, None))
        for slot, word in step.binding.slots.items():
            setattr(values, slot, word)
        for name, bound in step.binding.operands.items():
            try:
                setattr(values, name, self._operand(step, bound))
            except _Unresolved as problem:
                self.problems.append(
                    diagnostic(problem.code, problem.message, self.program.source, step.instruction.span)
                )
        form = step.binding.form
        if complaint := form.unsupported(self.arch, step.binding.slots):
            message = f"'{step.instruction.opcode}' cannot run on {self.arch}: {complaint}"
            span = step.instruction.span
            self.problems.append(
                diagnostic("emulator.unsupported", message, self.program.source, span, "", form.source)
            )
        guard = self._guard(step)
        gather = form.collective
        whole = form.arrives or form.suspends or gather == "warpgroup"
        act = step.binding.form.execution
        assert act is not None
        negated = step.instruction.guard is not None and step.instruction.guard.negated
        return Linked(act, values, guard, negated, form.family, gather, whole, form.run_execution)

    def find_runs(self, linked: list[Linked]) -> None:
        """Find what may be done together: neighbours in a block none of which needs what one before it writes.

        What is asynchronous takes effect in order, and may need it.
        """
        pc = 0
        while pc < len(linked):
            end = self._end_of_run(linked, pc)
            if end - pc > 1:
                linked[pc].run = tuple(each.operands for each in linked[pc:end])
            pc = end

    def find_settling(self, linked: list[Linked]) -> None:
        """Find what touches registers that multiplications of warpgroups sum in, otherwise than to sum in them."""
        summed: set[tuple[int, int]] = set()
        others: list[list[str]] = []
        for step, each in zip(self.program.steps, linked, strict=True):
            form = step.binding.form
            sums = form.multiplies and form.collective == "warpgroup"
            updated = {name for name, place in form.operands.items() if sums and place.access == "both"}
            others.append([name for name in form.operands if name not in updated])
            summed |= self._touched(each, updated)
        if not summed:
            return
        for step, each, names in zip(self.program.steps, linked, others, strict=True):
            crosses = step.binding.form.control == "call" or step.binding.form.ends_thread
            each.settles = crosses or not summed.isdisjoint(self._touched(each, names))

    @staticmethod
    def _touched(each: Linked, names: Iterable[str]) -> set[tuple[int, int]]:
        return set[tuple[int, int]]().union(*(_registers(getattr(each.operands, name)) for name in names))

    def _end_of_run(self, linked: list[Linked], first: int) -> int:
        together = linked[first].together
        if together is None or linked[first].guard is not None:
            return first + 1
        written: set[tuple[int, int]] = set()
        in_order = self.program.steps[first].binding.form.is_asynchronous
        for pc in range(first, self.program.block_end[first]):
            each = linked[pc]
            if each.together is not together or each.guard is not None:
                return pc
            places = self.program.steps[pc].binding.form.operands
            if in_order:
                continue
            if written & self._touched(each, places):
                return pc
            written |= self._touched(each, [name for name, place in places.items() if place.access != "read"])
        return self.program.block_end[first]

    def refresh(self) -> None:
        """Compute the tables of special registers again, for CTAs that have changed."""
        for value, register in self._tables:
            value.table = register.read(self.geometry)

    def place(self, where: Storage | RegisterPlace) -> Any:
        """The value of a device function's parameter."""
        if isinstance(where, RegisterPlace):
            return Register("parameter", self.files[where.width], where.index, where.type)
        return LocalBytes(where.offset, where.size)

    # Operands -------------------------------------------------------------------------------------------

    def _guard(self, step: Step) -> Register | None:
        guard = step.instruction.guard
        if guard is None:
            return None
        found = step.scope.place(guard.name)
        if found is None or found.width != 1:
            message = f"the guard '{guard.name}' is not a declared predicate"
            self.problems.append(
                diagnostic("emulator.undeclared", message, self.program.source, step.instruction.span)
            )
            return None
        return Register(guard.name, self.files[1], found.index, "pred")

    def _operand(self, step: Step, bound: BoundOperand) -> Any:
        operand, scope = bound.operand, step.scope
        match bound.place.kind:
            case "immediate":
                assert isinstance(operand, Integer)
                return bound.place.legal.examined(operand.value, step.binding.slots)
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
        found = scope.place(operand.text) if isinstance(operand, Name) else None
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
        """The same value for the same registers: that tells who goes on with the sums of whom."""
        if not all(isinstance(item, Register) for item in items):
            return VectorValue(type, items)
        key = (type, *((item.raw.dtype.itemsize, item.index) for item in items))
        if key not in self._vectors:
            self._vectors[key] = VectorValue(type, items)
        return self._vectors[key]

    def _base(self, scope: Scope, base: Operand) -> Any:
        if isinstance(base, Name):
            found = scope.place(base.text)
            if found is not None:
                if found.width not in (32, 64):
                    raise _Unresolved(
                        "emulator.operand",
                        f"the address register '{base.text}' has {found.width} bits; expected 32 or 64",
                    )
                return self._register(scope, base.text, f"b{found.width}")
            return self._name(scope, base.text, "b64")
        return self._value(scope, base, "b64")

    def _name(self, scope: Scope, text: str, type: str) -> Any:
        if scope.place(text) is not None:
            return self._register(scope, text, type)
        if text.startswith("%"):
            known = special(text)
            if known is not None:
                return self._special(known, type)
        variable = scope.variable(text)
        if variable is not None:
            return self._address_of(variable, type)
        activation = self.program.activations.get(text)
        if activation is not None:
            return integer_constant(CODE_BASE + activation.entry, type)
        raise _Unresolved(
            "emulator.undeclared", f"'{text}' is not declared, and no special register that is implemented"
        )

    def _register(self, scope: Scope, text: str, type: str) -> Register:
        found = scope.place(text)
        if found is None:
            raise _Unresolved("emulator.undeclared", f"the register '{text}' is not declared")
        kind = TYPES[type]
        width = kind.dtype.itemsize * 8 if kind.kind != "predicate" else 1
        if found.width < width or (width == 1) != (found.width == 1):
            raise _Unresolved(
                "emulator.operand",
                f"the register '{text}' of type .{found.type} cannot hold a value of type .{type}",
            )
        key = (found.width, found.index, type)
        if key not in self._registers:
            self._registers[key] = Register(text, self.files[found.width], found.index, type)
        return self._registers[key]

    def _special(self, register: SpecialRegister, type: str) -> PerWarp | Dynamic:
        key = (register.name, type)
        if key not in self.specials:
            dtype = TYPES[type].dtype
            if register.dynamic:
                self.specials[key] = Dynamic(type, lambda: register.read(self.geometry).astype(dtype))
            else:
                value = PerWarp(type, register.read(self.geometry))
                self._tables.append((value, register))
                self.specials[key] = (
                    value if value.table.dtype == dtype else Dynamic(type, lambda: value.table.astype(dtype))
                )
        return self.specials[key]

    def _address_of(self, variable: Storage, type: str) -> Any:
        if variable.space in ("shared", "dynamic"):
            start = self.program.dynamic_start if variable.space == "dynamic" else variable.offset
            if not self.clustered:
                return integer_constant(SHARED_START + start, type)
            dtype = TYPES[type].dtype
            return PerWarp(type, (self.rank_base + np.uint64(SHARED_START + start)).astype(dtype))
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
        raise _Unresolved(
            "emulator.operand", "an offset from a register stands in an operand that is no address"
        )

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
        if text in self.program.activations:
            return integer_constant(CODE_BASE + self.program.activations[text].entry, "u64")
        if scope.place(text) is not None:
            return self._register(scope, text, "u64")
        raise _Unresolved(
            "emulator.extern",
            f"the function '{text}' is not defined in the module; functions of the driver are not implemented",
        )

    def _argument(self, scope: Scope, operand: Operand) -> Any:
        if isinstance(operand, Name):
            variable = scope.variable(operand.text)
            if variable is not None and variable.space == "stack":
                return LocalBytes(variable.offset, variable.size)
            found = scope.place(operand.text)
            if found is not None:
                return self._register(scope, operand.text, found.type)
        return self._value(scope, operand, "b64")


def _registers(value: Any) -> set[tuple[int, int]]:
    """The registers of an operand: width in bytes and index."""
    match value:
        case Register():
            return {(value.raw.dtype.itemsize, value.index)}
        case NotPredicate():
            return _registers(value.register)
        case VectorValue(run=run) if run is not None:
            return {(run.dtype.itemsize, number) for number in value.numbers.tolist()}
        case VectorValue():
            return _registers(value.items)
        case tuple():
            return set[tuple[int, int]]().union(*map(_registers, cast("tuple[Any, ...]", value)))
        case AddressValue():
            return _registers(value.base) | _registers(value.extra)
        case _:
            return set()


class _Unresolved(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
