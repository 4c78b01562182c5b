"""The sanitizer on the suite: silent on what is right, the right rule for what is not.

`tools/mutation_table.py` does the same with every mutant of every kernel; here is a sample.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from observe.sanitize.judging import outcome
from observe.sanitize.launches import LAUNCHES
from observe.sanitize.mutations import Mutant, mutants
from observe.sanitize.subjects import SUBJECTS

EVERY = 4  # one mutant in so many
SMALL = [name for name, subject in SUBJECTS.items() if not subject.real or subject.entry is not None]

# What the fault of a real kernel, made again, must be called: one of these.
FAULTS = {
    "flashkda_24": ("proxy/async",),
    "deepep_642": ("proxy/refill",),
    "deepep_657": ("copy/source",),
    "deepgemm_429": ("mbarrier/short",),
    "cutlass_2418": ("deadlock",),
    "cutlass_3643": ("race/cluster",),
    "sglang_32907": ("cluster/exit",),
    "sglang_37287": ("race/shared",),
    "sglang_39124": ("proxy/async",),
    "tilelang_2566": ("deadlock",),
    "tilelang_2634": ("proxy/async",),
    "tilelang_2927": ("mbarrier/parity",),
    "cudnn_frontend_426": ("race/shared",),
    "transformer_engine_3417": ("copy/source",),
}


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:1"])
@pytest.mark.parametrize("name", LAUNCHES)
def test_a_right_kernel_gives_no_finding(name: str, schedule: str) -> None:
    done, right = LAUNCHES[name].run(sanitize=True, schedule=schedule)
    assert [str(finding) for finding in done.findings] == []
    assert right


@pytest.mark.parametrize("name", [name for name, launch in LAUNCHES.items() if "bugs" in launch.file])
def test_the_fault_of_a_real_kernel_is_found(name: str) -> None:
    done, _ = LAUNCHES[name].run(LAUNCHES[name].faulty, sanitize=True, raises=False)
    codes = {finding.code.removeprefix("sanitize.") for finding in done.findings}
    assert codes & set(FAULTS[name]), codes


def _sample(name: str) -> Iterator[Mutant]:
    for number, mutant in enumerate(mutants(SUBJECTS[name].module(), SUBJECTS[name].entry)):
        if number % EVERY == len(name) % EVERY:
            yield mutant


@pytest.mark.parametrize("name", SMALL)
def test_a_mutant_is_found_or_allowed(name: str) -> None:
    otherwise: list[tuple[str, int, str, list[str]]] = []
    for mutant in _sample(name):
        result, codes = outcome(SUBJECTS[name], mutant)
        if result not in ("one finding", "more findings", "silent"):
            otherwise.append((mutant.kind, mutant.line, result, codes))
    assert not otherwise
