# pyright: reportUnknownMemberType=false
"""Check that the descriptors of multiplications agree with the layout in which copies wrote the tiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics.edits import Fix
from warploom.emulator.address_space import SHARED_START
from warploom.isa.model.multiplication import SharedMatrix
from warploom.layout import Descriptor, descriptor, swizzle_text
from warploom.observe.sanitize._tiles import Tiles, tiles_of
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.edits import insert_after, insert_before, operand_text
from warploom.observe.sanitize.rules import rules
from warploom.observe.sanitize.tile_agreement import (
    K_ORDER,
    Span,
    agreeing,
    chunks_of,
    disagreement,
    overlaps,
    span,
    used_fields,
)
from warploom.observe.sanitize.written_layouts import OUTSIDE, Contents, WrittenLayouts

Array = NDArray[Any]

_MOST_KINDS = 256  # kinds of tiles of one instruction that are judged
_MOST_FAILURES = 4  # searches without a result for one instruction
_FIELDS = {
    "leading_byte_offset": "LBO",
    "stride_byte_offset": "SBO",
    "swizzle": "swizzle",
    "base_offset": "base offset",
    "start_address": "start address",
}


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Result of the check of a multiplication.

    `good` is True for each matrix whose descriptor agrees. `codes` are the violated rules.
    """

    good: tuple[bool, ...]
    codes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Tile:
    """Tile of a multiplication: its matrix, its descriptor, and the CTA that reads it.

    `contents` is None if the contents of all chunks are unknown, or if the tile is `outside` of the shared memory.
    """

    matrix: SharedMatrix
    descriptor: Descriptor
    cta: int
    contents: Contents | None
    outside: bool

    @property
    def problem(self) -> str:
        """Disagreement of the descriptor with the contents, "" for none."""
        return "" if self.contents is None else disagreement(self.contents, self.matrix)

    @property
    def span(self) -> Span | None:
        """Elements of its boxes that the tile covers along K, None if they are not known."""
        return None if self.contents is None else span(self.contents, self.matrix)


