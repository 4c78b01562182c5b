"""Compatibility check of Dask workers: release, Python, extras, files and memory."""

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

_MISSING_MODULE = re.compile(r"No module named \W*([\w.]+)")


@dataclass(frozen=True, slots=True)
class Requirements:
    """Requirements that every worker must meet.

    `extras` maps each required module to the extra of Warploom that installs it. `files` maps paths to the SHA-256 of
    the contents. Units: `memory` in bytes.
    """

    extras: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    memory: int = 0


def file_digests(paths: Iterable[Path]) -> dict[str, str]:
    """Return the SHA-256 of each file by absolute path.

    Errors: UsageError dask.file for a missing file.
    """
    digests: dict[str, str] = {}
    for path in paths:
        if not path.is_file():
            raise UsageError(f"there is no file {path}", code="dask.file")
        digests[str(path.resolve())] = _digest([path])
    return digests


@cache
def source_version() -> str:
    """Return Warploom's version and a digest of its source."""
    root = Path(release.__file__).parent
    return f"{release.version()} ({_digest(sorted(root.rglob('*.py')))[:12]})"


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def describe_worker(extras: Iterable[str], paths: Iterable[str]) -> dict[str, Any]:
    """Return the properties of this worker process, as plain data for `require_compatible`.

    `extras` and `paths` are the modules and the files to look for.
    """
    return {
        "version": source_version(),
        "python": platform.python_version(),
        "host": platform.node(),
        "extras": [module for module in extras if _is_installed(module)],
        "files": {path: _digest([Path(path)]) for path in paths if Path(path).is_file()},
    }


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def require_compatible(
    worker: str,
    answer: Any,
    requirements: Requirements | None = None,
    memory_limit: int = 0,
    version: str | None = None,
) -> None:
    """Refuse a worker that could return other results than this process, or cannot do the work.

    `worker` is a name for messages. `answer` is the result of `describe_worker` on the worker, or an exception from
    there. `memory_limit` is the worker's limit in bytes, or 0 without one. `version` is the expected `source_version`,
    by default that of this process.

    Errors: UsageError dask.worker.
    """
    needs = requirements or Requirements()
    problem, hint = _incompatibility(worker, answer, needs, memory_limit, version or source_version())
    if problem:
        raise UsageError(problem, code="dask.worker", hint=hint)


def _incompatibility(worker: str, answer: Any, needs: Requirements, memory_limit: int, version: str) -> tuple[str, str]:
    """Return a sentence about the first incompatibility, and a hint. Return "" for both if there is none."""
    install = f"install warploom {version} there, and restart the worker"
    if isinstance(answer, Exception):
        missing = _MISSING_MODULE.search(str(answer))  # a worker may return only the text of its exception
        if missing is not None:
            return f"the worker {worker} has no {missing[1]}", install
        return f"the worker {worker} cannot report its version: {answer!r}", install
    where = f"the worker {worker} on {answer['host']}"
    if answer["version"] != version:
        return f"{where} has warploom {answer['version']}; expected {version}", install
    python = platform.python_version().rpartition(".")[0]
    if answer["python"].rpartition(".")[0] != python:
        return f"{where} runs Python {answer['python']}; expected {python}", ""
    for module, extra in needs.extras.items():
        if module not in answer["extras"]:
            return f"{where} has no {module}", f"pip install 'warploom[{extra}]' there"
    for path, digest in needs.files.items():
        if path not in answer["files"]:
            return f"{where} has no file {path}", "copy the file there, to the same path"
        if answer["files"][path] != digest:
            return f"{where} has another file {path} than this host", "copy the file of this host there"
    if 0 < memory_limit < needs.memory:
        limit, needed = memory_limit / 1e9, needs.memory / 1e9
        problem = f"{where} may use {limit:.1f} GB of memory; the work needs {needed:.1f} GB on each worker"
        return problem, "start workers with a higher limit: dask worker --memory-limit"
    return "", ""
