"""Comparison of one attention problem on a GPU with float64 and with the emulator."""

from dataclasses import dataclass
from typing import Any

from warploom.diagnostics import WarploomError
from warploom.kernels.attention_api import run_attention
from warploom.kernels.backward_api import BackwardOperands, run_backward
from warploom.kernels.hopper.plan import HOPPER
from warploom.runtime.api import launch
from warploom.runtime.run import Run
from warploom_lab.attention.case import Case, case
from warploom_lab.attention.expected import Bounded, expected, options_of
from warploom_lab.attention.gradients import expected_gradients, forward
from warploom_lab.attention.inputs import Inputs, make_inputs
from warploom_lab.problems.outcome import Device, Task
from warploom_lab.problems.outcome import Outcome as AnyOutcome
from warploom_lab.problems.results import Array, described_digest, digest, first_difference, ratio


@dataclass(frozen=True, slots=True)
class Outcome(AnyOutcome[Case]):
    """Result of the comparison of one case."""

    case: Case


class Runner:
    """Runner of one case, with the same kernels and the same inputs on every device.

    On the emulator, the kernels run with the arithmetic of the architecture `arch`, even if they have an older target:
    the GPU in the comparison also runs these kernels with its own arithmetic.
    """

    def __init__(self, one: Case, arch: str = HOPPER) -> None:
        self.case, self.arch = one, arch
        self.findings: list[str] = []  # messages of the sanitizer and of the assembler
        self._forward = forward(one, make_inputs(one)) if one.gradients else None

    @property
    def digest(self) -> str:
        """SHA-256 of the inputs."""
        made = make_inputs(self.case)
        if self._forward is None:
            return made.digest
        return described_digest({"forward": None, **dict(zip(("o", "lse"), self._forward, strict=True))}) + made.digest

    def run(self, made: Inputs, device: Device, *, sanitize: bool = False, schedule: str = "") -> dict[str, Array]:
        """Run the case with new inputs on a device, and return the results by name.

        With `sanitize`, the sanitizer watches the emulator. The default schedule depends on the case.

        Errors: UsageError kernels.*, gpu.*; DeviceFault gpu.fault; faults of the emulator.
        """
        number = self.case.number
        words: dict[str, Any] = {}
        if device == "cpu":
            chosen = schedule or ("eager", "lazy", f"random:{number}")[number % 3]
            words = {"arch": self.arch, "sanitize": sanitize, "schedule": chosen}

        def start(kernel: Any, **options: Any) -> Run:
            run = launch(kernel, **options, **words)
            # Spilled registers change no result. They are a matter of speed.
            self.findings += [each.message for each in run.findings or () if each.code != "gpu.spills"]
            return run

        results = {name: each.array for name, each in made.results.items()}
        operands, options = made.operands, options_of(self.case)
        if self._forward is None:
            operands = operands._replace(out=results.get("o"), lse=results.get("lse"))
            found = run_attention(operands, options, device, self.case.multiprocessors, start)
            return dict(zip(("o", "lse"), found, strict=True)) if self.case.lse else {"o": found}
        ends = operands.q_ends, operands.k_ends, operands.k_lengths
        given = BackwardOperands(
            made.do, *operands[:3], *self._forward, *ends, *(results.get(name) for name in ("dq", "dk", "dv"))
        )
        options = *options[:3], self.case.deterministic, self.case.target
        gradients = run_backward(given, options, device, start)
        return dict(zip(("dq", "dk", "dv"), gradients, strict=True))

    def expected(self) -> dict[str, Bounded]:
        """Return the results in float64 by name, and the allowed error of each element."""
        made = make_inputs(self.case)
        if self._forward is None:
            return expected(self.case, made, self.arch)
        return expected_gradients(self.case, made, *self._forward, self.arch)

    def with_fixed_bits(self, results: dict[str, Array]) -> dict[str, Array]:
        """Return the results that have the same bits in each run.

        These are all results except dQ of `attention_backward` without `deterministic`: CTAs add to it in varying
        order.
        """
        varies = self.case.gradients and not self.case.deterministic
        return {name: each for name, each in results.items() if not (varies and name == "dq")}


def compare(task: Task) -> Outcome:
    """Run a case and compare the results with float64. With `task.bits`, also compare with the emulator."""
    one = case(task.seed, task.number)
    runner = Runner(one)
    try:
        made = make_inputs(one)
        results = runner.run(made, task.device, sanitize=task.sanitize)
        fixed = runner.with_fixed_bits(results)
        wrong = next((message for name, each in made.results.items() if (message := each.written_outside(name))), "")
        wanted = runner.expected()
        ratios = {name: ratio(results[name], *pair) for name, pair in wanted.items()}
        far = max(ratios, key=lambda name: ratios[name])
        if ratios[far] > 1:
            wrong = f"an element of {far} differs from float64 by {ratios[far]:.3g} times the allowed distance"
        elif task.bits and not wrong:
            emulated = runner.with_fixed_bits(runner.run(make_inputs(one), "cpu", sanitize=True))
            differences = (first_difference(fixed[name], emulated[name], name) for name in fixed)
            wrong = next((message for message in differences if message), "")
        wrong = wrong or "; ".join(runner.findings)
    except WarploomError as error:
        return Outcome(one, bits=task.bits, wrong=f"{type(error).__name__}: {error}", lost=True)
    return Outcome(one, ratios[far], task.bits, runner.digest, digest(*fixed.values()), wrong)


def emulate(one: Case) -> None:
    """Run a case on the emulator under the sanitizer."""
    Runner(one).run(make_inputs(one), "cpu", sanitize=True)
