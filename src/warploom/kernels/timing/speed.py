"""Timing of our GEMM and a library's in turn, with the same matrices and clocks."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from math import ceil
from statistics import geometric_mean
from typing import Any

from warploom.gpu import State, Timing
from warploom.gpu.timing import Call
from warploom.kernels.hopper.cost_model import TileSchedule
from warploom.kernels.hopper.plan import Tile
from warploom.kernels.hopper.tuned_tiles import choose_tuned
from warploom.kernels.timing.cases import Case, Kind
from warploom.kernels.timing.cublas import Matrices, Multiply, Peer, library_errors

_TRIES = 3  # repetitions of the first measurement, which determines the calls of a repetition
_ROTATED_BYTES = 150e6  # bytes of the matrices that are used in turn, three times the L2 cache of an H200
_SETS = (2, 8)
_MIN_MICROSECONDS = 2000.0  # shortest repetition of the faster kernel


Clock = Callable[[Mapping[str, Sequence[Call]], int], Mapping[str, Timing]]
"""Function with the interface of `gpu.measure`: it times lists of calls in a number of repetitions."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Environment of a measurement.

    `peer` is the library to compare with. `clock` measures times. `wait` waits for the GPU, and raises errors of
    launches.
    """

    gpu: str
    peer: Peer
    clock: Clock
    wait: Callable[[], object]
    repetitions: int = 20


@dataclass(frozen=True, slots=True)
class Comparison:
    """Times of our kernel (`ours`) and of the reference (`theirs`).

    A repetition has `calls` calls. They use `sets` sets of matrices in turn. `difference` is the difference of the
    results. `state` is the state of the GPU afterwards.
    """

    case: Case
    tile: Tile
    schedule: TileSchedule
    ours: Timing
    theirs: Timing
    calls: int
    sets: int
    difference: float
    state: State

    @property
    def ratio(self) -> float:
        """Speed of our kernel divided by the speed of the reference."""
        return self.theirs.median / self.ours.median


@dataclass(frozen=True, slots=True)
class WrongResult:
    """Multiplication that is not timed, because its result differs from the library's."""

    case: Case
    difference: float
    peer: str

    def __str__(self) -> str:
        return (
            f"{self.case} is wrong: an element differs from {self.peer}'s by {self.difference:.3g} of the root mean"
            f" square, more than {self.case.kind.tolerance:g}; the case is not timed"
        )


def compare(
    bench: Bench, case: Case, gemm: Callable[..., object], state: Callable[[], State]
) -> Comparison | WrongResult:
    """Compare the results of `gemm` and of the library. If they agree, time both in turn.

    If the library has several functions for the case, the fastest is the reference.

    Errors: UsageError bench.peer if the library raises an exception, gpu.timing, kernels.*; DeviceFault gpu.fault.
    """
    kind, peer = case.kind, bench.peer
    sets = matrix_sets(peer, case)
    first, library = sets[0], _fastest(bench, case, sets)
    found = difference(bench, case, first, lambda: gemm(first.ours, first.b, out=first.d, fast=kind.fast), library)
    if not found <= kind.tolerance:  # also for NaN
        return WrongResult(case, found, peer.name)
    times, rounds = clocked(bench, lambda rounds: _calls(kind, gemm, library, sets * rounds), len(sets))
    plan, schedule = choose_tuned(bench.gpu, case.problem, case.plan)
    calls = len(sets) * rounds
    return Comparison(case, plan.tile, schedule, times["ours"], times["theirs"], calls, len(sets), found, state())


def matrix_sets(peer: Peer, case: Case) -> list[Matrices]:
    """Return sets of matrices that together exceed the L2 cache. Errors: UsageError bench.peer."""
    count = min(max(ceil(_ROTATED_BYTES / case.bytes), _SETS[0]), _SETS[1])
    with library_errors(peer.name, case):
        return [peer.matrices(case, seed) for seed in range(count)]


