"""Points: what a probe is asked at. A point is a ptxas release, a target and a PTX version."""

from __future__ import annotations

from typing import NamedTuple

Version = tuple[int, int]

VERSIONS: tuple[Version, ...] = tuple(
    [(6, minor) for minor in range(6)]
    + [(7, minor) for minor in range(9)]
    + [(8, minor) for minor in range(9)]
    + [(9, minor) for minor in range(2)]
)
"""Every PTX version from 6.0 to 9.1."""

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
"""Target -> the first PTX version that has it, as ptxas has it."""

TARGETS = tuple(_FIRST)
_LAST_OF_OLD = (8, 8)


class Point(NamedTuple):
    """A ptxas release of WHEELS, a target, a PTX version."""

    release: str
    target: str
    version: Version

    def __str__(self) -> str:
        return f"{self.release}:{self.target}@{self.version[0]}.{self.version[1]}"

    @classmethod
    def read(cls, text: str) -> Point:
        """The point that prints as `text`."""
        release, _, rest = text.partition(":")
        target, _, version = rest.partition("@")
        major, _, minor = version.partition(".")
        return cls(release, target, (int(major), int(minor)))


def point(target: str, version: Version) -> Point:
    """The point that decides a target and version: 12.9 below sm_75, 13.1 from there on."""
    return Point(OLD if target in {"sm_70", "sm_72"} else DECIDING, target, version)


def first_version(target: str) -> Version:
    """The first PTX version that has the target."""
    return _FIRST[target]


def last_version(target: str) -> Version:
    """The last PTX version at which the target is asked."""
    return _LAST_OF_OLD if target in {"sm_70", "sm_72"} else VERSIONS[-1]


def versions_of(target: str) -> tuple[Version, ...]:
    """The PTX versions at which a target is asked."""
    return tuple(v for v in VERSIONS if _FIRST[target] <= v <= last_version(target))


def before(version: Version) -> Version | None:
    """The PTX version just before."""
    at = VERSIONS.index(version) if version in VERSIONS else 0
    return VERSIONS[at - 1] if at > 0 else None
