"""Matrix arithmetic without Numba against the compiled arithmetic, with special values."""

import numpy as np
import pytest

from warploom.diagnostics import UsageError
from warploom.numerics import fused
from warploom.numerics.formats import FORMATS, STORAGE
from warploom.numerics.fused import Multiplier
from warploom.numerics.models import Model, Sum

MODELS = {
    "f16, f32": Model("f16", "f16", "f32", "f32", Sum.T_FDPA, 16, 25),
    "f16, f16": Model("f16", "f16", "f16", "f16", Sum.T_FDPA, 8, 24),
    "bf16, least exponent": Model("bf16", "bf16", "f32", "f32", Sum.T_FDPA, 8, 24, emin=-132),
    "tf32": Model("tf32", "tf32", "f32", "f32", Sum.T_FDPA, 4, 24),
    "e8m13": Model("e4m3", "e5m2", "f32", "f32", Sum.T_FDPA, 32, 13, "e8m13"),
    "converted": Model("f16", "f16", "f16", "f32", Sum.T_FDPA_CONVERTED, 8, 24),
    "split": Model("e4m3", "e5m2", "f16", "f16", Sum.T_FDPA_SPLIT, 16, 24),
    "pairs": Model("f16", "f16", "f16", "f16", Sum.PAIRED),
}


def patterns(rng, name, shape, special):
    """Return random patterns of a format. Few are large or special, and none without `special`."""
    fmt, dtype = FORMATS[name], STORAGE[name]
    codes = rng.integers(0, 1 << fmt.bits, shape, np.uint64)
    small = codes & np.uint64(~(1 << (fmt.exponent_bits + fmt.mantissa_bits - 1)) & ((1 << fmt.bits) - 1))
    codes = np.where(rng.random(shape) < (0.03 if special else 0), codes, small)
    codes[rng.random(shape) < 0.1] = 0
    return (codes << np.uint64(fmt.padding)).astype(dtype)


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_the_bits_are_those_of_the_compiled_arithmetic(monkeypatch, name, special):
    model = MODELS[name]
    depth = 4 if model.sum is Sum.PAIRED else 32
    rng = np.random.default_rng(0)
    a, b, c = (
        patterns(rng, kind, shape, special)
        for kind, shape in ((model.a_type, (8, 16, depth)), (model.b_type, (8, 8, depth)), (model.c_type, (8, 16, 8)))
    )
    for negate_a in (False, True):
        expected = Multiplier(model, negate_a)(a, b, c)
        with monkeypatch.context() as context:
            context.setattr(fused, "INSTALLED", False)
            found = Multiplier(model, negate_a)(a, b, c)
        np.testing.assert_array_equal(found, expected)
    assert len(np.unique(expected)) > 50


def test_a_sparse_matrix_and_a_divided_addend(monkeypatch):
    model = MODELS["f16, f32"]
    rng = np.random.default_rng(1)
    a, b = patterns(rng, "f16", (4, 16, 16), False), patterns(rng, "f16", (4, 8, 32), False)
    c = patterns(rng, "f32", (4, 16, 8), False)
    index = np.sort(rng.permuted(np.tile(np.arange(32), (4, 16, 1)), axis=2)[..., :16], axis=2).astype(np.int32)
    expected = Multiplier(model)(a, b, c, index=index), Multiplier(model, divisor=3)(a, b[..., :16].copy(), c)
    monkeypatch.setattr(fused, "INSTALLED", False)
    np.testing.assert_array_equal(Multiplier(model)(a, b, c, index=index), expected[0])
    np.testing.assert_array_equal(Multiplier(model, divisor=3)(a, b[..., :16].copy(), c), expected[1])


def test_block_scales_need_numba(monkeypatch):
    monkeypatch.setattr(fused, "INSTALLED", False)
    model = Model("e4m3", "e4m3", "f32", "f32", Sum.T_FDPA_SCALED, 32, 25, scale_type="ue8m0")
    a, b, scale = np.zeros((1, 16, 32), np.uint8), np.zeros((1, 8, 32), np.uint8), np.zeros((1, 16, 1), np.uint8)
    with pytest.raises(UsageError, match="block scales need Numba"):
        Multiplier(model)(a, b, np.zeros((1, 16, 8), np.uint32), scale_a=scale, scale_b=scale[:, :8])
