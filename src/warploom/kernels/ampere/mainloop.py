"""The main loop of a warp: fragments of a step are loaded while those of the step before are multiplied."""

# The plan chooses the words of instructions, which the stubs want as literals.
# pyright: reportArgumentType=false, reportCallIssue=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warploom.author import Register, new, ptx, u32, while_
from warploom.kernels.ampere.copies import Copies
from warploom.kernels.ampere.plan import BLOCK, CHUNK, STEP, Plan, mask
from warploom.kernels.hopper.plan import size_of

_SHAPES = {1: "m16n8k32", 2: "m16n8k16", 4: "m16n8k8"}
_LINE = 128

Fragment = list[Register]
"""16 lines by 32 bytes of K, as four matrices of 8 lines by 16 bytes."""
Sums = Sequence[Sequence[Register]]
"""For each 16 rows of a warp's tile the registers of its columns, those of 8 columns together."""


class Fragments:
    """A warp's part of one operand. `own` lines of it begin at `first` of the tile.

    A fragment of A has its lower lines second, one of B the second half of K: so registers that an instruction
    takes together are neighbours.
    """

    def __init__(self, plan: Plan, operand: str, start: Any, first: Any, own: int, lane: Any) -> None:
        major = plan.a_major if operand == "a" else plan.b_major
        self.along, self.span, self.depth = major == "k", plan.tile.span, plan.depth
        self.count = own // 16
        second, third = (
            (lane >> 3) & 1,
            lane >> 4,
        )  # bits of the number of the matrix whose row a lane points to
        line, half = (second, third) if operand == "a" else (third, second)
        if self.along:
            row = (lane & 7) + line * 8
            self.place = start + (first + row) * self.span + (mask(row, self.span) ^ half) * CHUNK
        else:
            row = (lane & 7) + half * 8
            chunk = ((first & (BLOCK - 1)) >> 3) | line
            block = start + (first // BLOCK) * (self.depth * _LINE)
            self.place = block + row * _LINE + (mask(row, _LINE) ^ chunk) * CHUNK
        self.sets = [[[new("b32") for _ in range(4)] for _ in range(self.count)] for _ in range(2)]

    def load(self, stage: Any, step: int) -> None:
        """Load the fragments of a step of the stage at an offset."""
        here = self.place + stage
        if self.along:
            here = here ^ step * STEP if step else here
            for number, fragment in enumerate(self.of(step)):
                place = here.at(number * 16 * self.span, "shared")
                ptx.ldmatrix(place, shape="m8n8", num="x4", type="b16", out=fragment)
            return
        for number, fragment in enumerate(self.of(step)):
            block, inside = divmod(number, BLOCK // 16)
            place = here ^ inside * 2 * CHUNK if inside else here
            offset = (block * self.depth + step * 16) * _LINE
            ptx.ldmatrix(
                place.at(offset, "shared"), shape="m8n8", num="x4", trans=True, type="b16", out=fragment
            )

    def of(self, step: int) -> list[Fragment]:
        """The registers of a step: neighbouring steps have different ones."""
        return self.sets[step % 2]


def multiply(
    plan: Plan,
    k_tiles: Any,
    copies: Copies,
    from_a: Fragments,
    from_b: Fragments,
    sums: Sequence[Sequence[Register]],
) -> None:
    """Sum up a warp's tile."""
    tile, steps = plan.tile, plan.steps
    for stage in range(tile.stages - 1):
        copies.begin(stage * tile.stage_bytes)
        copies.issue(0, 1)
        copies.end()
    read, write = new(u32, 0), new(u32, (tile.stages - 1) * tile.stage_bytes)
    _await(plan)
    for operand in (from_a, from_b):
        operand.load(read, 0)
    turn = new(u32, 0)
    with while_(lambda: turn < k_tiles):
        copies.begin(write)  # beyond K they bring zeros, and the count of groups stays what it is
        for step in range(steps):
            last = step == steps - 1
            if last:
                copies.end()
                _await(plan)
                write.set(read)
                _advance(plan, read)
            for operand in (from_a, from_b):
                operand.load(read, (step + 1) % steps)
            if not last:
                copies.issue(step, steps - 1)
            _products(plan, from_a.of(step), from_b.of(step), sums)
        turn += 1
    ptx.cp_async_wait_group(0)
    ptx.bar(0)  # now the stages may be overwritten


def _await(plan: Plan) -> None:
    """Wait until the next stage has come, and until every warp has left the one before."""
    ptx.cp_async_wait_group(plan.tile.stages - 2)
    ptx.bar(0)


def _advance(plan: Plan, stage: Register) -> None:
    after = stage + plan.tile.stage_bytes
    ptx.selp(after, 0, after < plan.tile.shared_bytes, type=u32, out=stage)


def _products(plan: Plan, from_a: Sequence[Fragment], from_b: Sequence[Fragment], sums: Sums) -> None:
    """The products of one step. Every second row of blocks goes back, so that a fragment of B is used twice."""
    shape, sums_in = _SHAPES[size_of(plan.a)], plan.sums
    kind: Any = {"shape": shape, "dtype": sums_in, "atype": plan.a, "btype": plan.b, "ctype": sums_in}
    blocks = [pair[half : half + 2] for pair in from_b for half in (0, 2)]
    zeros = [new("f32", 0.0) for _ in range(plan.words)] if plan.promoted else []
    for row, (fragment, of_row) in enumerate(zip(from_a, sums, strict=True)):
        for number in range(len(blocks))[:: -1 if row % 2 else 1]:
            mine = list(of_row[number * plan.words : (number + 1) * plan.words])
            if plan.promoted:
                for total, part in zip(mine, ptx.mma(fragment, blocks[number], zeros, **kind), strict=True):
                    total += part
            else:
                ptx.mma(fragment, blocks[number], mine, **kind, out=mine)
