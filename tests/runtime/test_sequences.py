"""Sequences of launches: each correct one has no finding, and each faulty one has the right finding."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from on_gpu import arch
from runtime.programmatic.programs import CORRECT, FAULTY, text
from runtime.programmatic.sessions import is_right, perform

import warploom as wl
from warploom.diagnostics import Diagnostic

SCHEDULES = ("eager", "lazy", "random:1", "random:2")
ENGINES = ("interpreter", "compiler")


def line_of(found: Diagnostic) -> str:
    assert found.source is not None
    assert found.span is not None
    return found.source.text.split("\n")[found.source.position(found.span.start)[0] - 1]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CORRECT)
def test_a_correct_sequence_has_the_right_result_and_no_finding(
    name: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    for schedule in SCHEDULES:
        for sanitize in (False, True):
            with wl.Session(schedule=schedule, sanitize=sanitize) as session:
                assert is_right(CORRECT[name], perform(session, CORRECT[name])), schedule
                assert session.findings == (), schedule


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_sequence_is_reported_at_its_instructions(
    name: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    program, fault = FAULTY[name], FAULTY[name].fault
    assert fault is not None
    for schedule in SCHEDULES:
        with wl.Session(schedule=schedule, sanitize=True) as session:
            perform(session, program)
            (found,) = session.findings
        assert found.code == fault.rule, schedule
        assert fault.instruction in line_of(found), schedule
        assert found.data is not None
        assert (found.data["kernel"], found.data["other_kernel"]) == (fault.kernel, fault.other)
        assert fault.other_instruction in text().split("\n")[found.data["other_line"] - 1], schedule


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", [name for name, each in FAULTY.items() if each.fault and each.fault.is_visible])
def test_a_lazy_schedule_shows_wrong_results_of_a_faulty_sequence(
    name: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    with wl.Session(schedule="lazy") as session:
        assert not is_right(FAULTY[name], perform(session, FAULTY[name]))
    with wl.Session() as session:
        assert is_right(FAULTY[name], perform(session, FAULTY[name]))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_threads_share_a_session(schedule: str) -> None:
    program = CORRECT["trigger before the last store"]
    with wl.Session(schedule=schedule) as session, ThreadPoolExecutor(4) as pool:
        results = [*pool.map(lambda _: perform(session, program), range(8))]
    assert all(is_right(program, each) for each in results)


@pytest.mark.skipif(arch() != "sm_90a", reason="there is no GPU of compute capability 9.0")
@pytest.mark.parametrize("name", CORRECT)
def test_a_correct_sequence_has_the_same_result_on_a_gpu(name: str) -> None:
    with wl.Session(device="cuda") as session:
        assert is_right(CORRECT[name], perform(session, CORRECT[name]))
