"""Client of the worker process that compiles LLVM IR, and the lines of LLVM's errors."""

import atexit
import json
import re
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

from warploom.diagnostics import UsageError
from warploom.isa.model.availability import Target, Version

VERSIONS: tuple[Version, ...] = (
    *((6, minor) for minor in (0, 1, 2, 3, 4, 5)), *((7, minor) for minor in range(9)),
    *((8, minor) for minor in range(9)), (9, 0),
)  # fmt: skip
"""PTX versions that LLVM 22 prints, from the first with tensor cores on."""
DATA_LAYOUT = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
"""Data layout of nvptx64 in LLVM 22."""


class BackendError(Exception):
    """Error of LLVM, with its message.

    `stage` is the step that failed: "parse", "verify" or "select" (code generation).
    """

    def __init__(self, stage: str, message: str) -> None:
        super().__init__(message)
        self.stage = stage


@dataclass
class _Worker:
    """Connection to the worker process."""

    process: subprocess.Popen[str] | None = None
    lock: Lock = field(default_factory=Lock)

    def answer(self, **request: object) -> dict[str, str]:
        """Send a request, and return the answer: {"text": …} or {"stage": …, "message": …}.

        The process is started if it does not run.
        """
        with self.lock:
            if self.process is None or self.process.poll() is not None:
                command = [sys.executable, "-m", "warploom.nvvm.llvm.worker"]
                self.process = subprocess.Popen(  # noqa: S603 -- a fixed command
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
                atexit.register(self.process.kill)
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            print(json.dumps(request), file=self.process.stdin, flush=True)
            if not (line := self.process.stdout.readline()):
                message = "the worker process of LLVM ended without an answer; the next call starts a new one"
                raise UsageError(message, code="lower.llvm")
            return json.loads(line)


_WORKER = _Worker()


def emit(text: str, target: Target, version: Version) -> str:
    """Return the PTX of LLVM IR text.

    Errors: BackendError; UsageError lower.llvm if the worker process ends
    """
    return _text(text=text, cpu=target.name, features=f"+ptx{version[0]}{version[1]}")


def canonical(text: str) -> str:
    """Return the text that LLVM prints for a module of LLVM IR. Errors: as in `emit`."""
    return _text(text=text)


def _text(**request: object) -> str:
    answer = _WORKER.answer(**request)
    if "text" not in answer:
        raise BackendError(answer["stage"], answer["message"])
    return answer["text"]


def with_target_layout(text: str) -> str:
    """Return LLVM IR with the data layout of nvptx64, which states the alignments that the text omits.

    As in llc, this layout replaces that of the module. The lines keep their numbers.
    """
    line = f'target datalayout = "{DATA_LAYOUT}"'
    replaced, count = re.subn(r'(?m)^target datalayout = "[^"]*"', line, text, count=1)
    return replaced if count else f"{line} {text}"


def without_bits(text: str) -> str:
    """Return LLVM IR with floating-point constants in LLVM 22's notation, not LLVM 23's (`f0x3F800000`)."""

    def constant(found: re.Match[str]) -> str:
        digits = found[1]
        if len(digits) <= 4:
            before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
            letter = "R" if before.rfind("bfloat") > before.rfind("half") else "H"
            return f"0x{letter}{digits:0>4}"
        if len(digits) <= 8:
            (number,) = struct.unpack(">f", bytes.fromhex(f"{digits:0>8}"))
            digits = struct.pack(">d", number).hex().upper()
        return f"0x{digits:0>16}"

    return re.sub(r"\bf0x([0-9A-Fa-f]+)\b", constant, text) if "f0x" in text else text


# Errors -----------------------------------------------------------------------------------------------------

_AT = re.compile(r"<string>:(\d+):\d+: error: (.*)")


def error_at(error: BackendError, text: str) -> tuple[int | None, str]:
    """Return the line of an error of parsing or verification, or None, and a message without its subject."""
    message = str(error)
    if found := _AT.search(message):
        return int(found[1]), f"is not legal in LLVM IR: {_sentence(found[2])}"
    first, *rest = message.strip().splitlines()
    # LLVM prints the instructions at fault. The first one that the text contains is the location.
    lines = text.splitlines()
    line = next((line for printed in rest if (line := line_like(printed, lines))), None)
    line = line or next((line for printed in rest if (line := _line_of_part(printed, lines))), None)
    if line is None and (name := re.search(r"^ptr (@\S+)", "\n".join(rest), re.MULTILINE)):
        line = line_of_function(name[1], text)
    if line is None and "target triple" in first:
        line = next((number for number, each in enumerate(lines, 1) if "target triple" in each), None)
    return line or line_of_only_function(text), f"is not legal in LLVM IR: {_sentence(first)}"


def line_of_function(name: str, text: str) -> int | None:
    """Return the line of LLVM IR that defines or declares a function with a name such as `@f`."""
    head = re.compile(rf"\b(define|declare)\b.*{re.escape(name)}\(")
    return next((number for number, line in enumerate(text.splitlines(), 1) if head.search(line)), None)


def line_of_only_function(text: str) -> int | None:
    """Return the line of the function that LLVM IR defines, or None if it defines several or none."""
    found = [number for number, line in enumerate(text.splitlines(), 1) if re.search(r"\bdefine\b.*@.*\(", line)]
    return found[0] if len(found) == 1 else None


def _sentence(text: str) -> str:
    text = text.strip().rstrip("!.")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def line_like(instruction: str, lines: Sequence[str]) -> int | None:
    """Return the number of the first line with an instruction, or None.

    Comments, metadata, attribute groups, alignments and white space do not count.
    """
    wanted = _normal(instruction)
    return next((number for number, line in enumerate(lines, 1) if wanted and _normal(line) == wanted), None)


def _line_of_part(printed: str, lines: Sequence[str]) -> int | None:
    """Return the number of the first line that is printed in part, or after a type."""
    wanted = _normal(printed)
    for number, line in enumerate(lines, 1):
        given = _normal(line)
        if "=" in wanted and "=" in given and (given.startswith(wanted) or wanted.endswith(given)):
            return number
    return None


def _normal(line: str) -> str:
    """Return an instruction without comment, metadata, attribute groups, alignment and white space."""
    return re.sub(r"\s+", "", re.sub(r"\s*;.*|, !\w+ !\d+|\s#\d+|, align \d+", "", line))
