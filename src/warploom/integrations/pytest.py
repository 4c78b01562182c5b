"""pytest plugin whose fixtures run kernels on the emulator and on a GPU.

The module has no assertions to rewrite: PYTEST_DONT_REWRITE.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from warploom.integrations.triton import LaunchRecord
    from warploom.ptx import Module
    from warploom.runtime.api import Run

__all__ = ["Backend"]

_SCHEDULES = "eager,lazy"
# pytest imports this module at every start, so functions import the rest of Warploom.
_MARKER = "warploom"
_OPTIONS = ("arch", "schedules", "sanitize", "cuda")
_ONLY_EMULATOR = ("arch", "workers", "step_budget", "progress")  # options of `launch` without an effect on a GPU


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add Warploom's command-line options to pytest."""
    group = parser.getgroup("warploom", "kernels on Warploom's emulator")
    group.addoption(
        "--warploom-arch", metavar="ARCH", help="architecture of the emulator (default: the kernel's target)"
    )
    group.addoption(
        "--warploom-schedules",
        metavar="LIST",
        default=_SCHEDULES,
        help=f"schedules of the emulator, such as eager,lazy,random:7 (default: {_SCHEDULES})",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker `warploom`."""
    config.addinivalue_line(
        "markers",
        "warploom(arch=None, schedules=None, sanitize=True, cuda=True): backends of the test, instead of those of the "
        "command line",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize each test that uses these fixtures, with one run for each backend."""
    if "warploom_backend" not in metafunc.fixturenames:
        return
    marked = _marker_options(metafunc.definition)
    schedules: Sequence[str] = marked.get("schedules") or [
        word.strip() for word in str(metafunc.config.getoption("--warploom-schedules")).split(",")
    ]
    arch = marked.get("arch") or metafunc.config.getoption("--warploom-arch")
    backends = [Backend("cpu", schedule, arch, marked.get("sanitize", True)) for schedule in schedules]
    if marked.get("cuda", True) and "warploom_triton" not in metafunc.fixturenames:
        backends.append(Backend("cuda"))
    metafunc.parametrize("warploom_backend", backends, ids=str, indirect=True)


def _marker_options(item: Any) -> dict[str, Any]:
    marker = item.get_closest_marker(_MARKER)
    if marker is None:
        return {}
    unknown = [name for name in marker.kwargs if name not in _OPTIONS]
    if unknown or marker.args:
        raise pytest.UsageError(
            f"{item.nodeid}: the marker warploom has no {unknown[0] if unknown else 'positional arguments'}; "
            f"expected {', '.join(_OPTIONS)} by name"
        )
    return dict(marker.kwargs)


@dataclass(frozen=True, slots=True)
class Backend:
    """Backend of a test: the emulator with a schedule, or the GPU."""

    device: Literal["cpu", "cuda"]
    schedule: str = "eager"
    arch: str | None = None
    sanitize: bool = True

    def __str__(self) -> str:
        return f"cpu-{self.schedule}" if self.device == "cpu" else self.device

    def launch(self, ptx: str | Path | Module, kernel: str | None = None, **options: Any) -> Run:
        """Call `warploom.launch` on this backend with these options. Return its Run.

        A finding of the sanitizer fails the test. If the GPU cannot run the kernel, the test is skipped.
        """
        from warploom.diagnostics import UsageError, render
        from warploom.runtime.api import launch

        for name in ("device", "schedule"):
            if name in options:
                message = f"warploom_launch has no option {name}, because the test selects the backend {self}"
                raise UsageError(message, code="pytest.launch")
        if self.device == "cuda":
            _skip_unsupported(ptx)
            shared = {name: value for name, value in options.items() if name not in _ONLY_EMULATOR}
            return launch(ptx, kernel, device="cuda", **shared)
        defaults: dict[str, Any] = {"arch": self.arch, "sanitize": self.sanitize}
        run = launch(ptx, kernel, schedule=self.schedule, **defaults | options)
        if run.findings:
            pytest.fail(f"on {self}:\n{render(run.findings)}", pytrace=False)
        return run


@cache
def _gpu() -> tuple[str, str]:
    """Return the GPU's target and "", or "" and the reason why no GPU is usable."""
    from warploom.diagnostics import UsageError
    from warploom.gpu import Gpu

    try:
        with Gpu() as gpu:
            return gpu.arch, ""
    except UsageError as error:
        return "", str(error)


def _skip_unsupported(ptx: str | Path | Module) -> None:
    from warploom.isa.model.availability import read_target
    from warploom.ptx import Module, read

    module = ptx if isinstance(ptx, Module) else read(ptx)
    target = next(iter(module.target), "")
    available, needed = read_target(_gpu()[0]), read_target(target)
    if available is not None and needed is not None and not available.has(needed):
        pytest.skip(f"the GPU is {_gpu()[0]}, the kernel is for {target}")


@pytest.fixture
def warploom_backend(request: pytest.FixtureRequest) -> Backend:
    """Return the backend of this test: the emulator with a schedule, or the GPU."""
    backend: Backend = request.param
    if backend.device == "cuda" and not _gpu()[0]:
        pytest.skip(f"no GPU: {_gpu()[1]}")
    return backend


@pytest.fixture
def warploom_launch(warploom_backend: Backend) -> Any:
    """Return a function like `warploom.launch` for the backend of this test. A finding fails the test."""
    return warploom_backend.launch


@pytest.fixture
def warploom_triton(warploom_backend: Backend) -> Generator[list[LaunchRecord]]:
    """Run the Triton kernels of this test on the emulator, and yield the list of their launches.

    A finding fails the test.
    """
    from warploom.integrations import triton

    arch: dict[str, Any] = {} if warploom_backend.arch is None else {"arch": warploom_backend.arch}
    sanitize = warploom_backend.sanitize
    with triton.emulate(
        schedule=warploom_backend.schedule, sanitize=sanitize, check=sanitize, strict=sanitize, **arch
    ) as launches:
        yield launches
