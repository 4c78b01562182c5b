"""What the kernels should compute, in float64 or in exact integers, by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
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


def _philox(seed: int, count: int) -> Array:
    """The first two words of Philox4x32-10 at counters (i, 0, 0, 0)."""
    mask = (1 << 32) - 1
    words: list[tuple[int, int]] = []
    for counter in range(count):
        c, k0, k1 = [counter, 0, 0, 0], seed & mask, seed >> 32
        for _ in range(10):
            left, right = 0xCD9E8D57 * c[2], 0xD2511F53 * c[0]
            c = [(left >> 32) ^ c[1] ^ k0, left & mask, (right >> 32) ^ c[3] ^ k1, right & mask]
            k0, k1 = (k0 + 0x9E3779B9) & mask, (k1 + 0xBB67AE85) & mask
        words.append((c[0], c[1]))
    return np.array(words, object)


def _uniform(words: Array) -> Array:
    signed = words.astype(np.uint32).view(np.int32).astype(np.int64)
    return np.where(signed < 0, -signed - 1, signed) * 4.6566127342e-10


@reference
def random(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Triton's random numbers."""
    words = _philox(int(arrays["seed"]), arrays["y"].size)
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


# Kernels from CUDA -------------------------------------------------------------------------------------------------


def _wrap(value: int, bits: int, signed: bool = True) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


