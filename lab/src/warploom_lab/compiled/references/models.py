"""Expected results of the kernels in `triton/models.py`, in float64 or exact integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from warploom_lab.compiled.references.registry import Array, Arrays, Options, reference, wide


@reference
def grouped(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels `grouped_*`.

    The rows of A are divided into groups. Group g is multiplied by matrix g of B.
    """
    a, b = wide(arrays["a"]), wide(arrays["b"])
    ends = np.cumsum(arrays["sizes"])
    return {
        "c": np.concatenate(
            [a[end - size : end] @ b[g] for g, (end, size) in enumerate(zip(ends, arrays["sizes"], strict=True))]
        )
    }


@reference
def grouped_tables(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected results of the kernels `grouped_tables_*`: the products of several pairs of matrices."""
    sizes = np.reshape(arrays["sizes"], (-1, 3)).tolist()
    left, right = (wide(arrays[name]) for name in ("a", "b"))
    found: list[Array] = []
    for m, n, k in sizes:
        found.append((left[: m * k].reshape(m, k) @ right[: k * n].reshape(k, n)).ravel())
        left, right = left[m * k :], right[k * n :]
    return {"c": np.concatenate(found)}


@reference
def packed(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the multiplication kernels with packed weights.

    B has fp8 weights, or unsigned 4-bit weights with an offset of 8. Each 32 weights along k share a scale factor.
    """
    b = arrays["b"]
    if options["fp8"]:
        weights = wide(b)
    else:
        weights = np.stack([b & 15, b >> 4], axis=1).reshape(-1, b.shape[1]).astype(np.float64) - 8
    return {"c": wide(arrays["a"]) @ (weights * np.repeat(wide(arrays["s"]), 32, axis=0))}


@reference
def conv2d(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels for a 3 x 3 convolution with zero padding."""
    x, w = np.pad(wide(arrays["x"]), ((1, 1), (1, 1), (0, 0))), wide(arrays["w"])
    height, width = arrays["x"].shape[:2]
    taps = [x[t // 3 : t // 3 + height, t % 3 : t % 3 + width] @ w[t] for t in range(9)]
    return {"y": np.sum(taps, axis=0).reshape(height * width, -1)}


@reference
def rope(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the rotary position embedding kernels.

    A rotation by an angle combines each element of the first half of a row with one of the second half.
    """
    x = wide(arrays["x"])
    cos, sin = (np.tile(wide(arrays[word]), (len(x) // len(arrays[word]), 1)) for word in ("cos", "sin"))
    low, high = np.split(x, 2, axis=1)
    return {options.get("result", "y"): np.concatenate([low * cos - high * sin, high * cos + low * sin], axis=1)}


@reference
def layernorm_backward(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel for the gradients of a layer norm.

    `dx` is the gradient of x. Each of the two rows of `dw` has a partial sum of the gradient of the weights.
    """
    x, dy, w = (wide(arrays[word]) for word in ("x", "dy", "w"))
    d = x - x.mean(1, keepdims=True)
    rstd = 1 / np.sqrt((d * d).mean(1, keepdims=True) + arrays["eps"])
    h, wg = d * rstd, w * dy
    dx = (wg - h * (h * wg).mean(1, keepdims=True) - wg.mean(1, keepdims=True)) * rstd
    rows = (dy * h).reshape(2, 2, 2, -1)
    return {"dx": dx, "dw": rows.sum((0, 2))}


@reference
def cross_entropy(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the cross-entropy kernel: the loss of each row, and the gradient of x."""
    x, label = wide(arrays["x"]), arrays["label"]
    e = np.exp(x - x.max(1, keepdims=True))
    p = e / e.sum(1, keepdims=True)
    picked = p[np.arange(len(x)), label]
    return {"loss": -np.log(picked), "dx": p - (np.arange(x.shape[1]) == label[:, None])}


@reference
def group_norm(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `group_norm`: the mean and the variance of each row of x."""
    x = wide(arrays["x"])
    return {"mean": x.mean(1), "var": x.var(1)}


@reference
def embedding_backward(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel for the gradient of an embedding.

    Row i of `dw` is the sum of the rows of `dy` with the index `at` i.
    """
    total = np.zeros(arrays["dw"].shape)
    np.add.at(total, arrays["at"], wide(arrays["dy"]))
    return {"dw": total}


@reference
def histogram_grid(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `histogram_grid`: the number of occurrences of each value."""
    return {"y": np.bincount(arrays["x"], minlength=len(arrays["y"]))}


@reference
def look_back(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `look_back`: the inclusive prefix sums of x."""
    return {"y": np.cumsum(arrays["x"])}


@reference
def decode_split(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel for attention of one query over split keys.

    Shapes: `top` (the largest score) and `total` (the sum of exponentials) are (heads, splits). `part` (the sum of the
    weighted values) is (heads, splits, width).
    """
    q, k, v = (wide(arrays[word]) for word in "qkv")
    heads, parts = arrays["top"].shape
    x = (np.einsum("hnd,hd->hn", k, q) * arrays["scale"]).reshape(heads, parts, -1)
    top = x.max(2)
    p = np.exp(x - top[..., None])
    return {
        "top": top,
        "total": p.sum(2),
        "part": np.einsum("hpn,hpnd->hpd", p, v.reshape(heads, parts, -1, v.shape[2])),
    }


@reference
def swiglu(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the SwiGLU kernel: silu(a) times b."""
    a = wide(arrays["a"])
    return {"y": a / (1 + np.exp(-a)) * wide(arrays["b"])}


@reference
def sort_pairs(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `sort_pairs`.

    `y` has the sorted rows, and `at` the original positions of their elements.
    """
    at = np.argsort(arrays["x"], axis=1, kind="stable")
    return {"y": np.take_along_axis(arrays["x"], at, 1), "at": at}
