"""Runs of compiled public programs on the emulator, each in a process of its own."""

from __future__ import annotations

import ctypes
import json
import sys
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NoReturn

from warploom.runtime.api import SCHEDULES
from warploom_lab.programs.catalog import Program
from warploom_lab.programs.device import Device, Launch


@dataclass(frozen=True, slots=True)
class LaunchRecord:
    """Launch of a kernel that ran with the sanitizer.

    `findings` has, for each finding, the rule, the schedules that report it, and the message. `same` is True if all
    schedules left the same bytes in memory.
    """

    kernel: str
    instructions: int
    seconds: float
    findings: tuple[tuple[str, str, str], ...]
    same: bool


@dataclass(frozen=True, slots=True)
class ProgramRecord:
    """Run of a program. `problem` is a sentence about an error or a wrong result, or ""."""

    name: str
    problem: str
    launches: tuple[LaunchRecord, ...]


def run(program: Program, runtime: Path, library: Path) -> ProgramRecord:
    """Run a compiled program in a new process, because its `main` may call `exit`, and return its record."""
    path = library.with_suffix(".jsonl")
    path.unlink(missing_ok=True)
    process = get_context("spawn").Process(target=execute, args=(program, runtime, library, path))
    process.start()
    process.join()
    entries: list[dict[str, Any]] = (
        [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    )
    problems = [entry["problem"] for entry in entries if "problem" in entry]
    if process.exitcode and not problems:
        problems.append(f"exit status {process.exitcode}")
    launches = [
        LaunchRecord(
            entry["kernel"],
            entry["instructions"],
            entry["seconds"],
            tuple(map(tuple, entry["findings"])),
            entry["same"],
        )
        for entry in entries
        if "kernel" in entry
    ]
    return ProgramRecord(program.name, "; ".join(problems), tuple(launches))


def execute(program: Program, runtime: Path, library: Path, path: Path) -> NoReturn:
    """Run a compiled program in this process, and exit with its status.

    Append one JSON line to the file `path` for each launch with the sanitizer and for each problem, when it happens.
    """

    def write(entry: dict[str, object]) -> None:
        with path.open("a") as file:
            file.write(json.dumps(entry) + "\n")

    def report(event: Launch | Exception) -> None:
        if isinstance(event, Exception):
            write({"problem": f"{type(event).__name__}: {event}"})
        elif event.is_sanitized:
            findings = [
                (each.diagnostic.code, ", ".join(each.schedules), str(each.diagnostic)) for each in event.findings
            ]
            write({
                "kernel": event.kernel, "instructions": event.instructions, "seconds": event.seconds,
                "findings": findings, "same": event.same,
            })  # fmt: skip

    device = Device(SCHEDULES, program.kernels, report)
    loaded = device.load(runtime, library)
    if program.case is None:
        words = [program.name, *program.options]
        sys.exit(loaded.main(len(words), (ctypes.c_char_p * (len(words) + 1))(*map(str.encode, words), None)))
    case = program.case()
    addresses = [device.upload(array) for array in case.arrays]
    status = loaded.run((ctypes.c_uint64 * len(addresses))(*addresses), *case.numbers)
    results = {number: device.download(addresses[number], case.arrays[number]) for number in case.expected}
    if problem := case.problem(results):
        write({"problem": problem})
    sys.exit(status)
