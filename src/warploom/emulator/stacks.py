"""Stack pointers of the resident threads, for memory that kernels allocate at run time."""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.batch import Batch
from warploom.emulator.faults import refuse
from warploom.isa.model.semantics import Array, Lanes

STACK_BYTES = 4096
"""Size of the stack of a thread. The stack is the end of its local memory, and grows down."""


class Stacks:
    """Stack pointers, which are local addresses. Shapes: pointers (warps, 32).

    `saved[d]` has the stack pointer of each thread at its call of a function from call depth d.
    """

    STATE = ("pointers", "saved")

    def __init__(self, warps: int, local_bytes: int) -> None:
        self.end = local_bytes
        self.pointers: NDArray[np.uint64] = np.full((warps, 32), local_bytes, np.uint64)
        self.saved: dict[int, NDArray[np.uint64]] = defaultdict(self.pointers.copy)

    def start(self) -> None:
        """Empty all stacks before a new wave."""
        self.pointers.fill(self.end)

    def move(self, batch: Batch, pointers: Array) -> None:
        """Set the stack pointers of the active lanes.

        Errors: Fault emulator.stack for an address outside the stack.
        """
        active, first = batch.active(), self.end - STACK_BYTES
        wrong = active & ((pointers < first) | (pointers > self.end))
        message = f"the stack pointer moves to local address {{:#x}}; the stack of a thread has {STACK_BYTES} bytes"
        refuse("emulator.stack", wrong, f"{message} from {first:#x} to {self.end:#x}", pointers)
        held = self.pointers[batch.warp_index]
        self.pointers[batch.warp_index] = np.where(active, pointers, held)

    def enter(self, depth: int, warp: int, lanes: Lanes) -> None:
        """Save the stack pointers of some lanes, which call a function from call depth `depth`."""
        self.saved[depth][warp, lanes] = self.pointers[warp, lanes]

    def leave(self, depth: int, warp: int, lanes: Lanes) -> None:
        """Restore the stack pointers of some lanes, which return to call depth `depth`."""
        self.pointers[warp, lanes] = self.saved[depth][warp, lanes]
