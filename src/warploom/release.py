"""Version of the installed package, for modules that may not import the package root."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed


def version() -> str:
    """Return the version of the installed package, or "0+source" for a checkout without installation."""
    try:
        return installed("warploom")
    except PackageNotFoundError:
        return "0+source"
