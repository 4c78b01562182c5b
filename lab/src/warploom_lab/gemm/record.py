"""Record of a GPU's results for small cases, for comparison with the emulator."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, cast

from warploom.diagnostics import UsageError, WarploomError
from warploom.kernels.hopper.plan import Tile
from warploom_lab.gemm.case import Case, case
from warploom_lab.gemm.comparison import Outcome, Partition, Runner, digest
from warploom_lab.gemm.inputs import make_inputs
from warploom_lab.json_data import expect_type

_LARGEST = 4 << 20  # bytes; a longer file is refused


@dataclass(frozen=True, slots=True)
class Recorded:
    """Recorded result of a case."""

    number: int
    partition: Partition
    inputs: str  # SHA-256 of the input arrays
    result: str  # SHA-256 of D

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


def recorded(outcome: Outcome) -> Recorded:
    """Return the record of an outcome with a right result."""
    assert outcome.partition is not None
    return Recorded(outcome.case.number, outcome.partition, outcome.inputs, outcome.result)


@dataclass(frozen=True, slots=True)
class Record:
    """Recorded results of a GPU for the cases of a seed."""

    seed: int
    about: Mapping[str, Any]  # GPU, driver, versions and command
    recorded: tuple[Recorded, ...]

    @classmethod
    def of(cls, seed: int, about: Mapping[str, Any], outcomes: Iterable[Outcome]) -> Record:
        """Return a record of the outcomes that agree with the emulator in every bit.

        `about` describes the GPU and the versions.
        """
        kept = sorted((each for each in outcomes if each.bits and not each.wrong), key=lambda each: each.case.number)
        return cls(seed, about, tuple(recorded(one) for one in kept if one.partition))

    @property
    def cases(self) -> tuple[Case, ...]:
        """Cases whose results are recorded."""
        return tuple(case(self.seed, each.number) for each in self.recorded)

    def write(self, folder: Path) -> Path:
        """Write the record into a folder and return the path of the file.

        Errors: UsageError compare.file.
        """
        gpu = "-".join(str(self.about.get("gpu", "gpu")).lower().split())
        path = folder / f"{gpu}-seed-{self.seed}.json"
        data = {**self.about, "seed": self.seed, "cases": [_data_of(each) for each in self.recorded]}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(data, indent=1) + "\n")
        except OSError as error:
            raise UsageError(
                f"cannot write {path}: {(error.strerror or str(error)).lower()}", code="compare.file"
            ) from None
        return path

    @classmethod
    def read(cls, path: Path) -> Record:
        """Read a record from a JSON file.

        Errors: UsageError compare.sample if the file is not a record.
        """
        try:
            with path.open("rb") as file:
                text = file.read(_LARGEST + 1)
            if len(text) > _LARGEST:
                raise ValueError(f"longer than {_LARGEST >> 20} MiB")
            data = cast("dict[str, Any]", json.loads(text))
            seed, listed = data.pop("seed"), data.pop("cases")
            return cls(expect_type(int, seed), data, tuple(_recorded_of(each) for each in listed))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UsageError(f"{path} is not a record of multiplications: {error}", code="compare.sample") from None


def _data_of(recorded: Recorded) -> dict[str, Any]:
    """Return the JSON data of a recorded result."""
    return {
        "number": recorded.number,
        "way": asdict(recorded.partition),
        "asked": recorded.inputs,
        "result": recorded.result,
    }


def _recorded_of(data: Any) -> Recorded:
    way = data["way"]
    tile = way["tile"]
    defaults: dict[str, Any] = {field.name: field.default for field in fields(Tile)}
    if tile.keys() - defaults.keys() or defaults.keys() - tile.keys() - {"exchanged"}:
        raise ValueError("a tile has the fields of another release")
    # Older records have no exchanged tiles.
    values = {name: expect_type(type(default), tile.get(name, default)) for name, default in defaults.items()}
    return Recorded(
        expect_type(int, data["number"]),
        Partition(Tile(**values), expect_type(int, way["ctas"]), expect_type(int, way["split"])),
        expect_type(str, data["asked"]),
        expect_type(str, data["result"]),
    )
