"""Wrong uses of the commands and of the Python functions: each ends with one sentence that names the place.

The files in `wrong_uses/` are tables of wrong uses. `call` is a Python expression or a command line, `says` a part of
the first sentence of the error, and `at` the place that the sentence names.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from surface import names

import warploom as wl
from warploom.cli import main
from warploom.diagnostics import render

HERE = Path(__file__).parent
TESTS = HERE.parent
LAUNCH = """\
[kernel]
file = "k.ptx"
[launch]
grid = 1
block = 32
[[argument]]
buffer = "x"
[buffer.x]
dtype = "uint32"
shape = [32]
distribution = "zeros"
"""
FILES = {
    "k.ptx": names.PLAIN.encode(), "l.toml": LAUNCH.encode(), "spin.ptx": names.kernel(names.SPIN).encode(),
    "bad": b"\xff\xfe.version", "empty": b"",
}  # fmt: skip


@dataclass(frozen=True)
class WrongUse:
    """Row of a table. `files` are further files by name. `needs` is a module without which the row is skipped.

    The process of a command with `signals` receives these signals while the kernel runs. `shell` is set if a shell
    runs the command, because its standard streams are redirected.
    """

    call: str
    says: str
    at: str
    name: str = ""
    files: dict[str, str] = field(default_factory=dict[str, str])
    needs: str = ""
    signals: str = ""
    shell: bool = False


def read(path: Path) -> list[WrongUse]:
    """Return the rows of a table."""
    return [WrongUse(**row) for row in tomllib.loads(path.read_text(encoding="utf-8"))["use"]]


TABLES = {path.stem: read(path) for path in sorted((HERE / "wrong_uses").glob("*.toml"))}
USES = [pytest.param(use, id=f"{table}-{use.name or use.call}") for table, uses in TABLES.items() for use in uses]


@pytest.mark.parametrize("use", USES)
def test_a_wrong_use_ends_with_a_sentence(
    use: WrongUse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if use.needs:
        pytest.importorskip(use.needs)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WARPLOOM_STEP_BUDGET", "5000")
    monkeypatch.setenv("COLUMNS", "200")
    Path("folder").mkdir()
    for name, contents in FILES.items():
        Path(name).write_bytes(contents)
    for name, text in use.files.items():
        Path(name).write_text(text, encoding="utf-8")
    if use.call.startswith("warploom "):
        printed = in_process(use.call, capsys) if not use.signals and not use.shell else in_new_process(use)
    else:
        printed = of_python(use.call)
    sentence = printed.splitlines()[0]
    assert use.says in sentence
    assert use.at in sentence
    assert "Traceback" not in printed


def in_process(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that must fail, and return its error, or else its findings."""
    assert main(shlex.split(command)[1:]) != 0
    printed = capsys.readouterr()
    return printed.err or printed.out


def in_new_process(use: WrongUse) -> str:
    """Run a command that must fail in a process of its own, and return the text of its error."""
    arguments = use.call.removeprefix("warploom ")
    signals = f"{shlex.quote(str(HERE / 'stopped.py'))} {use.signals}" if use.signals else "-m warploom"
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {shlex.quote(sys.executable)} {signals} {arguments}"],
        env={**os.environ, "PYTHONPATH": path, "WARPLOOM_STEP_BUDGET": "1000000000"},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode > 0
    return done.stderr


def of_python(call: str) -> str:
    """Evaluate an expression that must raise an error of Warploom or an interrupt, and return its text."""
    known: dict[str, Any] = {name: getattr(names, name) for name in names.__all__}
    with pytest.raises((wl.WarploomError, KeyboardInterrupt)) as caught:
        eval(call, known)
    error = caught.value
    return render(error.diagnostics) if isinstance(error, wl.WarploomError) else "\n".join(error.__notes__)


def test_names_are_distinct_and_there_are_more_than_a_hundred() -> None:
    calls = [(use.call, *use.files.items(), use.signals) for uses in TABLES.values() for use in uses]
    assert len(set(calls)) == len(calls) > 100
