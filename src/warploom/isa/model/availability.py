"""Availability of Forms: targets, target families, and the PTX version that introduced each target."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from warploom.diagnostics.wording import one_of
from warploom.isa.model.table import Row
from warploom.lazy_dataclass import dataclass

Version = tuple[int, int]

EVER: Version = (1, 0)
"""PTX version in a row's `gone` column if the row is illegal on some targets in every PTX version."""

_TARGET = re.compile(r"(?:sm|compute)_(\d{1,3})([af]?)")

_LATEST_OF_MAJOR = {1: 5, 2: 3, 3: 2, 4: 3, 5: 1, 6: 5, 7: 8, 8: 8, 9: 5}
"""Last minor version of each major PTX version. Assemblers accept neither 5.2 nor 6.6."""

FIRST_VERSION: dict[str, Version] = {
    name: (int(version[0]), int(version[2]))
    for version, names in {
        "1.0": "sm_10 sm_11",
        "1.2": "sm_12 sm_13",
        "2.0": "sm_20",
        "3.0": "sm_30",
        "3.1": "sm_35",
        "4.0": "sm_32 sm_50",
        "4.1": "sm_37 sm_52",
        "4.2": "sm_53",
        "5.0": "sm_60 sm_61 sm_62",
        "6.0": "sm_70",
        "6.1": "sm_72",
        "6.3": "sm_75",
        "7.0": "sm_80",
        "7.1": "sm_86",
        "7.4": "sm_87",
        "7.8": "sm_89 sm_90",
        "8.0": "sm_90a",
        "8.6": "sm_100 sm_100a sm_101 sm_101a",
        "8.7": "sm_120 sm_120a",
        "8.8": "sm_100f sm_101f sm_103 sm_103a sm_103f sm_120f sm_121 sm_121a sm_121f",
        "9.0": "sm_88 sm_110 sm_110a sm_110f",
        "9.4": "sm_107 sm_107a sm_107f",
    }.items()
    for name in names.split()
}
"""First PTX version that accepts each target.

Source: PTX ISA 11.1.2, and answers of ptxas.
"""

_RENAMED = {101: 110}  # PTX 9.0 renamed sm_101
_FAMILIES = {100: 100, 103: 100, 107: 100, 110: 110, 120: 120, 121: 120}


@dataclass(frozen=True, slots=True)
class Target:
    """GPU target such as sm_90a.

    `suffix` is "" for a portable target, "a" for one architecture only, or "f" for a family of architectures.
    """

    number: int
    suffix: str
    name: str

    @property
    def first_version(self) -> Version:
        """First PTX version that accepts the target."""
        return FIRST_VERSION[self.name]

    def has(self, needed: Target) -> bool:
        """Return True if this target supports a feature that requires the target `needed`.

        A feature of sm_80 exists on every target with the number 80 or higher. A feature of sm_90a exists only on
        sm_90a. A feature of sm_120f exists on the `f` and `a` targets of its family with the number 120 or higher.
        """
        if needed.suffix == "":
            return self.number >= needed.number
        if needed.suffix == "a":
            return (self.number, self.suffix) == (needed.number, "a")
        family = _FAMILIES.get(needed.number)
        same = family is not None and _FAMILIES.get(self.number) == family
        return same and self.suffix != "" and self.number >= needed.number


@lru_cache(maxsize=256)
def read_target(text: str) -> Target | None:
    """Return the target with a name such as `sm_90a` or `compute_90a`, or None for an unknown name."""
    found = _TARGET.fullmatch(text)
    name = "" if found is None else f"sm_{found[1]}{found[2]}"
    if found is None or name not in FIRST_VERSION:
        return None
    number = int(found[1])
    return Target(_RENAMED.get(number, number), found[2], name)


def renamed(target: Target, ptx: Version) -> str:
    """Return the new name of `target` if PTX `ptx` no longer accepts its old name, else ""."""
    written = int(target.name[3:].rstrip("af"))
    return f"sm_{target.number}{target.suffix}" if ptx >= (9, 0) and written != target.number else ""


