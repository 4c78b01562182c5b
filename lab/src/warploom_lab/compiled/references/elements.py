"""Expected results of the Triton kernels in `elementwise.py` and `memory.py`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from warploom_lab.compiled.references.registry import Array, Arrays, Options, each, erf, reference, wide

# Elements ----------------------------------------------------------------------------------------------------------


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
    "sqrt_rn": lambda x: np.sqrt(x.astype(np.float32)), "rsqrt": lambda x: 1 / np.sqrt(x), "erf": erf,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "exp10": lambda x: 10.0**x, "rcbrt": lambda x: 1 / np.cbrt(x), "erfc": each(math.erfc),
    "erfinv": each(_erfinv), "lgamma": each(math.lgamma), "tgamma": each(math.gamma),
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), "nearbyint": np.rint, "sinpi": lambda x: np.sin(np.pi * x),
    "cospi": lambda x: np.cos(np.pi * x), "j0": each(_bessel_j0), "normcdf": lambda x: 0.5 * each(math.erfc)(-x / math.sqrt(2)),
    "cyl_bessel_i0": each(_bessel_i0), "logb": lambda x: np.frexp(x)[1] - 1.0, "saturatef": lambda x: np.clip(x, 0, 1),
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
    a, b = wide(a), wide(b)
    operations: dict[str, Callable[[], Array]] = {
        "add": lambda: a + b, "sub": lambda: a - b, "mul": lambda: a * b, "divide": lambda: a / b, "least_nan": lambda: np.minimum(a, b),
        "clamped": lambda: np.clip(a, -0.5, 0.75) + b, "pow": lambda: a**b, "fmod": lambda: np.fmod(a, b),
        "remainder": lambda: each(math.remainder)(a, b), "atan2": lambda: np.arctan2(a, b), "hypot": lambda: np.hypot(a, b),
        "copysign": lambda: np.copysign(a, b), "nextafter": lambda: np.nextafter(a.astype(np.float32), b.astype(np.float32)),
        "fdim": lambda: np.maximum(a - b, 0), "div_rz": lambda: a / b, "add_ru": lambda: a + b, "mul_rd": lambda: a * b,
        "fast_dividef": lambda: a / b, "fast_powf": lambda: a**b,
    }  # fmt: skip
    return operations[op]()


@reference
def unary(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels for one-operand functions, selected by the option `op`."""
    return {"y": UNARY[options["op"]](wide(arrays["x"]))}


