"""What a worker is and has, and what is wrong with that: it must do what the caller's process would do."""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from warploom import release
from warploom.diagnostics import UsageError

_LACKING = re.compile(r"No module named \W*([\w.]+)")


@dataclass(frozen=True, slots=True)
class Requirements:
    """What work asks of a worker: `extras` maps modules to the extras that bring them, `files` paths to the SHA-256
    of what is in them.

    Units: `memory` in bytes.
    """

    extras: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    memory: int = 0


def file_digests(paths: Iterable[Path]) -> dict[str, str]:
    """Files that workers need as they are here. Errors: UsageError dask.file."""
    found: dict[str, str] = {}
    for path in paths:
        if not path.is_file():
            raise UsageError(f"there is no file {path}", code="dask.file")
        found[str(path.resolve())] = _digest([path])
    return found


@cache
def source_version() -> str:
    """The version of this package, with a digest of its source: two checkouts may call themselves the same."""
    root = Path(release.__file__).parent
    return f"{release.version()} ({_digest(sorted(root.rglob('*.py')))[:12]})"


def _digest(paths: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()


def describe_worker(extras: Iterable[str], paths: Iterable[str]) -> dict[str, Any]:
    """What this process has. Plain data: whatever version answers, it is to be understood."""
    return {
        "version": source_version(),
        "python": platform.python_version(),
        "host": platform.node(),
        "extras": [module for module in extras if _has(module)],
        "files": {path: _digest([Path(path)]) for path in paths if Path(path).is_file()},
    }


def _has(module: str) -> bool:
    """Whether a module is there; of one within a package that is not, `find_spec` itself would complain."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def incompatibility(
    name: str, answer: Any, needs: Requirements, memory_limit: int, expected: str = ""
) -> tuple[str, str]:
    """What is wrong with a worker, in a sentence, and a hint; empty where nothing is.

    `answer` is that of `describe_worker`, or the exception in its place; `expected` the version, by default the one here.
    """
    expected = expected or source_version()
    install = f"install warploom {expected} there, and restart the worker"
    if isinstance(answer, Exception):
        lacking = _LACKING.search(str(answer))  # some Pythons can send no more of an exception than its words
        if lacking is not None:
            return f"the worker {name} has no {lacking[1]}", install
        return f"the worker {name} does not say what it is: {answer!r}", install
    found: dict[str, Any] = answer
    where = f"the worker {name} on {found['host']}"
    if found["version"] != expected:
        return f"{where} has warploom {found['version']}; expected {expected}, as here", install
    if found["python"].split(".")[:2] != platform.python_version().split(".")[:2]:
        wanted = ".".join(platform.python_version().split(".")[:2])
        return f"{where} runs Python {found['python']}; expected {wanted}, as here", ""
    for module, extra in needs.extras.items():
        if module not in found["extras"]:
            return f"{where} has no {module}", f"pip install 'warploom[{extra}]' there"
    for path, digest in needs.files.items():
        if path not in found["files"]:
            return f"{where} has no file {path}", "put it there, at the same path"
        if found["files"][path] != digest:
            return f"{where} has another file {path} than there is here", "put the same one there"
    if 0 < memory_limit < needs.memory:
        has, takes = memory_limit / 1e9, needs.memory / 1e9
        why = f"{where} may use {has:.1f} GB of memory; this work takes {takes:.1f} GB on each worker"
        return why, "start workers with more: dask worker --memory-limit"
    return "", ""
