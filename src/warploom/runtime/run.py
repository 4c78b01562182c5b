"""Result of a launch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from warploom.diagnostics import Diagnostic, Severity
from warploom.display import Displayed
from warploom.emulator.stats import Stats

if TYPE_CHECKING:
    from warploom.observe.profile import Profile
    from warploom.observe.trace import Trace
    from warploom.runtime.distribution import Distribution


@dataclass(frozen=True, slots=True)
class Run(Displayed):
    """Result of a launch.

    `findings` come from the sanitizer or, for a launch on a GPU, from the assembler. `stats` counts what the emulator
    executed. `trace` and `profile` are set if the launch requested them. `output` is always empty, because kernels that
    call printf are refused. `distribution` states the work of each worker of a Dask cluster.
    """

    display_kind: ClassVar[str] = "run"

    findings: tuple[Diagnostic, ...] = ()
    stats: Stats = field(default_factory=Stats)
    trace: Trace | None = None
    profile: Profile | None = None
    distribution: Distribution | None = None
    output: str = ""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Findings that are errors."""
        return tuple(found for found in self.findings if found.severity is Severity.ERROR)
