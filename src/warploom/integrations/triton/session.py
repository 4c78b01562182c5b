"""Import of Triton, and the options and launches of its kernels on the emulator."""

# A caller may pass anything, whatever the annotation says.
# pyright: reportUnnecessaryIsInstance=false

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType

from warploom.diagnostics import Diagnostic, UsageError, WarploomError, render
from warploom.emulator.schedule import Schedule
from warploom.isa.model.capacity import SHARED_KIB
from warploom.observe.trace import Trace
from warploom.runtime.api import Stats
from warploom.runtime.distribution import check_workers

_ARCH = re.compile(r"(?:sm_?)?(\d+)[af]?")
_OLDEST = (3, 4)
_OLDEST_ARCH = 75  # of those that Triton compiles for


def import_triton(submodule: str = "") -> ModuleType:
    """Import Triton, or its module `triton.submodule`.

    Errors: UsageError triton.packages.
    """
    try:
        package = import_module("triton")
    except ImportError as error:
        is_missing = isinstance(error, ModuleNotFoundError) and error.name == "triton"
        raise UsageError(
            "Triton is not installed" if is_missing else f"Triton is installed but cannot be imported: {error}",
            code="triton.packages",
            hint="pip install 'warploom[triton]'",
        ) from None
    if tuple(map(int, package.__version__.split(".")[:2])) < _OLDEST:
        raise UsageError(
            f"Triton {package.__version__} is installed; expected {'.'.join(map(str, _OLDEST))} or newer",
            code="triton.packages",
            hint="pip install --upgrade 'warploom[triton]'",
        )
    return import_module(f"triton.{submodule}") if submodule else package


class FindingsError(WarploomError):
    """Error with the findings of a strict launch."""

    def __str__(self) -> str:
        return render(self.diagnostics)


class FindingsWarning(UserWarning):
    """Warning about findings that a `with emulate()` block leaves behind."""


@dataclass(frozen=True, slots=True)
class LaunchRecord:
    """Record of one launch of a Triton kernel.

    `findings` has the diagnostics of the checker and then the findings of the sanitizer.

    Units: `grid` and `cluster` in CTAs, `block` in threads, `shared` in bytes.
    """

    name: str
    grid: tuple[int, int, int]
    block: int
    cluster: int
    shared: int
    schedule: str
    ptx: str = field(repr=False)
    findings: tuple[Diagnostic, ...] = ()
    stats: Stats = field(default_factory=Stats, repr=False)
    trace: Trace | None = field(default=None, repr=False)

    def report(self) -> str:
        """Return the findings as text with their source lines, or an empty text."""
        return render(self.findings)


@dataclass(frozen=True, slots=True)
class Session:
    """Options of `emulate`, and the records of its launches. `arch` is a number such as 90.

    `faulty` has the launches that ended normally with findings.

    Errors: UsageError triton.strict, launch.schedule, launch.workers.
    """

    arch: int
    schedule: str
    sanitize: bool
    raises: bool
    check: bool
    strict: bool
    trace: bool | Sequence[int]
    workers: int
    launches: list[LaunchRecord] = field(default_factory=list[LaunchRecord])
    faulty: list[LaunchRecord] = field(default_factory=list[LaunchRecord])

    def summary(self) -> str:
        """Return a sentence about the findings that were not raised, or an empty text if there are none."""
        if not self.faulty:
            return ""
        record, count = self.faulty[0], sum(len(each.findings) for each in self.faulty)
        number, found = self.launches.index(record), record.findings[0]
        return (
            f"the emulated Triton kernels have {count} finding{'' if count == 1 else 's'}; the first is [{found.code}] "
            f"{found}; print(launches[{number}].report()) shows all findings of this launch of {record.name}"
        )

    def __post_init__(self) -> None:
        Schedule.parse(self.schedule)
        check_workers(self.workers)
        if self.strict and not (self.sanitize or self.check):
            raise UsageError(
                "strict raises findings of check and sanitize; expected one of the two", code="triton.strict"
            )


def read_arch(arch: int | str) -> int:
    """Return the number of an architecture, such as 90 for "sm_90a".

    Errors: UsageError triton.arch.
    """
    known = [number for number in SHARED_KIB if number >= _OLDEST_ARCH]
    found = _ARCH.fullmatch(str(arch))
    if isinstance(arch, bool) or found is None or int(found[1]) not in known:
        raise UsageError(
            f"arch is {arch!r}; expected {', '.join(map(str, known))}, as a number or as sm_90", code="triton.arch"
        )
    return int(found[1])
