"""The definitions in `numerics.spec`: every model names one, and the fast implementation returns the same bits."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warploom.numerics import fused, models, spec
from warploom.numerics.formats import FORMATS, STORAGE
from warploom.numerics.models import Evidence, Model, Sum

HOPPER, RTX = ("sm_90a", "warp"), ("sm_120a", "warp")
# Model, K and options. Every method of adding products is here.
CASES: dict[str, tuple[Model, int, dict[str, Any]]] = {
    "one step": (models.select("sm_90a", "warpgroup", "f16", "f16", "f32"), 16, {}),
    "e8m13": (models.select("sm_90a", "warpgroup", "e4m3", "e5m2", "f32"), 64, {}),
    "f16 addend": (models.select("sm_90a", "warp tiles", "f16", "f16", "f32", c_type="f16"), 16, {}),
    "f16 result": (models.select("sm_90a", "warp tiles", "f16", "f16", "f16", c_type="f32"), 16, {}),
    "fp8 as f16, k32": (models.select(*HOPPER, "e4m3", "e5m2", "f32"), 32, {}),
    "fp8 as f16, k16": (models.select(*HOPPER, "e5m2", "e4m3", "f16"), 16, {}),
    "multiply-adds": (models.select(*HOPPER, "f16", "f16", "f32", k=4), 4, {}),
    "multiply-adds, f16 addend": (models.select(*HOPPER, "f16", "f16", "f32", c_type="f16", k=4), 4, {}),
    "pairs": (models.select(*HOPPER, "f16", "f16", "f16", k=4), 4, {}),
    **{
        f"f64 {mode}": (models.select(*HOPPER, "f64", "f64", "f64"), 4, {"rounding": mode})
        for mode in ("rn", "rz", "rm", "rp")
    },
    "integers": (models.select(*HOPPER, "s8", "u8", "s32"), 32, {}),
    "xor": (models.select(*HOPPER, "b1", "b1", "s32"), 8, {}),
    "and": (models.select(*HOPPER, "b1", "b1", "s32", operation="and"), 8, {}),
    "scaled": (models.select(*RTX, "e4m3", "e5m2", "f32", scaling=("mxf8f6f4", "ue8m0")), 32, {}),
    "grouped": (models.select(*RTX, "e2m1", "e2m1", "f32", scaling=("mxf4nvf4", "ue4m3")), 64, {}),
}


def _raw(rng: np.random.Generator, name: str, shape: tuple[int, ...], moderate: bool) -> Any:
    """Random bits; of moderate numbers, the upper exponent bits are those of 1."""
    dtype = STORAGE[name]
    words = rng.integers(0, 1 << 64, shape, np.uint64).astype(f"u{dtype.itemsize}")
    if moderate and dtype.itemsize > 1 and name not in ("s32", "b1"):
        width = 8 * dtype.itemsize
        keep = (1 << (width - 5)) - 1 | 1 << (width - 1)
        words = words & words.dtype.type(keep) | words.dtype.type(7 << (width - 5))
    if name in FORMATS:
        fmt = FORMATS[name]
        words &= words.dtype.type((fmt.sign_bit | fmt.magnitude_mask) << fmt.padding)
    return words.view(dtype)


def _operands(seed: int, model: Model, depth: int, moderate: bool) -> tuple[Any, Any, Any, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    a, b, c = (
        _raw(rng, name, shape, moderate)
        for name, shape in ((model.a_type, (1, 2, depth)), (model.b_type, (1, 3, depth)), (model.c_type, (1, 2, 3)))
    )
    if model.scale_type is None:
        return a, b, c, {}
    scales = depth // 16 if model.sum is Sum.T_FDPA_GROUPED else 1
    middle = FORMATS[model.scale_type].bias << FORMATS[model.scale_type].mantissa_bits
    low, high = (middle - 4, middle + 4) if moderate else (0, 256)
    return (
        a,
        b,
        c,
        {
            name: rng.integers(low, high, (1, rows, scales)).astype(np.uint8)
            for name, rows in (("scale_a", 2), ("scale_b", 3))
        },
    )


@pytest.mark.parametrize("name", CASES)
def test_the_fast_implementation_returns_the_bits_of_the_definition(name: str) -> None:
    model, depth, options = CASES[name]

    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, 1 << 32), st.booleans())
    def check(seed: int, moderate: bool) -> None:
        a, b, c, scales = _operands(seed, model, depth, moderate)
        got = fused.multiply(a, b, c, model, **scales, **options)
        want = spec.multiply(a, b, c, model, **scales, **options)
        np.testing.assert_array_equal(got.view(f"u{got.itemsize}"), want.view(f"u{want.itemsize}"))

    check()


def test_every_method_is_compared() -> None:
    assert {model.sum for model, _, _ in CASES.values()} == set(Sum)


@pytest.mark.parametrize("name", CASES)
def test_a_formula_evaluates_to_the_definition(name: str) -> None:
    model, depth, _ = CASES[name]
    a, b, c, scales = _operands(1, model, depth, True)
    scale_type = str(model.scale_type)
    types = dict(zip(("a", "b", "scale_a", "scale_b"), (model.a_type, model.b_type, scale_type, scale_type)))
    operands = {name: spec.numbers(array[0, 0], types[name]) for name, array in {"a": a, "b": b, **scales}.items()}
    operands["c"] = spec.numbers(c[0, 0], model.c_type)[0]
    target, _, text = model.formula().partition(" = ")
    assert target == "d"
    d = eval(text, vars(spec), operands)
    want = spec.multiply(a, b, c, model, **scales)[0, 0, :1]
    assert d == spec.numbers(want, model.result)[0]


def test_formulas_of_known_instructions() -> None:
    assert CASES["one step"][0].formula() == "d = t_fdpa(a, b, c, length=16, fraction=25, emin=-133)"
    assert CASES["e8m13"][0].formula() == 'd = t_fdpa(a, b, c, length=32, fraction=13, result="e8m13")'
    assert CASES["pairs"][0].formula() == "d = paired_sum(a, b, c)"
    assert (
        CASES["scaled"][0].formula()
        == "d = t_fdpa_scaled(a, b, c, scale_a, scale_b, length=32, fraction=25, emin=-133)"
    )


@pytest.mark.parametrize("method", Sum)
def test_a_definition_states_its_formula(method: Sum) -> None:
    first = (inspect.getdoc(getattr(spec, method.value)) or "").splitlines()[0]
    assert first.startswith("Return d = ")


def test_what_a_model_says_of_itself() -> None:
    model = CASES["e8m13"][0]
    assert (model.length, model.fraction, model.result) == (32, 13, "e8m13")
    assert model.rounding == "toward zero after each step"
    assert model.evidence == (Evidence.CAMPAIGN, Evidence.PUBLISHED_OUTPUTS)
    assert CASES["fp8 as f16, k16"][0].rounding == "to nearest even after each step; sum with c to nearest even"
    assert CASES["integers"][0].rounding == "none: wraps to 32 bits, or clamps with .satfinite"
    assert models.select("sm_100a", "warp", "f64", "f64", "f64").evidence == (Evidence.INFERENCE,)
    assert CASES["scaled"][0].evidence == (Evidence.PUBLISHED_MODEL,)


def test_a_number_of_the_definition() -> None:
    one, tiny = spec.Float(0x3C00, "f16"), spec.Float(0x0001, "f16")
    assert spec.unpack(one) == spec.Term(False, 1 << 10, -10, 0)
    assert spec.unpack(tiny) == spec.Term(False, 1, -24, -14)
    one_f32 = spec.Float(0x3F800000, "f32")
    assert spec.t_fdpa([one], [one], spec.Float(0, "f32"), length=16, fraction=25) == one_f32
    assert spec.add(one, tiny, result="f32") == one_f32  # a tie, to even
