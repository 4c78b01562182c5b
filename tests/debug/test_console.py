"""Console of `warploom debug`: a terminal, standard input, files of commands, and the exit status."""

from __future__ import annotations

import io
import re
import sys
import time
from pathlib import Path

import pytest
from debug.consoles import GEMM, SCENARIOS, console

from warploom.cli import main

SOFTMAX = str(SCENARIOS / "softmax.toml")
# Threads that count to a large number.
SPIN = """\
.version 8.6
.target sm_80
.address_size 64

.visible .entry spin()
{
    .reg .b32 %r<2>;
    .reg .pred %p<2>;
again:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 2000000000;
    @%p1 bra again;
    ret;
}
"""


def test_an_empty_line_repeats_the_last_step(tmp_path: Path) -> None:
    with console([SOFTMAX], tmp_path) as terminal:
        terminal.read()
        assert "> 19 " in terminal.run("step")
        assert "> 20 " in terminal.run("")
        terminal.run("focus")
        assert terminal.run("") == ""
        terminal.write("\x04")  # Ctrl-D
        assert terminal.process.wait(60) == 0


def test_words_are_completed(tmp_path: Path) -> None:
    with console([SOFTMAX], tmp_path) as terminal:
        terminal.read()
        terminal.write("breakp\t")
        terminal.read("breakpoints ")
        assert terminal.run("") == "there is no breakpoint and no watch\n"


def test_an_interrupt_pauses_the_launch(tmp_path: Path) -> None:
    (tmp_path / "spin.ptx").write_text(SPIN)
    with console(["spin.ptx", "--grid", "1", "--block", "32"], tmp_path) as terminal:
        terminal.read()
        terminal.run("step 4")
        for _ in range(20):
            terminal.write("continue\n")
            time.sleep(0.5)  # an interrupt before the command begins discards the line
            terminal.interrupt()
            if "Interrupted, instruction " in (printed := terminal.read()):
                break
        assert re.search(r"> \d+  (add|setp|@%p1 bra)", printed)
        assert "can run" in terminal.run("warps")


def run_main(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["debug", *words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_commands_come_from_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("step\n\nbrek\nprint x[0, 0]\nquit\nstep\n"))
    status, out, err = run_main(capsys, SOFTMAX)
    assert status == 0
    assert out.count("Step, instruction") == 2
    assert "x[0, 0] = 0.345584" in out
    assert err.startswith("error[debug.command]: unknown command 'brek'\n  hint: did you mean 'break'?")


def test_a_file_of_commands_precedes_the_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "commands"
    file.write_text("# two steps\nstep\n\nstep\n")
    status, out, _ = run_main(capsys, SOFTMAX, "-x", "print %rd0", "--command", str(file))
    assert status == 0
    assert [line for line in out.splitlines() if line.startswith("(wl)")] == [
        "(wl) step",
        "(wl) step",
        "(wl) print %rd0",
    ]


def test_a_command_that_fails_ends_the_debugger_with_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run_main(capsys, SOFTMAX, "-x", "print %rd99", "-x", "step")
    assert status == 1
    assert "error[debug.register]" in err
    assert "Step" not in out


def test_wrong_options_end_with_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_main(capsys, str(GEMM), "--workers", "2", "-x", "step")[0] == 2
    assert run_main(capsys, str(GEMM), "--grid", "2", "-x", "step")[0] == 2
