"""What `gemm` reaches: a 2:4 sparse A, and targets without wgmma; exact, legal, and silent under the sanitizer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from kernels.operand_types import OPERANDS

import warploom as wl
from warploom.check.header import find_target
from warploom.kernels import Compressed, Tile, WarpTile, api, compress, gemm, prune
from warploom.kernels.hopper.cost_model import choose, microseconds
from warploom.kernels.hopper.plan import SMALL, Plan
from warploom.kernels.problem import Problem
from warploom.runtime.api import launch

NARROW = WarpTile(64, 64, 2, 2, stages=3)
WATCHED = Callable[[str], None]


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch, device: str) -> WATCHED:
    """Have the sanitizer watch every launch of `gemm` under a schedule, and the checker read what is launched."""

    def watch(schedule: str) -> None:
        if device != "cpu":
            return

        def watching(module: Any, **options: Any) -> Any:
            run = launch(module, **options, sanitize=True, schedule=schedule)
            assert not run.findings
            assert not list(wl.check(str(module)))
            return run

        monkeypatch.setattr(api, "launch", watching)

    return watch


def matrix(seed: int, element: str, *shape: int) -> Any:
    """Small whole numbers, whose sums are exact, in rows that begin at whole 16 bytes; other bytes must not be read."""
    dtype = np.dtype(OPERANDS[element])
    per_row = 16 // dtype.itemsize
    wide = (*shape[:-1], -(-shape[-1] // per_row) * per_row)
    made = np.random.default_rng(seed).integers(0 if element == "u8" else -2, 3, wide).astype(dtype)
    made[..., shape[-1] :] = 77
    return made[..., : shape[-1]]


def along(seed: int, element: str, *shape: int) -> Any:
    """B of (..., K, N), its elements side by side along K."""
    return matrix(seed, element, *shape[:-2], shape[-1], shape[-2]).swapaxes(-1, -2)


def same(found: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(found.astype(np.float64), wanted.astype(found.dtype).astype(np.float64))


def product(a: Any, b: Any) -> Any:
    return a.astype(np.float64) @ b.astype(np.float64)


# A sparse A ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "sums", "schedule"),
    [
        ("f16", "f16", "", "eager"), ("f16", "f16", "f16", "lazy"), ("bf16", "bf16", "", "random:3"),
        ("tf32", "tf32", "", "lazy"), ("e4m3", "e5m2", "", "random:5"), ("e5m2", "e5m2", "f16", "eager"),
        ("s8", "u8", "", "lazy"), ("u8", "s8", "", "random:1"),
    ],
)  # fmt: skip
def test_a_compressed_a_of_every_type_is_exact_and_silent(
    a: str, b: str, sums: str, schedule: str, watched: WATCHED, device: str
) -> None:
    """Ragged in all sizes, and K is no multiple of a chunk."""
    watched(schedule)
    first, second = prune(matrix(1, a, 70, 77)), along(2, b, 77, 45)
    same(gemm(compress(first), second, accumulator=sums, tile=SMALL, device=device), product(first, second))


@pytest.mark.parametrize("tile", [None, Tile(128, 128, 3, cluster=2), Tile(64, 64, 3, pingpong=True)], ids=str)
def test_a_compressed_a_has_every_epilogue_and_a_batch(tile: Tile | None, watched: WATCHED, device: str) -> None:
    watched("lazy")
    a, b, c = prune(matrix(1, "bf16", 2, 140, 100)), matrix(2, "bf16", 100, 72), matrix(3, "bf16", 2, 140, 72)
    rows, columns, bias = (np.arange(count, dtype=np.float32) % 3 - 1 for count in (140, 72, 72))
    out = matrix(4, "bf16", 2, 140, 72)
    found = gemm(
        compress(a), b, out=out, c=c, alpha=0.5, beta=2.0, row_scales=rows, column_scales=columns, bias=bias,
        activation="relu", tile=tile, device=device,
    )  # fmt: skip
    assert found is out
    wanted = product(a, b) * 0.5 * rows[:, None] * columns + 2 * c.astype(np.float64) + bias
    same(found, np.maximum(wanted, 0))


def test_one_compressed_a_serves_a_batch_of_b_and_factors_of_blocks(device: str) -> None:
    a, b = prune(matrix(1, "e4m3", 66, 300)), along(2, "e4m3", 2, 300, 64)
    scales = 2.0 ** (np.arange(66 * 3).reshape(66, 3) % 3).astype(np.float32)
    found = gemm(compress(a), b, row_scales=scales, result="f32", device=device)
    same(found, product(a.astype(np.float32) * np.repeat(scales, 128, 1)[:, :300], b))


@pytest.mark.parametrize(
    ("call", "code", "sentence"),
    [
        (lambda a, b: gemm(a, b[:-1], device="cpu"), "kernels.shape", "A has shape (40, 64) and B has shape (63, 24)"),
        (
            lambda a, b: gemm(Compressed(a.values, a.metadata[..., :8], 64), b, device="cpu"),
            "kernels.shape",
            "metadata of uint32 of shape (1, 1, 8); expected (40, 32) and 32 bits of (1, 1, 128)",
        ),
        (
            lambda a, b: gemm(Compressed(a.values, a.metadata, 60), b[:60], device="cpu"),
            "kernels.shape",
            "a Compressed of shape (40, 60) has values of shape (40, 32)",
        ),
        (
            lambda a, b: gemm(a, b, device="cpu", target="sm_80"),
            "kernels.target",
            "no kernels of sm_80 support a compressed A; expected target sm_90a",
        ),
    ],
)  # fmt: skip
def test_what_a_compressed_a_cannot_be(call: Any, code: str, sentence: str) -> None:
    a, b = compress(prune(matrix(1, "f16", 40, 64))), matrix(2, "f16", 64, 24)
    with pytest.raises(wl.UsageError) as error:
        call(a, b)
    assert error.value.diagnostics[0].code == code
    assert sentence in str(error.value)


@pytest.mark.parametrize("size", [(8192, 8192, 8192), (128, 7168, 16384)])
@pytest.mark.parametrize("element", ["f16", "e4m3", "s8"])
def test_the_model_takes_a_sparse_a_to_be_quicker_but_not_twice_as_quick(
    element: str, size: tuple[int, int, int]
) -> None:
    times: list[float] = []
    for sparse in (False, True):
        asked = Problem(*size, 1, element, element, "k", "k", sparse=sparse)
        accumulator = asked.accumulator()
        plan, share = choose(
            asked, Plan(element, element, accumulator, asked.result(accumulator), sparse=sparse, tile=SMALL)
        )
        assert plan.sparse == sparse
        times.append(microseconds(asked, plan, share))
    assert times[0] / 2 < times[1] < times[0]


# Other targets ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "a", "b", "result", "schedule"),
    [
        ("sm_80", "f16", "f16", "", "lazy"), ("sm_86", "bf16", "bf16", "f32", "random:2"),
        ("sm_87", "tf32", "tf32", "", "eager"), ("sm_80", "u8", "s8", "", "lazy"),
        ("sm_89", "e4m3", "e5m2", "", "random:4"), ("sm_90", "bf16", "bf16", "", "lazy"),
        ("sm_120a", "e5m2", "e4m3", "e4m3", "eager"), ("sm_121a", "f16", "f16", "", "lazy"),
    ],
)  # fmt: skip
def test_a_target_without_wgmma_multiplies_by_mma(
    target: str, a: str, b: str, result: str, schedule: str, watched: WATCHED, device: str
) -> None:
    if device == "cuda" and find_target(target).number > 90:
        pytest.skip("the GPU that is here is older")
    watched(schedule)
    first, second = matrix(1, a, 70, 77), along(2, b, 77, 45)
    found = gemm(first, second, result=result, tile=NARROW, device=device, target=target)
    wanted = product(first, second)
    same(found, np.clip(wanted, -448, 448) if result == "e4m3" else wanted)


@pytest.mark.parametrize(("majors", "common"), [("kk", ""), ("kn", "a"), ("mk", "b"), ("mn", "c")])
def test_every_major_and_batch_goes_through_mma(majors: str, common: str, device: str) -> None:
    """With C in place: it is read before D is written over it."""
    first = (70, 40) if common == "a" else (3, 70, 40)
    second = (40, 72) if common == "b" else (3, 40, 72)
    a = matrix(1, "f16", *first) if majors[0] == "k" else along(1, "f16", *first)
    b = matrix(2, "f16", *second) if majors[1] == "n" else along(2, "f16", *second)
    out = matrix(3, "f16", 3, 70, 72)
    c = matrix(4, "f16", 70, 72) if common == "c" else out
    wanted = product(a, b) + c.astype(np.float64)
    assert gemm(a, b, out=out, c=c, device=device, target="sm_80") is out
    same(out, wanted)


def test_views_of_larger_arrays_are_multiplied_where_they_lie(device: str) -> None:
    """Rows that begin at no multiple of 16 bytes in the host's memory, and a D inside another array."""
    whole = matrix(1, "f16", 80, 128)
    a, b, held = whole[5:75, 4:44], matrix(2, "f16", 48, 72)[3:43], np.full((100, 96), 9, np.float32)
    out = held[10:80, 8:80]
    gemm(a, b, out=out, device=device, target="sm_80")
    same(out, product(a, b))
    out[...] = 9
    assert (held == 9).all()


