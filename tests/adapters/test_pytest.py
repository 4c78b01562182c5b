"""The pytest plugin: what its fixtures make of a kernel with a fault, and of one without."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

PLUGIN = [] if entry_points(group="pytest11", name="warploom") else ["-p", "warploom.adapters.pytest"]

# The same answers everywhere: what a GPU does is not asked here.
CONFTEST = """
import warploom.adapters.pytest

warploom.adapters.pytest._gpu = lambda: ("", "none is asked")
"""

TESTS = '''
import numpy as np
import pytest

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry swap(.param .u64 out)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 s[256];
    mov.u32 %r0, %tid.x;
    shl.b32 %r1, %r0, 2;
    mov.u32 %r2, s;
    add.u32 %r3, %r2, %r1;
    st.shared.u32 [%r3], %r0;
    bar.sync 0;
    xor.b32 %r4, %r1, 128;
    add.u32 %r3, %r2, %r4;
    ld.shared.u32 %r5, [%r3];
    ld.param.u64 %rd0, [out];
    cvta.to.global.u64 %rd0, %rd0;
    cvt.u64.u32 %rd1, %r1;
    add.u64 %rd2, %rd0, %rd1;
    st.global.u32 [%rd2], %r5;
    ret;
}
"""
RACY = KERNEL.replace("bar.sync 0;", "")


def test_right(warploom_launch):
    out = np.zeros(64, np.int32)
    warploom_launch(KERNEL, grid=1, block=64, args=[out])
    assert np.array_equal(out, np.arange(64) ^ 32)


def test_racy(warploom_launch):
    warploom_launch(RACY, grid=1, block=64, args=[np.zeros(64, np.int32)])


@pytest.mark.warploom(schedules=["random:1"], sanitize=False, cuda=False)
def test_marked(warploom_launch):
    warploom_launch(RACY, grid=1, block=64, args=[np.zeros(64, np.int32)])


@pytest.mark.warploom(schedules=["eager"], cuda=False)
def test_fixed(warploom_launch):
    warploom_launch(KERNEL, grid=1, block=64, args=[np.zeros(64, np.int32)], schedule="lazy")


@pytest.mark.warploom(cuda=False)
def test_machine(warploom_machine):
    assert (warploom_machine.device, warploom_machine.arch) == ("cpu", None)
'''

MISMARKED = """
import pytest


@pytest.mark.warploom(schedule="lazy")
def test_mismarked(warploom_launch):
    pass
"""


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
    return run(tmp_path_factory.mktemp("plain"), TESTS)


def test_a_kernel_runs_under_each_schedule_and_is_skipped_without_a_gpu(said: str) -> None:
    found = outcomes(said)
    assert [found[f"test_right[{machine}]"] for machine in ("cpu-eager", "cpu-lazy", "cuda")] == [
        "PASSED",
        "PASSED",
        "SKIPPED",
    ]
    assert "no GPU: none is asked" in said


def test_a_finding_fails_the_test_with_both_of_its_lines(said: str) -> None:
    found = outcomes(said)
    assert found["test_racy[cpu-eager]"] == found["test_racy[cpu-lazy]"] == "FAILED"
    assert re.search(
        r"on cpu-eager:\n.*error\[sanitize\.race/shared\].*written by line 14.*\n.*ld\.shared\.u32 %r5", said
    )


def test_a_marker_says_what_the_machines_are(said: str) -> None:
    names = [name for name in outcomes(said) if name.startswith("test_marked")]
    assert names == ["test_marked[cpu-random:1]"]
    assert outcomes(said)[names[0]] == "PASSED"  # nobody looks for the race


def test_the_fixture_s_own_options_are_refused(said: str) -> None:
    assert outcomes(said)["test_fixed[cpu-eager]"] == "FAILED"
    assert "schedule was given to warploom_launch, which has its own: cpu-eager" in said


def test_the_machine_itself_is_a_fixture(said: str) -> None:
    assert outcomes(said)["test_machine[cpu-eager]"] == "PASSED"


def test_the_options_choose_schedules_and_architecture(tmp_path: Path) -> None:
    said = run(tmp_path, TESTS, "-k", "right", "--warploom-schedules=lazy, random:3", "--warploom-arch=sm_7")
    assert list(outcomes(said)) == [f"test_right[{name}]" for name in ("cpu-lazy", "cpu-random:3", "cuda")]
    assert "there is no architecture 'sm_7'" in said


def test_a_marker_with_an_unknown_word_is_said(tmp_path: Path) -> None:
    said = run(tmp_path, MISMARKED)
    assert "the marker warploom has no schedule; expected arch, schedules, sanitize, cuda by name" in said
    assert "Traceback" not in said


def test_loading_the_plugin_is_light() -> None:
    program = (
        "import sys, pytest; before = set(sys.modules); import warploom.adapters.pytest; "
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert set(done.stdout.split()) == {"warploom"}
