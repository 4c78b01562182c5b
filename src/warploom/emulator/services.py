"""Device services: functions that the GPU driver defines, which compiled code calls.

`SERVICES` has one description for each function. The loader binds external functions to these descriptions.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.batch import Batch
from warploom.emulator.events import HeapAllocation
from warploom.emulator.faults import Fault
from warploom.emulator.link import LocalBytes
from warploom.emulator.memory import Memory
from warploom.emulator.observers import Dispatcher
from warploom.emulator.output import Output
from warploom.emulator.printf import format_text, parse_format
from warploom.emulator.program import Service
from warploom.emulator.state import State
from warploom.isa.model.semantics import Array
from warploom.lazy_dataclass import dataclass

_NO_FORMAT = -1  # result of vprintf for a null pointer
_WORDS = {4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}


@dataclass(frozen=True, slots=True)
class Call:
    """Call of a service by lanes of one warp, with its arguments as unsigned integers.

    Shapes: lanes (1, 32), arguments (parameters, 32).
    """

    batch: Batch
    lanes: Array
    arguments: NDArray[np.uint64]

    def active(self) -> list[int]:
        """Return the lanes that call the service, in ascending order."""
        return np.flatnonzero(self.lanes[0]).tolist()


class Services:
    """Services for the threads of a launch. `output` receives the text that they print."""

    def __init__(self, state: State, memory: Memory, events: Dispatcher) -> None:
        self.output = Output()
        self._state = state
        self._memory = memory
        self._on_allocation = events.handler(HeapAllocation)

    def call(self, service: Service, batch: Batch, results: Any, arguments: Any) -> None:
        """Call a service with the active lanes of one warp, which is the only one in `batch`.

        `results` and `arguments` are the operands of the call.

        Errors: Fault emulator.call for a wrong number of operands; the faults of the service.
        """
        actual = tuple(arguments or ())
        if len(actual) != len(service.parameters):
            message = f"the call passes {len(actual)} arguments to {service.name}; expected {len(service.parameters)}"
            raise Fault("emulator.call", message, 0)
        values = np.zeros((len(actual), 32), np.uint64)
        for number, (operand, size) in enumerate(zip(actual, service.parameters, strict=True)):
            values[number] = self._read(batch, operand, size)
        found = service.run(self, Call(batch, batch.active(), values))
        for target in results or ():
            self._write(batch, target, found, service.result)

    def _read(self, batch: Batch, operand: Any, size: int) -> Array:
        if not isinstance(operand, LocalBytes):
            return np.broadcast_to(batch.read(operand), (1, 32))[0].astype(np.uint64) & np.uint64((1 << 8 * size) - 1)
        return self._local_bytes(batch, operand, size).view(_WORDS[size])[:, 0].astype(np.uint64)

    def _write(self, batch: Batch, target: Any, values: NDArray[np.uint64], size: int) -> None:
        words = values.astype(_WORDS[size])
        if not isinstance(target, LocalBytes):
            batch.write(target, words[None])
            return
        lanes = batch.active()[0]
        index = self._local_index(batch, target, size)[lanes]
        self._memory.local[index] = words.view(np.uint8).reshape(32, size)[lanes]

    def _local_bytes(self, batch: Batch, operand: LocalBytes, size: int) -> NDArray[np.uint8]:
        return np.ascontiguousarray(self._memory.local[self._local_index(batch, operand, size)])

    def _local_index(self, batch: Batch, operand: LocalBytes, size: int) -> Array:
        """Return the indices of the bytes of a call parameter in local memory. Shapes: (32, bytes)."""
        lanes = int(batch.warp_index[0]) * 32 + np.arange(32)
        return (lanes * self._memory.local_stride + operand.offset)[:, None] + np.arange(size)

    # Services ---------------------------------------------------------------------------------------------

    def print(self, call: Call) -> NDArray[np.uint64]:
        """Print formatted text, lane by lane. Return the number of arguments, or -1 for a null format."""
        formats, buffers = call.arguments
        results = np.full(32, _NO_FORMAT, np.int64)
        texts: dict[int, bytes] = {}
        location, lanes = call.batch.location, call.lanes
        for address in np.unique(formats[lanes[0]]).tolist():
            if not address:
                continue
            same = lanes & (formats == np.uint64(address))
            parsed = parse_format(self._memory.read_string(location, address, same))
            values = np.zeros((len(parsed.arguments), 32), np.uint64)
            for number, (offset, size) in enumerate(parsed.arguments):
                addresses = (buffers + np.uint64(offset))[None]
                values[number] = self._memory.load("", location, addresses, same, _WORDS[size], 1)[0, 0]
            for lane in np.flatnonzero(same[0]).tolist():

                def read(string: int, most: int | None, lane: int = lane) -> bytes | None:
                    return self._string(call, lane, string, most)

                texts[lane] = format_text(parsed, values[:, lane].tolist(), read)
                results[lane] = len(parsed.arguments)
        cta = self._linear_cta(call)
        for lane in sorted(texts):
            self.output.add(cta, texts[lane])
        return results.view(np.uint64)

    def _string(self, call: Call, lane: int, address: int, most: int | None = None) -> bytes | None:
        one = np.arange(32)[None] == lane
        return self._memory.read_string(call.batch.location, address, one, most) if address else None

    def _linear_cta(self, call: Call) -> int:
        placement, (width, height, _) = self._state.placement, self._state.grid.grid
        x, y, z = placement.coordinates[int(call.batch.location.cta[0])].tolist()
        return x + width * (y + height * z)

    def fail_assertion(self, call: Call) -> NDArray[np.uint64]:
        """Stop the kernel because of a failed assertion. Errors: Fault emulator.assert."""
        lane = call.active()[0]
        message, file, line, function, _ = call.arguments[:, lane].tolist()
        expression, file, function = (
            (self._string(call, lane, address) or b"(null)").decode(errors="replace")
            for address in (message, file, function)
        )
        topology, warp = self._state.topology, int(call.batch.warp_index[0])
        width, height, _ = self._state.grid.block
        thread = int(topology.warp_in_cta[warp]) * 32 + lane
        coordinates = [thread % width, thread // width % height, thread // (width * height)]
        x, y, z = self._state.placement.coordinates[int(call.batch.location.cta[0])].tolist()
        where = "{},{},{}".format(*coordinates)
        raise Fault(
            "emulator.assert",
            f"{file}:{line}: {function}: block: [{x},{y},{z}], thread: [{where}] Assertion `{expression}` failed.",
            lane,
        )

    def allocate(self, call: Call) -> NDArray[np.uint64]:
        """Allocate memory of the heap. Return its addresses, or 0 for allocations that do not fit."""
        return self._allocate(call, np.ones(32, np.uint64))

    def allocate_aligned(self, call: Call) -> NDArray[np.uint64]:
        """Allocate memory of the heap at multiples of the second argument.

        Errors: Fault emulator.call if the alignment is not a power of two.
        """
        for lane in call.active():
            align = int(call.arguments[1, lane])
            if align & align - 1 or not align:
                message = f"the alignment of an allocation is {align}; expected a power of two"
                raise Fault("emulator.call", message, lane)
        return self._allocate(call, call.arguments[1])

    def _allocate(self, call: Call, aligns: NDArray[np.uint64]) -> NDArray[np.uint64]:
        heap, found = self._memory.arena.heap, np.zeros(32, np.uint64)
        assert heap is not None
        for lane in call.active():
            size = int(call.arguments[0, lane])
            found[lane] = address = heap.allocate(size, int(aligns[lane]))
            if address and self._on_allocation is not None:
                self._on_allocation(HeapAllocation(self._state.pc, address - GLOBAL_BASE, size))
        return found

    def free(self, call: Call) -> NDArray[np.uint64]:
        """Free allocations of the heap. A null pointer has no effect. Errors: Fault emulator.free."""
        heap = self._memory.arena.heap
        assert heap is not None
        for lane in call.active():
            if address := int(call.arguments[0, lane]):
                heap.free(address, lane)
        return call.arguments[0]


SERVICES = {
    service.name: service
    for service in (
        Service("vprintf", (8, 8), 4, Services.print),
        Service("__assertfail", (8, 8, 4, 8, 8), 0, Services.fail_assertion),
        Service("malloc", (8,), 8, Services.allocate, uses_heap=True),
        Service("__nv_aligned_device_malloc_impl", (8, 8), 8, Services.allocate_aligned, uses_heap=True),
        Service("free", (8,), 0, Services.free, uses_heap=True),
    )
}
"""Services by name. Sizes of parameters and results are in bytes."""
