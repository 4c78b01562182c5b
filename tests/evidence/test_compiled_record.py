"""The recorded runs of compiled kernels for Blackwell have no finding; see `compiled/README.md`."""

from __future__ import annotations

import json
from pathlib import Path

from warploom_lab.compiled.cuda.blackwell import block_scaled_cases, tensor_memory_cases
from warploom_lab.compiled.run import SCHEDULES

RECORD = json.loads(Path(__file__).with_name("compiled").joinpath("record.json").read_text())


def test_no_kernel_has_a_problem() -> None:
    assert {name: each["problem"] for name, each in RECORD["kernels"].items() if each["problem"]} == {}


def test_every_kernel_ran_with_the_sanitizer_under_every_schedule() -> None:
    assert RECORD["sanitized"]
    assert RECORD["schedules"] == list(SCHEDULES)


def test_the_kernels_of_all_compilers_are_recorded() -> None:
    names = set(RECORD["kernels"])
    cases = [*tensor_memory_cases(integers=True), *block_scaled_cases()]
    assert cases
    assert all(any(case.name in name for name in names) for case in cases)
    assert sum(name.startswith("cuda_") for name in names) >= 24
    assert sum(each["kind"] == "gluon" for each in RECORD["kernels"].values()) >= 43
    assert len(names) >= 144
