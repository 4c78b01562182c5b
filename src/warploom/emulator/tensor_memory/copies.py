"""Execution of copies from shared to tensor memory, and of shifts of its rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.emulator.faults import Fault
from warploom.emulator.shared_memory import SharedMemory
from warploom.emulator.tensor_memory.operations import Operations
from warploom.emulator.tensor_memory.shared_operands import read_bytes, start_addresses, unpack_fours, unpack_sixes
from warploom.emulator.tensor_memory.storage import TensorStorage
from warploom.isa.model.tensor_memory import COLUMN_MASK, LANE_SHIFT, TensorMemoryCopy, TensorMemoryShift

Numbers = NDArray[np.int64]


def check_copies(record: TensorMemoryCopy, operations: Operations) -> None:
    """Check the descriptors of copies to tensor memory.

    Errors: Fault emulator.tensor-multiply, whose `lane` is the index of the operation.
    """
    for k, descriptor in enumerate(operations.values["descriptor"].tolist()):
        try:
            record.matrix(descriptor)
        except UsageError as error:
            raise Fault("emulator.tensor-multiply", str(error), k) from None


def copy(storage: TensorStorage, shared: SharedMemory, operations: Operations, which: Numbers) -> None:
    """Execute the copies with the indices `which`.

    Errors: Fault, whose `lane` is the index of the operation.
    """
    record: Any = operations.record
    for k in which.tolist():
        descriptor = operations.values["descriptor"][k : k + 1]
        at = int(operations.values["target"][k])
        lane, column, columns = at >> LANE_SHIFT, at & COLUMN_MASK, record.bits // 32
        legal = range(32) if record.rows == 4 else (0,)
        if lane not in legal:
            message = f"a copy to tensor memory begins at lane {lane}; expected lane {legal[0]}"
            raise Fault("emulator.tensor-memory", message + (f" to {legal[-1]}" if len(legal) > 1 else ""), k)
        for cta in ctas_of(record, int(operations.ctas[k])):
            ctas = np.array([cta])
            lanes, rows = record.lanes(lane)
            try:
                storage.check("a copy", ctas, lanes[:1], int(lanes[-1]) + 1 - lane, np.array([column]), columns)
                raw = read_bytes(shared, record.matrix(int(descriptor[0])), ctas, start_addresses(descriptor))[0]
            except Fault as fault:
                fault.lane = k
                raise
            if record.decompression:
                # The 4-bit elements are in the middle of their bytes, as in the operand A.
                raw = unpack_fours(raw, padded=True) << 2 if record.decompression[1] == "4" else unpack_sixes(raw)
            words = np.ascontiguousarray(raw).view(np.uint32)
            storage.words[cta, lanes, column : column + columns] = words[rows]


def shift(storage: TensorStorage, operations: Operations, which: Numbers) -> None:
    """Execute the shifts with the indices `which`.

    Errors: Fault, whose `lane` is the index of the operation.
    """
    record: Any = operations.record
    for k in which.tolist():
        at = int(operations.values["target"][k])
        lane, column = at >> LANE_SHIFT, at & COLUMN_MASK
        if lane % 32:
            message = f"a shift of tensor memory begins at lane {lane}; expected a multiple of 32"
            raise Fault("emulator.tensor-memory", message, k)
        for cta in ctas_of(record, int(operations.ctas[k])):
            try:
                storage.check("a shift", np.array([cta]), np.array([lane]), 32, np.array([column]), 8)
            except Fault as fault:
                fault.lane = k
                raise
            rows = storage.words[cta, lane : lane + 32, column : column + 8]
            rows[:-1] = rows[1:].copy()


def ctas_of(record: TensorMemoryCopy | TensorMemoryShift, cta: int) -> list[int]:
    """Return the CTAs whose tensor memory an operation changes. CTA `cta` issues the operation."""
    return [cta] if record.ctas == 1 else [cta & ~1, cta | 1]
