"""Points: combinations of a ptxas release, a target and a PTX version.

`check` must reproduce the verdicts of one release, the deciding release of a target: 12.9 for sm_70 and sm_72, which
13.1 does not support, and 13.1 for all others.
"""

from __future__ import annotations

from typing import NamedTuple

from warploom.diagnostics import UsageError

Version = tuple[int, int]

VERSIONS: tuple[Version, ...] = tuple(
    [(6, minor) for minor in range(6)]
    + [(7, minor) for minor in range(9)]
    + [(8, minor) for minor in range(9)]
    + [(9, minor) for minor in range(2)]
)
"""Every PTX version from 6.0 to 9.1."""

RECENT: tuple[Version, ...] = tuple((9, minor) for minor in range(2, 6))
"""PTX versions from 9.2 to 9.5, which only the newest release supports. The record has no verdicts on them."""

OLD, DECIDING, NEWEST = "12.9", "13.1", "newest"

_FIRST = {
    "sm_70": (6, 0),
    "sm_72": (6, 1),
    "sm_75": (6, 3),
    "sm_80": (7, 0),
    "sm_86": (7, 1),
    "sm_87": (7, 4),
    "sm_88": (9, 0),
    "sm_89": (7, 8),
    "sm_90": (7, 8),
    "sm_90a": (8, 0),
    "sm_100": (8, 6),
    "sm_100a": (8, 6),
    "sm_100f": (8, 8),
    "sm_103": (8, 8),
    "sm_103a": (8, 8),
    "sm_103f": (8, 8),
    "sm_110": (9, 0),
    "sm_110a": (9, 0),
    "sm_110f": (9, 0),
    "sm_120": (8, 7),
    "sm_120a": (8, 7),
    "sm_120f": (8, 8),
    "sm_121": (8, 8),
    "sm_121a": (8, 8),
    "sm_121f": (8, 8),
}
"""First PTX version of each target, according to ptxas."""

TARGETS = tuple(_FIRST)

_FIRST_RECENT = {"sm_107": (9, 4), "sm_107a": (9, 4), "sm_107f": (9, 4)}
RECENT_TARGETS = (*(name for name in TARGETS if name not in {"sm_70", "sm_72"}), *_FIRST_RECENT)
"""Targets of the newest release."""

_LAST_OF_OLD = (8, 8)


class Point(NamedTuple):
    """Combination of a ptxas release, a target and a PTX version."""

    release: str  # key of WHEELS or path of a ptxas
    target: str
    version: Version

    def __str__(self) -> str:
        return f"{self.release}:{self.target}@{self.version[0]}.{self.version[1]}"

    @classmethod
    def read(cls, text: str) -> Point:
        """Return the point with a text such as `13.1:sm_90a@9.1`."""
        release, _, rest = text.partition(":")
        target, _, version = rest.partition("@")
        major, _, minor = version.partition(".")
        return cls(release, target, (int(major), int(minor)))


def point(target: str, version: Version) -> Point:
    """Return the target and PTX version as a point with the deciding ptxas release of the target."""
    return Point(OLD if target in {"sm_70", "sm_72"} else DECIDING, target, version)


def first_version(target: str) -> Version:
    """Return the first PTX version that supports the target."""
    return _FIRST[target]


def last_version(target: str) -> Version:
    """Return the last PTX version with recorded verdicts on the target."""
    return _LAST_OF_OLD if target in {"sm_70", "sm_72"} else VERSIONS[-1]


def versions_of(target: str) -> tuple[Version, ...]:
    """Return the PTX versions with recorded verdicts on the target."""
    return tuple(v for v in VERSIONS if _FIRST[target] <= v <= last_version(target))


def recent_points(target: str) -> tuple[Point, ...]:
    """Return the points of a target with the newest release and the PTX versions of RECENT."""
    first = _FIRST_RECENT.get(target, RECENT[0])
    return tuple(Point(NEWEST, target, version) for version in RECENT if version >= first)


def before(version: Version) -> Version | None:
    """Return the preceding PTX version, or None for the first."""
    at = VERSIONS.index(version) if version in VERSIONS else 0
    return VERSIONS[at - 1] if at > 0 else None


def points_of(target: str, versions: str) -> list[Point]:
    """Return the points of a target with each of the PTX versions.

    `versions` is a list such as `8.0,9.1`, or `all`.

    Errors: UsageError for an unknown target or a text that is not a version.
    """
    if target not in _FIRST:
        raise UsageError(f"unknown target '{target}'", hint=f"targets: {', '.join(TARGETS)}")
    if versions == "all":
        return [point(target, version) for version in versions_of(target)]
    found: list[Point] = []
    for text in versions.split(","):
        major, dot, minor = text.partition(".")
        if not (dot and major.isdecimal() and minor.isdecimal()):
            raise UsageError(f"'{text}' is not a PTX version; expected a version such as 9.1")
        found.append(point(target, min((int(major), int(minor)), last_version(target))))
    return found
