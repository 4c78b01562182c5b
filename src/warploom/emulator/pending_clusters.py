"""Clusters of a grid that have not started, which running clusters may cancel."""

from random import Random

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.grid import Grid
from warploom.emulator.waves import Waves

_REFUSAL = 1 / 8  # probability, under a random schedule, that a request fails although clusters are pending


class PendingClusters:
    """Clusters of the selected waves of a launch that have not started, in launch order.

    The next wave consists of the first clusters. A running cluster may request the cancellation of a pending cluster,
    which then belongs to no wave. If `random` is not None, it selects the cancelled cluster, and refuses some requests,
    as a GPU may do. If it is None, a request cancels the first cluster.
    """

    STATE = ("_numbers",)

    def __init__(self, waves: Waves, random: Random | None) -> None:
        self.random = random
        self.grid: Grid = waves.grid
        self.clusters_per_wave = waves.resident // waves.grid.cluster_size
        clusters = waves.grid.ctas // waves.grid.cluster_size
        first, end = (number * self.clusters_per_wave for number in (waves.numbers.start, waves.numbers.stop))
        self._numbers = [*range(first, min(end, clusters))]

    def __len__(self) -> int:
        return len(self._numbers)

    def take_wave(self) -> NDArray[np.int64]:
        """Remove the clusters of the next wave, and return the coordinates of their CTAs. Shapes: (CTAs, 3)."""
        chosen, self._numbers = self._numbers[: self.clusters_per_wave], self._numbers[self.clusters_per_wave :]
        return self.grid.clusters(chosen).reshape(-1, 3)

    def cancel(self) -> NDArray[np.uint8]:
        """Cancel one cluster. Return the 16 bytes of the response.

        The words of the response are the coordinates of the first CTA of the cluster, and 1. All words are 0 if no
        cluster is cancelled.
        """
        random = self.random
        words = np.zeros(4, np.uint32)
        if self._numbers and (random is None or random.random() >= _REFUSAL):
            position = 0 if random is None else random.randrange(len(self._numbers))
            words[:3] = self.grid.clusters([self._numbers.pop(position)])[0, 0]
            words[3] = 1
        return words.view(np.uint8)
