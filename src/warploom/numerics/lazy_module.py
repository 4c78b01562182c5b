"""Import on first use, for modules that need Numba."""

from importlib import import_module
from typing import Any


class LazyModule:
    """Module that is imported when one of its attributes is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(import_module(self._name), attribute)
        setattr(self, attribute, found)
        return found
