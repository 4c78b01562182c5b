"""Our multiplication beside that of a library, in one run: the same data, the same clocks, taking turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, exp, log
from statistics import mean
from typing import Any, Protocol

from warploom.gpu import State, Timing
from warploom.gpu.timing import Call
from warploom.kernels.hopper.cost_model import Share
from warploom.kernels.hopper.plan import Tile
from warploom.kernels.hopper.tuned_tiles import chosen
from warploom.kernels.timing.cublas import Kind, Matrices, Multiply, Peer, refusals

Size = tuple[int, int, int]

SIZES: tuple[Size, ...] = (
    (4096, 4096, 4096),
    (8192, 8192, 8192),
    (16384, 8192, 4096),
    (2048, 7168, 4096),
    (128, 7168, 16384),
    (64, 24576, 1536),
    (4096, 2112, 7168),
    (4096, 32768, 512),
)
"""Sizes (M, N, K) that models have: square ones, long and short K, few rows."""

_ROTATED = 150e6  # bytes of matrices that take turns: three times the L2 cache of an H200
_SETS = (2, 8)
TRIES = 3
"""Repetitions that say how many calls a repetition needs."""
_WORK = 2000.0  # microseconds that one repetition of the quicker side takes at least


class Clock(Protocol):
    """Times lists of calls, as `gpu.measure` does."""

    def __call__(  # noqa: D102
        self, calls: Mapping[str, Sequence[Call]], repetitions: int
    ) -> Mapping[str, Timing]: ...


@dataclass(frozen=True, slots=True)
class Bench:
    """What a comparison is made with: the GPU's name, the library, our multiplication, a clock, the GPU's own words.

    `wait` returns when the GPU has nothing left to do, and raises what it broke off.
    """

    gpu: str
    peer: Peer
    gemm: Callable[..., object]
    clock: Clock
    wait: Callable[[], object]
    state: Callable[[], State]
    repetitions: int = 20


@dataclass(frozen=True, slots=True)
class Case:
    """One multiplication to compare: `bf16 4096x4096x4096`, M, N and K."""

    kind: Kind
    m: int
    n: int
    k: int

    def __str__(self) -> str:
        return f"{self.kind.name} {self.m}x{self.n}x{self.k}"

    def teraflops(self, timing: Timing) -> float:
        """The rate: 2 M N K operations a call, in 10^12 a second."""
        return 2e-6 * self.m * self.n * self.k / timing.median


@dataclass(frozen=True, slots=True)
class Compared:
    """Times of both sides, by lists of `calls` that rotate through `sets` of matrices; how the GPU was afterwards."""

    case: Case
    tile: Tile
    share: Share
    ours: Timing
    theirs: Timing
    calls: int
    sets: int
    difference: float
    state: State

    @property
    def ratio(self) -> float:
        """How much quicker ours is: above 1 it is."""
        return self.theirs.median / self.ours.median


@dataclass(frozen=True, slots=True)
class Wrong:
    """A multiplication whose results are not those of the library: it is not timed."""

    case: Case
    difference: float
    peer: str

    def __str__(self) -> str:
        return (
            f"{self.case} is wrong: an element is {self.difference:.3g} of their root mean square from {self.peer}'s,"
            f" more than {self.case.kind.tolerance:g}; it is not timed"
        )


def compare(bench: Bench, case: Case, seed: int = 0) -> Compared | Wrong:
    """Check both sides against each other, then time them in turn.

    Errors: UsageError bench.peer where the library refuses, gpu.timing, kernels.*; DeviceFault gpu.fault.
    """
    kind, peer = case.kind, bench.peer
    sets = rotating(peer, case, seed)
    held = sets[0]
    far = distance(
        peer, case, held, lambda: bench.gemm(held.ours, held.b, out=held.d, fast=kind.fast), bench.wait
    )
    if not far <= kind.tolerance:  # NaN is no agreement
        return Wrong(case, far, peer.name)
    once = bench.clock(_calls(bench, kind, sets), TRIES)
    turns = rounds(once, len(sets))
    times = bench.clock(_calls(bench, kind, sets * turns), bench.repetitions)
    problem = kind.problem(case.m, case.n, case.k)
    plan, share = chosen(bench.gpu, problem, kind.plan(problem))
    calls = len(sets) * turns
    return Compared(
        case, plan.tile, share, times["ours"], times["theirs"], calls, len(sets), far, bench.state()
    )


def rotating(peer: Peer, case: Case, seed: int = 0) -> list[Matrices]:
    """Sets of matrices that together pass the L2 cache. Errors: UsageError bench.peer."""
    count = min(max(ceil(_ROTATED / case.kind.bytes(case.m, case.n, case.k)), _SETS[0]), _SETS[1])
    with refusals(peer.name, case):
        return [peer.matrices(case.kind, case.m, case.n, case.k, seed + turn) for turn in range(count)]


def rounds(tried: Mapping[str, Timing], sets: int) -> int:
    """How often to go through the sets, so that the quickest that was tried works long enough for the clock."""
    return max(1, ceil(_WORK / min(timing.median for timing in tried.values()) / sets))


def distance(
    peer: Peer, case: Case, held: Matrices, ours: Callable[[], object], wait: Callable[[], object]
) -> float:
    """How far our result is from the library's, each written over zeros. Errors: UsageError bench.peer."""
    theirs = peer.multiply(case.kind)
    peer.clear(held.d)
    ours()
    wait()  # what our kernel does wrong is not laid to the library
    with refusals(peer.name, case):
        found = peer.copy(held.d)
        peer.clear(held.d)
        theirs(held.a, held.b, held.d)
        return peer.difference(found, held.d)


