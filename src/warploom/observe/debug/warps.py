"""Positions of the warps of a stopped launch, and the events that they wait for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from warploom.diagnostics.wording import list_ranges
from warploom.emulator.emulator import Emulator
from warploom.emulator.faults import Awaited
from warploom.emulator.warp_splits import NONE, Status, unpack
from warploom.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class WarpPosition:
    """Lanes of a warp that are at one instruction.

    `warp` is the index among the resident warps, `cta` the index among the resident CTAs, and `number` that of the
    warp in its CTA. `pc` is the next instruction of the lanes, or the one at which they wait for `awaited`. `is_next`
    is True for the lanes that execute next.
    """

    warp: int
    cta: int
    number: int
    lanes: tuple[int, ...]
    pc: int
    awaited: Awaited | None
    is_next: bool


class WarpView:
    """Reader of the positions of the resident warps."""

    def __init__(self, emulator: Emulator) -> None:
        self.emulator = emulator

    def positions(self, cta: int | None = None) -> list[WarpPosition]:
        """Return the positions of all lanes that have not left the kernel, in the order of CTA, warp and lane.

        `cta` selects a resident CTA.
        """
        found = [each for each in (*self._splits(), *self._at_points()) if cta is None or each.cta == cta]
        return sorted(found, key=lambda each: (each.cta, each.number, each.lanes))

    def _splits(self) -> Iterator[WarpPosition]:
        splits = self.emulator.state.splits
        for slot in np.flatnonzero(splits.status != Status.DONE).tolist():
            yield self._position(int(splits.warp[slot]), int(splits.bits[slot]), *next_instruction(self.emulator, slot))

    def _at_points(self) -> Iterator[WarpPosition]:
        """Yield the lanes that wait at a reconvergence point for other lanes of their warp."""
        splits = self.emulator.state.splits
        for warp, pc, _, _, expected, arrived, _ in splits.points.tolist():
            if warp != NONE and arrived:
                others = describe_lanes(_lanes(expected & ~arrived))
                yield self._position(warp, arrived, pc, Awaited("lanes", others, " to reconverge"), False)

    def _position(self, warp: int, bits: int, pc: int, awaited: Awaited | None, is_next: bool) -> WarpPosition:
        topology = self.emulator.topology
        cta, number = int(topology.cta_of[warp]), int(topology.warp_in_cta[warp])
        return WarpPosition(warp, cta, number, _lanes(bits), pc, awaited, is_next)


def next_instruction(emulator: Emulator, slot: int) -> tuple[int, Awaited | None, bool]:
    """Return the next instruction of a warp split, what it waits for there, and True if it executes next."""
    block = emulator.interrupted
    if block is not None and slot in block.rows:
        return block.pc, None, True
    if (found := emulator.waiting.of(slot)) is not None:
        return *found, False
    return int(emulator.state.splits.pc[slot]), None, False


def _lanes(bits: int) -> tuple[int, ...]:
    return tuple(np.flatnonzero(unpack(np.array([bits], np.uint32))[0]).tolist())


def describe_lanes(lanes: Sequence[int]) -> str:
    """Return lanes as a phrase, such as "lane 3" or "lanes 0-3, 8"."""
    return "all lanes" if len(lanes) == 32 else describe_numbers("lane", lanes)


def describe_numbers(noun: str, numbers: Sequence[int]) -> str:
    """Return ascending numbers as a phrase, such as "warp 3" or "warps 0-3, 8"."""
    return f"{noun}{'' if len(numbers) == 1 else 's'} {list_ranges(numbers).replace(' to ', '-')}"
