"""The pytest plugin: outcomes of its fixtures for kernels with and without faults."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from warploom.integrations import pytest as plugin
from warploom.runtime import api

DOCS = Path(__file__).resolve().parents[2] / "docs"
PLUGIN = [] if entry_points(group="pytest11", name="warploom") else ["-p", "warploom.integrations.pytest"]

# No GPU, so that the outcomes are the same on every host.
CONFTEST = """
import warploom.integrations.pytest

warploom.integrations.pytest._gpu = lambda: ("", "none is used")
"""

# Appended to the code of the page, which has the kernel REVERSE and tests that pass.
FURTHER_TESTS = """
RACY = REVERSE.replace("    bar.sync 0;\\n", "")


def test_racy(warploom_launch):
    warploom_launch(RACY, grid=1, block=64, args=[np.zeros(64, np.int32)])


@pytest.mark.warploom(schedules=["random:1"], sanitize=False, cuda=False)
def test_marked(warploom_launch):
    warploom_launch(RACY, grid=1, block=64, args=[np.zeros(64, np.int32)])


@pytest.mark.warploom(schedules=["eager"], cuda=False)
def test_fixed(warploom_launch):
    warploom_launch(REVERSE, grid=1, block=64, args=[np.zeros(64, np.int32)], schedule="lazy")
"""

BACKENDS = """
def test_backend(warploom_backend):
    assert (warploom_backend.device, warploom_backend.arch) == ("cpu", "sm_89")
"""

MISMARKED = """
import pytest


@pytest.mark.warploom(schedule="lazy")
def test_mismarked(warploom_launch):
    pass
"""


def blocks(page: str) -> list[str]:
    """Return the Python blocks of a page."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def run(folder: Path, text: str, *options: str) -> str:
    """Return the output of pytest for a file of tests."""
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "test_it.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", *PLUGIN, "-v", "-rs", "--strict-markers", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *options], cwd=folder, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    return done.stdout + done.stderr


def outcomes(output: str) -> dict[str, str]:
    return dict(re.findall(r"^test_it\.py::(\S+) (PASSED|FAILED|SKIPPED|ERROR)", output, re.MULTILINE))


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the output of pytest for the tests of the page, and for tests with faults."""
    reverse, double, marked = blocks("pytest.md")
    page = [reverse, double, marked] if find_spec("triton") else [reverse, marked]
    return run(tmp_path_factory.mktemp("plain"), "\n\n".join([*page, FURTHER_TESTS]), "-W", "ignore::UserWarning")


def test_a_kernel_runs_under_each_schedule_and_is_skipped_without_a_gpu(output: str) -> None:
    found = outcomes(output)
    expected = [found[f"test_reverse[{backend}]"] for backend in ("cpu-eager", "cpu-lazy", "cuda")]
    assert expected == ["PASSED", "PASSED", "SKIPPED"]
    assert "no GPU: none is used" in output


def test_a_finding_fails_the_test_with_the_output_of_the_page(output: str) -> None:
    found = outcomes(output)
    assert found["test_racy[cpu-eager]"] == found["test_racy[cpu-lazy]"] == "FAILED"
    lines = re.findall(r"^on cpu-eager:\n.*\n.*\n.*\n.*$", output, re.MULTILINE)[0].splitlines()
    page = (DOCS / "pytest.md").read_text(encoding="utf-8")
    assert lines[1].partition(", CTA")[0] in page
    assert all(line in page for line in lines[2:])


def test_triton_kernels_run_under_each_schedule_and_not_on_a_gpu(output: str) -> None:
    pytest.importorskip("triton")
    found = {name: outcome for name, outcome in outcomes(output).items() if name.startswith("test_double")}
    assert found == {"test_double[cpu-eager]": "PASSED", "test_double[cpu-lazy]": "PASSED"}


def test_a_marker_selects_the_backends(output: str) -> None:
    found = {name: outcome for name, outcome in outcomes(output).items() if "random" in name or "marked" in name}
    assert found == dict.fromkeys(
        [
            "test_reverse_at_random[cpu-eager]",
            "test_reverse_at_random[cpu-random:1]",
            "test_reverse_at_random[cpu-random:2]",
            "test_marked[cpu-random:1]",  # without the sanitizer, which would find the race
        ],
        "PASSED",
    )


def test_options_of_the_backend_are_refused(output: str) -> None:
    assert outcomes(output)["test_fixed[cpu-eager]"] == "FAILED"
    assert "warploom_launch has no option schedule, because the test selects the backend cpu-eager" in output


def test_options_select_schedules_and_architecture(tmp_path: Path) -> None:
    output = run(tmp_path, BACKENDS, "--warploom-schedules=lazy, random:3", "--warploom-arch=sm_89")
    assert outcomes(output) == {
        "test_backend[cpu-lazy]": "PASSED",
        "test_backend[cpu-random:3]": "PASSED",
        "test_backend[cuda]": "SKIPPED",
    }


def test_a_marker_with_an_unknown_option_is_refused(tmp_path: Path) -> None:
    output = run(tmp_path, MISMARKED)
    assert "the marker warploom has no schedule; expected arch, schedules, sanitize, cuda by name" in output
    assert "Traceback" not in output


def test_a_launch_on_a_gpu_is_skipped_if_the_gpu_cannot_run_it(monkeypatch: pytest.MonkeyPatch) -> None:
    launches: list[dict[str, Any]] = []
    monkeypatch.setattr(api, "launch", lambda ptx, kernel=None, **options: launches.append(options))
    monkeypatch.setattr(plugin, "_gpu", lambda: ("sm_89", ""))
    head = ".version 8.0\n.target {}\n.address_size 64\n"
    plugin.Backend("cuda").launch(head.format("sm_80"), grid=1, block=32, args=[], arch="sm_80", workers=2)
    assert launches == [{"device": "cuda", "grid": 1, "block": 32, "args": []}]
    with pytest.raises(pytest.skip.Exception, match="the GPU is sm_89, the kernel is for sm_90a"):
        plugin.Backend("cuda").launch(head.format("sm_90a"), grid=1, block=32, args=[])


def test_the_plugin_imports_little() -> None:
    program = (
        "import sys, pytest; before = set(sys.modules); import warploom.integrations.pytest; "
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert set(done.stdout.split()) == {"warploom"}
