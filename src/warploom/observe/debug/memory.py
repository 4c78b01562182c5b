"""Contents of the memories of a stopped launch, as bytes, numbers, matrices and decoded structures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import did_you_mean, one_of
from warploom.emulator.address_space import LOCAL_WINDOW, SHARED_START, SHARED_WINDOW, WINDOW_SIZE
from warploom.emulator.batch import Batch
from warploom.emulator.emulator import Emulator
from warploom.emulator.faults import Fault
from warploom.emulator.mbarriers import MbarrierState
from warploom.emulator.program import Storage
from warploom.isa.model.effects import Access
from warploom.isa.model.operand_layout import LayoutInputs
from warploom.isa.model.tensor_memory import COLUMN_MASK, LANE_SHIFT
from warploom.isa.model.types import TYPES
from warploom.layout import (
    Descriptor,
    InstructionDescriptor,
    SharedMap,
    TensorMapFields,
    TensorMemoryMap,
    UmmaDescriptor,
    box_map,
)
from warploom.layout.tensormap import TENSOR_MAP_BYTES
from warploom.lazy_dataclass import dataclass
from warploom.observe.debug.registers import operand_key
from warploom.observe.debug.values import Array, Matrix, element_numbers, numbers, width_of

SPACES = ("global", "shared", "local", "param", "generic")
_CODE = "debug.memory"
_RANK_SHIFT = 24  # lowest bit of the CTA rank in a shared address
_OFFSETS = (1 << _RANK_SHIFT) - 1


@dataclass(frozen=True, slots=True)
class Thread:
    """Thread whose memory is read: resident warp and lane. Its CTA owns the shared memory."""

    warp: int
    lane: int = 0


@dataclass(frozen=True, slots=True)
class Mbarrier:
    """mbarrier of a resident CTA, with its open phase and the warp splits that wait there.

    `address` is the shared address in the window of the CTA. `waiting` has slots of `WarpSplits`.
    """

    cta: int
    address: int
    state: MbarrierState
    waiting: tuple[int, ...]


class MemoryView:
    """Reader of the memories of a stopped launch. No read changes the results of the launch.

    Units: addresses in bytes. An address of shared memory may have the rank of a CTA of the cluster from bit 24 on.
    """

    def __init__(self, emulator: Emulator) -> None:
        self.emulator = emulator
        self.memory = emulator.memory

    # Bytes and numbers ------------------------------------------------------------------------------------

    def bytes(self, space: str, address: int, size: int, thread: Thread) -> NDArray[np.uint8]:
        """Return a copy of bytes of a state space, as a thread reads them.

        `space` is a word of `SPACES`. An address in "param" is an offset in the kernel's parameters.

        Errors: UsageError debug.memory for an unknown space, or for a range outside of the memory.
        """
        if size < 0:
            raise UsageError(f"a size is {size} bytes; expected at least 0", code=_CODE)
        if space == "generic":
            space, address = _from_generic(address)
        try:
            array, first = self._find(space, address, size, thread)
        except Fault as fault:
            raise UsageError(fault.message, code=_CODE, hint=fault.hint) from None
        return array[first : first + size].copy()

    def _find(self, space: str, address: int, size: int, thread: Thread) -> tuple[NDArray[np.uint8], int]:
        """Return the array with a range of memory, and the index of the first byte. Errors: Fault, UsageError."""
        memory, what = self.memory, "a read"
        if space == "global":
            return memory.arena.bytes, memory.arena.find(address, size, what)
        if space == "param":
            return memory.arena.bytes, memory.arena.find(self.emulator.parameters + address, size, what)
        if space == "shared":
            cta = self._owner(int(self.emulator.topology.cta_of[thread.warp]), address)
            offset = address & _OFFSETS
            return memory.shared.bytes, memory.shared.origin(cta, offset, size, what) + offset
        if space != "local":
            hint = did_you_mean(space, SPACES, "'")
            raise UsageError(f"unknown state space '{space}'; expected {one_of(SPACES)}", code=_CODE, hint=hint)
        if address < 0 or address + size > memory.local_bytes:
            message = f"a read of {size} bytes at local address {address:#x} is out of bounds"
            raise Fault(_CODE, f"{message}: the thread has {memory.local_bytes} bytes")
        return memory.local, (thread.warp * 32 + thread.lane) * memory.local_stride + address

    def _owner(self, cta: int, address: int) -> int:
        """Return the resident CTA that a shared address names. Errors: UsageError debug.memory."""
        rank, topology = address >> _RANK_SHIFT, self.emulator.topology
        if not rank:
            return cta
        if rank >= topology.cluster_size:
            message = f"the shared address {address:#x} names CTA rank {rank}; the cluster has {topology.cluster_size}"
            raise UsageError(f"{message} CTAs", code=_CODE)
        return cta - int(topology.rank[cta]) + rank

    def elements(self, space: str, address: int, type: str, count: int, thread: Thread) -> Array:
        """Return `count` consecutive numbers of a PTX type. `bytes` describes the other parameters.

        Shapes: (count,), or (count, elements) for a packed type.
        Errors: UsageError debug.memory, debug.type.
        """
        if type == "pred":
            raise UsageError("memory has no predicates; expected another type", code="debug.type")
        width = width_of(type)
        raw = self.bytes(space, address, count * width, thread)
        return numbers(raw.view("V16" if width == 16 else f"u{width}"), type)

    def variable(self, name: str, pc: int, thread: Thread) -> tuple[str, int, int]:
        """Return the state space, the address and the size of a variable that is visible at an instruction.

        A size of 0 stands for dynamic shared memory, whose size depends on the launch.

        Errors: UsageError debug.memory for an unknown variable.
        """
        program = self.emulator.program
        scope = program.steps[pc].scope
        found: Storage | None = scope.variable(name)
        if found is None:
            known = [each for scope in scope.enclosing() for each in scope.variables]
            raise UsageError(f"unknown variable '{name}'", code=_CODE, hint=did_you_mean(name, known, "'"))
        match found.space:
            case "shared":
                return "shared", SHARED_START + found.offset, found.size
            case "dynamic":
                return "shared", SHARED_START + program.dynamic_start, found.size
            case "local" | "stack":
                return "local", found.offset, found.size
            case "param":
                return "param", found.offset, found.size
            case _:
                return "global", self.emulator.linker.segments[name] + found.offset, found.size

    # Matrices in shared memory ----------------------------------------------------------------------------

    def tile(self, found: SharedMap, element: str, thread: Thread) -> Matrix:
        """Return the matrix that a map of shared memory describes.

        `Descriptor.tile` and `layout.box_map` return such maps. `element` is the type of the elements,
        whose width must be that of the map.

        Errors: UsageError debug.memory if the matrix exceeds the shared memory of the CTA, debug.type.
        """
        first, last = int(found.byte.min()), int((found.at.max() + found.bits + 7) // 8)
        raw = self.bytes("shared", first, last - first, thread)
        position = found.byte - first
        if found.bits < 8:
            position = np.minimum(position, len(raw) - 1)
            after = np.minimum(position + 1, len(raw) - 1)
            pair = raw[position] | raw[after].astype(np.uint16) << 8
            bits = (pair >> (found.at & 7).astype(np.uint16) & (1 << found.bits) - 1).astype(np.uint8)
        else:
            width = found.bits // 8
            gathered = raw[position[..., None] + np.arange(width)]
            bits = np.ascontiguousarray(gathered).view(f"u{width}")[..., 0]
        cta = int(self.emulator.topology.cta_of[thread.warp])
        name = f"{found.name} in the shared memory of {self.emulator.state.placement.describe_cta(cta)}"
        return Matrix(name, element, element_numbers(bits, element))

    def operand(self, pc: int, operand: str, thread: Thread) -> Matrix:
        """Return a matrix operand of the instruction at `pc` that is in shared or tensor memory.

        `operand` is the name of the matrix (A, B, D, metadata, scale A, scale B, box) or of the operand in the syntax
        line. The descriptors and addresses are in registers of the thread.

        Errors: UsageError debug.operand if the instruction has no such operand, or has it in registers; debug.memory;
            UsageError for an illegal descriptor.
        """
        self.emulator.accumulators.flush()
        binding = self.emulator.program.steps[pc].binding
        key = operand_key(binding, operand)
        spec, values = binding.operands[key].spec, self.emulator.linked[pc].operands
        layout = spec.layout
        assert layout is not None
        if "tensor_map" in layout.needs:
            maps = (each.address for each in binding.form.effects_of(Access) if each.proxy == "tensormap")
            fields = self.tensor_map(self._address(getattr(values, next(maps)), thread))
            return self.box(fields, self._address(getattr(values, key), thread), thread)
        product = self.emulator.linked[pc].multiplication
        if "idesc" in layout.needs:
            idesc = self._value(values.idesc, thread)
            fields = InstructionDescriptor.decode(idesc, binding.slots["kind"].rpartition(":")[2])
            elements = {
                "A": fields.atype, "B": fields.btype, "D": fields.dtype, "metadata": "u4",
            }  # fmt: skip
            element = elements.get(layout.operand) or fields.scale_type
            if spec.kind == "address":
                found = layout.map(binding.slots, LayoutInputs(idesc=idesc))
                assert isinstance(found, TensorMemoryMap)
                return self.tensor_matrix(found, self._address(getattr(values, key), thread), element, thread)
            given = LayoutInputs(idesc=idesc, descriptor=self._value(getattr(values, key), thread))
        elif "descriptor" in layout.needs and product is not None:
            matrix = next(each for each in product.shared if each.name == layout.operand)
            given = LayoutInputs(descriptor=self._value(matrix.descriptor, thread), major=matrix.major)
            element = matrix.element
        else:
            raise UsageError(
                f"the operand '{key}' is in registers; expected an operand in memory", code="debug.operand"
            )
        found = layout.map(binding.slots, given)
        assert isinstance(found, SharedMap)
        return self.tile(found, element, thread)

    def _value(self, value: Any, thread: Thread) -> int:
        """Return the value of an operand in a thread."""
        return self._in_thread(self._batch(thread).read(value), thread)

    def _address(self, value: Any, thread: Thread) -> int:
        """Return the sum of base and offset of an address operand in a thread."""
        return self._in_thread(self._batch(thread).addresses(value), thread)

    def _batch(self, thread: Thread) -> Batch:
        return self.emulator.asynchronous.make_batch(np.array([thread.warp], np.intp), None)

    @staticmethod
    def _in_thread(values: Array, thread: Thread) -> int:
        return int(np.broadcast_to(values, (1, 32))[0, thread.lane])

    def box(self, fields: TensorMapFields, address: int, thread: Thread) -> Matrix:
        """Return the box of a tensor map at a shared address as a matrix.

        A row of the matrix is a row of the box along dimension 0.

        Errors: UsageError debug.memory; UsageError for a map that copies cannot use.
        """
        element = fields.element_type.removesuffix(".ftz")
        if element not in TYPES:  # packed elements of 4 or 6 bits; padded ones take a byte
            element = "u4" if fields.shared_bits == 4 else "b8"
        return self.tile(box_map(fields, address & _OFFSETS), element, thread)

    # Structures -------------------------------------------------------------------------------------------

    def mbarrier(self, address: int, thread: Thread) -> Mbarrier:
        """Return the mbarrier at a shared address. Errors: UsageError debug.memory."""
        if address % 8:
            raise UsageError(f"an mbarrier is at {address:#x}; expected a multiple of 8", code=_CODE)
        word = int(self.bytes("shared", address, 8, thread).view(np.uint64)[0])
        cta = self._owner(int(self.emulator.topology.cta_of[thread.warp]), address)
        where = (self.memory.shared.stride * cta + (address & _OFFSETS) - SHARED_START) // 8
        waiting = self.emulator.mbarriers.waiting_for(np.array([where]))
        return Mbarrier(cta, address & _OFFSETS, MbarrierState.decode(word), tuple(sorted(waiting.tolist())))

    def mbarriers(self, cta: int) -> list[Mbarrier]:
        """Return the mbarriers of a resident CTA at which a warp has arrived or waits."""
        shared = self.memory.shared
        words = range(cta * shared.stride // 8, (cta + 1) * shared.stride // 8)
        thread = Thread(int(np.flatnonzero(self.emulator.topology.cta_of == cta)[0]))
        used = sorted(self.emulator.mbarriers.used() & {*words})
        return [self.mbarrier(shared.address(8 * word), thread) for word in used]

    def tensor_map(self, address: int) -> TensorMapFields:
        """Return the tensor map at a generic address in global or parameter memory.

        Errors: UsageError debug.memory outside of the memory; UsageError for bytes that are no tensor map.
        """
        return TensorMapFields.unpack(self.bytes("global", address, TENSOR_MAP_BYTES, Thread(0)))

    @staticmethod
    def descriptor(value: int) -> Descriptor | UmmaDescriptor:
        """Return the matrix descriptor that a 64-bit value encodes, of `tcgen05` if its constant bits are set.

        Errors: UsageError for a value that is no descriptor.
        """
        try:
            return UmmaDescriptor.decode(value)
        except UsageError:
            return Descriptor.decode(value)

    @staticmethod
    def instruction(value: int, kind: str) -> InstructionDescriptor:
        """Return the instruction descriptor of a multiplication of kind `kind`. Errors: UsageError."""
        return InstructionDescriptor.decode(value, kind)

    # Tensor memory ----------------------------------------------------------------------------------------

    def tensor(self, address: int, lanes: int, columns: int, type: str, thread: Thread) -> Matrix:
        """Return a rectangle of tensor memory of a thread's CTA, one number for each lane and column.

        `type` is a PTX type of 32 bits, or a packed type. The elements of a packed type are adjacent columns of the
        result. Units: `columns` of 32 bits.

        Errors: UsageError debug.memory outside of allocated columns, debug.type.
        """
        words, cta = self._words(thread, address, lanes, columns)
        if width_of(type) > 4:
            raise UsageError(f"a column has 32 bits and cannot be read as .{type}", code="debug.type")
        found = numbers(words, type)
        name = f"tensor memory of {self.emulator.state.placement.describe_cta(cta)}"
        lane, column = address >> LANE_SHIFT, address & COLUMN_MASK
        return Matrix(name, type, found.reshape(lanes, -1), lane, column * (found.size // words.size))

    def tensor_matrix(self, found: TensorMemoryMap, address: int, element: str, thread: Thread) -> Matrix:
        """Return the matrix at an address of tensor memory that a map describes, such as the accumulator D.

        The matrix of a CTA pair is read from the tensor memory of both CTAs.

        Errors: UsageError debug.memory outside of allocated columns, debug.type.
        """
        lanes, columns = int(found.lane.max()) + 1, int(found.column.max()) + 1
        own = int(self.emulator.topology.cta_of[thread.warp])
        first = own if found.ctas == 1 else own & ~1
        self._words(thread, address, lanes, columns)
        lane, column = found.lane[0] + (address >> LANE_SHIFT), found.column[0] + (address & COLUMN_MASK)
        words = self.emulator.tensor.storage.words[first + found.cta[0], lane, column]
        bits = words >> found.bit[0].astype(np.uint32)
        if found.bits < 32:
            bits = (bits & np.uint32((1 << found.bits) - 1)).astype(f"u{max(found.bits // 8, 1)}")
        name = f"{found.name} of {self.emulator.state.placement.describe_cta(own)}"
        return Matrix(name, element, element_numbers(bits, element))

    def _words(self, thread: Thread, address: int, lanes: int, columns: int) -> tuple[NDArray[np.uint32], int]:
        """Return the words of a rectangle of tensor memory, and its CTA. Errors: UsageError debug.memory."""
        tensor, cta = self.emulator.tensor, int(self.emulator.topology.cta_of[thread.warp])
        lane, column = address >> LANE_SHIFT, address & COLUMN_MASK
        where = [np.array([each], np.int64) for each in (cta, lane, column)]
        try:
            tensor.storage.check("a read", where[0], where[1], lanes, where[2], columns)
        except Fault as fault:
            raise UsageError(fault.message, code=_CODE) from None
        tensor.flush()
        return tensor.storage.words[cta, lane : lane + lanes, column : column + columns], cta


def _from_generic(address: int) -> tuple[str, int]:
    for space, window in (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW)):
        if window <= address < window + WINDOW_SIZE:
            return space, address - window
    return "global", address
