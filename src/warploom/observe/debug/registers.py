"""Values of registers in a stopped launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import did_you_mean, one_of
from warploom.emulator.blocks import names_in
from warploom.emulator.emulator import Emulator
from warploom.emulator.program import Program, RegisterLocation, Scope
from warploom.emulator.state import State
from warploom.isa.binding.bind import Binding
from warploom.isa.model.multiplication import Multiplication, RegisterMatrix
from warploom.isa.model.operand_layout import DEFAULT_INPUTS
from warploom.isa.model.special_registers import SPECIAL_REGISTERS, special
from warploom.layout import FragmentMap
from warploom.lazy_dataclass import dataclass
from warploom.observe.debug.values import Array, Matrix, element_numbers, numbers
from warploom.ptx.flow import EXIT

_WARPGROUP = 4  # warps


@dataclass(frozen=True, slots=True, eq=False)
class RegisterValue:
    """Values of one register of a warp, in the PTX type `type`.

    Shapes: bits (lanes,); numbers (lanes,), or (lanes, elements) for a packed type.
    """

    name: str
    type: str
    bits: Array
    numbers: Array


def locate(scope: Scope, name: str) -> RegisterLocation:
    """Return the location of a register that is visible in a scope.

    Errors: UsageError debug.register for an unknown name or a whole vector register.
    """
    found = scope.location(name)
    if found is None:
        known = {*SPECIAL_REGISTERS, *_register_names(scope)}
        hint = did_you_mean(name, known, "'")
        raise UsageError(f"unknown register '{name}'", code="debug.register", hint=hint)
    if found.members > 1:
        members = one_of(f"'{name}.{member}'" for member in "xyzw"[: found.members])
        raise UsageError(f"'{name}' is a vector register; expected {members}", code="debug.register")
    return found


def _register_names(scope: Scope) -> set[str]:
    names: set[str] = set()
    for each in scope.enclosing():
        names.update(each.registers)
        for stem, (count, _) in each.ranges.items():
            names.update(f"{stem}{number}" for number in range(count))
    return names


def source_of(scope: Scope, name: str) -> tuple[str, Callable[[State, NDArray[np.intp]], Array]]:
    """Return the declared type of a register or a special register, and a function that reads its bits.

    The function returns the bits in some of the resident warps. Shapes: warps (warps,), result (warps, 32).

    Errors: UsageError debug.register.
    """
    found = special(name)
    if found is None:
        location = locate(scope, name)
        return location.type, lambda state, warps: state.files[location.width][location.index, warps]

    def read(state: State, warps: NDArray[np.intp]) -> Array:
        table = found.read(state.grid)
        return np.broadcast_to(table if len(table) == 1 else table[warps], (len(warps), 32))

    return found.type, read


class Registers:
    """Reader of the registers of the resident warps.

    A read writes cached accumulators back to the registers, which does not change the results of the launch.
    """

    def __init__(self, emulator: Emulator) -> None:
        self.emulator = emulator
        self.program = emulator.program

    def read(self, name: str, pc: int, warp: int, *, type: str = "") -> RegisterValue:
        """Return the value of a register, or of a special register, in all lanes of a resident warp.

        `pc` selects the scope in which the name is declared. `type` replaces the declared type.

        Shapes: 32 lanes.
        Errors: UsageError debug.register, debug.type.
        """
        self.emulator.accumulators.flush()
        declared, read = source_of(self.program.steps[pc].scope, name)
        (bits,) = read(self.emulator.state, np.array([warp], np.intp))
        chosen = type or declared
        return RegisterValue(name, chosen, bits.copy(), numbers(bits, chosen))

    def live(self, pc: int) -> tuple[str, ...]:
        """Return the names of the registers whose values an instruction at `pc`, or a later one, may read.

        The names are in the order of their first use in the program. Reads by called functions do not count.
        """
        found = self.program.analysis(_Liveness)
        return found.names_at(pc)

    def fragment(self, pc: int, operand: str, warp: int) -> Matrix:
        """Return a matrix operand of the instruction at `pc` that is in registers of a warp or warpgroup.

        `operand` is the name of the matrix (A, B, C, D, metadata, R) or of the operand in the syntax line. For a
        warpgroup, `warp` is any of its four warps.

        Errors: UsageError debug.operand if the instruction has no such operand, or has it in memory.
        """
        binding = self.program.steps[pc].binding
        key = operand_key(binding, operand)
        spec = binding.form.operands[key]
        layout = spec.layout
        assert layout is not None
        if spec.kind != "register" or layout.needs not in ((), ("selector",)):
            raise UsageError(
                f"the operand '{key}' is in memory; expected an operand in registers", code="debug.operand"
            )
        value = getattr(self.emulator.linked[pc].operands, key)
        product = self.emulator.linked[pc].multiplication
        if layout.needs:
            assert product is not None
            assert product.metadata is not None
            found = product.metadata.map.fragment()
        else:
            map_ = layout.map(binding.slots, DEFAULT_INPUTS)
            assert isinstance(map_, FragmentMap)
            found = map_
        self.emulator.accumulators.flush()
        warps = self._warps(warp, found.lanes)
        batch = self.emulator.asynchronous.make_batch(warps, None)
        bits = batch.read_vector(value) if spec.count else batch.read(value)[None]
        registers = np.ascontiguousarray(bits).reshape(1, len(bits), -1)
        raw = registers.view(f"u{registers.dtype.itemsize}")
        if (found.row < 0).any():
            raise UsageError(f"{found.name} is not a whole matrix", code="debug.operand")
        matrix, (element, padded) = found.gather(raw)[0], _element(product, layout.operand, found)
        if padded and element == "e2m1":
            matrix = matrix >> 2  # the element is in the middle of its byte
        where = self.emulator.state.placement.describe_warp(int(warps[0]))
        if len(warps) > 1:
            first = int(self.emulator.topology.warp_in_cta[warps[0]])
            where = f"{self.emulator.state.placement.describe_cta(int(self.emulator.topology.cta_of[warp]))}, "
            where += f"warps {first} to {first + len(warps) - 1}"
        return Matrix(f"{found.name} in {where}", element, element_numbers(matrix, element))

    def _warps(self, warp: int, lanes: int) -> NDArray[np.intp]:
        """Return a warp, or the four warps of its warpgroup for a map of 128 lanes."""
        if lanes == 32:
            return np.array([warp], np.intp)
        topology = self.emulator.topology
        warps = np.flatnonzero(topology.warpgroup_of == topology.warpgroup_of[warp])
        if len(warps) < _WARPGROUP:
            raise UsageError("the warp does not belong to a whole warpgroup", code="debug.operand")
        return warps


def operand_key(binding: Binding, operand: str) -> str:
    """Return the name, in the syntax line, of a matrix operand of an instruction.

    `operand` is this name, or the name of the matrix.

    Errors: UsageError debug.operand if the instruction has no such operand.
    """
    layouts = {
        key: bound.spec.layout.operand for key, bound in binding.operands.items() if bound.spec.layout is not None
    }  # fmt: skip
    wanted = operand.replace("-", "_")
    for key, name in layouts.items():
        if wanted in (key, name.replace("-", "_")):
            return key
    legal = f"expected {one_of(layouts.values())}" if layouts else "the instruction has no matrix operands"
    raise UsageError(f"unknown matrix operand '{operand}'; {legal}", code="debug.operand")


def _element(product: Multiplication | None, operand: str, found: FragmentMap) -> tuple[str, bool]:
    """Return the element type of a matrix in registers, and True if elements are padded to 8 bits."""
    matrix: Any = None if product is None else getattr(product, operand.lower(), None)
    if isinstance(matrix, RegisterMatrix):
        return matrix.element, matrix.padded
    return f"b{max(found.bits, 8)}", False


class _Liveness:
    """Registers that are live before each instruction, as bits of integers."""

    def __init__(self, program: Program) -> None:
        self.names: list[str] = []
        numbers_of: dict[tuple[int, int], int] = {}
        self._reads: list[int] = []
        self._writes: list[int] = []
        for step in program.steps:
            reads = writes = 0
            guard = step.instruction.guard
            operands = [(bound.operand, bound.spec.access, bound.spec.kind) for bound in step.binding.operands.values()]
            for operand, access, kind in operands:
                found = 0
                for name in names_in(operand):
                    found |= self._bits(step.scope, name, numbers_of)
                if access == "write" and kind != "address":
                    writes |= found
                else:
                    reads |= found
            if guard is not None:
                reads |= self._bits(step.scope, guard.name, numbers_of)
                writes = 0  # lanes with a false guard keep the old value
            self._reads.append(reads)
            self._writes.append(writes)
        self._live = self._solve(program)

    def _bits(self, scope: Scope, name: str, numbers_of: dict[tuple[int, int], int]) -> int:
        found = scope.location(name)
        bits = 0
        for member in range(0 if found is None else found.members):
            assert found is not None
            key = found.width, found.index + member
            if key not in numbers_of:
                numbers_of[key] = len(self.names)
                self.names.append(name if found.members == 1 else f"{name}.{'xyzw'[member]}")
            bits |= 1 << numbers_of[key]
        return bits

    def _solve(self, program: Program) -> list[int]:
        live = [0] * len(program.steps)
        before = program.preceding()
        pending = list(range(len(live)))
        while pending:
            pc = pending.pop()
            after = 0
            for following in program.following[pc]:
                after |= live[following] if following != EXIT else 0
            found = self._reads[pc] | after & ~self._writes[pc]
            if found != live[pc]:
                live[pc] = found
                pending.extend(before[pc])
        return live

    def names_at(self, pc: int) -> tuple[str, ...]:
        live = self._live[pc]
        return tuple(name for number, name in enumerate(self.names) if live >> number & 1)
