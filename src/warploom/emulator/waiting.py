"""The waits-for graph of a run that cannot go on: who waits on what, and from whom what is missing would come.

Nodes are groups of warps that wait at one instruction and what they wait for; what a group waits for leads to the
groups that could release it, because an instruction that does so lies ahead of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from warploom.diagnostics import Diagnostic, Note
from warploom.emulator.faults import Awaited, Deadlock, diagnostic
from warploom.emulator.strands import State
from warploom.emulator.values import Constant, PerWarp

if TYPE_CHECKING:
    from warploom.emulator.emulator import Machine

_NAMED = 3  # groups that a note names, and warps that data lists for each CTA and more
_LISTED = 64
_MEETINGS = {"warps": "warps of its warpgroup", "lanes": "lanes of its warp"}
_SHARED = ("mbarrier", "cluster barrier")  # what the CTAs of a cluster have in common


@dataclass(eq=False, slots=True)
class _Group:
    """Warps that wait at one program counter for one thing. `releases` are groups that could bring it, and where."""

    pc: int
    what: Awaited
    strands: list[int] = field(default_factory=list[int])
    releases: list[tuple[_Group, int]] = field(default_factory=list["tuple[_Group, int]"])


def deadlock(machine: Machine) -> Deadlock:
    """What every warp that is left waits for: a diagnostic for each group, its edges in notes and data."""
    return _Graph(machine).report()


class _Graph:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        strands = machine.strands
        self.groups: list[_Group] = []
        for slot in np.flatnonzero((strands.state == State.WAITING) | (strands.state == State.GATHERING)):
            self._add(int(slot))
        self.sites = {id(group): self._sites(group) for group in self.groups}
        for group in self.groups:
            for other in self.groups:
                site = self._release(group, other)
                if site >= 0:
                    group.releases.append((other, site))

    # Groups and edges -------------------------------------------------------------------------------------

    def _add(self, slot: int) -> None:
        machine = self.machine
        pc = int(machine.strands.pc[slot])
        what = machine.mbarriers.awaited(slot) or machine.pools.awaited(slot)
        if what is None and (what := machine.barriers.awaited(slot)) is not None:
            pc -= 1
        if what is None:
            kind = "warps" if machine.linked[pc].gather == "warpgroup" else "lanes"
            what = Awaited(kind, f"the other {_MEETINGS[kind]}", " at this instruction")
        group = next((g for g in self.groups if g.pc == pc and g.what == what), None)
        if group is None:
            group = _Group(pc, what)
            self.groups.append(group)
        group.strands.append(slot)

    def _sites(self, group: _Group) -> list[int]:
        """The instructions that could release what a group waits for."""
        machine, kind = self.machine, group.what.kind
        names = [step.binding.form.name.partition(".")[::2] for step in machine.program.steps]
        if kind == "mbarrier" and not dict(group.what.state)["arrivals"]:
            return [
                pc
                for pc, each in enumerate(machine.linked)
                if getattr(each.operands, "mbar", None) is not None
            ]
        if kind == "mbarrier":
            known = machine.mbarriers.arrivals(group.strands)
            offset = dict(group.what.state)["offset"]
            return known or [
                pc
                for pc, name in enumerate(names)
                if _arrives(*name) and _may_reach(machine.linked[pc].operands.addr, offset)
            ]
        if kind == "barrier":
            number = dict(group.what.state)["number"]
            return [
                pc
                for pc, name in enumerate(names)
                if name in (("barrier", "sync"), ("barrier", "arrive"), ("barrier", "red"))
                and _may_be(machine.linked[pc].operands.a, number)
            ]
        if kind == "cluster barrier":
            return [pc for pc, name in enumerate(names) if name == ("barrier", "cluster_arrive")]
        if kind == "registers":
            changes = [pc for pc, name in enumerate(names) if name == ("control", "setmaxnreg")]
            return [pc for pc in changes if machine.linked[pc].operands.action == "dec"]
        return [group.pc]

    def _release(self, group: _Group, other: _Group) -> int:
        """Where a group could release what another waits for; -1 where it could not."""
        kind = group.what.kind
        if other is group and kind not in ("mbarrier", "registers"):
            return -1
        if kind in ("barrier", "cluster barrier") and group.what == other.what:
            return -1
        if not self._near(group, kind) & self._near(other, kind):
            return -1
        if kind in _MEETINGS:
            return group.pc
        sites = set(self.sites[id(group)])
        return next((pc for pc in self._ahead(other) if pc in sites), -1)

    def _near(self, group: _Group, kind: str) -> set[int]:
        """The clusters, CTAs, warpgroups or warps that a group stands in."""
        machine = self.machine
        warps = machine.strands.warp[group.strands]
        if kind == "warps":
            return set(machine.warpgroup_of[warps].tolist())
        if kind == "lanes":
            return set(warps.tolist())
        size = machine.cluster_size if kind in _SHARED else 1
        return set((machine.cta_of[warps] // size).tolist())

    def _ahead(self, group: _Group) -> Iterator[int]:
        """The program counters that a group could come to once it goes on, nearest first."""
        program = self.machine.program
        calls = {site + 1 for slot in group.strands for site in self.machine.strands.calls[slot]}
        pending = [*program.following[group.pc], *sorted(calls)]
        seen: set[int] = set()
        for pc in pending:
            if pc in seen or not 0 <= pc < len(program.steps):
                continue
            seen.add(pc)
            yield pc
            pending.extend(program.following[pc])
            if program.steps[pc].binding.form.control == "call":
                pending.extend(program.by_entry)

    # Telling ----------------------------------------------------------------------------------------------

    def report(self) -> Deadlock:
        """A diagnostic for each group; the first group of a cycle names it."""
        told: set[int] = set()
        return Deadlock([self._diagnose(group, told) for group in self.groups])

    def _diagnose(self, group: _Group, told: set[int]) -> Diagnostic:
        machine, what = self.machine, group.what
        notes = list(self._notes(group))
        cycle = [] if id(group) in told else self._cycle(group)
        told.update(id(each) for each in cycle)
        if len(cycle) > 1:
            parts = [f"line {self._line(each.pc)} waits for {each.what.name}" for each in cycle]
            notes.append(Note(f"a cycle: {', '.join(parts)}, which line {self._line(group.pc)} holds up"))
        one = len(self._warps(group)) == 1
        kernel = f"kernel {machine.program.kernel.name}, "
        message = f"deadlock: {kernel}{self._who(group)} wait{'s' if one else ''} for {what.name}{what.rest}"
        found = diagnostic(
            "emulator.deadlock", message, machine.program.source, machine.program.span_of(group.pc)
        )
        return found.with_notes(notes, self._data(group, cycle))

    def _notes(self, group: _Group) -> Iterator[Note]:
        what, verb = group.what, "releases registers" if group.what.kind == "registers" else "arrives there"
        state = dict(what.state)
        if what.kind == "mbarrier" and not state["arrivals"]:
            verb = "brings bytes to an mbarrier"
            lacks = f"no copy in flight brings the {state['bytes']} bytes"
            yield Note(lacks if state["bytes"] > 0 else f"copies brought {-state['bytes']} bytes too many")
        for other, site in group.releases[:_NAMED]:
            span = self.machine.program.span_of(site)
            there = f"line {self._line(other.pc)} for {other.what.name}"
            if what.kind in _MEETINGS:
                yield Note(f"others wait at {there}", self.machine.program.span_of(other.pc))
            elif other is group:
                yield Note(f"line {self._line(site)} {verb}, and stands behind this wait", span)
            else:
                come, wait = ("comes", "waits") if len(self._warps(other)) == 1 else ("come", "wait")
                who = f"{self._who(other)} {come} to it, but {wait} at {there}"
                yield Note(f"line {self._line(site)} {verb}: {who}", span)
        if not group.releases:
            yield self._nobody(group, verb)

    def _nobody(self, group: _Group, verb: str) -> Note:
        sites = self.sites[id(group)]
        if group.what.kind in _MEETINGS:
            return Note("the others have left, or there are none")
        if not sites:
            return Note(f"no instruction of the kernel {verb}")
        lines = sorted({self._line(pc) for pc in sites})
        named = f"lines {', '.join(map(str, lines))}" if len(lines) > 1 else f"line {lines[0]}"
        plural = verb.replace("s ", " ", 1) if len(lines) > 1 else verb
        span = self.machine.program.span_of(sites[0])
        return Note(f"{named} {plural}, and no warp that is left can come to it", span)

    def _cycle(self, start: _Group) -> list[_Group]:
        """The shortest way from a group through others that could release it back to it; itself where there is none."""
        before: dict[int, _Group | None] = {id(start): None}
        pending = [start]
        for group in pending:
            for other, _ in group.releases:
                if other is start and group is not start:
                    path = [group]
                    while (last := before[id(path[-1])]) is not None:
                        path.append(last)
                    return path[::-1]
                if id(other) not in before:
                    before[id(other)] = group
                    pending.append(other)
        return [start] if any(other is start for other, _ in start.releases) else []

    def _data(self, group: _Group, cycle: Iterable[_Group]) -> dict[str, Any]:
        """The group's node and edges, for programs to read."""
        return {
            "waits": self._node(group),
            "for": {"kind": group.what.kind, "name": group.what.name} | dict(group.what.state),
            "arrivals_at": sorted({self._line(pc) for pc in self.sites[id(group)]}),
            "released_by": [
                {"line": self._line(site), "by": self._node(other)} for other, site in group.releases
            ],
            "cycle": [self._line(each.pc) for each in cycle],
        }

    def _node(self, group: _Group) -> dict[str, Any]:
        machine = self.machine
        warps = self._warps(group)[:_LISTED]
        places = [
            {"cta": machine.coordinates[machine.cta_of[w]].tolist(), "warp": int(machine.in_cta[w])}
            for w in warps
        ]
        return {"line": self._line(group.pc), "warps": places, "count": len(self._warps(group))}

    def _warps(self, group: _Group) -> list[int]:
        return sorted(set(self.machine.strands.warp[group.strands].tolist()))

    def _who(self, group: _Group) -> str:
        warps = self._warps(group)
        count = len(warps) - 1
        others = f" and {count} more warp{'s' if count > 1 else ''}" if count else ""
        return f"{self.machine.describe(warps[0]).partition(', ')[2]}{others}"

    def _line(self, pc: int) -> int:
        return self.machine.program.line_of(pc)


def _arrives(family: str, part: str) -> bool:
    return (family == "mbarrier" and part.startswith("arrive")) or part == "mbarrier_arrive"


def _may_reach(address: Any, offset: int) -> bool:
    """Whether an address may be that of an offset in shared memory; what registers will hold is not known."""
    match address.base:
        case Constant(array=held) | PerWarp(table=held):
            return bool((held.astype(np.uint64) + address.offset & np.uint64(0xFF_FFFF) == offset).any())
        case _:
            return True


def _may_be(value: Any, number: int) -> bool:
    return not isinstance(value, Constant) or int(value.array.reshape(-1)[0]) == number
