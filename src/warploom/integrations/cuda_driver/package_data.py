"""Data files of this package."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def package_text(path: str) -> str:
    """Return the text of a data file of this package."""
    return _package().joinpath(path).read_text(encoding="utf-8")


def package_folder(path: str) -> Path | None:
    """Return a folder of data files of this package, or None if there is no such folder on disk."""
    found = _package().joinpath(path)
    return found if isinstance(found, Path) and found.is_dir() else None


def _package() -> Traversable:
    return resources.files(__name__.rpartition(".")[0])
