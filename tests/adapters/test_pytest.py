"""The pytest plugin: what its fixtures make of a kernel with a fault, and of one without."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

# A session within the session forgets what it imported, and some modules can be imported only once.
import warploom.launch.api
import warploom.sanitize.watcher  # noqa: F401

pytest_plugins = ["pytester"]

PLUGIN = [] if entry_points(group="pytest11", name="warploom") else ["-p", "warploom.adapters.pytest"]

TEST = '''
import numpy as np
import pytest

PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry swap(.param .u64 out)
{
    .reg .b32 %%r<6>;
    .reg .b64 %%rd<4>;
    .shared .align 4 .b8 s[256];
    mov.u32 %%r0, %%tid.x;
    shl.b32 %%r1, %%r0, 2;
    mov.u32 %%r2, s;
    add.u32 %%r3, %%r2, %%r1;
    st.shared.u32 [%%r3], %%r0;
    %(barrier)s
    xor.b32 %%r4, %%r1, 128;
    add.u32 %%r3, %%r2, %%r4;
    ld.shared.u32 %%r5, [%%r3];
    ld.param.u64 %%rd0, [out];
    cvta.to.global.u64 %%rd0, %%rd0;
    cvt.u64.u32 %%rd1, %%r1;
    add.u64 %%rd2, %%rd0, %%rd1;
    st.global.u32 [%%rd2], %%r5;
    ret;
}
"""

%(marker)s
def test_swap(warploom_launch):
    out = np.zeros(64, np.int32)
    warploom_launch(PTX, grid=1, block=64, args=[out]%(more)s)
    assert np.array_equal(out, np.arange(64) ^ 32)
'''


def written(barrier: str = "bar.sync 0;", marker: str = "", more: str = "") -> str:
    return TEST % {"barrier": barrier, "marker": marker, "more": more}


@pytest.fixture(autouse=True)
def _without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answers everywhere: what a GPU does is not asked here."""
    monkeypatch.setattr("warploom.adapters.pytest._gpu", lambda: ("", "none is asked"))


def test_a_kernel_runs_under_each_schedule_and_is_skipped_without_a_gpu(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(written())
    result = pytester.runpytest(*PLUGIN, "-v", "-rs")
    result.assert_outcomes(passed=2, skipped=1)
    result.stdout.fnmatch_lines(
        ["*test_swap[[]cpu-eager] PASSED*", "*test_swap[[]cpu-lazy] PASSED*", "*no GPU: none is asked*"]
    )


def test_a_finding_fails_the_test_with_both_of_its_lines(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(written(barrier=""))
    result = pytester.runpytest(*PLUGIN)
    result.assert_outcomes(failed=2, skipped=1)
    result.stdout.fnmatch_lines(["on cpu-eager:", "*sanitize.race*", "*ld.shared.u32 %r5*"])


def test_the_options_choose_schedules_and_architecture(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(written())
    result = pytester.runpytest(*PLUGIN, "-v", "--warploom-schedules=lazy, random:3", "--warploom-arch=sm_90")
    result.assert_outcomes(passed=2, skipped=1)
    result.stdout.fnmatch_lines(["*cpu-lazy] PASSED*", "*cpu-random:3] PASSED*"])


def test_an_architecture_that_is_none_is_said(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(written())
    result = pytester.runpytest(*PLUGIN, "--warploom-arch=sm_7")
    result.assert_outcomes(failed=2, skipped=1)
    result.stdout.fnmatch_lines(["*there is no architecture 'sm_7'*"])


def test_the_marker_wins_over_the_options(pytester: pytest.Pytester) -> None:
    marker = '@pytest.mark.warploom(schedules=["random:1"], sanitize=False, cuda=False)'
    pytester.makepyfile(written(barrier="", marker=marker))
    result = pytester.runpytest(*PLUGIN, "-v", "--warploom-schedules=lazy", "--strict-markers")
    assert result.ret in (0, 1)  # a race without a sanitizer: its result is nobody's to say
    result.stdout.fnmatch_lines(["*test_swap[[]cpu-random:1]*"])
    result.stdout.no_fnmatch_line("*sanitize.*")


def test_a_marker_with_an_unknown_word_is_said(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(written(marker='@pytest.mark.warploom(schedule="lazy")'))
    result = pytester.runpytest(*PLUGIN)
    assert result.ret != 0
    result.stdout.fnmatch_lines(
        ["*marker warploom has no schedule; expected arch, schedules, sanitize, cuda*"]
    )


def test_the_fixture_s_own_options_are_refused(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(written(more=', schedule="lazy"'))
    result = pytester.runpytest(*PLUGIN)
    result.stdout.fnmatch_lines(["*schedule was given to warploom_launch, which has its own: cpu-eager*"])


def test_loading_the_plugin_is_light() -> None:
    program = (
        "import sys, pytest; before = set(sys.modules); import warploom.adapters.pytest; "
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert set(done.stdout.split()) == {"warploom"}
