"""Warploom: a workbench for NVIDIA tensor-core programs at the PTX level.

Public names are loaded on first use, so that `import warploom` costs next to nothing and needs no GPU.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from warploom.providers import provide as _provide

if TYPE_CHECKING:
    from warploom import author as author
    from warploom import kernels as kernels
    from warploom.author.kernel import kernel as kernel
    from warploom.check import check as check
    from warploom.diagnostics import UsageError as UsageError
    from warploom.diagnostics import WarploomError as WarploomError
    from warploom.isa.binding.layouts import layout as layout
    from warploom.layout import Descriptor as Descriptor
    from warploom.layout import InstructionDescriptor as InstructionDescriptor
    from warploom.layout import TensorMap as TensorMap
    from warploom.layout import UmmaDescriptor as UmmaDescriptor
    from warploom.layout import descriptor as descriptor
    from warploom.nvvm import lower as lower
    from warploom.ptx import parse as parse
    from warploom.runtime.api import launch as launch
    from warploom.runtime.explore import explore as explore
    from warploom.view.explain import explain as explain
    from warploom.view.report import report as report

    __version__: str

_HOME = {
    "Descriptor": "warploom.layout",
    "InstructionDescriptor": "warploom.layout",
    "TensorMap": "warploom.layout",
    "UmmaDescriptor": "warploom.layout",
    "UsageError": "warploom.diagnostics",
    "WarploomError": "warploom.diagnostics",
    "check": "warploom.check",
    "descriptor": "warploom.layout",
    "explain": "warploom.view.explain",
    "explore": "warploom.runtime.explore",
    "kernel": "warploom.author.kernel",
    "launch": "warploom.runtime.api",
    "layout": "warploom.isa.binding.layouts",
    "lower": "warploom.nvvm",
    "parse": "warploom.ptx",
    "report": "warploom.view.report",
}

_PACKAGES = ("author", "kernels")
"""Subpackages that are met by their own name."""

__all__ = [
    "Descriptor",
    "InstructionDescriptor",
    "TensorMap",
    "UmmaDescriptor",
    "UsageError",
    "WarploomError",
    "check",
    "descriptor",
    "explain",
    "explore",
    "kernel",
    "launch",
    "layout",
    "lower",
    "parse",
    "report",
]


class _Package(ModuleType):
    """The package itself, in which a public name wins over the subpackage it is called after.

    Importing `warploom.runtime` makes Python bind the subpackage to the very name under which the function
    is public; that binding is left out, and `from warploom.runtime import ...` works as ever.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from warploom.release import version

        return version()
    if name in _PACKAGES:
        return import_module(f"warploom.{name}")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'warploom' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})


sys.modules[__name__].__class__ = _Package
_provide("notebook", lambda: import_module("warploom.view.notebook").draw)
_provide("workers", lambda: import_module("warploom.integrations.dask"))
_provide("launch", lambda: import_module("warploom.runtime.api").launch)
_provide("language server", lambda: import_module("warploom.lsp"))
