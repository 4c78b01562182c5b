"""Tensor memory maps: the CTA, lane, column and bit of every element of an operand.

Each CTA has a tensor memory of 128 lanes and up to 512 columns of 32 bits. In the formulas `own` is the number of a row
within its CTA.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import one_of
from warploom.layout.element_map import ElementMap, read_only
from warploom.layout.fragment import FragmentMap
from warploom.layout.instruction import InstructionDescriptor
from warploom.layout.maps import TYPE_BITS
from warploom.lazy_dataclass import dataclass

TENSOR_LANES = 128
TENSOR_COLUMNS = 512
LANE_GROUPS = {"B": 2, "E": 2, "G": 4}
"""Number of groups of lanes that hold different columns of D, for the data paths with more than one.

Each group has its own copies of A and of the metadata.
"""
_HALF_WORD_METADATA = ("f16", "tf32")  # kinds with metadata in half words, and with a selector


@dataclass(frozen=True, eq=False, repr=False)
class TensorMemoryMap(ElementMap):
    """Map (row, col) -> CTA, lane, column and bit of tensor memory, for one operand.

    `cta` is 0, or 1 for the odd CTA of a pair.

    Shapes: `cta`, `lane`, `column` and `bit` are (copies, rows, cols).
    Units: `column` in words of 32 bits, and `lane` in lanes, both counted from the address of the operand. `bit` is the
        lowest bit of the element in its word, and `bits` the number of bits that an element takes.
    Source: PTX ISA 9.7.16.1, 9.7.16.10.
    """

    cta: NDArray[np.int32]
    lane: NDArray[np.int32]
    column: NDArray[np.int32]
    bit: NDArray[np.int32]

    @property
    def copies(self) -> int:
        """Number of positions in tensor memory at which each element is stored."""
        return self.lane.shape[0]

    @property
    def ctas(self) -> int:
        """Number of CTAs that hold the matrix, 1 or 2."""
        return int(self.cta.max()) + 1

    def locations(self, row: int, col: int) -> tuple[tuple[int, int, int, int], ...]:
        """Return the (CTA, lane, column, bit) of every copy of an element, in ascending order."""
        self.check_element(row, col)
        found = zip(*(part[:, row, col].tolist() for part in (self.cta, self.lane, self.column, self.bit)))
        return tuple(sorted((int(a), int(b), int(c), int(d)) for a, b, c, d in found))

    def elements(self, lane: int, column: int, cta: int = 0) -> tuple[tuple[int, int], ...]:
        """Return the (row, col) of every element in one word of tensor memory, from the low bits up.

        Errors: UsageError for a lane or a CTA that does not exist.
        """
        if not 0 <= lane < TENSOR_LANES:
            raise UsageError(f"tensor memory has no lane {lane}; expected 0 to {TENSOR_LANES - 1}")
        if not 0 <= cta < self.ctas:
            raise UsageError(f"{self.name}: there is no CTA {cta}; expected 0 to {self.ctas - 1}")
        matches = (self.lane == lane) & (self.column == column) & (self.cta == cta)
        _, rows, cols = np.nonzero(matches)
        order = np.argsort(self.bit[matches], kind="stable")
        return tuple((int(rows[k]), int(cols[k])) for k in order)

    def cells(self) -> list[list[str]]:
        """Return the locations of each element as text, by row and column."""
        return [
            [" ".join(location_text(*at, self.ctas) for at in self.locations(row, col)) for col in range(self.cols)]
            for row in range(self.rows)
        ]


def location_text(cta: int, lane: int, column: int, bit: int, ctas: int) -> str:
    """Return a location in tensor memory as text: `L3.5:16` is bit 16 of column 5 in lane 3.

    If `ctas` is 2, the text begins with the CTA: `0/L3.5:16`.
    """
    return (f"{cta}/" if ctas > 1 else "") + f"L{lane}.{column}" + (f":{bit}" if bit else "")


def data_path(fields: InstructionDescriptor, ctas: int, *, stationary: bool = False) -> str:
    """Return the letter of the data path layout of a multiplication, "A" to "G".

    `fields` is the instruction descriptor. `ctas` is the number of CTAs that multiply together, 1 or 2. `stationary` is
    True for a weight-stationary multiplication (`.ws`).

    Errors: UsageError for an M or an N that the multiplication does not support.
    Source: PTX ISA 9.7.16.2.1 (shapes), 9.7.16.10.5.
    """
    m, n = fields.m, fields.n
    sparse = fields.sparse
    if stationary:
        legal_m, legal_n = (32, 64, 128), (64, 128) if sparse else (64, 128, 256)
    else:
        legal_m = (128,) if fields.is_scaled else (64, 128)
        if ctas == 2:
            legal_m = (256,) if fields.is_scaled and sparse else (128, 256)
        if fields.kind == "i8":
            legal_n = tuple(range(32, 257, 32)) if ctas == 2 else (8, 16, 24, *range(32, 257, 16))
        else:
            legal_n = tuple(range(8 * ctas, 257, 8 * ctas))
    how = "weight-stationary" if stationary else "by a pair of CTAs" if ctas == 2 else "by one CTA"
    for name, value, legal in (("M", m, legal_m), ("N", n, legal_n)):
        if value not in legal:
            raise UsageError(
                f"{name} is {value} in the instruction descriptor of a {'sparse' if sparse else 'dense'}"
                f" multiplication of kind {fields.kind} {how}; expected {_listed(legal)}"
            )
    if stationary:
        return {32: "G", 64: "E", 128: "D"}[m]
    if ctas == 1:
        return {64: "F", 128: "D"}[m]
    return {128: "C" if sparse else "B", 256: "A"}[m]


def accumulator(fields: InstructionDescriptor, ctas: int, *, stationary: bool = False) -> TensorMemoryMap:
    """Return the tensor memory map of D. Each element has its own word, even an element of 16 bits.

    The parameters are those of `data_path`. Source: PTX ISA 9.7.16.10.4.1, 9.7.16.10.5.
    """
    path = data_path(fields, ctas, stationary=stationary)
    cta, own, col = _rows(fields.m, ctas, fields.n)
    # "B" and "E" hold the second half of the columns in lanes 64 to 127; "G" holds each quarter in 32 lanes.
    groups = LANE_GROUPS.get(path, 1)
    width = fields.n // groups
    lane = _lane_of(own, path) + col // width * (TENSOR_LANES // groups)
    return _map(f"D, data path {path}", fields, fields.dtype, TYPE_BITS[fields.dtype], cta, lane, col % width, 0)


def multiplicand(fields: InstructionDescriptor, ctas: int, *, stationary: bool = False) -> TensorMemoryMap:
    """Return the tensor memory map of A, or of the stored elements of a sparse A.

    The parameters are those of `data_path`. The copies of A for M = 32 are inferred from those for M = 64.

    Errors: UsageError for an MN-major A.
    Source: PTX ISA 9.7.16.10.2, 9.7.16.10.4, 9.7.16.10.5; CUTLASS 4 (tmem_frg).
    """
    path = data_path(fields, ctas, stationary=stationary)
    if fields.a_major != "K":
        raise UsageError("A in tensor memory is MN-major in the instruction descriptor; expected K-major")
    bits = 4 if fields.is_packed_4bit else TYPE_BITS[fields.atype]
    cta, own, col = _rows(fields.m, ctas, fields.stored_k)
    per_word = 32 // bits
    # Each group of lanes computes other columns of D, from its own copy of A.
    groups = LANE_GROUPS.get(path, 1)
    copies = [_lane_of(own, path) + TENSOR_LANES // groups * group for group in range(groups)]
    column, bit = col // per_word, col % per_word * bits
    return _map(f"A, data path {path}", fields, fields.atype, bits, cta, np.stack(copies), column, bit)


def sparsity(fields: InstructionDescriptor, ctas: int, *, stationary: bool = False) -> TensorMemoryMap:
    """Return the tensor memory map of the metadata of a sparse A.

    An element of the map is a nibble (see `MetadataMap`). The parameters are those of `data_path`. For 64 rows per CTA
    without `stationary`, the manual shows the layout only in a figure. The map is inferred from the one for 128 rows:
    16 rows have 16 of 32 lanes, as in D.

    Errors: UsageError for an unknown selector.
    Source: PTX ISA 9.7.16.10.8; CUTLASS 4 (tmem_e_frg, tmem_e_frg_ws).
    """
    path = data_path(fields, ctas, stationary=stationary)
    has_halves = fields.kind in _HALF_WORD_METADATA
    most = 1 if has_halves else 0
    if fields.selector > most:
        raise UsageError(
            f"the sparsity selector is {fields.selector}; expected {'0 or 1' if most else '0'} for kind {fields.kind}"
        )
    cta, own, col = _rows(fields.m, ctas, fields.k // chunk_of(fields))
    if has_halves:
        # Of 16 rows, 8 are in the low half words and 8 in the high; the second half of K is in other lanes.
        lane = _lane_of(own // 16 * 16, path) + col // 4 * 8 + own % 8
        column, bit = np.full_like(lane, fields.selector), own // 8 % 2 * 16 + col % 4 * 4
    else:
        lane, column, bit = _lane_of(own, path) + 0 * col, col // 8, col % 8 * 4
    groups = LANE_GROUPS.get(path, 1)
    copies = np.stack([lane + TENSOR_LANES // groups * group for group in range(groups)])
    return _map(f"metadata, data path {path}", fields, fields.atype, 4, cta, copies, column, bit)


def chunk_of(fields: InstructionDescriptor) -> int:
    """Return the number of elements of a sparse A that a nibble of metadata describes (see `MetadataMap`)."""
    return {"tf32": 2}.get(fields.kind, 8 if fields.is_packed_4bit else 4)


def defined_metadata(fields: InstructionDescriptor) -> tuple[int, ...]:
    """Return the nibbles of the metadata of a sparse A for which the result is defined.

    Source: PTX ISA 9.7.16.10.8.1 to 9.7.16.10.8.3.
    """
    return (0b0100, 0b1110) if fields.kind == "tf32" else (0b0100, 0b0110, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110)


def scales(fields: InstructionDescriptor, operand: str, factors: int, ctas: int) -> TensorMemoryMap:
    """Return the tensor memory map of the scale factors of operand "A" or "B".

    `factors` is the number of factors in a row of A or a column of B. Each CTA of a pair holds all factors of B. With M
    = 128, lanes 0 to 63 of a pair hold the factors for the first half of the columns, and the other lanes those for the
    second half, as in CUTLASS. For K = 96, the factors are consecutive bytes from the id on. The bytes after the fourth
    are in the columns behind those of all rows; this is inferred. `fields` and `ctas` are those of `data_path`.

    Shapes: (M, factors) for A, (factors, N) for B.
    Errors: UsageError for an unknown scale factor id, and for the type ue4m3 with blocks of 32 elements.
    Source: PTX ISA 9.7.16.10.7; CUTLASS 4 (tmem_sf_frg).
    """
    path = data_path(fields, ctas)
    if fields.scale_type == "ue4m3" and fields.k // factors // (1 + fields.sparse) != 16:
        raise UsageError(f"{factors} scale factors have type ue4m3; expected type ue8m0, or 4 factors")
    byte = fields.scale_a_id if operand == "A" else fields.scale_b_id
    legal = {3: range(4), 6: range(0, 4, 2)}.get(factors, range(0, 4, factors))
    if byte not in legal:
        ids = ", ".join(map(str, legal))
        raise UsageError(f"the id of scale {operand} is {byte}; expected {ids} for {factors} factors")
    groups = 1
    if operand == "A":
        cta, own, item = _rows(fields.m, ctas, factors)
        copies = [(cta, slab) for slab in range(4)]  # every group of 32 lanes has a copy of each factor
    else:
        item, own = np.indices((factors, fields.n), dtype=np.int32)
        groups = 2 if path == "B" else 1
        copies = [(np.int32(cta), slab) for cta in range(ctas) for slab in range(4 // groups)]
    half = own // (fields.n // groups) if groups == 2 else 0 * own
    own = own - half * (fields.n // groups)
    lane = np.stack([own % 32 + 32 * slab + 64 * half + 0 * item for _, slab in copies])
    of_cta = np.stack([cta + 0 * own + 0 * item for cta, _ in copies])
    at = item + byte
    rows = fields.m // ctas if operand == "A" else fields.n // groups
    column, bit = own // 32 + at // 4 * -(-rows // 32), 8 * (at % 4) + 0 * own
    return _map(f"scale {operand}", fields, fields.scale_type, 8, of_cta, lane, column, bit)


@cache
def transfer_fragment(shape: str, num: int, *, packed: bool = False) -> FragmentMap:
    """Return the map from registers of a warp to tensor memory, for a load or a store.

    `shape` is a name such as "32x32b", and `num` the number of its repetitions. A row of the map is a lane of tensor
    memory. A `packed` register holds two elements: the low halves of two columns.

    Errors: UsageError for an unknown shape.
    Source: PTX ISA 9.7.16.2.3, 9.7.16.8.2.
    """
    t, r = np.indices((32, num * {"16x128b": 2, "16x256b": 4}.get(shape, 1)), dtype=np.int32)
    shapes = {
        "32x32b": (t, r),
        "16x64b": (t // 4 + 8 * (t % 2), t // 2 % 2 + 2 * r),
        "16x128b": (t // 4 + 8 * (r % 2), t % 4 + 4 * (r // 2)),
        "16x256b": (t // 4 + 8 * (r // 2 % 2), r % 2 + 2 * (t % 4) + 8 * (r // 4)),
        # The second half may begin at any column; the map shows it behind the first.
        "16x32bx2": (t % 16, t // 16 * num + r),
    }
    if shape not in shapes:
        raise UsageError(f"unknown shape {shape!r} of a tensor memory load or store; expected {', '.join(shapes)}")
    row, col = shapes[shape]
    if packed:
        row = row.repeat(2, axis=1)
        col = (2 * col[:, :, None] + np.arange(2, dtype=np.int32)).reshape(row.shape)
    rows, cols = int(row.max()) + 1, int(col.max()) + 1
    legend = f"(T32,V{row.shape[1]}) -> (L{rows},C{cols})" + (", of each column the low half" if packed else "")
    name = f"tcgen05 {shape}.x{num}{' packed' if packed else ''} R"
    read_only(row, col)
    return FragmentMap(name, legend, rows, cols, 16 if packed else 32, row, col)


def row_lanes(fields: InstructionDescriptor, ctas: int, path: str) -> NDArray[np.int64]:
    """Return the lane of each row of D and of A, in each group of lanes of a CTA (see `LANE_GROUPS`).

    Shapes: (groups, rows of a CTA).
    """
    groups = LANE_GROUPS.get(path, 1)
    lane = _lane_of(np.arange(fields.m // ctas, dtype=np.int32), path)
    return (np.arange(groups)[:, None] * (TENSOR_LANES // groups) + lane).astype(np.int64)


def _rows(m: int, ctas: int, cols: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return the CTA, the row within the CTA, and the column of every element. Shapes: each (m, cols)."""
    row, col = np.indices((m, cols), dtype=np.int32)
    return row // (m // ctas), row % (m // ctas), col


