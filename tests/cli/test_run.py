"""The `run` verb from the outside: what it prints, what it leaves behind, and its exit status."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warploom.cli import main
from warploom.diagnostics import Diagnostic, Severity, WarploomError
from warploom.emulator.faults import Deadlock, Trap, Unsupported
from warploom.runtime import api, wrong_elements
from warploom.runtime.api import Progress, Run, Stats

LAUNCH = """\
[kernel]
file = "k.ptx"
name = "double"
[launch]
grid = [2, 1]
block = 32
shared = 16
[[argument]]
buffer = "x"
[[argument]]
buffer = "y"
[[argument]]
value = 64
[buffer.x]
dtype = "float32"
shape = [64]
distribution = "arange"
[buffer.y]
dtype = "float32"
shape = [64]
distribution = "zeros"
[expect]
reference = "add"
a = "x"
b = "x"
result = "y"
"""

# The second CTA adds 1, lane 31 of each CTA does not store, and neither does lane 3 of the first CTA.
WRONG = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry double(.param .u64 x, .param .u64 y, .param .u32 n)
{
.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .pred %p<4>;
ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y];
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;
mad.lo.u32 %r2, %r1, 32, %r0;
mad.wide.u32 %rd2, %r2, 4, %rd0;
mad.wide.u32 %rd3, %r2, 4, %rd1;
ld.global.f32 %f0, [%rd2];
add.f32 %f1, %f0, %f0;
setp.eq.u32 %p0, %r1, 1;
@%p0 add.f32 %f1, %f1, 0f3F800000;
setp.eq.or.u32 %p1, %r2, 3, %p3;
setp.eq.or.u32 %p1, %r0, 31, %p1;
@!%p1 st.global.f32 [%rd3], %f1;
ret;
}
"""

Kernel = Callable[[list[Any]], None]


def double(args: list[Any]) -> None:
    args[1][...] = 2 * args[0]


class Machine:
    """Stands where the abstract machine stands: runs a Python function, and remembers how it was called."""

    def __init__(self) -> None:
        self.kernel: Kernel = double
        self.findings: tuple[Diagnostic, ...] = ()
        self.call: dict[str, Any] = {}

    def launch(self, ptx: Path, kernel: str | None, *, args: list[Any], **rest: Any) -> Run:
        self.call = {"ptx": ptx, "kernel": kernel, "args": args, **rest}
        self.kernel(args)
        if rest["progress"]:
            rest["progress"](Progress(ctas_done=2, ctas_total=2, macs=128, instructions=9, seconds=0.5))
        stats = Stats(instructions={"load": 4, "tensor": 1024}, macs=3_000_000, seconds=1.5, ctas=2, batches=7)
        return Run(findings=self.findings, stats=stats, trace=None)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text("")
    Path("l.toml").write_text(LAUNCH)
    made = Machine()
    monkeypatch.setattr(api, "launch", made.launch)
    return made


def test_a_launch_file_is_run_and_compared(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "l.toml"]) == 0
    assert machine.call["ptx"] == Path("k.ptx")
    assert machine.call["kernel"] == "double"
    assert {
        name: machine.call[name] for name in ("grid", "block", "cluster", "shared", "arch", "schedule", "workers")
    } == {
        "grid": (2, 1),
        "block": (32,),
        "cluster": (1, 1, 1),
        "shared": 16,
        "arch": None,
        "schedule": "eager",
        "workers": 1,
    }
    assert machine.call["args"][2] == 64
    printed = capsys.readouterr()
    assert printed.err == ""
    assert (
        printed.out
        == """\
instructions (warp level)
  tensor  1,024
  load    4
  all     1,028
run
  CTAs     2
  batches  7
  MACs     3,000,000
  seconds  1.50
  MAC/s    2 M
comparison of y
  largest error               0
  allowed there               7.01e-46
  largest share of its bound  0
  outside the bound           0 of 64
y is exact
"""
    )


def test_a_wrong_result_fails_and_says_where(
    machine: Machine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wrong_elements, "find_writers", lambda comparison, *rest: comparison)

    def wrong(args: list[Any]) -> None:
        double(args)
        args[1][5] += 1

    machine.kernel = wrong
    assert main(["run", "l.toml"]) == 1
    printed = capsys.readouterr().out
    assert re.search(r"^  largest error +1$", printed, re.MULTILINE)
    assert re.search(r"^  outside the bound +1 of 64$", printed, re.MULTILINE)
    assert re.search(r"^  y\[5\] +11, expected 10 ± 5.96e-07$", printed, re.MULTILINE)
    assert re.search(r"^  wrong elements +element 5$", printed, re.MULTILINE)
    assert printed.endswith("y is wrong: 1 of 64 elements are outside the bound\n")


def test_a_wrong_result_is_described_by_its_position_and_its_writer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(WRONG)
    Path("l.toml").write_text(LAUNCH)
    assert main(["run", "l.toml"]) == 1
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.partition("  outside the bound           ")[2] == (
        """\
34 of 64
  y[3]                        0, expected 6 ± 3.58e-07
  y[31]                       0, expected 62 ± 3.7e-06
  y[32]                       65, expected 64 ± 3.81e-06
  y[63], largest error        0, expected 126 ± 7.51e-06
  wrong elements              elements 3 and 31-63
  never written               3 elements keep their initial values: elements 3, 31 and 63
  written by                  CTA (1, 0, 0); all elements written there are wrong
  writer of y[32]             st.global.f32 in line 18, CTA (1, 0, 0), warp 0, lane 0
y is wrong: 34 of 64 elements are outside the bound
"""
    )


def test_the_reference_sees_the_operands_as_they_were(machine: Machine) -> None:
    def spoil(args: list[Any]) -> None:
        double(args)
        args[0][...] = 0

    machine.kernel = spoil
    assert main(["run", "l.toml"]) == 0


