"""Launches of the kernels in `blackwell.cu` and `block_scaled.cu`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import warploom as wl
from warploom_lab.compiled.description import Case, Spec, buffer, out, scalar, tensor

_TYPES = {"f16": "fp16", "bf16": "bf16", "tf32": "fp32", "e4m3": "fp8e4nv", "e5m2": "fp8e5", "s8": "i8"}
_BYTES = {"fp16": 2, "bf16": 2, "fp32": 4, "fp8e4nv": 1, "i8": 1}
_ROW = 128
"""Bytes along K in one stage of shared memory."""


def _operand(kind: str, rows: int, k: int, box: int) -> Spec:
    dtype = _TYPES[kind]
    options: dict[str, Any] = {"fill": "bits"} if dtype == "i8" else {}
    return tensor(dtype, rows, k, box=(box, _ROW // _BYTES[dtype]), bare=True, **options)


def _product(
    name: str,
    kind: str,
    element: str,
    size: tuple[int, int, int],
    tile: tuple[int, int],
    near: float,
    pair: bool = False,
) -> Case:
    """Return the launch of a product A B^T. `size` is (M, N, K), and `tile` has the rows of the boxes of A and B."""
    (m, n, k), (bm, bn) = size, tile
    columns = 2 * bn if pair else bn
    elements = _ROW // _BYTES[_TYPES[element]]
    result = "s32" if element == "s8" else "f32"
    word = wl.InstructionDescriptor(kind, 256 if pair else 128, columns, element, element, result).encode()
    args = {
        "a": _operand(element, m, k, bm), "b": _operand(element, n, k, bn), "c": out("i32" if element == "s8" else "fp32", m, n),
        "columns": scalar("i32", n), "steps": scalar("i32", k // elements), "elements": scalar("i32", elements), "idesc": scalar("u32", word),
    }  # fmt: skip
    return Case(
        name, "matmul", args, (m // 128, n // columns), (128,), (2, 1, 1) if pair else (1, 1, 1), kind="tensor-memory",
        tolerance=(near, near), parameters={"layout": "nt"},
    )  # fmt: skip


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
    for name, steps, scale in (("scaled_mxf8", 3, 32), ("scaled_nvf4", 2, 16)):
        is_nv = scale == 16
        k = steps * (256 if is_nv else 128)
        kind, element, scale_type = ("mxf4nvf4", "e2m1", "ue4m3") if is_nv else ("mxf8f6f4", "e4m3", "ue8m0")
        factors = (
            {"fill": "uniform", "low": 0.25, "high": 4.0} if is_nv else {"fill": "integers", "low": 123, "high": 131}
        )
        operand = (
            tensor("u8", 128, k // 2, box=(128, _ROW), bare=True, fill="bits")
            if is_nv
            else _operand("e4m3", 128, k, 128)
        )
        order = buffer("fp8e4nv" if is_nv else "u8", 1, k // scale // 4, 32, 4, 4, **factors)
        word = wl.InstructionDescriptor(kind, 128, 128, element, element, scale_type=scale_type).encode()
        args = {
            "a": operand, "sa": order, "b": operand, "sb": order, "c": out("fp32", 128, 128), "steps": scalar("i32", steps),
            "idesc": scalar("u32", word),
        }  # fmt: skip
        parameters = {"a": element, "b": element, "block": scale, "blocked": True}
        yield Case(
            name,
            "scaled_matmul",
            args,
            (1,),
            (128,),
            kind="tensor-memory",
            tolerance=(1e-4, 1e-2),
            parameters=parameters,
        )
    rows = {"x": buffer("i32", 9, 64, fill="integers", low=-1000, high=1000), "y": out("i32", 9, 64)}
    yield Case("cancelled_rows", "cancelled_rows", rows, (9,), (64,), kind="tensor-memory")
    words = {"x": buffer("i32", 128, 8, fill="integers", low=-1000, high=1000), "y": out("i32", 128, 8)}
    yield Case("reshaped", "reshaped", words, (1,), (128,), kind="tensor-memory")


def block_scaled_cases() -> Iterator[Case]:
    """Yield the launches of `block_scaled.cu`."""
    c, k = out("fp32", 16, 8), 128

    def case(name: str, reference: str, args: dict[str, Spec], parameters: dict[str, Any]) -> Case:
        arguments = args | {"c": c, "k": scalar("i32", k)}
        return Case(
            name, reference, arguments, (1,), (32,), kind="block-scaled", tolerance=(1e-4, 1e-2), parameters=parameters
        )

    factors = {"fill": "integers", "low": 123, "high": 131}
    mx = {"a": buffer("fp8e4nv", 16, k), "sa": buffer("u8", 16, k // 32, **factors), "b": buffer("fp8e4nv", 8, k), "sb": buffer("u8", 8, k // 32, **factors)}  # fmt: skip
    yield case("warp_mxf8", "scaled_matmul", mx, {"a": "e4m3", "b": "e4m3"})
    factors = {"fill": "uniform", "low": 0.25, "high": 4.0}
    nv = {
        "a": buffer("u8", 16, k // 2, fill="bits"), "sa": buffer("fp8e4nv", 16, k // 16, **factors),
        "b": buffer("u8", 8, k // 2, fill="bits"), "sb": buffer("fp8e4nv", 8, k // 16, **factors),
    }  # fmt: skip
    yield case("warp_nvf4", "scaled_matmul", nv, {"a": "e2m1", "b": "e2m1", "block": 16})
    yield case("warp_f8", "matmul", {"a": buffer("fp8e4nv", 16, k), "b": buffer("fp8e5", 8, k)}, {"layout": "nt"})
