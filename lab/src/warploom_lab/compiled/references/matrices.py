"""Expected results of the matrix, attention and row kernels, in float64 or exact integers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from warploom_lab.compiled.references.registry import Array, Arrays, Options, erf, reference, wide

# Matrices ----------------------------------------------------------------------------------------------------------


@reference
def matmul(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the multiplication kernels: epilogue(A B).

    The option `layout` has one letter for each of A and B: n for row-major and t for transposed.
    """
    # The names are `ad` and `bd` if the kernel reads the operands through tensor maps.
    a, b = (wide(arrays.get(n, arrays.get(f"{n}d", np.zeros(0)))) for n in "ab")
    name = options.get("result", "c" if "c" in arrays else "cd")
    if a.dtype.kind in "iu":
        a, b = a.astype(np.int64), b.astype(np.int64)
    if options["layout"][0] == "t":
        a = np.swapaxes(a, -1, -2)
    if options["layout"][1] == "t":
        b = np.swapaxes(b, -1, -2)
    c = a @ b
    epilogue = options.get("epilogue", "none")
    if epilogue == "bias_relu":
        c = np.maximum(c + wide(arrays["bias"])[: c.shape[-1]], 0)
    elif epilogue == "gelu":
        c = 0.5 * c * (1 + erf(c / math.sqrt(2)))
    elif epilogue == "scale":
        c = c * wide(arrays["bias"])[: c.shape[-2], None]
    elif epilogue == "silu":
        c = c / (1 + np.exp(-c))
    return {name: c}


@reference
def tensor_reduce(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels `tensor_reduce_*`: all tiles of x reduced into `y`.

    The option `op` names the operation.
    """
    x, y = arrays["x"], arrays["y"]
    parts = np.concatenate([y[None], x.reshape(-1, *y.shape)])
    operation = {"add": np.add, "min": np.minimum, "max": np.maximum, "xor": np.bitwise_xor}[options["op"]]
    return {"y": operation.reduce(wide(parts), axis=0)}


@reference
def cuda_matmul(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels of `cuda/tensor.cu`: the product A B.

    The option `layout` is as in `matmul`. The option `times` multiplies the result, and `transposed` transposes it. The
    option `unpack` is "s4" for two signed elements in each byte, or "xor" for single bits.
    """
    operands: dict[str, Array] = {}
    for name in "ab":
        packed = arrays[name]
        if options.get("unpack") == "s4":
            packed = np.stack([packed & 15, packed >> 4], -1).reshape(len(packed), -1).astype(np.int64)
            packed = np.where(packed > 7, packed - 16, packed)
        elif options.get("unpack") == "xor":
            packed = np.unpackbits(packed, axis=1).astype(np.int64)
        operands[name] = packed
    if options.get("unpack") == "xor":
        # The number of bits in which a row of A and a row of B differ.
        return {"c": (operands["a"][:, None] ^ operands["b"][None]).sum(-1)}
    c = matmul({**operands, "c": arrays["c"]}, options)["c"] * options["times"]
    return {"c": c.T if options.get("transposed") else c}


_E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])