def is_version(version: Version) -> bool:
    """Return True if NVIDIA released this PTX version."""
    return 0 <= version[1] <= _LATEST_OF_MAJOR.get(version[0], -1)


def latest_version() -> Version:
    """Return the newest PTX version that Warploom supports."""
    return max(_LATEST_OF_MAJOR.items())


@dataclass(frozen=True, slots=True)
class Requirement:
    """Unmet requirement of an instruction: a target or a PTX version.

    `kind` is "target" or "ptx", and `needs` is the required target or version in words. `since` is the PTX version that
    removed the instruction, or None if no version removed it.
    """

    kind: str
    needs: str
    since: Version | None = None


_WORDS: dict[str, tuple[Version, str]] = {
    "shared::cta": ((7, 8), "sm_30"),
    "shared::cluster": ((7, 8), "sm_90"),
    "param::entry": ((8, 3), "sm_10"),
    "param::func": ((8, 3), "sm_10"),
    "cluster": ((7, 8), "sm_90"),
    **dict.fromkeys([f"L1::evict_{how}" for how in ("normal", "unchanged", "first", "last")], ((7, 4), "sm_70")),
    "L1::no_allocate": ((7, 4), "sm_70"),
    **dict.fromkeys(("L2::64B", "L2::128B"), ((7, 4), "sm_75")),
    **dict.fromkeys(("L2::256B", "L2::cache_hint"), ((7, 4), "sm_80")),
    **dict.fromkeys(("b1", "u4", "s4"), ((6, 3), "sm_75")),
    **dict.fromkeys(("u2", "s2"), ((6, 5), "sm_75")),
    **dict.fromkeys(("bf16", "bf16x2", "tf32"), ((7, 0), "sm_80")),
}
"""Minimum PTX version and target of opcode words, in addition to those of the table row."""


def unmet_by_words(words: Iterable[str], target: Target, ptx: Version) -> Requirement | None:
    """Return the first unmet requirement of the opcode words, or None."""
    for word in words:
        version, name = _WORDS.get(word, ((1, 0), "sm_10"))
        needed = read_target(name)
        if needed is not None and not target.has(needed):
            return Requirement("target", f"{name} or higher")
        if ptx < version:
            return Requirement("ptx", f"PTX {version[0]}.{version[1]}")
    return None


def unmet_by_row(row: Row, target: Target, ptx: Version) -> Requirement | None:
    """Return the unmet requirement of a table row, or None."""
    if row.gone is not None and ptx >= row.gone[0] and target.number >= row.gone[1]:
        (major, minor), number = row.gone
        needs = f"a target below sm_{number}, or a PTX version below {major}.{minor}"
        return Requirement("target", needs, row.gone[0])
    if row.targets and not any(target.has(needed) for needed in _targets(row.targets)):
        return Requirement(
            "target", one_of(f"{name} or higher" if name[-1].isdigit() else name for name in row.targets)
        )
    if ptx < row.ptx:
        return Requirement("ptx", f"PTX {row.ptx[0]}.{row.ptx[1]}")
    return None


def unmet_by_rows(rows: Iterable[Row], target: Target, ptx: Version) -> Requirement | None:
    """Return the unmet requirement, or None if one of the rows supports the target and version.

    If a newer PTX version is sufficient, the requirement is the oldest such version. Otherwise the requirement lists
    the targets of all rows.
    """
    lacks: list[Requirement] = []
    for row in rows:
        lack = unmet_by_row(row, target, ptx)
        if lack is None:
            return None
        lacks.append(lack)
    versions = [lack for lack in lacks if lack.kind == "ptx"]
    if versions:
        return min(versions, key=lambda lack: tuple(map(int, lack.needs[4:].split("."))))
    since = max((lack.since for lack in lacks if lack.since is not None), default=None)
    return Requirement("target", " or ".join(dict.fromkeys(lack.needs for lack in lacks)), since)


@lru_cache(maxsize=4096)
def _targets(names: tuple[str, ...]) -> tuple[Target, ...]:
    return tuple(target for name in names if (target := read_target(name)) is not None)
