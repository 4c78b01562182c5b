"""Phrases for instructions, threads and nodes of a walk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from warploom.diagnostics.wording import counted
from warploom.observe.provenance.chain import Node
from warploom.observe.provenance.terms import Regions, runs_of
from warploom.observe.provenance.trace import Copied, ExecutionTrace, Writer


class Places:
    """Phrases about a record of a run."""

    def __init__(self, trace: ExecutionTrace, regions: Regions) -> None:
        self.trace, self.regions = trace, regions
        self.program = trace.launch.program

    def line(self, pc: int) -> str:
        """Return a phrase such as `line 42 (gemm.py:12)`."""
        return self.program.place_of(pc)

    def word(self, writer: Writer) -> str:
        """Return the first word of an opcode, or "copy" for a copy."""
        return "copy" if self._is_copy(writer) else self.program.steps[writer.pc].instruction.opcode.partition(".")[0]

    def short(self, writer: Writer) -> str:
        """Return a phrase such as `ldmatrix, line 381`, or `the copy of line 98`."""
        return (
            f"the copy of {self.line(writer.pc)}"
            if self._is_copy(writer)
            else f"{self.word(writer)}, {self.line(writer.pc)}"
        )

    def instruction(self, writer: Writer) -> str:
        """Return a phrase with the opcode, the line and the thread of a write."""
        opcode = "copy" if self._is_copy(writer) else self.program.steps[writer.pc].instruction.opcode
        return f"{opcode}, {self.line(writer.pc)}, {self.thread(writer)}"

    def thread(self, writer: Writer) -> str:
        """Return a phrase such as `CTA (0, 0, 0), warp 0, lane 0`."""
        cta, warp = divmod(writer.warp, self.trace.launch.topology.warps_per_cta)
        return f"{self.cta(cta)}, warp {warp}, lane {writer.lane}"

    def cta(self, number: int) -> str:
        """Return a phrase such as `CTA (0, 0, 0)`."""
        width, height, _ = self.trace.launch.grid.grid
        return f"CTA ({number % width}, {number // width % height}, {number // (width * height)})"

    def leaf(self, node: Node) -> str:
        """Return a phrase for the end of a walk."""
        if elements := self.regions.elements(node):
            return ", ".join(map(str, runs_of(elements)))
        if name := self.regions.parameter(node):
            return f"parameter {name}"
        space = "a register" if node.location.space == "register" else f"{node.location.space} memory"
        return {
            "source": "global memory of no argument",
            "unwritten": f"{space} that nothing had written",
            "fill": "fill of a box outside the tensor",
            "constant": "constant" if node.value is None else f"constant {number(node.value)}",
            "special": "special register",
            "unknown": "value that is not followed",
            "": "",
        }[node.leaf]

    def lines(self, pcs: Iterable[int]) -> str:
        """Return a phrase such as `lines 285-300`, `lines 433 and 509`, or `line 42 (gemm.py:12)`."""
        numbers = sorted({self.program.line_of(pc) for pc in pcs})
        if len(numbers) == 1:
            return self.line(next(iter(pcs)))
        return f"lines {numbers[0]} and {numbers[1]}" if len(numbers) == 2 else f"lines {numbers[0]}-{numbers[-1]}"

    def _is_copy(self, writer: Writer) -> bool:
        return isinstance(writer.record, Copied) or bool(writer.record.copies)

    def multiplications(self, nodes: Sequence[Node]) -> str:
        """Return a phrase such as `12 multiplications, lines 201-216, iterations 0-2`."""
        writers = [each.writer for each in nodes if each.writer is not None]
        iterations = sorted({self.trace.iteration(each) for each in writers})
        range_ = f"{iterations[0]}-{iterations[-1]}" if len(iterations) > 1 else f"{iterations[0]}"
        word = "iterations" if len(iterations) > 1 else "iteration"
        return f"{counted(len(nodes), 'multiplication')}, {self.lines([each.pc for each in writers])}, {word} {range_}"


def number(value: object) -> str:
    """Return a number as text, with at most 9 digits."""
    return f"{float(value):.9g}"  # type: ignore[arg-type]
