"""Sequences of launches in CUDA programs: the same ones as for `wl.Session`, through the driver library."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from integrations.cuda_driver.test_exec import run
from runtime.programmatic.programs import CORRECT, FAULTY, Launch, Program, Synchronize, Wait, has_map, inputs, text

PROGRAM = str(Path(__file__).parent / "sequence.py")
_FINDING = re.compile(r"module\d+\.ptx:(\d+):\d+: error\[(.+?)\]: kernel (\w+)")


def encoded(step: Launch | Wait | Synchronize) -> list[object]:
    match step:
        case Launch(kernel, programmatic, stream):
            return ["launch", kernel, programmatic, stream, has_map(kernel)]
        case Wait(stream, other):
            return ["wait", stream, other]
        case Synchronize(stream):
            return ["synchronize", stream]


def perform(
    programs: Mapping[str, Program], folder: Path, *options: str, leaves: bool = False, **environment: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, dict[str, Any]]]:
    """Run programs under `warploom exec`. Return the process, and the arrays of each program."""
    given = {
        "text": text(),
        "inputs": {name: values.tolist() for name, values in inputs().items()},
        "leaves": leaves,
        "sequences": {name: [*map(encoded, each.steps)] for name, each in programs.items()},
    }
    path = folder / "sequences.json"
    path.write_text(json.dumps(given), encoding="utf-8")
    done = run(*options, program=(sys.executable, PROGRAM, str(path)), **environment)
    return done, {} if leaves else json.loads(done.stdout)


def are_right(programs: Mapping[str, Program], results: dict[str, dict[str, Any]]) -> dict[str, bool]:
    given = inputs()
    expected = {name: each.expected(given["a"], given["w"][:256]) for name, each in programs.items()}
    return {name: np.array_equal(results[name][programs[name].name], values) for name, values in expected.items()}


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:3"])
def test_correct_sequences_have_the_right_results_and_no_finding(schedule: str, tmp_path: Path) -> None:
    done, results = perform(CORRECT, tmp_path, "--sanitize", "--schedule", schedule)
    assert all(are_right(CORRECT, results).values()), are_right(CORRECT, results)
    assert (done.returncode, _FINDING.findall(done.stderr)) == (0, [])


@pytest.mark.parametrize("engine", ["interpreter", "compiler"])
def test_faulty_sequences_are_reported_and_have_wrong_results(engine: str, tmp_path: Path) -> None:
    done, results = perform(FAULTY, tmp_path, "--sanitize", "--schedule", "lazy", WARPLOOM_ENGINE=engine)
    assert done.returncode == 1
    lines, faults = text().split("\n"), {name: each.fault for name, each in FAULTY.items() if each.fault}
    found = [(code, kernel, lines[int(line) - 1]) for line, code, kernel in _FINDING.findall(done.stderr)]
    assert len(found) == len(faults)
    for (code, kernel, line), fault in zip(found, faults.values(), strict=True):
        assert (code, kernel) == (fault.rule, fault.kernel)
        assert fault.instruction in line
    right = are_right(FAULTY, results)
    assert right == {name: not fault.is_visible for name, fault in faults.items()}


def test_launches_run_in_order_without_the_sanitizer(tmp_path: Path) -> None:
    done, results = perform(FAULTY, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(are_right(FAULTY, results).values())


def test_launches_for_which_a_program_does_not_wait_are_reported_before_the_summary(tmp_path: Path) -> None:
    twice = Program((Launch("produce"), Launch("produce", True)), lambda a, w: a)
    done, _ = perform({"twice": twice}, tmp_path, "--sanitize", "--schedule", "lazy", leaves=True)
    assert [code for _, code, _ in _FINDING.findall(done.stderr)] == ["sanitize.launch/dependent"]
    assert done.stderr.splitlines()[-1] == "warploom exec: 2 launches; 1 finding"
    assert done.returncode == 1
