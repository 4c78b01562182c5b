"""Releases of ptxas, and their verdicts on short PTX texts (probes).

    asm = provide("13.1")                                  # installed into the cache if it is missing
    asm.judge([Probe("ret;")], "sm_90a", (9, 1))     # -> [Verdict(ok=True, message="")]

One module holds many probes. An error message names a line and belongs to the probe on that line.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from warploom.caches import cache_directory
from warploom.diagnostics import UsageError
from warploom_lab.ptxas.probe import Probe, write_module

Version = tuple[int, int]

WHEELS = {"12.9": "nvidia-cuda-nvcc-cu12==12.9.86", "13.1": "nvidia-cuda-nvcc==13.1.115", "newest": "nvidia-cuda-nvcc"}
"""Wheel of each ptxas release; 12.9 is the last with sm_70 and sm_72, and 13.1 supports PTX 9.1."""

NO_ANSWER = "ptxas itself failed"
"""Message that stands for a missing verdict: the assembler crashed or timed out."""

_TIMEOUT = 30
_MEMORY = 2 << 30
_NO_STATUS = -1
_BATCH = 400
_OPTIONS = ("-O0", "-w", "-o", os.devnull)
_OPTIMISED = ("-w", "-o", os.devnull)
_OUT_OF_MEMORY = "Memory allocation failure"
_INTERNAL_ERROR = re.compile(
    r"Internal compiler error|Register allocation failed|\(C7308\) Intrinsic"
)  # some texts, only at -O0
_NARROW_ADDRESS = re.compile(
    r"""\[%(?:b|bu|bs|h|uh|sh|r|u|s)\d  # an address in a narrow register: a module with a 32-bit one is refused,
    | \bcvta\b.*32                     # unless the module also has a 16-bit one
    | 32\ .*\bgmem\b""",
    re.VERBOSE,
)
_MESSAGE = re.compile(r"^ptxas (?:.*?, line (\d+); )?(error|fatal)\s*: (.*)$", re.MULTILINE)
_ENTRY = re.compile(r"'e(\d+)'")
_NAMED_INSTRUCTION = re.compile(r"for instruction '([^']*)'")
_UNKNOWN_SYMBOL = re.compile(r"Unknown symbol '([^']*)'")
_WORD = re.compile(r"\w{3,}")
_ABORT_MESSAGE = "Ptx assembly aborted due to errors"
_PAIRS = {"{": "}", "[": "]", "(": ")"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict of ptxas on a PTX text: True for a legal text, or the first error message."""

    ok: bool
    message: str = ""


@dataclass(frozen=True, slots=True)
class Assembler:
    """Executable of ptxas with its release, such as "13.1.115"."""

    path: Path
    release: str

    @classmethod
    def at(cls, path: Path) -> Assembler:
        """Return the assembler at a path.

        Errors: UsageError if the file is missing or is not ptxas.
        """
        try:
            answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=_TIMEOUT, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            raise UsageError(f"{path} is not an executable ptxas: {error}") from error
        found = re.search(r"\bV(\d+\.\d+\.\d+)", answer.stdout)
        if found is None:
            raise UsageError(f"{path} --version reports no release of ptxas")
        return cls(path, found[1])

    def judge(self, probes: Sequence[Probe], target: str, version: Version) -> list[Verdict]:
        """Return the verdict on each PTX text in `probes`, as if each were alone in a module.

        `version` is the PTX version of the module.

        Errors: UsageError if the assembler fails on an empty kernel without a message.
        """
        status, output = self.run(Probe("").module(target, version), target)
        if status != 0:
            message = _first_message(output)
            if not message:
                at = f"{target}, PTX {version[0]}.{version[1]}"
                raise UsageError(f"{self.path} gives no message for an empty kernel at {at}: exit status {status}")
            return [Verdict(False, message)] * len(probes)
        verdicts: dict[int, Verdict] = {}
        shared: list[int] = []
        for k, probe in enumerate(probes):
            if _needs_own_module(probe):
                verdicts[k] = self._judge_one(probe, target, version)
            else:
                shared.append(k)
        for start in range(0, len(shared), _BATCH):
            batch = shared[start : start + _BATCH]
            found = self._judge_batch([probes[k] for k in batch], target, version)
            verdicts.update(zip(batch, found, strict=True))
        return [verdicts[k] for k in range(len(probes))]

    def _judge_batch(self, probes: Sequence[Probe], target: str, version: Version) -> list[Verdict]:
        verdicts: dict[int, Verdict] = {}
        pending = list(range(len(probes)))
        while pending:
            text, owners = write_module([probes[k] for k in pending], target, version)
            status, output = self.run(text, target)
            if status == 0:
                verdicts.update((k, Verdict(True)) for k in pending)
                break
            refused, aborting = _attribute(output, owners)
            messages = {pending[k]: message for k, message in refused.items()}
            verdicts.update(self._confirm(probes, messages, target, version))
            if aborting is not None:
                verdicts.update(self._judge_after_abort(probes, pending, aborting, target, version))
            elif not refused:
                verdicts.update(self._judge_halves(probes, pending, target, version))
            pending = [k for k in pending if k not in verdicts]
        return [verdicts[k] for k in range(len(probes))]

    def _confirm(
        self, probes: Sequence[Probe], messages: dict[int, str], target: str, version: Version
    ) -> dict[int, Verdict]:
        """Return the verdicts on refused PTX texts after a second run in reverse order.

        `messages` has the first message of each refused text by its index.
        """
        found: dict[int, Verdict] = {}
        pending = [k for k in sorted(messages, reverse=True) if _is_about(messages[k], probes[k])]
        found.update((k, self._judge_one(probes[k], target, version)) for k in messages.keys() - set(pending))
        while pending:
            text, owners = write_module([probes[k] for k in pending], target, version)
            _, output = self.run(text, target)
            refused, _ = _attribute(output, owners)
            again = {pending[k]: message for k, message in refused.items()} or {pending[0]: ""}
            for k, message in again.items():
                # After some texts, ptxas prints wrong errors for the following texts.
                same = message == messages[k]
                found[k] = Verdict(False, message) if same else self._judge_one(probes[k], target, version)
            pending = [k for k in pending if k not in found]
        return found

    def _judge_after_abort(
        self, probes: Sequence[Probe], pending: list[int], aborting: int, target: str, version: Version
    ) -> dict[int, Verdict]:
        """Return verdicts by index after ptxas stopped reading a module at the text `pending[aborting]`.

        `pending` has the indices of the texts in the module.
        """
        suspect = self._judge_one(probes[pending[aborting]], target, version)
        if not suspect.ok:
            return {pending[aborting]: suspect}
        return {k: self._judge_one(probes[k], target, version) for k in pending}

    def _judge_halves(
        self, probes: Sequence[Probe], pending: list[int], target: str, version: Version
    ) -> dict[int, Verdict]:
        """Judge the texts `pending` in two halves and return the verdicts by index."""
        if len(pending) == 1:
            return {pending[0]: self._judge_one(probes[pending[0]], target, version)}
        middle = len(pending) // 2
        found: dict[int, Verdict] = {}
        for half in (pending[:middle], pending[middle:]):
            found.update(zip(half, self._judge_batch([probes[k] for k in half], target, version), strict=True))
        return found

    def _judge_one(self, probe: Probe, target: str, version: Version) -> Verdict:
        text, owners = write_module((probe,), target, version)
        status, output = self.run(text, target)
        if _INTERNAL_ERROR.search(output):
            status, output = self.run(text, target, _OPTIMISED)
        if status == 0:
            return Verdict(True)
        if status < 0 or _OUT_OF_MEMORY in output or _INTERNAL_ERROR.search(output):
            return Verdict(False, NO_ANSWER)
        refused, _ = _attribute(output, owners)
        return Verdict(False, refused.get(0) or _first_message(output) or f"exit status {status}")

    def run(self, text: str, target: str, options: Sequence[str] = _OPTIONS) -> tuple[int, str]:
        """Assemble a module. Return the exit status and the output of ptxas."""
        command = [str(self.path), *options, "-arch", target, "-"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            _limit_memory(process.pid)
            try:
                output, _ = process.communicate(text, timeout=_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                return _NO_STATUS, ""
        return process.returncode, output


def _limit_memory(process: int) -> None:
    try:
        import resource
    except ImportError:
        return
    if hasattr(resource, "prlimit"):
        resource.prlimit(process, resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def _attribute(output: str, owners: Sequence[int]) -> tuple[dict[int, str], int | None]:
    """Return the first message for each refused text, and the text where ptxas stopped reading, or None.

    Texts are given by index. `owners` has the index of the text on each line of the module.
    """
    refused: dict[int, str] = {}
    aborting: int | None = None
    for line, severity, message in _MESSAGE.findall(output):
        if message == _ABORT_MESSAGE:
            continue
        owner = -1
        if line:
            owner = owners[min(int(line), len(owners)) - 1]
        elif entry := _ENTRY.search(message):
            owner = int(entry[1])
        if owner < 0:
            continue
        if line and severity == "fatal":
            aborting = owner
        elif owner not in refused:
            refused[owner] = message
    if aborting is not None:
        refused.pop(aborting, None)
    return refused, aborting


def _is_about(message: str, probe: Probe) -> bool:
    unknown = _UNKNOWN_SYMBOL.search(message)
    if unknown is not None:
        return unknown[1] in probe.text
    named = _NAMED_INSTRUCTION.search(message)
    return named is None or any(word in probe.text for word in _WORD.findall(named[1]))


def _first_message(output: str) -> str:
    return next((message for _, _, message in _MESSAGE.findall(output) if message != _ABORT_MESSAGE), "")


def _needs_own_module(probe: Probe) -> bool:
    """Return True if other PTX texts in the same module may change the verdict on a text."""
    text = probe.text
    # The verdict on an address in a narrow register depends on the other texts.
    if _NARROW_ADDRESS.search(text) or '"' in text or "/*" in text or "//" in text or "*/" in text:
        return True
    # Unbalanced brackets extend into the next texts.
    open_: list[str] = []
    for character in text:
        if character in _PAIRS:
            open_.append(_PAIRS[character])
        elif character in "}])" and (not open_ or open_.pop() != character):
            return True
    return bool(open_)


# Finding and installing -----------------------------------------------------------------------------------


@cache
def provide(release: str) -> Assembler:
    """Return the assembler of a release, or the assembler at a path.

    A missing release is installed into the cache.

    Errors: UsageError if the assembler is missing and cannot be installed.
    """
    if release not in WHEELS:
        return Assembler.at(Path(release))
    home = cache_directory() / "assemblers" / release
    # The extra `ptxas` installs the newest release into the environment.
    installed = _ptxas_under(Path(sysconfig.get_path("purelib"))) if release == "newest" else []
    if not (found := installed or _ptxas_under(home)):
        _install(WHEELS[release], home)
        found = _ptxas_under(home)
    if not found:
        raise UsageError(f"the wheel {WHEELS[release]} contains no ptxas for this machine")
    return Assembler.at(found[0])


def _ptxas_under(home: Path) -> list[Path]:
    return sorted(path for name in ("ptxas", "ptxas.exe") for path in home.glob(f"nvidia/*/bin/{name}"))


def _install(wheel: str, home: Path) -> None:
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    tool = [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
    home.parent.mkdir(parents=True, exist_ok=True)
    command = [*tool, "--quiet", "--no-deps", "--target", str(home), wheel]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise UsageError(f"cannot install {wheel}: {error}") from error
    if done.returncode != 0:
        output = (done.stderr or done.stdout).strip().splitlines()
        raise UsageError(
            f"cannot install {wheel} into {home}: {output[-1] if output else 'no reason was given'}",
            hint="give the path of a ptxas instead",
        )