def _calls(bench: Bench, kind: Kind, sets: Sequence[Matrices]) -> dict[str, list[Call]]:
    """Both sides, through the same matrices."""
    gemm, fast = bench.gemm, kind.fast
    multiply: Multiply = _dense(gemm, fast) if kind.sparse else bench.peer.multiply(kind)

    def ours(held: Matrices) -> Call:
        a, b, d = held.ours, held.b, held.d
        return lambda _: gemm(a, b, out=d, fast=fast)

    def theirs(held: Matrices) -> Call:
        a, b, d = held.a, held.b, held.d
        return lambda _: multiply(a, b, d)

    return {"ours": [ours(held) for held in sets], "theirs": [theirs(held) for held in sets]}


def _dense(gemm: Callable[..., object], fast: bool) -> Multiply:
    """Our multiplication of a dense A."""
    return lambda a, b, d: gemm(a, b, out=d, fast=fast)


def summary(found: Sequence[Compared]) -> dict[str, tuple[float, Compared]]:
    """For every kind the geometric mean of the ratios, and the comparison with the smallest."""
    by_kind: dict[str, list[Compared]] = {}
    for each in found:
        by_kind.setdefault(each.case.kind.name, []).append(each)
    return {
        name: (exp(mean(log(each.ratio) for each in those)), min(those, key=lambda each: each.ratio))
        for name, those in by_kind.items()
    }


def record(found: Sequence[Compared], about: Mapping[str, Any]) -> dict[str, Any]:
    """Everything as plain data, for JSON. Units: microseconds of a call, TFLOP/s."""
    return {
        **about,
        "results": [_plain(each) for each in found],
        "summary": {
            name: {"geometric_mean": average, "least": least.ratio, "least_of": str(least.case)}
            for name, (average, least) in summary(found).items()
        },
    }


def _plain(each: Compared) -> dict[str, Any]:
    case, tile = each.case, each.tile

    def side(timing: Timing) -> dict[str, Any]:
        return {
            "tflops": case.teraflops(timing),
            "microseconds": timing.median,
            "spread": timing.spread,
            "times": list(timing.times),
        }

    return {
        "type": case.kind.name,
        "beside": case.kind.beside or "peer",
        "m": case.m,
        "n": case.n,
        "k": case.k,
        "ratio": each.ratio,
        "ours": side(each.ours),
        "theirs": side(each.theirs),
        "tile": {name: getattr(tile, name) for name in tile.__slots__},
        "ctas": each.share.ctas,
        "split": each.share.split,
        "calls": each.calls,
        "sets": each.sets,
        "difference": each.difference,
        "state": plain_state(each.state),
    }


def plain_state(state: State) -> dict[str, Any]:
    """A GPU's clocks, power and temperature as plain data."""
    return {name: getattr(state, name) for name in state.__slots__}
