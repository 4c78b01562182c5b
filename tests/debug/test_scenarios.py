"""Scenarios for the debugger: right without their faults, and wrong with them as the pages say."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from debug.scenarios.generate import FOLDER, KERNELS, SCENARIOS, Scenario, files

import warploom as wl
from warploom.cli import main
from warploom.runtime.api import Run
from warploom.runtime.comparison import Comparison
from warploom.runtime.launchfile import LaunchPlan, read_launch_file

ENGINES = ("interpreter", "compiler")
NAMES = [each.name for each in SCENARIOS]
WORDS = {"multiplication": "mma", "multiplications": "mma", "wait": "wait", "copy": "cp.async"}
HEADINGS = ["What the user sees", "Question", "Cause", "Session"]


def launch(plan: LaunchPlan, schedule: str | None = None, *, sanitize: bool = False) -> tuple[Run, Comparison]:
    """Launch under a schedule, by default that of the launch file, and compare the result."""
    prepared = plan.prepare()
    chosen = schedule or plan.geometry.schedule or "eager"
    run = wl.launch(plan.ptx, args=prepared.args, schedule=chosen, sanitize=sanitize, **plan.keywords)
    comparison = prepared.compare()
    assert comparison is not None
    return run, comparison


def plan_of(name: str) -> LaunchPlan:
    return read_launch_file(FOLDER / f"{name}.toml")


def fences(name: str, language: str) -> list[str]:
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("WARPLOOM_ENGINE", request.param)
    return request.param


def test_the_ptx_is_that_of_the_kernels() -> None:
    found = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.ptx")}
    assert found == files()


def test_every_scenario_has_a_row_a_launch_file_and_a_page() -> None:
    rows = re.findall(r"^\| \[(\w+)\]\(\1\.md\) \|", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == NAMES
    assert {path.stem for path in FOLDER.glob("*.md")} == {"README", *NAMES}
    assert {path.stem for path in FOLDER.glob("*.toml")} == {*NAMES, *(kernel.entry for kernel in KERNELS)}


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:1"])
@pytest.mark.parametrize("kernel", [kernel.entry for kernel in KERNELS])
def test_a_kernel_without_a_fault_is_right_and_silent(kernel: str, schedule: str) -> None:
    run, comparison = launch(plan_of(kernel), schedule, sanitize=True)
    assert comparison.ok
    assert not run.findings


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_a_scenario_without_its_fault_is_right(scenario: Scenario, engine: str, tmp_path: Path) -> None:
    plan = plan_of(scenario.name)
    ptx = tmp_path / "correct.ptx"
    ptx.write_text(scenario.correct_ptx, encoding="utf-8")
    geometry = replace(plan.geometry, grid=scenario.grid) if scenario.grid else plan.geometry
    alone = replace(plan, ptx=ptx, geometry=geometry)
    assert launch(alone)[1].ok


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_a_scenario_shows_its_fault(scenario: Scenario, engine: str) -> None:
    plan = plan_of(scenario.name)
    if scenario.outcome == "Trap":
        with pytest.raises(wl.Trap, match="aligned"):
            launch(plan)
    else:
        assert not launch(plan)[1].ok


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_the_sanitizer_finds_faults_of_synchronisation_and_descriptors_only(scenario: Scenario) -> None:
    plan = plan_of(scenario.name)
    if scenario.outcome != "Trap":
        found = {finding.code for finding in launch(plan, sanitize=True)[0].findings}
        assert found == ({f"sanitize.{scenario.finding}"} if scenario.finding else set())


@pytest.mark.parametrize("schedule", ["eager", "random:0"])
def test_a_wrong_parity_is_a_deadlock_if_the_copies_complete_early(schedule: str, engine: str) -> None:
    with pytest.raises(wl.Deadlock, match="mbarrier"):
        launch(plan_of("wrong_parity"), schedule)


@pytest.mark.parametrize("name", ["early_read", "race"])
def test_a_fault_of_synchronisation_is_hidden_under_eager(name: str, engine: str) -> None:
    assert launch(plan_of(name), "eager")[1].ok


@pytest.mark.parametrize("name", NAMES)
def test_a_page_states_the_output_of_run(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(FOLDER)
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["run", f"{name}.toml"]) == 1
    captured = capsys.readouterr()
    printed = (captured.out + captured.err).splitlines()
    (seen,) = fences(name, "text")
    assert [line for line in seen.splitlines() if line not in printed] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_its_sections_and_a_short_session(name: str) -> None:
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS
    (session,) = fences(name, "session")
    first, *commands = [line for line in session.splitlines() if line.startswith(("$ ", "(wl) "))]
    assert first == f"$ warploom debug {name}.toml"
    assert 1 <= len(commands) <= 10


@pytest.mark.parametrize("name", NAMES)
def test_the_lines_of_a_session_are_those_of_the_ptx(name: str) -> None:
    lines = plan_of(name).ptx.read_text(encoding="utf-8").splitlines()
    (session,) = fences(name, "session")
    for what, numbers in re.findall(r"(\S+?)(?: of|,) lines? (\d+(?:(?:-| and )\d+)?)", session):
        for number in re.findall(r"\d+", numbers):
            assert WORDS.get(what, what) in lines[int(number) - 1]
    for number, place in re.findall(r"line (\d+) \((\w+\.py:\d+)\)", session):
        located = [line for line in lines[: int(number)] if line.lstrip().startswith(".loc ")]
        assert f"// {place}" in located[-1]


def test_at_least_eight_sessions_use_why_alone() -> None:
    sessions = [fences(name, "session")[0] for name in NAMES]
    alone = [all(words.startswith("why ") for words in re.findall(r"^\(wl\) (.+)$", s, re.MULTILINE)) for s in sessions]
    assert sum(alone) >= 8
