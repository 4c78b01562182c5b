"""Compare the speed of matrix sums on one thread with NumPy, mmaemu and MMA-Sim.

    python bench/mma.py [--repeat 20]

The speed is stated in products per second. It is the speed of a call of a `fused.Multiplier` from Python. The call
checks the operands, allocates the result and computes all multiplications of the batch. The rows "one" show the fixed
cost of a call. The fastest of several measurements counts. A measurement repeats a short call and divides the time.
Each result is first compared bit for bit with NumPy's for finite operands, and with the results of mmaemu and MMA-Sim
if they support the types. mmaemu and mmasim (PyPI) are left out if they are not installed. The
last column is the ratio of Warploom's speed to the speed of a compiled loop on one thread. The loop multiplies 16-bit
integers in the first-level cache and adds the products in 32 bits.
"""

from __future__ import annotations

import argparse
import platform
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from warploom.numerics import fused, models
from warploom.numerics._compile import njit
from warploom.numerics.formats import FORMATS
from warploom.numerics.models import Model, Sum, UnitKind

Array = NDArray[Any]
FINITE = ("normal", "subnormal")
DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
}


@dataclass(frozen=True)
class Case:
    """Row of the table: an arithmetic model, a shape, and the kind of operand values.

    `block` is the number of elements along K that have a common block scale, 0 without scales.

    Shapes: `shape` is (multiplications, M, N, K).
    """

    name: str
    model: Model
    shape: tuple[int, int, int, int]
    data: str = "normal"
    sparse: bool = False
    block: int = 0

    @property
    def products(self) -> int:
        """Number of products of two elements in all multiplications."""
        groups, rows, columns, depth = self.shape
        return groups * rows * columns * depth * (32 if self.model.a_type == "b1" else 1)


def cases() -> list[Case]:
    """Return the rows of the table."""
    hopper: tuple[str, UnitKind] = ("sm_90a", "warp")
    group: tuple[str, UnitKind] = ("sm_90a", "warpgroup")
    tile, warps = (16, 64, 256, 16), (1024, 16, 8, 16)
    half = models.select(*group, "f16", "f16", "f32")
    bf16 = models.select(*group, "bf16", "bf16", "f32")
    fp8 = models.select(*group, "e4m3", "e4m3", "f32")
    s8 = models.select(*hopper, "s8", "s8", "s32")
    tensor: tuple[str, UnitKind] = ("sm_100a", "tensor memory")
    fp6 = models.select(*tensor, "e3m2", "e2m1", "f32")
    mxfp8 = models.select(*tensor, "e4m3", "e4m3", "f32", scaling=("mxf8f6f4", "ue8m0"))
    mxfp4 = models.select(*tensor, "e2m1", "e2m1", "f32", scaling=("mxf4", "ue8m0"))
    nvfp4 = models.select(*tensor, "e2m1", "e2m1", "f32", scaling=("mxf4nvf4", "ue4m3"))
    return [
        Case("m64n256k16 f16 f32", half, tile),
        Case("m64n256k16 bf16 f32", bf16, tile),
        Case("m64n256k16 f16 f16", models.select(*group, "f16", "f16", "f16"), tile),
        Case("m64n256k8 tf32 f32", models.select(*group, "tf32", "tf32", "f32"), (16, 64, 256, 8)),
        Case("m64n256k32 e4m3 f32", fp8, (16, 64, 256, 32)),
        Case("m64n256k32 s8 s32", s8, (16, 64, 256, 32)),
        Case("m128n256k32 e4m3 f32, sm_100", models.select(*tensor, "e4m3", "e4m3", "f32"), (8, 128, 256, 32)),
        Case("m128n256k32 e3m2 e2m1 f32", fp6, (8, 128, 256, 32)),
        Case("m128n256k32 mxf8f6f4 e4m3", mxfp8, (8, 128, 256, 32), block=32),
        Case("m128n256k64 mxf4", mxfp4, (8, 128, 256, 64), block=32),
        Case("m128n256k64 mxf4nvf4", nvfp4, (8, 128, 256, 64), block=16),
        Case("m16n8k32 e3m2 e2m1 f32, sm_120", fp6, (1024, 16, 8, 32)),
        Case("m16n8k32 mxf8f6f4 e4m3, sm_120", mxfp8, (1024, 16, 8, 32), block=32),
        Case("m16n8k64 mxf4nvf4, sm_120", nvfp4, (1024, 16, 8, 64), block=16),
        Case("m16n8k16 f16 f32", half, warps),
        Case("m16n8k16 bf16 f32", bf16, warps),
        Case("m16n8k16 f16 f16", models.select(*hopper, "f16", "f16", "f16"), warps),
        Case("m16n8k32 sparse f16 f32", half, warps, sparse=True),
        Case("m16n8k32 e4m3 f32, sm_90", models.select(*hopper, "e4m3", "e4m3", "f32"), (1024, 16, 8, 32)),
        Case("m16n8k32 e4m3 f32, sm_89", models.select("sm_89", "warp", "e4m3", "e4m3", "f32"), (1024, 16, 8, 32)),
        Case("m16n8k32 s8 s32", s8, (1024, 16, 8, 32)),
        Case("m16n8k16 f64", models.select(*hopper, "f64", "f64", "f64"), warps),
        Case("m16n8k256 b1 xor", models.select(*hopper, "b1", "b1", "s32"), (1024, 16, 8, 8)),
        Case("one m16n8k16 f16 f32", half, (1, 16, 8, 16)),
        Case("one m16n8k16 f16 f32", half, (1, 16, 8, 16), "any bits"),
        Case("GEMM 256x256x4096 e4m3", fp8, (1, 256, 256, 4096)),
        Case("m64n256k16 f16 f32", half, tile, "subnormal"),
        Case("m64n256k16 f16 f32", half, (4, 64, 256, 16), "1 in 1000 inf"),
        Case("m64n256k16 bf16 f32", bf16, (4, 64, 256, 16), "any bits"),
        Case("m64n256k16 f16 f32", half, (4, 64, 256, 16), "any bits"),
        Case("m64n256k32 e4m3 f32", fp8, (4, 64, 256, 32), "any bits"),
    ]


