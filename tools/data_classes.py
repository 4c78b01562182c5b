"""Griffe extension that documents the data classes of `warploom.lazy_dataclass` as those of the standard library."""

from __future__ import annotations

from typing import Any

import griffe


class DataClasses(griffe.Extension):
    """Griffe extension for the documentation site."""

    def on_module_members(self, *, mod: griffe.Module, **_: Any) -> None:
        """Let an import of the decorator refer to `dataclasses.dataclass`, whose classes Griffe knows."""
        decorator = mod.members.get("dataclass")
        if isinstance(decorator, griffe.Alias) and decorator.target_path == "warploom.lazy_dataclass.dataclass":
            decorator.target_path = "dataclasses.dataclass"
