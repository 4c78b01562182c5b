"""Native functions that a program needs."""

from types import SimpleNamespace

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
