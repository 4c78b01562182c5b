"""Assembly of PTX to GPU code by the CUDA driver or by ptxas."""

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from warploom.diagnostics import Diagnostic, Severity, Source, UsageError, WarploomError
from warploom.gpu.cache import Assembled, cached, key_of
from warploom.gpu.driver import package, status_text
from warploom.gpu.logs import findings

AssemblerName = Literal["driver", "ptxas"]

_TIMEOUT = 600
_VERSION = re.compile(r"\bV(\d+\.\d+\.\d+)")
_LOG_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Library:
    """PTX module that is loaded on a GPU: the driver's handle, and the log of the assembler."""

    handle: Any
    log: str


def load(source: Source, arch: str, assembler: AssemblerName = "driver", options: tuple[str, ...] = ()) -> Library:
    """Assemble a PTX module for an architecture such as "sm_90a", and load it on the current GPU.

    `assembler` is "driver" or "ptxas". "driver" selects the assembler in the CUDA driver, which caches its code on
    disk. "ptxas" selects an installed ptxas. Only ptxas takes `options`.

    Errors: WarploomError gpu.assembler with the assembler's messages at their lines; UsageError gpu.assembler,
        gpu.driver if the driver cannot load the code of ptxas.
    """
    if assembler not in ("driver", "ptxas"):
        raise UsageError(f"assembler is {assembler!r}; expected 'driver' or 'ptxas'", code="gpu.assembler")
    driver = package("cuda.bindings.driver")
    if assembler == "driver":
        if options:
            raise UsageError(
                f"the driver's assembler takes no options; found {' '.join(options)}",
                code="gpu.assembler",
                hint='choose assembler="ptxas"',
            )
        return _by_driver(driver, source)
    made = assemble(source, arch, options)
    status, handle = driver.cuLibraryLoadData(made.code, [], [], 0, [], [], 0)
    if status:
        raise _not_loaded(source, driver, status, "install a newer driver, or use assembler='driver'")
    return Library(handle, made.log)


def _by_driver(driver: Any, source: Source) -> Library:
    # A linker such as nvJitLink would assemble the module as one of several, and would ignore `setmaxnreg`.
    option, info, errors = driver.CUjit_option, bytearray(_LOG_BYTES), bytearray(_LOG_BYTES)
    values = {
        option.CU_JIT_INFO_LOG_BUFFER: info,
        option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: len(info),
        option.CU_JIT_ERROR_LOG_BUFFER: errors,
        option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: len(errors),
        option.CU_JIT_LOG_VERBOSE: 1,
    }
    text = source.text.encode() + b"\0"
    status, handle = driver.cuLibraryLoadData(text, list(values), list(values.values()), len(values), [], [], 0)
    if not status:
        # By default the driver assembles a library at its first use.
        status, _ = driver.cuLibraryGetModule(handle)
    log, problems = (each.partition(b"\0")[0].decode(errors="replace") for each in (info, errors))
    if status:
        raise _refused(source, problems) if problems else _not_loaded(source, driver, status)
    return Library(handle, log)


def _not_loaded(source: Source, driver: Any, status: Any, hint: str = "") -> UsageError:
    message = f"the GPU's driver cannot load {source.name}: {status_text(driver, status)}"
    return UsageError(message, code="gpu.driver", hint=hint)


@dataclass(frozen=True, slots=True)
class Ptxas:
    """Installed ptxas. Its release is a text such as "13.1.115"."""

    path: Path
    release: str


@cache
def find_ptxas() -> Ptxas:
    """Return the installed ptxas. Errors: UsageError gpu.assembler if none works."""
    found = package("cuda.pathfinder").find_nvidia_binary_utility("ptxas") or shutil.which("ptxas")
    if found is None:
        raise UsageError(
            "there is no ptxas in this environment or on PATH",
            code="gpu.assembler",
            hint="pip install nvidia-cuda-nvcc, or use assembler='driver'",
        )
    try:
        answer = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"{found} cannot be run: {error}", code="gpu.assembler") from None
    release = _VERSION.search(answer.stdout)
    if release is None:
        raise UsageError(f"{found} --version prints no release of ptxas", code="gpu.assembler")
    return Ptxas(Path(found), release[1])


def assemble(source: Source, arch: str, options: tuple[str, ...] = ()) -> Assembled:
    """Return the code of a PTX module for an architecture from ptxas, or from the cache.

    Errors: WarploomError gpu.assembler with the messages of ptxas at their lines; UsageError gpu.assembler.
    """
    ptxas = find_ptxas()

    def make() -> Assembled:
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "kernel.cubin"
            command = [str(ptxas.path), "-v", f"-arch={arch}", *options, "-o", str(output), "-"]
            try:
                done = subprocess.run(
                    command, input=source.text, capture_output=True, text=True, timeout=_TIMEOUT, check=False
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise _refused(source, str(error)) from None
            log = done.stdout + done.stderr
            if done.returncode != 0:
                raise _refused(source, log)
            return Assembled(output.read_bytes(), log)

    return cached(key_of("ptxas", ptxas.release, arch, "\0".join(options), source.text), make)


def _refused(source: Source, log: str) -> WarploomError:
    found = findings(log, source)
    if not any(each.severity is Severity.ERROR for each in found):
        message = f"the assembler failed: {' '.join(log.split()) or 'it gives no reason'}"
        found = (*found, Diagnostic("gpu.assembler", Severity.ERROR, message, source, None))
    return WarploomError(found)
