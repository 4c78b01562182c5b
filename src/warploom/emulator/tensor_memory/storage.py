"""Contents of the tensor memory of all resident CTAs, and checks of the accesses to it."""

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.faults import Fault
from warploom.emulator.grid import Topology
from warploom.layout.tensor_memory import TENSOR_COLUMNS, TENSOR_LANES

BLOCK = 32
"""Number of columns in a unit of allocation."""
BLOCKS = TENSOR_COLUMNS // BLOCK
UNDEFINED = np.uint32(0xFFC0FFC0)
"""Initial contents of a word of newly allocated columns, except under the schedule `eager`.

The word is a NaN as f32, and two NaNs as f16.
"""

Numbers = NDArray[np.int64]
_BLOCKS = np.arange(BLOCKS)


class TensorStorage:
    """Words of tensor memory, and the allocated blocks of columns of each CTA.

    The array `words` is created at its first use. Shapes: words (CTAs, lanes, columns); allocated (CTAs, blocks).
    """

    STATE = ("_words", "allocated")

    def __init__(self, topology: Topology) -> None:
        self.ctas = topology.ctas
        self.start()

    def start(self) -> None:
        """Forget the contents before a new wave."""
        self._words: NDArray[np.uint32] | None = None
        self.allocated = np.zeros((self.ctas, BLOCKS), np.bool_)

    @property
    def words(self) -> NDArray[np.uint32]:
        """Contents of tensor memory."""
        if self._words is None:
            self._words = np.zeros((self.ctas, TENSOR_LANES, TENSOR_COLUMNS), np.uint32)
        return self._words

    @property
    def contents(self) -> NDArray[np.uint32]:
        """Contents of tensor memory, or an empty array if no CTA has used tensor memory."""
        return np.zeros(0, np.uint32) if self._words is None else self._words

    def check(self, what: str, ctas: Numbers, lane: Numbers, lanes: int, column: Numbers, columns: int) -> None:
        """Check that accesses use existing lanes and allocated columns.

        Access i uses `lanes` lanes from lane[i] on and `columns` columns from column[i] on, in CTA ctas[i]. `what`
        names the access in a message. `Fault.lane` is the index of the faulty access.

        Shapes: ctas, lane and column (accesses,). Errors: Fault emulator.tensor-memory.
        """
        outside = (lane + lanes > TENSOR_LANES) | (column + columns > TENSOR_COLUMNS)
        if np.count_nonzero(outside):
            k = int(outside.argmax())
            message = (
                f"{what} uses the lanes {lane[k]} to {lane[k] + lanes - 1} and the columns {column[k]} to "
                f"{column[k] + columns - 1} of tensor memory; expected lanes below {TENSOR_LANES} and columns below "
                f"{TENSOR_COLUMNS}"
            )
            raise Fault("emulator.tensor-memory", message, k)
        first, last = column // BLOCK, (column + columns - 1) // BLOCK
        is_used = (first[:, None] <= _BLOCKS) & (last[:, None] >= _BLOCKS)
        missing = is_used & ~self.allocated[ctas]
        if np.count_nonzero(missing):
            k = int(missing.any(axis=1).argmax())
            raise Fault("emulator.tensor-memory", self._unallocated(what, ctas, column, columns, k), k)

    def _unallocated(self, what: str, ctas: Numbers, column: Numbers, columns: int, k: int) -> str:
        start, end = int(column[k]), int(column[k]) + columns
        free = next(c for c in range(start, end) if not self.allocated[ctas[k], c // BLOCK])
        held = self.describe(int(ctas[k]))
        return f"{what} uses column {free} of tensor memory, which is not allocated; {held}"

    def describe(self, cta: int) -> str:
        """Return a phrase with the allocated columns of a CTA."""
        blocks = np.flatnonzero(self.allocated[cta])
        if not len(blocks):
            return "the CTA has allocated no columns"
        runs = np.split(blocks, np.flatnonzero(np.diff(blocks) > 1) + 1)
        return "the CTA has allocated " + ", ".join(
            f"columns {run[0] * BLOCK} to {(run[-1] + 1) * BLOCK - 1}" for run in runs
        )
