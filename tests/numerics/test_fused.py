"""The compiled sums equal `numerics.spec` bit for bit, on operands chosen to cause errors."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics import exact_sums
from numpy.typing import NDArray

from warploom.numerics import fused, models, spec
from warploom.numerics.formats import FORMATS, STORAGE, Format
from warploom.numerics.models import Sum

Array = NDArray[Any]


def _model(arch: str, engine: Any, types: str, k: int = 0) -> models.Model:
    a_type, b_type, d_type, *c_type = types.split()
    return models.select(arch, engine, a_type, b_type, d_type, c_type=c_type[0] if c_type else None, k=k)


CASES = {
    "volta f16": (_model("sm_70", "warp", "f16 f16 f32"), 8),
    "volta f16, f16 addend": (_model("sm_70", "warp", "f16 f16 f32 f16"), 8),
    "turing f16, f16 sums": (_model("sm_75", "warp", "f16 f16 f16"), 16),
    "ampere bf16": (_model("sm_80", "warp", "bf16 bf16 f32"), 16),
    "ampere tf32": (_model("sm_80", "warp", "tf32 tf32 f32"), 8),
    "ada e4m3 e5m2": (_model("sm_89", "warp", "e4m3 e5m2 f32"), 32),
    "ada e5m2, f16 sums": (_model("sm_89", "warp", "e5m2 e5m2 f16"), 32),
    "hopper f16": (_model("sm_90a", "warpgroup", "f16 f16 f32"), 16),
    "hopper f16, f16 sums": (_model("sm_90a", "warpgroup", "f16 f16 f16"), 16),
    "hopper bf16": (_model("sm_90a", "warpgroup", "bf16 bf16 f32"), 16),
    "hopper tf32": (_model("sm_90a", "warpgroup", "tf32 tf32 f32"), 8),
    "hopper tf32 k4": (_model("sm_90", "warp", "tf32 tf32 f32"), 4),
    "hopper tf32, two steps": (_model("sm_90", "warp tiles", "tf32 tf32 f32"), 8),
    "hopper e4m3": (_model("sm_90a", "warpgroup", "e4m3 e4m3 f32"), 32),
    "hopper e5m2 e4m3, f16 sums": (_model("sm_90a", "warpgroup", "e5m2 e4m3 f16"), 32),
    "blackwell e4m3": (_model("sm_100a", "tensor memory", "e4m3 e4m3 f32"), 32),
    "blackwell e3m2 e2m3": (_model("sm_120a", "warp", "e3m2 e2m3 f32"), 32),
    "blackwell e2m1 e5m2": (_model("sm_120a", "warp", "e2m1 e5m2 f32"), 32),
    "hopper f16, f16 addend": (_model("sm_90a", "warp", "f16 f16 f32 f16"), 16),
    "hopper f16, f32 addend": (_model("sm_90a", "warp", "f16 f16 f16 f32"), 16),
    "hopper e5m2 e4m3 in software": (_model("sm_90a", "warp", "e5m2 e4m3 f32"), 32),
    "without a least exponent": (replace(_model("sm_90a", "warpgroup", "tf32 tf32 f32"), emin=None), 8),
    "with a least exponent": (replace(_model("sm_90a", "warp", "f16 f16 f16"), emin=-21), 16),
}
KINDS = (
    "normal", "alike", "wide", "cancelling", "subnormal", "huge", "raw", "zeros", "rare specials", "limits",
)  # fmt: skip
SHAPES = ((3, 16, 24, 1), (2, 8, 16, 2), (1, 16, 32, 1), (1, 24, 96, 3))
"""Groups, M, N, and the multiple of K. The values of N need strips of 8, 16 and 32 columns."""


def words(rng: np.random.Generator, fmt: Format, kind: str, shape: tuple[int, ...]) -> Array:
    """Raw elements whose exponents are of one kind."""
    width = fmt.mantissa_bits + fmt.padding
    top = fmt.max_code >> fmt.mantissa_bits
    low, high = {
        "normal": (fmt.bias - 2, fmt.bias + 2),
        "rare specials": (fmt.bias - 2, fmt.bias + 2),
        "cancelling": (fmt.bias - 4, fmt.bias + 4),
        "subnormal": (0, 2),
        "huge": (top - 2, top),
    }.get(kind, (0, top))
    sign = fmt.sign_bit << fmt.padding
    if kind == "raw":
        return rng.integers(0, 2 * sign, shape).astype(fmt.pattern_dtype)
    if kind == "alike":
        largest = (fmt.bias << width) | ((fmt.magnitude_mask << fmt.padding) >> fmt.exponent_bits)
        return np.full(shape, largest, fmt.pattern_dtype)
    if kind == "limits":
        special = fmt.max_code + 1
        edges = [0, 1, (1 << fmt.mantissa_bits) - 1, 1 << fmt.mantissa_bits, fmt.max_code, special, special + 1]
        magnitudes = np.minimum(edges, fmt.magnitude_mask) << fmt.padding
        return (rng.choice(magnitudes, shape) | sign * rng.integers(0, 2, shape)).astype(fmt.pattern_dtype)
    field = rng.integers(max(low, 0), min(high, top) + 1, shape)
    significand = rng.integers(0, 1 << width, shape)
    magnitude = np.minimum((field << width) | significand, ((fmt.max_code + 1) << fmt.padding) - 1)
    if kind == "zeros":
        magnitude *= rng.random(shape) < 0.1
    if kind == "rare specials":
        specials = rng.integers(fmt.max_code, fmt.magnitude_mask + 1, shape) << fmt.padding
        magnitude = np.where(rng.random(shape) < 0.01, specials, magnitude)
    return (magnitude | sign * rng.integers(0, 2, shape)).astype(fmt.pattern_dtype)


def operands(seed: int, model: models.Model, kind: str, shape: tuple[int, int, int, int]) -> tuple[Array, Array, Array]:
    """A, B and C of one kind, for (G, M, N, K)."""
    rng = np.random.default_rng(seed)
    groups, rows, columns, depth = shape
    left, right, addend = (FORMATS[name] for name in (model.a_type, model.b_type, model.c_type))
    a = words(rng, left, kind, (groups, rows, depth))
    b = words(rng, right, kind, (groups, columns, depth))
    if kind == "cancelling":
        a[:, :, 1::2] = a[:, :, ::2]
        b[:, :, 1::2] = b[:, :, ::2] ^ b.dtype.type(right.sign_bit << right.padding)
        b[:, :, 0] ^= rng.integers(0, 4, b[:, :, 0].shape).astype(b.dtype)
    return a, b, words(rng, addend, kind, (groups, rows, columns))


def exact(a: Array, b: Array, c: Array, model: models.Model) -> Array:
    """D by the code for block-scaled sums, with scales of 1."""
    scaled = replace(model, sum=Sum.T_FDPA_SCALED, scale_type="ue8m0")
    scale_a, scale_b = (np.full((*x.shape[:2], 1), 127, np.uint8) for x in (a, b))
    return exact_sums.multiply(a, b, c, scaled, scale_a, scale_b)


@pytest.mark.parametrize("name", CASES)
def test_the_compiled_sums_equal_the_spec(name: str) -> None:
    model, depth = CASES[name]
    for seed, kind in enumerate(KINDS):
        a, b, c = operands(seed, model, kind, (1, 8, 16, depth))
        want = spec.multiply(a, b, c, model)
        np.testing.assert_array_equal(fused.multiply(a, b, c, model), want, kind)
        if model.sum is Sum.T_FDPA:
            np.testing.assert_array_equal(exact(a, b, c, model), want, f"exact, {kind}")


@pytest.mark.parametrize("name", [name for name, (model, _) in CASES.items() if model.sum is Sum.T_FDPA])
def test_vectors_of_all_widths_equal_exact_integers(name: str) -> None:
    model, depth = CASES[name]
    for seed, kind in enumerate(KINDS):
        for groups, rows, columns, times in SHAPES:
            a, b, c = operands(100 + seed, model, kind, (groups, rows, columns, times * depth))
            np.testing.assert_array_equal(fused.multiply(a, b, c, model), exact(a, b, c, model), kind)


@pytest.mark.parametrize("kind", ["f16", "bf16", "tf32", "e4m3"])
@pytest.mark.parametrize("place", ["a", "b", "c"])
def test_one_extreme_element_changes_its_row_or_column_only(kind: str, place: str) -> None:
    model = _model("sm_90a", "warpgroup", f"{kind} {kind} f32")
    a, b, c = operands(11, model, "normal", (1, 16, 64, 32))
    plain = fused.multiply(a, b, c, model)
    fmt = FORMATS[kind if place != "c" else "f32"]
    for code in (fmt.max_code, fmt.max_code + 1):
        x, y, z = a.copy(), b.copy(), c.copy()
        {"a": x, "b": y, "c": z}[place][0, 5, 7] = code << fmt.padding
        d = fused.multiply(x, y, z, model)
        concerned = np.zeros(d.shape, bool)
        concerned[{"a": np.s_[0, 5], "b": np.s_[0, :, 5], "c": np.s_[0, 5, 7]}[place]] = True
        np.testing.assert_array_equal(d[~concerned], plain[~concerned])
        np.testing.assert_array_equal(d, exact(x, y, z, model))


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(sorted(CASES)),
    kinds=st.tuples(*[st.sampled_from(KINDS)] * 3),
    seed=st.integers(0, 1 << 32),
    shape=st.tuples(st.integers(1, 2), st.integers(1, 5), st.integers(1, 9)),
    times=st.integers(1, 2),
    negate=st.tuples(st.booleans(), st.booleans()),
)
def test_any_mixture_equals_the_spec(
    name: str,
    kinds: tuple[str, str, str],
    seed: int,
    shape: tuple[int, int, int],
    times: int,
    negate: tuple[bool, bool],
) -> None:
    model, depth = CASES[name]
    if model.sum is Sum.T_FDPA:
        depth *= times
    a, b, c = (operands(seed, model, kind, (*shape, depth))[i] for i, kind in enumerate(kinds))
    signs = {"negate_a": negate[0], "negate_b": negate[1]}
    want = spec.multiply(a, b, c, model, **signs)
    np.testing.assert_array_equal(fused.multiply(a, b, c, model, **signs), want)


@settings(max_examples=100, deadline=None)
@given(
    name=st.sampled_from([name for name, (model, _) in CASES.items() if model.sum is Sum.T_FDPA]),
    kinds=st.tuples(*[st.sampled_from(KINDS)] * 3),
    seed=st.integers(0, 1 << 32),
    columns=st.sampled_from([5, 16, 32]),
    divisor=st.integers(1, 15),
)
def test_a_divided_addend_equals_the_spec(
    name: str, kinds: tuple[str, str, str], seed: int, columns: int, divisor: int
) -> None:
    model, depth = CASES[name]
    a, b, c = (operands(seed, model, kind, (1, 3, columns, 2 * depth))[i] for i, kind in enumerate(kinds))
    want = spec.multiply(a, b, c, model, divisor=divisor)
    np.testing.assert_array_equal(fused.multiply(a, b, c, model, divisor=divisor), want)


def test_a_divided_addend_is_not_rounded() -> None:
    """An f16 addend keeps its last bit after the division, and so breaks or makes a tie of the sum."""
    model, _ = CASES["hopper f16, f16 sums"]
    a, b = np.zeros((1, 1, 16), np.uint16), np.zeros((1, 1, 16), np.uint16)
    a[0, 0, 0], b[0, 0, 0] = 0x3C00, 0x1000  # 2**-11
    c = np.full((1, 1, 1), 0x3C00, np.uint16)  # 1 / 2 + 2**-11
    assert fused.multiply(a, b, c, model, divisor=1)[0, 0, 0] == 0x3801
    b[0, 0, 0] = 0x0C00  # 1 / 2 + 2**-12: a tie
    assert fused.multiply(a, b, c, model, divisor=1)[0, 0, 0] == 0x3800
    c[0, 0, 0] = 0x3C01  # the next number up, odd after the division
    assert fused.multiply(a, b, c, model, divisor=1)[0, 0, 0] == 0x3802


@given(
    name=st.sampled_from(["hopper f16", "hopper e4m3", "hopper tf32", "ampere bf16"]),
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 1 << 32),
    columns=st.sampled_from([8, 16]),
)
@settings(max_examples=40, deadline=None)
def test_sparse_is_the_dense_sum_over_the_chosen_columns(name: str, kind: str, seed: int, columns: int) -> None:
    model, depth = CASES[name]
    a, _, c = operands(seed, model, kind, (2, 4, columns, depth))
    _, b, _ = operands(seed + 1, model, kind, (2, 4, columns, 2 * depth))
    rng = np.random.default_rng(seed)
    pairs = np.sort(rng.permuted(np.tile(np.arange(4), (*a.shape[:2], depth // 2, 1)), axis=-1)[..., :2], axis=-1)
    index = (pairs + 4 * np.arange(depth // 2)[:, None]).reshape(a.shape)
    d = fused.multiply(a, b, c, model, index=index)
    np.testing.assert_array_equal(d, spec.multiply(a, b, c, model, index=index))


def test_long_sums() -> None:
    model, _ = CASES["hopper e4m3"]
    a, b, c = operands(12, model, "rare specials", (1, 8, 32, 4096))
    np.testing.assert_array_equal(fused.multiply(a, b, c, model), exact(a, b, c, model))


def test_no_groups_and_strided_operands() -> None:
    model, _ = CASES["hopper f16"]
    a, b, c = operands(1, model, "wide", (3, 8, 16, 32))
    assert fused.multiply(a[:0], b[:0], c[:0], model).shape == (0, 8, 16)
    views = a[::2, ::-1, ::2], b[::2, :, ::2], c[::2]
    want = fused.multiply(*(view.copy() for view in views), model)
    np.testing.assert_array_equal(fused.multiply(*views, model), want)
    for array in (a, b, c):
        array.setflags(write=False)
    np.testing.assert_array_equal(fused.multiply(a, b, c, model)[::2], fused.multiply(a[::2], b[::2], c[::2], model))


@pytest.mark.parametrize("name", ["hopper f16", "hopper f16, f16 sums", "hopper e4m3"])
@pytest.mark.parametrize("shape", [(2, 16, 8, 32), (2, 3, 5, 32)])
def test_the_result_may_replace_the_addend(name: str, shape: tuple[int, int, int, int]) -> None:
    model, _ = CASES[name]
    a, b, c = operands(3, model, "raw", shape)
    want = fused.multiply(a, b, c, model)
    out = np.empty_like(c)
    assert fused.multiply(a, b, c, model, out=out) is out
    np.testing.assert_array_equal(out, want)
    assert fused.multiply(a, b, c, model, out=c) is c
    np.testing.assert_array_equal(c, want)


@pytest.mark.parametrize("shape", [(8, 64, 64, 32), (1, 256, 128, 32)])
def test_workers_change_nothing(shape: tuple[int, int, int, int]) -> None:
    model, _ = CASES["hopper f16"]
    a, b, c = operands(5, model, "wide", shape)
    with ThreadPoolExecutor(3) as pool:
        shared = fused.multiply(a, b, c, model, workers=fused.Workers(pool, 3))
    np.testing.assert_array_equal(shared, fused.multiply(a, b, c, model))


def test_no_addend_is_a_zero_addend() -> None:
    for model, depth in CASES.values():
        a, b, c = operands(6, model, "raw", (2, 8, 8, depth))
        zeros = np.zeros_like(c)
        np.testing.assert_array_equal(fused.multiply(a, b, None, model), fused.multiply(a, b, zeros, model))


def test_zero_sums_are_positive_and_nan_is_canonical() -> None:
    model, _ = CASES["hopper f16"]
    half = CASES["hopper f16, f16 sums"][0]

    def one(a: int, b: int, c: int, model: models.Model) -> int:
        left = np.zeros((1, 4, 16), np.uint16)
        right = np.zeros((1, 8, 16), np.uint16)
        left[0, 0, 3], right[0, 0, 3] = a, b
        addend = np.full((1, 4, 8), c, STORAGE[model.c_type])
        return int(fused.multiply(left, right, addend, model)[0, 0, 0])

    assert one(0x8000, 0x3C00, 0x80000000, model) == 0
    assert one(0x3C00, 0x3C00, 0xBF800000, model) == 0
    assert one(0x7C00, 0x0000, 0, model) == 0x7FFFFFFF
    assert one(0x7C00, 0x3C00, 0xFF800000, model) == 0x7FFFFFFF
    assert one(0xFC00, 0x3C00, 0, model) == 0xFF800000
    assert one(0xFE01, 0x3C00, 0, model) == 0x7FFFFFFF
    assert one(0xFE01, 0x3C00, 0, half) == 0x7FFF
    assert one(0x7BFF, 0x7BFF, 0, half) == 0x7C00


def test_mistakes_are_told_in_one_sentence() -> None:
    model, _ = CASES["hopper f16"]
    a, b, c = operands(0, model, "normal", (1, 4, 8, 16))
    with pytest.raises(ValueError, match=r"^a must be of uint16; found uint8$"):
        fused.multiply(a.astype(np.uint8), b, c, model)
    with pytest.raises(ValueError, match=r"^c must have shape \(1, 4, 8\); found \(1, 4, 4\)$"):
        fused.multiply(a, b, c[:, :, :4], model)
    with pytest.raises(ValueError, match=r"^out must be of uint32; found uint16$"):
        fused.multiply(a, b, c, model, out=c.astype(np.uint16))
    with pytest.raises(ValueError, match=r"^a and b must be \(G, M, K\) and \(G, N, K\); found \(1, 4, 16\) and "):
        fused.multiply(a, b[:, :, :8], c, model)


@pytest.mark.parametrize("name", ["a", "b", "c", "out"])
@pytest.mark.parametrize("shape", [(2, 16, 16), (1, 8, 16), (1, 16, 8), (1, 16, 32)])
def test_contiguous_operands_of_other_shapes_are_refused(name: str, shape: tuple[int, int, int]) -> None:
    model, _ = CASES["hopper f16"]
    a, b, c = operands(0, model, "normal", (1, 16, 16, 16))
    arrays = {"a": a, "b": b, "c": c, "out": np.zeros_like(c)}
    arrays[name] = np.zeros(shape, arrays[name].dtype)
    with pytest.raises(ValueError, match=r"must (be|have shape) \("):
        fused.multiply(model=model, **arrays)
