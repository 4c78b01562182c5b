"""What the kernels should compute, in float64 or in exact integers, by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Arrays = Mapping[str, Array]
Options = Mapping[str, Any]
Reference = Callable[[Arrays, Options], dict[str, Any]]

REFERENCES: dict[str, Reference] = {}


def reference(fn: Reference) -> Reference:
    """Register a reference under its own name, less the underscore at its end."""
    REFERENCES[fn.__name__.rstrip("_")] = fn
    return fn


def _wide(array: Array) -> Array:
    return array if array.dtype.kind in "iub" else array.astype(np.float64)


def _erf(x: Array) -> Array:
    return np.vectorize(math.erf)(x)


# Matrices ----------------------------------------------------------------------------------------------------------


@reference
def matmul(arrays: Arrays, options: Options) -> dict[str, Any]:
    """C = epilogue(A @ B), batched or not, `layout` n or t for each operand; a and b may be ad and bd."""
    a, b = (_wide(arrays.get(n, arrays.get(f"{n}d", np.zeros(0)))) for n in "ab")
    name = "c" if "c" in arrays else "cd"
    if a.dtype.kind in "iu":
        a, b = a.astype(np.int64), b.astype(np.int64)
    if options["layout"][0] == "t":
        a = np.swapaxes(a, -1, -2)
    if options["layout"][1] == "t":
        b = np.swapaxes(b, -1, -2)
    c = a @ b
    epilogue = options.get("epilogue", "none")
    if epilogue == "bias_relu":
        c = np.maximum(c + _wide(arrays["bias"])[: c.shape[-1]], 0)
    elif epilogue == "gelu":
        c = 0.5 * c * (1 + _erf(c / math.sqrt(2)))
    elif epilogue == "scale":
        c = c * _wide(arrays["bias"])[: c.shape[-2], None]
    elif epilogue == "silu":
        c = c / (1 + np.exp(-c))
    return {name: c}


@reference
def tensor_reduce(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Every tile of rows of x reduced into y."""
    x, y = arrays["x"], arrays["y"]
    parts = np.concatenate([y[None], x.reshape(-1, *y.shape)])
    operation = {"add": np.add, "min": np.minimum, "max": np.maximum, "xor": np.bitwise_xor}[options["op"]]
    return {"y": operation.reduce(_wide(parts), axis=0)}


_E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])


