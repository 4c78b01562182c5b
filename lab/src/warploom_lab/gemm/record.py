"""What a GPU returned for small cases: digests in a file of JSON, which the abstract machine is compared with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, cast

from warploom.diagnostics import UsageError, WarploomError
from warploom.kernels.hopper.plan import Tile
from warploom_lab.gemm.campaign import Outcome, Runner, Way, digest
from warploom_lab.gemm.case import Case, case
from warploom_lab.gemm.given import given

_LARGEST = 4 << 20  # bytes of a file that is read


@dataclass(frozen=True, slots=True)
class Recorded:
    """What is known of a case: how it was run, the SHA-256 of what went in, and of the result."""

    number: int
    way: Way
    asked: str
    result: str

    def difference(self, seed: int) -> str:
        """How the machine's result is another, in a phrase; "" where it is the same."""
        one = case(seed, self.number)
        made = given(one)
        if made.digest != self.asked:
            return f"{one}: was recorded with other numbers; record it again"
        try:
            same = digest(Runner(one, self.way).run(made, "cpu")) == self.result
        except WarploomError as error:
            return f"{one}: {error}"
        return "" if same else f"{one}: the machine's result is not the GPU's"


def recorded(outcome: Outcome) -> Recorded:
    """What is kept of a case that was right."""
    assert outcome.way is not None
    return Recorded(outcome.case.number, outcome.way, outcome.asked, outcome.result)


@dataclass(frozen=True, slots=True)
class Record:
    """What a GPU returned for cases of a seed, and with what it was asked: GPU, driver, versions, command."""

    seed: int
    about: Mapping[str, Any]
    recorded: tuple[Recorded, ...]

    @classmethod
    def of(cls, seed: int, about: Mapping[str, Any], outcomes: Iterable[Outcome]) -> Record:
        """The record of the cases that were right to the last bit."""
        kept = sorted(
            (each for each in outcomes if each.bits and not each.wrong), key=lambda each: each.case.number
        )
        return cls(
            seed,
            about,
            tuple(recorded(one) for one in kept if one.way),
        )

    @property
    def cases(self) -> tuple[Case, ...]:
        """What was recorded."""
        return tuple(case(self.seed, each.number) for each in self.recorded)

    def write(self, folder: Path) -> Path:
        """Write it, in a folder that is made, and say where. Errors: UsageError compare.file."""
        gpu = "-".join(str(self.about.get("gpu", "gpu")).lower().split())
        path = folder / f"{gpu}-seed-{self.seed}.json"
        told = {**self.about, "seed": self.seed, "cases": [asdict(each) for each in self.recorded]}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(told, indent=1) + "\n")
        except OSError as error:
            raise UsageError(
                f"{path} cannot be written: {(error.strerror or str(error)).lower()}", code="compare.file"
            ) from None
        return path

    @classmethod
    def read(cls, path: Path) -> Record:
        """Read what was written. Errors: UsageError compare.sample where it is no record."""
        try:
            with path.open("rb") as file:
                data = file.read(_LARGEST + 1)
            if len(data) > _LARGEST:
                raise ValueError(f"it is longer than {_LARGEST >> 20} MiB")
            told = cast("dict[str, Any]", json.loads(data))
            seed, listed = told.pop("seed"), told.pop("cases")
            return cls(_of(int, seed), told, tuple(_recorded(each) for each in listed))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UsageError(
                f"{path} is no record of multiplications: {error}", code="compare.sample"
            ) from None


def _recorded(told: Any) -> Recorded:
    way = told["way"]
    tile = way["tile"]
    held = {each.name: _of(type(each.default), tile[each.name]) for each in fields(Tile)}
    if len(held) != len(tile):
        raise ValueError("a tile of it is of another release")
    return Recorded(
        _of(int, told["number"]),
        Way(Tile(**held), _of(int, way["ctas"]), _of(int, way["split"])),
        _of(str, told["asked"]),
        _of(str, told["result"]),
    )


def _of(kind: Any, value: Any) -> Any:
    """A value that is of a type, as it should be. Errors: TypeError."""
    if type(value) is not kind:
        raise TypeError(f"found {value!r}, expected {kind.__name__}")
    return value
