"""Measurements of the time until a kernel runs, for the benchmark `engines.py`."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

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
    """Return a module of 17,000 lines with many attention kernels and the small kernel `one_page`.

    The registers of each attention kernel have other names, so that no instruction occurs twice.
    """
    text = (CORPUS / "flash_fwd_f16_d128_causal_sm90.ptx").read_text(encoding="utf-8")
    size = len(text)
    while (module := enlarged(text, size)).count("\n") < LINES:
        size += len(text)
    head, *kernels = re.split(r"^(?=\.visible \.entry)", module, flags=re.MULTILINE)
    return head + "".join(_renamed(kernel, i) for i, kernel in enumerate(kernels)) + SMALL


def _renamed(body: str, number: int) -> str:
    """Return PTX with other names of registers and labels."""
    return re.sub(r"%(?:p|rs|r|rd)(?=[\d<])|\$L\w+", rf"\g<0>_{number}_", body)


def long_kernel() -> str:
    """Return a kernel of 17,000 lines: many copies of an attention kernel, which are skipped if N is 0."""
    text = enlarged((CORPUS / "flash_fwd_f16_d128_causal_sm90.ptx").read_text(encoding="utf-8"), 0)
    head, entry, rest = text.partition(".visible .entry")
    signature, _, body = rest.partition("{")
    body = body[: body.rindex("}")]
    copies = range(-(-LINES // body.count("\n")))
    blocks = "".join("{" + _renamed(body, i) + "}\n" for i in copies)
    return f"""{head}{entry}{signature}{{
    .reg .b32 %count;
    .reg .pred %skip;
    ld.param.u32 %count, [fa_param_5];
    setp.eq.u32 %skip, %count, 0;
    @%skip bra END;
{blocks}
END:
    ret;
}}
"""


def measure_modules(bench: Bench) -> Section:
    """Measure the start of a small kernel of a long module and of a long kernel, and `warploom run`."""
    section = Section("Start of a process until the end of a kernel: seconds of processor time")
    null = [None] * 4
    launches = (
        Launch("small kernel in a long module", long_module(), (1,), (32,), [np.zeros(32, np.uint32)], "one_page"),
        Launch("long kernel", long_kernel(), (1,), (128,), [*null, 1.0, 0, None, None], shared=98304),
    )
    for launch in launches:
        with bench.guard(section, launch):
            section.rows.append(_start_row(bench, section, launch))
    section.demand_each("empty cache", 1, at_least=False)
    section.demand_each("filled cache", 0.3, at_least=False)
    checkouts = (bench.baseline, bench.current)
    runs = alternate(bench.rounds + 1, [lambda each=each: _run_example(bench, each) for each in checkouts])
    slow, fast = (min(seconds[1:]) for seconds in runs)
    section.rows.append({"start": f"warploom run {EXAMPLE.name}", "before": slow, "filled cache": fast})
    section.goals.append(Goal("warploom run, filled cache", fast, 0.6, at_least=False))
    return section


def _start_row(bench: Bench, section: Section, launch: Launch) -> dict[str, Any]:
    before, cold, warm = [], [], []
    with bench.stored(launch) as stored:
        for _ in range(bench.rounds):
            with tempfile.TemporaryDirectory(dir=bench.scratch) as cache:
                before += bench.baseline.run(stored, Path(cache), [{}])
                cold += bench.current.run(stored, Path(cache), [{}])
                warm += bench.current.run(stored, Path(cache), [{}])
        bench.compare(section, stored, [*before, *cold, *warm])
    names = ("before", "empty cache", "filled cache")
    times = (Measured.shortest(runs).total for runs in (before, cold, warm))
    return {"start": launch.name, **dict(zip(names, times, strict=True))}


def _run_example(bench: Bench, checkout: Checkout) -> float:
    """Return the seconds of processor time of `warploom run` with the main example."""
    usage = getrusage(RUSAGE_CHILDREN)
    command = [checkout.python, "-m", "warploom", "run", checkout.path / EXAMPLE]
    subprocess.run(command, check=True, env=checkout.environment(bench.cache), stdout=subprocess.DEVNULL)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
