"""Assembly of PTX to GPU code by the CUDA driver or by ptxas."""

import io
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from warploom.diagnostics import Diagnostic, Severity, Source, UsageError, WarploomError
from warploom.gpu.cache import Assembled, cached, key_of
from warploom.gpu.driver import package
from warploom.gpu.logs import findings

AssemblerName = Literal["driver", "ptxas"]

_TIMEOUT = 600
_SHARED = re.compile(r"^(?P<extern>[^\n/;]*\.extern\s+)?\s*\.shared\s+(?:\.align\s+(?P<align>\d+))?", re.MULTILINE)
_LINKED_ALIGNMENT = 16  # bytes; the largest alignment that linkers respect
_VERSION = re.compile(r"\bV(\d+\.\d+\.\d+)")


def assemble(
    source: Source, arch: str, assembler: AssemblerName = "driver", options: tuple[str, ...] = ()
) -> Assembled:
    """Return the code of a PTX module for an architecture such as "sm_90a".

    `assembler` is "driver" or "ptxas". "driver" selects cuda-core's assembler: nvJitLink if it is installed, otherwise
    the CUDA driver. "ptxas" selects an installed ptxas. Only ptxas takes `options`.

    Errors: WarploomError gpu.assembler with the assembler's messages at their lines; UsageError gpu.assembler.
    """
    if assembler == "driver":
        if options:
            raise UsageError(
                f"the driver's assembler takes no options; found {' '.join(options)}",
                code="gpu.assembler",
                hint='choose assembler="ptxas"',
            )
        return _by_driver(source, arch)
    if assembler == "ptxas":
        return _by_ptxas(source, arch, options)
    raise UsageError(f"assembler is {assembler!r}; expected 'driver' or 'ptxas'", code="gpu.assembler")


def is_linked_wrong(text: str) -> bool:
    """Return True if a linker may misalign the dynamic shared memory of a PTX module."""
    # Before CUDA 13.1, linkers place dynamic after static shared memory, aligned to 16 bytes only.
    found = list(_SHARED.finditer(text))
    dynamic = [int(each["align"] or 1) for each in found if each["extern"]]
    return len(found) > len(dynamic) and max(dynamic, default=1) > _LINKED_ALIGNMENT


def _by_driver(source: Source, arch: str) -> Assembled:
    core = package("cuda.core")
    options = core.ProgramOptions(arch=arch)

    def make() -> Assembled:
        log = io.StringIO()
        try:
            code = bytes(core.Program(source.text, "ptx", options).compile("cubin", logs=log).code)
        except Exception as error:  # noqa: BLE001 - NVIDIA's packages have no common base of errors
            raise _refused(source, f"{log.getvalue()}\n{error}") from None
        return Assembled(code, log.getvalue())

    # cuda-core's key includes the version of the assembler.
    key = package("cuda.core.utils").make_program_cache_key(
        code=source.text, code_type="ptx", options=options, target_type="cubin"
    )
    return cached(key, make)


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


def _by_ptxas(source: Source, arch: str, options: tuple[str, ...]) -> Assembled:
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
