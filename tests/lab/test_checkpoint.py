"""Checkpoint of a campaign: interrupted writes, and files that are refused."""

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

from warploom.diagnostics import UsageError
from warploom_lab.work.checkpoint import Checkpoint

ABOUT = {"campaign": "a test", "seed": 1, "tasks": 9}
NAMED = "j.jsonl"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
RESULTS = st.permutations(range(9)).flatmap(
    lambda order: st.lists(JSON, max_size=9).map(lambda values: list(zip(order, values, strict=False)))
)


def written(path: Path, results: list[tuple[int, Any]]) -> bytes:
    with Checkpoint(path, ABOUT) as checkpoint:
        checkpoint.add(results[:2])
        for each in results[2:]:
            checkpoint.add([each])
    return path.read_bytes()


def refusal(path: Path, about: dict[str, Any] | None = None) -> str:
    """Return the message about a refused file, which must stay unchanged."""
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(UsageError) as caught:
        Checkpoint(path, about or ABOUT)
    (said,) = caught.value.diagnostics
    assert said.code == "checkpoint.file"
    assert (path.read_bytes() if path.is_file() else b"") == before
    return f"{said.message} | {said.hint}".replace(str(path), NAMED)


@settings(max_examples=50)
@given(RESULTS, st.data())
def test_a_truncated_checkpoint_is_continued(
    tmp_path_factory: pytest.TempPathFactory, results: list[tuple[int, Any]], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("cut") / NAMED
    whole = written(path, results)
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)), label="cut")])
    with Checkpoint(path, ABOUT) as checkpoint:
        known = len(checkpoint.results)
        assert list(checkpoint.results.items()) == results[:known]
        for each in reversed(results[known:]):  # in another order than before the cut
            checkpoint.add([each])
            assert path.read_bytes().endswith(b"}\n")
    assert sorted(path.read_bytes().splitlines()) == sorted(whole.splitlines())
    with Checkpoint(path, ABOUT) as checkpoint:
        assert checkpoint.results == dict(results)


def test_each_line_is_json(tmp_path: Path) -> None:
    first, *lines = written(tmp_path / NAMED, [(3, [1, "é"]), (0, None)]).splitlines()
    assert json.loads(first)["about"] == ABOUT
    assert [(each["task"], each["result"]) for each in map(json.loads, lines)] == [(3, [1, "é"]), (0, None)]


def test_a_checkpoint_of_another_campaign_is_refused(tmp_path: Path) -> None:
    path = tmp_path / NAMED
    written(path, [(1, 2)])
    hint = "repeat the earlier options, or name another file"
    assert refusal(path, {**ABOUT, "seed": 2}) == (
        f"j.jsonl is the checkpoint of another campaign: seed is 1, expected 2 | {hint}"
    )
    assert refusal(path, {**ABOUT, "names": ["mma"]}) == (
        f'j.jsonl is the checkpoint of another campaign: names is missing, expected ["mma"] | {hint}'
    )


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / NAMED
    no = "j.jsonl is not a checkpoint of a campaign | name a new file, or remove this one"
    for text in (b"notes of mine\n", b"notes of mine", b"\0" * 4096, b"{}\n", b"[" * 100_000):
        path.write_bytes(text)
        assert refusal(path) == no
    path.unlink()
    os.mkfifo(tmp_path / "fifo")
    assert refusal(tmp_path / "fifo") == "j.jsonl cannot be a checkpoint: it is not a regular file | "
    path.mkdir()
    assert refusal(path) == "j.jsonl cannot be a checkpoint: is a directory | "
    assert refusal(tmp_path / "none" / NAMED) == "j.jsonl cannot be a checkpoint: no such file or directory | "


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / NAMED
    first, second, third = written(path, [(1, "one"), (2, "two")]).splitlines(keepends=True)
    for damaged, line in (
        (first + second.replace(b"one", b"won") + third, 2),
        (first + second[:-9] + third, 2),
        (first + second + second, 3),
        (first + written(tmp_path / "other", [(8, 1)]).replace(first, b"") + second + third + second, 5),
    ):
        path.write_bytes(damaged)
        assert refusal(path) == f"j.jsonl is damaged at line {line} | remove the file to start again"
    short = {**ABOUT, "tasks": 2}
    path.unlink()
    Checkpoint(path, short).__exit__(None, None, None)
    path.write_bytes(path.read_bytes() + third)
    assert refusal(path, short) == "j.jsonl is damaged at line 2 | remove the file to start again"


def test_two_processes_cannot_share_a_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / NAMED
    written(path, [(1, 2)])
    program = (
        "import json, pathlib, sys; from warploom_lab.work.checkpoint import Checkpoint; "
        "checkpoint = Checkpoint(pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])); "
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, path, json.dumps(ABOUT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        said = refusal(path)
    assert said == "j.jsonl is the checkpoint of a campaign that is running in another process | "
    with Checkpoint(path, ABOUT) as checkpoint:
        assert checkpoint.results == {1: 2}


def test_a_full_disk_is_reported_and_loses_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / NAMED
    real = os.pwrite
    before = written(path, [(1, 2)])

    def full(file: int, data: bytes, at: int) -> int:
        if len(data) < 20:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(file, data[:20], at)

    with Checkpoint(path, ABOUT) as checkpoint:
        monkeypatch.setattr(os, "pwrite", full)
        with pytest.raises(UsageError) as caught:
            checkpoint.add([(3, "a result of some length")])
        (said,) = caught.value.diagnostics
        assert (said.code, said.message, said.hint) == (
            "checkpoint.disk",
            f"{path} cannot be written: no space left on device; it holds 1 of 9 results",
            "free some space and start the same command again",
        )
        assert path.read_bytes() == before
