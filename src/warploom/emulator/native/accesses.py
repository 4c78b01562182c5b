"""Accesses that probes record for observers, and reads that observers have not handled yet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.events import READ_KINDS, Reads
from warploom.emulator.native.actions import MOST_ACCESSES, MOST_BYTES, READS, Action
from warploom.emulator.native.context import Field
from warploom.isa.model.semantics import Array
from warploom.lazy_dataclass import dataclass

FIELDS = {
    Field.ACCESS_SPACES: "spaces",
    Field.ACCESS_INDEX: "index",
    Field.ACCESS_LANES: "lanes",
    Field.ACCESS_VALUES: "values",
    Field.ACCESS_WARPS: "warps",
    Field.READS: "reads",
}
"""Fields of the context with the addresses of the arrays of `Accesses`."""
_COPY = READ_KINDS.index("copy")


@dataclass(frozen=True, slots=True)
class Accesses:
    """Arrays for recorded accesses (see `probe`), and for the reads to which they belong.

    The arrays have READS rows for reads that observers have not handled. After them, there is space for the accesses of
    one instruction by `most_warps` warps. Each row of `reads` has a program counter and a number of warps. Shapes:
    spaces and warps (rows,), index and lanes (rows, 32), values (bytes,), reads (reads, 2).
    """

    most_warps: int
    spaces: NDArray[np.int64]
    index: NDArray[np.int64]
    lanes: NDArray[np.bool_]
    values: NDArray[np.uint8]
    warps: NDArray[np.int64]
    reads: NDArray[np.int64]

    @classmethod
    def of(cls, warps: int) -> Accesses:
        """Return arrays for batches of at most `warps` warps."""
        most = MOST_ACCESSES * warps
        rows = READS + most
        return cls(
            warps, np.zeros(rows, np.int64), np.zeros((rows, 32), np.int64), np.zeros((rows, 32), np.bool_),
            np.zeros(most * 32 * MOST_BYTES, np.uint8), np.zeros(rows, np.int64), np.zeros((READS, 2), np.int64),
        )  # fmt: skip


class ReadTable:
    """Kind and size of the read of each instruction that native code records, by program counter."""

    def __init__(self, instructions: int) -> None:
        self._kinds = np.zeros(instructions, np.int64)
        self._sizes = np.zeros(instructions, np.int64)

    def add(self, pc: int, action: Action) -> int:
        """Add the instruction at `pc`. Return the number of its accesses."""
        is_copy = action.kind == "copy"
        self._kinds[pc] = _COPY if is_copy else READ_KINDS.index(action.space)
        self._sizes[pc] = action.element if is_copy else action.size
        return 1 + is_copy

    def event(self, accesses: Accesses, reads: int, rows: int, cta_of: Array) -> Reads:
        """Return the event of the first `reads` recorded reads, which have `rows` rows."""
        pcs, counts = np.ascontiguousarray(accesses.reads[:reads].T)
        kinds = self._kinds[pcs]
        lengths = counts * (1 + (kinds == _COPY))
        return Reads(
            int(pcs[-1]), pcs, kinds, self._sizes[pcs], np.cumsum(lengths) - lengths, counts, accesses.warps[:rows],
            accesses.index[:rows], accesses.lanes[:rows], cta_of,
        )  # fmt: skip


def read_of(actions: tuple[Action, ...] | None, has_issues: bool) -> Action | None:
    """Return the action of an instruction if the event `Reads` can replace its events, else None.

    `has_issues` is set if a thread copy has further events.
    """
    if actions is None or len(actions) != 1:
        return None
    action = actions[0]
    is_load = action.kind == "read" and action.space
    return action if is_load or (action.kind == "copy" and not has_issues) else None
