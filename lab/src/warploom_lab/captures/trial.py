"""Programs of the trial, and the records of their captured launches."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from warploom.diagnostics import UsageError, WarploomError
from warploom.runtime.captures.capture_file import SUFFIX, read_capture
from warploom.runtime.captures.replay import Replay, replay

_HERE = Path(__file__).parent / "programs"
_NVCC = ("-std=c++17", "-O2", "-gencode", "arch=compute_90a,code=compute_90a")
_SCRIPTS = ("cupy_arrays", "cuda_core_nvrtc", "numba_kernels", "torch_extension", "triton_kernels")
_SAMPLES: dict[str, tuple[str, ...]] = {
    "vectorAdd": (), "matrixMul": ("-wA=64", "-hA=64", "-wB=64", "-hB=64"), "simpleTemplates": (), "scan": (),
    "simpleAtomicIntrinsics": (), "threadFenceReduction": ("--n=4096",), "reductionMultiBlockCG": (), "histogram": (),
    "globalToShmemAsyncCopy": ("-wA=128", "-hA=128", "-wB=128", "-hB=128"), "simpleZeroCopy": (), "shfl_scan": (),
    "warpAggregatedAtomicsCG": (), "radixSortThrust": ("-n=65536",),
}  # fmt: skip
"""Arguments of the programs of NVIDIA's cuda-samples."""
_CUTLASS = ("--m=256", "--n=256", "--k=128", "--iterations=2")
_TIMEOUT = 240  # seconds


@dataclass(frozen=True)
class TrialProgram:
    """Program of the trial and its options for `warploom capture`."""

    name: str
    command: tuple[str, ...]
    options: tuple[str, ...] = ()


def programs(folder: Path, binaries: Path | None) -> list[TrialProgram]:
    """Return the programs. Compile the program of this package into a folder.

    `binaries` is a folder with compiled programs of cuda-samples, and CUTLASS's example 48 with the name `48`.

    Errors: UsageError lab.compiler.
    """
    own = folder / "build" / "launches"
    own.parent.mkdir(exist_ok=True)
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise UsageError("nvcc is missing; expected the bin folder of CUDA 13.0 on PATH", code="lab.compiler")
    command = [nvcc, *_NVCC, "-o", str(own), str(_HERE / "launches.cu")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UsageError(f"nvcc failed: {done.stderr[-2000:]}", code="lab.compiler")
    found = [TrialProgram("launches", (str(own),))]
    found += [TrialProgram(name, (sys.executable, str(_HERE / f"{name}.py"))) for name in _SCRIPTS]
    if binaries is not None:
        for name, arguments in _SAMPLES.items():
            if (binaries / name).exists():
                found.append(TrialProgram(name, (str(binaries / name), *arguments), ("--nth", "2")))
                found.append(TrialProgram(name, (str(binaries / name), *arguments), ("--nth", "1")))
        if (binaries / "48").exists():
            found.append(TrialProgram("cutlass48", (str(binaries / "48"), *_CUTLASS), ("--nth", "2")))
            found.append(TrialProgram("cutlass48", (str(binaries / "48"), *_CUTLASS), ("--nth", "1")))
    return found


def capture(program: TrialProgram, folder: Path) -> str:
    """Capture the launches of a program into a folder. Return the last lines of its output."""
    target = folder / program.name / "-".join(program.options)
    command = [
        sys.executable, "-m", "warploom", "capture", *program.options, "--output", str(target), "--", *program.command,
    ]  # fmt: skip
    began = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIMEOUT, cwd=folder)
    except subprocess.TimeoutExpired:
        return f"no end after {_TIMEOUT} s"
    lines = [each for each in (done.stdout + done.stderr).splitlines() if each.strip()]
    return f"status {done.returncode} after {time.perf_counter() - began:.1f} s\n" + "\n".join(lines[-6:])


@dataclass(frozen=True)
class TrialRecord:
    """Replay of one captured launch.

    `result` is "equal", "different" or "error", or "order" if the differences come from atomics that the result names.
    """

    program: str
    kernel: str
    size: int
    seconds: float
    result: str
    detail: str = ""


def replay_file(path: Path, program: str, device: str) -> TrialRecord:
    """Replay a captured launch on a device."""
    began, size = time.perf_counter(), path.stat().st_size
    kernel = path.name.removesuffix(SUFFIX)
    try:
        kernel = read_capture(path).kernel
        done = replay(path, device="cuda" if device == "cuda" else "cpu", output=lambda _: None)
    except WarploomError as error:
        return TrialRecord(program, kernel, size, time.perf_counter() - began, "error", str(error)[:300])
    return TrialRecord(program, kernel, size, time.perf_counter() - began, _result(done), _detail(done))


def _result(done: Replay) -> str:
    if done.equal:
        return "equal"
    is_named = bool(done.differences) and all(each.depends_on_order or each.note for each in done.differences)
    return "order" if is_named else "different"


def _detail(done: Replay) -> str:
    return "" if done.equal else "\n".join([done.sentence, *map(str, done.differences)])[:600]
