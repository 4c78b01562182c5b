"""Sources of public programs, and their compilation with nvcc."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from warploom.diagnostics import UsageError
from warploom.integrations.cuda_driver.build import library_folder
from warploom_lab.programs.catalog import Program, Repository

_DRIVERS = Path(__file__).parent / "drivers"
_FLAGS = ("-O2", "-w", "-gencode")


def fetch(repository: Repository, sources: Path) -> None:
    """Fetch a repository at its commit into the folder of sources, unless its folder exists.

    Errors: UsageError lab.sources.
    """
    folder = sources / repository.name
    if folder.exists():
        return
    git = shutil.which("git")
    if git is None:
        raise UsageError("git is missing; expected it on PATH", code="lab.sources")
    temporary = sources / f".{repository.name}"
    shutil.rmtree(temporary, ignore_errors=True)
    for arguments in (
        ("init", "--quiet", str(temporary)),
        ("-C", str(temporary), "fetch", "--quiet", "--depth", "1", repository.url, repository.commit),
        ("-C", str(temporary), "checkout", "--quiet", "FETCH_HEAD"),
    ):
        done = subprocess.run([git, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            message = f"git cannot fetch {repository.url}: {done.stderr.strip()}"
            raise UsageError(message, code="lab.sources")
    temporary.rename(folder)


def build(program: Program, sources: Path, folder: Path) -> Path:
    """Compile a program into a folder, unless this has been done before, and return its path.

    `sources` has the repositories.

    Errors: UsageError lab.sources if a source is missing, and lab.compiler.
    """
    made = folder / program.name
    if made.exists():
        return made
    root = _DRIVERS if program.driver else sources / program.repository
    files = [root / each for each in program.sources]
    for each in (*files, *(sources / each for each in program.includes)):
        if not each.exists():
            raise UsageError(f"{each} is missing; expected the sources of {program.repository}", code="lab.sources")
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise UsageError("nvcc is missing; expected the bin folder of CUDA 13.0 on PATH", code="lab.compiler")
    folder.mkdir(parents=True, exist_ok=True)
    standard = () if any(each.startswith("-std") for each in program.flags) else ("-std=c++17",)
    # NVIDIA's driver may not be installed, so programs are linked with Warploom's.
    target = f"arch=compute_{program.target},code=compute_{program.target}"
    command = [
        nvcc, *_FLAGS, target, *standard, *(("-lineinfo",) if program.line_info else ()),
        *(f"-I{sources / each}" for each in program.includes), *map(str, files), *program.flags,
        f"-L{library_folder()}", "-o", str(made),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[-500:])
        raise UsageError(f"nvcc cannot compile {program.name}: {first}", code="lab.compiler")
    return made
