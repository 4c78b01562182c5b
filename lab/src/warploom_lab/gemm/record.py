"""Recorded results of a GPU for small matrix multiplications."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from warploom.diagnostics import WarploomError
from warploom.kernels.hopper.plan import Tile
from warploom_lab.gemm.case import case
from warploom_lab.gemm.comparison import Outcome, Partition, Runner
from warploom_lab.gemm.inputs import make_inputs
from warploom_lab.json_data import expect_type
from warploom_lab.problems.results import digest


@dataclass(frozen=True, slots=True)
class Recorded:
    """Recorded result of a case."""

    number: int
    partition: Partition
    inputs: str  # SHA-256 of the input arrays
    result: str  # SHA-256 of D

    def data(self) -> dict[str, Any]:
        """Return the JSON data of the result."""
        return {"number": self.number, "way": asdict(self.partition), "asked": self.inputs, "result": self.result}

    def difference(self, seed: int) -> str:
        """Run the case on the emulator. Return a message if the result differs from the recorded one, or ""."""
        one = case(seed, self.number)
        made = make_inputs(one)
        if made.digest != self.inputs:
            return f"{one}: the inputs differ from the recorded ones; record the case again"
        try:
            same = digest(Runner(one, self.partition).run(made, "cpu")) == self.result
        except WarploomError as error:
            return f"{one}: {error}"
        return "" if same else f"{one}: the emulator's result differs from the GPU's"


_ADDED = {"exchanged", "blocks", "across", "parts"}  # fields that older records do not have


def recorded(outcome: Outcome) -> Recorded:
    """Return the record of an outcome with a right result."""
    assert outcome.partition is not None
    return Recorded(outcome.case.number, outcome.partition, outcome.inputs, outcome.result)


def parse(data: Any) -> Recorded:
    """Return a recorded result from JSON data. Errors: TypeError, ValueError or KeyError for other data."""
    way = data["way"]
    tile = way["tile"]
    defaults: dict[str, Any] = {field.name: field.default for field in fields(Tile)}
    if tile.keys() - defaults.keys() or defaults.keys() - tile.keys() - _ADDED:
        raise ValueError("a tile has the fields of another release")
    values = {name: expect_type(type(default), tile.get(name, default)) for name, default in defaults.items()}
    return Recorded(
        expect_type(int, data["number"]),
        Partition(Tile(**values), expect_type(int, way["ctas"]), expect_type(int, way["split"])),
        expect_type(str, data["asked"]),
        expect_type(str, data["result"]),
    )
