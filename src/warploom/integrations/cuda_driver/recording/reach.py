"""Device memory that a launch can reach through pointers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warploom.integrations.cuda_driver.recording.driver import RealError
from warploom.layout.tensormap import TENSOR_MAP_BYTES, TensorMapFields
from warploom.runtime.captures.capture_file import Allocation, PlacedTensorMap
from warploom.runtime.captures.relocation import WORD

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.recording.driver import Interception

Bytes = NDArray[np.uint8]

_LEAST_ADDRESS, _MOST_ADDRESS = 1 << 28, 1 << 57
_GRANULE = 21  # bits: the driver maps memory in pieces of 2 MiB
_SAMPLE = 16  # words of a granule that are tried before the others
_MOST_QUERIES = 1 << 18
_MAP_STEP = 64  # bytes: alignment of tensor maps
_BATCH = 128


class TooLarge(Exception):
    """Refusal of a launch that reaches more memory than the limit. `size` is in bytes."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class Reach:
    """Allocations that a launch can reach.

    Each word in the parameters and in a reached allocation is a pointer if the driver knows an allocation with this
    address. `fixed` has the ranges of the module's variables, by name.
    """

    def __init__(self, call: Interception, limit: int) -> None:
        self._call, self._left, self._limit = call, limit, limit
        self.allocations: list[Allocation] = []
        self._starts: list[int] = []
        self._pending: list[Bytes] = []
        self._queries = 0
        self._rejected: set[int] = set()

    def add_variable(self, name: str, address: int, size: int) -> None:
        """Add a variable of the module."""
        self._add(address, size, name)

    def follow(self, parameters: bytes) -> None:
        """Add all allocations that parameters and variables reach. Errors: TooLarge, RealError."""
        self._examine(np.frombuffer(parameters, np.uint8))
        while self._pending:
            self._examine(self._pending.pop())

    @property
    def is_partial(self) -> bool:
        """True if there were more words than the driver was asked about."""
        return self._queries >= _MOST_QUERIES

    def _add(self, address: int, size: int, name: str = "") -> None:
        self._left -= size
        if self._left < 0:
            raise TooLarge(self._limit - self._left)
        try:
            before = self._call.copy_from_device(address, size)
        except RealError:  # memory that the host cannot read, such as the code of a module
            self._left += size
            self._rejected.add(address)
            return
        position = bisect_right(self._starts, address)
        self._starts.insert(position, address)
        self.allocations.insert(position, Allocation(address, before, before, name))
        self._pending.append(before)

    def _examine(self, data: Bytes) -> None:
        words = data[: len(data) // WORD * WORD].view(np.uint64)
        for granule in self._granules(_pointers(words)):
            sample, rest = granule[:_SAMPLE], granule[_SAMPLE:]
            if self._query(sample) and len(rest):
                self._query(rest)
        for fields in self.tensor_maps_in(data).values():
            self._query(np.array([fields.global_address], np.uint64))

    @staticmethod
    def _granules(words: NDArray[np.uint64]) -> Iterator[NDArray[np.uint64]]:
        """Yield groups of sorted addresses, one group for each block of 2 MiB that contains some."""
        edges = np.flatnonzero(np.diff(words >> np.uint64(_GRANULE))) + 1
        yield from np.split(words, edges) if len(words) else ()

    def _query(self, words: NDArray[np.uint64]) -> bool:
        """Add the allocations of addresses. Return True if there was one."""
        call, found = self._call, False
        for first in range(0, len(words), _BATCH):
            batch = [each for each in map(int, words[first : first + _BATCH]) if not self._has(each)]
            found = found or len(batch) < len(words[first : first + _BATCH])
            if not batch or self._queries >= _MOST_QUERIES:
                continue
            self._queries += len(batch)
            targets = [call.result_address(k) for k in range(2 * len(batch))]
            queries = [*zip(targets[::2], targets[1::2], batch, strict=True)]
            statuses = call.call_all("cuMemGetAddressRange_v2", queries)
            ranges = {
                (call.result(2 * k), call.result(2 * k + 1)) for k, status in enumerate(statuses) if not status
            }  # fmt: skip
            for address, size in sorted(ranges):
                found = True
                if size and address not in self._rejected and not self._overlaps(address, size):
                    self._add(address, size)
        return found

    def _has(self, address: int) -> bool:
        position = bisect_right(self._starts, address) - 1
        return position >= 0 and address < self.allocations[position].end

    def _overlaps(self, address: int, size: int) -> bool:
        """Return True if a range overlaps one that is known, such as a variable in the memory of its module."""
        position = bisect_right(self._starts, address + size - 1) - 1
        return position >= 0 and self.allocations[position].end > address

    # Tensor maps ----------------------------------------------------------------------------------------------

    def tensor_maps_in(self, data: Bytes) -> dict[int, TensorMapFields]:
        """Return the known tensor maps in bytes, by their offsets."""
        known: Mapping[bytes, TensorMapFields] = self._call.program.tensor_maps
        if not known or len(data) < TENSOR_MAP_BYTES:
            return {}
        words = data[: len(data) // WORD * WORD].view(np.uint64)
        firsts = np.unique(np.frombuffer(b"".join(each[:WORD] for each in known), np.uint64))
        step = _MAP_STEP // WORD
        found: dict[int, TensorMapFields] = {}
        for position in np.flatnonzero(np.isin(words[::step], firsts)):
            offset = int(position) * _MAP_STEP
            fields = known.get(data[offset : offset + TENSOR_MAP_BYTES].tobytes())
            if fields is not None:
                found[offset] = fields
        return found

    def placed_tensor_maps(self, parameters: bytes) -> list[PlacedTensorMap]:
        """Return the known tensor maps in the parameters and in the allocations."""
        contents = [np.frombuffer(parameters, np.uint8), *(each.before for each in self.allocations)]
        return [
            PlacedTensorMap(number - 1, offset, fields)
            for number, data in enumerate(contents)
            for offset, fields in self.tensor_maps_in(data).items()
        ]


def _pointers(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the sorted distinct words that may be addresses."""
    is_address = (words >= np.uint64(_LEAST_ADDRESS)) & (words < np.uint64(_MOST_ADDRESS))
    return np.unique(words[is_address])