@reference
def constants(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Tables in constant and global memory."""
    c = [1.0, -0.5, 0.25, 2.0, -3.0, 0.125, 7.0, -1.5]
    p = [3, 1, 4, 15, 9, 2, 6, 5, 8, 7, 0, 11, 10, 13, 12, 14]
    g = [[1, 2, 3], [-4, -5, -6]]
    y: list[float] = []
    for v in map(int, arrays["x"]):
        half = v >> 1
        column = 0 if math.fmod(half, 3) < 0 else (half & 0x7FFF) % 3
        y.append(c[v & 7] * p[v >> 3 & 15] + g[v & 1][column] + 0xEF)
    return {"y": np.array(y)}


@reference
def noinline_call(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Horner's rule over an array on the stack."""
    x = _wide(arrays["x"])
    return {"y": 1 + 2 * x + x * x**2 + 0.5 * x**3}


@reference
def function_table(arrays: Arrays, options: Options) -> dict[str, Any]:
    """One of three operations with 2.5."""
    x, which = _wide(arrays["x"]), arrays["which"].view(np.uint32) % 3
    return {"y": np.choose(which, [x + 2.5, x * 2.5, x - 2.5])}


def _byte_perm(a: int, b: int, selector: int) -> int:
    data = a & 0xFFFFFFFF | (b & 0xFFFFFFFF) << 32
    return sum((data >> 8 * (selector >> 4 * k & 7) & 0xFF) << 8 * k for k in range(4))


@reference
def switch_table(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Sixteen ways through a switch."""
    y: list[int] = []
    for v in map(int, arrays["x"]):
        u = v & 0xFFFFFFFF
        ways = (
            v + 3, v * v, v ^ 0x55, u.bit_count(), 32 - u.bit_length(), int(format(u, "032b")[::-1], 2), (u & -u).bit_length(),
            _byte_perm(u, ~u, 0x1634), ((v * 3 & 0xFFFFFFFF) << 5 | u >> 27), _quotient(v, 7), v - 11 * _quotient(v, 11),
            v * 0x12345678 >> 32, abs(v), abs(v - 17) + 5, (v + 9 + 1) >> 1, -v,
        )  # fmt: skip
        y.append(ways[v & 15])
    return {"y": np.array(y, object)}


@reference
def local_sort(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Rows sorted."""
    return {"y": np.sort(arrays["x"], 1)}


@reference
def structs(arrays: Arrays, options: Options) -> dict[str, Any]:
    """A structure that is passed and returned twice."""
    x = _wide(arrays["x"])
    return {"y": 6 * (5 * x + 10) + np.arange(len(x)) + 5}


@reference
def recursion(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Ackermann's function at (2, n)."""
    return {"y": 2 * (np.arange(32) & 3) + 3}


@reference
def divergent_returns(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Threads that leave at five places."""
    y: list[int] = []
    for t, v in enumerate(map(int, arrays["x"])):
        lane = t & 31
        if lane % 3 == 0:
            y.append(-1)
        elif v < 0:
            y.append(-1 if lane & 1 else 2 * v)
        else:
            early = next((k for k in range(min(lane, 21)) if k * k > v), None)
            y.append(v + 1002 if early is None else early)
    return {"y": np.array(y)}


@reference
def blocks_3d(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Threads of three dimensions; a third of them count."""
    z, y, x = np.indices((4, 5, 3))
    inner = (x + 10 * y + 100 * z).ravel() + (20 << 20)
    return {"y": inner + 1000 * np.arange(4)[:, None]}


@reference
def wide_math(arrays: Arrays, options: Options) -> dict[str, Any]:
    """64-bit and 128-bit integers."""
    mask, y = (1 << 64) - 1, []
    for a, b in zip(map(int, arrays["x"]), map(int, arrays["z"]), strict=True):
        u, w = a & mask, b & mask
        r = _wrap(a * b, 64) + (a * b >> 64)
        r = _wrap(r, 64) ^ _wrap(u * w >> 64, 64)
        d = b | 1
        r = _wrap(r + _quotient(a, d) - (a - d * _quotient(a, d)), 64)
        r = _wrap(r + u // (w | 1) + u % (w | 1), 64)
        r = _wrap(r ^ (a << (b & 63)) ^ (a >> (b & 63)) ^ (u >> (w & 63)), 64)
        r = _wrap(r + 64 - u.bit_length() + u.bit_count() + (u & -u).bit_length() + int(format(u, "064b")[::-1], 2), 64)
        r = _wrap(r - min(a, b), 64)
        r = _wrap(r + (a * b >> 64) + (a * b >> 13), 64)
        q = (u * 0x123456789ABCDEF + w) & ((1 << 128) - 1)
        y.append(_wrap(r ^ (q // (w | 3)), 64))
    return {"y": np.array(y, object)}


def _lanes(value: int, width: int, signed: bool = False) -> list[int]:
    return [_wrap(value >> k, width, signed) for k in range(0, 32, width)]


def _joined(parts: list[int], width: int) -> int:
    return sum((part & ((1 << width) - 1)) << (k * width) for k, part in enumerate(parts))


@reference
def narrow_math(arrays: Arrays, options: Options) -> dict[str, Any]:
    """8-bit and 16-bit integers, alone and in fours and twos."""
    y: list[int] = []
    for x, z in zip(map(int, arrays["x"]), map(int, arrays["z"]), strict=True):
        c, s, uc, us = _wrap(x + 7, 8), _wrap(z * 3, 16), (x & 255) >> 2, (z & 0xFFFF) // 5
        a, b = x * 0x01010101 & 0xFFFFFFFF, (z & 0xFFFF) * 0x00010001 & 0xFFFFFFFF
        r = c + s + uc + us + (x < z) + ((uc ^ us) & 255)

        def each(width: int, fn: Callable[[int, int], int], signed: bool = False, a: int = a, b: int = b) -> int:
            return _joined([fn(p, q) for p, q in zip(_lanes(a, width, signed), _lanes(b, width, signed), strict=True)], width)

        clip = lambda p, q: max(-32768, min(32767, p - q))  # noqa: E731
        r += (
            each(8, lambda p, q: p + q) ^ each(16, max, True) ^ each(8, lambda p, q: abs(p - q)) ^ each(8, lambda p, q: -(p > q))
            ^ each(16, clip, True) ^ each(8, lambda p, q: (p + q + 1) >> 1)
        )  # fmt: skip
        r = _wrap(r, 32)
        a8, b8, a16, b16 = _lanes(a, 8, True), _lanes(b, 8, True), _lanes(a, 16, True), _lanes(b, 16, True)
        four = sum(p * q for p, q in zip(a8, b8, strict=True)) + 5
        low = a16[0] * b8[0] + a16[1] * b8[1] + r
        high = b16[0] * a8[2] + b16[1] * a8[3] + 3
        r += four + low + high
        r += abs(a - b) + 7 + _wrap(a, 24) * _wrap(b, 24) + (a * b >> 32) + ((a + b) >> 1)
        y.append(_wrap(r, 32))
    return {"y": np.array(y, object)}


@reference
def doubles(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Functions of doubles."""
    a = _wide(arrays["x"])
    y = (
        np.sin(a) * np.cos(a) + np.exp(-a * a) + np.log1p(a * a) + np.sqrt(np.abs(a)) + np.cbrt(a) + np.arctan(a) + np.tanh(a) + np.rint(a)
        + np.floor(a) + np.fmod(a, 0.7) + (np.abs(a) + 0.5) ** 1.3 + _erf(a) + 1 / (a + 10) + a * a + a + np.hypot(a, 2) + np.trunc(a * 1000)
        + np.trunc(np.abs(a) * 10) + 8 * a + np.frexp(a * a + 1)[1] - 1
    )  # fmt: skip
    return {"y": y}


@reference
def singles(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Functions of floats."""
    a = _wide(arrays["x"])
    m, e = np.frexp(a)
    p = np.abs(a)
    y = (
        m + e + np.sin(a) * np.cos(a) + (p + 0.5) ** 1.3 + _erf(a) + np.tanh(a) + np.exp(a) + a / 3 + 1 / np.sqrt(p + 1)
        + np.fmod(arrays["x"], np.float32(0.7)) + np.copysign(np.floor(p + 0.5), a) + np.trunc(a) + np.floor(a) + np.trunc(p) + np.clip(a, 0, 1)
        + np.minimum(a, 1) + np.maximum(a, -1) + np.copysign(2, a) + 1 / (a + 10) + np.log2(p + 1) + 2.0**a + np.sinh(a) + np.log(p + 0.1)
        + np.arctan2(a, 2) + np.cbrt(a) + 2.0**a + np.sin(np.pi * a) + _each(math.lgamma)(p + 3) + np.expm1(a)
    )  # fmt: skip
    return {"y": y}


def _rounded(exact: Fraction, mode: str) -> float:
    near = np.float32(float(exact))
    candidates = sorted({np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))})
    below = max(c for c in candidates if Fraction(float(c)) <= exact)
    above = min(c for c in candidates if Fraction(float(c)) >= exact)
    if mode == "n":
        low, high = exact - Fraction(float(below)), Fraction(float(above)) - exact
        even = below if int(below.view(np.uint32)) % 2 == 0 else above
        return float(below if low < high else above if high < low else even)
    return float({"u": above, "d": below, "z": below if exact >= 0 else above}[mode])


@reference
def rounding(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Sums, products and quotients in four directions, and more that are rounded once."""
    rows: list[list[float]] = []
    for p, q in zip(arrays["x"], arrays["z"], strict=True):
        a, b = Fraction(float(p)), Fraction(float(q))
        row = [_rounded(exact, mode) for exact in (a + b, a * b, a / b) for mode in "nzud"]
        root = np.float32(np.sqrt(np.abs(np.float64(p))))
        rows.append([*row, _rounded(a * b + a, "n"), float(root), float(np.float32(1 / np.sqrt(np.abs(np.float64(p))))), float(np.float32(np.float64(p) * np.float64(q)))])
    return {"y": np.array(rows)}


def _halves(arrays: Arrays) -> tuple[Array, Array]:
    return _wide(arrays["x"]), _wide(arrays["z"])


@reference
def half_math(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Halves: sums of some forty operations."""
    a, b = _halves(arrays)
    r = a * b + a + np.clip(a + b, 0, 1) + np.abs(b) - a + np.rint(a) + np.floor(b) + np.ceil(a) + np.trunc(b)
    r += (a > b) + 2.0 + 4 * (a < b) + np.maximum(a, b) + np.minimum(a, b)
    r += (a + b) + a * b + (a * b + a) + (b - a)
    r += np.trunc(a) + np.rint(b) + np.ceil(np.abs(a)) + np.arange(len(a)) + a * b
    r += np.maximum(a, b) + np.maximum(a * b + a, 0) + ((a > b) & (b > a)) + np.floor(b)
    return {"y": r}


@reference
def half_functions(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Functions of halves."""
    a = _wide(arrays["x"])
    p = _wide((np.abs(arrays["x"]) + np.float16(0.5)).astype(np.float16))
    y = np.exp(a) + np.log(p) + np.sqrt(p) + 1 / np.sqrt(p) + np.sin(a) + np.cos(a) + 2.0**a + np.log2(p) + 1 / p + np.tanh(a) + a / p + 10.0**a
    return {"y": y}


@reference
def bf16_math(arrays: Arrays, options: Options) -> dict[str, Any]:
    """bf16: sums of some thirty operations."""
    a, b = _halves(arrays)
    i = np.arange(len(a))
    r = a * b + a + (a + b) + a * b + np.maximum(a, b) + np.minimum(a, b) + np.abs(a) - b + (a < b) + (a + b) + (a * b + b) + np.clip(a * b, 0, 1)
    toward_zero = (np.float32(1.2345) * i.astype(np.float32)).view(np.uint32) & np.uint32(0xFFFF0000)
    r += toward_zero.view(np.float32) + np.trunc(b) + (i * 77).astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64) + (a - b) + a / (np.abs(b) + 1)
    return {"y": r}


@reference
def fp8_casts(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Saturating conversions to fp8 from float, half and bf16."""
    x = arrays["x"]

    def to(values: Array, dtype: Any) -> Array:
        most = float(ml_dtypes.finfo(dtype).max)
        return np.clip(values.astype(np.float32), -most, most).astype(dtype)

    e4, e5 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
    parts = [to(x, e4), to(x, e5), to(x.astype(np.float16), e4), to(x.astype(ml_dtypes.bfloat16), e5)]
    return {
        "y": np.stack([part.view(np.uint8) for part in parts], 1),
        "z": np.stack([part.astype(np.float64) for part in parts[:2]], 1),
    }


@reference
def packed_fp8(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Four at a time."""
    packed = arrays["x"].astype(ml_dtypes.float8_e4m3fn)
    return {"y": packed.view(np.uint32)[:, 0], "z": packed.astype(np.float64)}


@reference
def unaligned_bytes(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Three bytes that stand anywhere."""
    x = arrays["x"].reshape(-1, 3).astype(np.int64)
    return {"y": x[:, 0] + (x[:, 1] << 8) + (x[:, 2] << 16) + (x[:, 1] + (x[:, 2] << 8)) + x[:, :1].astype(np.int8)[:, 0]}


@reference
def grid_stride(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Four columns, four things done."""
    x = _wide(arrays["x"])
    return {"y": np.stack([x[:, 0] * 1.5, x[:, 1] + 1.5, x[:, 2] * 1.5 + 1, -x[:, 3]], 1)}


# Threads together


def _warps(x: Array) -> Array:
    return x.reshape(-1, 32).astype(np.int64)


@reference
def shuffles(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Every shuffle."""
    v, lane = _warps(arrays["x"]), np.arange(32)

    def up(v: Array, k: int) -> Array:
        return v[:, np.where(lane >= k, lane - k, lane)]

    down = v[:, np.where(lane % 16 + 3 < 16, lane + 3, lane)]
    r = v[:, lane * 7 & 31] + 3 * up(v, 5) + 5 * down + 7 * v[:, lane ^ 9]
    r += 11 * v[:, lane // 8 * 8 + (lane + 3) % 8]
    r = r.astype(np.int32) ^ (v * 0x100000001 >> 32)[:, lane ^ 1].astype(np.int32)
    return {"y": (r.astype(np.int64) + up(v, 2)).ravel()}


@reference
def votes(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Votes, matches and reductions, over the warp and over half of it."""
    rows: list[list[int]] = []
    for warp in _warps(arrays["x"]):
        values = [int(v) for v in warp]

        def ballot(test: Callable[[int], bool], values: list[int] = values) -> int:
            return sum(1 << k for k, v in enumerate(values) if test(v))

        odd = [v for v in values if v & 1]
        even = [v & 0xFFFFFFFF for v in values if not v & 1]
        same = len({v & 1024 for v in values}) == 1
        xor = 0
        for v in even:
            xor ^= v
        for v in values:
            first = [ballot(lambda u: u & 1 == 1), int(all(u > -1000 for u in values)), int(3 in values), ballot(lambda u, v=v: u & 7 == v & 7)]
            first += [0xFFFFFFFF if same else 0, int(same)]
            rows.append([*first, *((ballot(lambda u: u & 1 == 1 and u & 2 == 2), sum(odd) ^ max(odd)) if v & 1 else (xor, min(even)))])
    return {"y": np.array(rows, object)}


@reference
def block_sum(arrays: Arrays, options: Options) -> dict[str, Any]:
    """The sum of everything."""
    return {"y": np.array([_wide(arrays["x"]).sum()])}


REFERENCES["last_block_done"] = block_sum


@reference
def spin_lock(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Every thread's turns."""
    return {"y": np.array([3 * 40 * 2])}


@reference
def global_atomics(arrays: Arrays, options: Options) -> dict[str, Any]:
    """What all atomics leave, from zero."""
    t = [int(k) for k in range(140)]
    xor = xorl = 0
    inc = dec = 0
    for k in t:
        xor, xorl = xor ^ (k * 77), xorl ^ (0x100000001 * k)
        inc = 0 if inc >= 9 else inc + 1
        dec = 6 if dec == 0 or dec > 6 else dec - 1
    i = [sum(t), -sum(t), -50, max(t), 0, -1, xor, inc, dec, 140, 280, 5, 0, 0, 0, 0]
    return {
        "i": np.array(i), "l": np.array([140 << 33, 139 << 40, -139, xorl, (1 << 64) - 1, 0, 0, 0], object),
        "f": np.array([210.0, 3.0]), "d": np.array([35.0]),
    }  # fmt: skip


@reference
def half_atomics(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Sums in half, half2, bf16 and four floats."""
    return {"h": np.array([32.0, 0]), "h2": np.array([64.0, -16.0]), "b": np.array([64.0, 0]), "v": np.array([64.0, 128, 192, 256])}


@reference
def shared_histogram(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Counts of bytes."""
    return {"y": np.bincount(arrays["x"], minlength=256)}


@reference
def tiles(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Cooperative groups of 32 and 8."""
    v = _warps(arrays["x"])
    eights = v.reshape(-1, 8)
    lane = np.arange(8)
    scan = np.cumsum(eights, 1)
    masks = ((v[:, :, None] & 3) == (v[:, None, :] & 3)) @ (1 << np.arange(32, dtype=np.int64))
    columns = [
        np.repeat(scan[:, -1], 8), np.cumsum(v, 1).ravel(), (scan - eights).ravel(), eights[:, lane ^ 3].ravel(),
        np.repeat((eights > 90).any(1), 8).astype(np.int64), np.tile(np.repeat(np.arange(4), 8), len(v)), np.repeat(v.max(1), 32), masks.ravel(),
    ]  # fmt: skip
    return {"y": np.stack(columns, 1)}


@reference
def coalesced(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Groups of the threads that came this way."""
    y: list[int] = []
    for first in range(0, 64, 32):
        values = [int(v) for v in arrays["x"][first : first + 32]]
        third = [k for k, v in enumerate(values) if v % 3 == 0]
        for k, v in enumerate(values):
            if v % 3 == 0:
                y.append(len(third) * 101000 + third.index(k))
            else:
                group = [j for j, u in enumerate(values) if u % 3 and u & 3 == v & 3]
                y.append(len(group) + 100 * (first + group[0]))
    return {"y": np.array(y), "counter": np.array([int((arrays["x"] % 3 == 0).sum())])}


@reference
def barriers(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Columns summed backwards."""
    return {"y": _wide(arrays["x"])[:, ::-1].sum(0)}


def _decayed(x: Array) -> Array:
    s = np.zeros(x.shape[1])
    for row in x:
        s = s * 0.5 + row
    return s


@reference
def pipelines(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Rows added while what was there is halved."""
    return {"y": _decayed(_wide(arrays["x"]))}


@reference
def shared_pipeline(arrays: Arrays, options: Options) -> dict[str, Any]:
    """The same backwards."""
    return {"y": _decayed(_wide(arrays["x"])[:, ::-1])}


@reference
def group_copy(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Rows backwards, the first of four increased."""
    return {"y": arrays["x"][:, ::-1] + np.array([1, 0, 0, 0])}


@reference
def scoped_atomics(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Additions, an exchange in a loop, and a set of bits."""
    return {"y": np.array([96 * 3 + 96 * 2, 47, 255])}


@reference
def flag_wait(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Two blocks wait for the first."""
    t = np.arange(96)
    return {"y": np.where(t < 32, 1, 42 + t % 32)}


@reference
def named_barriers(arrays: Arrays, options: Options) -> dict[str, Any]:
    """A value handed over at barriers of two warps."""
    return {"y": np.repeat([22, 11, 5], 32) + 1}


@reference
def cluster_histogram(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Counts of the low six bits."""
    return {"y": np.bincount(arrays["x"] & 63, minlength=64)}


@reference
def cluster_exchange(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Twice one's own and the other's backwards."""
    x = _wide(arrays["x"]).reshape(-1, 2, 64)
    return {"y": (2 * x + x[:, ::-1, ::-1] + 2 + np.arange(128).reshape(2, 64)).reshape(-1, 64)}


@reference
def bulk_stream(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Twice and one."""
    return {"y": _wide(arrays["x"]) * 2 + 1}


@reference
def cuda_matmul(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Products of every type, some doubled, some stored by columns, some packed."""
    operands: dict[str, Array] = {}
    for name in "ab":
        held = arrays[name]
        if options.get("unpack") == "s4":
            held = np.stack([held & 15, held >> 4], -1).reshape(len(held), -1).astype(np.int64)
            held = np.where(held > 7, held - 16, held)
        elif options.get("unpack") == "xor":
            held = np.unpackbits(held, axis=1).astype(np.int64)
        operands[name] = held
    if options.get("unpack") == "xor":
        return {"c": (operands["a"][:, None] ^ operands["b"][None]).sum(-1)}
    c = matmul({**operands, "c": arrays["c"]}, options)["c"] * options["times"]
    return {"c": c.T if options.get("transposed") else c}
