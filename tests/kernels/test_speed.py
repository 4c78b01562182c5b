"""Comparing speeds: both sides get the same work, wrong results are not timed, and the figures are what they say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.numpy_peer import Clock, NumPy

import warploom as wl
from warploom.gpu import State, Timing
from warploom.kernels import Compressed, decompress, gemm
from warploom.kernels.plan import size_of
from warploom.kernels.timing.cases import KINDS, Case, Kind, default_kinds, draw
from warploom.kernels.timing.cublas import Matrices, library_errors
from warploom.kernels.timing.speed import Bench, Comparison, WrongResult, compare, record, summary

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
        def matrices(self, case: Case, seed: int) -> Matrices:
            return super().matrices(replace(case, m=16, n=16, k=16), seed)

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
        def matrices(self, case: Case, seed: int) -> Matrices:
            made = super().matrices(case, seed)
            super().multiply(case.kind)(made.a, made.b, made.d)
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
    accurate, fast = (Case(KINDS[name], 64, 61, 64) for name in ("e4m3-accurate", "e4m3"))
    assert accurate.plan.promotion_stages == 4
    assert fast.plan.promotion_stages == 0
    assert fast.plan.unaligned
    assert not replace(fast, n=64).plan.unaligned
    across = Case(KINDS["f16"], 64, 64, 64, "m", "n", 3)
    assert (across.plan.a_major, across.plan.b_major, across.plan.batched) == ("m", "n", True)


class Several(NumPy):
    """A peer with several functions for a case. The one at place `wrong` forgets an element."""

    def __init__(self, count: int, wrong: int = -1) -> None:
        super().__init__()
        self.count, self.wrong, self.called = count, wrong, list[int]()

    def choices(self, case: Case) -> list[Any]:
        return [self.choice(number) for number in range(self.count)]

    def choice(self, number: int) -> Any:
        def multiply(a: Any, b: Any, d: Any) -> None:
            self.called.append(number)
            d[...] = a.astype(np.float64) @ b.astype(np.float64)
            if number == self.wrong:
                d[1, 1] += 100

        return multiply


@pytest.mark.parametrize("fastest", [0, 2])
def test_the_fastest_function_of_the_library_is_the_reference(fastest: int) -> None:
    times = {str(number): 50.0 for number in range(3)} | {str(fastest): 20.0, "ours": 10.0, "theirs": 20.0}
    clock, peer = Clock(**times), Several(3, wrong=1)
    found = compared_by(clock, Case(KINDS["tf32"], 8, 8, 8), peer=peer)
    assert isinstance(found, Comparison)
    assert found.ratio == 2.0
    assert peer.called == [fastest]  # whose result is compared with ours
    assert [list(calls) for calls, _ in clock.given] == [["0", "1", "2"]] * 2 + [["ours", "theirs"]] * 2
    assert [repetitions for _, repetitions in clock.given] == [3, 7, 3, 7]
    peer.called.clear()
    clock.given[-1][0]["theirs"][0](None)
    calls = clock.given[1][0]
    assert {len(each) for each in calls.values()} == {104}  # 13 rounds of 8 sets take 2 ms
    for name in calls:
        calls[name][0](None)
    assert peer.called == [fastest, 0, 1, 2]


def test_a_fastest_function_with_wrong_results_is_no_reference() -> None:
    clock = Clock(**{"0": 5.0, "1": 4.0})
    assert isinstance(compared_by(clock, Case(KINDS["tf32"], 8, 8, 8), peer=Several(2, wrong=1)), WrongResult)
    assert len(clock.given) == 2


def test_a_function_of_the_library_that_fails_is_a_sentence() -> None:
    def clock(calls: Any, repetitions: int) -> Any:
        raise RuntimeError("cublasLtMatmul returns status 15")

    with pytest.raises(wl.UsageError, match="NumPy refuses tf32 8x8x8: cublasLtMatmul returns status 15"):
        compared_by(clock, Case(KINDS["tf32"], 8, 8, 8), peer=Several(2))


# Random cases ---------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**40), names=st.lists(st.sampled_from(sorted(KINDS)), min_size=1, unique=True))
@settings(max_examples=40, deadline=None)
def test_random_cases_are_legal_and_within_limits(seed: int, names: list[str]) -> None:
    kinds = [KINDS[name] for name in names]
    cases = draw(seed, 20, kinds)
    assert [case.kind for case in cases] == [kinds[number % len(kinds)] for number in range(20)]
    assert cases == draw(seed, 20, kinds)
    assert cases[:7] == draw(seed, 7, kinds)
    for case in cases:
        size = size_of(case.kind.operand)
        assert case.bytes <= 2e9
        assert 2 * case.m * case.n * case.k <= 6e12
        contiguous = [case.k if case.a_major == "k" else case.m, case.k if case.b_major == "k" else case.n, case.n]
        assert all(extent * size % 16 == 0 for extent in contiguous[:2])
        assert contiguous[2] * size_of(case.kind.result) % 16 == 0
        assert case.plan.tile.rows  # a plan that no kernel supports is refused
        assert (case.problem.batch, case.problem.batched) == (max(case.batch, 1), case.batch > 0)


def test_random_cases_have_every_layout_and_batches() -> None:
    cases = draw(3, 300, [KINDS["bf16"]])
    assert {case.a_major + case.b_major for case in cases} == {"kk", "kn", "mk", "mn"}
    assert {case.batch for case in cases} == {0, 2, 4, 8, 16, 32}
    assert min(case.m for case in cases) <= 4
    assert len(set(cases)) > 290
    assert draw(4, 300, [KINDS["bf16"]]) != cases
    assert max(case.bytes for case in draw(3, 2000, [KINDS["tf32"]])) <= 2e9
    assert {case.a_major + case.b_major for case in draw(3, 300, [KINDS["tf32"], KINDS["s8"]])} == {"kk"}
