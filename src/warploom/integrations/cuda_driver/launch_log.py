"""Execution of launches with the options of `warploom exec`, and the output about them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any

from warploom.diagnostics import Diagnostic, Severity, WarploomError
from warploom.emulator.faults import Deadlock, Trap
from warploom.emulator.grid_dependencies import Overlap, Steps
from warploom.runtime.run import Run

if TYPE_CHECKING:
    from warploom.gpu.geometry import Geometry
    from warploom.observe.sanitize.launch_accesses import LaunchAccesses
    from warploom.runtime.sessions.device_memory import DeviceMemory
    from warploom.runtime.sessions.launch_races import LaunchRaces
    from warploom.runtime.sessions.modules import SessionKernel

_REPORTED_EVENTS = 20_000
_UNSAFE = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 60


def short_name(name: str) -> str:
    """Return the name of a kernel as a part of a file name."""
    return _UNSAFE.sub("_", name)[:_LONGEST_NAME]


@dataclass(frozen=True)
class LaunchOptions:
    """Options that apply to the launches of kernels whose demangled names contain a match of `kernel`.

    `report` is the folder of the reports, or None.
    """

    arch: str
    check: bool = False
    sanitize: bool = False
    schedule: str = "eager"
    kernel: re.Pattern[str] | None = None
    report: Path | None = None

    def applies_to(self, name: str) -> bool:
        """Return True if the options apply to a kernel with a demangled name."""
        return self.kernel is None or self.kernel.search(name) is not None


@dataclass
class KernelRecord:
    """Launches of one kernel. Units: `seconds` of elapsed time, `instructions` in warp instructions."""

    launches: int = 0
    instructions: int = 0
    seconds: float = 0.0
    findings: int = 0


@dataclass
class LaunchLog:
    """Record of all launches.

    `say` prints a sentence, `show` prints diagnostics, and `write_report` writes the page of a run to a file.
    """

    options: LaunchOptions
    say: Callable[[str], None]
    show: Callable[[tuple[Diagnostic, ...]], None]
    write_report: Callable[[Run, Path], None]
    kernels: dict[str, KernelRecord] = field(default_factory=dict[str, KernelRecord])
    findings: int = 0
    _modules: int = 0
    _launches: int = 0
    _lock: Any = field(default_factory=Lock)

    def error(self, error: WarploomError) -> None:
        """Show an error that makes a call fail, and count it as a finding."""
        self.findings += 1
        self.show(error.diagnostics)

    def module_name(self) -> str:
        """Return a name for the PTX text of a new module, for messages."""
        with self._lock:
            self._modules += 1
            return f"module{self._modules}.ptx"

    def loaded(self, text: str, name: str) -> None:
        """Check a new module if the options ask for it."""
        if self.options.check:
            from warploom.check import check
            from warploom.ptx import parse

            self.found(tuple(check(parse(text, name))))

    def races(self, memory: DeviceMemory) -> LaunchRaces | None:
        """Return the comparison of launches on a device memory, or None without the sanitizer."""
        if not (self.options.sanitize or self.options.report is not None):
            return None
        from warploom.runtime.sessions.launch_races import LaunchRaces

        return LaunchRaces(memory)

    def is_observed(self, kernel: SessionKernel) -> bool:
        """Return True if the options apply to a kernel."""
        return self.options.applies_to(kernel.loaded.signature.entry.readable_name)

    def schedule_of(self, kernel: SessionKernel) -> str:
        """Return the schedule of the launches of a kernel."""
        return self.options.schedule if self.is_observed(kernel) else "eager"

    def start(
        self, kernel: SessionKernel, geometry: Geometry, parameters: bytes, output: Callable[[str], object],
        overlap: Overlap | None, accesses: LaunchAccesses | None,
    ) -> Steps[None]:  # fmt: skip
        """Run a kernel, and record the launch. Pause if it overlaps with others.

        `output` is called with the text that the kernel printed, if any. `accesses` records the accesses to global
        memory.

        Errors: Unsupported and UsageError launch.* before the run; Trap and Deadlock during the run.
        """
        options, name = self.options, kernel.loaded.signature.entry.readable_name
        applies = self.is_observed(kernel)
        observers: dict[str, Any] = {}
        if applies and options.report is not None:
            observers = {"sanitize": True, "trace": True, "trace_events": _REPORTED_EVENTS, "profile": True}
        elif applies and options.sanitize:
            observers = {"sanitize": True}
        record = self.kernels.setdefault(name, KernelRecord())
        began = perf_counter()
        failure: Trap | Deadlock | None = None
        try:
            run = yield from kernel.start(
                geometry, parameters, arch=options.arch, schedule=self.schedule_of(kernel), overlap=overlap,
                output=output, accesses=accesses, **observers,
            )  # fmt: skip
        except (Trap, Deadlock) as error:
            failure, run = error, Run.before(error)
        with self._lock:
            self._launches += 1
            number = self._launches
            record.launches += 1
            record.instructions += sum(run.stats.instructions.values())
            record.seconds += perf_counter() - began
            record.findings += len(run.findings)
        if applies and options.report is not None:
            self.write_report(run, options.report / f"{number:04}-{short_name(name)}.html")
        if failure is not None:
            raise failure
        self.found(run.findings)

    def found(self, findings: tuple[Diagnostic, ...]) -> None:
        """Show findings, and count those that are errors."""
        if findings:
            self.findings += sum(each.severity is Severity.ERROR for each in findings)
            self.show(findings)
