"""Whole functions of several compilers: PTX equal to that of llc 22, and results of the kernels."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("xdsl")

import warploom as wl
from warploom.nvvm.mlir.llvm_operations import INSTRUCTIONS
from warploom_lab.mlir.functions import TARGET, VERSION, Function, normal_ptx, read
from warploom_lab.mlir.normal_ir import normal_ir

FUNCTIONS = {each.name: each for each in read(Path(__file__).parents[1] / "functions")}
REFUSED = {"numba-cuda/ballot": "llvm.nvvm.vote.sync", "numba-cuda/warp_sum": "llvm.nvvm.shfl.sync.i32"}
"""Functions that call an intrinsic of libNVVM, which LLVM 22 lacks."""
OTHER_ASSEMBLY = {"mlir/tensor_copy", "mlir/wgmma_pipeline"}
"""Functions with the wait for an mbarrier, for which MLIR has another inline assembly with the same instructions."""


def lowered(function: Function) -> str:
    return wl.lower(function.text, source=function.source, target=TARGET, ptx_version=VERSION)


def opcodes(ptx: str) -> list[str]:
    lines = [line for line in ptx.splitlines() if not re.match(r"mov\.|\.reg|%?\w+:", line)]
    return [word for line in lines for word in re.findall(r"^(?:@\S+ )?(\S+)", line)]


@pytest.mark.parametrize(("name", "intrinsic"), REFUSED.items())
def test_intrinsics_of_libnvvm_are_refused(name: str, intrinsic: str) -> None:
    with pytest.raises(wl.LowerError, match=f"cannot lower the call of '{intrinsic}'") as caught:
        lowered(FUNCTIONS[name])
    (found,) = caught.value.diagnostics
    assert found.span is not None


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - REFUSED))
def test_ptx_is_that_of_llc(name: str) -> None:
    ours, expected = normal_ptx(lowered(FUNCTIONS[name])), FUNCTIONS[name].ptx
    if name in OTHER_ASSEMBLY:
        assert opcodes(ours) == opcodes(expected)
    else:
        assert ours == expected


@pytest.mark.parametrize("operation", ["store", "fence", "cond_br"])
def test_comparison_fails_when_an_operation_is_dropped(operation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = {"store": "{operands}{ordering}{align}", "fence": "{ordering}", "cond_br": "{jump}"}[operation]
    monkeypatch.setitem(INSTRUCTIONS, operation, f"{'br label %b.2' * (operation == 'cond_br')} ; {words}")
    function = FUNCTIONS["mlir/atomics" if operation == "fence" else "mlir/saxpy"]
    assert normal_ptx(lowered(function)) != function.ptx


@pytest.mark.parametrize("name", [name for name, each in FUNCTIONS.items() if each.generic])
def test_generic_syntax_is_the_same_function(name: str) -> None:
    function = FUNCTIONS[name]
    custom, generic = (normal_ir(wl.lower(text, to="llvm")) for text in (function.text, function.generic))
    assert generic == custom


# Results of the kernels ---------------------------------------------------------------------------------------

RNG = np.random.default_rng(26)
Launch = tuple[Any, Any, list[Any], dict[int, Any]]
"""Grid, block, arguments, and the expected arrays by the position of the argument."""
CASES: dict[str, Callable[[], Launch]] = {}


def case(*names: str) -> Callable[[Callable[[], Launch]], Callable[[], Launch]]:
    def add(make: Callable[[], Launch]) -> Callable[[], Launch]:
        CASES.update(dict.fromkeys(names, make))
        return make

    return add


def floats(*shape: int) -> Any:
    return RNG.uniform(-2, 2, shape).astype(np.float32)


def ints(*shape: int, low: int = -99, high: int = 100) -> Any:
    return RNG.integers(low, high, shape).astype(np.int32)


def numba(*values: Any) -> list[Any]:
    """Return the parameters of numba-cuda for arrays and scalars."""
    return [
        item
        for value in values
        for item in (
            (0, 0, value.size, value.itemsize, value, *value.shape, *value.strides)
            if isinstance(value, np.ndarray)
            else (value,)
        )
    ]


@case("clang/saxpy", "mlir/saxpy", "mlir/gpu_saxpy")
def saxpy() -> Launch:
    x, y = floats(150), floats(150)
    return 3, 64, [150, np.float32(1.5), x, y], {3: 1.5 * x + y}


@case("numba-cuda/saxpy")
def numba_saxpy() -> Launch:
    x, y = floats(150), floats(150)
    return 3, 64, numba(np.float32(1.5), x, y), {12: 1.5 * x + y}


@case("numba-cuda/polynomial")
def polynomial() -> Launch:
    x, y = floats(100), floats(100)
    return 2, 64, numba(x, y), {11: np.where(x > 0, (x * x + 1.5) * x, -x)}


@case("numba-cuda/reverse")
def reverse() -> Launch:
    x = ints(64)
    return 1, 64, numba(x, ints(64)), {11: x[::-1]}


@case("numba-cuda/histogram")
def numba_histogram() -> Launch:
    x = ints(300, low=0, high=16)
    return 2, 64, numba(x, np.zeros(16, np.int32)), {11: np.bincount(x, minlength=16)}


@case("numba-cuda/clip")
def clip() -> Launch:
    x = ints(100)
    return 1, 64, numba(x, ints(100), -30, 40), {11: np.clip(x, -30, 40)}


@case("numba-cuda/neighbours")
def neighbours() -> Launch:
    x = floats(128)
    return 4, 32, numba(x, floats(128)), {11: np.diff(np.pad(x, 1), n=2)}


@case("numba-cuda/matmul")
def numba_matmul() -> Launch:
    a, b, c = floats(10, 7), floats(7, 12), floats(10, 12)
    return (2, 2), (8, 8), numba(a, b, c), {22: a @ b}


@case("numba-cuda/branches")
def branches() -> Launch:
    x = ints(100)
    return 2, 64, numba(x, ints(100)), {11: np.where(x < 0, -3 * x, np.where(x % 2 == 1, x // 2, x))}


@case("clang/block_sum")
def block_sum() -> Launch:
    x = ints(1000)
    return 3, 128, [x, np.zeros(1, np.int32), 1000], {1: x.sum(keepdims=True)}


@case("clang/transpose", "mlir/transpose")
def transpose() -> Launch:
    x = floats(32, 32)
    return 1, (32, 32), [x, floats(32, 32)], {1: x.T}


@case("clang/call")
def call() -> Launch:
    x = floats(64)
    return 1, 64, [x, floats(64), 5], {1: x**5 + x}


@case("clang/table")
def table() -> Launch:
    x, i = ints(64), np.arange(64) % 3
    return 1, 64, [x, ints(64)], {1: np.choose(i, [2 * x, x * x, -x])}


@case("clang/switching")
def switching() -> Launch:
    x = ints(64)
    quotient = (x / 7).astype(int)
    cases = [x * 5, x ^ 1234, x - 77, 3 * x * x, -x, quotient, x - 13 * (x / 13).astype(int), -x]
    return 1, 64, [x, ints(64)], {1: np.choose(x & 7, cases)}


@case("clang/structure")
def structure() -> Launch:
    few = np.array([3, -1, 4, 1, -5], np.int16)
    options = np.zeros(32, np.uint8)
    options[:4], options[4:8] = (np.array([v]).view(np.uint8) for v in (np.int32(7), np.float32(0.25)))
    options[8:16], options[16:26] = np.array([2]).view(np.uint8), few.view(np.uint8)
    x, i = ints(66), np.arange(64)
    return 1, 64, [options.tobytes(), x, floats(64)], {2: x[2:] * 7 + 0.25 + few[i % 5]}


@case("clang/vectors")
def vectors() -> Launch:
    x = floats(64, 4)
    return 1, 64, [x, floats(64, 4), np.float32(3)], {1: 3 * x + x[:, ::-1]}


@case("clang/halves")
def halves() -> Launch:
    x = floats(64).astype(np.float16)
    wide = x.astype(np.float32)
    return 1, 64, [x, x.copy()], {1: (wide * wide + 1).astype(np.float16)}


@case("clang/doubles")
def doubles() -> Launch:
    x = RNG.uniform(-9, 9, 64)
    return 1, 64, [x, x.copy()], {1: np.sqrt(abs(x)) + np.floor(x) / 4}


@case("clang/wide")
def wide() -> Launch:
    x = RNG.integers(0, 2**64, 65, np.uint64)
    values = [int(v) for v in x]
    expected = [
        a * b >> 64 ^ a.bit_count() ^ int.from_bytes(a.to_bytes(8, "little"), "big") for a, b in pairwise(values)
    ]
    return 1, 64, [x, x[:64].copy()], {1: np.array(expected, np.uint64)}


@case("clang/locals")
def local_arrays() -> Launch:
    x = ints(32, 16)
    return 1, 32, [x, ints(32), 5], {1: np.sort(x)[:, 5]}


@case("clang/atomics")
def atomics() -> Launch:
    x, wide = ints(64), np.zeros(1, np.uint64)
    bits = np.bitwise_or.reduce(np.uint64(1) << (x & 63).astype(np.uint64))
    arrays = [x, np.array([-500, 0], np.int32), np.zeros(1, np.float32), wide]
    return 1, 64, arrays, {1: [x.max(), x.sum()], 2: [x.sum()], 3: [bits]}


@case("clang/mma")
def dmma() -> Launch:
    a, b = RNG.uniform(-2, 2, (8, 4)), RNG.uniform(-2, 2, (8, 4))
    # clang reads the fragments in halves.
    return 1, 32, [a.view(np.uint32), b.view(np.uint32), np.zeros((8, 8))], {2: a @ b.T}


@case("clang/flag")
def flag() -> Launch:
    x = ints(32)
    return 1, 32, [1, x, ints(32)], {2: x}


@case("clang/dynamic")
def dynamic() -> Launch:
    x = ints(100)
    return 1, 32, [x, ints(100), 100], {1: np.diff(x[::-1], prepend=0)}


@case("triton-3.6/scale", "triton-3.9/scale")
def scale() -> Launch:
    x = floats(300)
    return 2, 128, [x, np.zeros_like(x), 300], {1: 2 * np.exp(x)}


@case("triton-3.6/softmax", "triton-3.9/softmax")
def softmax() -> Launch:
    x = floats(3, 200)
    e = np.exp(x)
    return 3, 128, [x, np.zeros_like(x), 200], {1: e / e.sum(1, keepdims=True)}


@case("triton-3.6/matmul_f16", "triton-3.9/matmul_f16")
def matmul_f16() -> Launch:
    a, b = floats(64, 128).astype(np.float16), floats(128, 64).astype(np.float16)
    return 1, 128, [a, b, floats(64, 64), 128], {2: a.astype(np.float32) @ b.astype(np.float32)}


@case("triton-3.6/matmul_tf32", "triton-3.9/matmul_tf32")
def matmul_tf32() -> Launch:
    a, b = ints(32, 64, low=-9, high=9).astype(np.float32), ints(64, 32, low=-9, high=9).astype(np.float32)
    return 1, 128, [a, b, floats(32, 32), 64], {2: a @ b}


@case("triton-3.6/histogram", "triton-3.9/histogram")
def histogram() -> Launch:
    x = ints(400, low=0, high=16)
    return 2, 128, [x, np.zeros(16, np.int32), 400], {1: np.bincount(x, minlength=16)}


@case("triton-3.6/scan", "triton-3.9/scan")
def scan() -> Launch:
    x = ints(200)
    return 1, 128, [x, np.zeros_like(x), 200], {1: np.cumsum(x)}


@case("triton-3.6/transpose", "triton-3.9/transpose")
def tile() -> Launch:
    x = floats(32, 32)
    return 1, 128, [x, np.zeros_like(x), 32], {1: x.T}


@case("triton-3.6/normalize", "triton-3.9/normalize")
def normalize() -> Launch:
    x = floats(3, 200)
    return (
        3,
        128,
        [x, np.zeros_like(x), 200],
        {1: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)},
    )


@case("mlir/warp_reduce")
def warp_reduce() -> Launch:
    x = ints(32).astype(np.float32)
    return 1, 32, [x, floats(32)], {1: np.where(np.arange(32) > 0, x.sum(), -x.sum())}


@case("mlir/mma_tile")
def mma_tile() -> Launch:
    a, b = floats(16, 16).astype(np.float16), floats(8, 16).astype(np.float16)
    product = a.astype(np.float32) @ b.astype(np.float32).T
    return 1, 32, [a, b, floats(32, 4)], {2: product.reshape(2, 8, 4, 2).transpose(1, 2, 0, 3).reshape(32, 4)}


@case("mlir/ldmatrix")
def ldmatrix() -> Launch:
    x = RNG.integers(0, 1000, (4, 8, 8)).astype(np.int16)
    return 1, 32, [x, np.zeros_like(x)], {1: x.transpose(0, 2, 1)}


@case("mlir/cp_async")
def cp_async() -> Launch:
    x = ints(5, 128).astype(np.float32)
    return 1, 32, [x, floats(128), 5], {1: x.sum(0)}


@case("mlir/atomics")
def mlir_atomics() -> Launch:
    x = ints(64)
    y = np.array([0, -500, 0, 0, 0], np.int32)
    total = np.array([x.sum()], np.float32).view(np.int32)[0]
    return 1, 64, [x, y], {1: [x.sum(), x.max(), np.bitwise_xor.reduce(x), total, sum(range(64))]}


@case("mlir/cluster")
def cluster() -> Launch:
    x = ints(2, 32)
    return 2, 32, [x, ints(2, 32)], {1: x[::-1]}


@case("mlir/dependent_launch")
def dependent() -> Launch:
    x = ints(64)
    return 1, 64, [x, ints(64)], {1: x * x}


@case("mlir/call")
def mlir_call() -> Launch:
    x = floats(32)
    return 1, 32, [x, floats(32), 3], {1: x * x * x - np.trunc(x * x * x)}


@case("mlir/globals")
def variables() -> Launch:
    i = np.arange(32) & 7
    return 1, 32, [ints(32)], {0: np.array([3, 1, 4, 1, 5, 9, 2, 6])[i] + ord("a") + i + 17}


@case("mlir/switch")
def switch() -> Launch:
    x = ints(32)
    return 1, 32, [x, ints(32)], {1: np.choose(x & 3, [x, x * x, np.arange(32), np.full(32, -1)])}


@case("mlir/printf")
def printf() -> Launch:
    return 1, 2, [np.array([1.5, -2], np.float32)], {}


@case("mlir/warp_operations")
def warp_operations() -> Launch:
    x = ints(32, low=-3, high=3)
    bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    same = [int(bits[x == v].sum()) for v in x]
    columns = [
        np.full(32, x.sum()),
        np.full(32, x.max()),
        same,
        np.full(32, bits[x > 0].sum()),
        np.full(32, (x > 0).any()),
    ]
    return 1, 32, [x, ints(32, 5)], {1: np.array(columns, np.int64).astype(np.int32).T}


@case("mlir/elect")
def elect() -> Launch:
    return 2, 64, [np.zeros(1, np.int32)], {0: [4]}


@case("mlir/gpu_select")
def collatz() -> Launch:
    x, expected = ints(64, low=1, high=40), []
    for value in map(int, x):
        steps = 0
        while value != 1 and steps < 20:
            value, steps = (3 * value + 1 if value % 2 else value // 2), steps + 1
        expected.append(steps if value == 1 else max(value, steps))
    return 2, 32, [x, ints(64)], {1: expected}


@case("mlir/gpu_sum")
def gpu_sum() -> Launch:
    x = ints(3, 500).astype(np.float32)
    return 3, 128, [x, floats(3), 500], {1: x.sum(1)}


@case("mlir/arithmetic")
def arithmetic() -> Launch:
    x = floats(32, 2)
    a, b = x.T
    e = np.maximum(a, np.sqrt(abs(a * b)))
    g = np.floor(e).astype(np.int32)
    k = [v + v.bit_count() * (32 - v.bit_length()) for v in map(int, g)]
    packed = np.zeros((32, 5), np.uint8)
    expected = packed.copy()
    expected[:, 1:] = np.array(k, np.int32).view(np.uint8).reshape(32, 4)
    return 1, 32, [x, packed, 1], {1: expected}


@case("mlir/tensor_copy")
def tensor_copy() -> Launch:
    x = floats(24, 64)
    return 1, 32, [wl.TensorMap.tiled(x, (8, 16)), floats(8, 16), 32, 8], {1: x[8:16, 32:48]}


@case("mlir/wgmma_pipeline")
def wgmma_pipeline() -> Launch:
    a, b = floats(64, 192).astype(np.float16), floats(8, 192).astype(np.float16)
    product = a.astype(np.float32) @ b.astype(np.float32).T
    maps = [wl.TensorMap.tiled(each, (len(each), 64), swizzle=128) for each in (a, b)]
    expected = product.reshape(4, 2, 8, 4, 2).transpose(0, 2, 3, 1, 4).reshape(128, 4)
    return 1, 128, [*maps, floats(128, 4), 3], {2: expected}


@pytest.mark.parametrize("name", CASES)
def test_kernel_returns_the_expected_values(name: str) -> None:
    grid, block, args, expected = CASES[name]()
    function = FUNCTIONS[name]
    ptx = lowered(function)
    head = re.match(r"; Triton .*: (\d+) threads, (\d+) bytes", function.text)
    shared = int(head[2]) if head else 400 if name == "clang/dynamic" else None
    parameters = next(each for each in wl.parse(ptx).functions.values() if each.kind == "entry").params
    args = [*args, *[0] * (len(parameters) - len(args))]  # Triton's scratch memory
    run = wl.launch(
        ptx,
        grid=grid,
        block=block,
        args=args,
        shared=shared,
        cluster=(2, 1, 1) if name == "mlir/cluster" else (1, 1, 1),
    )
    for position, array in expected.items():
        given: Sequence[Any] = args[position]
        if np.asarray(given).dtype.kind == "f":
            np.testing.assert_allclose(given, array, rtol=2e-3, atol=2e-3)
        else:
            np.testing.assert_array_equal(given, array)
    if name == "mlir/printf":
        assert run.output == "thread 0 has 1.500000\nthread 1 has -2.000000\n"


def test_every_function_is_a_kernel_with_a_case() -> None:
    assert set(CASES) == FUNCTIONS.keys() - REFUSED
    assert len(CASES) >= 60
