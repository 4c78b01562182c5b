"""pytest plugin: fixtures that run kernels on the abstract machine and the GPU, and fail on findings.

pytest loads this file at each start, so that nothing of Warploom's is imported before a test asks for it.
It asserts nothing: PYTEST_DONT_REWRITE.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from warploom.integrations.triton import Launched
    from warploom.ptx import Module
    from warploom.runtime.api import Run

__all__ = ["Machine"]

_SCHEDULES = "eager,lazy"
_MARKER = "warploom"
_KNOWN = ("arch", "schedules", "sanitize", "cuda")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("warploom", "kernels on Warploom's machines")
    group.addoption(
        "--warploom-arch", metavar="ARCH", help="architecture of the abstract machine (default: the kernel's)"
    )
    group.addoption(
        "--warploom-schedules",
        metavar="LIST",
        default=_SCHEDULES,
        help=f"schedules of the abstract machine, such as eager,lazy,random:7 (default: {_SCHEDULES})",
    )


def pytest_configure(config: pytest.Config) -> None:
    """The marker."""
    config.addinivalue_line(
        "markers",
        "warploom(arch=None, schedules=None, sanitize=True, cuda=True): what the machines of a test are, where that "
        "is not what the command line says",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each schedule of the abstract machine, and one for the GPU."""
    if "warploom_machine" not in metafunc.fixturenames:
        return
    asked = _asked(metafunc.definition)
    schedules: Sequence[str] = asked.get("schedules") or [
        word.strip() for word in str(metafunc.config.getoption("--warploom-schedules")).split(",")
    ]
    arch = asked.get("arch") or metafunc.config.getoption("--warploom-arch")
    machines = [Machine("cpu", schedule, arch, asked.get("sanitize", True)) for schedule in schedules]
    if asked.get("cuda", True) and "warploom_triton" not in metafunc.fixturenames:
        machines.append(Machine("cuda"))
    metafunc.parametrize("warploom_machine", machines, ids=str, indirect=True)


def _asked(item: Any) -> dict[str, Any]:
    marker = item.get_closest_marker(_MARKER)
    if marker is None:
        return {}
    unknown = [name for name in marker.kwargs if name not in _KNOWN]
    if unknown or marker.args:
        raise pytest.UsageError(
            f"{item.nodeid}: the marker warploom has no {unknown[0] if unknown else 'positional arguments'}; "
            f"expected {', '.join(_KNOWN)} by name"
        )
    return dict(marker.kwargs)


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a test runs its kernels: the abstract machine under a schedule, or the GPU."""

    device: Literal["cpu", "cuda"]
    schedule: str = "eager"
    arch: str | None = None
    sanitize: bool = True

    def __str__(self) -> str:
        return f"cpu-{self.schedule}" if self.device == "cpu" else self.device

    def launch(self, ptx: str | Path | Module, kernel: str | None = None, **options: Any) -> Run:
        """`warploom.runtime` on this machine; a finding of the sanitizer fails the test, and a GPU that cannot run
        the kernel skips it.
        """
        from warploom.diagnostics import UsageError, render
        from warploom.runtime.api import launch

        fixed = [name for name in ("device", "schedule") if name in options]
        if fixed:
            raise UsageError(
                f"{fixed[0]} was given to warploom_launch, which has its own: {self}", code="pytest.launch"
            )
        if self.device == "cuda":
            _skip_where_unable(ptx)
            return launch(ptx, kernel, device="cuda", **options)
        own: dict[str, Any] = {"arch": self.arch, "sanitize": self.sanitize}
        run = launch(ptx, kernel, schedule=self.schedule, **own | options)
        if run.findings:
            pytest.fail(f"on {self}:\n{render(run.findings)}", pytrace=False)
        return run


@cache
def _gpu() -> tuple[str, str]:
    """The target of the GPU that is here, and why there is none."""
    from warploom.diagnostics import UsageError
    from warploom.gpu import Gpu

    try:
        with Gpu() as gpu:
            return gpu.arch, ""
    except UsageError as error:
        return "", str(error)


def _skip_where_unable(ptx: str | Path | Module) -> None:
    from warploom.isa.model.availability import read_target
    from warploom.ptx import Module, read

    module = ptx if isinstance(ptx, Module) else read(ptx)
    named = next(iter(module.target), "")
    here, needed = read_target(_gpu()[0]), read_target(named)
    if here is not None and needed is not None and not here.has(needed):
        pytest.skip(f"the GPU is {_gpu()[0]}, the kernel is for {named}")


@pytest.fixture
def warploom_machine(request: pytest.FixtureRequest) -> Machine:
    """The machine of this test: every schedule of the abstract one in turn, and the GPU where there is one."""
    machine: Machine = request.param
    if machine.device == "cuda" and not _gpu()[0]:
        pytest.skip(f"no GPU: {_gpu()[1]}")
    return machine


@pytest.fixture
def warploom_launch(warploom_machine: Machine) -> Any:
    """`warploom.runtime` on the machine of this test, which fails on findings."""
    return warploom_machine.launch


@pytest.fixture
def warploom_triton(warploom_machine: Machine) -> Generator[list[Launched]]:
    """Triton kernels run on the abstract machine; findings fail the test. Gives the launches, as they come."""
    from warploom.integrations import triton

    where: dict[str, Any] = {} if warploom_machine.arch is None else {"arch": warploom_machine.arch}
    watched = warploom_machine.sanitize
    with triton.machine(
        schedule=warploom_machine.schedule, sanitize=watched, check=watched, strict=watched, **where
    ) as runs:
        yield runs
