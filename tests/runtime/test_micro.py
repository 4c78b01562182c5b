"""Small kernels compiled by nvcc, one instruction each, against references in NumPy: warp-level matrices.

The sources are in tests/corpus/src. Whatever a kernel does, it does the same under every schedule.
"""

from __future__ import annotations

import numpy as np
import pytest
from runtime import fragments, sums
from runtime.fragments import NUMPY
from runtime.kernels import micro, multiply_added
from runtime.sums import Array, Float

FILE = "micro_sm90a.ptx"
INT_MAX = 2**31 - 1


def _numbers(seed: int, shape: tuple[int, ...], kind: str) -> Array:
    random = np.random.default_rng([seed, *shape])
    match kind:
        case "s8":
            return random.integers(-128, 128, shape).astype(np.int8)
        case "u8":
            return random.integers(0, 256, shape).astype(np.uint8)
        case "s4":
            return random.integers(-8, 8, shape).astype(np.int8)
        case "b1":
            return random.integers(0, 2, shape).astype(np.uint8)
        case _:
            return random.standard_normal(shape).astype(NUMPY[kind])


def _wide(values: Array, kind: str) -> Float:
    return sums.tf32(values) if kind == "tf32" else values.astype(np.float64)


def _sizes(a: Array, b: Array, of_a: str, of_b: str) -> tuple[Float, Float]:
    least = [sums.LEAST_EXPONENT[np.dtype(NUMPY[kind]).name] for kind in (of_a, of_b)]
    return sums.magnitude(_wide(a, of_a), least[0]), sums.magnitude(_wide(b, of_b), least[1])


def _fused(a: Array, b: Array, c: Array, of_a: str, of_b: str, unit: sums.Unit) -> Array:
    exact = sums.chain(_wide(a, of_a), _wide(b, of_b), c.astype(np.float64), unit, _sizes(a, b, of_a, of_b))
    return exact.astype(np.float16 if unit.nearest else np.float32)


def _halves(a: Array, b: Array, c: Array) -> Array:
    """fp8 without a unit of its own: f16 sums over k % 4 in {0, 1} and then {2, 3}, and an addition of c."""
    total = np.zeros(c.shape)
    for first in (0, 2):
        part = [k for k in range(a.shape[1]) if k % 4 in (first, first + 1)]
        left, right = a[:, part].astype(np.float64), b[:, part].astype(np.float64)
        sizes = (sums.magnitude(left, -14), sums.magnitude(right, -14))
        total = sums.chain(left, right, total, sums.HOPPER_HALF, sizes)
    return total.astype(np.float32) + c


def _clamped(total: Array) -> Array:
    return np.clip(total, -INT_MAX - 1, INT_MAX).astype(np.int32)


def _wrapped(total: Array) -> Array:
    return total.astype(np.uint64).astype(np.uint32).view(np.int32)


def _whole(a: Array, b: Array, c: Array) -> Array:
    return a.astype(np.int64) @ b.astype(np.int64).T + c.astype(np.int64)


def _integers(seed: int, shape: tuple[int, ...], near_limits: bool = False) -> Array:
    random = np.random.default_rng([seed, 7])
    c = random.integers(-(2**20), 2**20, shape)
    if near_limits:
        c = np.where(random.integers(0, 2, shape) > 0, INT_MAX - random.integers(0, 999, shape), -INT_MAX + 5)
    return c.astype(np.int32)


# wmma -------------------------------------------------------------------------------------------------------


def _wmma(kernel: str, a: Array, b: Array, c: Array) -> Array:
    out = np.zeros(c.shape, c.dtype)
    return micro(FILE, kernel, [np.ascontiguousarray(x) for x in (a, b, c)] + [out])[3]


@pytest.mark.parametrize("seed", range(3))
def test_wmma_f16_into_f32(seed: int) -> None:
    a, b = _numbers(seed, (16, 16), "f16"), _numbers(seed + 9, (16, 16), "f16")
    c = _numbers(seed, (16, 16), "tf32")
    found = _wmma("wmma_f16_16x16x16", a, b, c)
    np.testing.assert_array_equal(found, _fused(a, b, c, "f16", "f16", sums.HOPPER_HALF))