def _lane_of(own: NDArray[np.int32], path: str) -> NDArray[np.int32]:
    """Return the lane of row `own` of a CTA. In data paths C and F, 32 lanes hold 16 rows."""
    return own // 16 * 32 + own % 16 if path in "CF" else own


def _map(
    operand: str,
    fields: InstructionDescriptor,
    element: str,
    bits: int,
    cta: NDArray[np.int32] | int,
    lane: NDArray[np.int32],
    column: NDArray[np.int32],
    bit: NDArray[np.int32] | int,
) -> TensorMemoryMap:
    if lane.ndim == 2:
        lane = lane[None]
    parts = [np.broadcast_to(np.asarray(part, np.int32), lane.shape) for part in (cta, lane, column, bit)]
    read_only(*parts)
    _, rows, cols = lane.shape
    shape = f"m{fields.m}n{fields.n}k{fields.k}"
    name = f"tcgen05{' sparse' if fields.sparse else ''} {shape} {element} {operand}"
    ctas = "CTA, " if parts[0].max() else ""
    legend = f"({rows},{cols}) -> {ctas}lane, column" + (f", {len(lane)} copies" if len(lane) > 1 else "")
    return TensorMemoryMap(name, legend, rows, cols, bits, *parts)


def _listed(values: tuple[int, ...]) -> str:
    if len(values) > 4:
        steps = values[1] - values[0], values[-1] - values[-2]
        if steps[0] == steps[1]:
            return f"{values[0]} to {values[-1]} by {steps[0]}"
        return f"{values[0]} to 32 by {steps[0]}, then to {values[-1]} by {steps[1]}"
    return one_of(values)
