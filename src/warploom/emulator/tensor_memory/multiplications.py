"""Execution of multiplications in tensor memory, for many CTAs together.

D may be divided among groups of lanes (see `LANE_GROUPS` in `layout.tensor_memory`). Each group has its own copy of A,
of the metadata and of the scale factors. The axis "copies" of an operand counts these copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import one_of
from warploom.emulator.faults import Fault
from warploom.emulator.shared_memory import SharedMemory
from warploom.emulator.state import State
from warploom.emulator.tensor_memory import compiled_copies, tile_multiplications
from warploom.emulator.tensor_memory.operations import Operations
from warploom.emulator.tensor_memory.shared_operands import read_matrix, start_addresses, unpack_fours
from warploom.emulator.tensor_memory.storage import TensorStorage
from warploom.isa.model.tensor_memory import (
    COLUMN_MASK,
    LANE_SHIFT,
    Matrix,
    MultiplyPlan,
    TensorMultiply,
    model_of,
    zero_columns,
)
from warploom.layout import MetadataMap, TensorMemoryMap
from warploom.layout.tensor_memory import defined_metadata
from warploom.lazy_dataclass import dataclass
from warploom.numerics.formats import STORAGE
from warploom.numerics.fused import Multiplier, Workers, multiplier
from warploom.numerics.models import NoModelError

CODE = "emulator.tensor-multiply"
Numbers = NDArray[np.int64]
_ALL = slice(None)
_START = (1 << 14) - 1
"""Bits of the start address in a matrix descriptor."""
_CACHE_SIZE = 1024
_NO_MASK = np.zeros((0, 0), np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """Decoded descriptors of multiplications that differ in addresses only.

    Two multiplications may belong to one chain if their `chain_key` is equal and not None. `matrices` has A and B in
    shared memory by name if one compiled call executes the multiplication, else it is None.
    """

    plan: MultiplyPlan
    chain_key: tuple[Any, ...] | None
    matrices: dict[str, Matrix] | None


@dataclass(slots=True, eq=False)
class _Group:
    """Multiplications in G different CTAs that execute together. They differ in addresses only.

    Each item of `chain` has one multiplication for each CTA. The multiplications of a CTA add to the same D, one after
    the other. `which` has the indices of the multiplications in each item. `ctas` has the CTAs that multiply together,
    the even one first. `d` has the lane and the column of the address of D.

    Shapes: which (G,); ctas (G, 1 or 2); d: two of (G,).
    """

    chain: Sequence[Operations]
    record: TensorMultiply
    decoded: Decoded
    which: Numbers
    ctas: Numbers
    d: tuple[Numbers, Numbers]

    @property
    def plan(self) -> MultiplyPlan:
        """Facts that the instruction descriptor determines."""
        return self.decoded.plan

    @property
    def operations(self) -> Operations:
        """First multiplication of each CTA."""
        return self.chain[0]

    def per_cta(self, values: Numbers) -> Numbers:
        """Return the value of each multiplication once for each of its CTAs."""
        return np.repeat(values, self.ctas.shape[1])

    def unchained(self) -> list[_Group]:
        """Return a group for each item of the chain."""
        if len(self.chain) == 1:
            return [self]
        return [_Group([each], self.record, self.decoded, self.which, self.ctas, self.d) for each in self.chain]

    def address(self, name: str) -> tuple[Numbers, Numbers]:
        """Return the lanes and the columns of the addresses in an operand. Shapes: (G,)."""
        return _split(self.operations.values[name][self.which])


class Multiplications:
    """Executor of multiplications in tensor memory."""

    STATE = ("collectors",)

    def __init__(
        self, state: State, storage: TensorStorage, shared: SharedMemory, arch: str, workers: Workers | None, lazy: bool
    ) -> None:
        self.state = state
        self.storage = storage
        self.shared = shared
        self.arch = arch
        self.workers = workers
        self.lazy = lazy
        self._decoded: dict[tuple[Any, ...], Decoded | None] = {}  # by program counter and bytes of the descriptors
        self.start()

    def start(self) -> None:
        """Empty the collector buffers before a new wave."""
        self.collectors: dict[tuple[int, str], NDArray[Any]] = {}  # (first CTA, buffer) -> matrix

    def check(self, record: TensorMultiply, operations: Operations) -> None:
        """Check the descriptors of all operations, and set `operations.decoded`.

        Errors: Fault emulator.tensor-multiply, whose `lane` is the index of the operation.
        """
        words = _descriptors(record, operations.values)
        key = operations.pc, *[each.tobytes() for each in words]
        if key not in self._decoded:
            if len(self._decoded) == _CACHE_SIZE:
                self._decoded.clear()
            is_uniform = all((each == each[0]).all() for each in words)
            whole = _descriptors(record, operations.values, with_starts=True)
            self._decoded[key] = self._decode_all(record, np.stack(whole, axis=1), is_uniform)
        operations.decoded = self._decoded[key]

    def _decode_all(self, record: TensorMultiply, words: NDArray[np.uint64], is_uniform: bool) -> Decoded | None:
        """Decode the descriptors of each operation. Return the result if `is_uniform`, else None.

        `is_uniform` is True if the descriptors of all operations are equal except for their start addresses.

        Shapes: words (operations, descriptors). Errors: Fault emulator.tensor-multiply.
        """
        found: Decoded | None = None
        for k in [0] if is_uniform else range(len(words)):
            try:
                found = self._decode(record, words[k].tolist())
            except (UsageError, NoModelError) as error:
                raise Fault(CODE, str(error), k) from None
        if record.disabled is not None and len(record.disabled) != 4 * record.ctas:
            message = f"the mask of disabled lanes has {len(record.disabled)} words; expected {4 * record.ctas}"
            raise Fault(CODE, message, 0)
        return found if is_uniform else None

    def _decode(self, record: TensorMultiply, words: Sequence[int]) -> Decoded:
        """Decode the descriptors of a multiplication, whose start addresses do not matter.

        Errors: UsageError, NoModelError.
        """
        plan = record.plan(words[0])
        model_of(plan.fields, self.arch)
        matrices = {"b": record.matrix_b(plan, words[1])}
        if not record.a_in_tensor:
            matrices = {"a": record.matrix_a(plan, words[2]), **matrices}
        chain_key = None
        if can_chain(record) and not plan.fields.saturate:
            scaled = record.scales is not None
            chain_key = (
                record.kind, record.ctas, record.a_in_tensor, record.stationary, record.block, scaled, words[0],
                *[each & ~_START for each in words[1:]],
            )  # fmt: skip
        is_direct = (
            self.workers is None and record.collector[1] == "discard"
            and tile_multiplications.is_direct(record, plan, list(matrices.values()), self.arch)
        )  # fmt: skip
        return Decoded(plan, chain_key, matrices if is_direct else None)

    def continues(self, first: Operations, operations: Operations) -> bool:
        """Return True if `operations` may continue a chain that begins with `first`.

        Each operation must add to the D that the operation of `first` in the same CTA writes.
        """
        if first.decoded is None or operations.decoded is None or first.decoded.chain_key is None:
            return False
        old, new = first.values, operations.values
        return (
            first.decoded.chain_key == operations.decoded.chain_key
            and not cast("TensorMultiply", operations.record).scale_input_d
            and first.warps.tobytes() == operations.warps.tobytes()
            and old["d"].tobytes() == new["d"].tobytes()
            and np.count_nonzero(new["keeps"]) == operations.count
        )

    def execute(self, chain: Sequence[Operations], which: Numbers) -> None:
        """Execute the operations with the indices `which` of each item of a chain.

        The operations of an item belong to different CTAs. `continues` must have returned True for each item of the
        chain after the first.

        Errors: Fault, whose `lane` is the index of the operation.
        """
        operations = chain[0]
        record = cast("TensorMultiply", operations.record)
        if operations.decoded is not None:
            self._multiply(self._group(chain, which, operations.decoded))
            return
        words = np.stack(_descriptors(record, operations.values), axis=1)[which]
        distinct, inverse = np.unique(words, axis=0, return_inverse=True)
        for number, kind in enumerate(distinct):
            found = self._decode(record, kind.tolist())
            self._multiply(self._group(chain, which[inverse.reshape(-1) == number], found))

    def _group(self, chain: Sequence[Operations], which: Numbers, decoded: Decoded) -> _Group:
        operations = chain[0]
        record = cast("TensorMultiply", operations.record)
        own = operations.ctas[which]
        ctas = own[:, None] if record.ctas == 1 else (own & ~1)[:, None] + np.arange(2)
        return _Group(chain, record, decoded, which, ctas, _split(operations.values["d"][which]))

    # Multiplication ---------------------------------------------------------------------------------------

    def _multiply(self, group: _Group) -> None:
        plan, record = group.plan, group.record
        fields = plan.fields
        self._check_address(group, "D", *group.d, len(plan.lanes), int(plan.lanes.max()) + 1, plan.columns)
        count, dtype = len(group.which), STORAGE[fields.dtype]
        keeps = group.operations.values["keeps"][group.which]
        self.state.counters.macs += count * fields.m * fields.n * fields.k * len(group.chain)
        if self._multiply_directly(group, keeps):
            return
        d = self._read_d(group) if keeps.any() else np.zeros((count, fields.m, fields.n), dtype)
        if not keeps.all():
            d[~keeps] = 0
        parts = group.unchained()
        a = _joined([self._collected(each, "a", self._read_a) for each in parts])
        b = _joined([self._collected(each, "b", self._read_b) for each in parts])
        index = None if plan.metadata is None else self._read_index(group, plan.metadata)
        scale_a = scale_b = None
        if plan.scales is not None:
            scales = [self._read_scales(each) for each in parts]
            scale_a, scale_b = _joined([each for each, _ in scales]), _joined([each for _, each in scales])
        arithmetic = multiplier(
            model_of(fields, self.arch), fields.negate_a, fields.negate_b, fields.saturate,
            divisor=record.scale_input_d,
        )  # fmt: skip
        self._multiply_parts(arithmetic, group, a, b, d, index, scale_a, scale_b)
        self._write_d(group, d)

    def _multiply_directly(self, group: _Group, keeps: NDArray[np.bool_]) -> bool:
        """Multiply with one compiled call. Return False, without an effect, if no compiled function can."""
        record, plan, matrices = group.record, group.plan, group.decoded.matrices
        if matrices is None:
            return False
        descriptors = [
            np.stack([each.values[name][group.which] for each in group.chain], axis=1) for name in matrices
        ]  # fmt: skip
        a = self._read_chain_a(group)[:, 0] if record.a_in_tensor else None
        wrong = tile_multiplications.execute(
            record, plan, self.arch, self.storage, self.shared, group.ctas, group.d, keeps,
            list(zip(matrices.values(), descriptors, strict=True)), a,
        )  # fmt: skip
        if wrong >= 0:  # the general path raises the fault
            return False
        for cta in group.ctas[:, 0].tolist() if self.collectors else ():
            self.collectors.pop((cta, record.collector[0]), None)
        return True

    def _multiply_parts(
        self, arithmetic: Multiplier, group: _Group, a: NDArray[Any], b: NDArray[Any], d: NDArray[Any],
        index: NDArray[Any] | None, scale_a: NDArray[Any] | None, scale_b: NDArray[Any] | None,
    ) -> None:  # fmt: skip
        """Compute d = A B + d. Each part of D uses its own copies of the operands.

        If all copies of each operand are equal, one call computes all of D. Otherwise, each group of lanes is computed
        separately and, if the copies of `scale_b` differ, each 32 lanes.

        Shapes: a and index (G, groups of lanes, M, …); b (G, N, K); d (G, M, N); scale_a (G, groups of lanes, M,
            factors); scale_b (G, quarters of the lanes, N, factors).
        """
        groups, m, n = len(group.plan.lanes), d.shape[1], d.shape[2]
        columns = [slice(number * n // groups, (number + 1) * n // groups) for number in range(groups)]
        a_copies = _distinct(a)
        index_copies = None if index is None else _distinct(index)
        a_scales, b_scales = (None if each is None else _distinct(each) for each in (scale_a, scale_b))
        operands = [each for each in (a_copies, index_copies, a_scales, b_scales) if each is not None]
        if all(each.shape[1] == 1 for each in operands):
            arithmetic(
                _copy(a_copies), b, d, index=_copy(index_copies), scale_a=_copy(a_scales), scale_b=_copy(b_scales),
                out=d, workers=self.workers,
            )  # fmt: skip
            return
        quarters = 1 if b_scales is None else b_scales.shape[1]
        rows = [slice(first, first + 32) for first in range(0, m, 32)] if quarters > 1 else [slice(0, m)]
        for lane_group, column in enumerate(columns):
            for quarter, row in enumerate(rows):
                d[:, row, column] = arithmetic(
                    _copy(a_copies, lane_group, row), np.ascontiguousarray(b[:, column]),
                    np.ascontiguousarray(d[:, row, column]), index=_copy(index_copies, lane_group, row),
                    scale_a=_copy(a_scales, lane_group, row), scale_b=_copy(b_scales, quarter, column),
                )  # fmt: skip

    def _collected(self, group: _Group, matrix: str, read: Any) -> NDArray[Any]:
        """Return A or B: the contents of its collector buffer, or the result of `read(group)`.

        Under the schedule `eager`, the matrix is always read. A kernel that changes the matrix after it has filled the
        buffer therefore has other results under `lazy` and `random`.

        Errors: Fault emulator.tensor-multiply for a use of a buffer that no earlier instruction has filled.
        """
        buffer, use = group.record.collector
        if not buffer.startswith(matrix):
            return read(group)
        keys = [(int(cta), buffer) for cta in group.ctas[:, 0]]
        found: NDArray[Any] | None = None
        if use in ("use", "lastuse"):
            for k, key in enumerate(keys):
                if key not in self.collectors and not (matrix == "a" and group.record.shifts_a):
                    message = (
                        f"the instruction has .collector::{buffer}::{use}, but no earlier instruction has filled the"
                        f" collector buffer {buffer}"
                    )
                    hint = f"give the first instruction of the sequence .collector::{buffer}::fill"
                    raise Fault(CODE, message, int(group.which[k]), hint)
            kept = [self.collectors[key] for key in keys if key in self.collectors]
            if self.lazy and len(kept) == len(keys):
                found = np.stack(kept)
        if found is None or found.shape[1:] != self._shape(group, matrix):
            found = read(group)
        assert found is not None
        for k, key in enumerate(keys):
            if use in ("fill", "use"):
                self.collectors[key] = found[k]
            else:
                self.collectors.pop(key, None)
        return found

    @staticmethod
    def _shape(group: _Group, matrix: str) -> tuple[int, ...]:
        fields = group.plan.fields
        if matrix == "b":
            return fields.n, fields.k
        return (len(group.plan.lanes) if group.record.a_in_tensor else 1), fields.m, fields.stored_k

    # Operands in tensor memory ----------------------------------------------------------------------------

    def _check_address(
        self, group: _Group, name: str, lane: Numbers, column: Numbers, groups: int, lanes: int, columns: int
    ) -> None:
        wrong = lane != 0 if len(group.plan.alignments) == 1 else lane & ~16 != 0
        if np.count_nonzero(wrong):
            k = int(wrong.argmax())
            fields = group.plan.fields
            legal = one_of(group.plan.alignments)
            message = (
                f"{name} begins at lane {int(lane[k])} of tensor memory in a multiplication with M = {fields.m} "
                f"(data path {group.plan.path}); expected lane {legal}"
            )
            raise Fault(CODE, message, int(group.which[k]))
        self._check(group, f"{name} of a multiplication", lane, lanes, column, columns)

    def _check(self, group: _Group, what: str, lane: Numbers, lanes: int, column: Numbers, columns: int) -> None:
        try:
            self.storage.check(what, group.ctas.reshape(-1), group.per_cta(lane), lanes, group.per_cta(column), columns)
        except Fault as fault:
            fault.lane = int(group.which[fault.lane // group.ctas.shape[1]])
            raise

    def _read_d(self, group: _Group) -> NDArray[Any]:
        fields = group.plan.fields
        lane, column = (group.per_cta(values) for values in group.d)
        out = np.empty((len(lane), fields.m // group.record.ctas, fields.n), np.uint32)
        compiled_copies.read_rows(self.storage.words, group.ctas.reshape(-1), lane, column, group.plan.lanes, out)
        words = out.reshape(len(group.which), fields.m, fields.n)
        dtype = STORAGE[fields.dtype]
        return words.view(dtype) if dtype.itemsize == 4 else words.astype(dtype)

    def _write_d(self, group: _Group, d: NDArray[Any]) -> None:
        fields, record = group.plan.fields, group.record
        lane, column = (group.per_cta(values) for values in group.d)
        words = d.view(np.uint32) if d.dtype.itemsize == 4 else d.astype(np.uint32)
        skipped = _NO_MASK
        if record.disabled is not None:
            bits = group.operations.values["disabled"][:, group.which]  # (words, operations)
            mask = bits[:, :, None] >> np.arange(32, dtype=np.uint32) & 1 != 0
            skipped = np.ascontiguousarray(mask.transpose(1, 0, 2).reshape(-1, 128))
        values = np.ascontiguousarray(words).reshape(len(lane), fields.m // record.ctas, fields.n)
        compiled_copies.write_rows(
            self.storage.words, group.ctas.reshape(-1), lane, column, group.plan.lanes, values, skipped
        )  # fmt: skip

    def _read_chain_a(self, group: _Group) -> NDArray[Any]:
        """Return the matrices A of a chain in tensor memory, joined along K.

        Shapes: (G, copies, M, steps * stored K).
        """
        steps = len(group.chain)
        addresses = np.stack([each.values["a"][group.which] for each in group.chain])
        offsets = group.plan.columns_of_a * np.arange(steps, dtype=addresses.dtype)
        if (addresses == addresses[0] + offsets[:, None]).all():
            return self._read_a(group, steps)
        return _joined([self._read_a(each) for each in group.unchained()])

    def _read_a(self, group: _Group, steps: int = 1) -> NDArray[Any]:
        """Return the stored elements of A, or of `steps` matrices A that are adjacent in tensor memory.

        Shapes: (G, copies, M, steps * stored K).
        """
        record, plan = group.record, group.plan
        fields = plan.fields
        ctas = group.ctas.reshape(-1)
        if not record.a_in_tensor:
            descriptors = group.operations.values["a"][group.which]
            matrix = record.matrix_a(plan, int(descriptors[0]))
            starts = group.per_cta(start_addresses(descriptors))
            elements = self._shared(group, matrix, ctas, starts)
            return elements.reshape(len(group.which), 1, fields.m, fields.stored_k)
        lane, column = group.address("a")
        groups, rows = plan.lanes.shape
        columns = steps * plan.columns_of_a
        self._check_address(group, "A", lane, column, groups, int(plan.lanes.max()) + 1, columns)
        out = np.empty((len(ctas), rows, groups * columns), np.uint32)
        compiled_copies.read_rows(self.storage.words, ctas, group.per_cta(lane), group.per_cta(column), plan.lanes, out)
        raw = out.reshape(-1, record.ctas, rows, groups, columns).transpose(0, 3, 1, 2, 4)
        raw = np.ascontiguousarray(raw).reshape(len(group.which), groups, fields.m, columns)
        if record.shifts_a:
            raw = shifted(raw, rows)
        if fields.is_packed_4bit:
            return unpack_fours(raw.view(np.uint8), padded=False)
        elements = raw.view(STORAGE[fields.atype])
        if fields.atype == "e2m1":
            return elements >> 2 & 15  # the middle four bits of the container
        return elements & 63 if fields.atype in ("e2m3", "e3m2") else elements

    def _read_b(self, group: _Group) -> NDArray[Any]:
        """Return B. Shapes: (G, N, K)."""
        record, plan = group.record, group.plan
        fields = plan.fields
        descriptors = group.operations.values["b"][group.which]
        mask, shift = None, 0
        if record.zero_columns is not None:
            word = int(group.operations.values["zero_columns"][group.which[0]])
            mask, shift = zero_columns(word, fields.m, fields.n)
        matrix = record.matrix_b(plan, int(descriptors[0]), -(-shift // 16) * 16)  # a chunk has up to 16 columns
        starts = group.per_cta(start_addresses(descriptors))
        elements = self._shared(group, matrix, group.ctas.reshape(-1), starts)
        if mask is not None:
            elements = np.ascontiguousarray(elements[:, shift : shift + fields.n])
            elements[:, mask] = 0
        return elements.reshape(len(group.which), fields.n, fields.k)

    def _shared(self, group: _Group, matrix: Any, ctas: Numbers, starts: Numbers) -> NDArray[Any]:
        try:
            return read_matrix(self.shared, matrix, ctas, starts)
        except Fault as fault:
            fault.lane = int(group.which[fault.lane // group.ctas.shape[1]])
            raise

    def _read_map(self, group: _Group, map: TensorMemoryMap, name: str, what: str) -> NDArray[np.uint8]:
        """Return the elements, of at most 8 bits, of an operand in tensor memory.

        `map` describes the locations of the elements. `name` is the name of the operand with the address. `what` names
        the operand in a message.

        Shapes: (G, copies, rows, columns).
        """
        lane, column = group.address(name)
        lanes, columns = int(map.lane.max()) + 1, int(map.column.max()) + 1
        self._check(group, what, lane, lanes, column, columns)
        ctas = group.ctas[:, map.cta.reshape(-1)].reshape(len(lane), *map.cta.shape)
        expand = (slice(None), *[None] * map.lane.ndim)
        words = self.storage.words[ctas, lane[expand] + map.lane, column[expand] + map.column]
        return (words >> map.bit.astype(np.uint32) & np.uint32((1 << map.bits) - 1)).astype(np.uint8)

    def _read_index(self, group: _Group, metadata: TensorMemoryMap) -> NDArray[np.int16]:
        """Return the index along K of each stored element of a sparse A. Shapes: (G, copies, M, K / 2)."""
        nibbles = self._read_map(group, metadata, "metadata", "the metadata matrix of a multiplication")
        legal = defined_metadata(group.plan.fields)
        defined = np.isin(nibbles, legal)
        if not defined.all():
            number, _, row, column = (int(part[0]) for part in np.nonzero(~defined))
            chunk = group.plan.chunk
            message = (
                f"the metadata of A have {nibbles[~defined][0]:#06b} for row {row}, elements {chunk * column} to "
                f"{chunk * column + chunk - 1}; expected {one_of(f'{each:#06b}' for each in legal)}"
            )
            raise Fault(CODE, message, int(group.which[number]))
        empty = np.zeros((metadata.rows, metadata.cols), np.int32)
        decoder = MetadataMap("", group.plan.fields.k, group.plan.chunk, empty, empty)
        return decoder.indices(nibbles)

    def _read_scales(self, group: _Group) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the scale factors of A for each group of lanes, and those of B for each quarter of the lanes.

        Shapes: (G, groups of lanes, M, factors) and (G, quarters, N, factors).
        """
        assert group.plan.scales is not None
        map_a, map_b = group.plan.scales
        copies_a = self._read_map(group, map_a, "scale_a", "the matrix of scale factors of A")
        copies_b = self._read_map(group, map_b, "scale_b", "the matrix of scale factors of B")
        # A quarter of the lanes uses its own copy. The quarters of a group of lanes hold 32 rows each.
        row, groups = np.arange(map_a.rows), len(group.plan.lanes)
        quarter = row % (map_a.rows // group.record.ctas) // 32 + np.arange(groups)[:, None] * (4 // groups)
        return np.ascontiguousarray(copies_a[:, quarter, row]), np.ascontiguousarray(copies_b.swapaxes(2, 3))


def can_chain(record: TensorMultiply) -> bool:
    """Return True if a multiplication with these modifiers may belong to a chain."""
    return (
        record.collector[1] == "discard"
        and not record.sparse and not record.stationary and not record.shifts_a and record.disabled is None
    )  # fmt: skip


def _descriptors(
    record: TensorMultiply, values: dict[str, NDArray[Any]], *, with_starts: bool = False
) -> list[NDArray[np.uint64]]:
    """Return the instruction descriptors, the matrix descriptors and the zero-column masks.

    The matrix descriptors are those of B and then of A. Without `with_starts`, their start addresses are 0.
    """
    names = ("b",) if record.a_in_tensor else ("b", "a")
    mask = np.uint64((1 << 64) - 1 if with_starts else (1 << 64) - 1 - _START)
    found = [values["idesc"].astype(np.uint64), *[values[name] & mask for name in names]]
    return found if record.zero_columns is None else [*found, values["zero_columns"].astype(np.uint64)]


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Join arrays along their last axis."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)


def _split(addresses: NDArray[Any]) -> tuple[Numbers, Numbers]:
    at = addresses.astype(np.int64)
    return at >> LANE_SHIFT, at & COLUMN_MASK


def _distinct(copies: NDArray[Any]) -> NDArray[Any]:
    """Return the copies (second axis), or only the first copy if all are equal."""
    return copies[:, :1] if copies.shape[1] > 1 and (copies == copies[:, :1]).all() else copies


def _copy(copies: NDArray[Any] | None, number: int = 0, rows: slice = _ALL) -> Any:
    """Return some rows of copy `number`, or of the only copy. Return None for an absent operand."""
    return None if copies is None else np.ascontiguousarray(copies[:, min(number, copies.shape[1] - 1), rows])


def shifted(rows: NDArray[np.uint32], per_cta: int) -> NDArray[np.uint32]:
    """Move row i + 1 of A to row i in each CTA. The last row stays. Shapes: (…, M, words of a row)."""
    parts = rows.reshape(*rows.shape[:-2], -1, per_cta, rows.shape[-1]).copy()
    parts[..., :-1, :] = parts[..., 1:, :].copy()
    return parts.reshape(rows.shape)
