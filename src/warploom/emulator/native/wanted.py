"""Native functions that a program needs."""

from types import SimpleNamespace

from warploom.isa.model import effects
from warploom.isa.model.form import Form
from warploom.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Wanted:
    """Native function to compile: its name, the Form and the operand descriptions of the instruction.

    `is_probe` is set for the probe of the instruction (see `probe`).
    """

    name: str
    form: Form
    operands: SimpleNamespace
    arch: str
    is_probe: bool = False


def needs_probe(effect: effects.Effect) -> bool:
    """Return True if observers of an instruction with this effect need a probe.

    The native function of such an instruction may leave a warp to the interpreter, or accesses memory.
    """
    if isinstance(effect, effects.Barrier):
        return effect.level != "warp"
    if isinstance(effect, effects.Wait):
        return effect.on == "mbarrier"
    return isinstance(effect, (effects.Access, effects.Issue, effects.Arrive))
