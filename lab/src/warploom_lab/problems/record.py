"""Record of a GPU's results for small cases, for comparison with the emulator."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from warploom.diagnostics import UsageError
from warploom_lab.json_data import expect_type

_LARGEST = 4 << 20  # bytes; a longer file is refused


class Recorded(Protocol):
    """Recorded result of a case."""

    @property
    def number(self) -> int:
        """Number of the case."""
        ...

    def data(self) -> dict[str, Any]:
        """Return the JSON data of the result."""
        ...

    def difference(self, seed: int) -> str:
        """Run the case on the emulator under the sanitizer, and compare it with the record.

        Return "" if the inputs and the result are the recorded ones. Otherwise, and for a finding of the sanitizer or
        an error, return a message.
        """
        ...


@dataclass(frozen=True, slots=True)
class Record:
    """Recorded results of a GPU for the cases of a seed."""

    seed: int
    about: Mapping[str, Any]  # GPU, driver, versions and command
    recorded: tuple[Recorded, ...]

    @classmethod
    def of(cls, seed: int, about: Mapping[str, Any], recorded: Iterable[Recorded]) -> Record:
        """Return a record of results in the order of their cases. `about` describes the GPU and the versions."""
        return cls(seed, about, tuple(sorted(recorded, key=lambda each: each.number)))

    def write(self, folder: Path) -> Path:
        """Write the record into a folder and return the path of the file.

        Errors: UsageError compare.file.
        """
        gpu = "-".join(str(self.about.get("gpu", "gpu")).lower().split())
        path = folder / f"{gpu}-seed-{self.seed}.json"
        data = {**self.about, "seed": self.seed, "cases": [each.data() for each in self.recorded]}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(data, indent=1) + "\n")
        except OSError as error:
            raise UsageError(
                f"cannot write {path}: {(error.strerror or str(error)).lower()}", code="compare.file"
            ) from None
        return path

    @classmethod
    def read(cls, path: Path, parse: Callable[[Any], Recorded]) -> Record:
        """Read a record from a JSON file. `parse` reads one recorded result from JSON data.

        Errors: UsageError compare.sample if the file is not a record.
        """
        try:
            with path.open("rb") as file:
                text = file.read(_LARGEST + 1)
            if len(text) > _LARGEST:
                raise ValueError(f"longer than {_LARGEST >> 20} MiB")
            data = cast("dict[str, Any]", json.loads(text))
            seed, listed = data.pop("seed"), data.pop("cases")
            return cls(expect_type(int, seed), data, tuple(parse(each) for each in listed))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UsageError(f"{path} is not a record of results: {error}", code="compare.sample") from None
