"""Digests of the outputs of matrix instructions on which Warploom and MMA-Sim agree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

import numpy as np

from warploom_lab.arithmetic.cases import ALL_KINDS, Array, Case, case, inputs, outputs

HEADER, ROWS = "record.json", "digests.json"


@dataclass(frozen=True, slots=True)
class Record:
    """Digests of outputs by case name, in the order of `ALL_KINDS`.

    `header` states how they were recorded, with the seed and the number of instructions (`groups`) of each digest.
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
        if digest(outputs(found, inputs(found, kind, seed, groups))) != want
    ]
