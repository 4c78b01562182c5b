"""Records of the agreement of Warploom and MMA-Sim: digests of outputs, and counts of a longer comparison."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

import numpy as np

from warploom.numerics.formats import FORMATS, decode
from warploom_lab.arithmetic.cases import ALL_KINDS, Array, Case, case, inputs, outputs

HEADER, ROWS, COUNTS = "record.json", "digests.json", "counts.json"


@dataclass(frozen=True, slots=True)
class Record:
    """Digests of outputs by case name, in the order of `ALL_KINDS`.

    `header` states how they were recorded, with the seed and the number of executions of each digest (`groups`, for
    instructions of shape m16n8).
    """

    header: Mapping[str, Any]
    digests: Mapping[str, list[str]]

    def write(self, folder: Path) -> None:
        """Write the record into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / HEADER).write_text(json.dumps(self.header, indent=1) + "\n", encoding="utf-8")
        (folder / ROWS).write_text(json.dumps(self.digests, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Record:
        """Read the record of a folder."""
        header, digests = (json.loads((folder / name).read_text(encoding="utf-8")) for name in (HEADER, ROWS))
        return cls(header, digests)


def digest(words: Array) -> str:
    """Return the digest of an array of words as 16 hexadecimal digits."""
    return blake2b(np.ascontiguousarray(words).tobytes(), digest_size=8).hexdigest()


def differing(record: Record, name: str) -> list[str]:
    """Return the kinds of inputs for which the outputs of the case `name` differ from the record."""
    arch, _, opcode = name.partition(" ")
    found = cast("Case", case(arch, opcode))
    seed, groups = record.header["seed"], record.header["groups"]
    return [
        kind
        for kind, want in zip(ALL_KINDS, record.digests[name], strict=True)
        if digest(outputs(found, inputs(found, kind, seed, found.executions(groups)))) != want
    ]


@dataclass(slots=True)
class Counts:
    """Outputs of one family of instructions that were compared, by their class and by whether they differ."""

    instructions: int = 0
    outputs: int = 0
    different: int = 0
    classes: Counter[str] = field(default_factory=Counter[str])

    def add(self, case: Case, ours: Array, theirs: Array) -> None:
        """Count the outputs of some executions of an instruction."""
        self.outputs += ours.size
        self.different += int(np.count_nonzero(ours != theirs))
        self.classes.update(dict(_classes(case.model.d_type, ours)))

    def row(self) -> dict[str, int | dict[str, int]]:
        """Return the counts as JSON data."""
        return {
            "instructions": self.instructions,
            "outputs": self.outputs,
            "different": self.different,
            "classes": dict(self.classes),
        }


def _classes(kind: str, words: Array) -> Iterator[tuple[str, int]]:
    """Yield the classes of outputs, and the number of outputs of each class."""
    if kind not in FORMATS:
        yield "other", words.size
        return
    found = FORMATS[kind]
    values = np.abs(decode(words, found))
    is_finite, is_zero = np.isfinite(values), values == 0
    subnormal = is_finite & ~is_zero & (values < 2.0**found.min_exponent)
    for name, mask in (
        ("nan", np.isnan(values)), ("infinite", np.isinf(values)), ("zero", is_zero), ("subnormal", subnormal),
        ("normal", is_finite & ~is_zero & ~subnormal),
    ):  # fmt: skip
        yield name, int(np.count_nonzero(mask))


def batches(cases: Iterable[Case], outputs: int, size: int) -> Iterator[tuple[Case, str, int, int]]:
    """Yield batches of executions of the instructions of one family, which have at least `outputs` outputs.

    A batch is an instruction, a kind of operands, the number of the batch, and its number of executions. All
    instructions and kinds have the same share. A batch has about `size` outputs at most.
    """
    members = list(cases)
    for member in members:
        left = -(-outputs // (len(members) * len(ALL_KINDS) * member.outputs))
        most = max(1, size // member.outputs)
        for number, start in enumerate(range(0, left, most)):
            for kind in ALL_KINDS:
                yield member, kind, number, min(most, left - start)
