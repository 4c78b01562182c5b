"""Comparison with Triton's interpreter, for the benchmark `engines.py`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from engine_checkouts import Measured, run_child
from engine_launches import Launch, compiled_cases, compiled_launch
from engine_report import Section
from engine_sections import Bench

CHILD = Path(__file__).parent / "triton_child.py"
REFERENCES = ("attention", "softmax", "layernorm", "scan", "sort_pairs", "histogram", "histogram_grid")
"""Reference computations of the kernels that are compared. Of the scans, only sorts are compared."""


def triton_launches(folder: Path) -> Iterator[Launch]:
    """Yield the launches of a folder whose Triton kernels are compared."""
    for case in compiled_cases(folder):
        is_compared = case["reference"] in REFERENCES and (case["reference"] != "scan" or "sort" in case["name"])
        if is_compared and all(spec["kind"] != "tensor" for spec in case["args"].values()):
            yield compiled_launch(folder, case)


def measure_triton(bench: Bench) -> Section:
    """Measure Triton's interpreter with the sources of compiled kernels and the same arrays."""
    section = Section("Triton's interpreter: milliseconds of processor time of the second launch")
    if bench.triton is None:
        section.problems.append("--triton-python names no interpreter with Triton, NumPy, ml_dtypes and PyTorch")
        return section
    for launch in bench.pick(chain.from_iterable(map(triton_launches, bench.folders))):
        with bench.guard(section, launch):
            theirs, ours = _seconds(bench, section, launch, bench.triton)
            section.rows.append({
                "kernel": launch.name, "CTAs": launch.ctas, "Triton": theirs * 1e3, "Warploom": ours * 1e3,
                "faster": theirs / ours,
            })  # fmt: skip
    section.demand("faster", 10)
    return section


def _seconds(bench: Bench, section: Section, launch: Launch, interpreter: Path) -> tuple[float, float]:
    """Return the seconds of the second launch with Triton's interpreter and with Warploom.

    Errors: RunError.
    """
    theirs: list[float] = []
    ours: list[list[Measured]] = []
    environment = bench.current.environment(bench.cache)
    with bench.stored(launch) as stored:
        job = stored.job | {"name": launch.name, "times": 2}
        for _ in range(bench.rounds):
            theirs.append(run_child([interpreter, CHILD], job, environment, "Triton")[1])
            ours.append(bench.current.run(stored, bench.cache, [{}, {}]))
        bench.compare(section, stored, [measured for runs in ours for measured in runs])
    return min(theirs), Measured.shortest([second for _, second in ours]).seconds
