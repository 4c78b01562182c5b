"""Warploom: a workbench for NVIDIA tensor-core programs at the PTX level.

Public names are loaded on first use, so `import warploom` is fast and needs no GPU.
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
    from warploom.author.errors import AuthorError as AuthorError
    from warploom.author.kernel import Kernel as Kernel
    from warploom.author.kernel import kernel as kernel
    from warploom.check import Report as Report
    from warploom.check import check as check
    from warploom.diagnostics import Diagnostic as Diagnostic
    from warploom.diagnostics import Severity as Severity
    from warploom.diagnostics import UsageError as UsageError
    from warploom.diagnostics import WarploomError as WarploomError
    from warploom.emulator.faults import Deadlock as Deadlock
    from warploom.emulator.faults import RunError as RunError
    from warploom.emulator.faults import Trap as Trap
    from warploom.emulator.faults import Unsupported as Unsupported
    from warploom.gpu.driver import DeviceFault as DeviceFault
    from warploom.isa.binding.layouts import layout as layout
    from warploom.layout import Descriptor as Descriptor
    from warploom.layout import InstructionDescriptor as InstructionDescriptor
    from warploom.layout import TensorMap as TensorMap
    from warploom.layout import UmmaDescriptor as UmmaDescriptor
    from warploom.layout import descriptor as descriptor
    from warploom.nvvm import lower as lower
    from warploom.nvvm.errors import LowerError as LowerError
    from warploom.ptx import Module as Module
    from warploom.ptx import PtxSyntaxError as PtxSyntaxError
    from warploom.ptx import parse as parse
    from warploom.runtime.api import launch as launch
    from warploom.runtime.api import sanitize as sanitize
    from warploom.runtime.captures.replay import Replay as Replay
    from warploom.runtime.captures.replay import replay as replay
    from warploom.runtime.explore import explore as explore
    from warploom.runtime.run import Run as Run
    from warploom.runtime.sessions.session import Session as Session
    from warploom.runtime.structures import Struct as Struct
    from warploom.runtime.toml import LaunchFileError as LaunchFileError
    from warploom.view.debugger.api import Debugger as Debugger
    from warploom.view.debugger.api import debug as debug
    from warploom.view.explain import explain as explain
    from warploom.view.report import report as report

    __version__: str

_MODULES = {
    "warploom.author.errors": "AuthorError",
    "warploom.author.kernel": "Kernel kernel",
    "warploom.check": "Report check",
    "warploom.diagnostics": "Diagnostic Severity UsageError WarploomError",
    "warploom.emulator.faults": "Deadlock RunError Trap Unsupported",
    "warploom.gpu.driver": "DeviceFault",
    "warploom.isa.binding.layouts": "layout",
    "warploom.layout": "Descriptor InstructionDescriptor TensorMap UmmaDescriptor descriptor",
    "warploom.nvvm": "lower",
    "warploom.nvvm.errors": "LowerError",
    "warploom.ptx": "Module PtxSyntaxError parse",
    "warploom.runtime.api": "launch sanitize",
    "warploom.runtime.explore": "explore",
    "warploom.runtime.captures.replay": "Replay replay",
    "warploom.runtime.run": "Run",
    "warploom.runtime.sessions.session": "Session",
    "warploom.runtime.structures": "Struct",
    "warploom.runtime.toml": "LaunchFileError",
    "warploom.view.debugger.api": "Debugger debug",
    "warploom.view.explain": "explain",
    "warploom.view.report": "report",
}
"""Public names of the package by the module that defines them."""

_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}
_PACKAGES = ("author", "kernels")

__all__ = [*_HOME]  # noqa: PLE0604  # pyright: ignore[reportUnsupportedDunderAll]


class _Package(ModuleType):
    """Package whose public names hide the subpackages of the same names, such as `check`."""

    def __setattr__(self, name: str, value: object) -> None:
        # The import of the subpackage `check` must not replace the public function `check`.
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
    from warploom.garbage import paused_collection

    with paused_collection():
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