@reference
def scaled_matmul(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the block-scaled multiplication kernels: A B^T.

    The options `a` and `b` name the element types. The option `block` is the number of elements along k that share a
    scale factor, 32 by default. Scale factors of type u8 are powers of two. With the option `blocked`, the scale
    factors are in blocks of 128 rows and 4 columns, with the dimensions (rows / 128, columns / 4, 32, 4, 4). Two further
    dimensions at the start group the blocks by tiles: (rows / tile, columns / tile, …).
    """
    operands: list[Array] = []
    for name in "ab":
        packed = arrays[name] if name in arrays else arrays[f"{name}d"]
        if options[name] == "e2m1":
            packed = np.stack([_E2M1[packed & 15], _E2M1[packed >> 4]], axis=-1).reshape(packed.shape[0], -1)
        scale = arrays[f"s{name}"]
        scale = np.exp2(scale.astype(np.float64) - 127) if scale.dtype == np.uint8 else wide(scale)
        if options.get("blocked"):
            if scale.ndim == 7:
                groups, steps, blocks, columns = scale.shape[:4]
                scale = scale.swapaxes(1, 2).reshape(groups * blocks, steps * columns, 32, 4, 4)
            scale = scale.transpose(0, 3, 2, 1, 4).reshape(len(packed), -1)
        operands.append(wide(packed) * np.repeat(scale, options.get("block", 32), axis=1))
    return {"c" if "c" in arrays else "cd": operands[0] @ operands[1].T}


@reference
def grouped_matmul(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the grouped multiplication kernels: the products A B^T, one after the other.

    The options `rows`, `n` and `k` are the shapes.
    """
    n, k = options["n"], options["k"]
    ends = np.cumsum(options["rows"])[:-1]
    a = np.split(wide(arrays["ap"]).reshape(-1, k), ends)
    b = wide(arrays["bp"]).reshape(-1, n, k)
    return {"cp": np.concatenate([(x @ y.T).ravel() for x, y in zip(a, b, strict=True)])}


@reference
def gated(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels `gated_*`: silu(X W^T) (X V^T)."""
    x, w, v = (wide(arrays[name]) for name in "xwv")
    gate = x @ w.T
    return {"y": gate / (1 + np.exp(-gate)) * (x @ v.T)}


@reference
def matmul_added(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels `tensor_memory_added_*`: C + A B^T."""
    return {"d": wide(arrays["c"]) + wide(arrays["a"]) @ wide(arrays["b"]).T}


# Attention ---------------------------------------------------------------------------------------------------------


def _scores(q: Array, k: Array, scale: float, options: Options) -> Array:
    scores = q @ np.swapaxes(k, -1, -2) * scale
    row, column = np.indices(scores.shape[-2:])
    hidden = np.zeros(row.shape, bool)
    if options.get("causal"):
        hidden |= column > row
    if options.get("window"):
        hidden |= column <= row - options["window"]
    return np.where(hidden, -np.inf, scores)


def _probabilities(scores: Array) -> tuple[Array, Array]:
    top = scores.max(-1, keepdims=True)
    e = np.exp(scores - top)
    total = e.sum(-1, keepdims=True)
    return e / total, (top + np.log(total))[..., 0] / math.log(2)


@reference
def attention(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the attention kernels.

    `o` is softmax(scale Q K^T) V. `lse` is the base-2 logarithm of the sum of exponentials of each row.
    """
    suffix = "d" if "qd" in arrays else ""
    q, k, v = (wide(arrays[n + suffix]) for n in "qkv")
    shape = q.shape
    if suffix:
        q, k, v = (x.reshape(options["heads"], -1, x.shape[-1]) for x in (q, k, v))
    p, lse = _probabilities(_scores(q, k, float(arrays["scale"]), options))
    result = {f"o{suffix}": (p @ v).reshape(shape)}
    return result if suffix else result | {"lse": lse}


@reference
def attention_step(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels `tensor_memory_attention_*`: softmax(scale Q K^T) V."""
    q, k, v = (wide(arrays[n]) for n in "qkv")
    return {"o": _probabilities(q @ k.T * float(arrays["scale"]))[0] @ v}


@reference
def attention_backward(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the backward attention kernel: the gradients of Q, K and V."""
    q, k, v, do = (wide(arrays[n]) for n in ("q", "k", "v", "do"))
    scale = float(arrays["scale"])
    p, _ = _probabilities(_scores(q, k, scale, options))
    delta = (do * (p @ v)).sum(-1)
    ds = p * (do @ v.T - delta[:, None]) * scale
    return {"dq": ds @ k, "dk": ds.T @ q, "dv": p.T @ do}


def derive(arrays: dict[str, Array], options: Options) -> None:
    """Fill `lse` and `delta`, the inputs of the backward attention kernel from the forward pass."""
    q, k, v, do = (wide(arrays[n]) for n in ("q", "k", "v", "do"))
    p, lse = _probabilities(_scores(q, k, float(arrays["scale"]), options))
    arrays["lse"][...] = lse
    arrays["delta"][...] = (do * (p @ v)).sum(-1)


@reference
def attention_decode(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `attention_decode`.

    Each head has one query. The head's keys and values are in the pages that a row of `table` lists.
    """
    q, k, v = (wide(arrays[n]) for n in "qkv")
    rows: list[Array] = []
    for head, length in enumerate(arrays["lengths"]):
        keys, values = (x[arrays["table"][head]].reshape(-1, x.shape[-1])[:length] for x in (k, v))
        rows.append(_probabilities(keys @ q[head] * float(arrays["scale"]))[0] @ values)
    return {"o": np.stack(rows)}


# Rows --------------------------------------------------------------------------------------------------------------


@reference
def softmax(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the softmax kernels: the softmax of each row of x."""
    return {"y": _probabilities(wide(arrays["x"]))[0]}


@reference
def layernorm(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the layer norm kernels.

    `y` has the normalised rows, `mean` the mean of each row, and `rstd` the reciprocal standard deviation of each row.
    """
    x = wide(arrays["x"])
    mean, variance = x.mean(1), x.var(1)
    r = 1 / np.sqrt(variance + 1e-5)
    return {"y": (x - mean[:, None]) * r[:, None] * wide(arrays["w"]) + wide(arrays["b"]), "mean": mean, "rstd": r}


@reference
def rmsnorm(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the RMS norm kernels: each row over its root mean square, times `w`."""
    x = wide(arrays["x"])
    return {"y": x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * wide(arrays["w"])}


@reference
def reduced_rows(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels `tensor_memory_least` and `tensor_memory_greatest`.

    `y` is 2 x. `best` is the least element of each row of x, or the greatest absolute value.
    """
    x = wide(arrays["x"])
    return {"y": 2 * x, "best": x.min(1) if options["least"] else np.abs(x).max(1)}


@reference
def gathered_rows(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels `gathered_rows_*`: row `rows[i]` of x becomes row `target[i]` of y."""
    y = np.zeros_like(arrays["yd"])
    y[arrays["target"]] = arrays["xd"][arrays["rows"]]
    return {"yd": y}


@reference
def reduce_(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels that reduce x along the option `axis` by the option `op`."""
    x, axis = wide(arrays["x"]), options["axis"]
    operations: dict[str, Callable[..., Array]] = {
        "sum": np.sum, "max": np.max, "min": np.min, "xor": np.bitwise_xor.reduce, "argmax": np.argmax, "argmin": np.argmin,
        "prod": np.prod,
    }  # fmt: skip
    return {"y": operations[options["op"]](x, axis=axis)}


@reference
def scan(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels that scan, sort or permute x along the option `axis`.

    The option `op` selects the operation.
    """
    x, z, axis = wide(arrays["x"]), arrays["z"], options["axis"]
    op = options["op"]
    if op == "linear":
        y = np.zeros_like(x)
        last = np.zeros(len(x))
        for column in range(x.shape[1]):
            last = last * x[:, column] + wide(z)[:, column]
            y[:, column] = last
        return {"y": y}
    operations: dict[str, Callable[[], Array]] = {
        "cumsum": lambda: np.cumsum(x, axis), "reverse": lambda: np.flip(np.cumsum(np.flip(x, axis), axis), axis),
        "cumprod": lambda: np.cumprod(x, axis), "sort": lambda: np.sort(x, axis), "sort_down": lambda: -np.sort(-x.astype(np.int64), axis),
        "flip": lambda: np.flip(x, axis), "gather": lambda: np.take_along_axis(x, z.astype(np.int64), axis), "transpose": lambda: x.T,
        "interleave": lambda: x.reshape(len(x), -1, 2)[:, :, ::-1].reshape(x.shape),
    }  # fmt: skip
    return {"y": operations[op]()}


@reference
def histogram(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `histogram`: the number of occurrences of each value."""
    return {"y": np.bincount(arrays["x"].ravel(), minlength=arrays["y"].size)}


@reference
def topk(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `topk`: the largest elements of each row, largest first."""
    return {"y": -np.sort(-wide(arrays["x"]), 1)[:, : arrays["y"].shape[1]]}
