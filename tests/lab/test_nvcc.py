"""Queries to nvcc: many calls in one file, errors by line, and halves for errors without a line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from warploom.diagnostics import UsageError
from warploom_lab.cli import main
from warploom_lab.nvcc.compiler import Answer, Nvcc, counted, kernel
from warploom_lab.nvcc.record import Case, batches, cases, in_order, query, read, write

FAKE = """#!{python}
import re, sys
if "--version" in sys.argv:
    print("Cuda compilation tools, release 13.0, V13.0.88")
    sys.exit()
failed = False
ptx = []
for number, line in enumerate(open("calls.cu"), 1):
    name = re.search(r"void (k\\d+)", line)[1]
    if "wrong(" in line:
        print(f'calls.cu({{number}}): error: identifier "wrong" is undefined')
        failed = True
    elif "internal(" in line and not failed:
        print(f'calls.cu({{number}}): error: Internal Compiler Error (codegen): "odd operand"')
        sys.exit(1)
    elif "illegal(" in line and not failed:
        print("ptxas calls.ptx, line 7; error   : Illegal alayout")
        sys.exit(1)
    elif "nothing(" in line:
        ptx.append(f".visible .entry {{name}}(\\n)\\n{{{{\\n\\tret;\\n}}}}\\n")
    else:
        ptx.append(f".visible .entry {{name}}(\\n)\\n{{{{\\n\\tmma.one {{{{%r1,\\n %r2}}}}, %rd3, 4;\\n}}}}\\n")
if failed:
    sys.exit(1)
open("calls.ptx", "w").write("".join(ptx))
"""


@pytest.fixture
def fake(tmp_path: Path) -> Nvcc:
    path = tmp_path / "nvcc"
    path.write_text(FAKE.format(python=sys.executable))
    path.chmod(0o755)
    return Nvcc.at(str(path))


def test_a_batch_gives_the_answers_of_single_calls(fake: Nvcc) -> None:
    calls = ["good();", "wrong();", "internal();", "good();", "illegal();", "nothing();", "wrong();", "good();"]
    taken = Answer("mma.one {2}, %, 4;")
    undefined = Answer("", ('identifier "wrong" is undefined',))
    assert fake.release == "13.0.88"
    assert fake.judge(calls, "sm_90a") == [
        taken, undefined, Answer("", ("odd operand",)), taken,
        Answer("", ("Illegal alayout",)), Answer(), undefined, taken,
    ]  # fmt: skip
    assert fake.judge([], "sm_90a") == []


def test_a_record_is_read_back(fake: Nvcc, tmp_path: Path) -> None:
    calls = [Case("sm_90a", "good();"), Case("sm_80", "wrong();"), Case("sm_90a", "nothing();")]
    files = batches(calls)
    assert [len({case.target for case in file}) for file in files] == [1] * len(files)
    answers = in_order(calls, files, [query(fake, file, None) for file in files])
    assert [case for case, _ in answers] == calls
    write(tmp_path / "record", answers, fake, "a test", "2026-11-22")
    assert read(tmp_path / "record") == answers
    assert '"calls": 3' in (tmp_path / "record" / "record.json").read_text()


def test_calls_come_from_the_registry_and_from_a_text() -> None:
    found = cases("# a comment\n\n__hmma_m16n16k16_ld_a(ip, cip, 3, 0);\n")
    assert found[-1] == Case("sm_90a", "__hmma_m16n16k16_ld_a(ip, cip, 3, 0);")
    assert len(found) == len(set(found)) > 3000


def test_a_missing_compiler_or_record_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="/nowhere/nvcc is missing"):
        Nvcc.at("/nowhere/nvcc")
    silent = tmp_path / "nvcc"
    silent.write_text("#!/bin/sh\necho hello\n")
    silent.chmod(0o755)
    with pytest.raises(UsageError, match="reports no release of nvcc"):
        Nvcc.at(str(silent))
    assert main(["evidence", "nvcc", "--record", str(tmp_path)]) == 2
    assert main(["evidence", "nvcc", "--judge", "--record", str(tmp_path)]) == 2
    assert "is not a folder of recorded answers" in capsys.readouterr().err


def test_registers_are_removed_from_instructions() -> None:
    assert counted("\tmma.x {%r1,\n%f2},\n  [%rd4+8], %r5;") == "mma.x {2}, [%+8], %;"
    assert kernel("f();").endswith(" { f(); }")