@pytest.mark.parametrize("seed", range(3))
def test_wmma_f16_into_f16_of_a_column_major_a_and_a_row_major_b(seed: int) -> None:
    a, b = _numbers(seed, (32, 16), "f16"), _numbers(seed + 9, (8, 16), "f16")
    c = _numbers(seed, (32, 8), "f16")
    found = _wmma("wmma_f16f16_32x8x16", a.T, b.T, c)
    np.testing.assert_array_equal(found, _fused(a, b, c, "f16", "f16", sums.HOPPER_HALF_TO_HALF))


def test_wmma_s8() -> None:
    a, b, c = _numbers(1, (8, 16), "s8"), _numbers(2, (32, 16), "s8"), _integers(3, (8, 32))
    np.testing.assert_array_equal(_wmma("wmma_s8_8x32x16", a, b, c), _whole(a, b, c))


@pytest.mark.parametrize("seed", range(3))
def test_wmma_tf32_rounds_its_inputs_and_sums_by_fours(seed: int) -> None:
    a, b, c = (_numbers(seed + n, shape, "tf32") for n, shape in enumerate([(16, 8), (16, 8), (16, 16)]))
    # The source converts with round to nearest, ties away from zero.
    rounded = [((x.view(np.uint32) + 0x1000) & 0xFFFF_E000).astype(np.uint32).view(np.float32) for x in (a, b)]
    found = _wmma("wmma_tf32_16x16x8", a, b, c)
    expected = _fused(rounded[0], rounded[1], c, "tf32", "tf32", sums.HOPPER_TF32_WMMA)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(3))
