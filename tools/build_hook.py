"""Build hook of hatchling: wheels for Linux contain the libraries of `warploom exec`.

The libraries need the C library with which they are linked, so the tag of the wheel names its version. Without a C
compiler, and on other systems, the wheel is pure Python, and `warploom exec` compiles the libraries on first use.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags


class LibraryHook(BuildHookInterface[Any]):
    """Hook that compiles the libraries."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the libraries, and add them to the wheel."""
        if version == "editable" or sys.platform != "linux":
            return
        sys.path.insert(0, str(Path(self.root) / "src"))
        from warploom.diagnostics import UsageError
        from warploom.integrations.cuda_driver.build import prebuild

        self._folder = tempfile.TemporaryDirectory(prefix="warploom-")
        try:
            path = prebuild(Path(self._folder.name))
        except UsageError as error:
            self.app.display_warning(f"the wheel does not contain the libraries of `warploom exec`: {error}")
            return
        build_data["force_include"][self._folder.name] = f"warploom/integrations/cuda_driver/{path}"
        build_data["pure_python"] = False
        tags = [*platform_tags()]
        build_data["tag"] = f"py3-none-{next((tag for tag in tags if tag.startswith('manylinux')), tags[0])}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Delete the folder in which the libraries were compiled."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()
