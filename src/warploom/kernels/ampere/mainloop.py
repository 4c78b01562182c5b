"""Main loop of the Ampere kernel: copies to shared memory, fragments in registers, multiplications.

A line is a row of A or a column of B. A stage is a part of shared memory with 64 or 128 bytes of each line.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warploom.author import Register, new, s32, u32, while_
from warploom.kernels.ampere.plan import STEP, WarpPlan
from warploom.kernels.plan import BLOCK, BLOCK_FORMATS, CHUNK, bits_of, size_of, swizzle_mask
from warploom.kernels.ptx import ptx

_SHAPES = {4: "m16n8k64", 8: "m16n8k32", 16: "m16n8k16", 32: "m16n8k8"}  # by the bits of an element
_KINDS = {
    "mxfp8": {"kind": "kind::mxf8f6f4", "scale_vec": "scale_vec::1X"},
    "mxfp4": {"kind": "kind::mxf4", "scale_vec": "scale_vec::2X"},
    "nvfp4": {"kind": "kind::mxf4nvf4", "scale_vec": "scale_vec::4X"},
}
"""Modifiers of the multiplication of each block format."""
_WORD = 4  # scale factors in a register
_ATOM = 512  # bytes from a word of factors to the next along K
_ROW = 128  # bytes of a row of 64 elements in shared memory

Fragment = list[Register]
"""Registers of 16 rows of A or columns of B by 32 bytes of K, as four matrices of 8 lines by 16 bytes."""
Sums = Sequence[Sequence[Register]]
"""Accumulators of a warp for every 16 rows. Accumulators of the same 8 columns are contiguous."""


@dataclass(frozen=True, slots=True)
class Source:
    """Tile of A or B in global memory.

    `matrix` is the address of A or B. `extent` is its number of lines, and `k` its number of elements along K.
    `first` is the first line of the tile, and `lines` the number of its lines. `stride` is the distance of two adjacent
    lines if K is contiguous. Otherwise it is the distance of two adjacent elements along K. Units: bytes for `stride`.
    """

    matrix: Any
    stride: Any
    extent: Any
    first: Any
    lines: int
    k: Any


class _OperandCopies:
    """Copies of a tile of A or B to shared memory by one thread.

    `target` is the address of the tile in the first stage. A row in shared memory has `span` bytes.
    """

    def __init__(self, plan: WarpPlan, source: Source, target: Any, thread: Any, span: int) -> None:
        chunks = span // CHUNK
        self.span, self.stride, self.k = span, source.stride, source.k
        self.rows = plan.tile.threads // chunks  # rows that all threads together copy at once
        self.first_row, self.chunk = thread // chunks, thread % chunks
        row = self.first_row
        self.target = target + row * span + (swizzle_mask(row, span) ^ self.chunk) * CHUNK

    def begin(self, stage: Any) -> None:
        """Select the stage at byte offset `stage` as the target of the next copies."""
        self.here = self.target + stage

    def _copy(self, offset: int, source: Register, source_offset: int, size: Any) -> None:
        to, origin = self.here.at(offset, "shared"), source.at(source_offset, "global")
        ptx.cp_async(to, origin, CHUNK, size, cop="cg", level_prefetch_size="L2::128B", shared_space="shared")


class AlongK(_OperandCopies):
    """Copies of a tile of A or B that is contiguous along K.

    A stage has `span` bytes of each line. Lines beyond the matrix repeat the last line. Bytes beyond K become zero.
    """

    def __init__(self, plan: WarpPlan, source: Source, target: Any, thread: Any) -> None:
        super().__init__(plan, source, target, thread, plan.tile.span)
        self.count = source.lines // self.rows
        self.line, self.last = source.first + self.first_row, source.extent - 1
        self.address = source.matrix + ptx.mul_wide(self.chunk, CHUNK, type=u32)
        self.left = new(s32, _bytes(plan, source.k) - self.chunk * CHUNK)  # remaining bytes of K

    def begin(self, stage: Any) -> None:
        """Select the stage at byte offset `stage` as the target of the next copies."""
        super().begin(stage)
        self.size = ptx.max(ptx.min(self.left, CHUNK, type=s32), 0, type=s32)

    def issue(self, number: int) -> None:
        """Issue copy `number` of the `count` copies that a thread makes for each stage."""
        # The results of a repeated line are not stored.
        line = ptx.min(self.line + number * self.rows, self.last, type=u32)
        source = ptx.mad_wide(line, self.stride, self.address, type=u32)
        self._copy(number * self.rows * self.span, source, 0, self.size)

    def end(self) -> None:
        """Advance along K by one stage."""
        self.address += self.span
        self.left -= self.span


class AcrossK(_OperandCopies):
    """Copies of a tile of A or B that is contiguous along M or N.

    Shared memory has a block for every 64 lines. A block has a row of 128 bytes for each element of K. Elements
    outside of the matrix become zero.
    """

    def __init__(self, plan: WarpPlan, source: Source, target: Any, thread: Any) -> None:
        super().__init__(plan, source, target, thread, _ROW)
        self.depth = plan.stage_k
        self.turns = plan.stage_k // self.rows
        self.count = source.lines // BLOCK * self.turns
        self.row = new(u32, self.first_row)
        size = size_of(plan.a)
        begin = source.first + self.chunk * (CHUNK // size)
        self.address = source.matrix + ptx.mul_wide(begin, size, type=u32)
        self.sizes: list[Register] = []
        for block in range(source.lines // BLOCK):
            left = new(s32, (source.extent - (begin + block * BLOCK)) * size)
            self.sizes.append(ptx.max(ptx.min(left, CHUNK, type=s32), 0, type=s32))

    def issue(self, number: int) -> None:
        """Issue copy `number` of the `count` copies that this thread makes for a stage."""
        block, turn = divmod(number, self.turns)
        row = self.row + turn * self.rows
        source = ptx.mad_wide(row, self.stride, self.address, type=u32)
        size = ptx.selp(self.sizes[block], 0, row < self.k, type=s32)
        self._copy((block * self.depth + turn * self.rows) * _ROW, source, block * _ROW, size)

    def end(self) -> None:
        """Advance along K by one stage."""
        self.row += self.depth


def _bytes(plan: WarpPlan, elements: Any) -> Any:
    """Return the size of elements along K. Units: bytes."""
    return elements >> 1 if bits_of(plan.a) < 8 else elements * size_of(plan.a)


class Copies:
    """Copy instructions of one thread. In each stage, the copies of A precede the copies of B."""

    def __init__(self, *operands: AlongK | AcrossK) -> None:
        self.operands = operands
        # In each stage, the copies of A precede the copies of B.
        self.each = [(operand, number) for operand in operands for number in range(operand.count)]

    def begin(self, stage: Any) -> None:
        """Select the stage at byte offset `stage` as the target of the next copies."""
        for operand in self.operands:
            operand.begin(stage)

    def issue(self, share: int, shares: int) -> None:
        """Issue part `share` of the copies of a stage, which are divided into `shares` equal parts."""
        count = len(self.each)
        for operand, number in self.each[count * share // shares : count * (share + 1) // shares]:
            operand.issue(number)

    def end(self) -> None:
        """Commit the copies of a stage as one asynchronous group, and advance along K."""
        ptx.cp_async_commit_group()
        for operand in self.operands:
            operand.end()


class Fragments:
    """Fragments of A or B in the registers of a warp.

    The warp loads `own` lines of the tile, from line `first` on. `start` is the address of the tile in the first stage.
    """

    def __init__(self, plan: WarpPlan, operand: str, start: Any, first: Any, own: int, lane: Any) -> None:
        major = plan.a_major if operand == "a" else plan.b_major
        self.along_k, self.span, self.depth = major == "k", plan.tile.span, plan.stage_k
        # The registers of one instruction are neighbours: 8x8 matrices are ordered along lines for A, along K for B.
        second, third = ((lane >> 3) & 1, lane >> 4)  # bits of the index of the 8x8 matrix whose row a lane addresses
        line, half = (second, third) if operand == "a" else (third, second)
        if self.along_k:
            row = (lane & 7) + line * 8
            line_start = start + (first + row) * self.span
            self.address = line_start + (swizzle_mask(row, self.span) ^ half) * CHUNK
        else:
            row = (lane & 7) + half * 8
            chunk = ((first & (BLOCK - 1)) >> 3) | line
            block = start + (first // BLOCK) * (self.depth * _ROW)
            self.address = block + row * _ROW + (swizzle_mask(row, _ROW) ^ chunk) * CHUNK
        self.sets = [[[new("b32") for _ in range(4)] for _ in range(own // 16)] for _ in range(2)]

    def load(self, stage: Any, step: int) -> None:
        """Load the fragments of step `step` from the stage at byte offset `stage`. A step has 32 bytes of K."""
        here = self.address + stage
        if self.along_k and step:
            here = here ^ step * STEP
        for number, fragment in enumerate(self.of(step)):
            if self.along_k:
                place = here.at(number * 16 * self.span, "shared")
                ptx.ldmatrix(place, shape="m8n8", num="x4", type="b16", out=fragment)
                continue
            block, inside = divmod(number, BLOCK // 16)
            address = here ^ inside * 2 * CHUNK if inside else here
            place = address.at((block * self.depth + step * 16) * _ROW, "shared")
            ptx.ldmatrix(place, shape="m8n8", num="x4", trans=True, type="b16", out=fragment)

    def of(self, step: int) -> list[Fragment]:
        """Return the registers of the fragments of step `step`. Steps alternate between two sets of registers."""
        return self.sets[step % 2]


class ScaleWords:
    """Scale factors of one operand in the registers of a warp, in words of four, for one stage.

    `source` is the address of the factors, in the layout of `arrange_scales`. The operand has `extent` lines, and K
    has `atoms` words of factors. The warp multiplies `own` lines, from line `first` of the operand on, `height` at a
    time: 16 of A or 8 of B.
    """

    def __init__(
        self, plan: WarpPlan, source: Any, extent: Any, atoms: Any, first: Any, own: int, height: int, lane: Any
    ) -> None:
        self.last, self.atom = atoms - 1, new(u32, 0)
        # Of four neighbouring lanes, one has the factors of a column of B, and two have those of two rows of A.
        inside = (lane >> 2) + ((lane & 1) << 3 if height == 16 else 0)
        self.places: list[Register] = []
        for start in range(0, own, height):
            line = ptx.min(first + start + inside, extent - 1, type=u32)  # results of repeated lines are not stored
            within = (line & 31) * CHUNK + ((line >> 5) & 3) * _WORD
            block = ptx.mul_wide((line >> 7) * atoms, _ATOM, type=u32)
            self.places.append(source + block + ptx.cvt(within, dtype="u64"))
        self.count = plan.factors
        self.words, self.next = ([[new("b32") for _ in self.places] for _ in range(self.count)] for _ in range(2))

    def load(self) -> None:
        """Start to load the words of the next stage."""
        for words in self.next:
            atom = ptx.min(self.atom, self.last, type=u32)  # elements beyond K are zero, whatever their factors
            offset = ptx.mul_wide(atom, _ATOM, type=u32)
            for place, word in zip(self.places, words, strict=True):
                ptx.ld((place + offset).at(0, "global"), type="b32", out=word)
            self.atom += 1

    def advance(self) -> None:
        """Make the loaded words the current ones."""
        for words, following in zip(self.words, self.next, strict=True):
            for word, after in zip(words, following, strict=True):
                word.set(after)

    def of(self, step: int) -> tuple[list[Register], int]:
        """Return the words of a step by block of lines, and the number of the first byte to use."""
        atom, byte = divmod(step * self.count, _WORD)
        return self.words[atom], byte


Scales = tuple[ScaleWords, ScaleWords]
"""Scale factors of A and B."""


def multiply(
    plan: WarpPlan, k_tiles: Any, copies: Copies, from_a: Fragments, from_b: Fragments, sums: Sums,
    scales: Scales | None = None,
) -> None:  # fmt: skip
    """Add the product of a warp's tiles of A and B to `sums`. K has `k_tiles` stages."""
    tile, steps = plan.tile, plan.steps
    for each in scales or ():
        each.load()
    for stage in range(tile.stages - 1):
        copies.begin(stage * tile.stage_bytes)
        copies.issue(0, 1)
        copies.end()
    read, write = new(u32, 0), new(u32, (tile.stages - 1) * tile.stage_bytes)
    _wait(plan)
    for operand in (from_a, from_b):
        operand.load(read, 0)
    k_tile = new(u32, 0)
    with while_(lambda: k_tile < k_tiles):
        for each in scales or ():
            each.advance()
            each.load()
        copies.begin(write)  # copies beyond K write zeros and keep the number of groups in flight
        for step in range(steps):
            last = step == steps - 1
            if last:
                copies.end()
                _wait(plan)
                write.set(read)
                after = read + tile.stage_bytes
                ptx.selp(after, 0, after < tile.shared_bytes, type=u32, out=read)
            for operand in (from_a, from_b):
                # The fragments of the next step are loaded while this step is multiplied.
                operand.load(read, (step + 1) % steps)
            if not last:
                copies.issue(step, steps - 1)
            _multiply_step(plan, from_a.of(step), from_b.of(step), sums, scales, step)
        k_tile += 1
    ptx.cp_async_wait_group(0)
    ptx.bar(0)  # the stages may be overwritten from here on


