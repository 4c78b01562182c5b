"""Result of a launch."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, ClassVar

from warploom.diagnostics import Diagnostic, Severity
from warploom.display import Displayed
from warploom.emulator.stats import Stats
from warploom.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from warploom.emulator.faults import Deadlock, Trap
    from warploom.observe.profile import Profile
    from warploom.observe.trace import Trace
    from warploom.runtime.distribution import Distribution


@dataclass(frozen=True, slots=True)
class Run(Displayed):
    """Result of a launch.

    `findings` come from the sanitizer or, for a launch on a GPU, from the assembler. `stats` counts what the emulator
    executed. `trace` and `profile` are set if the launch requested them. `output` is the text that the kernel printed,
    ordered by CTA; it is empty for a launch on a GPU, which prints to standard output. `distribution` states the work
    of each worker of a Dask cluster. `error` is the trap or deadlock that ended the run, if the launch was not to raise
    it.
    """

    display_kind: ClassVar[str] = "run"

    findings: tuple[Diagnostic, ...] = ()
    stats: Stats = field(default_factory=Stats)
    trace: Trace | None = None
    profile: Profile | None = None
    distribution: Distribution | None = None
    output: str = ""
    error: Trap | Deadlock | None = None

    @classmethod
    def before(cls, error: Trap | Deadlock) -> Run:
        """Return the part of a run before the trap or deadlock that ended it."""
        findings = error.findings or error.diagnostics
        return cls(findings, error.stats, error.trace, error.profile, output=error.output, error=error)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Findings that are errors."""
        return tuple(found for found in self.findings if found.severity is Severity.ERROR)


class PendingRun:
    """Result of a launch that may not have ended. `run` is None until then."""

    def __init__(self) -> None:
        self.run: Run | None = None

    def add_findings(self, found: tuple[Diagnostic, ...]) -> None:
        """Add findings to the result of a launch that has ended."""
        assert self.run is not None
        self.run = replace(self.run, findings=(*self.run.findings, *found))
