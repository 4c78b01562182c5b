from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from warploom.diagnostics import UsageError
from warploom_lab import ptxas
from warploom_lab.cli import main
from warploom_lab.ptxas import record as records
from warploom_lab.ptxas.assembler import NO_ANSWER, Assembler, Verdict
from warploom_lab.ptxas.cached import CachedAssemblers, Progress, Question
from warploom_lab.ptxas.cases import Case
from warploom_lab.ptxas.points import NEWEST, Point, point
from warploom_lab.ptxas.probe import Probe
from warploom_lab.ptxas.record import by_lines, by_text, disagreements, grouped, read, record

OLD, NEW = point("sm_90a", (8, 0)), point("sm_90a", (9, 1))
CASES = [
    Case("first.form", "", "legal", Probe("good %r0;"), (OLD, NEW)),
    Case("first.form", "slot", "a to b", Probe("bad %r0;"), (NEW,)),
    Case(
        "second.form", "slot", "a to b", Probe("since 9;", ".maxntid 32"), (OLD, NEW, Point(NEWEST, "sm_90a", (9, 1)))
    ),
    Case("second.form", "slot", "b to c", Probe("crash;"), (OLD, NEW)),
]


def _verdict(probe: Probe, at: Point) -> Verdict:
    word = probe.text.split(" ")[0]
    if word == "crash;":
        return Verdict(at == NEW, "" if at == NEW else NO_ANSWER)
    return Verdict(word == "good" or (word == "since" and at.version >= (9, 0) and at.release != NEWEST))


class Fake(CachedAssemblers):
    def judge_all(self, questions: Sequence[Question], progress: Progress | None = None) -> list[Verdict]:
        return [_verdict(probe, at) for probe, at in questions]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    with Fake(tmp_path / "cache.sqlite") as fake:
        counts = record(fake, CASES, tmp_path / "record")
    assert counts[NEW] == 4
    return tmp_path / "record"


def test_a_record_is_read_back(written: Path) -> None:
    found = {case.probe: (case.form, case.slot, case.change, verdicts) for case, verdicts in read(written)}
    for case in CASES[:3]:
        expected = {at: _verdict(case.probe, at).ok for at in case.points}
        assert found[case.probe] == (case.form, case.slot, case.change, expected)
    assert found[CASES[3].probe][3] == {NEW: True}
    assert [case.form for case, _ in read(written, ["second"])] == ["second.form", "second.form"]


def test_equal_verdicts_give_equal_bytes(written: Path, tmp_path: Path) -> None:
    with Fake(tmp_path / "cache.sqlite") as fake:
        record(fake, CASES, tmp_path / "again")
    for path in written.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


def test_an_agreeing_judge_has_no_disagreements(written: Path) -> None:
    def judge(probes: Sequence[Probe], target: str, version: tuple[int, int]) -> list[bool]:
        return [_verdict(probe, point(target, version)).ok for probe in probes]

    assert list(disagreements(written, judge)) == []
    assert len(list(disagreements(written, judge, newest=True))) == 1


def test_disagreements_name_case_and_point(written: Path) -> None:
    found = list(disagreements(written, by_text(lambda text, target, version: "since" not in text)))
    assert {(d.case.probe.text, d.point, d.accepted) for d in found} == {
        ("bad %r0;", NEW, False),
        ("since 9;", NEW, True),
    }
    assert {key: len(group) for key, group in grouped(found).items()} == {
        ("first.form", "slot", False): 1,
        ("second.form", "slot", True): 1,
    }
    shown = "second.form/slot (a to b): ptxas accepts at sm_90a 9.1: "
    assert any(shown in str(each) for each in found)


def test_lines_with_errors_belong_to_probes(written: Path) -> None:
    def check(text: str, target: str, version: tuple[int, int]) -> list[int]:
        lines = enumerate(text.splitlines(), 1)
        return [k for k, line in lines if "bad" in line or ("since" in line and version < (9, 0))]

    assert list(disagreements(written, by_lines(check))) == []


def test_a_folder_without_a_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no recorded verdicts"):
        list(records.read(tmp_path))


def test_the_header_is_updated_when_a_family_is_recorded_again(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    released = Assembler(Path("ptxas"), "0.0.0")
    monkeypatch.setattr(records, "provide", lambda release: released)
    monkeypatch.setattr(ptxas, "CachedAssemblers", Fake)
    (written / "off-table.txt").write_text("")
    assert main(["evidence", "legality", "--record", str(written), "--family", "logic"]) == 0
    header = json.loads((written / records.HEADER).read_text())
    counts = records.counted(written)
    assert header["verdicts"] == counts.total() > len(CASES)
    assert sum(header["targets"].values()) == sum(header["versions"].values()) == counts.total()
