"""Multiplications in a run leave the bits that each of them leaves on its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulator.texts import MULTIPLICATIONS, scale_operands
from numpy.typing import NDArray

import warploom as wl

GRIDS = ((1, 1), (1, 2), (3, 5))
"""Numbers of matrices A and B. A run multiplies each A by each B."""
WARPS = 3


def patterns(seed: int, count: int, size: int) -> NDArray[Any]:
    """Registers with numbers of one magnitude, with arbitrary bits, or with the largest numbers of a type."""
    rng = np.random.default_rng(seed)
    if size == 8:
        return rng.standard_normal(count).view(np.uint64) if seed % 2 else rng.integers(0, 2**64, count, np.uint64)
    if seed % 3 == 0:
        return rng.standard_normal(2 * count).astype(np.float16).view(np.uint32)
    return rng.integers(0, 2**32, count, np.uint32) if seed % 3 == 1 else np.full(count, 0x3F3F_3F3F, np.uint32)


def registers_after(
    opcode: str, grid: tuple[int, int], seed: int, guard: str = "", threads: int = 32 * WARPS, workers: int = 1
) -> NDArray[Any]:
    """All registers of three warps after a run of multiplications."""
    target, *sizes = MULTIPLICATIONS[opcode]
    size = 8 if "f64" in opcode else 4
    count = 0

    def vector(length: int) -> str:
        nonlocal count
        count += length
        return "{" + ", ".join(f"%x{number}" for number in range(count - length, count)) + "}"

    a, b = ([vector(sizes[i]) for _ in range(grid[i])] for i in range(2))
    products = [
        f"{guard} mma.sync.aligned.{opcode} {d}, {left}, {right}, {vector(sizes[2]) if apart else d}"
        f"{scale_operands(opcode, left[1:-1].split(', ')[0], '%x1', number)};"
        for number, left in enumerate(a)
        for apart, right in enumerate(b)
        for d in [vector(sizes[2])]
    ]
    places = [(f"%x{n}", f"[%rd1+{n * 32 * WARPS * size}]") for n in range(count)]
    text = "\n".join(
        [
            f".version 8.8\n.target {target}\n.address_size 64",
            ".visible .entry k(.param .u64 p) {",
            f".reg .b{8 * size} %x<{count}>; .reg .b32 %r0; .reg .b64 %rd<2>; .reg .pred %p0;",
            "ld.param.u64 %rd0, [p]; mov.u32 %r0, %tid.x;",
            f"mul.wide.u32 %rd1, %r0, {size}; add.u64 %rd1, %rd1, %rd0; setp.lt.u32 %p0, %r0, 1024;",
            *(f"ld.global.b{8 * size} {register}, {place};" for register, place in places),
            *products,
            *(f"st.global.b{8 * size} {place}, {register};" for register, place in places),
            "ret; }",
        ]
    )
    data = patterns(seed, count * 32 * WARPS, size).reshape(count, -1).copy()
    wl.launch(text, grid=1, block=threads, args=[data], workers=workers, arch=target)
    return data


@pytest.mark.parametrize("opcode", MULTIPLICATIONS)
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_a_run_equals_single_multiplications(opcode: str, grid: tuple[int, int]) -> None:
    for seed in range(3):
        # Guarded multiplications execute one by one.
        want = registers_after(opcode, grid, seed, guard="@%p0")
        np.testing.assert_array_equal(registers_after(opcode, grid, seed), want, f"{seed}")
        np.testing.assert_array_equal(registers_after(opcode, grid, seed, workers=2), want, f"{seed}")
