"""Stops of an execution: where a debugger interrupts a launch, and the block that it interrupts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from warploom.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from warploom.emulator.batch import Batch


class Stops(Protocol):
    """Conditions under which the execution of a launch stops.

    A batch may come to an instruction more than once before it executes it: a wait that fails is repeated.
    """

    @property
    def pcs(self) -> frozenset[int]:
        """Program counters for which `reached` is called. The interpreter executes these instructions."""
        ...

    def reached(self, pc: int, batch: Batch) -> bool:
        """Return True to stop before a batch executes the instruction at `pc`, before its guard is evaluated.

        `Emulator.flush` writes accumulators to the registers that the function reads.
        """
        ...

    def between_blocks(self) -> bool:
        """Return True to stop after a basic block.

        Called after each block that the emulator selects, and after each call of native code, which executes up to
        `Emulator.batches_per_call` batches.
        """
        ...


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Basic block in which an execution has stopped, before the instruction at `pc`.

    `rows` contains the warp splits that execute the instruction. The block consists of the instructions
    [`first`, `end`), and `warps` warp splits have started it. If stops divide a run of multiplications, `run_end` is
    its end. Shapes: rows (warps,).
    """

    rows: NDArray[np.intp]
    first: int
    pc: int
    end: int
    warps: int
    run_end: int
