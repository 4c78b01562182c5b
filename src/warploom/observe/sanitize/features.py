"""Properties of a program that select the checks of the sanitizer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warploom.emulator import events
from warploom.isa.model import effects
from warploom.isa.model.types import TYPES
from warploom.observe.sanitize.mbarriers import FIRST
from warploom.observe.sanitize.registers import once_per_program
from warploom.observe.sanitize.tensor_uses import uses_tensor_memory

_NOT_SHARED = ("global", "local", "const", "param", "tensor")


@dataclass(frozen=True, slots=True)
class Synchronisation:
    """Synchronisation that the Form of an instruction declares.

    `relaxed` is set for relaxed order, and `narrow` for an explicit CTA scope. `aligned` is set if whole warps must
    execute the instruction.
    """

    relaxed: bool
    narrow: bool
    aligned: bool


@dataclass(frozen=True, slots=True)
class Features:
    """Properties of a program that select checks.

    `is_asynchronous` is set if the program has bulk copies or asynchronous multiplications. `granule` is the size in
    bytes of the smallest write to shared memory, at most 16. `room` is the number of mbarriers in each CTA for which
    the clocks have space at first. `synchronisation` has an entry for each instruction that is not lane-wise.
    """

    has_bulk_copies: bool
    is_asynchronous: bool
    has_tensor_memory: bool
    granule: int
    room: int
    waits_for_phases: bool
    synchronisation: dict[int, Synchronisation]


def _is_bulk_copy(declared: Sequence[effects.Effect]) -> bool:
    reads = any(
        isinstance(each, effects.Access) and each.kind == "read" and each.proxy in ("async", "tensormap")
        for each in declared
    )
    return reads and any(isinstance(each, effects.Issue) for each in declared)


@once_per_program
def find_features(launch: events.Launch) -> Features:
    """Return the properties of the program of a launch."""
    steps = launch.program.steps
    forms = {step.binding.form for step in steps}
    copies, tensor = any(_is_bulk_copy(form.effects) for form in forms), uses_tensor_memory(launch)
    issues, waits = [form.effect(effects.Issue) for form in forms], [form.effect(effects.Wait) for form in forms]
    return Features(
        copies,
        copies or tensor or any(each and each.group == "multiplication" for each in issues),
        tensor,
        _smallest_write(launch),
        FIRST if tensor or any(form.effect(effects.Arrive) for form in forms) else 0,
        tensor or any(each and each.on == "mbarrier" for each in waits),
        {pc: _synchronisation(step.binding) for pc, step in enumerate(steps) if not step.binding.form.is_lanewise},
    )


@once_per_program
def find_unfenced(launch: events.Launch) -> frozenset[int]:
    """Return the instructions after whose accesses the asynchronous proxy needs no fence."""
    forms = enumerate(step.binding.form for step in launch.program.steps)
    return frozenset(pc for pc, form in forms if any(each.proxy == "any" for each in form.effects_of(effects.Access)))


def _smallest_write(launch: events.Launch) -> int:
    """Return the size in bytes of the smallest scalar that a lane may write to shared memory, at most 16.

    A weak update, such as that of a tensor map, accesses its object as a whole (PTX ISA 9.7.9.26.1).
    """
    steps = launch.program.steps
    smallest = 8 if any(step.binding.form.effect(effects.Arrive) for step in steps) else 16  # the size of an mbarrier
    for step, each in zip(steps, launch.instructions, strict=True):
        form, slots = step.binding.form, step.binding.slots
        for access in form.effects_of(effects.Access):
            is_object = access.kind == "update" and access.proxy == "generic" and not access.is_ordered(slots)
            if access.kind == "read" or is_object:
                continue
            if not form.operands[access.address].space_word(slots).startswith(_NOT_SHARED):
                smallest = min(smallest, _written_bytes(access, each.operands))
    return smallest


def _written_bytes(access: effects.Access, operands: Any) -> int:
    stored = getattr(getattr(operands, access.value, None), "type", "") if access.value else ""
    if stored:
        return max(TYPES[stored].bytes, 1)
    size = getattr(operands, access.size, None) if access.size else None
    if isinstance(size, int):
        return size
    # Bulk copies write multiples of 16 bytes, and allocations of tensor memory write an address.
    return {"async": 16, "any": 4}.get(str(access.proxy), 1)


def _synchronisation(binding: Any) -> Synchronisation:
    form, slots = binding.form, binding.slots
    effect = form.effect(effects.Barrier)
    found = form.effect(effects.Arrive) or form.effect(effects.Wait)
    order = "" if found is None else effects.word(found.order, slots)
    if effect is not None:
        order = effects.word(effect.order, slots)
    aligned = effect is not None and effects.word(effect.aligned, slots) != ""
    # Remote arrivals without a scope are common. Therefore only an explicit CTA scope counts.
    return Synchronisation(order == "relaxed", slots.get("scope", "") == "cta", aligned)
