"""Registry of services that a higher layer provides to a lower layer.

A lower layer may not import a higher layer. It requests an implementation by the name of a service.
"""

from collections.abc import Callable
from typing import Any, Literal

Service = Literal["notebook", "workers", "language server", "launch"]

_loaders: dict[Service, Callable[[], Any]] = {}


def provide(service: Service, load: Callable[[], Any]) -> None:
    """Register the function that loads a service. Each call of `provider` calls this function."""
    _loaders[service] = load


def provider(service: Service) -> Any:
    """Return the implementation of a service, or None if none is registered."""
    load = _loaders.get(service)
    return None if load is None else load()
