"""Causes that `why` finds for faults that the scenarios do not have: one changed line of their kernels each."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from debug.scenarios.generate import FOLDER

import warploom as wl

RING = """                multiply(sums, from_a.stage(state.stage), from_b.stage(state.stage), keeps)
                state.release(state.stage, thread)
"""
RELEASED_FIRST = "".join(reversed(RING.splitlines(keepends=True)))
SOURCE_A = "source = a.element(ptx.min(first_row + row, m - 1, type=u32) * k + step * DEPTH + chunk * 8)"
PAIR = "pair = sums[start : start + 2]"

HOPPER = {
    "stride": ("columns * tile_b.span, 8 * tile_b.span", "columns * tile_b.span, 4 * tile_b.span", "eager",
               "wrong stride byte offset: the descriptor of B has 512; 1024 agrees"),
    "start": ("from_a.at(inside)", "from_a.at(0)", "eager",
              "wrong start address: the descriptor of A has 1024; 1056 agrees"),
    "row of A": ("tile // n_tiles * ROWS), full", "tile % n_tiles * ROWS), full", "eager",
                 "starts at row 64 of a; row 0 would agree"),
    "column of B": ("load_b(step * DEPTH,", "load_b(step * 32,", "eager", "starts at column 32 of b; column 64 would"),
    "halves of the store": ("half * 2 : block * 4 + half * 2 + 2]", "2 - half * 2 : block * 4 + 4 - half * 2]", "eager",
                            "wrong store address: "),
    "reset": ("keep = 1 if inside else keeps", "keep = 1 if inside else 0", "eager",
              "replaces the sum in iteration 3; k 0-191 is missing"),
    "wait": ("ptx.wgmma_wait_group(0)", "ptx.wgmma_wait_group(1)", "lazy", "early read: st, "),
    "release": (RING, RELEASED_FIRST, "random:1", "overwritten before the read: "),
}  # fmt: skip
AMPERE = {
    "row of A": ("(warp >> 1) * 32 + part * 16 + line", "(warp >> 1) * 32 + line", "eager",
                 "reads a[0, 0] at offset 0 of the CTA's shared memory; a[16, 0] is at offset 1024"),
    "start value": ('new("f32", 0.0)', 'new("f32", 1.0)', "eager", "the products are right; the sum starts with"),
    "chunks of A": (SOURCE_A, SOURCE_A.replace("chunk * 8", "(chunk ^ 1) * 8"), "eager",
                    "column i XOR 8 is in the place of column i"),
    "pair": (PAIR, f"{PAIR}[::-1]", "eager", "writes the sum of c[0, 1] to c[0, 0]"),
    "stage": ("selp(0, used + 1, used", "selp(0, used + 2, used", "eager", "wrong K step: "),
    "step": ("k_tiles, filled, used = k // DEPTH", "k_tiles, filled, used = k // DEPTH - 1", "eager",
             "missing K step: k 96-127 is missing; the loop ran 3 times"),
}  # fmt: skip


def load(stem: str, old: str, new: str, folder: Path) -> ModuleType:
    """Return the module of a kernel in which `new` replaces `old`."""
    source = (FOLDER / f"{stem}.py").read_text(encoding="utf-8")
    assert source.count(old) == 1
    path = folder / f"{stem}.py"
    path.write_text(source.replace(old, new), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(f"changed_{stem}_{abs(hash(new))}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cause_of(run: Any, arrays: tuple[np.ndarray, ...], *, transposed: bool) -> str:
    """Return the cause for the first wrong element."""
    a, b, c = arrays
    expected = a.astype(np.float64) @ (b.T if transposed else b).astype(np.float64)
    index = tuple(int(at) for at in np.argwhere(~(np.abs(c - expected) <= 0.02))[0])
    return run.why(c, index, expect={"a": a, "b": b, "transpose_b": transposed}).cause


@pytest.mark.parametrize("fault", HOPPER)
def test_the_cause_of_a_fault_of_a_warp_specialised_kernel(fault: str, tmp_path: Path) -> None:
    old, new, schedule, cause = HOPPER[fault]
    kernel = load("hopper_gemm", old, new, tmp_path).hopper_gemm.at()
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((rows, 256)).astype(np.float16) for rows in (128, 256))
    c = np.zeros((128, 256), np.float32)
    maps = [wl.TensorMap.tiled(each, (64, 64), swizzle=128) for each in (a, b)]
    run = wl.launch(
        kernel.text, grid=4, block=160, shared=49184, args=[*maps, c, 128, 256, 256], schedule=schedule
    )  # fmt: skip
    assert cause in cause_of(run, (a, b, c), transposed=True)


@pytest.mark.parametrize("fault", AMPERE)
def test_the_cause_of_a_fault_of_a_kernel_with_thread_copies(fault: str, tmp_path: Path) -> None:
    old, new, schedule, cause = AMPERE[fault]
    kernel = load("ampere_gemm", old, new, tmp_path).ampere_gemm.at()
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((64, 128)).astype(np.float16), rng.standard_normal((128, 64)).astype(np.float16)
    c = np.zeros((64, 64), np.float32)
    run = wl.launch(
        kernel.text, grid=1, block=128, shared=24576, args=[a, b, c, 64, 64, 128, 1.0], schedule=schedule
    )  # fmt: skip
    assert cause in cause_of(run, (a, b, c), transposed=False)
