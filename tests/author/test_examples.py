"""The examples that are written in Python: right under every schedule, silent, legal, and as short as they say."""

from __future__ import annotations

import runpy
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import warploom as wl

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def example():
    spec = spec_from_file_location("gemm_author", EXAMPLES / "gemm_author.py")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_gemm_is_short(example):
    assert len((EXAMPLES / "gemm_author.py").read_text().splitlines()) < 150


def test_the_gemm_is_legal(example):
    assert not list(wl.check(example.gemm.text))


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:3"])
@pytest.mark.parametrize("shape", [(256, 512, 192), (100, 264, 72)])
def test_the_gemm_is_right_and_silent(example, shape, schedule):
    m, n, k = shape
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(size).astype(ml_dtypes.bfloat16) for size in ((m, k), (n, k)))
    d = np.full((m, n), np.nan, ml_dtypes.bfloat16)
    boxes = ((a, (128, 64)), (b, (128, 64)), (d, (64, 64)))
    args = [wl.TensorMap.tiled(array, box, swizzle=128) for array, box in boxes]
    args += [-(-m // 128), -(-n // 128), -(-k // 64)]
    gemm = example.gemm.at(columns=128, stages=3)
    run = wl.launch(
        gemm.module, grid=2, block=384, shared=gemm.shared, args=args, sanitize=True, schedule=schedule
    )
    assert not run.findings
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    assert abs(d.astype(np.float64) - exact).max() <= abs(exact).max() * 2.0**-8


def test_the_first_kernel_is_short_and_right(capsys):
    text = (EXAMPLES / "vector_add.py").read_text()
    kernel = text[text.index("@wl.kernel") : text.index("def main")].strip().splitlines()
    assert len(kernel) < 15
    runpy.run_path(str(EXAMPLES / "vector_add.py"))["main"]()
    assert capsys.readouterr().out == "1000 sums on cpu, 0 of them wrong\n"
