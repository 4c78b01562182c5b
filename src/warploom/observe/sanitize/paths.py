"""Places at which an inserted instruction executes between two given instructions on every path."""

from bisect import bisect_right
from collections.abc import Mapping
from functools import cache

from warploom.emulator.program import Program
from warploom.isa.model.effects import Barrier, Issue

Places = tuple[tuple[int, int], ...]
"""Ranges of program counters, with both ends.

A place p stands for an insertion directly before instruction p.
"""

_END = -1  # block after the last instruction of every path


class Paths:
    """Control-flow graph of a program, for questions about the instructions between two others."""

    def __init__(self, program: Program) -> None:
        self.entry = program.entry
        self._steps = program.steps
        following = self._following = program.following
        starts = {program.entry, *(each.entry for each in program.functions.values())}
        for pc, after in enumerate(following):
            if after != [pc + 1]:
                starts.update((pc + 1, *after))
        count = len(following)
        self._starts = sorted(start for start in starts if 0 <= start < count)
        ends = [*self._starts[1:], count]
        self._last = [end - 1 for end in ends]
        self._next = [
            [self._block(after) if 0 <= after < count else _END for after in following[last]] or [_END]
            for last in self._last
        ]
        self._cuts = cache(self._cut_blocks)
        effects = enumerate(step.binding.form.effect(Barrier) for step in program.steps)
        issues = enumerate(step.binding.form.effect(Issue) for step in program.steps)
        self._asynchronous = {pc for pc, each in issues if each is not None and each.group != "copy"}
        self._barriers = {pc: each for pc, each in effects if each is not None and each.level != "warp"}

    def _block(self, pc: int) -> int:
        return bisect_right(self._starts, pc) - 1

    def is_start(self, pc: int) -> bool:
        """Return True if the instruction begins a basic block."""
        return self._starts[self._block(pc)] == pc

    def rest(self, pc: int) -> Places:
        """Return the places between the instruction and the end of its basic block."""
        last = self._last[self._block(pc)]
        return ((pc + 1, last),) if pc < last else ()

    def barrier_beside(self, pc: int) -> str:
        """Return the text of the CTA barrier in the basic block of an instruction, or "" if there is none."""
        block = self._block(pc)
        inside = range(self._starts[block], self._last[block] + 1)
        near = [each for each in inside if each in self._barriers and self._barriers[each].level == "cta"]
        near = [each for each in near if self._barriers[each].waits]
        return str(self._steps[min(near, key=lambda each: abs(each - pc))].instruction) if near else ""

    def next_barrier(self, first: int, last: int) -> int:
        """Return the place before the first CTA or cluster barrier from `first` to `last`.

        If there is no barrier, return the first place.
        """
        return next((pc for pc in self._barriers if first <= pc <= last), first)

    def splits_barrier(self, first: int, last: int) -> bool:
        """Return True if an instruction from `first` to `last` arrives at a barrier without a wait."""
        return any(first <= pc <= last and not each.waits for pc, each in self._barriers.items())

    def lone_arrivals(self) -> list[int]:
        """Return the arrivals at the cluster barrier after which no path reaches the wait for it."""
        barriers = {pc: each for pc, each in self._barriers.items() if each.level == "cluster"}
        return [pc for pc, each in barriers.items() if each.arrives and not self._is_awaited(pc, barriers)]

    def _is_awaited(self, arrival: int, barriers: Mapping[int, Barrier]) -> bool:
        """Return True if one of the next cluster barriers after an arrival is a wait."""
        seen: set[int] = set()
        pending = [arrival]
        while pending:
            for pc in self._following[pending.pop()]:
                if pc in barriers and not barriers[pc].arrives:
                    return True
                if pc not in seen and pc not in barriers and 0 <= pc < len(self._following):
                    seen.add(pc)
                    pending.append(pc)
        return False

    def changes_proxy(self, first: int, second: int) -> bool:
        """Return True if only the second instruction accesses memory through the asynchronous proxy."""
        return first >= 0 and first not in self._asynchronous and second in self._asynchronous

    def between(self, first: int, second: int) -> Places:
        """Return the places that every path from instruction `first` to `second` passes, () without a path.

        If `first` equals `second`, the paths are the cycles through the instruction.
        """
        start, end = self._block(first), self._block(second)
        if start == end and first < second:
            return ((first + 1, second),)
        cuts = self._cuts(start, end)
        if not cuts:
            return ()
        inner = tuple((self._starts[block], self._last[block]) for block in cuts[1:-1])
        return (*self.rest(first), *inner, (self._starts[end], second))

    def before(self, pc: int) -> Places:
        """Return the places that every path to the instruction passes.

        In a loop, these are the paths from the instruction back to itself. Elsewhere, they start at the kernel's entry.
        """
        return self.between(pc, pc) or self.dominators(pc)

    def dominators(self, pc: int) -> Places:
        """Return the places that every path from the entry of the kernel to the instruction passes."""
        cuts = self._cuts(self._block(self.entry), self._block(pc), False)
        if not cuts:
            return ((pc, pc),)
        return tuple((self._starts[block], pc if block == cuts[-1] else self._last[block]) for block in cuts)

    def after(self, pc: int) -> Places:
        """Return the places that every path from the instruction to the end of the kernel passes."""
        start = self._block(pc)
        cuts = self._cuts(start, _END)
        return (*self.rest(pc), *((self._starts[block], self._last[block]) for block in cuts[1:-1]))

    def _cut_blocks(self, start: int, end: int, leave: bool = True) -> tuple[int, ...]:
        """Return the blocks that every path from block `start` to block `end` passes.

        The blocks are in order, and both ends are among them. Return () without a path. If `start` equals `end`, the
        paths are the cycles through the block if `leave` is set, and otherwise the one path within the block.
        """
        path = self._shortest(start, end, leave)
        if len(path) < 2:
            return tuple(path)
        position = {block: index for index, block in enumerate(path[1:], 1)}
        found, furthest = [start], 0
        seen: set[int] = set()
        for index, block in enumerate(path[:-1]):
            if index and furthest <= index:
                found.append(block)
            # Search for detours that leave the path here.
            pending = [after for after in self._next[block] if after != path[index + 1]]
            furthest = max(furthest, index + 1)
            while pending:
                other = pending.pop()
                if other in position:
                    furthest = max(furthest, position[other])
                elif other != _END and other not in seen and other != start:
                    seen.add(other)
                    pending += self._next[other]
        return (*found, end)

    def _shortest(self, start: int, end: int, leave: bool) -> list[int]:
        if start == end and not leave:
            return [start]
        before: dict[int, int] = {}
        pending = [start]
        for block in pending:
            for after in [] if block == _END else self._next[block]:
                if after == end:
                    path = [block]
                    while path[-1] != start:
                        path.append(before[path[-1]])
                    return [*path[::-1], end]
                if after not in before and after != start:
                    before[after] = block
                    pending.append(after)
        return []
