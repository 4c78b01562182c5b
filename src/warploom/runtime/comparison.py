"""Comparison of a result with its expected values, and the positions and writers of wrong elements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from warploom.lazy_dataclass import dataclass
from warploom.runtime.buffers import Array, is_integer
from warploom.runtime.patterns import AxisName, Mask, Pattern, find_pattern
from warploom.runtime.references import Expected, Float

if TYPE_CHECKING:
    from warploom.observe.writers import Writers

_SHOWN = 3  # mismatches that a comparison describes
_LINES = 4  # lines of the kernel that a description lists
_CTA_AXES = [AxisName(axis, axis) for axis in "zyx"]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Element of a result with its actual and its expected value. `bound` is the largest allowed error."""

    index: tuple[int, ...]
    found: float
    expected: float
    bound: float

    def __str__(self) -> str:
        found, expected = (each if isinstance(each, int) else f"{each:.9g}" for each in (self.found, self.expected))
        return f"{found}, expected {expected} ± {self.bound:.3g}"


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Comparison of the result `name` with its expected values.

    `wrong` marks the elements with errors above their bounds, and `errors` has the absolute error of each element.
    `worst` is the wrong element with the largest error. Without a wrong element, `worst` is the element with the
    largest error, or None for an empty result. `largest_share` is the largest ratio of an error to its bound, or None
    if every bound is 0. `first` has the first wrong elements in row-major order, at most 3. `writers` has the last
    writer of each element, if known.
    """

    name: str
    wrong: Mask
    errors: Float
    worst: Mismatch | None
    largest_share: float | None
    first: tuple[Mismatch, ...]
    writers: Writers | None = None

    @property
    def elements(self) -> int:
        """Number of compared elements."""
        return self.wrong.size

    @property
    def mismatches(self) -> int:
        """Number of elements with errors above their bounds."""
        return int(np.count_nonzero(self.wrong))

    @property
    def largest_error(self) -> float:
        """Absolute error of the element `worst`, 0 for an empty result."""
        return float(self.errors[self.worst.index]) if self.worst else 0.0

    @property
    def bound_there(self) -> float:
        """Largest allowed error of the element `worst`."""
        return self.worst.bound if self.worst else 0.0

    @property
    def ok(self) -> bool:
        """True if every element is within its bound."""
        return not self.wrong.any()

    @property
    def exact(self) -> bool:
        """True if every element equals its expected value."""
        return self.ok and self.largest_error == 0.0

    @property
    def pattern(self) -> Pattern:
        """Pattern of the wrong elements."""
        return find_pattern(self.wrong)

    @property
    def sentence(self) -> str:
        """Summary of the comparison in one sentence."""
        if self.exact:
            return f"{self.name} is exact"
        if self.ok:
            return f"{self.name} is within its bound"
        share = f"{self.mismatches:,} of {self.elements:,}"
        return f"{self.name} is wrong: {share} elements are outside the bound"

    def element(self, index: tuple[int, ...]) -> str:
        """Return the name of an element, such as "c[3, 5]"."""
        return f"{self.name}[{', '.join(map(str, index))}]"

    def facts(self) -> list[tuple[str, str]]:
        """Return descriptions of the wrong elements: values, positions and writers. Each has a label."""
        if self.ok or self.worst is None:
            return []
        worst = self.worst
        shown = {each.index: each for each in (*self.first, worst)}
        mark = ", largest error" if len(shown) > 1 else ""
        facts = [(self.element(at) + (mark if at == worst.index else ""), str(each)) for at, each in shown.items()]
        facts.append(("wrong elements", self.pattern.describe()))
        return facts if self.writers is None else facts + _writer_facts(self, self.writers)


def compare(name: str, result: Array, expected: Expected) -> Comparison:
    """Compare the result `name` with its expected values. NaN equals NaN."""
    if is_integer(result.dtype) and is_integer(expected.values.dtype):
        found, values = result, expected.values
    else:
        found, values = np.asarray(result, np.float64), np.asarray(expected.values, np.float64)
    same = (found == values) | (np.isnan(found) & np.isnan(values))
    with np.errstate(invalid="ignore"):
        error = np.where(same, 0.0, _distance(found, values))
    error = np.where(np.isnan(error), np.inf, error)
    bound = np.broadcast_to(expected.bound, error.shape)
    # NaN and infinities must match exactly, whatever the bound.
    finite = np.isfinite(found) & np.isfinite(values)
    wrong = np.asarray(~same & ~((error <= bound) & finite))
    share = None
    if error.size and np.any(bound > 0):
        with np.errstate(invalid="ignore", divide="ignore"):
            share = float(np.max(np.where(same, 0.0, np.where(finite, error / bound, np.inf))))

    def mismatch(index: tuple[int, ...]) -> Mismatch:
        return Mismatch(index, found[index].item(), values[index].item(), float(bound[index]))

    first = tuple(mismatch(tuple(each)) for each in np.argwhere(wrong)[:_SHOWN].tolist())
    worst = None
    if error.size:
        considered = np.where(wrong, error, -1.0) if first else error
        worst = mismatch(tuple(map(int, np.unravel_index(int(np.argmax(considered)), error.shape))))
    return Comparison(name, wrong, error, worst, share, first)


def _distance(found: Array, expected: Array) -> Float:
    if not is_integer(found.dtype):
        return np.abs(found - expected)
    # Differences modulo 2^64 are exact, and float64 does not round them to 0.
    with np.errstate(over="ignore"):
        difference = found.astype(np.uint64) - expected.astype(np.uint64)
        return np.where(found > expected, difference, np.uint64(0) - difference).astype(np.float64)


# Writers ----------------------------------------------------------------------------------------------------------


def _writer_facts(comparison: Comparison, writers: Writers) -> list[tuple[str, str]]:
    wrong = comparison.wrong.reshape(-1)
    written = writers.pcs >= 0
    blamed = wrong & written
    facts: list[tuple[str, str]] = []
    unwritten = wrong & ~written
    if unwritten.any():
        words = _unwritten(unwritten.reshape(comparison.wrong.shape), with_pattern=bool(blamed.any()))
        facts.append(("never written", words))
    if not blamed.any():
        return facts
    if (words := _common_writers(writers, blamed, written)) is not None:
        facts.append(("written by", words))
    first = int(np.argmax(blamed))
    index = tuple(map(int, np.unravel_index(first, comparison.wrong.shape)))
    pc = int(writers.pcs[first])
    where = f"{_cta(writers, int(writers.ctas[first]))}, warp {writers.warps[first]}, lane {writers.lanes[first]}"
    instruction = f"{writers.program.steps[pc].instruction.opcode} in {_lines(writers, [pc])}"
    facts.append((f"writer of {comparison.element(index)}", f"{instruction}, {where}"))
    return facts


def _common_writers(writers: Writers, blamed: Mask, written: Mask) -> str | None:
    """Describe the lines, lanes, warps and CTAs that distinguish the writers of the elements in `blamed`.

    Return None if nothing distinguishes them from the writers of all elements. `written` marks the elements that the
    kernel wrote.
    """
    columns = {"cta": writers.ctas, "warp": writers.warps, "lane": writers.lanes, "line": writers.pcs}
    seen: dict[str, Mask] = {}  # by kind, the writers of elements in `blamed`
    theirs: dict[str, Mask] = {}  # the elements of these writers
    for kind, column in columns.items():
        size = int(column.max()) + 1
        of_blamed, of_written = (np.bincount(column[which], minlength=size) > 0 for which in (blamed, written))
        if (of_blamed != of_written).any():
            seen[kind], theirs[kind] = of_blamed, written & of_blamed[column]

    def total(kinds: set[str]) -> int:
        return int(np.count_nonzero(np.logical_and.reduce([written, *(theirs[kind] for kind in kinds)])))

    kinds = set(seen)
    for kind in ("line", "lane", "warp", "cta"):
        if kind in kinds and total(kinds - {kind}) == total(kinds):
            kinds.remove(kind)
    if not kinds:
        return None
    lanes, warps = "", ""
    if "lane" in kinds:
        lanes = _numbers(np.pad(seen["lane"], (0, 32 - len(seen["lane"]))), AxisName("lane", "lanes"))
    if "warp" in kinds:
        warps = _numbers(seen["warp"], AxisName("warp", "warps"))
    elif lanes:
        warps = "each warp"
    ctas = (
        _ctas(writers, seen["cta"]) if "cta" in kinds else "each CTA" if warps and math.prod(writers.grid) > 1 else ""
    )
    lines = _lines(writers, np.flatnonzero(seen["line"]).tolist()) if "line" in kinds else ""
    words = ", ".join(filter(None, (lines, " of ".join(filter(None, (lanes, warps, ctas))))))
    count, reach = int(np.count_nonzero(blamed)), total(kinds)
    share = "all" if count == reach else f"{count:,} of the {reach:,}"
    return f"{words}; {share} elements written there are wrong"


def _unwritten(unwritten: Mask, *, with_pattern: bool) -> str:
    """Describe wrong elements that the kernel did not write, and if `with_pattern`, their positions."""
    pattern = find_pattern(unwritten)
    plural = f"{pattern.count:,} elements keep their initial values"
    words = plural if pattern.count > 1 else "1 element keeps its initial value"
    return f"{words}: {pattern.describe()}" if with_pattern else words


def _cta(writers: Writers, number: int) -> str:
    z, y, x = np.unravel_index(number, writers.grid[::-1])
    return f"CTA ({x}, {y}, {z})"


def _ctas(writers: Writers, seen: Mask) -> str:
    numbers = np.flatnonzero(seen)
    if len(numbers) == 1:
        return _cta(writers, int(numbers[0]))
    grid = np.zeros(writers.grid[::-1], np.bool_)
    grid.reshape(-1)[numbers] = True
    pattern = find_pattern(grid)
    return f"CTAs with {pattern.describe(_CTA_AXES)}" if pattern.exact else f"{pattern.count} of {grid.size} CTAs"


def _numbers(seen: Mask, name: AxisName) -> str:
    pattern = find_pattern(seen)
    return pattern.describe([name]) if pattern.exact else f"{pattern.count} of {len(seen)} {name.several}"


def _lines(writers: Writers, pcs: list[int]) -> str:
    program = writers.program
    lines = {program.line_of(pc) for pc in pcs}
    return f"{len(lines)} lines" if len(lines) > _LINES else program.places_of(sorted(pcs, key=program.line_of))