@reference
def scaled_matmul(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Block-scaled A @ B^T: 32 elements along k share a power of two."""
    operands: list[Array] = []
    for name in "ab":
        held = arrays[name]
        if options[name] == "e2m1":
            held = np.stack([_E2M1[held & 15], _E2M1[held >> 4]], axis=-1).reshape(held.shape[0], -1)
        scale = np.repeat(np.exp2(arrays[f"s{name}"].astype(np.float64) - 127), 32, axis=1)
        operands.append(_wide(held) * scale)
    return {"c": operands[0] @ operands[1].T}


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
    """softmax(q k^T scale) v and the base-2 logarithm of the sums."""
    suffix = "d" if "qd" in arrays else ""
    q, k, v = (_wide(arrays[n + suffix]) for n in "qkv")
    shape = q.shape
    if suffix:
        q, k, v = (x.reshape(options["heads"], -1, x.shape[-1]) for x in (q, k, v))
    p, lse = _probabilities(_scores(q, k, float(arrays["scale"]), options))
    result = {f"o{suffix}": (p @ v).reshape(shape)}
    return result if suffix else result | {"lse": lse}


@reference
def attention_backward(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Gradients of attention; lse and delta are filled as the forward pass would leave them."""
    q, k, v, do = (_wide(arrays[n]) for n in ("q", "k", "v", "do"))
    scale = float(arrays["scale"])
    p, _ = _probabilities(_scores(q, k, scale, options))
    delta = (do * (p @ v)).sum(-1)
    ds = p * (do @ v.T - delta[:, None]) * scale
    return {"dq": ds @ k, "dk": ds.T @ q, "dv": p.T @ do}


def derive(arrays: dict[str, Array], options: Options) -> None:
    """Fill the inputs that are computed from the others."""
    q, k, v, do = (_wide(arrays[n]) for n in ("q", "k", "v", "do"))
    p, lse = _probabilities(_scores(q, k, float(arrays["scale"]), options))
    arrays["lse"][...] = lse
    arrays["delta"][...] = (do * (p @ v)).sum(-1)


@reference
def attention_decode(arrays: Arrays, options: Options) -> dict[str, Any]:
    """One query a head over pages of keys and values."""
    q, k, v = (_wide(arrays[n]) for n in "qkv")
    rows: list[Array] = []
    for head, length in enumerate(arrays["lengths"]):
        keys, values = (x[arrays["table"][head]].reshape(-1, x.shape[-1])[:length] for x in (k, v))
        rows.append(_probabilities(keys @ q[head] * float(arrays["scale"]))[0] @ values)
    return {"o": np.stack(rows)}


# Rows --------------------------------------------------------------------------------------------------------------


@reference
def softmax(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Softmax of every row."""
    return {"y": _probabilities(_wide(arrays["x"]))[0]}


@reference
def layernorm(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Normalised rows, means and reciprocal deviations."""
    x = _wide(arrays["x"])
    mean, variance = x.mean(1), x.var(1)
    r = 1 / np.sqrt(variance + 1e-5)
    return {"y": (x - mean[:, None]) * r[:, None] * _wide(arrays["w"]) + _wide(arrays["b"]), "mean": mean, "rstd": r}


@reference
def rmsnorm(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Rows over their root mean square."""
    x = _wide(arrays["x"])
    return {"y": x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * _wide(arrays["w"])}


@reference
def reduce_(arrays: Arrays, options: Options) -> dict[str, Any]:
    """A reduction along an axis."""
    x, axis = _wide(arrays["x"]), options["axis"]
    operations: dict[str, Callable[..., Array]] = {
        "sum": np.sum, "max": np.max, "min": np.min, "xor": np.bitwise_xor.reduce, "argmax": np.argmax, "argmin": np.argmin,
        "prod": np.prod,
    }  # fmt: skip
    return {"y": operations[options["op"]](x, axis=axis)}


@reference
def scan(arrays: Arrays, options: Options) -> dict[str, Any]:
    """A scan, sort or permutation along an axis."""
    x, z, axis = _wide(arrays["x"]), arrays["z"], options["axis"]
    op = options["op"]
    if op == "linear":
        y = np.zeros_like(x)
        last = np.zeros(len(x))
        for column in range(x.shape[1]):
            last = last * x[:, column] + _wide(z)[:, column]
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
    """Counts of every value."""
    return {"y": np.bincount(arrays["x"].ravel(), minlength=arrays["y"].size)}


@reference
def topk(arrays: Arrays, options: Options) -> dict[str, Any]:
    """The largest of every row, falling."""
    return {"y": -np.sort(-_wide(arrays["x"]), 1)[:, : arrays["y"].shape[1]]}


# Elements ----------------------------------------------------------------------------------------------------------


def _each(fn: Callable[..., float]) -> Callable[..., Array]:
    return np.vectorize(fn, otypes=[np.float64])


def _series(term: Callable[[int], float], count: int) -> float:
    return math.fsum(term(k) for k in range(count))


def _bessel_j0(x: float) -> float:
    steps = 2000
    return math.fsum(math.cos(x * math.sin(math.pi * (k + 0.5) / steps)) for k in range(steps)) / steps


def _bessel_i0(x: float) -> float:
    return _series(lambda k: (x * x / 4) ** k / math.factorial(k) ** 2, 40)


def _erfinv(y: float) -> float:
    low, high = -6.0, 6.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle) < y else (low, middle)
    return low


def _bits(x: Array) -> tuple[Array, int]:
    width = 8 * x.dtype.itemsize
    return x.view(f"u{x.dtype.itemsize}").astype(object), width


def _on_bits(fn: Callable[[int, int], int]) -> Callable[[Array], Array]:
    def run(x: Array) -> Array:
        values, width = _bits(x)
        return np.array([fn(int(v), width) for v in values], object)

    return run


UNARY: dict[str, Callable[[Array], Array]] = {
    **{name: getattr(np, name) for name in (
        "exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "floor", "ceil", "abs", "tanh", "tan", "sinh", "cosh", "log1p", "expm1",
        "log10", "cbrt", "rint", "trunc",
    )},
    "sqrt_rn": lambda x: np.sqrt(x.astype(np.float32)), "rsqrt": lambda x: 1 / np.sqrt(x), "erf": _erf,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "exp10": lambda x: 10.0**x, "rcbrt": lambda x: 1 / np.cbrt(x), "erfc": _each(math.erfc),
    "erfinv": _each(_erfinv), "lgamma": _each(math.lgamma), "tgamma": _each(math.gamma),
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), "nearbyint": np.rint, "sinpi": lambda x: np.sin(np.pi * x),
    "cospi": lambda x: np.cos(np.pi * x), "j0": _each(_bessel_j0), "normcdf": lambda x: 0.5 * _each(math.erfc)(-x / math.sqrt(2)),
    "cyl_bessel_i0": _each(_bessel_i0), "logb": lambda x: np.frexp(x)[1] - 1.0, "saturatef": lambda x: np.clip(x, 0, 1),
    "rcp_rz": lambda x: 1 / x, "sqrt_ru": np.sqrt, "fast_expf": np.exp, "fast_sinf": np.sin, "fast_logf": np.log, "fast_tanf": np.tan,
    "clz": _on_bits(lambda v, w: w - v.bit_length()), "popc": _on_bits(lambda v, w: v.bit_count()),
    "brev": _on_bits(lambda v, w: int(format(v, f"0{w}b")[::-1], 2)), "ffs": _on_bits(lambda v, w: (v & -v).bit_length()),
    "negated": lambda x: -x, "absolute": np.abs,
}  # fmt: skip


def _truncated(a: Array, b: Array) -> Array:
    a, b = a.astype(object), b.astype(object)
    sign = np.where((a < 0) != (b < 0), -1, 1).astype(object)
    return sign * (abs(a) // abs(b))


def _binary(op: str, a: Array, b: Array) -> Array:
    width = 8 * a.dtype.itemsize
    if a.dtype.kind in "iu":
        x, y = a.astype(object), b.astype(object)
        if op == "quotient":
            return _truncated(a, b)
        if op == "remainder":
            return x - y * _truncated(a, b)
        if op == "umulhi":
            return (x * y) >> width
        if op in ("left", "right"):
            return x << (y & 7) if op == "left" else x >> (y & 7)
        if op == "logic":
            return (x & y) ^ (x | ~y)
        if op == "least":
            return np.minimum(a, b)
        if op in ("add", "sub", "mul"):
            return {"add": x + y, "sub": x - y, "mul": x * y}[op]
    if op == "compared":
        return (a < b) + 2 * (a == b) + 4 * (a >= b) + 8 * (a != b)
    a, b = _wide(a), _wide(b)
    operations: dict[str, Callable[[], Array]] = {
        "add": lambda: a + b, "sub": lambda: a - b, "mul": lambda: a * b, "divide": lambda: a / b, "least_nan": lambda: np.minimum(a, b),
        "clamped": lambda: np.clip(a, -0.5, 0.75) + b, "pow": lambda: a**b, "fmod": lambda: np.fmod(a, b),
        "remainder": lambda: _each(math.remainder)(a, b), "atan2": lambda: np.arctan2(a, b), "hypot": lambda: np.hypot(a, b),
        "copysign": lambda: np.copysign(a, b), "nextafter": lambda: np.nextafter(a.astype(np.float32), b.astype(np.float32)),
        "fdim": lambda: np.maximum(a - b, 0), "div_rz": lambda: a / b, "add_ru": lambda: a + b, "mul_rd": lambda: a * b,
        "fast_dividef": lambda: a / b, "fast_powf": lambda: a**b,
    }  # fmt: skip
    return operations[op]()


@reference
def unary(arrays: Arrays, options: Options) -> dict[str, Any]:
    """A function of one element."""
    return {"y": UNARY[options["op"]](_wide(arrays["x"]))}


@reference
def binary(arrays: Arrays, options: Options) -> dict[str, Any]:
    """A function of two elements."""
    return {"y": _binary(options["op"], arrays["x"], arrays["z"])}


@reference
def ternary(arrays: Arrays, options: Options) -> dict[str, Any]:
    """A function of three elements."""
    x, z, w = (_wide(arrays[n]) for n in "xzw")
    return {"y": np.sqrt(x * x + z * z + w * w) if options["op"] == "norm3d" else x * z + w}


@reference
def cast(arrays: Arrays, options: Options) -> dict[str, Any]:
    """A conversion: to nearest even between floats, saturated to fp8, toward zero into integers, modulo between integers."""
    x, y = arrays["x"], arrays["y"]
    if options.get("bits"):
        return {"y": x.view(y.dtype)}
    if options.get("toward_zero"):
        wide = x.astype(np.float64)
        nearest = wide.astype(np.float32).astype(y.dtype)
        bits = nearest.view(f"u{y.dtype.itemsize}") - (np.abs(nearest.astype(np.float64)) > np.abs(wide))
        return {"y": bits.astype(f"u{y.dtype.itemsize}").view(y.dtype)}
    if y.dtype.kind in "iu":
        return {"y": np.trunc(x.astype(np.float64)).astype(y.dtype) if x.dtype.kind not in "iu" else x.astype(y.dtype)}
    if x.dtype.kind in "iu":
        exact = x.astype(np.float64) if y.dtype.itemsize < 8 and x.dtype.itemsize < 8 else x
        # Triton makes f32 of an integer first when the type is narrower.
        return {"y": exact.astype(y.dtype) if y.dtype.itemsize >= 4 else exact.astype(np.float32).astype(y.dtype)}
    if y.dtype.itemsize == 1:
        most = float(ml_dtypes.finfo(y.dtype).max)
        return {"y": np.clip(x.astype(np.float64), -most, most).astype(np.float32).astype(y.dtype)}
    return {"y": x.astype(np.float32).astype(y.dtype) if x.dtype.itemsize < 8 else x.astype(y.dtype)}


def _philox(seed: int, count: int, width: int = 32) -> Array:
    """The first word of Philox4x32-10 (or 4x64) at counters (i, 0, 0, 0)."""
    mask = (1 << width) - 1
    ka, kb, ra, rb = {
        32: (0x9E3779B9, 0xBB67AE85, 0xD2511F53, 0xCD9E8D57),
        64: (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B, 0xD2E7470EE14C6C93, 0xCA5A826395121157),
    }[width]
    first: list[tuple[int, int]] = []
    for counter in range(count):
        c, k0, k1 = [counter, 0, 0, 0], seed & mask, seed >> width
        for _ in range(10):
            high_b, low_b = rb * c[2] >> width, rb * c[2] & mask
            high_a, low_a = ra * c[0] >> width, ra * c[0] & mask
            c = [high_b ^ c[1] ^ k0, low_b, high_a ^ c[3] ^ k1, low_a]
            k0, k1 = (k0 + ka) & mask, (k1 + kb) & mask
        first.append((c[0], c[1]))
    return np.array(first, object)


def _uniform(words: Array) -> Array:
    signed = words.astype(np.uint32).view(np.int32).astype(np.int64)
    return np.where(signed < 0, -signed - 1, signed) * 4.6566127342e-10


@reference
def random(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Triton's random numbers."""
    words = _philox(int(arrays["seed"]), arrays["y"].size, 64 if options["kind"] == "randint64" else 32)
    if options["kind"].startswith("randint"):
        return {"y": words[:, 0]}
    first, second = _uniform(words[:, 0]), _uniform(words[:, 1])
    if options["kind"] == "rand":
        return {"y": first}
    return {"y": np.sqrt(-2 * np.log(np.maximum(first, 1e-7))) * np.cos(6.283185307179586 * second)}


@reference
def dropout(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Elements whose random number is above p, scaled."""
    p = float(arrays["p"])
    keep = _uniform(_philox(int(arrays["seed"]), arrays["y"].size)[:, 0]) > p
    return {"y": np.where(keep, _wide(arrays["x"]) / (1 - p), 0)}


@reference
def collatz(arrays: Arrays, options: Options) -> dict[str, Any]:
    """How many steps to one."""
    counts: list[int] = []
    for start in arrays["x"]:
        value, steps = int(start), 0
        while value != 1:
            value, steps = (value // 2 if value % 2 == 0 else 3 * value + 1), steps + 1
        counts.append(steps)
    return {"y": np.array(counts)}


@reference
def scalar_loop(arrays: Arrays, options: Options) -> dict[str, Any]:
    """A loop with three ways through its body."""
    totals: list[float] = []
    for start in arrays["x"]:
        total = 0.0
        for k in range(int(start), 0, -1):
            total += (2.0 * k, -1.0, float(sum(range(k % 7))))[k % 3]
        totals.append(total)
    return {"y": np.array(totals)}


@reference
def calls(arrays: Arrays, options: Options) -> dict[str, Any]:
    """A polynomial of a polynomial."""
    x, a = _wide(arrays["x"]), float(arrays["a"])
    inner = x * x * a + 1
    return {"y": inner * inner * 0.5 + a}


# Memory ------------------------------------------------------------------------------------------------------------


@reference
def atomic(arrays: Arrays, options: Options) -> dict[str, Any]:
    """What is left after all atomics, and for exchanges what was there before."""
    x, at, y = arrays["x"], arrays["at"], arrays["y"]
    op = options["op"]
    if op == "xchg":
        return {"y": x, "old": y}
    if op == "cas":
        return {"y": np.where(y == x, x + 1, y), "old": y}
    operation = {"add": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[op]
    total = _wide(y).copy()
    with np.errstate(over="ignore"):
        operation.at(total, at, _wide(x))
    return {"y": total, "old": arrays["old"]}


@reference
def lock(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Six turns of 3 v + 1 from zero."""
    value = 0
    for _ in range(6):
        value = 3 * value + 1
    return {"y": np.array([value])}


@reference
def gather_scatter(arrays: Arrays, options: Options) -> dict[str, Any]:
    """The elements named are copied in place."""
    y = arrays["y"].copy()
    y[arrays["at"]] = arrays["x"][arrays["at"]]
    return {"y": _wide(y)}


@reference
def transpose(arrays: Arrays, options: Options) -> dict[str, Any]:
    """The transpose."""
    return {"y": _wide(arrays["x"]).T}


@reference
def twice(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Everything doubled."""
    return {"yd": _wide(arrays["xd"]) * 2}


@reference
def triple(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Everything three times."""
    return {"y": _wide(arrays["x"]) * 3}


@reference
def layout_change(arrays: Arrays, options: Options) -> dict[str, Any]:
    """The transpose read by rows, plus the sum of the row."""
    x = _wide(arrays["x"])
    return {"y": x.T.reshape(x.shape) + x.sum(1)[:, None]}


@reference
def conv1d(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Correlation with zeros beyond the ends."""
    return {"y": np.correlate(_wide(arrays["x"]), _wide(arrays["w"]), "same")}


@reference
def last_block(arrays: Arrays, options: Options) -> dict[str, Any]:
    """The sum of everything."""
    return {"y": np.array([_wide(arrays["x"]).sum()])}
