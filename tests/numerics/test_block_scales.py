"""Block-scaled sums equal `numerics.spec` bit for bit, on operands and scales chosen to cause errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics import exact_sums
from numerics.test_fused import KINDS, operands
from numpy.typing import NDArray

from warploom.numerics import fused, models, spec
from warploom.numerics.formats import F8F6F4
from warploom.numerics.models import Model, Sum

Array = NDArray[Any]


def _model(kind: Any, scale_type: Any, a: str = "e2m1", b: str = "e2m1", k: int = 0) -> Model:
    return models.select("sm_103a", "tensor memory", a, b, "f32", scaling=(kind, scale_type), k=k)


GROUPED = {
    "mxf4": (_model("mxf4", "ue8m0"), 64, 2),
    "mxf4nvf4, 16 ue8m0": (_model("mxf4nvf4", "ue8m0"), 64, 4),
    "mxf4nvf4, 16 ue4m3": (_model("mxf4nvf4", "ue4m3"), 64, 4),
    "mxf4 k96": (_model("mxf4", "ue8m0", k=96), 96, 3),
    "mxf4nvf4 k96": (_model("mxf4nvf4", "ue4m3", k=96), 96, 6),
}
CASES = GROUPED | {
    f"mxf8f6f4 {a} {b}": (_model("mxf8f6f4", "ue8m0", a, b), 32, 1)
    for a, b in [("e4m3", "e5m2"), ("e5m2", "e2m1"), ("e3m2", "e2m3"), ("e2m1", "e4m3"), ("e5m2", "e5m2")]
}
"""Model, K of an instruction, and the number of scales in K elements."""
RANGES = ((120, 134), (20, 50), (60, 194), (0, 255), (0, 256), (0, 8), (250, 256))
"""Ranges of the bytes of scales. The byte 255 is NaN in both types."""


def scales_of(seed: int, a: Array, b: Array, count: int, limits: tuple[int, int]) -> dict[str, Array]:
    """Return random block scales, `count` for each row of A and B."""
    rng = np.random.default_rng(seed)
    return {
        name: rng.integers(*limits, (*x.shape[:2], count)).astype(np.uint8)
        for name, x in (("scale_a", a), ("scale_b", b))
    }


@pytest.mark.parametrize("name", CASES)
def test_the_compiled_sums_equal_the_spec(name: str) -> None:
    model, depth, count = CASES[name]
    for seed in range(3 * len(KINDS)):
        kind, limits = KINDS[seed % len(KINDS)], RANGES[seed % len(RANGES)]
        a, b, c = operands(seed, model, kind, (1, 3, 5, depth))
        scales = scales_of(seed, a, b, count, limits)
        want = spec.multiply(a, b, c, model, **scales)
        np.testing.assert_array_equal(fused.multiply(a, b, c, model, **scales), want, f"{kind}, {limits}")


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(sorted(CASES)),
    kinds=st.tuples(*[st.sampled_from(KINDS)] * 3),
    limits=st.tuples(*[st.sampled_from(RANGES)] * 2),
    seed=st.integers(0, 1 << 32),
    shape=st.tuples(st.integers(1, 2), st.integers(1, 5), st.integers(1, 9)),
    times=st.integers(1, 3),
    negate=st.tuples(st.booleans(), st.booleans()),
)
def test_any_mixture_equals_the_spec(
    name: str, kinds: tuple[str, str, str], limits: tuple[tuple[int, int], tuple[int, int]], seed: int,
    shape: tuple[int, int, int], times: int, negate: tuple[bool, bool],
) -> None:  # fmt: skip
    model, depth, count = CASES[name]
    a, b, c = (operands(seed, model, kind, (*shape, times * depth))[i] for i, kind in enumerate(kinds))
    scales = scales_of(seed, a, b, times * count, limits[0])
    scales["scale_b"] = scales_of(seed, a, b, times * count, limits[1])["scale_b"]
    signs = {"negate_a": negate[0], "negate_b": negate[1]}
    want = spec.multiply(a, b, c, model, **scales, **signs)
    np.testing.assert_array_equal(fused.multiply(a, b, c, model, **scales, **signs), want)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("columns", [8, 16, 32, 96])
def test_strips_of_all_widths_equal_exact_integers(name: str, columns: int) -> None:
    model, depth, count = CASES[name]
    for seed in range(2 * len(KINDS)):
        kind, limits = KINDS[seed % len(KINDS)], RANGES[seed % len(RANGES)]
        a, b, c = operands(seed, model, kind, (2, 24, columns, depth))
        scales = scales_of(seed, a, b, count, limits)
        want = exact_sums.multiply(a, b, c, model, *scales.values())
        np.testing.assert_array_equal(fused.multiply(a, b, c, model, **scales), want, f"{kind}, {limits}")


@settings(max_examples=25, deadline=None)
@given(
    name=st.sampled_from(sorted(CASES)),
    kind=st.sampled_from(KINDS),
    limits=st.sampled_from(RANGES),
    seed=st.integers(0, 1 << 32),
    columns=st.sampled_from([3, 16]),
)
def test_sparse_is_the_dense_sum_over_the_chosen_columns(
    name: str, kind: str, limits: tuple[int, int], seed: int, columns: int
) -> None:
    model, depth, count = CASES[name]
    a, _, c = operands(seed, model, kind, (1, 2, columns, depth))
    _, b, _ = operands(seed + 1, model, kind, (1, 2, columns, 2 * depth))
    rng = np.random.default_rng(seed)
    pairs = np.sort(rng.permuted(np.tile(np.arange(4), (*a.shape[:2], depth // 2, 1)), axis=-1)[..., :2], axis=-1)
    index = (pairs + 4 * np.arange(depth // 2)[:, None]).reshape(a.shape)
    scales = scales_of(seed, a, b, count, limits)
    want = spec.multiply(a, b, c, model, index=index, **scales)
    np.testing.assert_array_equal(fused.multiply(a, b, c, model, index=index, **scales), want)


@pytest.mark.parametrize("name", GROUPED)
def test_a_finite_group_is_exact(name: str) -> None:
    """A sum of products alone, with equal scales, is the exact sum if it has at most 24 bits."""
    model, depth, count = CASES[name]
    rng = np.random.default_rng(2)
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])
    a, b = (rng.integers(0, 16, (4, rows, depth)).astype(np.uint8) for rows in (16, 40))
    one = 127 if model.scale_type == "ue8m0" else 0x38
    scales = (np.full((*x.shape[:2], count), one, np.uint8) for x in (a, b))
    d = fused.multiply(a, b, None, model, **dict(zip(("scale_a", "scale_b"), scales, strict=True)))
    np.testing.assert_array_equal(d.view(np.float32), values[a] @ values[b].swapaxes(1, 2))


def test_an_ignored_sign_and_a_nan_among_scales() -> None:
    model, _, _ = CASES["mxf4nvf4, 16 ue4m3"]
    a = np.full((1, 4, 64), 2, np.uint8)
    scale = np.full((1, 4, 4), 0x38, np.uint8)

    def d(first: int) -> int:
        other = scale.copy()
        other[0, 0, 0] = first
        return int(fused.multiply(a, a, None, model, scale_a=other, scale_b=scale).view(np.float32)[0, 0, 0])

    assert d(0x38) == 64
    assert d(0xB8) == 64
    assert d(0x40) == 80


@pytest.mark.parametrize("name", CASES)
def test_a_nan_scale_makes_its_row_nan_even_with_zero_products(name: str) -> None:
    model, depth, count = CASES[name]
    a, b = np.zeros((1, 16, depth), np.uint8), np.zeros((1, 32, depth), np.uint8)
    scales = scales_of(1, a, b, count, (100, 120))
    scales["scale_a"][0, 5, -1] = 255
    scales["scale_b"][0, 9, 0] = 255
    d = fused.multiply(a, b, None, model, **scales)
    want = np.zeros(d.shape, np.uint32)
    want[0, 5] = want[0, :, 9] = 0x7FFFFFFF
    np.testing.assert_array_equal(d, want)


def test_what_has_no_scales_or_wrong_scales() -> None:
    model, depth, _ = CASES["mxf4"]
    a, b, c = operands(0, model, "normal", (1, 4, 8, depth))
    with pytest.raises(ValueError, match=r"^a scaled model needs block scales for both operands"):
        fused.multiply(a, b, c, model)
    with pytest.raises(ValueError, match=r"^a scale must apply to a multiple of 16 elements; found 8 for 64$"):
        fused.multiply(a, b, c, model, **scales_of(0, a, b, 8, (120, 134)))
    plain = models.select("sm_100a", "tensor memory", "e2m1", "e2m1", "f32")
    with pytest.raises(ValueError, match=r"^a scaled model needs block scales for both operands, and other models"):
        fused.multiply(a, b, c, plain, **scales_of(0, a, b, 2, (120, 134)))
    with pytest.raises(ValueError, match=r"^C is divided before fused sums only; found d = t_fdpa_grouped"):
        fused.multiplier(model, divisor=1)


@pytest.mark.parametrize("a", sorted(F8F6F4))
@pytest.mark.parametrize("arch", ["sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_121a"])
def test_every_kind_has_a_model(arch: str, a: str) -> None:
    unit: models.UnitKind = "warp" if arch.startswith("sm_12") else "tensor memory"
    for b in F8F6F4:
        for d in ("f16", "f32"):
            assert models.select(arch, unit, a, b, d).sum is Sum.T_FDPA
        assert models.select(arch, unit, a, b, "f32", scaling=("mxf8f6f4", "ue8m0")).sum is Sum.T_FDPA_SCALED
    for kind, scale_type in (("mxf4", "ue8m0"), ("mxf4nvf4", "ue8m0"), ("mxf4nvf4", "ue4m3")):
        found = models.select(arch, unit, "e2m1", "e2m1", "f32", scaling=(kind, scale_type))
        assert found.sum is Sum.T_FDPA_GROUPED
        inferred = arch not in ("sm_100a", "sm_120a")
        assert [each.name for each in found.evidence] == ["INFERENCE" if inferred else "PUBLISHED_MODEL"]
    for types in ("f16 f16 f32", "f16 f16 f16", "bf16 bf16 f32", "tf32 tf32 f32", "s8 u8 s32"):
        assert models.select(arch, unit, *types.split()).length == {"tf": 8, "s8": 0}.get(types[:2], 16)
