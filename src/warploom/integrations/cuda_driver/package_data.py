"""Data files of this package."""

from importlib import resources


def package_text(path: str) -> str:
    """Return the text of a data file of this package."""
    return resources.files(__name__.rpartition(".")[0]).joinpath(path).read_text(encoding="utf-8")
