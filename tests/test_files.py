"""Files that are written as a whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from warploom.files import replacement


def test_a_link_remains_and_its_target_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("before")
    link.symlink_to(target)
    with replacement(link) as file:
        file.write("after")
    assert link.is_symlink()
    assert target.read_text() == "after"
    assert sorted(tmp_path.iterdir()) == [link, target]


def test_a_pipe_remains_and_receives_the_text(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with replacement(pipe) as file:
        file.write("text")
    assert os.read(reader, 10) == b"text"
    assert pipe.is_fifo()
    os.close(reader)


def test_an_exception_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    with pytest.raises(UnicodeEncodeError), replacement(path) as file:
        file.write("\ud800")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
