"""Compilation of the driver library."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from warploom.caches import cache_directory
from warploom.diagnostics import UsageError
from warploom.integrations.cuda_driver.devices import DRIVER_VERSION
from warploom.integrations.cuda_driver.functions import (
    IN_LIBRARY,
    RUNTIME_FUNCTIONS,
    numbered_functions,
    read_functions,
)
from warploom.integrations.cuda_driver.package_data import package_text
from warploom.integrations.cuda_driver.statuses import Status

_NAME = "libcuda.so.1"
_OPTIONS = ("-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread", f"-Wl,-soname,{_NAME}")


def library_folder() -> Path:
    """Return a folder with the compiled driver library `libcuda.so.1`.

    The library is compiled on first use.

    Errors: UsageError exec.compiler if there is no C compiler, or if it fails.
    """
    source = package_text("library/driver.c")
    generated = "\n".join(_definitions())
    key = hashlib.sha256("\0".join((source, generated, *_OPTIONS)).encode()).hexdigest()[:32]
    parent = cache_directory() / "driver"
    folder = parent / key
    if not _is_own(folder / _NAME):
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=parent))
        try:
            _compile(source, generated, temporary)
            if folder.exists() and not _is_own(folder / _NAME):
                shutil.rmtree(folder)
            try:
                temporary.replace(folder)
            except OSError:  # another process has created the folder in the meantime
                if not _is_own(folder / _NAME):
                    raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _is_own(library: Path) -> bool:
    """Return True if a library exists, belongs to this user, and only this user can write it."""
    try:
        found = [library.stat(), library.parent.stat()]
    except OSError:
        return False
    return all(each.st_uid == os.getuid() and not each.st_mode & 0o022 for each in found)


def _compile(source: str, generated: str, folder: Path) -> None:
    compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    if compiler is None:
        raise UsageError(
            "the driver library needs a C compiler once; expected cc, gcc or clang on the PATH, or its name in CC",
            code="exec.compiler",
        )
    (folder / "driver.c").write_text(source, encoding="utf-8")
    (folder / "functions.inc").write_text(generated, encoding="utf-8")
    command = [*compiler.split(), *_OPTIONS, "-o", str(folder / _NAME), str(folder / "driver.c")]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    except OSError as error:
        raise UsageError(
            f"the C compiler {compiler} cannot be started: {error.strerror}", code="exec.compiler"
        ) from None
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[:200])
        raise UsageError(f"the C compiler {compiler} cannot compile the driver library: {first}", code="exec.compiler")
    (folder / "libcuda.so").symlink_to(_NAME)
    folder.chmod(0o700)


def _definitions() -> Iterator[str]:
    """Yield the lines of functions.inc: the forwarding functions, and the tables `functions` and `errors`."""
    words = {each.symbol: each.words for each in read_functions()} | RUNTIME_FUNCTIONS
    for number, symbol in enumerate(numbered_functions()):
        if symbol == "runtime_check":
            yield f"enum {{ RUNTIME_CHECK = {number} }};"
            continue
        names = [f"w{i}" for i in range(words[symbol])]
        parameters = ", ".join(f"Word {name}" for name in names) or "void"
        linkage = "static" if symbol in RUNTIME_FUNCTIONS else "EXPORT"
        values = f"const Word words[] = {{{', '.join(names) or '0'}}};"
        yield f"{linkage} Word {symbol}({parameters}) {{ {values} return forward({number}, words, {len(names)}); }}"
    yield f"enum {{ DRIVER_VERSION = {DRIVER_VERSION} }};"
    yield "static const struct Function functions[] = {"
    for each in read_functions():
        symbol, per_thread = each.symbol, int(each.is_per_thread)
        yield f'    {{"{symbol}", "{each.name}", {each.version}, {per_thread}, (void *){symbol}}},'
    yield "};"
    yield "static const struct Error errors[] = {"
    for status in Status:
        yield f'    {{{int(status)}, "{status.symbol}", "{status.text}"}},'
    yield "};"
    assert words.keys() >= IN_LIBRARY
