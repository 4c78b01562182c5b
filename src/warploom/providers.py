"""Implementations that a higher layer provides to a lower layer.

A lower layer never imports a higher one. It asks for an implementation by name, and the root of the package, the only
module that may import every layer, says which module provides it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

Service = Literal["notebook", "workers", "language server", "launch"]

_loaders: dict[Service, Callable[[], Any]] = {}


def provide(service: Service, load: Callable[[], Any]) -> None:
    """Register the loader of a service. It is called each time the service is requested."""
    _loaders[service] = load


def provider(service: Service) -> Any:
    """Return the implementation of a service, or None if no module provides it."""
    load = _loaders.get(service)
    return None if load is None else load()
