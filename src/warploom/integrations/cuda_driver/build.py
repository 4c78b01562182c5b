"""Compilation of the libraries that `warploom exec` and `warploom capture` load into a program."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterator
from functools import cache
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
from warploom.integrations.cuda_driver.package_data import package_folder, package_text
from warploom.integrations.cuda_driver.statuses import Status

_NAME = "libcuda.so.1"
_AUDIT = "libcompilers.so"
_OPTIONS = ("-O2", "-fPIC", "-shared", "-pthread")
_DRIVER_OPTIONS = ("-fvisibility=hidden", f"-Wl,-Bsymbolic,-soname,{_NAME}", "-ldl")
_EMULATOR, _CAPTURE, _CONNECTION, _COMPILERS, _PTXAS = "driver.c", "capture.c", "connection.h", "compilers.c", "ptxas"


def library_folder(intercepted: Collection[str] | None = None) -> Path:
    """Return a folder with a compiled driver library `libcuda.so.1`.

    If `intercepted` is None, it is the library of `warploom exec`, and the folder also has the library
    `libcompilers.so` and the script `ptxas`. Otherwise it is the library of `warploom capture`, and `intercepted` lists
    the driver functions whose calls it sends to the server. The first use copies the libraries from the package if a
    wheel contains them, or compiles them.

    Errors: UsageError exec.compiler if there is no C compiler, or if it fails.
    """
    sources = _sources(intercepted)
    key = _key(sources)
    parent = cache_directory() / "driver"
    folder = parent / key
    if not _is_own(folder / _NAME):
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=parent))
        try:
            prebuilt = package_folder(_prebuilt(key))
            if prebuilt is None:
                _make(temporary, sources)
            else:
                shutil.copytree(prebuilt, temporary, copy_function=shutil.copyfile, dirs_exist_ok=True)
            (temporary / "libcuda.so").symlink_to(_NAME)
            if (temporary / _PTXAS).exists():
                (temporary / _PTXAS).chmod(0o700)
            temporary.chmod(0o700)
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


def prebuild(folder: Path) -> str:
    """Compile the libraries of `warploom exec` into a folder, for a wheel.

    Return the path in this package at which the wheel must contain the folder.

    Errors: UsageError exec.compiler.
    """
    sources = _sources(None)
    _make(folder, sources)
    return _prebuilt(_key(sources))


def _prebuilt(key: str) -> str:
    return f"library/prebuilt-{key}"


def _sources(intercepted: Collection[str] | None) -> dict[str, str]:
    """Return the texts from which the libraries are made, by file. The first one is the driver library."""
    if intercepted is None:
        names, generated = (_EMULATOR, _CONNECTION, _COMPILERS, _PTXAS), _definitions()
    else:
        names, generated = (_CAPTURE, _CONNECTION), _capture_definitions(intercepted)
    return {name: package_text(f"library/{name}") for name in names} | {"functions.inc": "\n".join(generated)}


def _key(sources: dict[str, str]) -> str:
    return hashlib.sha256("\0".join((*sources.values(), *_OPTIONS, *_DRIVER_OPTIONS)).encode()).hexdigest()[:32]


def _make(folder: Path, sources: dict[str, str]) -> None:
    """Write the sources into a folder, and compile them there. Errors: as `library_folder`."""
    for name, text in sources.items():
        (folder / name).write_text(text, encoding="utf-8")
    _compile(folder, next(iter(sources)), _NAME, *_DRIVER_OPTIONS)
    if _COMPILERS in sources:
        _compile(folder, _COMPILERS, _AUDIT)


def program_environment(folder: Path) -> dict[str, str]:
    """Return the environment variables with which a program uses the libraries of a folder.

    With the libraries of `warploom exec`, kernels that Triton, CuPy and numba-cuda have compiled for a GPU remain in
    their caches, and are not used. CuPy computes sums with its own kernels, because the kernels of its other library,
    CUB, have PTX for newer GPUs only.
    """
    paths, changes = {"LD_LIBRARY_PATH": folder}, {
        "TRITON_LIBCUDA_PATH": str(folder), "NUMBA_CUDA_DRIVER": str(folder / _NAME), "CUPY_COMPILE_WITH_PTX": "1",
    }  # fmt: skip
    if (folder / _AUDIT).exists():
        ptxas = str(folder / _PTXAS)
        paths["LD_AUDIT"] = folder / _AUDIT
        changes |= {
            "TRITON_PTXAS_PATH": ptxas, "TRITON_PTXAS_BLACKWELL_PATH": ptxas, "CUPY_ACCELERATORS": "",
            "NUMBA_CACHE_DIR": str(cache_directory() / "numba-cuda"),
        }  # fmt: skip
    return changes | {
        name: os.pathsep.join(filter(None, [str(path), os.environ.get(name)])) for name, path in paths.items()
    }


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
    command = [*compiler.split(), *_OPTIONS, "-o", str(folder / library), str(folder / source), *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    except OSError as error:
        raise UsageError(
            f"the C compiler {compiler} cannot be started: {error.strerror}", code="exec.compiler"
        ) from None
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[:200])
        raise UsageError(f"the C compiler {compiler} cannot compile the driver library: {first}", code="exec.compiler")


def _definition(symbol: str, body: Callable[[str], str]) -> str:
    """Return the definition of a function. `body` returns its statements, given the list of its arguments."""
    names = [f"w{i}" for i in range(_words()[symbol])]
    linkage = "static" if symbol in RUNTIME_FUNCTIONS else "EXPORT"
    parameters = ", ".join(f"Word {name}" for name in names) or "void"
    return f"{linkage} Word {symbol}({parameters}) {{ {body(', '.join(names))} }}"


@cache
def _words() -> dict[str, int]:
    """Return the number of arguments of each function, by symbol."""
    return {each.symbol: each.words for each in read_functions()} | RUNTIME_FUNCTIONS


def _forwarding(symbol: str, number: int, before: str = "") -> str:
    """Return the definition of a function that forwards its calls.

    The values `before` precede its arguments.
    """
    return _definition(
        symbol,
        lambda names: (
            f"const Word words[] = {{{before}{names or 0}}}; "
            f"return forward({number}, words, {_words()[symbol]}{' + 2' if before else ''});"
        ),
    )


def _direct(symbol: str, number: int) -> str:
    """Return the definition of a function that calls the function of NVIDIA's driver."""
    types = ", ".join(["Word"] * _words()[symbol]) or "void"
    return _definition(symbol, lambda names: f"return ((Word (*)({types}))real_function({number}))({names});")


