"""Recorded results of a GPU for small attention problems."""

from dataclasses import dataclass
from typing import Any

from warploom.diagnostics import WarploomError
from warploom_lab.attention.case import case
from warploom_lab.attention.comparison import Outcome, Runner
from warploom_lab.attention.inputs import make_inputs
from warploom_lab.json_data import decode, encode
from warploom_lab.problems.results import digest


@dataclass(frozen=True, slots=True)
class Recorded:
    """Recorded result of a case."""

    number: int
    inputs: str  # SHA-256 of the input arrays
    result: str  # SHA-256 of the results with fixed bits

    def data(self) -> dict[str, Any]:
        """Return the JSON data of the result."""
        return encode(self)

    def difference(self, seed: int) -> str:
        """Run the case on the emulator under the sanitizer, and compare it with the record.

        Return "" if the inputs and the result are the recorded ones. Otherwise, and for a finding of the sanitizer or
        an error, return a message.
        """
        one = case(seed, self.number)
        runner = Runner(one)
        if runner.digest != self.inputs:
            return f"{one}: the inputs differ from the recorded ones; record the case again"
        try:
            results = runner.with_fixed_bits(runner.run(make_inputs(one), "cpu", sanitize=True))
        except WarploomError as error:
            return f"{one}: {error}"
        if runner.findings:
            return f"{one}: {'; '.join(runner.findings)}"
        same = digest(*results.values()) == self.result
        return "" if same else f"{one}: the emulator's result differs from the GPU's"


def recorded(outcome: Outcome) -> Recorded:
    """Return the record of an outcome with a right result."""
    return Recorded(outcome.case.number, outcome.inputs, outcome.result)


def parse(data: Any) -> Recorded:
    """Return a recorded result from JSON data. Errors: TypeError, ValueError or KeyError for other data."""
    return decode(Recorded, data)
