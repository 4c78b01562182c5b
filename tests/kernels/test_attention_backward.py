"""Gradients of attention: near float64, silent under the sanitizer, in a fixed order, and wrong uses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.attention_check import run

from warploom.diagnostics import UsageError
from warploom.kernels import attention_backward
from warploom_lab.attention import Case


def gradients(type: str, head: int, tokens: Any, keys: Any, **words: Any) -> Case:
    return Case(type, head, head, tokens=tokens, keys=keys, gradients=True, **words)


@pytest.mark.parametrize(
    "case",
    [
        gradients("bf16", 64, (70,), (130,), heads=2, storage="heads", out="heads"),
        gradients("bf16", 64, (150,), (100,), heads=2, right=0, deterministic=True),
        gradients("f16", 128, (70,), (100,), heads=2, left=40, right=20, storage="wide"),
        gradients("bf16", 128, (70,), (140,), heads=2, right=0, deterministic=True),
        gradients("bf16", 64, (70, 0, 1, 10, 20), (20, 30, 130, 0, 5), packed=True, right=0, padding=5),
    ],
    ids=str,
)
def test_agrees_with_float64(case: Case) -> None:
    run(case)


def test_keys_after_the_end_have_no_gradient() -> None:
    """Memory there is not a number."""
    found = run(gradients("f16", 64, (60, 60), (40, 0), heads=2, heads_kv=2, padding=30))
    assert not np.any(found["dk"][0, 40:])
    assert not np.any(found["dv"][0, 40:])
    assert not any(np.any(each[1]) for each in found.values())


def test_the_order_of_additions_can_be_fixed() -> None:
    """Every schedule returns the same bits if `deterministic` is given."""
    case = gradients("bf16", 64, (70,), (200,), right=0, deterministic=True)
    bits = {b"".join(each.tobytes() for each in run(case, schedule).values()) for schedule in ("eager", "lazy")}
    assert len(bits) == 1


def test_wrong_arrays_are_refused() -> None:
    q, k, v, do = np.ones((4, 1, 8, 1, 64), np.float16)
    lse = np.zeros((1, 1, 8), np.float32)
    for change, message in (
        ({"o": None}, "o is None; expected an array"),
        ({"lse": lse[..., :4].copy()}, "expected float32 of shape"),
        ({"do": do.astype(np.float32)}, "do is an array of float32"),
        ({"dk": v[:, :4]}, "dk is an array of float16"),
        ({"window": 5}, "window is 5; expected a pair"),
        ({"target": "sm_80"}, "no kernel for the gradients of attention for sm_80"),
    ):
        call: dict[str, Any] = {"do": do, "q": q, "k": k, "v": v, "o": do, "lse": lse, "device": "cpu"} | change
        with pytest.raises(UsageError, match=message):
            attention_backward(**call)
    wide: Any = [*[np.zeros((1, 8, 1, 96), np.float16)] * 5, lse]
    with pytest.raises(UsageError, match="the head sizes are 96 and 96; expected 64 or 128"):
        attention_backward(*wide, device="cpu")
