"""Patterns of marked elements of an array: rows, columns, tiles and periods.

A pattern is a union of boxes. A box has a set of positions on each axis, such as columns 64-127, or every 8th row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.lazy_dataclass import dataclass

Mask = NDArray[np.bool_]

MAX_PARTS = 4
"""Maximum number of boxes in a pattern, and of ranges on one axis."""
_LEAST_REPEATS = 4  # repetitions from which a residue on an axis is not considered a coincidence


class AxisName(NamedTuple):
    """Names of one position and of several positions on an axis. `suffix` follows the positions."""

    one: str
    several: str
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class AxisSet:
    """Set of positions on an axis of length `size`.

    The set contains each position p with start <= p < stop for which (p - start) % period is in one of `ranges`. The
    ranges are half-open.
    """

    size: int
    start: int
    stop: int
    period: int
    ranges: tuple[tuple[int, int], ...]

    @property
    def is_all(self) -> bool:
        """True if the set contains every position."""
        return self.ranges == ((0, self.size),)

    def mask(self) -> Mask:
        """Return a mask of the positions in the set. Shapes: (size,)."""
        at = np.arange(self.size)
        phase = (at - self.start) % self.period
        inside = np.zeros(self.size, np.bool_)
        for low, high in self.ranges:
            inside |= (phase >= low) & (phase < high)
        return inside & (at >= self.start) & (at < self.stop)

    def describe(self, axis: AxisName) -> str:
        """Return a phrase such as "rows 64-127" or "every 8th column from 4"."""
        low, high = self.ranges[0]
        if self.period == self.size:
            is_single = len(self.ranges) == 1 and high - low == 1
            words = f"{axis.one if is_single else axis.several} {_listed(self.ranges)}"
        elif high - low == 1 and len(self.ranges) == 1:
            words = f"every {_ordinal(self.period)} {axis.one} from {self.start + low}"
            if self.stop < self.size:
                words += f" to {self.stop - 1}"
        elif self.start == 0 and self.stop == self.size:
            words = f"{axis.several} {_listed(self.ranges)} of every {self.period}"
        else:
            words = f"{high - low} of every {self.period} {axis.several} from {self.start} to {self.stop - 1}"
        return words + axis.suffix


Box = tuple[AxisSet, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Positions of `count` marked elements in an array.

    If `exact` is set, the marked elements are the union of `boxes`. Otherwise `boxes` is one box that contains all of
    them, and `touched` has the number of marked positions on each axis.
    """

    shape: tuple[int, ...]
    count: int
    boxes: tuple[Box, ...]
    exact: bool
    touched: tuple[int, ...] = ()

    def mask(self) -> Mask:
        """Return a mask of the elements in the boxes."""
        found = np.zeros(self.shape, np.bool_)
        for box in self.boxes:
            found |= _product([each.mask() for each in box])
        return found

    def describe(self, axes: Sequence[AxisName] | None = None) -> str:
        """Return a phrase such as "rows 64-127, columns 0-63". `axes` has the names of the axes."""
        if not self.count:
            return "no elements"
        if self.count == math.prod(self.shape):
            return "all elements"
        names = axis_names(len(self.shape)) if axes is None else axes
        boxes = [_box_words(box, names) for box in self.boxes]
        if self.exact:
            return "; and ".join(boxes)
        parts = [
            f"{count:,} of {size:,} {name.several}{name.suffix}"
            for count, size, name in zip(self.touched, self.shape, names, strict=True)
        ]
        return f"scattered within {boxes[0] or 'the whole array'}; affected: {' and '.join(parts)}"


def axis_names(rank: int) -> list[AxisName]:
    """Return the names of the axes of an array. The last two axes of an array are rows and columns."""
    if rank == 1:
        return [AxisName("element", "elements")]
    leading = [AxisName("index", "indices", f" on axis {axis}") for axis in range(rank - 2)]
    return [*leading, AxisName("row", "rows"), AxisName("column", "columns")]


def find_pattern(mask: Mask) -> Pattern:
    """Return the pattern of the elements that are set in `mask`, an array of any rank."""
    count = int(np.count_nonzero(mask))
    boxes = _boxes(mask) if count else ()
    if boxes is not None:
        return Pattern(mask.shape, count, boxes, exact=True)
    sides = _projections(mask)
    touched = tuple(int(np.count_nonzero(side)) for side in sides)
    return Pattern(mask.shape, count, (tuple(map(_enclosing, sides)),), False, touched)


# Exact patterns ---------------------------------------------------------------------------------------------------


