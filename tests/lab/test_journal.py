"""The journal of a campaign: what any end of a process leaves of it, and what it refuses."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warploom_lab.work.journal import Journal

from warploom.diagnostics import UsageError

ABOUT = {"campaign": "a test", "seed": 1, "tasks": 9}
NAMED = "j.jsonl"
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
RESULTS = st.permutations(range(9)).flatmap(
    lambda order: st.lists(PLAIN, max_size=9).map(lambda values: list(zip(order, values, strict=False)))
)


def written(path: Path, results: list[tuple[int, Any]]) -> bytes:
    with Journal(path, ABOUT) as journal:
        journal.add(results[:2])
        for each in results[2:]:
            journal.add([each])
    return path.read_bytes()


def refusal(path: Path, about: dict[str, Any] | None = None) -> str:
    """What is said of a journal that is refused, which is left as it was."""
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(UsageError) as caught:
        Journal(path, about or ABOUT)
    (said,) = caught.value.diagnostics
    assert said.code == "checkpoint.file"
    assert (path.read_bytes() if path.is_file() else b"") == before
    return f"{said.message} | {said.hint}".replace(str(path), NAMED)


@settings(max_examples=50)
@given(RESULTS, st.data())
def test_what_is_cut_anywhere_is_a_prefix_and_can_be_gone_on_with(
    tmp_path_factory: pytest.TempPathFactory, results: list[tuple[int, Any]], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("cut") / NAMED
    whole = written(path, results)
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)), label="cut")])
    with Journal(path, ABOUT) as journal:
        known = len(journal.results)
        assert list(journal.results.items()) == results[:known]
        for each in reversed(
            results[known:]
        ):  # in another order, so that what was cut is not what comes there
            journal.add([each])
            assert path.read_bytes().endswith(b"}\n")
    assert sorted(path.read_bytes().splitlines()) == sorted(whole.splitlines())
    with Journal(path, ABOUT) as journal:
        assert journal.results == dict(results)


def test_a_line_is_json_of_its_own(tmp_path: Path) -> None:
    first, *lines = written(tmp_path / NAMED, [(3, [1, "é"]), (0, None)]).splitlines()
    assert json.loads(first)["about"] == ABOUT
    assert [(each["task"], each["result"]) for each in map(json.loads, lines)] == [(3, [1, "é"]), (0, None)]


def test_what_another_campaign_wrote_is_refused(tmp_path: Path) -> None:
    path = tmp_path / NAMED
    written(path, [(1, 2)])
    hint = "ask for the same as then, or name another file"
    assert refusal(path, {**ABOUT, "seed": 2}) == (
        f"j.jsonl is the checkpoint of another campaign: seed is 1 there, and 2 here | {hint}"
    )
    assert refusal(path, {**ABOUT, "names": ["mma"]}) == (
        f'j.jsonl is the checkpoint of another campaign: names is nothing there, and ["mma"] here | {hint}'
    )


def test_what_is_no_journal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / NAMED
    no = "j.jsonl is no checkpoint of a campaign | name a file that is not there yet, or remove it"
    for text in (b"notes of mine\n", b"notes of mine", b"\0" * 4096, b"{}\n", b"[" * 100_000):
        path.write_bytes(text)
        assert refusal(path) == no
    path.unlink()
    os.mkfifo(tmp_path / "fifo")
    assert refusal(tmp_path / "fifo") == "j.jsonl cannot be a checkpoint: it is no ordinary file | "
    path.mkdir()
    assert refusal(path) == "j.jsonl cannot be a checkpoint: is a directory | "
    assert (
        refusal(tmp_path / "none" / NAMED) == "j.jsonl cannot be a checkpoint: no such file or directory | "
    )


def test_a_journal_that_is_damaged_is_refused(tmp_path: Path) -> None:
    path = tmp_path / NAMED
    first, second, third = written(path, [(1, "one"), (2, "two")]).splitlines(keepends=True)
    for damaged, line in (
        (first + second.replace(b"one", b"won") + third, 2),
        (first + second[:-9] + third, 2),
        (first + second + second, 3),
        (first + written(tmp_path / "other", [(8, 1)]).replace(first, b"") + second + third + second, 5),
    ):
        path.write_bytes(damaged)
        assert refusal(path) == f"j.jsonl is damaged at line {line} | remove it to begin anew"
    short = {**ABOUT, "tasks": 2}
    path.unlink()
    Journal(path, short).__exit__(None, None, None)
    path.write_bytes(path.read_bytes() + third)
    assert refusal(path, short) == "j.jsonl is damaged at line 2 | remove it to begin anew"


def test_two_processes_do_not_write_one_journal(tmp_path: Path) -> None:
    path = tmp_path / NAMED
    written(path, [(1, 2)])
    program = (
        "import json, pathlib, sys; from warploom_lab.work.journal import Journal; "
        "journal = Journal(pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])); "
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, path, json.dumps(ABOUT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        said = refusal(path)
    assert said == "j.jsonl is the checkpoint of a campaign that goes on now, in another process | "
    with Journal(path, ABOUT) as journal:
        assert journal.results == {1: 2}


def test_a_full_disk_is_a_sentence_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / NAMED
    real = os.pwrite
    before = written(path, [(1, 2)])

    def full(file: int, data: bytes, at: int) -> int:
        if len(data) < 20:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(file, data[:20], at)

    with Journal(path, ABOUT) as journal:
        monkeypatch.setattr(os, "pwrite", full)
        with pytest.raises(UsageError) as caught:
            journal.add([(3, "a result of some length")])
        (said,) = caught.value.diagnostics
        assert (said.code, said.message, said.hint) == (
            "checkpoint.disk",
            f"{path} cannot be written: no space left on device; it has 1 of 9 results",
            "free some space, and start the same command again",
        )
        assert path.read_bytes() == before
