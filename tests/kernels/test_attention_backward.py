"""Gradients of attention: against float64, under the sanitizer, in a fixed order, and wrong uses."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import warploom as wl
from warploom.diagnostics import UsageError
from warploom.kernels import attention_backward, backward_api


def reference(q: Any, k: Any, v: Any, do: Any, left: int | None, right: int | None) -> Any:
    """Return O, the logarithms, dQ, dK and dV of one sequence in float64."""
    q, k, v, do = (each.astype(np.float64) for each in (q, k, v, do))
    heads_kv, sharing, scale = k.shape[1], q.shape[1] // k.shape[1], q.shape[-1] ** -0.5
    k, v = (np.repeat(each, sharing, 1) for each in (k, v))
    distance = np.arange(len(k)) - (np.arange(len(q))[:, None] + len(k) - len(q))
    seen = np.ones(distance.shape, bool) if left is None else distance >= -left
    seen &= True if right is None else distance <= right
    weights = np.exp(np.einsum("qhd,khd->hqk", q, k) * scale) * seen
    total = weights.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = np.log(total[..., 0])
    weights /= np.where(total == 0, 1, total)
    o = np.einsum("hqk,khd->qhd", weights, v)
    dp = np.einsum("qhd,khd->hqk", do, v)
    ds = weights * (dp - np.einsum("qhd,qhd->hq", do, o)[..., None]) * scale
    dk, dv = np.einsum("hqk,qhd->khd", ds, q), np.einsum("hqk,qhd->khd", weights, do)
    dk, dv = (each.reshape(len(k), heads_kv, sharing, q.shape[-1]).sum(2) for each in (dk, dv))
    return o, lse, np.einsum("hqk,khd->qhd", ds, k), dk, dv


def draw(dtype: Any, head: int, rows: int, keys: int, heads: int, heads_kv: int) -> Any:
    """Return Q, K, V and dO of one sequence."""
    random = np.random.default_rng(rows)
    shapes = (rows, heads, head), (keys, heads_kv, head), (keys, heads_kv, head), (rows, heads, head)
    return tuple(random.standard_normal(shape).astype(dtype) for shape in shapes)


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Further options of launches. The sanitizer must have no findings."""
    extra: dict[str, Any] = {"sanitize": True}

    def launch(*args: Any, **kwargs: Any) -> None:
        assert not wl.launch(*args, **kwargs, **extra).findings

    monkeypatch.setattr(backward_api, "launch", launch)
    return extra


def differences(found: Any, expected: Any) -> list[float]:
    return [float(np.linalg.norm(a - b) / np.linalg.norm(b)) for a, b in zip(found, expected, strict=True)]


@pytest.mark.parametrize(
    ("dtype", "head", "rows", "keys", "limits", "deterministic"),
    [
        (ml_dtypes.bfloat16, 64, 70, 130, (None, None), False),
        (ml_dtypes.bfloat16, 64, 150, 100, (None, 0), True),
        (np.float16, 128, 70, 100, (40, 20), False),
        (ml_dtypes.bfloat16, 128, 70, 140, (None, 0), True),
    ],
)
@pytest.mark.usefixtures("options")
def test_agrees_with_float64(
    dtype: Any, head: int, rows: int, keys: int, limits: tuple[int | None, int | None], deterministic: bool
) -> None:
    q, k, v, do = draw(dtype, head, rows, keys, 2, 1)
    o, lse, *expected = reference(q, k, v, do, *limits)
    arrays: Any = [each[None].copy() for each in (do, q, k, v, o.astype(dtype), lse.astype(np.float32))]
    found = attention_backward(*arrays, window=limits, deterministic=deterministic, device="cpu")
    bound = 0.006 if dtype is ml_dtypes.bfloat16 else 0.001  # about 1.5 units in the last place
    assert max(differences([each[0].astype(np.float64) for each in found], expected)) < bound


@pytest.mark.usefixtures("options")
def test_packed_sequences_do_not_mix() -> None:
    """Gradients of packed sequences, some of them without rows or keys, are those of each sequence alone."""
    sizes = [(70, 20), (0, 30), (1, 130), (10, 0), (20, 5)]
    parts: list[Any] = [draw(ml_dtypes.bfloat16, 64, rows, keys, 1, 1) for rows, keys in sizes]
    results = [reference(*part, left=None, right=0) for part in parts]
    q, k, v, do = (np.concatenate(each) for each in zip(*parts, strict=True))
    o, dq, dk, dv = (np.concatenate([each[n] for each in results]) for n in (0, 2, 3, 4))
    lse = np.concatenate([each[1] for each in results], 1).astype(np.float32)
    q_ends, k_ends = np.cumsum(sizes, 0).astype(np.int32).T.copy()
    new = [np.full(each.shape, 9, each.dtype) for each in (q, k, v)]
    found = attention_backward(
        do, q, k, v, o.astype(q.dtype), lse, causal=True, q_ends=q_ends, k_ends=k_ends,
        dq=new[0], dk=new[1], dv=new[2], device="cpu",
    )  # fmt: skip
    assert all(a is b for a, b in zip(found, new, strict=True))
    assert max(differences([each.astype(np.float64) for each in found], (dq, dk, dv))) < 0.006


@pytest.mark.usefixtures("options")
def test_keys_after_the_end_have_no_gradient() -> None:
    lengths = [40, 0]
    parts = [draw(np.float16, 64, 60 + n, 70, 2, 2) for n in range(2)]
    q, k, v, do = (np.stack([each[:60] for each in group]) if n in (0, 3) else np.stack(group)
                   for n, group in enumerate(zip(*parts, strict=True)))  # fmt: skip
    results = [reference(q[n], k[n, :end], v[n, :end], do[n], None, None) for n, end in enumerate(lengths)]
    o, lse = (np.stack([each[n] for each in results]) for n in (0, 1))
    found = attention_backward(
        do, q, k, v, o.astype(q.dtype), lse.astype(np.float32), k_lengths=np.array(lengths, np.int32), device="cpu"
    )
    for n, end in enumerate(lengths):
        dq, dk, dv = (each[n].astype(np.float64) for each in found)
        assert not np.any(dk[end:])
        assert not np.any(dv[end:])
        assert end or not np.any(dq)
        if end:
            assert max(differences((dq, dk[:end], dv[:end]), results[n][2:])) < 0.001


def test_the_order_of_additions_can_be_fixed(options: dict[str, Any]) -> None:
    """Every schedule returns the same bits if `deterministic` is given."""
    options["sanitize"] = False
    q, k, v, do = draw(ml_dtypes.bfloat16, 64, 70, 200, 1, 1)
    o, lse, *_ = reference(q, k, v, do, None, 0)
    arrays: Any = [each[None].copy() for each in (do, q, k, v, o.astype(q.dtype), lse.astype(np.float32))]
    bits: set[bytes] = set()
    for schedule in ("eager", "lazy", "random:0"):
        options["schedule"] = schedule
        found = attention_backward(*arrays, causal=True, deterministic=True, device="cpu")
        bits.add(b"".join(each.tobytes() for each in found))
    assert len(bits) == 1


def test_wrong_arrays_are_refused() -> None:
    q, k, v, do = (each[None].copy() for each in draw(np.float16, 64, 8, 8, 1, 1))
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