@reference
def binary(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels for two-operand functions, selected by the option `op`."""
    return {"y": _binary(options["op"], arrays["x"], arrays["z"])}


@reference
def ternary(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels for three-operand functions.

    `y` is sqrt(x * x + z * z + w * w) for the option `op` "norm3d", otherwise x * z + w.
    """
    x, z, w = (wide(arrays[n]) for n in "xzw")
    return {"y": np.sqrt(x * x + z * z + w * w) if options["op"] == "norm3d" else x * z + w}


@reference
def cast(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels that convert x to the type of `y`.

    Floats round to nearest even, or toward zero with the option `toward_zero`. With the option `bits`, the bits are
    unchanged.
    """
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
        # Triton converts an integer to f32 before it converts to a narrower type.
        return {"y": exact.astype(y.dtype) if y.dtype.itemsize >= 4 else exact.astype(np.float32).astype(y.dtype)}
    # Conversions to fp8 saturate.
    if y.dtype.itemsize == 1:
        most = float(ml_dtypes.finfo(y.dtype).max)
        return {"y": np.clip(x.astype(np.float64), -most, most).astype(np.float32).astype(y.dtype)}
    return {"y": x.astype(np.float32).astype(y.dtype) if x.dtype.itemsize < 8 else x.astype(y.dtype)}


def _philox(seed: int, count: int) -> Array:
    """Return the first two words of Philox4x32-10 for `count` counters (0, 0, 0, 0), (1, 0, 0, 0), ….

    Shapes: (count, 2).
    """
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
    """Return the expected result of the kernels for random numbers, selected by the option `kind`."""
    words = _philox(int(arrays["seed"]), arrays["y"].size)
    if options["kind"].startswith("randint"):
        return {"y": words[:, 0]}
    first, second = _uniform(words[:, 0]), _uniform(words[:, 1])
    if options["kind"] == "rand":
        return {"y": first}
    return {"y": np.sqrt(-2 * np.log(np.maximum(first, 1e-7))) * np.cos(6.283185307179586 * second)}


@reference
def dropout(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `dropout`.

    An element of `y` is x / (1 - p) if its random number exceeds p, otherwise zero.
    """
    p = float(arrays["p"])
    keep = _uniform(_philox(int(arrays["seed"]), arrays["y"].size)[:, 0]) > p
    return {"y": np.where(keep, wide(arrays["x"]) / (1 - p), 0)}


@reference
def collatz(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `collatz`: the number of Collatz steps from each x to 1."""
    counts: list[int] = []
    for start in arrays["x"]:
        value, steps = int(start), 0
        while value != 1:
            value, steps = (value // 2 if value % 2 == 0 else 3 * value + 1), steps + 1
        counts.append(steps)
    return {"y": np.array(counts)}


@reference
def scalar_loop(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `scalar_loop`: a sum for each element of x.

    For k from the element down to 1, one of three branches adds a term. The branch is k mod 3.
    """
    totals: list[float] = []
    for start in arrays["x"]:
        total = 0.0
        for k in range(int(start), 0, -1):
            total += (2.0 * k, -1.0, float(sum(range(k % 7))))[k % 3]
        totals.append(total)
    return {"y": np.array(totals)}


@reference
def calls(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels that call functions.

    `y` is 0.5 p(x)^2 + a with p(x) = a x^2 + 1.
    """
    x, a = wide(arrays["x"]), float(arrays["a"])
    inner = x * x * a + 1
    return {"y": inner * inner * 0.5 + a}


# Memory ------------------------------------------------------------------------------------------------------------


@reference
def atomic(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels for atomic operations, selected by the option `op`.

    `y` has the final values. For `xchg` and `cas`, `old` has the values before the operation.
    """
    x, at, y = arrays["x"], arrays["at"], arrays["y"]
    op = options["op"]
    if op == "xchg":
        return {"y": x, "old": y}
    if op == "cas":
        return {"y": np.where(y == x, x + 1, y), "old": y}
    operation = {
        "add": np.add,
        "max": np.maximum,
        "min": np.minimum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
    }[op]
    total = wide(y).copy()
    with np.errstate(over="ignore"):
        operation.at(total, at, wide(x))
    return {"y": total, "old": arrays["old"]}


@reference
def lock(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `atomic_lock`.

    Each of six programs replaces v by 3 v + 1 under a lock. The result is the final v. The initial v is zero.
    """
    value = 0
    for _ in range(6):
        value = 3 * value + 1
    return {"y": np.array([value])}


@reference
def gather_scatter(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `gather_scatter`: `y` with y[at] = x[at]."""
    y = arrays["y"].copy()
    y[arrays["at"]] = arrays["x"][arrays["at"]]
    return {"y": wide(y)}


@reference
def transpose(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels that transpose the matrix x."""
    return {"y": wide(arrays["x"]).T}


@reference
def twice(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels `copy_tensor_*`: `yd` is 2 xd."""
    return {"yd": wide(arrays["xd"]) * 2}


@reference
def triple(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `cube_tensor`: `y` is 3 x."""
    return {"y": wide(arrays["x"]) * 3}


@reference
def layout_change(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels `layout_change_*`.

    `y` is x, transposed and reshaped to the shape of x, plus the sums of the rows of x.
    """
    x = wide(arrays["x"])
    return {"y": x.T.reshape(x.shape) + x.sum(1)[:, None]}


@reference
def conv1d(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `conv1d`: the correlation of x and w with zero padding."""
    return {"y": np.correlate(wide(arrays["x"]), wide(arrays["w"]), "same")}


@reference
def last_block(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `last_block`: the sum of all elements."""
    return {"y": np.array([wide(arrays["x"]).sum()])}
