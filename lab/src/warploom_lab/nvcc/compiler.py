"""Answers of nvcc to calls of builtins: the instruction or the error messages.

    Nvcc.at().judge(["__hmma_m16n16k16_ld_a(ip, cip, u, 0);"], "sm_90a")
    # one Answer, whose instruction has 8 registers, an address and a register

Each call is in a kernel of its own, with the parameters of PARAMETERS.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warploom.diagnostics import UsageError

PARAMETERS = (
    "int* ip, const int* cip, float* fp, const float* cfp, double* dp, const double* cdp, unsigned* up,"
    " const unsigned* cup, void* vp, const void* cvp, char* cp, unsigned long long* qp,"
    " unsigned u, int n, bool z, float f, unsigned long long q, unsigned long long q2"
)
"""Parameters of every kernel: pointers named by element type (`c` for const), and scalars."""
BATCH = 400
_TIMEOUT = 300
_FILE = "calls.cu"
_ERROR = re.compile(r"^calls\.cu\((\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (.*)$", re.MULTILINE)
_INTERNAL = re.compile(r'^Internal Compiler Error \(codegen\): "(.*)"$')
_ASSEMBLER = re.compile(r"^ptxas .*?; error\s*: (.*)$", re.MULTILINE)
_ENTRY = re.compile(r"\.entry\s+k(\d+)\b.*?\n\{(.*?)\n\}", re.DOTALL)
_STATEMENT = re.compile(r"^\s*(w?g?mma\.[^;]*;)", re.MULTILINE)
_VECTOR = re.compile(r"\{([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Answer:
    """Instruction that nvcc emits for a call, or the error messages in order.

    Instruction and messages are both empty if nvcc drops a call without effect.
    """

    instruction: str = ""  # as `counted` returns it
    messages: tuple[str, ...] = ()


def kernel(call: str, name: str = "k") -> str:
    """Return a CUDA C++ kernel that consists of a call."""
    return f'extern "C" __global__ void {name}({PARAMETERS}) {{ {call} }}'


def counted(instruction: str) -> str:
    """Return an instruction without register names. A vector is replaced by its number of registers."""
    plain = " ".join(instruction.split())
    plain = _VECTOR.sub(lambda found: f"{{{found[1].count(',') + 1}}}", plain)
    return re.sub(r"%\w+", "%", plain)


@dataclass(frozen=True, slots=True)
class Nvcc:
    """Executable of nvcc with its release, such as "13.0.88"."""

    path: Path
    release: str

    @classmethod
    def at(cls, path: str = "nvcc") -> Nvcc:
        """Return the nvcc at a path or on PATH.

        Errors: UsageError if nvcc is missing or the file is not nvcc.
        """
        where = shutil.which(path)
        if where is None:
            raise UsageError(f"{path} is missing; expected the nvcc of a CUDA toolkit")
        try:
            answer = subprocess.run([where, "--version"], capture_output=True, text=True, timeout=60, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            raise UsageError(f"{where} is not an executable nvcc: {error}") from error
        release = re.search(r"\bV(\d+\.\d+\.\d+)", answer.stdout)
        if release is None:
            raise UsageError(f"{where} --version reports no release of nvcc")
        return cls(Path(where), release[1])

    def judge(self, calls: Sequence[str], target: str) -> list[Answer]:
        """Return nvcc's answer to each call."""
        answers: dict[int, Answer] = {}
        for start in range(0, len(calls), BATCH):
            indices = list(range(start, min(start + BATCH, len(calls))))
            answers.update(self._compile_batch(calls, indices, target))
        return [answers[index] for index in range(len(calls))]

    def _compile_batch(self, calls: Sequence[str], indices: list[int], target: str) -> dict[int, Answer]:
        answers: dict[int, Answer] = {}
        while indices:
            output, ptx = self._compile([kernel(calls[index], f"k{index}") for index in indices], target)
            if ptx is not None:
                bodies = {int(number): body for number, body in _ENTRY.findall(ptx)}
                answers.update({index: Answer(_instruction(bodies.get(index, ""))) for index in indices})
                break
            messages: dict[int, list[str]] = {}
            for line, message in _ERROR.findall(output):
                internal = _INTERNAL.match(message)
                messages.setdefault(indices[int(line) - 1], []).append(internal[1] if internal else message)
            if messages:
                answers.update({index: Answer("", tuple(found)) for index, found in messages.items()})
            elif len(indices) == 1:
                answers[indices[0]] = Answer("", tuple(_ASSEMBLER.findall(output)) or (output.strip()[-200:],))
            else:
                middle = len(indices) // 2
                answers.update(self._compile_batch(calls, indices[:middle], target))
                answers.update(self._compile_batch(calls, indices[middle:], target))
            indices = [index for index in indices if index not in answers]
        return answers

    def _compile(self, kernels: Sequence[str], target: str) -> tuple[str, str | None]:
        """Compile kernels. Return the output of nvcc, and the PTX or None if nvcc fails."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, _FILE).write_text("\n".join(kernels) + "\n")
            command = [str(self.path), f"-arch={target}", "-ptx", "-w", _FILE, "-o", "calls.ptx"]
            try:
                done = subprocess.run(
                    command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT, check=False
                )
            except subprocess.TimeoutExpired as error:
                raise UsageError(f"{self.path} did not finish within {_TIMEOUT} seconds") from error
            ptx = Path(folder, "calls.ptx")
            return done.stdout + done.stderr, ptx.read_text() if done.returncode == 0 else None


def _instruction(body: str) -> str:
    found = _STATEMENT.search(body)
    return "" if found is None else counted(found[1])
