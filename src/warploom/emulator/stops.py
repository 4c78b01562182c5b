"""Stops of an execution: where a debugger interrupts a launch, and the block that it interrupts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from warploom.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from warploom.emulator.batch import Batch


class Stops:
    """Conditions under which the execution of a launch stops. This class never stops it.

    A batch may come to an instruction more than once before it executes it: a wait that fails is repeated. `pcs` are
    the program counters for which `reached` is called. The interpreter executes these instructions.
    """

    pcs: frozenset[int] = frozenset()

    def reached(self, pc: int, batch: Batch) -> bool:
        """Return True to stop before a batch executes the instruction at `pc`, before its guard is evaluated.

        `Emulator.flush` writes accumulators to the registers that the function reads.
        """
        return False

    def concerns(self, pcs: Iterable[int], batch: Batch) -> bool:
        """Return False if a batch cannot stop at adjacent multiplications, whatever they compute.

        The batch then executes them together, and `reached` is not called for `pcs`.
        """
        return True

    def between_blocks(self) -> bool:
        """Return True to stop after a basic block.

        Called after each block that the emulator selects, and after each call of native code, which executes up to
        `Emulator.batches_per_call` batches.
        """
        return False


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
