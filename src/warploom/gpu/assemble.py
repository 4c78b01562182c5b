"""From PTX to a GPU's code: by the driver's assembler, or by a ptxas that is installed."""

from __future__ import annotations

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
from warploom.gpu.cache import Assembled, Cubins, key_of
from warploom.gpu.logs import findings
from warploom.gpu.packages import package

AssemblerName = Literal["driver", "ptxas"]

_TIMEOUT = 600
_SHARED = re.compile(
    r"^(?P<extern>[^\n/;]*\.extern\s+)?\s*\.shared\s+(?:\.align\s+(?P<align>\d+))?", re.MULTILINE
)
_LINKED_ALIGNMENT = 16  # bytes: as far as linkers heed it
_VERSION = re.compile(r"\bV(\d+\.\d+\.\d+)")


def assemble(
    source: Source, arch: str, assembler: AssemblerName = "driver", options: tuple[str, ...] = ()
) -> Assembled:
    """A module's code for an architecture, from the cache where it is there.

    "driver" is what cuda-core assembles with: nvJitLink where it is installed, or the driver itself. "ptxas" is
    NVIDIA's assembler, of the wheel `nvidia-cuda-nvcc`, of a CUDA toolkit or on PATH; `options` are its own.

    Errors: WarploomError gpu.assembler with the assembler's words, each at its line; UsageError gpu.assembler.
    """
    if assembler == "driver":
        if options:
            raise UsageError(
                f"the driver's assembler takes no options; {' '.join(options)} was given",
                code="gpu.assembler",
                hint='choose assembler="ptxas"',
            )
        return _by_driver(source, arch)
    if assembler == "ptxas":
        return _by_ptxas(source, arch, options)
    raise UsageError(f"assembler is {assembler!r}; expected 'driver' or 'ptxas'", code="gpu.assembler")


def is_linked_wrong(text: str) -> bool:
    """Whether linking may put a module's dynamic shared memory where it is not aligned.

    Before CUDA 13.1 what is linked, by nvJitLink or by the driver, has it right behind the static shared memory, at a
    multiple of 16 bytes, whatever its declaration asks for. A driver that loads the text itself heeds it.
    """
    found = list(_SHARED.finditer(text))
    dynamic = [int(each["align"] or 1) for each in found if each["extern"]]
    return len(found) > len(dynamic) and max(dynamic, default=1) > _LINKED_ALIGNMENT


def _by_driver(source: Source, arch: str) -> Assembled:
    core = package("cuda.core")
    wanted = core.ProgramOptions(arch=arch)
    # The key that cuda-core makes has the version of whatever it assembles with.
    key = package("cuda.core.utils").make_program_cache_key(
        code=source.text, code_type="ptx", options=wanted, target_type="cubin"
    )
    cubins = Cubins()
    if (known := cubins.get(key)) is not None:
        return known
    log = io.StringIO()
    try:
        code = bytes(core.Program(source.text, "ptx", wanted).compile("cubin", logs=log).code)
    except Exception as error:  # noqa: BLE001 - the errors of NVIDIA's packages have no base of their own
        raise _refused(source, f"{log.getvalue()}\n{error}") from None
    made = Assembled(code, log.getvalue())
    cubins.put(key, made)
    return made


@dataclass(frozen=True, slots=True)
class Ptxas:
    """An installed assembler. `release` is its own word, such as "13.1.115"."""

    path: Path
    release: str


@cache
def find_ptxas() -> Ptxas:
    """The ptxas of this environment. Errors: UsageError gpu.assembler where there is none that answers."""
    found = package("cuda.pathfinder").find_nvidia_binary_utility("ptxas") or shutil.which("ptxas")
    if found is None:
        raise UsageError(
            "there is no ptxas in this environment and none on PATH",
            code="gpu.assembler",
            hint="pip install nvidia-cuda-nvcc, or leave it to assembler='driver'",
        )
    try:
        answer = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"{found} is not a ptxas that runs here: {error}", code="gpu.assembler") from None
    release = _VERSION.search(answer.stdout)
    if release is None:
        raise UsageError(f"{found} does not say which release of ptxas it is", code="gpu.assembler")
    return Ptxas(Path(found), release[1])


def _by_ptxas(source: Source, arch: str, options: tuple[str, ...]) -> Assembled:
    ptxas = find_ptxas()
    key = key_of("ptxas", ptxas.release, arch, "\0".join(options), source.text)
    cubins = Cubins()
    if (known := cubins.get(key)) is not None:
        return known
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
        made = Assembled(output.read_bytes(), log)
    cubins.put(key, made)
    return made


def _refused(source: Source, log: str) -> WarploomError:
    """What an assembler's log says against a module."""
    found = findings(log, source)
    if not any(each.severity is Severity.ERROR for each in found):
        words = " ".join(log.split()) or "it does not say why"
        message = f"the driver does not assemble it: {words}"
        found = (*found, Diagnostic("gpu.assembler", Severity.ERROR, message, source, None))
    return WarploomError(found)
