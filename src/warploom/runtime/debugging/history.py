"""History of a launch: snapshots from which a debugger goes back to earlier moments."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from warploom.emulator.snapshot import Pages, Snapshot
from warploom.runtime.debugging.focus import BETWEEN, Moment

if TYPE_CHECKING:
    from warploom.emulator.wave_run import WaveRun

BUDGET = 1 << 30  # default of the budget in bytes
SPACING = 0.5  # seconds of execution between two snapshots
_SHARE = 20  # least ratio of the execution between two snapshots to the time of a copy
_NEWEST = 8  # number of snapshots that are not thinned


class History:
    """Snapshots of a launch, in the order of the execution.

    The first one is before the first wave. Further ones follow at intervals of `SPACING`, or longer ones if copies are
    slow. If they exceed `budget` bytes, some of the older ones are dropped, so that the gaps grow with the age.
    """

    def __init__(self, budget: int = BUDGET) -> None:
        self.budget = budget
        self.snapshots: list[Snapshot] = []
        self._pages = Pages()
        self._last = perf_counter()
        self._cost = 0.0  # seconds of the last copy

    def restart(self) -> None:
        """Restart the time until the next snapshot, after a stop."""
        self._last = perf_counter()

    def is_due(self) -> bool:
        """Return True if it is time for a snapshot."""
        return perf_counter() - self._last > max(SPACING, _SHARE * self._cost)

    def take(self, waves: WaveRun) -> None:
        """Take a snapshot, unless there is one of this moment or it would exceed the budget alone."""
        counters = waves.emulator.state.counters
        key = waves.number + (not waves.is_resident), counters.batches
        place = sum((each.wave, each.batches) <= key for each in self.snapshots)
        if not place or (self.snapshots[place - 1].wave, self.snapshots[place - 1].batches) != key:
            began = perf_counter()
            self.snapshots.insert(place, Snapshot.take(waves, self._pages))
            self._cost = perf_counter() - began
            self._thin()
        self._last = perf_counter()

    def _thin(self) -> None:
        """Drop snapshots until the rest fits into the budget."""
        total = sum(each.nbytes for each in self.snapshots)
        while total > self.budget and len(self.snapshots) > 1:
            dropped = self.snapshots.pop(self._choose())
            total -= dropped.nbytes
            self._pages.clear()
            dropped.release(self._pages)
        if total > self.budget:
            self.snapshots.clear()
            self._pages.clear()

    def _choose(self) -> int:
        """Return the index of the snapshot to drop.

        Of the older ones, it leaves the smallest gap, relative to the distance from now. The first snapshot is kept.
        """
        count = len(self.snapshots)
        if count <= _NEWEST:
            return 1
        numbers = [each.batches for each in self.snapshots]
        ages = {
            k: (numbers[k + 1] - numbers[k - 1]) / max(numbers[-1] - numbers[k], 1)
            for k in range(1, count - _NEWEST + 1)
        }  # fmt: skip
        return min(ages, key=lambda k: ages[k])

    def before(self, moment: Moment) -> int:
        """Return the index of the last snapshot that is not after a moment, or -1."""
        return sum(moment_of(each) <= moment for each in self.snapshots) - 1

    def before_number(self, number: int) -> int:
        """Return the index of the last snapshot before the instruction with a number, or -1."""
        return sum(each.positions <= number for each in self.snapshots) - 1


def moment_of(snapshot: Snapshot) -> Moment:
    """Return the moment of a snapshot between two batches."""
    return Moment(snapshot.wave, snapshot.batches + 1, BETWEEN)