def test_findings_are_printed_and_fail(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.findings = (Diagnostic("race", Severity.ERROR, "read before it was written"),)
    assert main(["run", "l.toml"]) == 1
    assert capsys.readouterr().out.endswith("error[race]: read before it was written\n")


@pytest.mark.parametrize(("kind", "status"), [(Trap, 1), (Deadlock, 1), (Unsupported, 2), (WarploomError, 2)])
def test_a_kernel_that_goes_wrong_fails_and_one_that_cannot_start_is_misuse(
    machine: Machine, capsys: pytest.CaptureFixture[str], kind: type[WarploomError], status: int
) -> None:
    def wrong(args: list[Any]) -> None:
        raise kind([Diagnostic("code", Severity.ERROR, "address 0 is in no buffer")])

    machine.kernel = wrong
    assert main(["run", "l.toml"]) == status
    assert capsys.readouterr() == ("", "error[code]: address 0 is in no buffer\n")


def test_an_interrupt_ends_cleanly(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(args: list[Any]) -> None:
        raise KeyboardInterrupt

    machine.kernel = interrupted
    assert main(["run", "l.toml"]) == 130
    assert capsys.readouterr().err == "warploom: interrupted\n"


def test_a_termination_ends_cleanly(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    def terminated(args: list[Any]) -> None:
        signal.raise_signal(signal.SIGTERM)

    machine.kernel = terminated
    before = signal.getsignal(signal.SIGTERM)
    assert main(["run", "l.toml"]) == 143
    assert capsys.readouterr().err == "warploom: terminated\n"
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_interrupt_names_the_location(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(args: list[Any]) -> None:
        stop = KeyboardInterrupt()
        stop.add_note("the run stopped in kernel k")
        raise stop

    machine.kernel = interrupted
    assert main(["run", "l.toml"]) == 130
    assert capsys.readouterr().err == "warploom: interrupted; the run stopped in kernel k\n"


def test_options_win_over_the_launch_file(machine: Machine) -> None:
    assert main(["run", "l.toml", "--schedule", "random:7", "--workers", "2", "--arch", "sm_90a"]) == 0
    assert (machine.call["schedule"], machine.call["workers"], machine.call["arch"]) == ("random:7", 2, "sm_90a")


def test_a_buffer_is_saved(machine: Machine) -> None:
    assert main(["run", "l.toml", "--save", "y=out.npy"]) == 0
    assert np.array_equal(np.load("out.npy"), np.arange(64, dtype=np.float32) * 2)


def test_a_ptx_file_with_its_arguments(machine: Machine) -> None:
    np.save("in.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    arguments = ["in.npy", "zeros:float32:2x3", "-3", "0.5", "u64:5", "f32:0.25", "scratch:384", "null"]
    flags = [flag for argument in arguments for flag in ("--arg", argument)]
    geometry = ["--kernel", "k", "--grid", "4,4", "--block", "256", "--cluster", "2", "--shared", "64"]
    assert main(["run", "k.ptx", *geometry, *flags, "--save", "arg1=out.npy"]) == 0
    call = machine.call
    assert (call["kernel"], call["grid"], call["block"], call["cluster"], call["shared"]) == (
        "k",
        (4, 4),
        (256,),
        (2,),
        64,
    )
    args = call["args"]
    assert args[2:6] == [-3, 0.5, 5, 0.25]
    assert [type(arg) for arg in args[2:6]] == [int, float, np.uint64, np.float32]
    assert (args[6].nbytes, args[6].any(), args[7]) == (384, False, 0)
    assert np.array_equal(np.load("out.npy"), 2 * args[0])


def test_a_seed_makes_another_buffer(machine: Machine) -> None:
    same = ["run", "k.ptx", "--grid", "1", "--block", "1", "--arg", "normal:float32:8:1", "--arg"]
    for seed, equal in (("1", True), ("2", False)):
        machine.kernel = lambda args: None
        assert main([*same, f"normal:float32:8:{seed}"]) == 0
        assert np.array_equal(*machine.call["args"]) == equal


def test_a_mistake_in_a_launch_file_shows_its_line(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    Path("l.toml").write_text(LAUNCH.replace("block = 32", "block = -1"))
    right = "an integer or an array of 1 to 3 integers of at least 1"
    assert main(["run", "l.toml"]) == 2
    assert capsys.readouterr().err.splitlines()[:3] == [
        f"l.toml:6:1: error[launch-file/value]: launch.block: found the integer -1; expected {right}",
        "    6 | block = -1",
        "      | ^^^^^",
    ]


def test_a_terminal_gets_a_bar_and_tables(
    machine: Machine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert main(["run", "l.toml"]) == 0
    printed = capsys.readouterr()
    assert "2/2 CTAs" in printed.err
    assert "256 MAC/s" in printed.err
    assert "\x1b[1;32my is exact" in printed.out
    assert re.search(r"tensor +1,024", printed.out)


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


def test_the_module_is_the_command() -> None:
    version = python("-m", "warploom", "--version")
    assert (version.returncode, version.stderr) == (0, "")
    assert re.fullmatch(r"warploom \d+\.\d+\.\d+\n", version.stdout)
    helped = python("-m", "warploom", "run", "--help")
    assert helped.returncode == 0
    assert "--arg" in helped.stdout
    missing = python("-m", "warploom", "run", "no.toml")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr == "error[launch-file/missing]: there is no file no.toml\n"


def test_help_needs_no_compiled_arithmetic() -> None:
    program = (
        "import sys\nfrom warploom.cli import main\n"
        "try:\n    main(['run', '--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numba', 'numpy', 'rich'} & set(sys.modules)))"
    )
    assert python("-c", program).stdout.endswith("[]\n")
