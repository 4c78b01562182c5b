"""Tools of MLIR and LLVM: mlir-opt, mlir-translate and llc."""

import os
import re
import shutil
import subprocess
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path

from warploom.diagnostics import UsageError

MAJOR = 22
"""Major release of MLIR whose nvvm dialect is implemented."""

_TIMEOUT = 600
_SHORT_TIMEOUT = 60
_MARK = "// -----"
_PACKAGES = "Debian packages: mlir-22-tools and llvm-22; WARPLOOM_MLIR names their folder"


@dataclass(frozen=True)
class Tools:
    """Executables of one LLVM release: mlir-opt, mlir-translate and llc."""

    opt: Path
    translate: Path
    llc: Path
    release: str

    def printed(self, texts: Sequence[str], *options: str) -> list[str]:
        """Return the output of mlir-opt for each text, or "" for a text that mlir-opt refuses."""
        return self._split(self.opt, texts, *options)

    def translated(self, texts: Sequence[str]) -> list[str]:
        """Return the LLVM IR of each text from mlir-translate, or "" for a text that mlir-translate refuses."""
        return self._split(self.translate, texts, "-mlir-to-llvmir")

    def _split(self, tool: Path, texts: Sequence[str], *options: str) -> list[str]:
        """Run a tool once on many texts and return its output for each.

        Errors: UsageError if the number of outputs is wrong.
        """
        if not texts:
            return []
        joined = f"\n{_MARK}\n".join(texts)
        output = self._run(tool, joined, "-split-input-file", f"-output-split-marker={_MARK}", *options)
        outputs = [part.strip() for part in f"\n{output}".split(f"\n{_MARK}")]
        if len(outputs) != len(texts):
            raise UsageError(f"{tool} gave {len(outputs)} outputs; expected {len(texts)}")
        return outputs

    def ptx(self, llvm: str, target: str, ptx_version: tuple[int, int]) -> str:
        """Return the PTX that llc generates from LLVM IR, or "" if llc fails."""
        version = f"+ptx{ptx_version[0]}{ptx_version[1]}"
        return self._run(self.llc, llvm, "-march=nvptx64", f"-mcpu={target}", f"-mattr={version}", "-o", "-")

    def each(self, tool: Path, texts: Sequence[str], *options: str) -> list[tuple[str, str]]:
        """Return the output of mlir-opt or mlir-translate for each text, or "" and the first message.

        The message is "crash" if the tool crashes or does not end.
        """
        split = ("-split-input-file", f"-output-split-marker={_MARK}")
        try:
            done = subprocess.run(
                [tool, *split, *options],
                input=f"\n{_MARK}\n".join(texts),
                capture_output=True,
                text=True,
                timeout=_SHORT_TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            outputs, errors = [], "crash"
        else:
            has_ended = done.returncode in {0, 1}
            outputs = [part.strip() for part in f"\n{done.stdout}".split(f"\n{_MARK}")] if has_ended else []
            errors = done.stderr if has_ended else "crash"
        if len(texts) == 1:
            # Some operations are printed in spite of an error.
            found = re.search(r"error: (.*)", errors)
            is_refused = found is not None or not outputs or not outputs[0]
            return [("", found[1] if found else errors.partition("\n")[0]) if is_refused else (outputs[0], "")]
        if len(outputs) != len(texts):
            half = len(texts) // 2
            return [*self.each(tool, texts[:half], *options), *self.each(tool, texts[half:], *options)]
        starts = list(accumulate((text.count("\n") + 2 for text in texts), initial=1))
        messages: dict[int, str] = {}
        for line, message in re.findall(r"(?m)^<\w+>:(\d+):\d+: error: (.*)$", errors):
            messages.setdefault(bisect_right(starts, int(line)) - 1, message)
        # A message without a line is found in a run of its own.
        return [
            ("", messages[number])
            if number in messages
            else (output, "")
            if output
            else self.each(tool, [text], *options)[0]
            for number, (text, output) in enumerate(zip(texts, outputs, strict=True))
        ]

    def compiled(self, llvm: str, target: str, ptx_version: tuple[int, int]) -> tuple[str, str]:
        """Return the PTX that llc generates from LLVM IR, or "" and llc's message."""
        version = f"+ptx{ptx_version[0]}{ptx_version[1]}"
        command = [self.llc, "-march=nvptx64", f"-mcpu={target}", f"-mattr={version}", "-o", "-"]
        done = subprocess.run(command, input=llvm, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
        if done.returncode == 0:
            return done.stdout, ""
        found = re.search(r"error: (.*)|LLVM ERROR: (.*)", done.stderr)
        return "", (found[1] or found[2]) if found else "crash"

    def message(self, text: str, *options: str) -> str:
        """Return the first error message of mlir-opt for a text, or "" for a legal text."""
        done = subprocess.run(
            [self.opt, *options], input=text, capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
        found = re.search(r"error: (.*)", done.stderr)
        return found[1] if found and done.returncode else ""

    def _run(self, tool: Path, text: str, *options: str) -> str:
        done = subprocess.run(
            [tool, *options], input=text, capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
        return done.stdout


@cache
def provide() -> Tools:
    """Return the tools in the folder WARPLOOM_MLIR (an environment variable) or on PATH.

    Errors: UsageError if a tool is missing or has another release.
    """
    found = {name: _tool(name) for name in ("mlir-opt", "mlir-translate", "llc")}
    release = _release(found["mlir-opt"])
    if not release.startswith(f"{MAJOR}."):
        raise UsageError(f"mlir-opt has release {release}; expected {MAJOR}", hint=_PACKAGES)
    return Tools(found["mlir-opt"], found["mlir-translate"], found["llc"], release)


def _tool(name: str) -> Path:
    folder = os.environ.get("WARPLOOM_MLIR")
    for candidate in (name, f"{name}-{MAJOR}"):
        if (path := shutil.which(candidate, path=folder)) is not None and _is_of_release(Path(path)):
            return Path(path)
    raise UsageError(f"{name} of release {MAJOR} is missing", hint=_PACKAGES)


def _is_of_release(path: Path) -> bool:
    return _release(path).startswith(f"{MAJOR}.")


def _release(path: Path) -> str:
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    found = re.search(r"LLVM version (\S+)", answer.stdout)
    return found[1] if found else ""
