"""Records of the runs of warpgroup multiplications that native code executes.

The records of a run are the numbers of `TileRunField`, with the addresses of three tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import SHARED_START
from warploom.emulator.batch import Batch
from warploom.emulator.multiplications import AsyncRun, Chain
from warploom.emulator.native.operands import RECORD, Records
from warploom.emulator.tile_products import TileProducts
from warploom.emulator.values import NotPredicate, VectorValue
from warploom.emulator.warps import Components
from warploom.layout import Order
from warploom.numerics import permute, tile_products
from warploom.numerics._compiled import Compiled, words_of
from warploom.numerics.formats import Array
from warploom.numerics.tile_products import START_ADDRESS, Memory

_ALL, _BYTE = (1 << 64) - 1, 0xFF
"""Values of `OperandField.MASK`."""


class TileRunField(IntEnum):
    """Index of a 64-bit number in the records of a run of warpgroup multiplications."""

    MACS = 0  # multiply-accumulate operations of one warpgroup
    OPERANDS = 1  # number of operands
    OPERAND_TABLE = 2  # address of the numbers of `OperandField`
    CHAINS = 3
    CHAIN_TABLE = 4
    CALLS = 5
    CALL_TABLE = 6


class OperandField(IntEnum):
    """Index of a 64-bit number in the record of a matrix descriptor or of a predicate.

    The value of the operand is `(word & MASK) ^ FLIP`, where `word` is in lane 0 of the first warp of a warpgroup.
    Native code executes the run only if the value is at most LIMIT. For a descriptor, FLIP has the expected bits other
    than the start address. The value is the start address if these bits are as expected, else it exceeds LIMIT. The
    value of a predicate is 1 if the accumulators are kept. A predicate that must be true is inverted, and its LIMIT is
    0.
    """

    START = 0  # address of the word of warp 0
    STRIDE = 1  # distance between the words of two warps, in bytes
    MASK = 2
    FLIP = 3
    LIMIT = 4
    TARGET = 5  # address to which native code writes the value


class ChainField(IntEnum):
    """Index of a 64-bit number in the record of a chain of multiplications with the same accumulators."""

    MATRICES = 0  # address of the numbers of `accumulators.MatricesField`
    KEEPS = 1  # address of the value of the first predicate
    SUM = 2  # address to which native code writes the address of the accumulators, for the multiplication
    READ = 3  # address of the numbers of `ReadField` for the accumulators, or 0
    MATRIX = 4  # address to which native code writes the address of the accumulators, for the read


class CallField(IntEnum):
    """Index of a 64-bit number in the record of a call of `tile_products.fused` for one warpgroup."""

    ENTRY = 0  # address of the function for native callers
    WORDS = 1  # address of its arguments. The first word is the address of the shared memory of the CTA.
    READ = 2  # address of the numbers of `ReadField` for the matrix A, or 0 if it is in shared memory


class ReadField(IntEnum):
    """Index of a 64-bit number in the record of a call that reads a matrix from registers.

    The function is `permute.gather`.
    """

    ENTRY = 0  # address of the function for native callers
    WORDS = 1  # address of its arguments
    WARPS = 2  # address of the word to which native code writes the address of the four warps


class TileRun:
    """Records of one run, and the arrays to which they refer."""

    def __init__(self, run: AsyncRun, batch: Batch, components: Components) -> None:
        self._accumulators = components.accumulators
        # Native code replaces the address of the bytes.
        self._memory = Memory(np.zeros(1, np.uint8), SHARED_START, components.memory.shared.end)
        self._origins = np.zeros((1, 1), np.int64)
        self._run = run
        self._names = {name: number for number, name in enumerate(run.operands)}
        items = [item for vector in run.operands.values() for item in vector.items]
        self._places = Records(np.zeros(len(items), RECORD))
        self._places.fill(0, [item.register if isinstance(item, NotPredicate) else item for item in items])
        leader = batch.warpgroups()[0, 0]
        self._values = {name: batch.read_first_lane(vector)[leader] for name, vector in run.operands.items()}
        self._operands: list[int] = []
        self._chains: list[int] = []
        self._calls: list[int] = []
        self._kept: list[Any] = []
        self._unused = np.zeros(1, np.int64)

    def table(self) -> NDArray[np.uint64]:
        """Return the numbers of `TileRunField`. They are valid as long as this object exists."""
        numbers = [self._run.macs]
        for found, fields in ((self._operands, OperandField), (self._chains, ChainField), (self._calls, CallField)):
            table = np.array(found, np.uint64)
            self._kept.append(table)
            numbers += len(table) // len(fields), table.ctypes.data
        records = np.array(numbers, np.uint64)
        self._kept.append(records)
        return records

    def add_call(self, chains: Sequence[Chain], products: TileProducts) -> bool:
        """Add the records of a group of chains.

        Return False if there is no compiled function for native callers. The descriptors that the batch has select the
        offsets of the matrix elements.
        """
        part = slice(chains[0].steps.start, chains[-1].steps.stop)
        shape = 1, len(chains), len(chains[0].products)
        descriptors = {each.name: self._values[each.name][part].reshape(shape) for each in products.shared}
        sums, keeps = np.zeros(shape[:2], np.int64), np.zeros(shape[:2], np.int64)
        in_registers = [chain.registers or [] for chain in chains]
        a, read_a = None, 0
        for value, order in in_registers[0][1:]:
            units = np.zeros((order.warps, order.target.size), order.dtype)
            a = units.view(products.elements[0].dtype).reshape(1, products.sizes[0], products.sizes[2])
            read_a, _ = self._add_read(value, order, units)
            if not read_a:
                return False
        arguments = products.arguments(self._memory, self._origins, descriptors, a, sums, keeps)
        entry = cast("Compiled", tile_products.fused).native_entry(*arguments)
        if not entry:
            return False
        words = np.array(words_of(arguments), np.uint64)
        self._kept += words, arguments
        self._calls += entry, words.ctypes.data, read_a
        for name, table in descriptors.items():
            expected = int(table[0, 0, 0]) & ~START_ADDRESS
            for step, target in enumerate(_addresses(table), part.start):
                self._add_operand(name, step, _ALL, expected, START_ADDRESS, target)
        for chain, (d, *_), keep, total in zip(chains, in_registers, _addresses(keeps), _addresses(sums), strict=True):
            self._add_predicates(chain, keep)
            record, matrices = self._accumulators.record(*d)
            self._kept.append(record)
            self._chains += record.ctypes.data, keep, total, *self._add_read(*d, matrices)
        return True

    def _add_read(self, value: VectorValue, order: Order, matrix: Array) -> tuple[int, int]:
        """Add the record of a call that reads a matrix of a warpgroup from registers.

        Return the address of the record, and the address of the word with the address of the matrix. The first one is
        0 if there is no compiled function for native callers.

        Shapes: matrix (4, units of a warp).
        """
        assert value.file is not None
        arguments = value.file.view(order.dtype), value.numbers, np.arange(order.warps), order.target, matrix
        entry = cast("Compiled", permute.gather).native_entry(*arguments)
        if not entry:
            return 0, self._unused.ctypes.data
        words = np.array(words_of(arguments), np.uint64)
        warps, place = (words[len(words_of(arguments[:number])) :].ctypes.data for number in (2, 4))
        record = np.array([entry, words.ctypes.data, warps], np.uint64)
        self._kept += words, arguments, record
        return record.ctypes.data, place

    def _add_predicates(self, chain: Chain, target: int) -> None:
        """Add the predicates of a chain. Native code writes the value of the first one to `target`."""
        for step in range(chain.steps.start, chain.steps.stop):
            is_negated = isinstance(self._run.operands["keeps"].items[step], NotPredicate)
            if step == chain.steps.start:
                self._add_operand("keeps", step, _BYTE, is_negated, 1, target)
            else:
                self._add_operand("keeps", step, _BYTE, not is_negated, 0, self._unused.ctypes.data)

    def _add_operand(self, name: str, step: int, mask: int, flip: int, limit: int, target: int) -> None:
        place = self._places.table[self._names[name] * len(self._run) + step]
        self._operands += int(place["start"]), int(place["stride"]), mask, flip, limit, target


def _addresses(table: NDArray[Any]) -> range:
    """Return the addresses of the 64-bit elements of an array."""
    return range(table.ctypes.data, table.ctypes.data + table.nbytes, table.itemsize)
