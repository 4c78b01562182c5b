"""Result of a launch."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from warploom.diagnostics import Diagnostic, Severity, UsageError
from warploom.display import Displayed
from warploom.emulator.stats import Stats
from warploom.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from warploom.emulator.faults import Deadlock, Trap
    from warploom.observe.profile import Profile
    from warploom.observe.trace import Trace
    from warploom.runtime.distribution import Distribution


class Explained(Protocol):
    """Explanation of an element of a result, as `runtime.replay.Why` has it."""

    @property
    def cause(self) -> str:
        """Cause of a wrong result in one sentence, or ""."""
        ...

    def text(self) -> str:
        """Return the explanation as text."""
        ...

    def data(self) -> dict[str, object]:
        """Return the explanation as data for JSON."""
        ...


class Repeatable(Protocol):
    """Launch that can run again to explain an element of its result."""

    def why(
        self, array: Any, index: int | tuple[int, ...], expect: object = None, schedule: str | None = None
    ) -> Explained:  # fmt: skip
        """Explain an element, as `Run.why` does."""
        ...


@dataclass(frozen=True, slots=True)
class Run(Displayed):
    """Result of a launch.

    `findings` come from the sanitizer or, for a launch on a GPU, from the assembler. `stats` counts what the emulator
    executed. `trace` and `profile` are set if the launch requested them. `output` is the text that the kernel printed,
    ordered by CTA; it is empty for a launch on a GPU, which prints to standard output. `distribution` states the work
    of each worker of a Dask cluster. `error` is the trap or deadlock that ended the run, if the launch was not to raise
    it. `replay` can run the launch again.
    """

    display_kind: ClassVar[str] = "run"

    findings: tuple[Diagnostic, ...] = ()
    stats: Stats = field(default_factory=Stats)
    trace: Trace | None = None
    profile: Profile | None = None
    distribution: Distribution | None = None
    output: str = ""
    error: Trap | Deadlock | None = None
    replay: Repeatable | None = field(default=None, repr=False, compare=False)

    @classmethod
    def before(cls, error: Trap | Deadlock) -> Run:
        """Return the part of a run before the trap or deadlock that ended it."""
        findings = error.findings or error.diagnostics
        return cls(findings, error.stats, error.trace, error.profile, output=error.output, error=error)

    def why(
        self, array: Any, index: int | tuple[int, ...], expect: object = None, schedule: str | None = None
    ) -> Explained:  # fmt: skip
        """Explain an element of an array after the launch: its sources, the first wrong step, and the cause.

        `array` is an argument of the launch or the name of its parameter. `expect` states the expected contents: values
        that broadcast to the array, or a mapping with the `reference` of a launch file ("matmul" by default), its
        operands, such as `a` and `b`, as arrays, and its options. `schedule` replaces that of the launch. The launch
        runs again twice with its inputs; the arrays are not changed.

        Errors: UsageError run.replay if the inputs were not kept, why.array, why.index, why.expect.
        """
        if self.replay is None:
            raise UsageError(
                "this run cannot be repeated: its inputs were not kept", code="run.replay",
                hint="pass keep=True to wl.launch; launches on the emulator that end without an error can be repeated",
            )  # fmt: skip
        return self.replay.why(array, index, expect, schedule)

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
