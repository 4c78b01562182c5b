"""NumPy model of multiplications in tensor memory, written from the manual's formulas and independent of `warploom`.

The model computes in float64 and int64. The test cases use small numbers, so that all sums are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

FLOATS = {  # name -> bits, exponent bits, mantissa bits
    "f16": (16, 5, 10), "bf16": (16, 8, 7), "tf32": (32, 8, 23), "e4m3": (8, 4, 3), "e5m2": (8, 5, 2),
    "e3m2": (6, 3, 2), "e2m3": (6, 2, 3), "e2m1": (4, 2, 1), "ue8m0": (8, 8, 0), "ue4m3": (8, 4, 3), "f32": (32, 8, 23),
}  # fmt: skip
KINDS = {  # kind -> K of a dense A, codes of A and B, codes of D
    "f16": (16, {"f16": 0, "bf16": 1}, {"f16": 0, "f32": 1}),
    "tf32": (8, {"tf32": 2}, {"f32": 1}),
    "f8f6f4": (32, {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}, {"f16": 0, "f32": 1}),
    "i8": (32, {"u8": 0, "s8": 1}, {"s32": 2}),
    "mxf8f6f4": (32, {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}, {"f32": 1}),
    "mxf4": (64, {"e2m1": 1}, {"f32": 1}),
    "mxf4nvf4": (64, {"e2m1": 1}, {"f32": 1}),
}


def values_of(codes: np.ndarray, element: str) -> np.ndarray:
    """Return the values of element codes."""
    if element in ("u8", "s8"):
        return codes.astype(np.uint8).view(np.int8 if element == "s8" else np.uint8).astype(np.float64)
    bits, exponent_bits, mantissa_bits = FLOATS[element]
    codes = codes.astype(np.int64)
    signed = not element.startswith("u")
    mantissa = codes & (1 << mantissa_bits) - 1
    exponent = codes >> mantissa_bits & (1 << exponent_bits) - 1
    bias = (1 << exponent_bits - 1) - 1
    if element == "ue8m0":
        return 2.0 ** (exponent - bias)
    magnitude = np.where(
        exponent > 0,
        (mantissa + (1 << mantissa_bits)) * 2.0 ** (exponent - bias - mantissa_bits),
        mantissa * 2.0 ** (1 - bias - mantissa_bits),
    )
    return np.where((codes >> bits - 1 & 1 == 1) & signed, -magnitude, magnitude)


@dataclass
class Case:
    """One multiplication: the modifiers, the fields of the descriptors, and the addresses."""

    kind: str
    ctas: int
    sparse: bool
    stationary: bool
    a_in_tensor: bool
    m: int
    n: int
    atype: str
    btype: str
    dtype: str
    negate: tuple[int, int] = (0, 0)
    major: tuple[int, int] = (0, 0)  # 1: MN-major
    selector: int = 0
    saturate: int = 0
    scale_type: str = ""
    scale_ids: tuple[int, int] = (0, 0)
    factors: int = 0
    k96: int = 0
    keeps: int = 1
    scale_input_d: int = 0
    shifts: bool = False
    disabled: list[int] | None = None
    zero_columns: int | None = None
    start: dict[str, int] = field(default_factory=dict)  # A and B: start address
    leading: dict[str, int] = field(default_factory=dict)
    stride: dict[str, int] = field(default_factory=dict)
    swizzle: dict[str, int] = field(default_factory=dict)  # 0, 32, 64, 128, or 129 for 128 bytes in atoms of 32
    base: dict[str, int] = field(default_factory=dict)
    second: dict[str, int] = field(default_factory=dict)  # absolute address of the chunks beyond 128 bytes
    at: dict[str, int] = field(default_factory=dict)  # d, a, meta, scale_a, scale_b: address in tensor memory

    @property
    def k(self) -> int:
        return 96 if self.k96 else KINDS[self.kind][0] * (1 + self.sparse)

    @property
    def stored_k(self) -> int:
        return self.k // (1 + self.sparse)

    @property
    def packed(self) -> bool:
        return self.kind in ("mxf4", "mxf4nvf4")

    def idesc(self) -> int:
        _, inputs, sums = KINDS[self.kind]
        word = self.sparse << 2 | inputs[self.atype] << 7 | inputs[self.btype] << 10
        word |= self.negate[0] << 13 | self.negate[1] << 14 | self.major[0] << 15 | self.major[1] << 16
        word |= self.n >> 3 << 17
        if self.scale_type:
            word |= self.scale_ids[1] << 4 | (self.scale_type == "ue8m0") << 23 | self.m >> 7 << 27
            return word | self.scale_ids[0] << 29 | self.k96 << 31
        return word | self.selector | self.saturate << 3 | sums[self.dtype] << 4 | self.m >> 4 << 24

    def descriptor(self, name: str) -> int:
        code = {0: 0, 129: 1, 128: 2, 64: 4, 32: 6}[self.swizzle[name]]
        leading = self.second.get(name, self.leading[name])
        word = (self.start[name] & 0x3FFFF) >> 4 | leading >> 4 << 16 | self.stride[name] >> 4 << 32
        return word | 1 << 46 | (name in self.second) << 52 | self.base[name] << 49 | code << 61


def shared_codes(case: Case, name: str, memory: np.ndarray, rows: int, k: int, element: str, major: int) -> np.ndarray:
    """Return the element codes of a matrix in the shared memory of one CTA. `memory` starts at the address 0."""
    bits = FLOATS[element][0] if element in FLOATS else 8
    row, at = np.indices((rows, k))
    swizzle = case.swizzle[name]
    span = {0: 16, 129: 128}.get(swizzle, swizzle)
    leading, stride = case.leading[name], case.stride[name]
    if bits < 8 and not case.packed:
        byte, bit = at // 16 * 16 + at % 16 * bits // 8, at % 16 * bits % 8
    else:
        byte, bit = at * bits // 8, at * bits % 8
    if major == 0:
        address = row % 8 * span + row // 8 * stride + byte % span + byte // span * leading
    else:
        byte, bit = row * bits // 8, 0 * row
        depth = 4 if swizzle == 129 else 8
        across, along = (leading, stride) if swizzle == 0 else (stride, leading)
        address = at % depth * span + at // depth * across + byte % span + byte // span * along
    # A byte of a chunk keeps its position: the swizzle moves chunks of 16 (or 32) bytes.
    address = address + case.start[name]
    if name in case.second:
        within = (case.start[name] & 127) + byte
        beyond = case.second[name] + row % 8 * span + row // 8 * stride + within - 128
        address = np.where(within >= 128, beyond, address)
    line = (address >> 7) - case.base[name]
    if swizzle == 129:
        address ^= (line & 3) << 5
    elif swizzle:
        address ^= (line & swizzle // 16 - 1) << 4
    size = max(bits, 8) // 8 + (bits == 6)
    word = sum(memory[address + i].astype(np.int64) << 8 * i for i in range(size))
    return word >> bit & (1 << bits) - 1


def lane_of(case: Case, row: np.ndarray, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lane and the column of elements of D, within their CTA. `row` counts the rows of the CTA."""
    groups = groups_of(case)
    width = case.n // groups
    if groups == 1 and not case.stationary and case.m // case.ctas == 64:
        row = row // 16 * 32 + row % 16
    return row + 128 // groups * (column // width), column % width


