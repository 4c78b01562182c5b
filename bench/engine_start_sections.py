"""Measurements of the time until a kernel runs, for the benchmark `engines.py`."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import numpy as np
from check import enlarged
from corpus_gemms import CORPUS
from engine_checkouts import Checkout, Measured, alternate
from engine_launches import Launch
from engine_report import Goal, Section
from engine_sections import Bench

LINES = 17_000
SMALL = """
.visible .entry one_page(.param .u64 y)
{
    .reg .b64 %address;
    .reg .b32 %index;
    ld.param.u64 %address, [y];
    mov.u32 %index, %tid.x;
    mad.wide.u32 %address, %index, 4, %address;
    st.global.u32 [%address], %index;
    ret;
}
"""
EXAMPLE = Path("examples") / "gemm_warp_specialised.toml"


def long_module() -> str:
    """Return a module of 17,000 lines with many attention kernels and the small kernel `one_page`."""
    text = (CORPUS / "flash_fwd_f16_d128_causal_sm90.ptx").read_text(encoding="utf-8")
    size = len(text)
    while (module := enlarged(text, size)).count("\n") < LINES:
        size += len(text)
    return module + SMALL


def measure_modules(bench: Bench) -> Section:
    """Measure the start of a small kernel of a long module, and `warploom run`."""
    section = Section("Start of a process until the end of a kernel: seconds of processor time")
    text = long_module()
    launch = Launch("one_page", text, (1,), (32,), [np.zeros(32, np.uint32)], "one_page")
    before, cold, warm = [], [], []
    with bench.stored(launch) as stored:
        for _ in range(bench.rounds):
            with tempfile.TemporaryDirectory(dir=bench.scratch) as cache:
                before += bench.baseline.run(stored, Path(cache), [{}])
                cold += bench.current.run(stored, Path(cache), [{}])
                warm += bench.current.run(stored, Path(cache), [{}])
        bench.compare(section, stored, [*before, *cold, *warm])
    name = f"module of {text.count(chr(10)):,} lines"
    times = [Measured.shortest(runs).total for runs in (before, cold, warm)]
    section.rows.append(
        dict(zip(("start", "before", "empty cache", "filled cache"), (name, *times), strict=True))
    )  # fmt: skip
    section.goals.append(Goal(f"{name}, empty cache", times[1], 1, at_least=False))
    section.goals.append(Goal(f"{name}, filled cache", times[2], 0.3, at_least=False))
    checkouts = (bench.baseline, bench.current)
    runs = alternate(bench.rounds + 1, [lambda each=each: _run_example(bench, each) for each in checkouts])
    slow, fast = (min(seconds[1:]) for seconds in runs)
    section.rows.append({"start": f"warploom run {EXAMPLE.name}", "before": slow, "filled cache": fast})
    section.goals.append(Goal("warploom run, filled cache", fast, 0.6, at_least=False))
    return section


def _run_example(bench: Bench, checkout: Checkout) -> float:
    """Return the seconds of processor time of `warploom run` with the main example."""
    usage = getrusage(RUSAGE_CHILDREN)
    command = [checkout.python, "-m", "warploom", "run", checkout.path / EXAMPLE]
    subprocess.run(command, check=True, env=checkout.environment(bench.cache), stdout=subprocess.DEVNULL)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
