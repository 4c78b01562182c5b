"""Compares the approximations with a GPU over every pattern, and records a sample of the GPU's outputs
and, in `binades.json`, the digests of its whole binades.

Needs an sm_90 GPU, CuPy, and `ptxas` on the path:

    PYTHONPATH=src python tests/evidence/approximate/compare.py h200.npz
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cupy  # pyright: ignore[reportMissingImports]
import numpy as np
from numpy.typing import NDArray

from warploom.numerics import approximate
from warploom.numerics.formats import BF16, F16

Array = NDArray[Any]
BINADES = Path(__file__).with_name("binades.json")
CHUNK, PIECE = 1 << 26, 1 << 19

SINGLE = ("ex2", "lg2", "rcp", "rsqrt", "sqrt", "sin", "cos")
MODELS: dict[str, tuple[int, Callable[[Array], Array]]] = {
    "tanh.approx.f32": (32, approximate.tanh),
    "ex2.approx.f16": (16, lambda x: approximate.ex2_half(x, F16)),
    "ex2.approx.ftz.bf16": (16, lambda x: approximate.ex2_half(x, BF16, ftz=True)),
    "tanh.approx.f16": (16, lambda x: approximate.tanh_half(x, F16)),
    "tanh.approx.bf16": (16, lambda x: approximate.tanh_half(x, BF16)),
    "rcp.approx.ftz.f64": (64, approximate.rcp64),
    "rsqrt.approx.ftz.f64": (64, lambda x: approximate.rsqrt(x, ftz=True)),
    "rsqrt.approx.f64": (64, approximate.rsqrt),
}
for _name in SINGLE:
    _function = getattr(approximate, _name)
    MODELS[f"{_name}.approx.f32"] = (32, _function)
    MODELS[f"{_name}.approx.ftz.f32"] = (32, lambda x, f=_function: f(x, ftz=True))

PTX = """.version 9.0
.target sm_90
.address_size 64
.visible .entry apply(.param .u64 source, .param .u64 result)
{{
.reg .b64 %d<4>; .reg .b32 %r<4>; .reg .{type} %x<2>;
mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; mad.lo.u32 %r0, %r0, 256, %r1;
mul.wide.u32 %d0, %r0, {size};
ld.param.u64 %d1, [source]; ld.param.u64 %d2, [result];
add.u64 %d1, %d1, %d0; add.u64 %d2, %d2, %d0;
ld.global.{type} %x0, [%d1];
{instruction} %x1, %x0;
st.global.{type} [%d2], %x1;
ret;
}}
"""


def kernel(instruction: str, bits: int) -> Callable[[Array], Array]:
    """The instruction on the GPU, for patterns whose count is a multiple of 256."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "apply"
        register = {16: "b16", 32: "f32", 64: "f64"}[bits]
        path.with_suffix(".ptx").write_text(PTX.format(type=register, size=bits // 8, instruction=instruction))
        command = ["ptxas", "-arch=sm_90", str(path.with_suffix(".ptx")), "-o", str(path)]
        subprocess.run(command, check=True)
        module = cupy.cuda.function.Module()
        module.load(path.read_bytes())
    function = module.get_function("apply")

    def apply(patterns: Array) -> Array:
        source = cupy.asarray(patterns)
        result = cupy.empty_like(source)
        function((source.size // 256,), (256,), (source, result))
        return cupy.asnumpy(result)

    return apply


def sample(bits: int) -> Array:
    """A few patterns of every sign and exponent, or all of 16 bits."""
    chance = np.random.default_rng(2026)
    if bits == 16:
        return np.arange(1 << 16, dtype=np.uint16)
    fraction, fields, count = (23, 512, 8) if bits == 32 else (52, 4096, 2)
    dtype = np.uint32 if bits == 32 else np.uint64
    heads = np.arange(fields, dtype=dtype)[:, None] << dtype(fraction)
    return (heads | chance.integers(0, 1 << fraction, (fields, count), dtype=dtype)).ravel()


def everything(instruction: str, bits: int) -> Iterator[Array]:
    """Every pattern; of 64 bits every upper word, its lower one random; of the expansion a part of those."""
    if bits == 16:
        yield sample(16)
        return
    chance = np.random.default_rng(7)
    step = 64 if instruction == "rsqrt.approx.f64" else 1
    for start in range(0, 1 << 32, CHUNK * step):
        part = np.arange(CHUNK, dtype=np.uint32) * np.uint32(step) + np.uint32(start)
        if bits == 32:
            yield part
        else:
            lower = chance.integers(0, 1 << 32, CHUNK, dtype=np.uint64)
            yield (part.astype(np.uint64) << np.uint64(32)) | lower


def differences(model: Callable[[Array], Array], patterns: Array, wanted: Array) -> int:
    real = {16: np.uint16, 32: np.float32, 64: np.float64}[patterns.itemsize * 8]
    return int((model(patterns.view(real)).view(patterns.dtype) != wanted).sum())


def main(target: str) -> None:
    record: dict[str, Array] = {}
    digests: dict[str, dict[str, str]] = json.loads(BINADES.read_text())
    for instruction, (bits, model) in MODELS.items():
        apply = kernel(instruction, bits)
        record[instruction] = apply(sample(bits))
        differences(model, sample(bits), record[instruction])
        compared = differing = 0
        with ThreadPoolExecutor() as pool:
            for patterns in everything(instruction, bits):
                wanted = apply(patterns)
                pieces = range(0, len(patterns), PIECE)
                parts = [(patterns[s : s + PIECE], wanted[s : s + PIECE]) for s in pieces]
                differing += sum(pool.map(lambda p, m=model: differences(m, *p), parts))
                compared += len(patterns)
        sys.stdout.write(f"{instruction}: {compared} compared, {differing} differ\n")
        sys.stdout.flush()
    for instruction, starts in digests.items():
        bits, _ = MODELS[instruction]
        apply = kernel(instruction, bits)
        for start in starts:
            patterns = np.arange(int(start, 16), int(start, 16) + (1 << 23), dtype=np.uint32)
            starts[start] = hashlib.sha256(apply(patterns).astype("<u4").tobytes()).hexdigest()
    BINADES.write_text(json.dumps(digests, indent=1))
    record |= {f"x{bits}": sample(bits) for bits in (32, 64)}
    np.savez_compressed(target, **record)  # pyright: ignore[reportArgumentType]


if __name__ == "__main__":
    main(sys.argv[1])
