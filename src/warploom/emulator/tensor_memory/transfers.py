"""Loads and stores of tensor memory (`ld`, `st`), which whole warps execute.

An access uses one range of lanes and columns, or two ranges with the shape `.16x32bx2`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics.wording import one_of
from warploom.emulator.batch import Batch
from warploom.emulator.faults import Fault
from warploom.emulator.grid import Topology
from warploom.emulator.tensor_memory import compiled_copies
from warploom.emulator.tensor_memory.storage import TensorStorage
from warploom.isa.model.tensor_memory import COLUMN_MASK, LANE_SHIFT, TensorTransfer
from warploom.lazy_dataclass import dataclass
from warploom.numerics import floats

_CODE = "emulator.tensor-memory"
_OWN_LANES = 32
"""Number of lanes that a warp can access."""


@dataclass(slots=True)
class Transfers:
    """Execution of loads and stores of tensor memory."""

    storage: TensorStorage
    topology: Topology

    def check(self, batch: Batch, record: TensorTransfer) -> NDArray[np.int64]:
        """Return the address that all lanes of each warp use. Shapes: (warps,).

        Errors: Fault emulator.tensor-memory if the lanes of a warp have different addresses, if the warp accesses lanes
            of another warp, or if a column is not allocated.
        """
        addresses = np.broadcast_to(record.address, (batch.count, 32))
        first = addresses[:, 0]
        mixed = (addresses != first[:, None]).any(axis=1)
        if mixed.any():
            k = int(mixed.argmax())
            other = int(addresses[k][addresses[k] != first[k]][0])
            message = f"the threads of a warp use the tensor memory addresses {int(first[k]):#x} and {other:#x}"
            raise Fault(_CODE, f"{message} in one instruction; expected the same address", 32 * k)
        found = first.astype(np.int64)
        for part in self._ranges(record, found):
            self._check_lanes(batch, record, part)
        self._check_columns(batch, record, found)
        return found

    @staticmethod
    def _ranges(record: TensorTransfer, addresses: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the addresses of the one or two ranges that each warp accesses."""
        if record.split is None:
            return [addresses]
        return [addresses, addresses + record.split & 0xFFFFFFFF]

    def _check_lanes(self, batch: Batch, record: TensorTransfer, addresses: NDArray[np.int64]) -> None:
        lane = addresses >> LANE_SHIFT
        own = self.topology.warp_in_cta[batch.warp_index] % 4 * _OWN_LANES
        wrong = (lane < own) | (lane + record.rows > own + _OWN_LANES) | (lane % record.rows != 0)
        if wrong.any():
            k = int(wrong.argmax())
            legal = one_of(int(own[k]) + at for at in range(0, _OWN_LANES, record.rows))
            message = (
                f"warp {int(self.topology.warp_in_cta[batch.warp_index[k]])} accesses {record.rows} lanes from lane"
                f" {int(lane[k])} on; expected lane {legal}, because a warp accesses the lanes"
                f" {int(own[k])} to {int(own[k]) + _OWN_LANES - 1}"
            )
            raise Fault(_CODE, message, 32 * k, "add the first lane of the warp, shifted left by 16, to the address")

    def _check_columns(self, batch: Batch, record: TensorTransfer, addresses: NDArray[np.int64]) -> None:
        ctas = self.topology.cta_of[batch.warp_index].astype(np.int64)
        for part in self._ranges(record, addresses):
            lanes, columns = part >> LANE_SHIFT, part & COLUMN_MASK
            try:
                self.storage.check(f"a {record.action}", ctas, lanes, record.rows, columns, record.columns())
            except Fault as fault:
                fault.lane *= 32
                raise

    def load(self, batch: Any, record: TensorTransfer, addresses: NDArray[np.int64]) -> None:
        """Execute a load. `addresses` is the result of `check`."""
        ctas, lanes, columns, ranges, row, col = self._geometry(batch, record, addresses)
        out = np.empty((row.shape[1], batch.count, 32), np.uint32)
        compiled_copies.load(self.storage.words, ctas, lanes, columns, ranges, row, col, out)
        if record.packed:
            out = out[::2] & np.uint32(0xFFFF) | out[1::2] << np.uint32(16)
        if record.reduction is not None:
            batch.write(record.reduced, reduce(out, *record.reduction))
        batch.write_vector(record.registers, out)

    def store(self, batch: Any, record: TensorTransfer, addresses: NDArray[np.int64], values: NDArray[Any]) -> None:
        """Execute a store. `addresses` is the result of `check`. Shapes: values (registers, warps, 32)."""
        ctas, lanes, columns, ranges, row, col = self._geometry(batch, record, addresses)
        words = np.ascontiguousarray(values).view(np.uint32)
        if record.packed:
            words = np.stack([words & np.uint32(0xFFFF), words >> np.uint32(16)], axis=1).reshape(-1, batch.count, 32)
        compiled_copies.store(self.storage.words, ctas, lanes, columns, ranges, row, col, np.ascontiguousarray(words))

    def _geometry(self, batch: Any, record: TensorTransfer, addresses: NDArray[np.int64]) -> tuple[Any, ...]:
        """Check that the columns are still allocated, and return the arguments of `compiled_copies.load`.

        They are those from `ctas` to `col`.
        """
        self._check_columns(batch, record, addresses)
        ctas = np.ascontiguousarray(batch.location.cta, np.int64)
        starts = self._ranges(record, addresses)
        lanes = np.stack([part >> LANE_SHIFT for part in (*starts, starts[-1])][:2], axis=1)
        columns = np.stack([part & COLUMN_MASK for part in (*starts, starts[-1])][:2], axis=1)
        width = record.columns()
        row, col = record.map.row, record.map.col
        ranges = np.zeros(32, np.int64)
        if record.split is not None:
            ranges[16:] = 1
            col = col - width * ranges[:, None]
        return ctas, lanes, columns, ranges, row.astype(np.int64), col.astype(np.int64)


def reduce(words: NDArray[np.uint32], operation: str, type: str, absolute: bool, keeps_nan: bool) -> NDArray[np.uint32]:
    """Return the smallest or largest of the values that each thread has loaded (`.red`).

    Shapes: words (registers, warps, 32); the result is (warps, 32).
    """
    if type != "f32":
        values = words.view(np.int32 if type == "s32" else np.uint32)
        return (values.min(axis=0) if operation == "min" else values.max(axis=0)).view(np.uint32)
    values = words.view(np.float32)
    if absolute:
        values = np.abs(values)
    extreme = floats.minimum if operation == "min" else floats.maximum
    found = values[0]
    for each in values[1:]:
        found = extreme(found, each, nan=keeps_nan)
    return found.view(np.uint32)
