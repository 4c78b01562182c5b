"""Generated files of the repository."""

from __future__ import annotations

import pytest

from warploom_lab.cli import main
from warploom_lab.pages import completions, generated, reference, stubs


def test_generated_files_are_current() -> None:
    assert generated.outdated() == [], "run `warploom-lab pages`"


def test_every_kind_has_files() -> None:
    assert len(reference.texts()) > 100
    assert len(completions.texts()) >= 2
    assert len(stubs.texts()) == 1


def test_changed_and_surplus_files_are_out_of_date(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = reference.texts()
    changed, removed = sorted(texts)[:2]
    texts[changed] += "more"
    del texts[removed]
    monkeypatch.setitem(generated._TEXTS, "reference", lambda: texts)
    assert main(["pages", "reference", "--check"]) == 1
    assert capsys.readouterr().out == f"{changed} is out of date\n{removed} is out of date\n"


def test_an_unknown_kind_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pages", "drawings"]) == 2
    assert "unknown kind 'drawings'; expected one of reference" in capsys.readouterr().err
