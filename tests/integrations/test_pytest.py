"""The pytest plugin: what its fixtures make of a kernel with a fault, and of one without."""

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

# The same answers everywhere: what a GPU does is not asked here.
CONFTEST = """
import warploom.integrations.pytest

warploom.integrations.pytest._gpu = lambda: ("", "none is asked")
"""

# After the code of the page, which has the kernel REVERSE and tests that pass.
MORE = """
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

MACHINES = """
def test_machine(warploom_machine):
    assert (warploom_machine.device, warploom_machine.arch) == ("cpu", "sm_89")
"""

MISMARKED = """
import pytest


@pytest.mark.warploom(schedule="lazy")
def test_mismarked(warploom_launch):
    pass
"""


def blocks(page: str) -> list[str]:
    """The Python of a page."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def run(folder: Path, text: str, *options: str) -> str:
    """What pytest says of a file of tests."""
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "test_it.py").write_text(text, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        *PLUGIN,
        "-v",
        "-rs",
        "--strict-markers",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        [*command, *options], cwd=folder, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    return done.stdout + done.stderr


def outcomes(said: str) -> dict[str, str]:
    return dict(re.findall(r"^test_it\.py::(\S+) (PASSED|FAILED|SKIPPED|ERROR)", said, re.MULTILINE))


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What pytest says of the page's own tests, the one of Triton where Triton is, and of some with faults."""
    reverse, double, marked = blocks("pytest.md")
    page = [reverse, double, marked] if find_spec("triton") else [reverse, marked]
    return run(tmp_path_factory.mktemp("plain"), "\n\n".join([*page, MORE]), "-W", "ignore::UserWarning")


def test_a_kernel_runs_under_each_schedule_and_is_skipped_without_a_gpu(said: str) -> None:
    found = outcomes(said)
    asked = [found[f"test_reverse[{machine}]"] for machine in ("cpu-eager", "cpu-lazy", "cuda")]
    assert asked == ["PASSED", "PASSED", "SKIPPED"]
    assert "no GPU: none is asked" in said


def test_a_finding_fails_the_test_as_the_page_shows(said: str) -> None:
    found = outcomes(said)
    assert found["test_racy[cpu-eager]"] == found["test_racy[cpu-lazy]"] == "FAILED"
    told = re.findall(r"^on cpu-eager:\n.*\n.*\n.*\n.*$", said, re.MULTILINE)[0].splitlines()
    page = (DOCS / "pytest.md").read_text(encoding="utf-8")
    assert told[1].partition(", CTA")[0] in page
    assert all(line in page for line in told[2:])


def test_triton_s_kernels_run_under_each_schedule_and_on_no_gpu(said: str) -> None:
    pytest.importorskip("triton")
    found = {name: outcome for name, outcome in outcomes(said).items() if name.startswith("test_double")}
    assert found == {"test_double[cpu-eager]": "PASSED", "test_double[cpu-lazy]": "PASSED"}


def test_a_marker_says_what_the_machines_are(said: str) -> None:
    found = {
        name: outcome for name, outcome in outcomes(said).items() if "random" in name or "marked" in name
    }
    assert found == dict.fromkeys(
        [
            "test_reverse_at_random[cpu-eager]",
            "test_reverse_at_random[cpu-random:1]",
            "test_reverse_at_random[cpu-random:2]",
            "test_marked[cpu-random:1]",  # nobody looks for its race
        ],
        "PASSED",
    )


def test_the_fixture_s_own_options_are_refused(said: str) -> None:
    assert outcomes(said)["test_fixed[cpu-eager]"] == "FAILED"
    assert "schedule was given to warploom_launch, which has its own: cpu-eager" in said


def test_the_options_choose_schedules_and_architecture(tmp_path: Path) -> None:
    said = run(tmp_path, MACHINES, "--warploom-schedules=lazy, random:3", "--warploom-arch=sm_89")
    assert outcomes(said) == {
        "test_machine[cpu-lazy]": "PASSED",
        "test_machine[cpu-random:3]": "PASSED",
        "test_machine[cuda]": "SKIPPED",
    }


def test_a_marker_with_an_unknown_word_is_said(tmp_path: Path) -> None:
    said = run(tmp_path, MISMARKED)
    assert "the marker warploom has no schedule; expected arch, schedules, sanitize, cuda by name" in said
    assert "Traceback" not in said


def test_on_a_gpu_the_launch_is_the_gpu_s_or_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(api, "launch", lambda ptx, kernel=None, **options: asked.append(options))
    monkeypatch.setattr(plugin, "_gpu", lambda: ("sm_89", ""))
    head = ".version 8.0\n.target {}\n.address_size 64\n"
    plugin.Machine("cuda").launch(head.format("sm_80"), grid=1, block=32, args=[])
    assert asked == [{"device": "cuda", "grid": 1, "block": 32, "args": []}]
    with pytest.raises(pytest.skip.Exception, match="the GPU is sm_89, the kernel is for sm_90a"):
        plugin.Machine("cuda").launch(head.format("sm_90a"), grid=1, block=32, args=[])


def test_loading_the_plugin_is_light() -> None:
    program = (
        "import sys, pytest; before = set(sys.modules); import warploom.integrations.pytest; "
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert set(done.stdout.split()) == {"warploom"}
