"""Places in a program at which an instruction executes between two others, on every path."""

from bisect import bisect_right
from functools import cache

from warploom.emulator.program import Program

Places = tuple[tuple[int, int], ...]
"""Ranges of program counters, with both ends.

A place p stands for an insertion directly before instruction p.
"""

_END = -1  # block after the last instruction of every path


class Paths:
    """Control-flow graph of a program, for questions about the instructions between two others."""

    def __init__(self, program: Program) -> None:
        self.entry = program.entry
        following = program.following
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

    def _block(self, pc: int) -> int:
        return bisect_right(self._starts, pc) - 1

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
        rest = ((first + 1, self._last[start]),) if first < self._last[start] else ()
        return (*rest, *inner, (self._starts[end], second))

    def before(self, pc: int) -> Places:
        """Return the places that every path to the instruction passes, within the innermost loop around it."""
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
        rest = ((pc + 1, self._last[start]),) if pc < self._last[start] else ()
        return (*rest, *((self._starts[block], self._last[block]) for block in cuts[1:-1]))

    def _cut_blocks(self, start: int, end: int, leave: bool = True) -> tuple[int, ...]:
        """Return the blocks that every path from block `start` to block `end` passes.

        The blocks are in order, and both ends are among them. Return () without a path. If `start` equals `end`,
        `leave` asks for a path that leaves the block.
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