def _table(has_address: Callable[[str], bool]) -> Iterator[str]:
    """Yield the lines of the table `functions`. A function without an address here has the address NULL."""
    yield "static const struct Function functions[] = {"
    for each in read_functions():
        address = f"(void *){each.symbol}" if has_address(each.symbol) else "NULL"
        yield f'    {{"{each.symbol}", "{each.name}", {each.version}, {int(each.is_per_thread)}, {address}}},'
    yield "};"


def _capture_definitions(intercepted: Collection[str]) -> Iterator[str]:
    """Yield the lines of functions.inc for the library of `warploom capture`."""
    numbered = numbered_functions()
    for number, symbol in enumerate(numbered):
        if symbol in intercepted:
            yield _forwarding(symbol, number, "(Word)real_function, (Word)shared_memory, ")
        elif symbol not in RUNTIME_FUNCTIONS:
            yield _direct(symbol, number)
        if symbol in RUNTIME_FUNCTIONS:
            yield f"enum {{ {symbol.upper()} = {number} }};"
    yield from _table(lambda symbol: symbol in IN_LIBRARY or symbol in intercepted)
    names = ", ".join(f'"{each}"' for each in numbered)
    yield f"static const char *const symbols[] = {{{names}}};"
    yield f"static void *reals[{len(numbered)}];"


def _definitions() -> Iterator[str]:
    """Yield the lines of functions.inc: the forwarding functions, and the tables `functions` and `errors`."""
    for number, symbol in enumerate(numbered_functions()):
        if symbol == "runtime_check":
            yield f"enum {{ RUNTIME_CHECK = {number} }};"
        else:
            yield _forwarding(symbol, number)
    yield f"enum {{ DRIVER_VERSION = {DRIVER_VERSION} }};"
    yield from _table(lambda _: True)
    yield "static const struct Error errors[] = {"
    for status in Status:
        yield f'    {{{int(status)}, "{status.symbol}", "{status.text}"}},'
    yield "};"