def _wait(plan: WarpPlan) -> None:
    """Wait until the next stage is copied, and until all warps have read the previous stage."""
    ptx.cp_async_wait_group(plan.tile.stages - 2)
    ptx.bar(0)


def _multiply_step(
    plan: WarpPlan, from_a: Sequence[Fragment], from_b: Sequence[Fragment], sums: Sums, scales: Scales | None, step: int
) -> None:
    accumulator, count = plan.accumulator, plan.accumulators
    words: dict[str, Any] = {
        "shape": _SHAPES[bits_of(plan.a)], "dtype": accumulator, "atype": plan.a, "btype": plan.b, "ctype": accumulator,
    }  # fmt: skip
    blocks = [pair[half : half + 2] for pair in from_b for half in (0, 2)]
    zeros = [new("f32", 0.0) for _ in range(count)] if plan.promoted else []
    of_rows: list[tuple[Any, ...]] = [()] * len(from_a)
    of_columns: list[tuple[Any, ...]] = [()] * len(blocks)
    if scales is not None:
        words |= _KINDS[plan.scaling] | {"stype": BLOCK_FORMATS[plan.scaling].scale}
        of_rows, of_columns = ([(word, (byte, 0)) for word in found] for found, byte in (s.of(step) for s in scales))
    for row, (fragment, of_row) in enumerate(zip(from_a, sums, strict=True)):
        # Odd rows traverse B backwards, to reuse its last fragment.
        for number in range(len(blocks))[:: -1 if row % 2 else 1]:
            totals = list(of_row[number * count : (number + 1) * count])
            if plan.promoted:
                for total, part in zip(totals, ptx.mma(fragment, blocks[number], zeros, **words), strict=True):
                    total += part
            else:
                ptx.mma(fragment, blocks[number], totals, *of_rows[row], *of_columns[number], **words, out=totals)