def groups_of(case: Case) -> int:
    """Return the number of groups of lanes that compute different columns of D."""
    if case.stationary:
        return {32: 4, 64: 2, 128: 1}[case.m]
    return 2 if case.ctas == 2 and case.m == 128 and not case.sparse else 1


def multiply(case: Case, shared: list[np.ndarray], tensor: list[np.ndarray]) -> list[np.ndarray]:
    """Return the tensor memory of each CTA after a multiplication. Each array is (128, 512)."""
    ctas, m, n, k = case.ctas, case.m, case.n, case.k
    own, groups = m // ctas, groups_of(case)
    mask, shift = np.zeros(n, bool), 0
    if case.zero_columns is not None:
        mask, shift = zero_mask(case.zero_columns, m, n)
    extra = -(-shift // 16) * 16
    parts = [
        shared_codes(case, "b", memory, n // ctas + extra, k, case.btype, case.major[1])[shift : shift + n // ctas]
        for memory in shared
    ]
    b = values_of(np.concatenate(parts), case.btype)
    b[mask] = 0
    sign = -1.0 if case.negate[0] != case.negate[1] else 1.0
    out = [words.copy() for words in tensor]
    for cta in range(ctas):
        r, c = np.indices((own, n))
        lane, column = lane_of(case, r, c)
        total = np.zeros((own, n))
        for group in range(groups):
            columns = slice(group * (n // groups), (group + 1) * (n // groups))
            a = rows_of_a(case, cta, group, shared[cta], tensor[cta])
            quarter = lane[:, columns.start] // 32
            for q in np.unique(quarter):
                rows = np.flatnonzero(quarter == q)
                for f in range(max(case.factors, 1)):
                    per = slice(f * k // max(case.factors, 1), (f + 1) * k // max(case.factors, 1))
                    left, right = a[rows][:, per], b[columns, per]
                    if case.factors:
                        left = left * scale_of(case, "scale_a", tensor[cta], rows, f, own, int(q))[:, None]
                        of = np.arange(n)[columns]
                        right = right * scale_of(case, "scale_b", tensor[cta], of, f, n, int(q))[:, None]
                    total[rows, columns] += left @ right.T
        lane, column = lane + (case.at["d"] >> 16), column + (case.at["d"] & 0xFFFF)
        words = tensor[cta][lane, column]
        found = finish(case, sign * total, words)
        if case.disabled is not None:
            bits = np.array(case.disabled[4 * cta : 4 * cta + 4])
            found = np.where(bits[lane // 32] >> lane % 32 & 1 == 1, words, found)
        out[cta][lane, column] = found
    return out


def finish(case: Case, total: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Return the words of D. All floating-point results must be exact."""
    if case.keeps:
        if case.dtype == "s32":
            total = total + words.view(np.int32)
        else:
            old = values_of(words & 0xFFFF, "f16") if case.dtype == "f16" else values_of(words, "f32")
            total = total + old * 2.0**-case.scale_input_d
    if case.dtype == "s32":
        if case.saturate:
            total = np.clip(total, -(2**31), 2**31 - 1)
        return (total.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32)
    kind, bits = (np.float16, np.uint16) if case.dtype == "f16" else (np.float32, np.uint32)
    found = total.astype(kind)
    assert (found == total).all()
    return (found + kind(0)).view(bits).astype(np.uint32)


def rows_of_a(case: Case, cta: int, group: int, shared: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Return the rows of A of one CTA, with the zeros of a sparse A, as one group of lanes reads them."""
    own = case.m // case.ctas
    if not case.a_in_tensor:
        codes = shared_codes(case, "a", shared, own, case.stored_k, case.atype, case.major[0])
    else:
        bits = 4 if case.packed else {"tf32": 32, "f16": 16}.get(case.kind, 8)
        row, at = np.indices((own, case.stored_k))
        if case.shifts:
            row = np.minimum(row + 1, own - 1)
        lane = lane_of(case, row, np.full_like(row, group * (case.n // groups_of(case))))[0]
        word = words[lane + (case.at["a"] >> 16), (case.at["a"] & 0xFFFF) + at * bits // 32].astype(np.int64)
        codes = word >> at * bits % 32 & (1 << bits) - 1
        if bits == 8 and case.atype == "e2m1":
            codes = codes >> 2 & 15
        elif bits == 8 and case.atype in ("e2m3", "e3m2"):
            codes &= 63
    stored = values_of(codes, case.atype)
    return expand(case, stored, words, group) if case.sparse else stored


def expand(case: Case, stored: np.ndarray, words: np.ndarray, group: int) -> np.ndarray:
    """Return the rows of a sparse A with their zeros."""
    own = len(stored)
    chunk = {"tf32": 2}.get(case.kind, 8 if case.packed else 4)
    row, c = np.indices((own, case.k // chunk))
    spread = not case.stationary and own == 64
    if case.kind in ("f16", "tf32"):
        lane = row // 16 * (32 if spread else 16) + c // 4 * 8 + row % 8
        column, bit = np.full_like(c, case.selector), row // 8 % 2 * 16 + c % 4 * 4
    else:
        lane, column, bit = row // 16 * (32 if spread else 16) + row % 16, c // 8, c % 8 * 4
    if case.stationary:
        lane = lane + group * case.m
    nibble = words[lane + (case.at["meta"] >> 16), column + (case.at["meta"] & 0xFFFF)].astype(np.int64) >> bit & 15
    full = np.zeros((own, case.k))
    for i, index in enumerate((nibble & 3, nibble >> 2)):
        if chunk == 2 and i == 0:
            full[row, 2 * c + (index >> 1)] = stored[row, c]
        elif chunk == 4:
            full[row, 4 * c + index] = stored[row, 2 * c + i]
        elif chunk == 8:
            for j in range(2):
                full[row, 8 * c + 2 * index + j] = stored[row, 4 * c + 2 * i + j]
    return full


def scale_of(
    case: Case, name: str, words: np.ndarray, row: np.ndarray, item: int, rows: int, quarter: int
) -> np.ndarray:
    """Return the scale factors of rows of A or columns of B. `quarter` is the group of 32 lanes that uses them."""
    if name == "scale_b" and groups_of(case) == 2:
        rows //= 2
        row = row % rows
    byte = case.scale_ids[name == "scale_b"] + item
    column = (case.at[name] & 0xFFFF) + row // 32 + byte // 4 * -(-rows // 32)
    codes = words[(case.at[name] >> 16) + row % 32 + 32 * quarter, column] >> np.uint32(8 * (byte % 4)) & 255
    return values_of(codes & 127 if case.scale_type == "ue4m3" else codes, case.scale_type)


def zero_mask(descriptor: int, m: int, n: int) -> tuple[np.ndarray, int]:
    """Return the zero columns of B and the column shift, by the examples of the manual."""
    parts = {128: 1, 64: 2, 32: 4}[m]
    skip, use = (descriptor >> 40 & 255) + 1, (descriptor >> 48 & 255) + 1
    mask: list[int] = []
    for part in range(parts):
        bits: list[int] = []
        value = descriptor >> 32 + part & 1
        while len(bits) < n + 256:
            bits += [value] * (skip if value else use)
            value ^= 1
        start = descriptor >> 8 * part & 255
        mask += bits[start : start + n // parts] if descriptor >> 39 & 1 else [0] * (n // parts)
    return np.array(mask) == 1, descriptor >> 56 & 63