def _boxes(mask: Mask) -> tuple[Box, ...] | None:
    """Return boxes whose union is `mask`. Return None if the search finds no small union.

    `mask` has at least one element that is set.
    """
    sides = _projections(mask)
    # The mask is a subset of the product of its projections, so equal sizes mean equal sets.
    if math.prod(int(np.count_nonzero(side)) for side in sides) == np.count_nonzero(mask):
        box = [_axis_set(side) for side in sides]
        if all(each is not None for each in box):
            return (tuple(each for each in box if each is not None),)
    if mask.ndim < 2:
        return None
    found = [boxes for axis in (0, mask.ndim - 1) if (boxes := _boxes_by_slice(mask, axis)) is not None]
    return min(found, key=len, default=None)


def _boxes_by_slice(mask: Mask, axis: int) -> tuple[Box, ...] | None:
    """Return the boxes of a mask, from groups of equal slices across an axis."""
    slices = np.moveaxis(mask, axis, 0)
    packed = np.packbits(slices.reshape(len(slices), -1), axis=1)
    groups: dict[bytes, list[int]] = {}
    for position in np.flatnonzero(packed.any(axis=1)).tolist():
        groups.setdefault(packed[position].tobytes(), []).append(position)
        if len(groups) > MAX_PARTS:
            return None
    found: list[Box] = []
    for positions in groups.values():
        side = np.zeros(len(slices), np.bool_)
        side[positions] = True
        along, across = _axis_set(side), _boxes(slices[positions[0]])
        if along is None or across is None:
            return None
        found += [(*box[:axis], along, *box[axis:]) for box in across]
    return tuple(found) if len(found) <= MAX_PARTS else None


def _axis_set(side: Mask) -> AxisSet | None:
    """Return the set of the positions that are set in `side`. Return None if it has no simple description."""
    starts, stops = _runs(side)
    size = len(side)
    first, last = int(starts[0]), int(stops[-1])
    if len(starts) == 1:
        return AxisSet(size, 0, size, size, ((first, last),))
    # The first run may be incomplete, so differences to the second run are candidates too.
    candidates = {int(starts[k] - starts[at]) for at in (0, 1) for k in range(at + 1, min(at + 3, len(starts)))}
    for period in sorted(each for each in candidates if each > 1):
        if 2 * period <= size and (side[period:] == side[:-period]).all():
            return AxisSet(size, 0, size, period, tuple(_pairs(*_runs(side[:period]))))
    width, period = int(stops[0] - starts[0]), int(starts[1] - starts[0])
    part = AxisSet(size, first, last, period, ((0, width),))
    if len(starts) > 2 and (part.mask() == side).all():
        return part
    return AxisSet(size, 0, size, size, tuple(_pairs(starts, stops))) if len(starts) <= MAX_PARTS else None


def _runs(side: Mask) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first positions of the runs of set elements, and the positions after their last elements."""
    edges = np.flatnonzero(np.diff(side, prepend=False, append=False))
    return edges[::2], edges[1::2]


def _pairs(starts: NDArray[Any], stops: NDArray[Any]) -> list[tuple[int, int]]:
    return list(zip(starts.tolist(), stops.tolist(), strict=True))


def _projections(mask: Mask) -> list[Mask]:
    axes = range(mask.ndim)
    return [np.asarray(mask.any(axis=tuple(other for other in axes if other != axis))) for axis in axes]


def _product(sides: Sequence[Mask]) -> Mask:
    found = np.ones((), np.bool_)
    for side in sides:
        found = found[..., None] & side
    return found


# Patterns that enclose the elements -------------------------------------------------------------------------------


def _enclosing(side: Mask) -> AxisSet:
    """Return a small set that contains all positions that are set in `side`."""
    exact = _axis_set(side)
    if exact is not None:
        return exact
    size, at = len(side), np.flatnonzero(side)
    best = AxisSet(size, 0, size, size, ((int(at[0]), int(at[-1]) + 1),))
    share = 0.5  # of the positions; a set with more positions says little
    period = 2
    while 2 * period <= size:
        residues = np.bincount(at % period, minlength=period) > 0
        count = int(np.count_nonzero(residues))
        ranges = _pairs(*_runs(residues))
        if count / period <= share and len(at) >= _LEAST_REPEATS * count and len(ranges) <= MAX_PARTS:
            best, share = AxisSet(size, 0, size, period, tuple(ranges)), count / period / 2
        period *= 2
    return best


# Words ------------------------------------------------------------------------------------------------------------


def _box_words(box: Box, names: Sequence[AxisName]) -> str:
    return ", ".join(each.describe(name) for each, name in zip(box, names, strict=True) if not each.is_all)


def _listed(ranges: Sequence[tuple[int, int]]) -> str:
    parts = [f"{low}" if high - low == 1 else f"{low}-{high - 1}" for low, high in ranges]
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
