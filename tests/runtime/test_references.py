"""Named references: right values, and bounds that honest arithmetic meets and mistakes do not."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from warploom.runtime.buffers import Array
from warploom.runtime.comparison import compare
from warploom.runtime.references import REFERENCES, Expected, Options, ShapeError

RANDOM = np.random.default_rng(5)


def make(*shape: int, dtype: type = np.float16) -> Array:
    return RANDOM.standard_normal(shape).astype(dtype)


def expected(name: str, operands: dict[str, Array], result: Array, **options: object) -> Expected:
    return REFERENCES[name].compute(operands, result, Options(**options))  # type: ignore[arg-type]


def truncated(values: np.ndarray) -> np.ndarray:
    """float64 to float32, toward zero."""
    nearest = values.astype(np.float32)
    return np.where(np.abs(nearest) > np.abs(values), np.nextafter(nearest, np.float32(0)), nearest)


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_matmul_allows_sums_truncated_in_float32_and_no_more(transpose_a: bool, transpose_b: bool) -> None:
    a, b = make(48, 256), make(256, 32)
    total = np.zeros((48, 32), np.float32)
    for k in range(0, 256, 4):
        total = truncated(total + a[:, k : k + 4].astype(np.float64) @ b[k : k + 4].astype(np.float64))
    operands = {"a": a.T if transpose_a else a, "b": b.T if transpose_b else b}
    right = expected("matmul", operands, total, transpose_a=transpose_a, transpose_b=transpose_b)
    assert compare("c", total, right).ok
    assert not compare("c", total, right).exact
    assert not compare("c", total.astype(np.float16), right).ok
    left_out = total - a[:, 7:8].astype(np.float32) * b[7:8].astype(np.float32)
    assert compare("c", left_out, right).mismatches > 1400


def test_matmul_rounded_to_its_result_s_type() -> None:
    a, b = make(32, 64), make(64, 32)
    result = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float16)
    right = expected("matmul", {"a": a, "b": b}, result)
    assert compare("c", result, right).ok
    assert not compare("c", np.nextafter(result, np.float16(np.inf)), right).ok


def test_matmul_scaled_and_added_to_what_was_there() -> None:
    a, b, c = make(8, 16), make(16, 8), make(8, 8, dtype=np.float32)
    result = (0.5 * (a.astype(np.float64) @ b.astype(np.float64)) + c).astype(np.float32)
    assert compare("c", result, expected("matmul", {"a": a, "b": b}, c, alpha=0.5, add_initial=True)).ok
    assert not compare("c", result, expected("matmul", {"a": a, "b": b}, c, alpha=0.5)).ok
    assert not compare("c", result, expected("matmul", {"a": a, "b": b}, c, add_initial=True)).ok


def test_matmul_of_integers_is_exact() -> None:
    a = RANDOM.integers(-128, 127, (16, 512), np.int8)
    b = RANDOM.integers(-128, 127, (512, 16), np.int8)
    result = a.astype(np.int32) @ b.astype(np.int32)
    right = expected("matmul", {"a": a, "b": b}, result, accumulator="int32")
    assert compare("c", result, right).exact
    result[3, 4] += 1
    comparison = compare("c", result, right)
    assert comparison.mismatches == 1
    assert comparison.first[0].index == (3, 4)
    assert comparison.largest_error == 1


def test_thirteen_bits_allow_more_but_not_anything() -> None:
    a, b = make(32, 256, dtype=ml_dtypes.float8_e4m3fn), make(256, 32, dtype=ml_dtypes.float8_e4m3fn)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    total = np.zeros((32, 32))
    for k in range(0, 256, 16):
        terms = np.concatenate(
            [a[:, None, k : k + 16].astype(np.float64) * b.T[None, :, k : k + 16].astype(np.float64), total[..., None]],
            2,
        )
        step = 2.0 ** (np.frexp(np.abs(terms).max(2, keepdims=True))[1] - 1 - 13)
        total = (np.trunc(terms / step) * step).sum(2)
    right = expected("matmul", {"a": a, "b": b}, np.zeros((32, 32), np.float32), accumulator="e8m13")
    assert compare("c", total, right).ok
    assert not compare("c", total, expected("matmul", {"a": a, "b": b}, np.zeros((32, 32), np.float32))).ok
    assert compare("c", np.zeros((32, 32)), right).mismatches > 800
    assert right.bound.max() < np.abs(exact).max() / 4


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal: bool) -> None:
    q, k, v = make(2, 64, 32), make(2, 64, 32), make(2, 64, 32)
    scores = (q.astype(np.float32) @ k.astype(np.float32).swapaxes(1, 2)) * np.float32(0.25)
    if causal:
        scores[:, np.triu_indices(64, 1)[0], np.triu_indices(64, 1)[1]] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    out = weights.astype(np.float16).astype(np.float32) @ v.astype(np.float32) / weights.sum(-1, keepdims=True)
    operands = {"q": q, "k": k, "v": v}
    result = out.astype(np.float16)
    assert compare("o", result, expected("attention", operands, result, scale=0.25, causal=causal)).ok
    assert not compare("o", result, expected("attention", operands, result, scale=0.25, causal=not causal)).ok
    assert not compare("o", result, expected("attention", operands, result, scale=0.26, causal=causal)).ok


def test_softmax_and_elementwise() -> None:
    x, y = make(4, 100, dtype=np.float32), make(4, 100, dtype=np.float32)
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    result = exponentials / exponentials.sum(-1, keepdims=True)
    assert compare("y", result, expected("softmax", {"x": x}, result)).ok
    assert not compare("y", result * np.float32(1.001), expected("softmax", {"x": x}, result)).ok
    for name, operation in {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}.items():
        right = expected(name, {"a": x, "b": y}, x)
        assert compare("z", operation(x, y), right).ok
        assert not compare("z", np.nextafter(operation(x, y), np.float32(9)), right).ok
    assert compare("z", x, expected("copy", {"a": x}, x)).exact


def test_operands_that_do_not_fit() -> None:
    with pytest.raises(ShapeError, match="expected equal K, found 8 and 4"):
        expected("matmul", {"a": make(4, 8), "b": make(4, 8)}, make(4, 4))
    with pytest.raises(ShapeError, match=r"a and b have the shapes \(2,\) and \(3,\)"):
        expected("add", {"a": make(2), "b": make(3)}, make(2))


def test_nan_and_infinity_agree_with_themselves_only() -> None:
    values = np.array([np.nan, np.inf, -np.inf, 1.0])
    right = Expected(values, np.full(4, np.inf))
    assert compare("x", values, right).ok
    assert [m.index for m in compare("x", np.array([1.0, -np.inf, np.nan, np.nan]), right).first] == [(0,), (1,), (2,)]
    assert compare("x", np.array([1.0, -np.inf, np.nan, np.nan]), right).mismatches == 4