def test_accurate_sums_of_8_bit_floats_keep_what_the_tensor_cores_drop() -> None:
    random = np.random.default_rng(3)
    a, b = (np.abs(random.normal(size=size)).astype(OPERANDS["e4m3"]) for size in ((64, 2048), (64, 2048)))
    multiply = partial(gemm, a, b.T, result="f32", tile=NARROW, device="cpu", target="sm_89")
    wanted = product(a, b.T)
    fast, accurate = (np.abs(multiply(fast=fast) / wanted - 1).max() for fast in (True, False))
    assert accurate < 2e-3 < fast


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        ({"target": "sm_75"}, "kernels.plan", "sm_75 has no asynchronous copies; expected sm_80 or above"),
        ({"target": "sm_53"}, "kernels.plan", "sm_53 has no asynchronous copies; expected sm_80 or above"),
        ({"target": "sm_8"}, "check.target", "unknown target 'sm_8'"),
        ({"target": 80}, "kernels.option", "target is 80; expected a name such as sm_90a"),
        ({"target": "sm_80", "result": "f64"}, "kernels.plan", "an accumulator in f32 gives no result in f64"),
        ({"target": "sm_80", "tile": SMALL}, "kernels.option", "expected a WarpTile for sm_80"),
        ({"tile": NARROW}, "kernels.option", "expected a Tile for sm_90a"),
        (
            {"target": "sm_80", "row_scales": np.ones((64, 1), np.float32)},
            "kernels.target",
            "no kernels of sm_80 support block scales in f32; expected target sm_90a",
        ),
    ],
)
def test_what_a_target_has_not_is_refused(options: dict[str, Any], code: str, sentence: str) -> None:
    with pytest.raises(wl.UsageError) as error:
        gemm(matrix(1, "bf16", 64, 32), matrix(2, "bf16", 32, 48), device="cpu", **options)
    assert error.value.diagnostics[0].code == code
    assert sentence in str(error.value)
