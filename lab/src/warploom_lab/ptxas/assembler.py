"""Assemblers: NVIDIA's ptxas by release, from the wheels that NVIDIA publishes, and how it is asked.

    asm = provide("13.1")                                  # found in the cache, or installed there
    asm.judge([Probe("ret;")], "sm_90a", (9, 1))     # -> [Verdict(ok=True, message="")]

Many probes are asked in one module. An error names its line, so it is the error of the probe on that line; a
probe is accepted only when a module in which it stood was accepted whole. What ended the reading of a module
is asked again alone, and the rest without it.
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

from warploom.diagnostics import UsageError
from warploom.gpu.cache import cache_directory
from warploom_lab.ptxas.probe import Probe, write_module

Version = tuple[int, int]

WHEELS = {
    "12.9": "nvidia-cuda-nvcc-cu12==12.9.86",
    "13.1": "nvidia-cuda-nvcc==13.1.115",
    "newest": "nvidia-cuda-nvcc",
}
"""Release -> the wheel of its ptxas. 12.9 is the last that knows sm_70 and sm_72; the PTX of 13.1 is 9.1."""

NO_ANSWER = "ptxas itself failed"
"""The message of a verdict that is none: the assembler crashed, or did not end."""

_TIMEOUT = 30
_MEMORY = 2 << 30
_NO_STATUS = -1
_BATCH = 400
_OPTIONS = ("-O0", "-w", "-o", os.devnull)
_OPTIMISED = ("-w", "-o", os.devnull)
_ASTRAY = "Memory allocation failure"
_BROKEN = re.compile("Internal compiler error|Register allocation failed")  # at -O0 alone, on some texts
_NARROW = re.compile(
    r"""\[%(?:b|bu|bs|h|uh|sh|r|u|s)\d  # an access by a register of few bits: of 32 a module is refused,
    | \bcvta\b.*32                     # but not where it has one of 16 beside it
    | 32\ .*\bgmem\b""",
    re.VERBOSE,
)
_COMPLAINT = re.compile(r"^ptxas (?:.*?, line (\d+); )?(error|fatal)\s*: (.*)$", re.MULTILINE)
_ENTRY = re.compile(r"'e(\d+)'")
_NAMED = re.compile(r"for instruction '([^']*)'")
_UNKNOWN = re.compile(r"Unknown symbol '([^']*)'")
_WORD = re.compile(r"\w{3,}")
_ABORTED = "Ptx assembly aborted due to errors"
_PAIRS = {"{": "}", "[": "]", "(": ")"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an assembler takes a probe, and the first words of its refusal."""

    ok: bool
    message: str = ""


@dataclass(frozen=True, slots=True)
class Assembler:
    """One ptxas. `release` is its own word, such as "13.1.115"."""

    path: Path
    release: str

    @classmethod
    def at(cls, path: Path) -> Assembler:
        """The assembler at a path. Errors: UsageError where there is none that answers."""
        try:
            answer = subprocess.run(
                [path, "--version"], capture_output=True, text=True, timeout=_TIMEOUT, check=True
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise UsageError(f"{path} is not a ptxas that runs here: {error}") from error
        found = re.search(r"\bV(\d+\.\d+\.\d+)", answer.stdout)
        if found is None:
            raise UsageError(f"{path} does not say which release of ptxas it is")
        return cls(path, found[1])

    def judge(self, probes: Sequence[Probe], target: str, version: Version) -> list[Verdict]:
        """A verdict for each probe, each as if it had been asked alone.

        Errors: UsageError where the assembler does not answer for an empty kernel.
        """
        status, output = self.run(Probe("").module(target, version), target)
        if status != 0:
            complaint = _first_complaint(output)
            if not complaint:
                at = f"{target}, PTX {version[0]}.{version[1]}"
                raise UsageError(
                    f"{self.path} gives no answer for an empty kernel at {at}: exit status {status}"
                )
            return [Verdict(False, complaint)] * len(probes)
        verdicts: dict[int, Verdict] = {}
        together: list[int] = []
        for k, probe in enumerate(probes):
            if _stands_apart(probe):
                verdicts[k] = self._alone(probe, target, version)
            else:
                together.append(k)
        for start in range(0, len(together), _BATCH):
            batch = together[start : start + _BATCH]
            found = self._together([probes[k] for k in batch], target, version)
            verdicts.update(zip(batch, found, strict=True))
        return [verdicts[k] for k in range(len(probes))]

    def _together(self, probes: Sequence[Probe], target: str, version: Version) -> list[Verdict]:
        verdicts: dict[int, Verdict] = {}
        pending = list(range(len(probes)))
        while pending:
            text, owners = write_module([probes[k] for k in pending], target, version)
            status, output = self.run(text, target)
            if status == 0:
                verdicts.update((k, Verdict(True)) for k in pending)
                break
            refused, ending = _attribute(output, owners)
            heard = {pending[k]: message for k, message in refused.items()}
            verdicts.update(self._confirm(probes, heard, target, version))
            if ending is not None:
                verdicts.update(self._ended_by(probes, pending, ending, target, version))
            elif not refused:
                verdicts.update(self._halves(probes, pending, target, version))
            pending = [k for k in pending if k not in verdicts]
        return [verdicts[k] for k in range(len(probes))]

    def _confirm(
        self, probes: Sequence[Probe], heard: dict[int, str], target: str, version: Version
    ) -> dict[int, Verdict]:
        """Refusals heard in company, once more in the opposite order, and alone where that is not the same.

        On some probes ptxas chokes, and what it then says of its next ones is not about them.
        """
        found: dict[int, Verdict] = {}
        pending = [k for k in sorted(heard, reverse=True) if _is_about(heard[k], probes[k])]
        found.update((k, self._alone(probes[k], target, version)) for k in heard.keys() - set(pending))
        while pending:
            text, owners = write_module([probes[k] for k in pending], target, version)
            _, output = self.run(text, target)
            refused, _ = _attribute(output, owners)
            again = {pending[k]: message for k, message in refused.items()} or {pending[0]: ""}
            for k, message in again.items():
                same = message == heard[k]
                found[k] = Verdict(False, message) if same else self._alone(probes[k], target, version)
            pending = [k for k in pending if k not in found]
        return found

    def _ended_by(
        self, probes: Sequence[Probe], pending: list[int], ending: int, target: str, version: Version
    ) -> dict[int, Verdict]:
        """Ask alone the probe at which reading ended; where it is innocent, ask all of them so."""
        suspect = self._alone(probes[pending[ending]], target, version)
        if not suspect.ok:
            return {pending[ending]: suspect}
        return {k: self._alone(probes[k], target, version) for k in pending}

    def _halves(
        self, probes: Sequence[Probe], pending: list[int], target: str, version: Version
    ) -> dict[int, Verdict]:
        """A refusal that names no probe: ask in halves."""
        if len(pending) == 1:
            return {pending[0]: self._alone(probes[pending[0]], target, version)}
        middle = len(pending) // 2
        found: dict[int, Verdict] = {}
        for half in (pending[:middle], pending[middle:]):
            found.update(zip(half, self._together([probes[k] for k in half], target, version), strict=True))
        return found

    def _alone(self, probe: Probe, target: str, version: Version) -> Verdict:
        text, owners = write_module((probe,), target, version)
        status, output = self.run(text, target)
        if _BROKEN.search(output):
            status, output = self.run(text, target, _OPTIMISED)
        if status == 0:
            return Verdict(True)
        if status < 0 or _ASTRAY in output or _BROKEN.search(output):
            return Verdict(False, NO_ANSWER)
        refused, _ = _attribute(output, owners)
        return Verdict(False, refused.get(0) or _first_complaint(output) or f"exit status {status}")

    def run(self, text: str, target: str, options: Sequence[str] = _OPTIONS) -> tuple[int, str]:
        """Exit status and everything printed for one module."""
        command = [str(self.path), *options, "-arch", target, "-"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as asked:
            _limit_memory(asked.pid)
            try:
                output, _ = asked.communicate(text, timeout=_TIMEOUT)
            except subprocess.TimeoutExpired:
                asked.kill()
                return _NO_STATUS, ""
        return asked.returncode, output


def _limit_memory(process: int) -> None:
    """Keep an assembler that goes astray from taking the machine with it, where the system can."""
    try:
        import resource
    except ImportError:
        return
    if hasattr(resource, "prlimit"):
        resource.prlimit(process, resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def _attribute(output: str, owners: Sequence[int]) -> tuple[dict[int, str], int | None]:
    """The complaints of each probe, by index; and the probe at which reading ended, if it did."""
    refused: dict[int, str] = {}
    ending: int | None = None
    for line, severity, message in _COMPLAINT.findall(output):
        if message == _ABORTED:
            continue
        owner = -1
        if line:
            owner = owners[min(int(line), len(owners)) - 1]
        elif entry := _ENTRY.search(message):
            owner = int(entry[1])
        if owner < 0:
            continue
        if line and severity == "fatal":
            ending = owner
        elif owner not in refused:
            refused[owner] = message
    if ending is not None:
        refused.pop(ending, None)
    return refused, ending


def _is_about(message: str, probe: Probe) -> bool:
    """Whether an instruction or a symbol that a message names is the probe's."""
    unknown = _UNKNOWN.search(message)
    if unknown is not None:
        return unknown[1] in probe.text
    named = _NAMED.search(message)
    return named is None or any(word in probe.text for word in _WORD.findall(named[1]))


def _first_complaint(output: str) -> str:
    return next((message for _, _, message in _COMPLAINT.findall(output) if message != _ABORTED), "")


def _stands_apart(probe: Probe) -> bool:
    """Whether a probe could swallow its neighbours, by brackets that do not close, quotes or comments, or be
    saved by them.
    """
    text = probe.text
    if _NARROW.search(text) or '"' in text or "/*" in text or "//" in text or "*/" in text:
        return True
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
    """The assembler of a release of WHEELS, or at a path; installed into the cache where it is not there yet.

    The newest is that of the environment where it has one (the extra `oracle`).

    Errors: UsageError where it cannot be had.
    """
    if release not in WHEELS:
        return Assembler.at(Path(release))
    home = cache_directory() / "assemblers" / release
    installed = _ptxas_under(Path(sysconfig.get_path("purelib"))) if release == "newest" else []
    if not (found := installed or _ptxas_under(home)):
        _install(WHEELS[release], home)
        found = _ptxas_under(home)
    if not found:
        raise UsageError(f"the wheel {WHEELS[release]} has no ptxas for this machine")
    return Assembler.at(found[0])


def _ptxas_under(home: Path) -> list[Path]:
    return sorted(path for name in ("ptxas", "ptxas.exe") for path in home.glob(f"nvidia/*/bin/{name}"))


def _install(wheel: str, home: Path) -> None:
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    tool = (
        [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
    )
    home.parent.mkdir(parents=True, exist_ok=True)
    command = [*tool, "--quiet", "--no-deps", "--target", str(home), wheel]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise UsageError(f"{wheel} cannot be installed: {error}") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise UsageError(
            f"{wheel} cannot be installed into {home}: {said[-1] if said else 'no reason was given'}; "
            "the path of a ptxas can be given instead"
        )