def _fastest(bench: Bench, case: Case, sets: Sequence[Matrices]) -> Multiply:
    """Time the library's functions for a case in turn, and return the fastest."""
    peer = bench.peer
    choices = peer.choices(case)
    if len(choices) == 1:
        return choices[0]

    def calls(rounds: int) -> dict[str, list[Call]]:
        return {
            str(number): [_call(multiply, each.a, each.b, each.d) for each in sets] * rounds
            for number, multiply in enumerate(choices)
        }

    with library_errors(peer.name, case):
        times, _ = clocked(bench, calls, len(sets))
    return choices[min(range(len(choices)), key=lambda number: times[str(number)].median)]


def difference(bench: Bench, case: Case, matrices: Matrices, ours: Callable[[], object], theirs: Multiply) -> float:
    """Return the difference of the results of `ours` and `theirs`.

    `ours` launches our kernel. `theirs` is a function of the library.
    """
    peer = bench.peer
    matrices.d[...] = 0
    ours()
    bench.wait()  # errors of our kernel are not the library's
    with library_errors(peer.name, case):
        found = deepcopy(matrices.d)
        matrices.d[...] = 0
        theirs(matrices.a, matrices.b, matrices.d)
        return peer.difference(found, matrices.d)


def clocked(
    bench: Bench, calls: Callable[[int], Mapping[str, Sequence[Call]]], sets: int
) -> tuple[Mapping[str, Timing], int]:
    """Time several lists of calls in turn. Return the times by name, and the number of rounds.

    A round uses each of `sets` sets of matrices once. `calls` returns the lists for a number of rounds.
    """
    tried = bench.clock(calls(1), _TRIES)
    fastest = min(timing.median for timing in tried.values())
    # The fastest list must run long enough to be measured.
    rounds = max(1, ceil(_MIN_MICROSECONDS / fastest / sets))
    return bench.clock(calls(rounds), bench.repetitions), rounds


def _calls(
    kind: Kind, gemm: Callable[..., object], library: Multiply, sets: Sequence[Matrices]
) -> dict[str, list[Call]]:
    def ours(a: Any, b: Any, d: Any) -> object:
        return gemm(a, b, out=d, fast=kind.fast)

    theirs = ours if kind.sparse else library
    return {
        "ours": [_call(ours, each.ours, each.b, each.d) for each in sets],
        "theirs": [_call(theirs, each.a, each.b, each.d) for each in sets],
    }


def _call(multiply: Multiply, a: Any, b: Any, d: Any) -> Call:
    return lambda _: multiply(a, b, d)


def summary(found: Sequence[Comparison]) -> dict[str, tuple[float, Comparison]]:
    """Return (geometric mean of the ratios, comparison with the smallest ratio) for each kind."""
    by_kind: dict[str, list[Comparison]] = {}
    for each in found:
        by_kind.setdefault(each.case.kind.name, []).append(each)
    return {
        name: (geometric_mean(each.ratio for each in group), min(group, key=lambda each: each.ratio))
        for name, group in by_kind.items()
    }


def record(found: Sequence[Comparison], about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the comparisons and the entries of `about` as JSON data.

    Units: microseconds of a call, TFLOP/s.
    """
    return {
        **about,
        "results": [_plain(each) for each in found],
        "summary": {
            name: {"geometric_mean": average, "least": least.ratio, "least_of": str(least.case)}
            for name, (average, least) in summary(found).items()
        },
    }


def _plain(each: Comparison) -> dict[str, Any]:
    case = each.case

    def side(timing: Timing) -> dict[str, Any]:
        return {
            "tflops": case.teraflops(timing),
            "microseconds": timing.median,
            "spread": timing.spread,
            "times": list(timing.times),
        }

    return {
        "type": case.kind.name,
        "beside": case.kind.reference or "peer",
        "m": case.m,
        "n": case.n,
        "k": case.k,
        "batch": case.batch,
        "a_major": case.a_major,
        "b_major": case.b_major,
        "ratio": each.ratio,
        "ours": side(each.ours),
        "theirs": side(each.theirs),
        "tile": asdict(each.tile),
        "ctas": each.schedule.ctas,
        "split": each.schedule.split,
        "calls": each.calls,
        "sets": each.sets,
        "difference": each.difference,
        "state": asdict(each.state),
    }
