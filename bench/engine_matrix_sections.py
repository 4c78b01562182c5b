"""Measurements of GEMMs and attention kernels, for the benchmark `engines.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from corpus_attention import corpus_attention
from corpus_gemms import CORPUS, Gemm, corpus_gemms
from engine_launches import Launch, attention_launch, compiled_attention, corpus_launches, gemm_launch
from engine_report import Section
from engine_sections import Bench, Side
from mma import Case, speed

from warploom.numerics import models

OBSERVERS = ("sanitize", "profile", "trace")
INSTRUCTION = re.compile(
    r"\b(wgmma\.mma_async|mma)\.sync\.aligned\.m(\d+)n(\d+)k(\d+)(?:\.row\.col)?(?:\.satfinite)?\.(\w+)\.(\w+)\.(\w+)"
)


def matrix_case(gemm: Gemm) -> Case:
    """Return the case of `mma.py` for the matrix instruction of a GEMM, with the usual batch of `mma.py`."""
    text = (CORPUS / gemm.file).read_text(encoding="utf-8")
    found = INSTRUCTION.search(text)
    target = re.search(r"^\.target\s+(\w+)", text, re.MULTILINE)
    assert found is not None, gemm.file
    assert target is not None, gemm.file
    name, m, n, k, d_type, a_type, b_type = found.groups()
    grouped = name.startswith("wgmma")
    model = models.select(target[1], "warpgroup" if grouped else "warp", a_type, b_type, d_type)
    return Case(f"m{m}n{n}k{k} {a_type} {d_type}", model, (16 if grouped else 1024, int(m), int(n), int(k)))


def measure_gemm(bench: Bench) -> Section:
    """Measure the speed of corpus GEMMs relative to the speed of their matrix instruction in `mma.py`."""
    section = Section("GEMMs of the corpus: G multiply-adds per second, and the sums of bench/mma.py in the same run")
    for size in (512, 1024):
        for gemm in corpus_gemms(bench.only):
            case = matrix_case(gemm)
            limit = speed(case, 20)
            launch = gemm_launch(gemm, size, size, size)
            with bench.guard(section, launch):
                (now,) = bench.measure(section, launch, [(bench.current, {})])
                limit = max(limit, speed(case, 20)) / 1e3
                rate = size**3 / 1e9 / now.seconds
                section.rows.append({
                    "kernel": launch.name, "M = N = K": size, "instruction": case.name, "mma.py": limit, "GEMM": rate,
                    "share": rate / limit,
                })  # fmt: skip
    section.demand_each("share", 0.7)
    return section


def attention_launches(bench: Bench) -> Iterator[Launch]:
    """Yield launches of attention kernels with 8 CTAs."""
    corpus = (attention_launch(attention, 4 * attention.rows, 2) for attention in corpus_attention())
    return bench.pick(chain(corpus, *map(compiled_attention, bench.folders)))


def measure_attention(bench: Bench) -> Section:
    """Measure attention kernels with 8 CTAs."""
    section = Section("Attention with 8 CTAs: milliseconds of processor time")
    for launch in attention_launches(bench):
        with bench.guard(section, launch):
            before, now = bench.measure(section, launch, [(bench.baseline, {}), (bench.current, {})])
            slow, fast = before.seconds, now.seconds
            section.rows.append(
                {"kernel": launch.name, "before": slow * 1e3, "now": fast * 1e3, "faster": slow / fast}
            )  # fmt: skip
    section.demand_each("faster", 5)
    return section


def measure_observers(bench: Bench) -> Section:
    """Measure the sanitizer, the profile and the trace of GEMMs and attention kernels with few CTAs."""
    section = Section(
        "Observers: milliseconds of processor time, and the cost in relation to the plain run of this checkout"
    )
    for launch in bench.pick(corpus_launches()):
        if not launch.name.startswith(("gemm", "gluon_gemm", "flash")):
            continue
        with bench.guard(section, launch):
            sides: list[Side] = [(bench.current, {})]
            for observer in OBSERVERS:
                sides += [(bench.baseline, {observer: True}), (bench.current, {observer: True})]
            plain, *observed = bench.measure(section, launch, sides)
            for observer, before, now in zip(OBSERVERS, observed[::2], observed[1::2], strict=True):
                section.problems += [f"{launch.name}: finding {code}" for code in now.findings]
                section.rows.append({
                    "kernel": f"{launch.name}, {observer}", "plain": plain.seconds * 1e3,
                    "before": before.seconds * 1e3, "now": now.seconds * 1e3,
                    "cost": now.seconds / plain.seconds, "faster": before.seconds / now.seconds,
                })  # fmt: skip
    section.demand("cost", 3, at_least=False)
    section.demand("faster", 3)
    return section


def measure_workers(bench: Bench) -> Section:
    """Measure two workers against one."""
    section = Section("Two workers: elapsed seconds")
    gemms = (gemm_launch(gemm, 1024, 1024, 1024) for gemm in corpus_gemms(bench.only))
    attention = (attention_launch(each, 8 * each.rows, 4) for each in corpus_attention(bench.only))
    for launch in chain(gemms, attention):
        with bench.guard(section, launch):
            sides = [(bench.current, {"workers": workers}) for workers in (1, 2)]
            one, two = (measured.wall for measured in bench.measure(section, launch, sides))
            section.rows.append(
                {"kernel": launch.name, "CTAs": launch.ctas, "one": one, "two": two, "faster": one / two}
            )  # fmt: skip
    section.demand("faster", 1.8)
    return section