def operands(case: Case) -> tuple[Array, Array, Array, Array | None]:
    """Return A, B, C and, for a sparse A, the index of its stored elements."""
    rng = np.random.default_rng(1)
    groups, rows, columns, depth = case.shape
    wide = depth * (1 + case.sparse)
    index = 2 * np.arange(depth) + rng.integers(0, 2, (groups, rows, depth)) if case.sparse else None
    shapes = (groups, rows, depth), (groups, columns, wide), (groups, rows, columns)
    name = case.model.a_type
    if name == "f64":
        a, b, c = (rng.standard_normal(shape) for shape in shapes)
    elif name == "b1":
        a, b = (rng.integers(0, 1 << 32, shape, dtype=np.uint32) for shape in shapes[:2])
        c = np.zeros(shapes[2], np.int32)
    elif name == "s8":
        a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes[:2])
        c = rng.integers(-1000, 1000, shapes[2]).astype(np.int32)
    else:
        a, b = (floats(rng, name, shape, case.data) for shape in shapes[:2])
        c = rng.standard_normal(shapes[2]).astype(np.float32 if case.model.d_type == "f32" else np.float16)
        c = c.view(f"u{c.itemsize}")
        if "GEMM" in case.name:
            c[:] = 0
    return a, b, c, index


def scales(case: Case) -> dict[str, Array]:
    """Return the block scales of A and B as arguments of a `fused.Multiplier`. They are near 1."""
    if not case.block:
        return {}
    rng = np.random.default_rng(2)
    groups, rows, columns, depth = case.shape
    one = FORMATS[str(case.model.scale_type)].bias << FORMATS[str(case.model.scale_type)].mantissa_bits
    return {
        name: rng.integers(one - 8, one + 8, (groups, extent, depth // case.block)).astype(np.uint8)
        for name, extent in (("scale_a", rows), ("scale_b", columns))
    }


def floats(rng: np.random.Generator, name: str, shape: tuple[int, ...], data: str) -> Array:
    """Return random words of a floating-point type. `data` is the kind of values of a `Case`."""
    fmt = FORMATS[name]
    if data == "any bits" or fmt.bits < 8:
        return rng.integers(0, 2 * fmt.sign_bit << fmt.padding, shape).astype(fmt.pattern_dtype)
    values = rng.standard_normal(shape)
    if data == "subnormal":
        values *= 2.0 ** (fmt.min_exponent - 1)
    words = values.astype(DTYPES[name]).view(fmt.pattern_dtype)
    words = words >> fmt.padding << fmt.padding
    if data == "1 in 1000 inf":
        words[rng.random(shape) < 0.001] = (fmt.max_code + 1) << fmt.padding
    return words


def plain_numpy(a: Array, b: Array, c: Array, model: Model, index: Array | None) -> Array | None:
    """Return the same sums in plain NumPy for finite numbers, or None if NumPy has no equal sum."""
    if index is not None or model.sum in (Sum.T_FDPA_SPLIT, Sum.FMA_CHAIN) or model.scale_type is not None:
        return None
    if model.a_type not in DTYPES and model.sum is Sum.T_FDPA:
        return None
    if model.sum is Sum.INTEGER:
        return c + np.matmul(a.astype(np.int32), b.astype(np.int32).swapaxes(1, 2))
    if model.sum is Sum.XOR:
        met = np.bitwise_count(a[:, :, None] ^ b[:, None])
        return c + met.sum(-1, dtype=np.int32)
    kind = np.float32 if model.d_type == "f32" else np.float16
    left, right = (x.view(DTYPES[model.a_type]).astype(np.float64) for x in (a, b))
    least = FORMATS[model.a_type].min_exponent
    d = c.view(kind).astype(np.float64)
    for k in range(0, a.shape[2], model.length):
        d = _step(left[:, :, k : k + model.length], right[:, :, k : k + model.length], d, model, least)
    return d.astype(kind).view(c.dtype)


def _step(a: Array, b: Array, c: Array, model: Model, least: int) -> Array:
    def exponents(x: Array, emin: int) -> Array:
        return np.where(x == 0, -1000, np.maximum(np.frexp(x)[1] - 1, emin))

    products = a[:, :, None] * b[:, None]
    sums = exponents(a, least)[:, :, None] + exponents(b, least)[:, None]
    top = np.maximum(sums.max(-1), exponents(c, -126 if model.d_type == "f32" else -14))
    scale = np.ldexp(1.0, model.fraction - top)
    total = np.trunc(products * scale[..., None]).sum(-1) + np.trunc(c * scale)
    total = total / scale
    if model.d_type == "f16":
        return total.astype(np.float16).astype(np.float64)
    keep = np.int64(-1 << (52 - (13 if model.result == "e8m13" else 23)))
    return (total.view(np.int64) & keep).view(np.float64)


def mmaemu_call(a: Array, b: Array, case: Case) -> Callable[[], Array] | None:
    """Return a call of mmaemu with the same operands, or None if mmaemu does not support them."""
    if "GEMM" not in case.name or find_spec("mmaemu") is None:
        return None
    import torch
    from mmaemu.model.chain import chain_gemm

    torch.set_num_threads(1)
    left, right = torch.from_numpy(a[0]), torch.from_numpy(b[0])
    return lambda: chain_gemm(left, right, fmt_a="e4m3", fmt_b="e4m3", preset="hopper").numpy()[None]


def mmasim_call(a: Array, b: Array, c: Array, case: Case) -> Callable[[], Array] | None:
    """Return a call of MMA-Sim for each instruction, or None if MMA-Sim does not support the instruction."""
    a_type, b_type, d_type = case.model.a_type, case.model.b_type, case.model.d_type
    dense = not case.sparse and case.data in FINITE and a_type in ("f16", "bf16", "tf32", "e4m3")
    if not dense or case.shape[0] == 1 or case.block or "sm_" in case.name:
        return None
    if find_spec("mmasim") is None:
        return None
    import torch
    from mmasim.nv_ptx.sim import MMA, WGMMA

    torch.set_num_threads(1)
    shape = case.name.partition(" ")[0]
    one = WGMMA if shape.startswith("m64") else MMA
    types = f"{d_type}.{a_type}.{b_type}" + ("" if one is WGMMA else f".{d_type}")
    simulated = one("Hopper", f"{shape}.{types}")
    kinds = {"f16": torch.float16, "bf16": torch.bfloat16, "tf32": torch.float32, "e4m3": torch.float8_e4m3fn}
    signed = {1: np.int8, 2: np.int16, 4: np.int32}

    def tensor(words: Array, kind: Any) -> Any:
        return torch.from_numpy(words.view(signed[words.itemsize])).view(kind)

    sums = torch.float32 if d_type == "f32" else torch.float16
    given = [
        (tensor(a[k], kinds[a_type]), tensor(b[k], kinds[b_type]).T, tensor(c[k], sums))
        for k in range(min(case.shape[0], 64))
    ]
    return lambda: np.stack([simulated(*each).numpy() for each in given])


def simd_limit() -> float:
    """Return the speed at which a compiled loop adds products of 16-bit integers with SIMD instructions.

    Units: millions of products per second.
    """
    first, *others = (np.ones(2048, np.int16) for _ in range(5))
    rounds = 2000
    _add_products(first, *others, 1)
    return 4 * len(first) * rounds / seconds(lambda: _add_products(first, *others, rounds), 20) / 1e6


@njit
def _add_products(x: Array, a: Array, b: Array, c: Array, d: Array, rounds: int) -> np.int32:
    total = np.int32(0)
    for k in range(rounds):
        s, t, u, v = np.int32(0), np.int32(0), np.int32(0), np.int32(0)
        for i in range(len(x)):
            one = np.int32(x[i])
            s += one * np.int32(a[i])
            t += one * np.int32(b[i])
            u += one * np.int32(c[i])
            v += one * np.int32(d[i])
        total ^= s ^ t ^ u ^ v
        x[k % len(x)] += np.int16(1)
    return total


def seconds(call: Callable[[], Any], repeat: int) -> float:
    """Return the shortest time of a call in `repeat` measurements, or in as many as fit in two seconds.

    A measurement repeats short calls for about a millisecond, so that the cost of the timer is negligible.
    """
    call()  # the first call loads or compiles functions
    timer = timeit.Timer(call)
    count, best, spent = 1, float("inf"), 0.0
    while timer.timeit(count) < 1e-3:
        count *= 2
    for _ in range(repeat):
        taken = timer.timeit(count)
        best = min(best, taken / count)
        spent += taken
        if spent > 2:
            break
    return best


def multiplication(case: Case) -> Callable[[], Array]:
    """Return a call that computes all multiplications of a case."""
    a, b, c, index = operands(case)
    return partial(fused.multiplier(case.model), a, b, c, index=index, **scales(case))


def speed(case: Case, repeat: int) -> float:
    """Return the speed of a case in millions of products per second."""
    return case.products / seconds(multiplication(case), repeat) / 1e6


def measure(case: Case, repeat: int, limit: float) -> list[str]:
    """Return one row of the table."""
    a, b, c, index = operands(case)
    d = fused.multiplier(case.model)(a, b, c, index=index, **scales(case))

    def rate(call: Callable[[], Any], repeat: int, share: float = 1.0) -> float:
        return share * case.products / seconds(call, repeat) / 1e6

    own = speed(case, repeat)
    row = [case.name, str(case.shape[0]), case.data, f"{own:,.0f}"]
    numpy_call = partial(plain_numpy, a, b, c, case.model, index) if case.data in FINITE else None
    calls = (("NumPy", numpy_call), ("mmaemu", mmaemu_call(a, b, case)), ("MMA-Sim", mmasim_call(a, b, c, case)))
    for name, call in calls:
        other = None if call is None else call()
        if call is None or other is None:
            row += ["", ""]
            continue
        np.testing.assert_array_equal(other.view(d.dtype), d[: len(other)], f"{case.name}, {name}")
        theirs = rate(call, 3, len(other) / len(d))
        row += [f"{theirs:,.1f}", f"{own / theirs:,.0f}"]
    return [*row, f"{own / limit:.0%}"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=20)
    repeat: int = parser.parse_args().repeat
    table = Table(title=f"Millions of products a second on one thread ({processor()})")
    for heading in (
        "kernel",
        "batch",
        "operands",
        "Warploom",
        "NumPy",
        "ratio",
        "mmaemu",
        "ratio",
        "MMA-Sim",
        "ratio",
        "of SIMD",
    ):
        table.add_column(heading, justify="left" if heading in ("kernel", "operands") else "right")
    limit = simd_limit()
    for case in cases():
        table.add_row(*measure(case, repeat, limit))
    Console(width=150).print(table)
    print(f"integer SIMD: {limit:,.0f} million 16-bit products a second")


def processor() -> str:
    """Return the name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


if __name__ == "__main__":
    main()
