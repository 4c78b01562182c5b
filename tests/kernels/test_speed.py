"""Comparing speeds: both sides get the same work, wrong results are not timed, and the figures are what they say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from kernels.numpy_peer import Clock, NumPy

import warploom as wl
from warploom.gpu import State, Timing
from warploom.kernels import Compressed, decompress, gemm
from warploom.kernels.timing.cublas import KINDS, Kind, Matrices, default_kinds, library_errors
from warploom.kernels.timing.speed import Bench, Case, Comparison, WrongResult, compare, record, summary

STATE = State(1500, 3201, 690.0, None)


def on_cpu(a: Any, b: Any, *, out: Any, fast: bool) -> Any:
    return gemm(a, b, out=out, fast=fast, device="cpu")


def compared_by(clock: Clock, case: Case, ours: Any = on_cpu, peer: Any = None) -> Any:
    return compare(Bench("a GPU", peer or NumPy(), clock, lambda: None, 7), case, ours, lambda: STATE)


@pytest.mark.parametrize("name", KINDS)
def test_our_kernels_agree_with_float64_in_every_kind(name: str) -> None:
    found = compared_by(Clock(), Case(KINDS[name], 80, 48, 128))
    assert isinstance(found, Comparison)
    assert found.difference <= KINDS[name].tolerance / 4


def test_both_sides_get_the_same_calls_through_matrices_that_take_turns() -> None:
    clock, seen = Clock(), []

    def ours(a: Any, b: Any, *, out: Any, fast: bool) -> None:
        seen.append((id(a), id(out)))
        out[...] = a.astype(np.float64) @ b.astype(np.float64)

    found = compared_by(clock, Case(KINDS["tf32"], 8, 8, 8), ours)
    assert isinstance(found, Comparison)
    (_, tries), (calls, repetitions) = clock.given
    assert (tries, repetitions) == (3, 7)
    assert found.sets == 8  # small matrices: as many as there may be
    assert found.calls == len(calls["ours"]) == len(calls["theirs"])
    assert found.calls * 4.0 >= 2000
    assert found.calls % found.sets == 0
    seen.clear()
    for call in calls["ours"]:
        call(None)
    assert len(set(seen)) == 8
    assert seen == seen[:8] * (len(seen) // 8)


def test_a_sparse_kind_is_compared_with_the_library_and_timed_beside_our_dense_kernel() -> None:
    clock, taken, peer = Clock(), [], NumPy()

    def ours(a: Any, b: Any, *, out: Any, fast: bool) -> None:
        taken.append(type(a))
        dense = decompress(a) if isinstance(a, Compressed) else a
        out[...] = dense.astype(np.float64) @ b.astype(np.float64)

    found = compared_by(clock, Case(KINDS["f16-sparse"], 8, 8, 16), ours, peer)
    assert isinstance(found, Comparison)
    assert taken == [Compressed]
    taken.clear()
    calls, _ = clock.given[-1]
    for side in ("ours", "theirs"):
        calls[side][0](None)
    assert taken == [Compressed, np.ndarray]
    assert "f16-sparse" not in default_kinds(KINDS)


@pytest.mark.parametrize(("size", "sets"), [((4096, 4096, 4096), 2), ((64, 8192, 2048), 5), ((64, 64, 64), 8)])
def test_matrices_that_take_turns_pass_the_cache(size: tuple[int, int, int], sets: int) -> None:
    class Counting(NumPy):
        def matrices(self, kind: Kind, m: int, n: int, k: int, seed: int) -> Matrices:
            made = super().matrices(kind, 16, 16, 16, seed)
            return replace(made, d=made.d)

    peer = Counting()

    def ours(a: Any, b: Any, *, out: Any, fast: bool) -> None:
        peer.multiply(KINDS["bf16"])(a, b, out)

    compared_by(Clock(), Case(KINDS["bf16"], *size), ours, peer)
    assert peer.made == sets


@pytest.mark.parametrize("fault", [lambda d: d.__setitem__((3, 5), np.nan), lambda d: d[:, 7:].fill(0)])
def test_a_wrong_result_is_not_timed(fault: Any) -> None:
    def ours(a: Any, b: Any, *, out: Any, fast: bool) -> None:
        out[...] = a.astype(np.float64) @ b.astype(np.float64)
        fault(out)

    clock = Clock()
    found = compared_by(clock, Case(KINDS["bf16"], 64, 64, 64), ours)
    assert isinstance(found, WrongResult)
    assert not clock.given
    assert str(found).startswith("bf16 64x64x64 is wrong: an element differs from NumPy's by ")
    assert str(found).endswith("of the root mean square, more than 0.1; the case is not timed")


@pytest.mark.parametrize("lazy", ["ours", "theirs"])
def test_what_was_there_before_is_no_result(lazy: str) -> None:
    """D has the right elements already, and one side writes none."""

    class Filled(NumPy):
        def matrices(self, kind: Kind, m: int, n: int, k: int, seed: int) -> Matrices:
            made = super().matrices(kind, m, n, k, seed)
            super().multiply(kind)(made.a, made.b, made.d)
            return made

        def multiply(self, kind: Kind) -> Any:
            return (lambda a, b, d: None) if lazy == "theirs" else super().multiply(kind)

    def ours(a: Any, b: Any, *, out: Any, fast: bool) -> None:
        if lazy == "theirs":
            out[...] = a.astype(np.float64) @ b.astype(np.float64)

    with np.errstate(divide="ignore"):
        assert isinstance(compared_by(Clock(), Case(KINDS["bf16"], 32, 32, 64), ours, Filled()), WrongResult)


def test_whole_numbers_must_be_the_same() -> None:
    def ours(a: Any, b: Any, *, out: Any, fast: bool) -> None:
        out[...] = a.astype(np.int32) @ b.astype(np.int32)
        out[1, 1] += 1

    assert isinstance(compared_by(Clock(), Case(KINDS["s8"], 32, 32, 64), ours), WrongResult)


def test_what_a_library_refuses_is_a_sentence() -> None:
    class Refusing(NumPy):
        def multiply(self, kind: Kind) -> Any:
            def multiply(a: Any, b: Any, d: Any) -> None:
                raise RuntimeError("self.size(0) needs to be greater than 16. See the manual.")

            return multiply

    with pytest.raises(wl.UsageError) as error:
        compared_by(Clock(), Case(KINDS["s8"], 8, 64, 64), peer=Refusing())
    assert str(error.value) == "NumPy refuses s8 8x64x64: self.size(0) needs to be greater than 16"
    assert error.value.diagnostics[0].code == "bench.peer"


def test_our_own_mistakes_are_not_laid_to_the_library() -> None:
    with pytest.raises(KeyError), library_errors("NumPy", "it"):
        raise KeyError("x")


def made(name: str, size: tuple[int, int, int], ours: float, theirs: float) -> Comparison:
    found = compared_by(Clock(), Case(KINDS[name], 64, 64, 64))
    assert isinstance(found, Comparison)
    return replace(found, case=Case(KINDS[name], *size), ours=Timing((ours,)), theirs=Timing((theirs,)))


def test_the_figures() -> None:
    found = [
        made("bf16", (1000, 1000, 1000), 2.0, 4.0),
        made("bf16", (2000, 1000, 1000), 8.0, 4.0),
        made("f16", (1000, 1000, 500), 3.0, 3.0),
    ]
    assert found[0].case.teraflops(found[0].ours) == pytest.approx(1000.0)
    assert [each.ratio for each in found] == [2.0, 0.5, 1.0]
    means = summary(found)
    assert {name: average for name, (average, _) in means.items()} == pytest.approx({"bf16": 1.0, "f16": 1.0})
    assert means["bf16"][1] is found[1]
    plain = record(found, {"gpu": "a GPU"})
    assert plain["gpu"] == "a GPU"
    assert plain["results"][1]["theirs"]["tflops"] == pytest.approx(1000.0)
    assert plain["results"][1]["state"]["clock"] == 1500
    assert plain["summary"]["bf16"] == {
        "geometric_mean": pytest.approx(1.0), "least": 0.5, "least_of": "bf16 2000x1000x1000"
    }  # fmt: skip


def test_the_plan_of_a_kind_is_the_one_that_gemm_makes() -> None:
    """Promoted where bits are kept, ragged where rows of D are."""
    accurate, fast = KINDS["e4m3-accurate"], KINDS["e4m3"]
    assert accurate.plan(accurate.problem(64, 64, 64)).promotion_stages == 4
    assert fast.plan(fast.problem(64, 64, 64)).promotion_stages == 0
    assert fast.plan(fast.problem(64, 61, 64)).unaligned
