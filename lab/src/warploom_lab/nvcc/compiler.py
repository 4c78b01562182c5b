"""NVIDIA's compiler, asked what it makes of calls of builtins: the tensor-core instruction, or what it says.

    Nvcc.found().judge(["__hmma_m16n16k16_ld_a(ip, cip, u, 0);"], "sm_90a")
    # an answer: its instruction, of 8 registers, an address and a register

Every call stands in a kernel of its own, on a line of its own, with the parameters of PARAMETERS: many go into
one file, and errors are attributed by line. Where an error names no line, the calls are asked in halves.
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
"""The parameters of every kernel: pointers by what they point to, `c` for const; `u`, `n`, `z`, `f`, `q`."""
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
    """What the compiler makes of a call: its instruction with registers counted, or its messages, in order.

    Both are empty where it makes nothing of it: calls without an effect are dropped.
    """

    instruction: str = ""
    messages: tuple[str, ...] = ()


def kernel(call: str, name: str = "k") -> str:
    """The kernel in which a call is asked about; also a text that `lower` reads."""
    return f'extern "C" __global__ void {name}({PARAMETERS}) {{ {call} }}'


def counted(instruction: str) -> str:
    """An instruction with its vectors as counts, and its registers without names."""
    plain = " ".join(instruction.split())
    plain = _VECTOR.sub(lambda found: f"{{{found[1].count(',') + 1}}}", plain)
    return re.sub(r"%\w+", "%", plain)


@dataclass(frozen=True, slots=True)
class Nvcc:
    """One nvcc. `release` is its own word, such as "13.0.88"."""

    path: Path
    release: str

    @classmethod
    def found(cls, path: str = "nvcc") -> Nvcc:
        """The compiler on the path, or at one. Errors: UsageError where there is none that answers."""
        where = shutil.which(path)
        if where is None:
            raise UsageError(f"there is no {path} here; expected the nvcc of a CUDA toolkit")
        try:
            answer = subprocess.run(
                [where, "--version"], capture_output=True, text=True, timeout=60, check=True
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise UsageError(f"{where} is not an nvcc that runs here: {error}") from error
        release = re.search(r"\bV(\d+\.\d+\.\d+)", answer.stdout)
        if release is None:
            raise UsageError(f"{where} does not say which release of nvcc it is")
        return cls(Path(where), release[1])

    def judge(self, calls: Sequence[str], target: str) -> list[Answer]:
        """An answer for each call."""
        answers: dict[int, Answer] = {}
        for start in range(0, len(calls), BATCH):
            places = list(range(start, min(start + BATCH, len(calls))))
            answers.update(self._together(calls, places, target))
        return [answers[place] for place in range(len(calls))]

    def _together(self, calls: Sequence[str], places: list[int], target: str) -> dict[int, Answer]:
        answers: dict[int, Answer] = {}
        while places:
            output, ptx = self._compile([kernel(calls[place], f"k{place}") for place in places], target)
            if ptx is not None:
                made = {int(number): body for number, body in _ENTRY.findall(ptx)}
                answers.update({place: Answer(_instruction(made.get(place, ""))) for place in places})
                break
            said: dict[int, list[str]] = {}
            for line, message in _ERROR.findall(output):
                internal = _INTERNAL.match(message)
                said.setdefault(places[int(line) - 1], []).append(internal[1] if internal else message)
            if said:
                answers.update({place: Answer("", tuple(messages)) for place, messages in said.items()})
            elif len(places) == 1:
                answers[places[0]] = Answer("", tuple(_ASSEMBLER.findall(output)) or (output.strip()[-200:],))
            else:
                middle = len(places) // 2
                answers.update(self._together(calls, places[:middle], target))
                answers.update(self._together(calls, places[middle:], target))
            places = [place for place in places if place not in answers]
        return answers

    def _compile(self, kernels: Sequence[str], target: str) -> tuple[str, str | None]:
        """Everything printed, and the PTX where there is some."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, _FILE).write_text("\n".join(kernels) + "\n")
            command = [str(self.path), f"-arch={target}", "-ptx", "-w", _FILE, "-o", "calls.ptx"]
            try:
                done = subprocess.run(
                    command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT, check=False
                )
            except subprocess.TimeoutExpired as error:
                raise UsageError(f"{self.path} did not answer within {_TIMEOUT} seconds") from error
            ptx = Path(folder, "calls.ptx")
            return done.stdout + done.stderr, ptx.read_text() if done.returncode == 0 else None


def _instruction(body: str) -> str:
    found = _STATEMENT.search(body)
    return "" if found is None else counted(found[1])
