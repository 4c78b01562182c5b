"""Comparison of stored values with memory, and with values that other lanes store to the same address."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.access import uniform
from warploom.emulator.events import Launch
from warploom.emulator.values import registers_of
from warploom.isa.model import effects
from warploom.numerics._compile import njit
from warploom.numerics.formats import decode, element_format
from warploom.observe.sanitize.registers import moves, once_per_program

Array = NDArray[Any]

_SIGNIFICANDS = {"f64": 53, "f32": 24, "f16": 11, "f16x2": 11, "bf16": 8, "bf16x2": 8}
"""Bits of a significand with its leading bit, by PTX type."""
_DIFFERENT = 2


@dataclass(frozen=True, slots=True)
class Store:
    """Store of lanes: byte offsets, active lanes, size in bytes, values and their PTX type.

    The type is that of the instructions that computed the values, "" if they have several types. Shapes: byte offsets
    and active lanes (warps, 32), values (elements, warps, 32).
    """

    index: Array
    lanes: Array
    size: int
    values: Array
    type: str


def harmful(conflicts: Array, what: int, memory: Array, store: Store, pc: int) -> Array:
    """Remove the conflicts whose stores need no order from `conflicts`, and return the others.

    A row has the columns of `_shared_shadow.add_conflict`. Rows of another kind than `what` remain. `pc` is the
    instruction of `store`. Stores need no order in two cases. In the first, the store does not change the bytes in
    `memory`. In the second, one instruction executes both stores, and all lanes that store to the address store the
    same value. Floating-point values count as the same if they agree in half of their significand bits: the lanes have
    computed one result with different orders of the additions.
    """
    wide = np.empty((len(store.values), *store.index.shape), store.values.dtype)
    wide[:] = store.values
    octets = wide.view(np.uint8).reshape(*wide.shape, -1)
    kept = np.zeros(len(conflicts), np.int64)
    _compare(conflicts, what, memory, store.index, uniform(store.lanes), octets, pc, kept)
    if store.type in _SIGNIFICANDS:
        for row in np.flatnonzero(kept == _DIFFERENT).tolist():
            others = wide[:, store.lanes & (store.index == store.index[*conflicts[row, 1:3]])]
            kept[row] = not all(_agree(values, store.type) for values in others)
    return conflicts[kept > 0]


@njit
def _compare(
    conflicts: Array, what: int, memory: Array, index: Array, lanes: Array, octets: Array, pc: int, kept: Array
) -> None:  # fmt: skip
    """Set `kept` to 0 for harmless rows, to _DIFFERENT for different values of lanes, otherwise to 1.

    Shapes: octets (elements, warps, 32, bytes of an element).
    """
    elements, size = octets.shape[0], octets.shape[3]
    for row in range(len(conflicts)):
        kept[row] = 1
        if conflicts[row, 0] != what:
            continue
        position, lane = conflicts[row, 1], conflicts[row, 2]
        start = index[position, lane]
        same = True
        for k in range(elements * size):
            same &= memory[start + k] == octets[k // size, position, lane, k % size]
        if same:
            kept[row] = 0
        elif conflicts[row, 5] == pc:
            kept[row] = 0
            for warp in range(len(index)):
                for other in range(32):
                    if lanes[warp, other] and index[warp, other] == start:
                        for k in range(elements * size):
                            if octets[k // size, warp, other, k % size] != octets[k // size, position, lane, k % size]:
                                kept[row] = _DIFFERENT


def _agree(values: Array, word: str) -> bool:
    numbers = _numbers(np.ascontiguousarray(values), word)
    # A NaN or an infinity agrees with nothing else.
    return bool((np.ptp(numbers, axis=0) <= np.abs(numbers).max(axis=0) * 2.0 ** -(_SIGNIFICANDS[word] // 2)).all())


def _numbers(values: Array, word: str) -> Array:
    """Return the numbers of the bit patterns `values`.

    Shapes: values (lanes,), result (lanes, numbers of a value).
    """
    if word == "f64":
        return values.view(np.float64)[:, None]
    fmt = element_format(word)
    return decode(values.view(fmt.pattern_dtype).reshape(len(values), -1), fmt)


@once_per_program
def stored_types(launch: Launch) -> dict[int, str]:
    """Return the PTX type of the values of each store, by program counter.

    Stores whose values have several types are left out.
    """
    types = _types_of_registers(launch)
    found: dict[int, str] = {}
    for pc, step in enumerate(launch.program.steps):
        for access in step.binding.form.effects_of(effects.Access):
            if access.kind == "write" and access.value:
                stored = registers_of(getattr(launch.instructions[pc].operands, access.value))
                words = set[str]().union(*(types.get(register, ()) for register in stored))
                if len(words) == 1:
                    found[pc] = words.pop()
    return found


def _types_of_registers(launch: Launch) -> dict[tuple[int, int], set[str]]:
    """Return the PTX types of the results that reach each register, also through moves."""
    copies = {pc: (target, source) for pc, target, source in moves(launch)}
    types: dict[tuple[int, int], set[str]] = {}
    for pc, step in enumerate(launch.program.steps):
        for name, spec in step.binding.form.operands.items():
            if spec.access != "read" and pc not in copies:
                for register in registers_of(getattr(launch.instructions[pc].operands, name)):
                    types.setdefault(register, set()).add(spec.type_word(step.binding.slots))
    changed = True
    while changed:
        changed = False
        for targets, sources in copies.values():
            reached = set[str]().union(*(types.get(source, ()) for source in sources))
            for target in targets:
                held = types.setdefault(target, set())
                changed |= not reached <= held
                held |= reached
    return types
