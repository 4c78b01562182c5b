"""What assemblers take has no error; the compilers' own files have no warning either."""

from __future__ import annotations

from pathlib import Path

import pytest

import warploom as wl

CORPUS = sorted((Path(__file__).parents[1] / "corpus").glob("*.ptx"))


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_a_compiler_s_file_is_clean(path: Path) -> None:
    assert str(wl.check(path)) == ""
