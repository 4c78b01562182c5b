"""Warp whose instructions are translated to LLVM IR instead of being executed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from llvmlite import ir

from warploom.emulator import address_space
from warploom.emulator.address_space import GLOBAL_BASE, SHARED_WINDOW, WINDOW_SIZE
from warploom.emulator.known_maps import MOST_DIMENSIONS
from warploom.emulator.native.builder import I1, I8, I32, I64, POINTER, Builder
from warploom.emulator.native.context import Field
from warploom.emulator.native.matrix import ROW, ROW_BYTES, TracedMatrix
from warploom.emulator.native.operands import Items, Location, Scalar
from warploom.emulator.native.tensor_copies import ARGUMENTS
from warploom.isa.instructions.reductions import update
from warploom.isa.model.records import CopyRecord, TensorCopy, ThreadCopy
from warploom.isa.model.types import TYPES
from warploom.layout import Order
from warploom.numerics.atomics import Update
from warploom.numerics.tracing.kernels import trace_kernel
from warploom.numerics.tracing.values import LANES, TracedLanes, TraceError, declare, element_type, splat, vector_type

_U64 = np.dtype(np.uint64)
_I64S = ir.VectorType(I64, LANES)
_BOOL = np.dtype(np.bool_)


def stored_values(values: Sequence[TracedLanes], dtype: np.dtype[Any]) -> list[TracedLanes]:
    """Return values as elements of memory. A value of the same size keeps its bits."""
    return [each.view(dtype) if each.dtype.itemsize == dtype.itemsize else each.astype(dtype) for each in values]


class TracedVector(list[TracedLanes]):
    """Values of a vector operand."""

    def astype(self, dtype: Any) -> TracedVector:
        """Return all values converted to a dtype."""
        return TracedVector(each.astype(dtype) for each in self)


class TracedWarp:
    """Interface of instruction semantics (`isa.model.semantics.Warps`) for one warp, as LLVM IR.

    `records` points to the operand records (see `operands`), `context` to the fields of `context.Field`. `warp` is the
    index of the warp, `position` its index in the batch, and `mask` the bits of its active lanes. A branch to the block
    `leave` leaves this warp and the following warps to the interpreter. A branch to `refuse` leaves all warps of the
    batch, and is only possible before the first effect.
    """

    count = 1

    def __init__(
        self, builder: Builder, records: ir.Value, context: ir.Value, position: ir.Value, warp: ir.Value,
        mask: ir.Value, leave: ir.Block, refuse: ir.Block, arch: str,
    ) -> None:  # fmt: skip
        self.builder = builder
        self.records = records
        self.context = context
        self.warp = warp
        self.mask = mask
        self.position = position
        self.leaving = leave
        self.refusing = refuse
        self.arch = arch
        self.lanes = TracedLanes(builder, builder.bitcast(mask, ir.VectorType(I1, LANES)), _BOOL)
        self.converged_only = False  # True if the instruction may have to wait for diverged lanes

    @property
    def kind(self) -> str:
        """Kind of the native function (see `compiler.compile_functions`)."""
        return "converged" if self.converged_only else "any"

    # Records and context ----------------------------------------------------------------------------------

    def _field(self, field: Field) -> ir.Value:
        place = self.builder.gep(self.context, [I64(field)], source_etype=I64)
        return self.builder.load(place, typ=I64)

    def _record(self, number: int, part: int) -> ir.Value:
        place = self.builder.gep(self.records, [I64(3 * number + part)], source_etype=I64)
        return self.builder.load(place, typ=I64)

    def _place(self, operand: Scalar) -> ir.Value:
        start, stride = self._record(operand.number, 0), self._record(operand.number, 1)
        return self.builder.inttoptr(self.builder.add(start, self.builder.mul(self.warp, stride)), POINTER)

    def _load(self, place: ir.Value, dtype: np.dtype[Any]) -> TracedLanes:
        if dtype == _BOOL:
            octets = self.builder.load(place, typ=ir.VectorType(I8, LANES), align=1)
            return TracedLanes(self.builder, self.builder.trunc(octets, vector_type(_BOOL)), _BOOL)
        value = self.builder.load(place, typ=vector_type(dtype), align=dtype.itemsize)
        return TracedLanes(self.builder, value, dtype)

    def _store(self, values: TracedLanes, place: ir.Value) -> None:
        """Store the values of the active lanes."""
        stored = values.astype(np.uint8) if values.dtype == _BOOL else values
        result = self.lanes.select(stored, self._load(place, stored.dtype))
        self.builder.store(result.value, place, align=stored.dtype.itemsize)

    # Registers --------------------------------------------------------------------------------------------

    def read(self, operand: Scalar) -> TracedLanes:
        """Return the value of an operand."""
        value = self._load(self._place(operand), np.dtype(operand.stored)).astype(operand.dtype)
        return ~value if operand.negated else value

    def read_vector(self, operand: Items) -> TracedVector:
        """Return the values of a vector operand."""
        return TracedVector(self.read(item) for item in _present(operand))

    def write(self, operand: Scalar | None, result: Any) -> None:
        """Write a result to the active lanes, extended to the width of the register."""
        if operand is None:
            return
        dtype = np.dtype(operand.dtype)
        if not isinstance(result, TracedLanes):
            result = self.lanes.constant(result, getattr(result, "dtype", dtype))
        if operand.extended:
            result = result.astype(dtype).astype(operand.extended)
        elif result.dtype != dtype and result.dtype.itemsize == dtype.itemsize and dtype != _BOOL:
            result = result.view(dtype)
        self._store(result.astype(operand.stored), self._place(operand))

    def write_vector(self, operand: Items, results: Sequence[Any]) -> None:
        """Write results to the active lanes of a vector."""
        for item, result in zip(operand.items, results, strict=True):
            self.write(item, result)

    def active(self) -> TracedLanes:
        """Return the mask of active lanes."""
        return self.lanes

    def _carry(self) -> ir.Value:
        start = self.builder.inttoptr(self._field(Field.CARRY), POINTER)
        return self.builder.gep(start, [self.builder.mul(self.warp, I64(LANES))], source_etype=I8)

    def read_carry(self) -> TracedLanes:
        """Return the carry flags."""
        return self._load(self._carry(), _BOOL)

    def write_carry(self, carry: TracedLanes) -> None:
        """Write the carry flags of the active lanes."""
        self._store(carry, self._carry())

    # Addresses and memory ---------------------------------------------------------------------------------

    def addresses(self, operand: Location) -> TracedLanes:
        """Return the effective addresses of an address operand, as uint64."""
        offset = TracedLanes(self.builder, broadcast(self.builder, self._record(operand.number, 2)), _U64)
        if operand.base is None:
            return offset
        base = self.read(operand.base)
        # The sum with a 32-bit base wraps to 32 bits, as shared addresses do.
        return (base + offset.astype(base.dtype)).astype(_U64)

    def load(
        self, space: str, addresses: TracedLanes, type: str, count: int = 1, lanes: TracedLanes | None = None
    ) -> list[TracedLanes]:
        """Load `count` consecutive elements for each active lane."""
        dtype = self._element(type)
        mask = self.lanes if lanes is None else self.lanes & lanes
        places = self._reach(space, addresses, mask, dtype.itemsize * count, storing=False)
        return self._gather(places, mask, dtype, count)

    def _gather(self, places: ir.Value, mask: TracedLanes, dtype: np.dtype[Any], count: int = 1) -> list[TracedLanes]:
        """Load `count` consecutive elements from a pointer for each lane in `mask`."""
        builder, kind = self.builder, vector_type(dtype)
        name = f"llvm.masked.gather.v{LANES}{_suffix(dtype)}.v{LANES}p0"
        function = self._declare(name, kind, [places.type, I32, mask.value.type, kind])
        found: list[TracedLanes] = []
        for item in range(count):
            each = builder.gep(places, [I64(item * dtype.itemsize)], source_etype=I8) if item else places
            arguments = [each, I32(dtype.itemsize), mask.value, splat(0, dtype)]
            found.append(TracedLanes(builder, builder.call(function, arguments), dtype))
        return found

    def store(
        self, space: str, addresses: TracedLanes, type: str, values: Sequence[TracedLanes],
        lanes: TracedLanes | None = None,
    ) -> None:  # fmt: skip
        """Store consecutive elements for each active lane. If lanes overlap, the last lane's value remains."""
        dtype = self._element(type)
        mask = self.lanes if lanes is None else self.lanes & lanes
        places = self._reach(space, addresses, mask, dtype.itemsize * len(values), storing=True)
        builder, kind = self.builder, vector_type(dtype)
        name = f"llvm.masked.scatter.v{LANES}{_suffix(dtype)}.v{LANES}p0"
        function = self._declare(name, ir.VoidType(), [kind, places.type, I32, mask.value.type])
        for item, each in enumerate(stored_values(values, dtype)):
            target = builder.gep(places, [I64(item * dtype.itemsize)], source_etype=I8) if item else places
            builder.call(function, [each.value, target, I32(dtype.itemsize), mask.value])

    def atomic(
        self, space: str, addresses: TracedLanes, op: str, type: str, values: TracedLanes,
        compares: TracedLanes | None = None,
    ) -> TracedLanes:  # fmt: skip
        """Apply an atomic operation for one active lane after the other. Return the old values."""
        dtype = TYPES[type].dtype
        word = np.dtype(f"u{self._element(type).itemsize}")
        given = values.astype(dtype).view(word)
        expected = given if compares is None else compares.astype(dtype).view(word)
        places = self._reach(space, addresses, self.lanes, word.itemsize, storing=True)
        change = update(op, type, self._is_global(space, addresses))
        b, kind = self.builder, element_type(word)
        arrays = [b.variable(each) for each in (places, given.value, expected.value, given.constant(0, word).value)]
        with b.each_bit(self.mask) as lane:
            place = b.get(arrays[0], lane, POINTER)
            old = b.load(place, typ=kind)
            operands = [
                TracedLanes(b, broadcast(b, each), word) for each in (old, *(b.get(a, lane, kind) for a in arrays[1:3]))
            ]
            new = _changed(change, *operands)
            b.store(b.extract_element(new.value, I32(0)), place)
            b.put(old, arrays[3], lane, kind)
        return TracedLanes(b, b.load(arrays[3], typ=vector_type(word)), word).view(dtype)

    def _is_global(self, space: str, addresses: TracedLanes) -> TracedLanes | bool:
        """Return True if an access is to global memory. All active lanes access the same state space."""
        if space:
            return space == "global"
        shared = self._reduce_mask(address_space.in_window("shared", addresses) & self.lanes)
        found = self.builder.icmp_unsigned("==", shared, I32(0))
        return TracedLanes(self.builder, broadcast(self.builder, found), _BOOL)

    # Matrices ---------------------------------------------------------------------------------------------

    def load_rows(self, space: str, addresses: TracedLanes, rows: int) -> TracedMatrix:
        """Load 16 bytes from the address of each of the lanes 0 to `rows` - 1."""
        places = self._row_places(space, addresses, rows, storing=False)
        matrix = TracedMatrix(self.builder, rows * ROW_BYTES)
        for lane, place in enumerate(places):
            matrix.put_row(lane, self.builder.load(place, typ=ROW, align=ROW_BYTES))
        return matrix

    def store_rows(self, space: str, addresses: TracedLanes, matrix: TracedMatrix) -> None:
        """Store 16 bytes at the address of each of the first lanes."""
        for lane, place in enumerate(self._row_places(space, addresses, matrix.size // ROW_BYTES, storing=True)):
            self.builder.store(matrix.row(lane), place, align=ROW_BYTES)

    def _row_places(self, space: str, addresses: TracedLanes, rows: int, storing: bool) -> list[ir.Value]:
        """Return a pointer to each row."""
        places = self._reach(space, addresses, self._row_lanes(rows), ROW_BYTES, storing)
        return [self.builder.extract_element(places, I32(lane)) for lane in range(rows)]

    def _row_lanes(self, rows: int) -> TracedLanes:
        """Return the mask of the lanes 0 to `rows` - 1.

        Leave the instruction to the interpreter unless these lanes are active.
        """
        builder = self.builder
        needed = I32((1 << rows) - 1)
        active = builder.append_basic_block("active")
        builder.cbranch(builder.icmp_unsigned("==", builder.and_(self.mask, needed), needed), active, self.leaving)
        builder.position_at_end(active)
        return self.lanes.constant(np.arange(LANES) < rows, _BOOL)

    def read_fragment(self, operand: Items, order: Order) -> TracedMatrix:
        """Return the matrix that is distributed over a vector of registers."""
        matrix = TracedMatrix(self.builder, order.target.size * order.dtype.itemsize)
        for register, target in zip(self.read_vector(operand), order.target, strict=True):
            matrix.scatter(register, target.astype(np.int64), order.dtype)
        return matrix

    def write_fragment(self, operand: Items, order: Order, matrix: TracedMatrix) -> None:
        """Distribute a matrix over a vector of registers."""
        registers = [matrix.gather(target.astype(np.int64), order.dtype) for target in order.target]
        self.write_vector(operand, registers)

    def _lanes_of(self, value: Any) -> TracedLanes:
        return value if isinstance(value, TracedLanes) else self.lanes.constant(value[..., 0], value.dtype)

    def _element(self, type: str) -> np.dtype[Any]:
        dtype = TYPES[type].dtype
        if dtype.kind not in "iuf":
            raise TraceError(f"memory accesses of type {type} are not implemented in native code")
        return dtype

    def _reach(self, space: str, addresses: TracedLanes, mask: TracedLanes, size: int, storing: bool) -> ir.Value:
        """Return a pointer for each active lane.

        Leave the instruction to the interpreter unless all accesses are aligned and in one segment or window.
        """
        builder = self.builder
        wide = addresses.astype(_U64)
        low = self._reduce("umin", mask.select(wide, wide.constant(0xFFFF_FFFF_FFFF_FFFF, _U64)))
        kept = mask.select(wide, wide.constant(0, _U64))
        high = self._reduce("umax", kept)
        end = builder.add(high, I64(size))
        window_low, window_end, shift = self._window(space, low, end, storing)
        fits = builder.and_(builder.icmp_unsigned(">=", low, window_low), builder.icmp_unsigned("<=", end, window_end))
        fits = builder.and_(fits, builder.icmp_unsigned(">", end, high))  # an address close to 2**64 overflows
        if size > 1:
            rest = builder.and_(self._reduce("or", kept), I64(size - 1))
            fits = builder.and_(fits, builder.icmp_unsigned("==", rest, I64(0)))
        idle = builder.icmp_unsigned("==", self._reduce_mask(mask), I32(0))
        fits = builder.or_(fits, idle)
        index = wide + self._broadcast(shift)
        if space in ("", "shared::cluster"):
            places = builder.variable(index.value)
            with builder.if_then(builder.not_(fits)):
                remote, is_legal = self._in_cluster(wide if space else wide - np.uint64(SHARED_WINDOW), mask, size)
                self._require(is_legal)
                builder.store(remote.value, places)
            return builder.inttoptr(builder.load(places, typ=index.value.type), ir.VectorType(POINTER, LANES))
        self._require(fits)
        if space == "local":
            stride = TracedLanes(builder, broadcast(builder, self._field(Field.LOCAL_STRIDE)), _U64)
            index = index + stride * np.arange(LANES, dtype=np.uint64)
        return builder.inttoptr(index.value, ir.VectorType(POINTER, LANES))

    def _in_cluster(self, addresses: TracedLanes, mask: TracedLanes, size: int) -> tuple[TracedLanes, ir.Value]:
        """Return the host address for the `shared::cluster` address of each lane.

        The second result is True if all lanes in `mask` have aligned addresses in CTAs that have not exited.
        """
        builder = self.builder
        low, end, shift = map(self._broadcast, self._shared_window())
        own, rank, offset = low >> np.uint64(24), addresses >> np.uint64(24), addresses & np.uint64(0xFF_FFFF)
        inside = (offset >= low & np.uint64(0xFF_FFFF)) & (offset + np.uint64(size) <= end & np.uint64(0xFF_FFFF))
        inside = inside & (rank < self._broadcast(self._field(Field.CLUSTER_SIZE)))
        legal = inside & (offset & np.uint64(size - 1) == 0) & mask
        cta = self._broadcast(builder.get(builder.array(self.context, Field.CTA_OF), self.warp)) + rank - own
        counts = self._broadcast(self._field(Field.LIVE_WARPS)) + cta * np.uint64(8)
        (live,) = self._gather(builder.inttoptr(counts.value, ir.VectorType(POINTER, LANES)), legal, _U64)
        reached = self._reduce_mask(legal & (live != 0))
        stride = self._broadcast(self._field(Field.SHARED_STRIDE))
        places = offset + shift + (own << np.uint64(24)) + (rank - own) * stride
        return places, builder.icmp_unsigned("==", reached, self._reduce_mask(mask))

    def _broadcast(self, number: ir.Value) -> TracedLanes:
        return TracedLanes(self.builder, broadcast(self.builder, number), _U64)

    def _window(self, space: str, low: ir.Value, end: ir.Value, storing: bool) -> tuple[ir.Value, ir.Value, ir.Value]:
        """Return the start and the end of a memory window, and the distance from addresses to pointers."""
        builder = self.builder
        if space == "local":
            size = builder.mul(self._field(Field.LOCAL_STRIDE), builder.mul(self.warp, I64(LANES)))
            return I64(0), self._field(Field.LOCAL_BYTES), builder.add(self._field(Field.LOCAL_START), size)
        if space.startswith("shared"):
            return self._shared_window()
        segment = self._segment(low, end, storing)
        if space:
            return segment
        is_shared = builder.icmp_unsigned("<", builder.sub(low, I64(SHARED_WINDOW)), I64(WINDOW_SIZE))
        own = self._shared_window()
        moved = (
            builder.add(own[0], I64(SHARED_WINDOW)),
            builder.add(own[1], I64(SHARED_WINDOW)),
            builder.sub(own[2], I64(SHARED_WINDOW)),
        )
        return tuple(builder.select(is_shared, a, b) for a, b in zip(moved, segment, strict=True))  # type: ignore[return-value]

    def _shared_window(self) -> tuple[ir.Value, ir.Value, ir.Value]:
        builder = self.builder
        table = builder.inttoptr(self._field(Field.SHARED_WINDOWS), POINTER)
        first = builder.mul(self.warp, I64(3))
        places = [builder.gep(table, [builder.add(first, I64(k))], source_etype=I64) for k in range(3)]
        low, end, shift = (builder.load(place, typ=I64) for place in places)
        return low, end, shift

    def _segment(self, low: ir.Value, end: ir.Value, storing: bool) -> tuple[ir.Value, ir.Value, ir.Value]:
        builder = self.builder
        name = "warploom.find_written" if storing else "warploom.find_segment"
        find = self._declare(name, I64, [POINTER, I64, I64])
        segment = builder.call(find, [self.context, low, end])  # -1 unless one segment contains the range
        found = builder.icmp_signed(">=", segment, I64(0))
        # The empty window of addresses from 2**64 - 1 on stands for a missing segment.
        first = builder.select(found, I64(0), I64(0xFFFF_FFFF_FFFF_FFFF))
        shift = builder.sub(self._field(Field.ARENA), I64(GLOBAL_BASE))
        return first, I64(0xFFFF_FFFF_FFFF_FFFF), shift

    def to_generic(self, space: str, addresses: TracedLanes) -> TracedLanes:
        """Return the generic addresses that correspond to addresses in a state space."""
        if space.startswith("param"):
            return address_space.in_parameter_block(self._broadcast(self._field(Field.PARAMETERS)), addresses)
        return address_space.to_generic(space, addresses)

    def from_generic(self, space: str, addresses: TracedLanes) -> TracedLanes:
        """Return the addresses in a state space that correspond to generic addresses."""
        return address_space.from_generic(space, addresses)

    def is_space(self, space: str, addresses: TracedLanes) -> TracedLanes:
        """Return a mask of the generic addresses that are in shared memory or in local memory."""
        if space not in ("shared", "shared::cluster", "local"):
            raise TraceError(f"the state space {space} is not implemented in native code")
        return address_space.in_window(space, addresses)

    def map_rank(self, addresses: TracedLanes, rank: TracedLanes, generic: bool) -> TracedLanes:
        """Return for each address the address of the same offset in the shared memory of the CTA `rank`."""
        return address_space.map_rank(addresses, rank, generic)

    def rank_of(self, addresses: TracedLanes, generic: bool) -> TracedLanes:
        """Return the rank of the CTA that owns each address."""
        return address_space.rank_of(addresses, generic)

    # Warp-wide operations ---------------------------------------------------------------------------------

    def gather_members(self, members: TracedLanes) -> None:
        """Do nothing: the native function is only called while no warp is diverged."""
        self.converged_only = True

    def gather_warp(self) -> None:
        """Do nothing: the native function is only called while no warp is diverged."""
        self.converged_only = True

    def warp_barrier(self, members: TracedLanes) -> None:
        """Do nothing: the native function is only called while no warp is diverged."""
        self.converged_only = True

    def _require(self, condition: ir.Value) -> None:
        """Leave the instruction to the interpreter unless a condition is true."""
        following = self.builder.append_basic_block("required")
        self.builder.cbranch(condition, following, self.leaving)
        self.builder.position_at_end(following)

    # Asynchronous operations, which take effect at once under the eager schedule ---------------------------

    def issue(self, record: CopyRecord) -> None:
        """Execute thread copies and tensor copies immediately. Only the eager schedule uses native copies."""
        if isinstance(record, TensorCopy):
            self._copy_box(record)
            return
        if not isinstance(record, ThreadCopy):
            raise TraceError("bulk copies are not implemented in native code")
        self._copy_lanes(record)

    def _copy_lanes(self, record: ThreadCopy) -> None:
        """Copy one word of `record.size` bytes for each active lane, in the order of the lanes.

        A lane that reads nothing stores zeros.
        """
        builder, size = self.builder, record.size
        source, destination = cast("TracedLanes", record.source), cast("TracedLanes", record.destination)
        is_read = self._reads_source(record)
        sources = self._reach("global", source, self.lanes & is_read, size, storing=False)
        targets = self._reach("shared", destination, self.lanes, size, storing=True)
        word, align = ir.IntType(8 * size), min(size, 8)
        zeros = broadcast(builder, builder.variable(word(0)))
        places = [builder.variable(each) for each in (builder.select(is_read.value, sources, zeros), targets)]
        with builder.each_bit(self.mask) as lane:
            one, other = (builder.get(each, lane, POINTER) for each in places)
            builder.store(builder.load(one, typ=word, align=align), other, align=align)

    def _reads_source(self, record: ThreadCopy) -> TracedLanes:
        """Return the mask of the lanes that copy a whole word. The other lanes store zeros.

        Leave the instruction to the interpreter if a lane copies a part of a word.
        """
        amount = self._lanes_of(record.amount)
        partial = (amount > 0) & (amount < record.size)
        self._require(self.builder.icmp_unsigned("==", self._reduce_mask(partial & self.lanes), I32(0)))
        return amount > 0

    def _copy_box(self, record: TensorCopy) -> None:
        """Execute a tensor copy. Leave the instruction to the interpreter if several lanes are active."""
        is_box = len(record.coordinates) == record.dimensions and not record.is_im2col
        if record.reduction or not is_box or record.multicast is not None or record.cta_group != 1:
            raise TraceError("this kind of tensor copy is not implemented in native code")
        builder = self.builder
        lane = builder.cttz(self.mask, I1(0))
        with builder.goto_entry_block():
            arguments = builder.alloca(ir.ArrayType(I64, len(ARGUMENTS) + MOST_DIMENSIONS))
            arguments.type = POINTER
        idle, single, following = (builder.append_basic_block(name) for name in ("busy", "single", "copied"))
        builder.cbranch(builder.icmp_unsigned("==", self.mask, I32(0)), following, idle)
        builder.position_at_end(idle)
        rest = builder.and_(self.mask, builder.sub(self.mask, I32(1)))
        builder.cbranch(builder.icmp_unsigned("==", rest, I32(0)), single, self.leaving)
        builder.position_at_end(single)

        def of_lane(value: Any) -> ir.Value:
            found = builder.extract_element(value.value, lane)
            return found if found.type == I64 else builder.sext(found, I64)

        loads = record.mbarrier is not None
        mbarrier = of_lane(record.mbarrier) if loads else I64(0)
        numbers = [self.warp, of_lane(record.tensor_map), of_lane(record.shared), mbarrier, I64(record.dimensions)]
        numbers.append(I64(int(loads)))
        numbers += [of_lane(each) for each in record.coordinates]
        numbers += [I64(0)] * (len(ARGUMENTS) + MOST_DIMENSIONS - len(numbers))
        for position, number in enumerate(numbers):
            builder.put(number, arguments, position)
        copy = self._declare("warploom.tensor_copy", I1, [POINTER, POINTER])
        builder.cbranch(builder.call(copy, [self.context, arguments]), following, self.leaving)
        builder.position_at_end(following)

    def commit(self, channel: str) -> None:
        """Do nothing, because all copies have taken effect."""
        self._require_eager(channel)

    def wait(self, channel: str, pending: int, read_only: bool = False) -> None:
        """Do nothing, because all copies have taken effect."""
        self._require_eager(channel)

    @staticmethod
    def _require_eager(channel: str) -> None:
        """Refuse the accesses to tensor memory of a channel, which may be delayed. Errors: TraceError."""
        if channel.startswith("tensor"):
            raise TraceError("waits for accesses to tensor memory are not implemented in native code")

    def _reduce(self, name: str, value: TracedLanes) -> ir.Value:
        kind = value.value.type
        function = self._declare(f"llvm.vector.reduce.{name}.v{LANES}{_suffix(value.dtype)}", kind.element, [kind])
        return self.builder.call(function, [value.value])

    def _reduce_mask(self, mask: TracedLanes) -> ir.Value:
        return self.builder.bitcast(mask.value, I32)

    def _declare(self, name: str, result: ir.Type, arguments: Sequence[ir.Type]) -> ir.Function:
        return declare(self.builder.module, name, result, arguments)

    def __getattr__(self, name: str) -> Any:
        raise TraceError(f"Warps.{name} is not implemented in native code")


def _present(operand: Items) -> list[Scalar]:
    found = [item for item in operand.items if item is not None]
    if len(found) != len(operand.items):
        raise TraceError("a source vector with the sink is not implemented in native code")
    return found


def _changed(change: Update, old: TracedLanes, value: TracedLanes, compare: TracedLanes) -> TracedLanes:
    """Return the values that replace the old values in an atomic operation."""
    if change.word == old.dtype:
        return trace_kernel(change.function, old, value, compare, *change.options).astype(old.dtype)
    bits = 8 * change.word.itemsize
    result: TracedLanes | None = None
    for shift in range(0, 8 * old.dtype.itemsize, bits):
        words = [(each >> old.dtype.type(shift)).astype(change.word) for each in (old, value, compare)]
        new = trace_kernel(change.function, *words, *change.options).astype(change.word).astype(old.dtype)
        result = new if result is None else result | (new << old.dtype.type(shift))
    assert result is not None
    return result


def _suffix(dtype: np.dtype[Any]) -> str:
    return f"{'f' if dtype.kind == 'f' else 'i'}{8 * dtype.itemsize}"


def broadcast(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """Return a vector with the same value in all lanes."""
    kind = ir.VectorType(value.type, LANES)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), value, I32(0))
    zeros = ir.Constant(ir.VectorType(I32, LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), zeros)
