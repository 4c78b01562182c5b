"""Who spreads work over machines: `farm`, which stands above the launches that may ask for it.

The root of the package, which alone knows all floors, names it (`docs/why/0012`).
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

_named: list[Callable[[], ModuleType]] = []


def spread_with(load: Callable[[], ModuleType]) -> None:
    """Name the module that spreads work; `load` is called when first work is to be spread."""
    _named[:] = [load]


def spreader() -> ModuleType:
    """The module that was named."""
    return _named[0]()
