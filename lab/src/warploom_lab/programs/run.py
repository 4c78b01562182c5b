"""Runs of compiled public programs under `warploom exec`."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from warploom_lab.programs.catalog import Program

SUCCESS = "success"
_SHOWN = 300  # characters of the output in the sentence about a failure
# "1  2,814  0.408  name": launches, warp instructions, seconds and name of a kernel
_KERNEL = re.compile(r"^ *([\d,]+) +([\d,]+) +(\d+\.\d+) +\S", re.MULTILINE)
_FINDING = re.compile(r"^.*\b(?:error|warning)\[([\w./-]+)\]: .*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding that `warploom exec` printed: the code of the rule, and the line of the message."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Run:
    """Run of a program. `verdict` is SUCCESS, or a sentence about the failure.

    Units: `instructions` in warp instructions of all launches, `seconds` of elapsed time.
    """

    verdict: str
    launches: int
    instructions: int
    seconds: float
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """Results of a program: one run without and one with the sanitizer. A run is None if the program is not built."""

    name: str
    plain: Run | None
    sanitized: Run | None
    problem: str = ""


def run(program: Program, binary: Path, sanitize: bool, limit: float) -> Run:
    """Run a compiled program under `warploom exec`, for `limit` seconds at most."""
    options = [
        "--time",
        *(["--sanitize"] if sanitize else []),
        *(["--device", program.device] if program.device else []),
    ]
    command = [sys.executable, "-m", "warploom", "exec", *options, "--", str(binary), *program.arguments]
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, _text_file() as out, _text_file() as err:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder)
        try:
            status: int | None = process.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        seconds = time.perf_counter() - began
        out.seek(0)
        err.seek(0)
        # Messages name sources by their paths in the folder of sources.
        output, messages = (file.read().replace(f"{binary.parents[1]}/", "") for file in (out, err))
        return read(program, status, output, messages, seconds)


def _text_file() -> IO[str]:
    return tempfile.TemporaryFile("w+", errors="replace")


def read(program: Program, status: int | None, out: str, err: str, seconds: float) -> Run:
    """Return the run of a program from its exit status, None at the time limit, and its output."""
    kernels = [(int(n.replace(",", "")), int(count.replace(",", ""))) for n, count, _ in _KERNEL.findall(err)]
    # A finding is printed again for each launch of the kernel.
    findings = tuple(dict.fromkeys(Finding(each[1], each[0].strip()) for each in _FINDING.finditer(err)))
    # `exec` exits with status 1 after a finding if the program exits with 0.
    expected = {program.status, 1} if findings else {program.status}
    refusal = next((each.message for each in findings if each.code.startswith("launch.")), None)
    findings = tuple(each for each in findings if not each.code.startswith("launch."))
    if refusal is not None:
        verdict = f"refused: {refusal}"
    elif status is None:
        verdict = f"stopped after {seconds:.0f} s"
    elif status not in expected:
        verdict = f"exit status {status}: {(out + err).strip()[-_SHOWN:]}"
    elif not re.search(program.success, out):
        verdict = f"no text of success: {out.strip()[-_SHOWN:]}"
    else:
        verdict = SUCCESS
    return Run(verdict, sum(n for n, _ in kernels), sum(count for _, count in kernels), round(seconds, 1), findings)


def unassessed(program: Program, record: Record) -> list[Finding]:
    """Return the findings of the sanitizer that `Program.assessments` does not assess."""
    findings = record.sanitized.findings if record.sanitized else ()
    return [each for each in findings if each.code not in program.assessments]
