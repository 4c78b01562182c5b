"""Run every step of the tutorial in an empty environment.

    python tools/follow_tutorial.py [--gpu]

The steps run in an empty folder with an empty home. `pip install warploom` installs the wheel of this checkout into a
new virtual environment. Each step prints its duration. The first step that fails or prints another output than its page
shows ends the run. Steps that need a GPU are skipped without `--gpu`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fresh_environment import ROOT, Shell, build

from warploom_lab.pages.code_blocks import Step, matches, steps_in

TUTORIAL = ROOT / "docs" / "tutorial"
NEEDS_GPU = "needs a GPU"
SESSION = """
import contextlib, io, json, linecache, sys, traceback
sys.path.insert(0, "")
names = {"__name__": "__main__"}
for line in sys.stdin:
    name, text = json.loads(line)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    printed, failed = io.StringIO(), False
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            exec(compile(text, name, "exec"), names)
        except BaseException:
            failed = True
            traceback.print_exc()
    print(json.dumps([printed.getvalue(), failed]), flush=True)
"""


class Session:
    """Interactive Python session in the environment of a shell."""

    def __init__(self, shell: Shell) -> None:
        python, _ = shell.run("command -v python")
        self._python = subprocess.Popen(  # noqa: S603
            [python.strip(), "-c", SESSION],
            cwd=shell.folder,
            env=shell.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, name: str, text: str) -> tuple[str, int]:
        """Run a code block and return its output, and 1 if it raises an exception, otherwise 0."""
        assert self._python.stdin
        assert self._python.stdout
        self._python.stdin.write(json.dumps([name, text]) + "\n")
        self._python.stdin.flush()
        printed, failed = json.loads(self._python.stdout.readline())
        return printed, int(failed)

    def close(self) -> None:
        """End the session."""
        assert self._python.stdin
        self._python.stdin.close()
        self._python.wait()


class Run:
    """Run of the tutorial's pages in one environment."""

    def __init__(self, folder: Path, wheel: Path, gpu: bool) -> None:
        self.shell = Shell(folder)
        self.wheel = wheel
        self.gpu = gpu

    def page(self, path: Path) -> bool:
        """Run the steps of a page and return True if all succeed."""
        session: Session | None = None
        for step in steps_in(path):
            place = f"{path.name}:{step.line}"
            if step.reason and not (self.gpu and step.reason == NEEDS_GPU):
                print(f"skipped          {place}  {step.title}  ({step.reason})")
                continue
            if step.kind == "python" and session is None:
                session = Session(self.shell)
            begin = time.perf_counter()
            printed, status = self._run_step(step, place, session)
            seconds = time.perf_counter() - begin
            right = status == step.status and (step.output is None or matches(step.output, printed))
            print(f"{'ok' if right else 'FAILED':6} {seconds:7.2f} s  {place}  {step.title}", flush=True)
            if not right:
                print(f"exit status {status}; expected {step.status}\n{printed}")
                if step.output is not None:
                    print(f"the page shows\n{step.output}")
                return False
        if session:
            session.close()
        return True

    def _run_step(self, step: Step, place: str, session: Session | None) -> tuple[str, int]:
        match step.kind:
            case "file":
                (self.shell.folder / step.file).write_text(step.text, encoding="utf-8")
                return "", 0
            case "command":
                return self.shell.run(self._with_wheel(step.text))
            case "python":
                assert session
                return session.run(place, step.text)
            case "data":
                return "", 0

    def _with_wheel(self, command: str) -> str:
        """Return the command, in which `pip install warploom` is changed to install this checkout's wheel."""
        if not command.startswith("pip install"):
            return command
        return re.sub(r"(?<= )'?warploom(\[[\w,]+\])?'?(?= |$)", rf"'{self.wheel}\1'", command)


def main() -> int:
    """Run every page and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--gpu", action="store_true", help="also run the steps that need a GPU")
    options = parser.parse_args()
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="tutorial-") as name:
        folder = Path(name)
        wheel, _ = build(folder / "dist")
        run = Run(folder, wheel, options.gpu)
        pages = [TUTORIAL / "README.md", *sorted(TUTORIAL.glob("[0-9]*.md"))]
        ok = all(run.page(page) for page in pages)
        run.shell.close()
    print(f"{'completed' if ok else 'failed'} after {time.perf_counter() - begin:.0f} s")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
