"""Attention with elements of e4m3: exact for one key, near float64 for all options, scales, and mistakes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from kernels.attention_check import run

import warploom as wl
from warploom.diagnostics import UsageError
from warploom_lab.attention import Case
from warploom_lab.attention.inputs import make_inputs

E4M3 = ml_dtypes.float8_e4m3fn
HEADS = ((64, 64), (128, 128), (192, 192), (256, 256), (192, 64), (48, 144))


def attention(*arrays: Any, **options: Any) -> Any:
    return wl.kernels.attention(*arrays, device="cpu", **options)


@pytest.mark.parametrize("heads", HEADS, ids=str)
def test_a_row_with_one_key_returns_its_value(heads):
    q, k, v, *_ = make_inputs(Case("e4m3", *heads, tokens=(300,), keys=(300,))).operands
    found = attention(q, k, v, window=(0, 0))
    assert found.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(found.astype(np.float32), v.astype(np.float32))


@pytest.mark.parametrize(
    "case",
    [
        Case("e4m3", heads=2, tokens=(40, 40), keys=(100, 37), padding=9, factors=(0.75, 0.375, 2.5)),
        Case("e4m3", 96, 128, heads=2, tokens=(40, 0, 7), keys=(99, 20, 130), packed=True, padding=9, right=0, left=9),
        Case("e4m3", 128, 128, heads=2, tokens=(90, 45), keys=(90, 45), packed=True, storage="fused", out=None, lse=""),
        Case("e4m3", heads=4, heads_kv=2, tokens=(30, 30), keys=(120, 60), factor_arrays="qkv", values="graded"),
        Case("e4m3", 144, 48, heads=3, keys=(90,), factors=(1.0, 1.0, 2.5), factor_arrays="qk", storage="heads"),
        Case("e4m3", 192, 256, tokens=(9, 9), keys=(70, 0), factor_arrays="v", right=5, out="heads", result="f16"),
        Case("e4m3", 256, 64, tokens=(50, 50), keys=(60, 60), scale=0.3, right=0, storage="tokens", out="tokens"),
        Case("e4m3", heads=2, tokens=(100,), keys=(60,), right=0, values="tiny", storage="wide", result="f16"),
    ],
    ids=str,
)  # fmt: skip
def test_agrees_with_float64_and_is_silent(case):
    run(replace(case, multiprocessors=2))


@pytest.mark.parametrize("heads", HEADS, ids=str)
def test_several_blocks_of_keys(heads):
    run(Case("e4m3", *heads, heads=2, tokens=(150,), keys=(420,), right=60, multiprocessors=2))


def test_every_schedule_gives_the_same_bits():
    case = Case("e4m3", tokens=(70,), keys=(300,), left=200, right=3)
    results = [run(case, schedule) for schedule in ("eager", "lazy", "random:1", "random:2")]
    assert len({(found["o"].tobytes(), found["lse"].tobytes()) for found in results}) == 1


# Scales -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
def test_scales_of_sequences_and_heads(packed):
    case = Case("e4m3", heads=4, heads_kv=2, tokens=(20, 20), keys=(30, 30), packed=packed)
    operands = make_inputs(case).operands
    q, k, v = operands[:3]
    ends = {"q_ends": operands.q_ends, "k_ends": operands.k_ends} if packed else {}
    scales = {name: np.array(each, np.float32) for name, each in (
        ("q_scale", [[1, 2], [4, 0.5]]), ("k_scale", [[0.5, 1], [0.25, 8]]), ("v_scale", [[2, 16], [1, 0.125]]),
    )}  # fmt: skip
    found = attention(q, k, v, **scales, **ends)
    for sequence in range(2):
        for head in range(2):
            numbers = {name: float(each[sequence, head]) for name, each in scales.items()}
            one = attention(q, k, v, **numbers, **ends)
            rows = slice(20 * sequence, 20 * sequence + 20) if packed else sequence
            of_head = (..., slice(2 * head, 2 * head + 2), slice(None))
            np.testing.assert_array_equal(found[rows][of_head], one[rows][of_head])


def test_one_array_of_scales_is_broadcast():
    q, k, v, *_ = make_inputs(Case("e4m3", heads=2, heads_kv=2, tokens=(9,), keys=(20,))).operands
    scale = np.broadcast_to(np.float32(3.25), (1, 2))
    plain = attention(q, k, v)
    np.testing.assert_array_equal(attention(q, k, v, v_scale=scale), attention(q, k, v, v_scale=3.25))
    np.testing.assert_array_equal(attention(q, k, v, q_scale=4 * scale / 13), plain)
    assert abs(attention(q, k, v, v_scale=2).astype(float) - 2 * plain.astype(float)).max() == 0


# Mistakes -----------------------------------------------------------------------------------------------------------

Q, K = np.zeros((1, 4, 2, 64), E4M3), np.zeros((1, 8, 1, 64), E4M3)
ONE = np.ones((1, 1), np.float32)
MISTAKES = {
    "no e4m3 attention kernel for sm_80; expected sm_90a": {"target": "sm_80"},
    "the types are q float8_e4m3fn, k float8_e4m3fn, v float16": {"v": K.astype(np.float16)},
    "K and V are pages of e4m3; expected pages of bf16 or f16": {
        "table": np.zeros((1, 1), np.int32), "k_lengths": np.array([8], np.int32)
    },
    "the head sizes are 24 and 64; expected multiples of 16 up to 256": {"q": Q[..., :24], "k": K[..., :24]},
    "out": {"out": np.zeros((1, 4, 2, 64), np.float32)},
    "q_scale is 0; expected a finite number above 0": {"q_scale": 0},
    "k_scale is 'x'; expected a finite number above 0": {"k_scale": "x"},
    "float32 of shape (1, 1), sequences and heads of K": {"v_scale": np.ones((1, 2), np.float32)},
    "v_scale is": {"v_scale": np.ones((1, 1))},
    "the arrays of scales have the strides": {"q_scale": ONE, "k_scale": np.broadcast_to(np.float32(1), (1, 1))},
    "is given for elements of float16; expected float8_e4m3fn": {
        "q": Q.astype(np.float16), "k": K.astype(np.float16), "v": K.astype(np.float16), "v_scale": 2.0
    },
}  # fmt: skip


@pytest.mark.parametrize("sentence", MISTAKES)
def test_a_mistake_is_named(sentence):
    with pytest.raises(UsageError) as caught:
        attention(**{"q": Q, "k": K, "v": K} | MISTAKES[sentence])
    assert sentence in str(caught.value)
    assert caught.value.diagnostics[0].code.startswith("kernels.")


def test_gradients_are_refused():
    with pytest.raises(UsageError, match="Q, K and V are e4m3; expected bf16 or f16 for gradients"):
        wl.kernels.attention_backward(Q, Q, Q, Q, Q, np.zeros((1, 2, 4), np.float32), device="cpu")