class TileLayouts:
    """Check of the descriptors of multiplications.

    The check judges tiles with the same contents once. Launches of one program share the verdict that tiles agree.
    """

    context: Context

    def __init__(self, written: WrittenLayouts) -> None:
        self.written = written
        self._outcomes: dict[tuple[int, ...], _Outcome] = {}
        self._judged = Counter[int]()
        self._failures = Counter[int]()
        self._codes: dict[tuple[int, str], str] = {}

    def start(self, context: Context) -> None:
        """Prepare for the CTAs that `context` describes."""
        self.context = context

    def agree(self, origins: Array, fields: Sequence[int], starts: Array, tiles: Tiles, pcs: Array) -> bool:
        """Return True if the descriptors of adjacent multiplications are known to agree with the written data.

        The multiplications pcs[0] to pcs[-1] read `tiles`. Tile m belongs to pcs[m]. fields[m] is its descriptor
        without the start address. For warpgroup i, the start address is starts[m, i], and the shared memory of the CTA
        begins at byte offset origins[i]. False means that the agreement is not known yet. Shapes: starts (tiles,
        warpgroups); pcs (tiles,); origins (warpgroups,).
        """
        first, known = int(pcs[0]), self.written.known.agreeing
        hashes: list[list[int]] = self.written.hashes(origins, starts, tiles).T.tolist()
        for values in set(map(tuple, hashes)):
            if (first, *fields, *values) in known:
                continue
            for pc, of in by_value(pcs):
                if (pc, *(fields[m] for m in of), *(values[m] for m in of)) not in known:
                    return False
            known.add((first, *fields, *values))
        return True

    def check(self, groups: Array, matrices: Sequence[SharedMatrix], descriptors: Array, pc: int) -> Array:
        """Report descriptors that disagree with the written data. Return True for each tile that agrees.

        Row i of `groups` has the four warps of a warpgroup, and column i of `descriptors` the matrix descriptors of
        this warpgroup. Shapes: groups (warpgroups, 4); descriptors and result (matrices, warpgroups).
        """
        topology, stride = self.context.topology, self.context.shared.stride
        origins = topology.cta_of[groups[:, 0]].astype(np.int64) * stride
        fields = (descriptors >> np.uint64(14)).astype(np.int64)
        starts = (descriptors.astype(np.int64) & 0x3FFF) << 4
        hashes = np.zeros(descriptors.shape, np.int64)
        for row, matrix in enumerate(matrices):
            for each, here in by_value(fields[row]):
                tiles = tiles_of([matrix], [each])
                hashes[row, here] = self.written.hashes(origins[here], starts[row, here][None], tiles)[0]
        good = np.ones(descriptors.shape, np.bool_)
        for group, key in enumerate(np.concatenate([fields, hashes]).T.tolist()):
            if (pc, *key) in self.written.known.agreeing:
                continue
            outcome = self._outcomes.get((pc, *key))
            if outcome is None:
                cta = int(topology.cta_of[groups[group, 0]])
                found = [Descriptor.decode(value) for value in descriptors[:, group].tolist()]
                tiles = [self._tile(cta, *each, pc) for each in zip(matrices, found, key[len(matrices) :], strict=True)]
                outcome = self._judge(int(groups[group, 0]), tiles, pc)
                self._outcomes[pc, *key] = outcome
                if not outcome.codes and not self._failures[pc] and self._judged[pc] <= _MOST_KINDS:
                    self.written.known.agreeing.add((pc, *key))
            else:
                for code in outcome.codes:
                    self.context.report.is_known(code, pc, -1)
            if outcome.codes:
                good[:, group] = outcome.good
        return good

    def _tile(self, cta: int, matrix: SharedMatrix, found: Descriptor, value: int, pc: int) -> _Tile:
        # `value` is the hash of the tile.
        if value in (0, OUTSIDE) or self._judged[pc] >= _MOST_KINDS:
            return _Tile(matrix, found, cta, None, value == OUTSIDE)
        chunks = chunks_of(found, matrix)
        contents = self.written.contents(cta, chunks.reshape(-1), restored=True)
        return _Tile(matrix, found, cta, contents.at((np.arange(chunks.size).reshape(chunks.shape),)), outside=False)

    # Verdicts ---------------------------------------------------------------------------------------------

    def _judge(self, warp: int, tiles: Sequence[_Tile], pc: int) -> _Outcome:
        """Judge the tiles of a multiplication by a warpgroup whose first warp is `warp`. Report disagreements."""
        self._judged[pc] += 1
        problems = [tile.problem for tile in tiles]
        spans = [None if problem else tile.span for tile, problem in zip(tiles, problems, strict=True)]
        if all(problem == K_ORDER for problem in problems) and _have_one_order([tile.span for tile in tiles]):
            return _Outcome((True,) * len(tiles))  # A and B have the same permutation of K
        codes: list[str] = []
        for tile, problem, other in zip(tiles, problems, (spans[::-1] if len(tiles) == 2 else (None,)), strict=True):
            code = ""
            if tile.outside:
                code = self._report_bounds(warp, tile, other, pc)
            elif overlaps(chunks_of(tile.descriptor, tile.matrix)):
                code = self._report_overlap(warp, tile, other, pc)
            elif problem:
                code = self._report_disagreement(warp, tile, problem, other, pc)
            codes.append(code)
        good = tuple(not code for code in codes)
        if len(tiles) == 2 and all(good):
            codes.append(self._check_range(warp, tiles, spans, pc))
        return _Outcome(good, tuple(dict.fromkeys(code for code in codes if code)))

    def _report_bounds(self, warp: int, tile: _Tile, beside: Span | None, pc: int) -> str:
        shared = self.context.shared
        other = self._agreeing(tile, beside)
        remedy = "" if other is None else f"{_changes(tile, other)} would agree with the data; "
        message = (
            f"the matrix {tile.matrix.name} ({_text(tile)}) reaches outside the {shared.size} bytes of shared memory "
            f"of its CTA, at {SHARED_START:#x} to {shared.end:#x}; {remedy}{self.context.describe(warp)}"
        )
        return self._report("sanitize.descriptor/bounds", message, tile, other, pc)

    def _report_overlap(self, warp: int, tile: _Tile, beside: Span | None, pc: int) -> str:
        found, matrix = tile.descriptor, tile.matrix
        other = None if tile.contents is None else self._agreeing(tile, beside)
        remedy = "" if other is None else f"{_changes(tile, other)} would agree with the data"
        if other is None:
            other = descriptor(
                matrix.rows, matrix.k, matrix.element, swizzle=found.swizzle, major=matrix.major,
                start_address=found.start_address,
            )  # fmt: skip
            remedy = f"a tile without gaps has {_changes(tile, other)}"
        message = (
            f"the descriptor of {matrix.name} ({_text(tile)}) gives several elements of the tile the same address; "
            f"{remedy}; {self.context.describe(warp)}"
        )
        return self._report("sanitize.descriptor/overlap", message, tile, other, pc)

    def _report_disagreement(self, warp: int, tile: _Tile, problem: str, beside: Span | None, pc: int) -> str:
        found, contents = tile.descriptor, tile.contents
        assert contents is not None
        if self._failures[pc] >= _MOST_FAILURES:
            return ""
        other = self._agreeing(tile, beside)
        copies: list[int] = np.unique(contents.copy[contents.tensor > 0]).tolist()
        widths = {self.written.fields[copy].swizzle_span for copy in copies}
        if other is None and not widths - {found.swizzle}:
            self._failures[pc] += 1
            return ""
        is_swizzle = other is None or other.swizzle != found.swizzle
        remedy = f"a tensor map with a swizzle of {found.swizzle} bytes may agree"
        if other is not None:
            remedy = f"{_changes(tile, other)} would agree"
        message = (
            f"the descriptor of {tile.matrix.name} ({_text(tile)}) disagrees with the data, which "
            f"{self._writers(copies)}: {problem}; {remedy}; {self.context.describe(warp)}"
        )
        code = "sanitize.descriptor/swizzle" if is_swizzle else "sanitize.descriptor/layout"
        return self._report(code, message, tile, other, pc)

    def _check_range(self, warp: int, tiles: Sequence[_Tile], spans: Sequence[Span | None], pc: int) -> str:
        """Report operands that cover different parts of their boxes along K."""
        a, b = spans
        if a is None or b is None or tiles[0].matrix.k != tiles[1].matrix.k or a.matches(b):
            return ""
        parts = [
            f"the tile of {tile.matrix.name} ({_text(tile)}) begins at element {each.start} along K of its box"
            for tile, each in zip(tiles, (a, b), strict=True)
        ]
        others = [self._agreeing(tile, each) for tile, each in zip(tiles, (b, a), strict=True)]
        remedies = [
            f"{_changes(tile, other)} of {tile.matrix.name}"
            for tile, other in zip(tiles, others, strict=True)
            if other is not None
        ]
        remedy = f"; {' or '.join(remedies)} would agree" if remedies else ""
        message = f"{' and '.join(parts)}; expected the same elements of both{remedy}; {self.context.describe(warp)}"
        fixes = [fix for tile, other in zip(tiles, others, strict=True) for fix in self._fixes(tile, other, pc)]
        return self._report("sanitize.descriptor/layout", message, tiles[0], others[0], pc, fixes)

    def _report(
        self, code: str, message: str, tile: _Tile, other: Descriptor | None, pc: int, fixes: Sequence[Fix] = ()
    ) -> str:
        """Report a wrong descriptor. Return the code of the first report on this matrix of the instruction.

        The report has this code, too. `other` is a right descriptor. Conflicts whose descriptors need the same change
        have one subject.
        """
        name = tile.matrix.name
        code = self._codes.setdefault((pc, name), code)
        subject = ""
        if other is not None:
            move = other.start_address - tile.descriptor.start_address
            strides = (other.leading_byte_offset, other.stride_byte_offset)
            subject = f"descriptor {name} {strides} {other.swizzle} {other.base_offset} {move}"
        fixes = tuple(fixes) or self._fixes(tile, other, pc)
        self.context.report.add(code, pc, -1, message, subject=subject, fixes=fixes)
        return code

    def _fixes(self, tile: _Tile, other: Descriptor | None, pc: int) -> tuple[Fix, ...]:
        """Return the fix that changes a descriptor to `other` for a multiplication, or () without `other`."""
        launch, program = self.context.launch, self.context.program
        operands = launch.instructions[pc].operands
        names = (
            name for name in program.steps[pc].binding.operands if getattr(operands, name) == tile.matrix.descriptor
        )
        register = operand_text(program, pc, next(names, ""))
        if other is None or not register:
            return ()
        amount = other.encode() - tile.descriptor.encode()
        amount = (amount + (1 << 63)) % (1 << 64) - (1 << 63)
        template = rules()["sanitize.descriptor/layout"].template
        change, restoration = (template.format(register=register, amount=f"{each:#x}") for each in (amount, -amount))
        return (insert_before(program, pc, change) + insert_after(program, pc, restoration),)

    def _agreeing(self, tile: _Tile, beside: Span | None) -> Descriptor | None:
        memory = self.written.contents(tile.cta, np.arange(self.context.shared.size >> 4), restored=True)
        return agreeing(tile.descriptor, tile.matrix, memory, beside)

    def _writers(self, copies: Sequence[int]) -> str:
        """Return a phrase that names the layouts in which tensor copies, or else threads, wrote a tile."""
        if not copies:
            return "threads copied from equally spaced rows of global memory"
        found: list[str] = []
        for copy in copies:
            fields, line = self.written.fields[copy], self.context.program.line_of(self.written.sites[copy])
            box = "x".join(str(extent) for extent in fields.box[: fields.rank][::-1])
            box = f"{fields.pixels_per_column}x{fields.channels_per_pixel}" if fields.is_im2col else box
            start = int(self.written.arrays.starts[copy])
            found.append(
                f"line {line} wrote to {start:#x} as a box of {box} {fields.element_type}, "
                f"{swizzle_text(fields.swizzle_span)}"
            )
        return " and ".join(found[:2]) + (f" and {len(found) - 2} other boxes" if len(found) > 2 else "")


def by_value(array: Array) -> Iterator[tuple[int, Array]]:
    """Yield each value of an array and the indices of its elements. Shapes: array (elements,)."""
    for each in sorted({*array.tolist()}):
        yield each, np.flatnonzero(array == each)


def _have_one_order(spans: Sequence[Span | None]) -> bool:
    profiles = {None if each is None else each.profile for each in spans}
    return len(spans) == 2 and len(profiles) == 1 and None not in profiles


def _field(found: Descriptor, name: str) -> str:
    value = getattr(found, name)
    return f"{_FIELDS[name]} {value:#x}" if name == "start_address" else f"{_FIELDS[name]} {value}"


def _text(tile: _Tile) -> str:
    return ", ".join(_field(tile.descriptor, name) for name in used_fields(tile.descriptor, tile.matrix))


def _changes(tile: _Tile, other: Descriptor) -> str:
    """Return a phrase with the fields of `other` that differ from the descriptor of a tile."""
    used = used_fields(other, tile.matrix)
    return " and ".join(_field(other, name) for name in used if getattr(other, name) != getattr(tile.descriptor, name))
