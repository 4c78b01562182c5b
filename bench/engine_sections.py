"""Measurements of whole launches against a baseline, for the benchmark `engines.py`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from engine_checkouts import Checkout, Measured, RunError, StoredLaunch, alternate
from engine_launches import Launch, compiled_launches, corpus_launches
from engine_report import Goal, Section
from engine_texts import THREADS, TILE, fma_loop, sgemm

Side = tuple[Checkout, dict[str, Any]]
"""Checkout and the options of its launches."""


@dataclass(frozen=True)
class Bench:
    """Settings of the benchmark.

    `folders` have compiled kernels, of which `count` are measured. `only` is a part of the names of the kernels.
    `triton` is an interpreter with Triton, and `scratch` is a temporary folder.
    """

    current: Checkout
    baseline: Checkout
    rounds: int
    folders: Sequence[Path]
    count: int
    only: str
    triton: Path | None
    scratch: Path

    @property
    def cache(self) -> Path:
        """Cache folder that all processes share, except those that start with an empty one."""
        return self.scratch / "cache"

    def measure(self, section: Section, launch: Launch, sides: Sequence[Side]) -> list[Measured]:
        """Return the shortest second launch of `rounds` processes for each side. The sides take turns.

        A difference between the results of two launches becomes a problem of the section.

        Errors: RunError.
        """
        with self.stored(launch) as stored:
            calls = [
                lambda side=side, options=options: side.run(stored, self.cache, [options, options])
                for side, options in sides
            ]
            results = alternate(self.rounds, calls)
            self.compare(section, stored, [measured for runs in results for run in runs for measured in run])
            return [Measured.shortest([second for _, second in runs]) for runs in results]

    def compare(self, section: Section, stored: StoredLaunch, measured: Sequence[Measured]) -> None:
        """Add a problem to the section if the results of two launches differ."""
        messages = {stored.difference(measured[0], other) for other in measured[1:]}
        section.problems += sorted(messages - {""})

    @contextmanager
    def guard(self, section: Section, launch: Launch) -> Iterator[None]:
        """Turn a RunError in the context into a problem of the section."""
        try:
            yield
        except RunError as error:
            section.problems.append(f"{launch.name}: {error}")

    @contextmanager
    def stored(self, launch: Launch) -> Iterator[StoredLaunch]:
        """Keep the arrays of a launch in a file during the context."""
        print(launch.name, file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            yield StoredLaunch.store(launch, Path(folder))

    def pick(self, launches: Iterator[Launch] | Sequence[Launch]) -> Iterator[Launch]:
        """Yield the launches that the option --only selects."""
        return (launch for launch in launches if self.only in launch.name)


def measure_kernels(bench: Bench) -> Section:
    """Measure first and second launches of small grids."""
    section = Section("Launches with few CTAs: milliseconds of processor time, and ratios to the baseline")
    launches = list(corpus_launches())
    for i, folder in enumerate(bench.folders):
        share = bench.count * (i + 1) // len(bench.folders) - bench.count * i // len(bench.folders)
        launches += compiled_launches(folder, share)
    for launch in bench.pick(launches):
        with bench.guard(section, launch):
            section.rows.append(_kernel_row(bench, section, launch))
    section.demand_mean("faster", 10, text="second launch, ratio of speeds")
    section.demand_each("faster", 1, text="second launch, ratio of speeds")
    section.demand("cold", 1.3, at_least=False, text="first launch with an empty cache, ratio of times")
    section.demand("warm", 3, text="first launch with a filled cache, ratio of speeds")
    return section


def _kernel_row(bench: Bench, section: Section, launch: Launch) -> dict[str, Any]:
    sides: list[list[list[Measured]]] = [[], [], []]
    twice: list[dict[str, Any]] = [{}, {}]
    with bench.stored(launch) as stored:
        for _ in range(bench.rounds):
            with tempfile.TemporaryDirectory(dir=bench.scratch) as cache:
                # The second run of this checkout finds the code of the first run in the cache.
                for runs, checkout in zip(sides, (bench.baseline, bench.current, bench.current), strict=True):
                    runs.append(checkout.run(stored, Path(cache), twice))
        bench.compare(section, stored, [each for runs in sides for run in runs for each in run])
    before, cold, warm = (Measured.shortest([first for first, _ in runs]).seconds for runs in sides)
    slow, _, fast = (Measured.shortest([second for _, second in runs]).seconds for runs in sides)
    return {
        "kernel": launch.name, "CTAs": launch.ctas,
        "first, before": before * 1e3, "empty cache": cold * 1e3, "filled cache": warm * 1e3,
        "second, before": slow * 1e3, "now": fast * 1e3,
        "cold": cold / before, "warm": before / warm, "faster": slow / fast,
    }  # fmt: skip


def measure_fma(bench: Bench) -> Section:
    """Measure loops of multiply-adds."""
    section = Section("Loops of fma.rn.f32: M warp instructions per second")
    for independent in (1, 8):
        for warps, iterations in ((8, 100_000), (1024, 2_000)):
            threads = 32 * warps
            x = np.random.default_rng(1).standard_normal(threads).astype(np.float32)
            name = f"{independent} fma per iteration, {warps:,} warps"
            args = [x, np.zeros_like(x), np.uint32(iterations)]
            launch = Launch(name, fma_loop(independent), (threads // 256,), (256,), args)
            with bench.guard(section, launch):
                before, now = bench.measure(section, launch, [(bench.baseline, {}), (bench.current, {})])
                count = now.instructions / 1e6
                section.rows.append({
                    "loop": name, "M instructions": count, "before": count / before.seconds, "now": count / now.seconds,
                    "faster": before.seconds / now.seconds,
                })  # fmt: skip
                if independent == 1:
                    section.goals.append(Goal(name, count / now.seconds, {8: 60, 1024: 150}[warps]))
    return section


def measure_sgemm(bench: Bench) -> Section:
    """Measure a GEMM of f32 numbers without matrix instructions."""
    section = Section("GEMM of f32 numbers with fma.rn.f32: G multiply-adds per second")
    random = np.random.default_rng(1)
    for M, N, K in ((256, 256, 256), (512, 512, 512)):
        a, b = (random.standard_normal(shape).astype(np.float32) for shape in ((M, K), (K, N)))
        args = [a, b, np.zeros((M, N), np.float32), *map(np.uint32, (M, N, K))]
        launch = Launch(f"sgemm_{M}", sgemm(), (N // TILE, M // TILE), (THREADS,), args)
        with bench.guard(section, launch):
            before, now = bench.measure(section, launch, [(bench.baseline, {}), (bench.current, {})])
            work = M * N * K / 1e9
            section.rows.append({
                "M x N x K": f"{M} x {N} x {K}", "CTAs": launch.ctas, "before": work / before.seconds,
                "now": work / now.seconds, "faster": before.seconds / now.seconds,
            })  # fmt: skip
    section.demand_each("now", 1)
    return section
