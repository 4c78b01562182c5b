"""A file that is written as a whole or not at all."""

import os
from pathlib import Path

import pytest

from warploom.files import replacement


def test_the_file_is_replaced_with_the_usual_mode(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text("old")
    with replacement(path) as file:
        file.write("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


def _fail(path: Path, error: type[BaseException]) -> None:
    with replacement(path) as file:
        file.write("new")
        raise error


@pytest.mark.parametrize("error", [ValueError, OSError, KeyboardInterrupt])
def test_an_exception_leaves_the_old_file_and_no_other(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "data.json"
    path.write_text("old")
    with pytest.raises(error):
        _fail(path, error)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
