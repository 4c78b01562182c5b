"""Integer arithmetic and bit operations against Python's integers and the manual's pseudo-code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warploom.numerics import bits, integers

TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
WORDS = ["i4", "u4", "i8", "u8"]
ONES32 = 0xFFFFFFFF
ONES64 = 2**64 - 1
pytestmark = pytest.mark.filterwarnings("error")


def values(dtype: str, size: int = 16):
    """Arrays in which the extremes and small numbers are likely."""
    limits = np.iinfo(dtype)
    edges = [limits.min, limits.min + 1, limits.max, limits.max - 1, 0, 1, 2, limits.max // 2 + 1]
    if limits.min:
        edges += [-1, -2]

    def build(data: bytes):
        raw = np.frombuffer(data[: 8 * size], dtype="u8").astype(f"u{limits.bits // 8}").view(dtype)
        kind = np.frombuffer(data[8 * size :], dtype=np.uint8)
        special = np.array(edges, dtype=dtype)[kind // 4 % len(edges)]
        return np.where(
            kind % 4 == 0, special, np.where(kind % 4 == 1, raw >> (limits.bits // 2), raw)
        ).astype(dtype)

    return st.binary(min_size=9 * size, max_size=9 * size).map(build)


def wrap(value: int, dtype: np.dtype) -> int:
    width = dtype.itemsize * 8
    value &= (1 << width) - 1
    return value - (1 << width) if dtype.kind == "i" and value >> (width - 1) else value


def truncated(a: int, b: int) -> tuple[int, int]:
    q = abs(a) // abs(b)
    q = -q if (a < 0) != (b < 0) else q
    return q, a - q * b


@pytest.mark.parametrize("dtype", TYPES)
def test_arithmetic(dtype):
    @settings(max_examples=20, deadline=None)
    @given(values(dtype), values(dtype), values(dtype))
    def check(a, b, c):
        kind = a.dtype
        width = kind.itemsize * 8
        triples = list(zip(a.tolist(), b.tolist(), c.tolist(), strict=True))

        def agrees(result, model):
            assert result.dtype == kind
            assert result.tolist() == [wrap(model(*t), kind) for t in triples]

        agrees(integers.mul_lo(a, b), lambda x, y, z: x * y)
        agrees(integers.mul_hi(a, b), lambda x, y, z: x * y >> width)
        agrees(integers.sad(a, b, c), lambda x, y, z: z + abs(x - y))
        agrees(integers.minimum(a, b), lambda x, y, z: min(x, y))
        agrees(integers.maximum(a, b), lambda x, y, z: max(x, y))
        agrees(integers.maximum(a, b, relu=True), lambda x, y, z: max(x, y, 0))
        agrees(integers.minimum(a, b, relu=True), lambda x, y, z: max(min(x, y), 0))
        agrees(integers.negate(a), lambda x, y, z: -x)
        agrees(integers.absolute(a), lambda x, y, z: abs(x))
        agrees(integers.div(a, b), lambda x, y, z: truncated(x, y)[0] if y else -1)
        agrees(integers.rem(a, b), lambda x, y, z: truncated(x, y)[1] if y else -1)
        if width < 64:
            wide = integers.mul_wide(a, b)
            assert wide.dtype.itemsize == 2 * kind.itemsize
            assert wide.tolist() == [x * y for x, y, _ in triples]

    check()


@pytest.mark.parametrize("dtype", WORDS)
def test_carry_chains_are_wider_arithmetic(dtype):
    @settings(max_examples=20, deadline=None)
    @given(*[values(dtype)] * 4)
    def check(a0, a1, b0, b1):
        width = a0.dtype.itemsize * 8
        mask = (1 << width) - 1

        def whole(low, high):
            return [
                (x & mask) | ((y & mask) << width) for x, y in zip(low.tolist(), high.tolist(), strict=True)
            ]

        a, b = whole(a0, a1), whole(b0, b1)
        low, carry = integers.add_carry(a0, b0)
        high, out = integers.add_carry(a1, b1, carry)
        total = [x + y for x, y in zip(a, b, strict=True)]
        assert whole(low, high) == [t % (1 << 2 * width) for t in total]
        assert out.tolist() == [t >> 2 * width == 1 for t in total]
        low, borrow = integers.sub_borrow(a0, b0)
        high, out = integers.sub_borrow(a1, b1, borrow)
        assert whole(low, high) == [(x - y) % (1 << 2 * width) for x, y in zip(a, b, strict=True)]
        assert out.tolist() == [x < y for x, y in zip(a, b, strict=True)]
        product, carry = integers.mad_carry(a0, a1, b0, "hi", borrow)
        plain = integers.mul_hi(a0, a1)
        expected = [
            (x & mask) + (y & mask) + int(k)
            for x, y, k in zip(plain.tolist(), b0.tolist(), borrow, strict=True)
        ]
        assert (integers.as_unsigned(product).tolist(), carry.tolist()) == (
            [e & mask for e in expected],
            [e > mask for e in expected],
        )

    check()


@settings(max_examples=20, deadline=None)
@given(*[values("i4")] * 2)
def test_saturation(a, b):
    def clamp(x):
        return min(max(x, -(2**31)), 2**31 - 1)

    rows = list(zip(a.tolist(), b.tolist(), strict=True))
    assert integers.add_sat(a, b).tolist() == [clamp(x + y) for x, y in rows]
    assert integers.sub_sat(a, b).tolist() == [clamp(x - y) for x, y in rows]


@pytest.mark.parametrize("dtype", ["i4", "u4"])
def test_24_bit_products(dtype):
    @settings(max_examples=20, deadline=None)
    @given(*[values(dtype)] * 3)
    def check(a, b, c):
        def low24(x):
            x &= 0xFFFFFF
            return x - (1 << 24) if dtype == "i4" and x >> 23 else x

        rows = [(low24(x), low24(y), z) for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)]
        for half, shift in (("lo", 0), ("hi", 16)):
            assert integers.mul24(a, b, half).tolist() == [wrap(x * y >> shift, a.dtype) for x, y, _ in rows]
            wanted = [wrap(wrap(x * y >> shift, a.dtype) + z, a.dtype) for x, y, z in rows]
            assert integers.mad24(a, b, c, half).tolist() == wanted

    check()


@settings(max_examples=20, deadline=None)
@given(*[values("u4")] * 3, st.booleans(), st.booleans())
def test_dot_products(a, b, c, a_signed, b_signed):
    result_type = "i4" if a_signed or b_signed else "u4"
    accumulator = c.view(result_type)

    def part(x, index, width, signed):
        x = (x >> (index * width)) & ((1 << width) - 1)
        return x - (1 << width) if signed and x >> (width - 1) else x

    rows = list(zip(a.tolist(), b.tolist(), accumulator.tolist(), strict=True))
    four = [sum(part(x, i, 8, a_signed) * part(y, i, 8, b_signed) for i in range(4)) + z for x, y, z in rows]
    got = integers.dp4a(a, b, accumulator, a_signed, b_signed)
    assert got.tolist() == [wrap(t, got.dtype) for t in four]
    for half, start in (("lo", 0), ("hi", 2)):
        two = [
            sum(part(x, i, 16, a_signed) * part(y, start + i, 8, b_signed) for i in range(2)) + z
            for x, y, z in rows
        ]
        got = integers.dp2a(a, b, accumulator, half, a_signed, b_signed)
        assert got.tolist() == [wrap(t, got.dtype) for t in two]


def test_half_lanes():
    a = np.array([0x7FFF0001, 0x8000FFFF], dtype="u4")
    b = np.array([0x00010001, 0x0001FFFE], dtype="u4")
    assert integers.halves("add", a, b, signed=True).tolist() == [0x80000002, 0x8001FFFD]
    assert integers.halves("max", a, b, signed=True).tolist() == [0x7FFF0001, 0x0001FFFF]
    assert integers.halves("max", a, b, signed=False).tolist() == [0x7FFF0001, 0x8000FFFF]
    assert integers.halves("min", a, b, signed=True, relu=True).tolist() == [0x00010001, 0]
    assert integers.halves("sub", a, b, signed=False).tolist() == [0x7FFE0000, 0x7FFF0001]


@pytest.mark.parametrize("dtype", WORDS)
def test_counting(dtype):
    @settings(max_examples=20, deadline=None)
    @given(values(dtype))
    def check(a):
        width = a.dtype.itemsize * 8
        for i, x in enumerate(a.tolist()):
            u = x & ((1 << width) - 1)
            text = f"{u:0{width}b}"
            assert bits.popc(a)[i] == text.count("1")
            assert bits.clz(a)[i] == width - u.bit_length()
            assert bits.brev(a)[i] == wrap(int(text[::-1], 2), a.dtype)
            seen = ~x if x < 0 else x
            position = seen.bit_length() - 1
            assert bits.bfind(a)[i] == position & ONES32
            assert bits.bfind(a, shiftamt=True)[i] == (
                (width - 1 - position) & ONES32 if position >= 0 else ONES32
            )

    check()


@pytest.mark.parametrize("dtype", WORDS)
def test_fields_follow_the_pseudo_code(dtype):
    @settings(max_examples=30, deadline=None)
    @given(values(dtype), values(dtype), st.binary(min_size=32, max_size=32))
    def check(a, b, data):
        raw = np.frombuffer(data, dtype="u1").astype("u4")
        position, length = raw[:16], raw[16:]
        position = np.where(position & 1, position & 31, position)
        length = np.where(length & 1, length & 31, length)
        width, signed = a.dtype.itemsize * 8, a.dtype.kind == "i"
        extracted, inserted = bits.bfe(a, position, length), bits.bfi(a, b, position, length)
        for i in range(16):
            x, y, pos, count = int(a[i]), int(b[i]), int(position[i]), int(length[i])
            msb = width - 1
            sign = 0 if not signed or count == 0 else (x >> min(pos + count - 1, msb)) & 1
            d, f = 0, y
            for k in range(width):
                d |= (((x >> (pos + k)) & 1) if k < count and pos + k <= msb else sign) << k
            for k in range(count):
                if pos + k <= msb:
                    f = (f & ~(1 << (pos + k))) | (((x >> k) & 1) << (pos + k))
            assert int(extracted[i]) == wrap(d, a.dtype)
            assert int(inserted[i]) == wrap(f, a.dtype)

    check()


@settings(max_examples=30, deadline=None)
@given(values("u4"), st.binary(min_size=32, max_size=32), st.sampled_from(["wrap", "clamp"]))
def test_masks_and_extension_follow_the_pseudo_code(a, data, mode):
    raw = np.frombuffer(data, dtype="u1").astype("u4")
    first, second = raw[:16] % 70, raw[16:] % 70
    made = bits.bmsk(first, second, mode)
    unsigned, signed = bits.szext(a, second, mode), bits.szext(a.view("i4"), second, mode).view("u4")
    for i in range(16):
        p, w, x = int(first[i]), int(second[i]), int(a[i])
        p1, w1 = p & 31, w & 31
        mask0, total = (ONES32 << p1) & ONES32, p1 + w1
        mask1 = (ONES32 << total) & ONES32
        over = total >= 32
        if mode == "clamp" and p >= 32:
            over, mask0 = True, 0
        if mode == "clamp" and w >= 32:
            over = True
        mask1 = 0 if over else (ONES32 if w1 == 0 else mask1)
        assert int(made[i]) == mask0 & ~mask1 & ONES32
        large = w >= 32 and mode == "clamp"
        mask = 0 if large else (ONES32 << w1) & ONES32
        sign = 0 if w1 == 0 or large else (x >> ((w1 - 1) & 31)) & 1
        assert int(unsigned[i]) == x & ~mask & ONES32
        assert int(signed[i]) == (x & ~mask & ONES32) | (mask if sign else 0)


@settings(max_examples=40, deadline=None)
@given(values("u4"), st.integers(0, 31), st.integers(-33, 33))
def test_fns_follows_the_pseudo_code(mask, base, offset):
    got = bits.fns(mask, np.full(16, base, "u4"), np.full(16, offset, "i4"))
    for x, result in zip(mask.tolist(), got.tolist(), strict=True):
        d = ONES32
        if offset == 0:
            d = base if x >> base & 1 else d
        else:
            position, count, step = base, abs(offset) - 1, 1 if offset > 0 else -1
            while 0 <= position < 32:
                if x >> position & 1:
                    if count == 0:
                        d = position
                        break
                    count -= 1
                position += step
        assert result == d


def test_fns_beyond_the_manual():
    """An H200 finds nothing from a base above 31, and 0 for the most negative offset."""
    mask, base = np.full(4, 0xE50EE40D, "u4"), np.array([40, ONES32, 31, 40], "u4")
    offset = np.array([-1, -1, -(2**31), -(2**31)], "i4")
    assert bits.fns(mask, base, offset).tolist() == [ONES32, ONES32, 0, 0]


def test_fields_of_64_bits_take_whole_counts():
    """As an H200 has it: position and length count whole beside 64 bits, by their low byte beside 32."""
    rows = [
        (0x8123456789ABCDEF, 0x21, 0x100, 0x4091A2B3, 0xFFFFFFFFC091A2B3),
        (0x8123456789ABCDEF, 0x101, 0x80, 0, ONES64),
        (0x7EDCBA9876543210, 0x80000001, 0x1FF, 0, 0),
        (0x7EDCBA9876543210, 0x28, 0xFFFFFF00, 0x7EDCBA, 0x7EDCBA),
        (0xFFFFFFFFFFFFFFFF, 0x3E, 0x100, 3, ONES64),
    ]
    a, position, length, natural, signed = (list(column) for column in zip(*rows, strict=True))
    x, p, n = np.array(a, "u8"), np.array(position, "u4"), np.array(length, "u4")
    assert bits.bfe(x, p, n).tolist() == natural
    assert bits.bfe(x.view("i8"), p, n).view("u8").tolist() == signed
    assert bits.bfi(x, ~x, p, n)[[0, 1]].tolist() == [0x13579BDE76543210, 0x7EDCBA9876543210]
    assert bits.bfe(x.astype("u4"), p, n)[:2].tolist() == [0, 0x89ABCDEF >> 1]


def test_lop3_is_its_table():
    a, b, c = (np.array([v], dtype="u4") for v in (0xF0, 0xCC, 0xAA))
    for lut in range(256):
        assert int(bits.lop3(a, b, c, lut)[0]) & 0xFF == lut
        assert bits.lop3(a, b, np.broadcast_to(c, (2, 3)), lut).shape == (2, 3)


@settings(max_examples=30, deadline=None)
@given(*[values("u4")] * 3)
def test_prmt_default(a, b, c):
    for x, y, s, d in zip(a.tolist(), b.tolist(), c.tolist(), bits.prmt(a, b, c).tolist(), strict=True):
        pool = [(x | y << 32) >> (8 * i) & 0xFF for i in range(8)]
        picks = [s >> (4 * i) & 15 for i in range(4)]
        made = [(0xFF if pool[p & 7] & 0x80 else 0) if p & 8 else pool[p & 7] for p in picks]
        assert d == sum(byte << (8 * i) for i, byte in enumerate(made))


def test_prmt_modes():
    """The rows of the manual's table, highest byte first."""
    table = {
        "f4e": ["3210", "4321", "5432", "6543"],
        "b4e": ["5670", "6701", "7012", "0123"],
        "rc8": ["0000", "1111", "2222", "3333"],
        "ecl": ["3210", "3211", "3222", "3333"],
        "ecr": ["0000", "1110", "2210", "3210"],
        "rc16": ["1010", "3232", "1010", "3232"],
    }
    a, b = np.array([0x03020100], dtype="u4"), np.array([0x07060504], dtype="u4")
    for mode, rows in table.items():
        for i, row in enumerate(rows):
            got = bits.prmt(a, b, np.array([i + 4], dtype="u4"), mode)
            assert f"{int(got[0]):08x}"[1::2] == row


@pytest.mark.parametrize("dtype", TYPES)
def test_shifts_clamp(dtype):
    @settings(max_examples=20, deadline=None)
    @given(values(dtype), values("u4"))
    def check(a, count):
        count = np.where(count & 1, count & 127, count).astype("u4")
        for x, n, left, right in zip(
            a.tolist(), count.tolist(), bits.shl(a, count).tolist(), bits.shr(a, count).tolist(), strict=True
        ):
            assert left == wrap(x << min(n, 64), a.dtype)
            assert right == x >> min(n, 64)

    check()


@settings(max_examples=20, deadline=None)
@given(*[values("u4")] * 3)
def test_funnel_shift(low, high, count):
    count = np.where(count & 1, count & 63, count).astype("u4")
    for mode in ("wrap", "clamp"):
        left, right = bits.shf(low, high, count, "l", mode), bits.shf(low, high, count, "r", mode)
        for x, y, n, u, v in zip(
            low.tolist(), high.tolist(), count.tolist(), left.tolist(), right.tolist(), strict=True
        ):
            n = n & 31 if mode == "wrap" else min(n, 32)
            whole = x | y << 32
            assert u == (whole << n >> 32) & ONES32
            assert v == (whole >> n) & ONES32
