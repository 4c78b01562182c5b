"""Verdicts of `check` on probes: one module of many probes, parsed once and checked at many points.

checker = Checker()
checker([Probe("ret;"), Probe("ret 1;")], "sm_90a", (9, 1))      # -> [True, False]
"""

from __future__ import annotations

from collections.abc import Sequence

from warploom.check import verdicts
from warploom.diagnostics import Diagnostic
from warploom.ptx import Module, parse_readable
from warploom_lab.ptxas.points import Version
from warploom_lab.ptxas.probe import Probe, write_module

_ANY = ("sm_90a", (9, 1))


class Checker:
    """Verdicts of `check`, equal to the verdict on each probe in a module of its own."""

    def __init__(self) -> None:
        self._probes: tuple[Probe, ...] = ()
        self._unreadable: frozenset[int] = frozenset()
        self._module: Module | None = None
        self._owners: tuple[int, ...] = ()

    def __call__(self, probes: Sequence[Probe], target: str, version: Version) -> list[bool]:
        """Return True for each probe that `check` accepts."""
        if tuple(probes) != self._probes:
            self._read(tuple(probes))
        refused = set(self._unreadable)
        if self._module is not None:
            errors = verdicts(self._module, target, version)
            refused |= {_owner(error, self._owners) for error in errors}
        return [k not in refused for k in range(len(probes))]

    def _read(self, probes: tuple[Probe, ...]) -> None:
        """Parse the probes; unreadable probes are refused at every point, the others form one module."""
        self._probes = probes
        left = range(len(probes))
        text, self._owners = write_module(probes, *_ANY)
        self._module, unreadable = parse_readable(text)
        if unreadable:
            # An unreadable probe can make the next one unreadable too.
            left = [k for k in left if not parse_readable(probes[k].module(*_ANY))[1]]
            text, owners = write_module([probes[k] for k in left], *_ANY)
            self._module, _ = parse_readable(text)
            self._owners = tuple(-1 if k < 0 else left[k] for k in owners)
        self._unreadable = frozenset(range(len(probes))) - set(left)


def _owner(error: Diagnostic, owners: Sequence[int]) -> int:
    assert error.source is not None
    assert error.span is not None
    line, _ = error.source.position(error.span.start)
    return owners[line - 1]
