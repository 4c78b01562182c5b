"""Launches of the kernels in `blackwell.cu` and `block_scaled.cu`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import warploom as wl
from warploom_lab.compiled.description import Case, Spec, buffer, operand, out, scalar, scale_factors

_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e2m1": 4, "s8": 8}
_STAGE = 1024
"""Bits along K in one stage of shared memory."""


def _tiles(kind: str, rows: int, k: int, box: int) -> Spec:
    return operand(kind, rows, k, (box, _STAGE // _BITS[kind]), bare=True)


def _product(
    name: str, kind: str, element: str, size: tuple[int, int, int], tile: tuple[int, int], near: float, pair: bool = False
) -> Case:  # fmt: skip
    """Return the launch of a product A B^T. `size` is (M, N, K), and `tile` has the rows of the boxes of A and B."""
    (m, n, k), (bm, bn) = size, tile
    columns = 2 * bn if pair else bn
    elements = _STAGE // _BITS[element]
    result, dtype = ("s32", "i32") if element == "s8" else ("f32", "fp32")
    word = wl.InstructionDescriptor(kind, 256 if pair else 128, columns, element, element, result).encode()
    args = {
        "a": _tiles(element, m, k, bm), "b": _tiles(element, n, k, bn), "c": out(dtype, m, n), "columns": scalar("i32", n),
        "steps": scalar("i32", k // elements), "elements": scalar("i32", elements), "idesc": scalar("u32", word),
    }  # fmt: skip
    return Case(
        name, "matmul", args, (m // 128, n // columns), (128,), (2, 1, 1) if pair else (1, 1, 1), kind="tensor-memory",
        tolerance=(near, near), parameters={"layout": "nt"},
    )  # fmt: skip


def _scaled(name: str, kind: str, element: str, scale_type: str, block: int, steps: int) -> Case:
    """Return the launch of a block-scaled product of one tile. `block` elements share a scale factor."""
    k = steps * _STAGE // _BITS[element]
    matrix, factors = _tiles(element, 128, k, 128), scale_factors(block, 1, k // block // 4, 32, 4, 4)
    word = wl.InstructionDescriptor(kind, 128, 128, element, element, scale_type=scale_type).encode()
    args = {
        "a": matrix, "sa": factors, "b": matrix, "sb": factors, "c": out("fp32", 128, 128), "steps": scalar("i32", steps),
        "idesc": scalar("u32", word),
    }  # fmt: skip
    parameters = {"a": element, "b": element, "block": block, "blocked": True}
    return Case(name, "scaled_matmul", args, kind="tensor-memory", tolerance=(1e-4, 1e-2), parameters=parameters)


def tensor_memory_cases(*, integers: bool) -> Iterator[Case]:
    """Yield the launches of `blackwell.cu`. With `integers`, the target multiplies integers."""
    yield _product("dense_f16", "f16", "f16", (256, 128, 320), (128, 64), 1e-3)
    yield _product("dense_bf16", "f16", "bf16", (128, 64, 192), (128, 32), 1e-3)
    yield _product("dense_tf32", "tf32", "tf32", (128, 128, 96), (128, 64), 5e-2)
    yield _product("dense_e4m3", "f8f6f4", "e4m3", (256, 64, 512), (128, 64), 1e-2)
    if integers:
        yield _product("dense_s8", "i8", "s8", (128, 64, 256), (128, 64), 0)
    yield _product("paired_f16", "f16", "f16", (512, 128, 256), (128, 32), 1e-3, pair=True)
    yield _product("paired_e4m3", "f8f6f4", "e4m3", (256, 128, 384), (128, 64), 1e-2, pair=True)
    yield _scaled("scaled_mxf8", "mxf8f6f4", "e4m3", "ue8m0", 32, 3)
    yield _scaled("scaled_nvf4", "mxf4nvf4", "e2m1", "ue4m3", 16, 2)
    rows = {"x": buffer("i32", 9, 64, fill="integers", low=-1000, high=1000), "y": out("i32", 9, 64)}
    yield Case("cancelled_rows", "cancelled_rows", rows, (9,), (64,), kind="tensor-memory")
    words = {"x": buffer("i32", 128, 8, fill="integers", low=-1000, high=1000), "y": out("i32", 128, 8)}
    yield Case("reshaped", "reshaped", words, kind="tensor-memory")


def block_scaled_cases() -> Iterator[Case]:
    """Yield the launches of `block_scaled.cu`."""
    k = 128
    end = {"c": out("fp32", 16, 8), "k": scalar("i32", k)}
    launch = partial(Case, block=(32,), kind="block-scaled", tolerance=(1e-4, 1e-2))
    for name, element, block in (("warp_mxf8", "e4m3", 32), ("warp_nvf4", "e2m1", 16)):
        args: dict[str, Spec] = {}
        for word, rows in (("a", 16), ("b", 8)):
            args |= {word: operand(element, rows, k), f"s{word}": scale_factors(block, rows, k // block)}
        yield launch(name, "scaled_matmul", args | end, parameters={"a": element, "b": element, "block": block})
    args = {"a": operand("e4m3", 16, k), "b": operand("e5m2", 8, k)}
    yield launch("warp_f8", "matmul", args | end, parameters={"layout": "nt"})
