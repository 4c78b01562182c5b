"""Check for registers of tensor memory loads that are used before the wait for the loads.

Before the run, an analysis of the control flow finds the instructions that may use registers of a load before a wait,
on at least one path. Only these instructions are checked in the run.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from warploom.emulator.events import Execute, Launch
from warploom.isa.binding.bind import Binding
from warploom.isa.model import effects
from warploom.isa.model.form import Form
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.edits import insert_before
from warploom.observe.sanitize.registers import guard_registers, once_per_program, used_registers
from warploom.observe.sanitize.rules import rules
from warploom.observe.sanitize.tensor_memory import TensorMemory


@dataclass(frozen=True, slots=True)
class _Site:
    """Loads whose registers an instruction may read or overwrite while the loads are in progress."""

    read: tuple[int, ...]
    written: tuple[int, ...]


class TensorRegisters:
    """Check for uses of registers before the wait for the load that writes them."""

    context: Context
    tensor: TensorMemory | None

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self._sites = _find_sites(launch)

    def start(self, context: Context, tensor: TensorMemory | None) -> None:
        """Prepare for the CTAs that `context` describes."""
        self.context = context
        self.tensor = tensor

    def handlers(self) -> Mapping[int, Callable[[Execute], None]]:
        """Return the handlers of the instructions that may use such registers, by program counter."""
        return dict.fromkeys(self._sites, self._check)

    def _check(self, event: Execute) -> None:
        site, tensor = self._sites[event.pc], self.tensor
        if tensor is None:
            return
        for code, loads, verb in (
            ("sanitize.tensor/early-registers", site.read, "reads"),
            ("sanitize.tensor/registers", site.written, "overwrites"),
        ):
            for load in loads:
                warp = next((w for w in event.batch.warp_index.tolist() if tensor.is_loading(w, load)), -1)
                if warp < 0 or self.context.report.is_known(code, event.pc, load):
                    continue
                program = self.context.program
                message = (
                    f"this {verb} registers that the load of {program.place_of(load)} writes, with no `wait::ld`"
                    f" between; {self.context.describe(warp)}"
                )
                fix = insert_before(program, event.pc, rules()[code].insert)
                self.context.report.add(
                    code, event.pc, load, message, subject=f"registers of {load}", fixes=(fix,)
                )  # fmt: skip


@once_per_program
def _find_sites(launch: Launch) -> dict[int, _Site]:
    program = launch.program
    forms = [step.binding.form for step in program.steps]
    loads = [pc for pc, form in enumerate(forms) if _is_load(form)]
    if not loads:
        return {}
    bit = {pc: 1 << k for k, pc in enumerate(loads)}
    ends = {pc for pc, step in enumerate(program.steps) if _waits_for_loads(step.binding)}
    pending = [0] * len(forms)  # loads in progress before each instruction, as bits
    left = list(loads)
    while left:
        pc = left.pop()
        after = 0 if pc in ends else pending[pc] | bit.get(pc, 0)
        for other in program.following[pc]:
            if 0 <= other < len(forms) and after & ~pending[other]:
                pending[other] |= after
                left.append(other)
    found: dict[int, _Site] = {}
    for pc, bits in enumerate(pending):
        if not bits or pc in ends:
            continue
        read, written = used_registers(launch, pc)
        read |= guard_registers(launch, pc)
        open_loads = [each for each in loads if bits & bit[each]]
        site = _Site(
            tuple(each for each in open_loads if used_registers(launch, each)[1] & read),
            tuple(each for each in open_loads if used_registers(launch, each)[1] & written),
        )
        if site.read or site.written:
            found[pc] = site
    return found


def _is_load(form: Form) -> bool:
    """Return True for a load of tensor memory."""
    reads = (form.operands[each.address] for each in form.effects_of(effects.Access) if each.kind == "read")
    return form.effect(effects.Issue) is not None and any(each.space == "tensor" for each in reads)


def _waits_for_loads(binding: Binding) -> bool:
    wait = binding.form.effect(effects.Wait)
    return wait is not None and wait.on == "tensor memory" and bool(effects.word(wait.reads_only, binding.slots))
