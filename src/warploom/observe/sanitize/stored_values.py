"""Comparison of stored values with memory, and with values that other lanes store to the same address."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.events import Launch
from warploom.emulator.values import registers_of
from warploom.isa.model import effects
from warploom.numerics.formats import decode, element_format
from warploom.observe.sanitize.registers import moves, once_per_program

Array = NDArray[Any]

_SIGNIFICANDS = {"f64": 53, "f32": 24, "f16": 11, "f16x2": 11, "bf16": 8, "bf16x2": 8}
"""Bits of a significand with its leading bit, by PTX type."""


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


def is_harmless(memory: Array, store: Store, position: int, lane: int, together: bool) -> bool:
    """Return True if a store of a lane need not be ordered with the other stores to its bytes.

    There are two cases: the store does not change the bytes in `memory`, or `together` is set and all lanes that store
    to the address store the same value. `together` means that the other stores belong to the same instruction.
    Floating-point values count as the same if they agree in half of their significand bits: the lanes then hold copies
    of one result, which they have rounded in different orders. `position` is the row of the lane's warp in `store`.
    """
    wide = np.broadcast_to(store.values, (len(store.values), *store.index.shape))
    start = int(store.index[position, lane])
    if memory[start : start + store.size].tobytes() == wide[:, position, lane].tobytes():
        return True
    if not together:
        return False
    others = wide[:, store.lanes & (store.index == start)]
    if (others == others[:, :1]).all():
        return True
    return store.type in _SIGNIFICANDS and all(_agree(values, store.type) for values in others)


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
