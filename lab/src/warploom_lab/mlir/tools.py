"""MLIR's and LLVM's own tools, and how they are asked."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from warploom.diagnostics import UsageError

MAJOR = 22
"""The release that the dialect is that of."""

_TIMEOUT = 600
_MARK = "// -----"
_PACKAGES = "Debian has them in mlir-22-tools and llvm-22; WARPLOOM_MLIR names the folder they are in"


@dataclass(frozen=True)
class Tools:
    """mlir-opt, mlir-translate and llc of one release."""

    opt: Path
    translate: Path
    llc: Path
    release: str

    def printed(self, texts: Sequence[str], *options: str) -> list[str]:
        """What mlir-opt prints of each text; "" where it refuses one."""
        return self._split(self.opt, texts, *options)

    def translated(self, texts: Sequence[str]) -> list[str]:
        """The LLVM IR of each text; "" where there is none."""
        return self._split(self.translate, texts, "-mlir-to-llvmir")

    def _split(self, tool: Path, texts: Sequence[str], *options: str) -> list[str]:
        """One process for many texts. Errors: UsageError where its answers cannot be told apart."""
        if not texts:
            return []
        joined = f"\n{_MARK}\n".join(texts)
        output = self._run(tool, joined, "-split-input-file", f"-output-split-marker={_MARK}", *options)
        answers = [answer.strip() for answer in f"\n{output}".split(f"\n{_MARK}")]
        if len(answers) != len(texts):
            raise UsageError(f"{tool} answered {len(answers)} of {len(texts)} texts")
        return answers

    def ptx(self, llvm: str, target: str, ptx_version: tuple[int, int]) -> str:
        """The PTX that llc makes of LLVM IR; "" where it makes none."""
        version = f"+ptx{ptx_version[0]}{ptx_version[1]}"
        return self._run(self.llc, llvm, "-march=nvptx64", f"-mcpu={target}", f"-mattr={version}", "-o", "-")

    def complaint(self, text: str, *options: str) -> str:
        """The first complaint of mlir-opt about a text; "" where it has none."""
        asked = subprocess.run(
            [self.opt, *options], input=text, capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
        found = re.search(r"error: (.*)", asked.stderr)
        return found[1] if found and asked.returncode else ""

    def _run(self, tool: Path, text: str, *options: str) -> str:
        asked = subprocess.run(
            [tool, *options], input=text, capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
        return asked.stdout


@cache
def provide() -> Tools:
    """The tools in the folder that WARPLOOM_MLIR names, or on the path.

    Errors: UsageError where they are not, or of another release.
    """
    found = {name: _tool(name) for name in ("mlir-opt", "mlir-translate", "llc")}
    release = _release(found["mlir-opt"])
    if not release.startswith(f"{MAJOR}."):
        raise UsageError(f"mlir-opt is of release {release}; the dialect is that of {MAJOR}", hint=_PACKAGES)
    return Tools(found["mlir-opt"], found["mlir-translate"], found["llc"], release)


def _tool(name: str) -> Path:
    folder = os.environ.get("WARPLOOM_MLIR")
    for candidate in (name, f"{name}-{MAJOR}"):
        if (path := shutil.which(candidate, path=folder)) is not None and _is_of_release(Path(path)):
            return Path(path)
    raise UsageError(f"there is no {name} of release {MAJOR} here", hint=_PACKAGES)


def _is_of_release(path: Path) -> bool:
    return _release(path).startswith(f"{MAJOR}.")


def _release(path: Path) -> str:
    answer = subprocess.run(
        [path, "--version"], capture_output=True, text=True, timeout=_TIMEOUT, check=False
    )
    found = re.search(r"LLVM version (\S+)", answer.stdout)
    return found[1] if found else ""
