"""Which release this is, for those who may not import the root."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed


def version() -> str:
    """The version of the installed package; "0+source" of a checkout that is not installed."""
    try:
        return installed("warploom")
    except PackageNotFoundError:
        return "0+source"