def test_wmma_f64_is_a_chain_of_multiply_adds_from_c(seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b, c = random.standard_normal((8, 4)), random.standard_normal((8, 4)), random.standard_normal((8, 8))
    np.testing.assert_array_equal(_wmma("wmma_f64_8x8x4", a, b, c), multiply_added(a, b, c))


def test_wmma_b1_counts_common_bits() -> None:
    a, b, c = _numbers(1, (8, 128), "b1"), _numbers(2, (8, 128), "b1"), _integers(3, (8, 8))
    words = [fragments.packed(x.astype(np.uint64), "b1") for x in (a, b)]
    np.testing.assert_array_equal(_wmma("wmma_b1_8x8x128", words[0], words[1], c), _whole(a, b, c))


def test_wmma_s4() -> None:
    a, b, c = _numbers(1, (8, 32), "s4"), _numbers(2, (8, 32), "s4"), _integers(3, (8, 8))
    words = [fragments.packed(fragments.patterns(x, "s4"), "s4") for x in (a, b)]
    np.testing.assert_array_equal(_wmma("wmma_s4_8x8x32", words[0], words[1], c), _whole(a, b, c))


# mma --------------------------------------------------------------------------------------------------------


def _mma(kernel: str, a: Array, b: Array, c: Array, of_a: str, of_b: str) -> Array:
    """D as its registers hold it."""
    left, right = fragments.a_registers(a, of_a), fragments.b_registers(b, of_b, 2)
    out = np.zeros((32, 4), c.dtype)
    return micro(FILE, kernel, [left, right, fragments.accumulator(c), out])[3]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("kernel", "kind", "k", "unit"),
    [
        ("mma_f16_16816", "f16", 16, sums.HOPPER_HALF),
        ("mma_bf16_16816", "bf16", 16, sums.HOPPER_HALF),
        ("mma_tf32_1688", "tf32", 8, sums.HOPPER_TF32),
    ],
)
def test_mma_of_floats_is_one_fused_sum(kernel: str, kind: str, k: int, unit: sums.Unit, seed: int) -> None:
    a, b, c = _numbers(seed, (16, k), kind), _numbers(seed + 9, (8, k), kind), _numbers(seed, (16, 8), "tf32")
    found = _mma(kernel, a, b, c, kind, kind)
    np.testing.assert_array_equal(found, fragments.accumulator(_fused(a, b, c, kind, kind, unit)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("kernel", "of_a"), [("mma_e4m3_16832", "e4m3"), ("mma_e5m2e4m3_16832", "e5m2")])
def test_mma_of_fp8_is_two_sums_of_f16_and_an_addition(kernel: str, of_a: str, seed: int) -> None:
    a, b = _numbers(seed, (16, 32), of_a), _numbers(seed + 9, (8, 32), "e4m3")
    c = _numbers(seed, (16, 8), "tf32")
    np.testing.assert_array_equal(_mma(kernel, a, b, c, of_a, "e4m3"), fragments.accumulator(_halves(a, b, c)))


@pytest.mark.parametrize("near_limits", [False, True])
@pytest.mark.parametrize(
    ("kernel", "of_a", "of_b", "k"),
    [
        ("mma_s8_16832", "s8", "s8", 32),
        ("mma_s8_16832_sat", "s8", "s8", 32),
        ("mma_u8s8_16832", "u8", "s8", 32),
        ("mma_s4_16864", "s4", "s4", 64),
    ],
)
def test_mma_of_integers_wraps_unless_it_saturates(
    kernel: str, of_a: str, of_b: str, k: int, near_limits: bool
) -> None:
    a, b = _numbers(4, (16, k), of_a), _numbers(5, (8, k), of_b)
    c = _integers(6, (16, 8), near_limits)
    total = _whole(a, b, c)
    assert near_limits == bool((np.abs(total) > INT_MAX + 1).any())
    expected = _clamped(total) if kernel.endswith("sat") else _wrapped(total)
    np.testing.assert_array_equal(_mma(kernel, a, b, c, of_a, of_b), fragments.accumulator(expected))


@pytest.mark.parametrize("operation", ["and", "xor"])
def test_mma_of_bits_counts_them(operation: str) -> None:
    a, b, c = _numbers(4, (16, 256), "b1"), _numbers(5, (8, 256), "b1"), _integers(6, (16, 8))
    joined = a[:, None] & b if operation == "and" else a[:, None] ^ b
    expected = joined.sum(-1, dtype=np.int64) + c
    found = _mma(f"mma_b1{operation}_168256", a, b, c, "b1", "b1")
    np.testing.assert_array_equal(found, fragments.accumulator(expected))


@pytest.mark.parametrize("seed", range(3))
def test_mma_of_f64(seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b, c = random.standard_normal((8, 4)), random.standard_normal((8, 4)), random.standard_normal((8, 8))
    lane = np.arange(32)
    of_c = (lane[:, None] // 4, 2 * (lane[:, None] % 4) + np.arange(2))
    out = np.zeros((32, 2))
    found = micro(FILE, "mma_f64_884", [a[lane // 4, lane % 4], b[lane // 4, lane % 4], c[of_c], out])[3]
    np.testing.assert_array_equal(found, multiply_added(a, b, c)[of_c])


@pytest.mark.parametrize("seed", range(3))
def test_mma_with_f16_accumulators_rounds_to_nearest(seed: int) -> None:
    a, b, c = (_numbers(seed + n, shape, "f16") for n, shape in enumerate([(16, 16), (8, 16), (16, 8)]))
    lane, register, half = np.indices((32, 2, 2))
    place = (lane // 4 + 8 * register, 2 * (lane % 4) + half)
    registers = np.ascontiguousarray(c[place]).view(np.uint32)[..., 0]
    operands = [fragments.a_registers(a, "f16"), fragments.b_registers(b, "f16", 2)]
    found = micro(FILE, "mma_f16acc_16816", [*operands, registers, np.zeros((32, 2), np.uint32)])[3]
    expected = _fused(a, b, c, "f16", "f16", sums.HOPPER_HALF_TO_HALF)
    np.testing.assert_array_equal(found.view(np.float16).reshape(32, 2, 2), expected[place])


# Sparse mma -------------------------------------------------------------------------------------------------


def _sparse(seed: int, kind: str, k: int, ordered: bool) -> tuple[Array, Array, Array, Array]:
    """Stored elements of A, the whole A, the nibbles of every chunk, and B; sums of these are exact."""
    random = np.random.default_rng([seed, k])
    a, b = (random.integers(-4, 5, shape).astype(NUMPY[kind]) for shape in ((16, k // 2), (8, k)))
    chunk, element = {"tf32": (2, 1), "s4": (8, 2)}.get(kind, (4, 1))
    chunks = k // chunk
    whole = np.zeros((16, k), a.dtype)
    nibbles = np.zeros((16, chunks), np.int64)
    for row in range(16):
        for place in range(chunks):
            if kind == "tf32":
                first = int(random.integers(0, 2))
                nibbles[row, place] = 0b1110 if first else 0b0100
                whole[row, 2 * place + first] = a[row, place]
                continue
            picked = random.choice(4, 2, replace=False)
            picked = np.sort(picked) if ordered else picked
            nibbles[row, place] = picked[0] | picked[1] << 2
            for number, index in enumerate(picked):
                source = element * (2 * place + number)
                target = chunk * place + element * index
                whole[row, target : target + element] = a[row, source : source + element]
    return a, whole, nibbles, b


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("kernel", "kind", "k", "selector"),
    [
        ("mmasp_f16_16832_s0", "f16", 32, 0),
        ("mmasp_f16_16832_s1", "f16", 32, 1),
        ("mmasp_bf16_16832_legacy", "bf16", 32, 0),
        ("mmasp_tf32_16816", "tf32", 16, 1),
        ("mmasp_s8_16864", "s8", 64, 0),
        ("mmasp_e4m3_16864", "e4m3", 64, 0),
        ("mmasp_s4_168128", "s4", 128, 0),
    ],
)
def test_sparse_mma_puts_stored_elements_where_its_metadata_say(
    kernel: str, kind: str, k: int, selector: int, seed: int
) -> None:
    # Metadata that are not ordered may name the two places in either order.
    stored, whole, nibbles, b = _sparse(seed, kind, k, ordered="legacy" not in kernel)
    of_c = np.int32 if kind in ("s8", "s4") else np.float32
    c = np.random.default_rng(seed).integers(-50, 50, (16, 8)).astype(of_c)
    operands = [fragments.a_registers(stored, kind), fragments.b_registers(b, kind, 4), fragments.accumulator(c)]
    meta = fragments.metadata(nibbles, kind, selector)
    found = micro(FILE, kernel, [*operands, np.zeros((32, 4), of_c), meta])[3]
    expected = whole.astype(np.float64) @ b.astype(np.float64).T + c
    np.testing.assert_array_equal(found, fragments.accumulator(expected))


# ldmatrix, stmatrix, movmatrix ------------------------------------------------------------------------------


def _words(count: int) -> Array:
    return np.random.default_rng(count).integers(0, 2**32, count).astype(np.uint32)


@pytest.mark.parametrize(
    ("kernel", "matrices", "transposed"),
    [("ldm_x1", 1, False), ("ldm_x2", 2, False), ("ldm_x4", 4, False), ("ldm_x4_trans", 4, True)],
)
def test_ldmatrix_deals_out_rows(kernel: str, matrices: int, transposed: bool) -> None:
    data = _words(256)
    expected = np.zeros((32, 4), np.uint32)
    for number in range(matrices):
        matrix = data.view(np.uint16)[64 * number : 64 * number + 64].reshape(8, 8)
        expected[:, number] = fragments.fragment_of(matrix.T if transposed else matrix)
    found = micro(FILE, kernel, [data, np.zeros((32, 4), np.uint32)])[1]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("kernel", "matrices", "transposed"), [("stm_x2", 2, False), ("stm_x4_trans", 4, True)])
def test_stmatrix_collects_rows(kernel: str, matrices: int, transposed: bool) -> None:
    data = _words(128).reshape(32, 4)
    expected = np.zeros((4, 8, 8), np.uint16)
    for number in range(matrices):
        matrix = fragments.matrix_of(data[:, number])
        expected[number] = matrix.T if transposed else matrix
    found = micro(FILE, kernel, [data, np.zeros(128, np.uint32)])[1]
    np.testing.assert_array_equal(found, np.ascontiguousarray(expected).view(np.uint32).reshape(-1))


def test_movmatrix_transposes() -> None:
    data = _words(32)
    found = micro(FILE, "movmatrix_trans", [data, np.zeros(32, np.uint32)])[1]
    np.testing.assert_array_equal(found, fragments.fragment_of(fragments.matrix_of(data).T))
