"""Uses of tensor memory by a program."""

from __future__ import annotations

from warploom.emulator.events import Launch
from warploom.isa.model import effects
from warploom.observe.sanitize.registers import once_per_program


@once_per_program
def uses_tensor_memory(launch: Launch) -> bool:
    """Return True if the program allocates tensor memory or operates on it."""
    forms = {step.binding.form for step in launch.program.steps}
    return any(each.resource == "tensor memory" for form in forms for each in form.effects_of(effects.Allocate)) or any(
        each.unit == "tensor memory" for form in forms for each in form.effects_of(effects.Multiply)
    )


@once_per_program
def has_tensor_fences(launch: Launch) -> bool:
    """Return True if the program has fences of tensor memory."""
    forms = {step.binding.form for step in launch.program.steps}
    return any(each.kind == "tensor memory" for form in forms for each in form.effects_of(effects.Fence))
