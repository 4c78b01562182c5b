"""Compilation of the driver library and of the audit library, which replaces functions of compilers."""

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
_AUDIT = "libcompilers.so"
_OPTIONS = ("-O2", "-fPIC", "-shared", "-pthread")
_DRIVER_OPTIONS = ("-fvisibility=hidden", f"-Wl,-soname,{_NAME}")


def library_folder() -> Path:
    """Return a folder with the libraries `libcuda.so.1` and `libcompilers.so`, and the script `ptxas`.

    The libraries are compiled on first use.

    Errors: UsageError exec.compiler if there is no C compiler, or if it fails.
    """
    texts = {name: package_text(f"library/{name}") for name in ("driver.c", "compilers.c", "ptxas")}
    texts["functions.inc"] = "\n".join(_definitions())
    key = hashlib.sha256("\0".join((*texts.values(), *_OPTIONS, *_DRIVER_OPTIONS)).encode()).hexdigest()[:32]
    parent = cache_directory() / "driver"
    folder = parent / key
    if not _is_own(folder / _NAME):
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=parent))
        try:
            for name, text in texts.items():
                (temporary / name).write_text(text, encoding="utf-8")
            _compile(temporary, "driver.c", _NAME, *_DRIVER_OPTIONS)
            _compile(temporary, "compilers.c", _AUDIT)
            (temporary / "libcuda.so").symlink_to(_NAME)
            (temporary / "ptxas").chmod(0o700)
            temporary.chmod(0o700)
            if folder.exists():
                shutil.rmtree(folder)
            temporary.replace(folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return folder


def program_environment(folder: Path, server: str) -> dict[str, str]:
    """Return the environment variables with which a program uses the libraries of a folder and a server.

    Kernels that Triton, CuPy and numba-cuda have compiled for a GPU remain in their caches, and are not used. CuPy
    computes sums with its own kernels, because the kernels of its other library, CUB, have no PTX.
    """
    paths = {"LD_LIBRARY_PATH": folder, "LD_AUDIT": folder / _AUDIT}
    joined = {name: os.pathsep.join(filter(None, [str(path), os.environ.get(name)])) for name, path in paths.items()}
    ptxas = str(folder / "ptxas")
    return joined | {
        "WARPLOOM_EXEC": server,
        "TRITON_LIBCUDA_PATH": str(folder), "TRITON_PTXAS_PATH": ptxas, "TRITON_PTXAS_BLACKWELL_PATH": ptxas,
        "NUMBA_CUDA_DRIVER": str(folder / _NAME), "NUMBA_CACHE_DIR": str(cache_directory() / "numba-cuda"),
        "CUPY_COMPILE_WITH_PTX": "1", "CUPY_ACCELERATORS": "",
    }  # fmt: skip


def _is_own(library: Path) -> bool:
    """Return True if a library exists, belongs to this user, and only this user can write it."""
    try:
        found = [library.stat(), library.parent.stat()]
    except OSError:
        return False
    return all(each.st_uid == os.getuid() and not each.st_mode & 0o022 for each in found)


def _compile(folder: Path, source: str, library: str, *options: str) -> None:
    compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    if compiler is None:
        raise UsageError(
            "the driver library needs a C compiler once; expected cc, gcc or clang on the PATH, or its name in CC",
            code="exec.compiler",
        )
    command = [*compiler.split(), *_OPTIONS, *options, "-o", str(folder / library), str(folder / source)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    except OSError as error:
        raise UsageError(
            f"the C compiler {compiler} cannot be started: {error.strerror}", code="exec.compiler"
        ) from None
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[:200])
        raise UsageError(f"the C compiler {compiler} cannot compile the driver library: {first}", code="exec.compiler")


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
