"""`warploom run --time` from the outside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from emulator.texts import kernel

from warploom.cli import main

GEOMETRY = ["--grid", "2", "--block", "64", "--arg", "scratch:256", "--time"]
PARTS = [
    "read and check", "copy arguments", "link", "load native functions", "compile native functions",
    "prepare arithmetic", "native code", "interpreter", "rest of the launch",
]  # fmt: skip
BODY = ".shared .b64 bar;\nmbarrier.init.shared::cta.b64 [bar], 1;\n{}st.global.u32 [%rd1], %r0;\nret;"
LAUNCH = """\
[kernel]
file = "k.ptx"
[launch]
grid = 2
block = 64
[[argument]]
buffer = "x"
[buffer.x]
dtype = "uint32"
shape = [64]
distribution = "zeros"
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WARPLOOM_ENGINE", raising=False)
    Path("k.ptx").write_text(kernel(BODY.format("")))
    Path("native.ptx").write_text(kernel("st.global.u32 [%rd1], %r0;\nret;"))
    Path("trap.ptx").write_text(kernel(BODY.format("st.global.u32 [%rd1+4096], %r0;\n")))
    Path("l.toml").write_text(LAUNCH)


def table(text: str) -> tuple[dict[str, tuple[float, int]], list[str]]:
    """Return milliseconds and percent of each part, and the lines about interpreted instructions."""
    parts, _, instructions = text.partition("\ntime\n")[2].partition("interpreted instructions\n")
    rows = re.findall(r"^  (\w[\w ]+?) +([\d,.]+) +(\d+)%", parts, re.MULTILINE)
    found = {part: (float(number.replace(",", "")), int(share)) for part, number, share in rows}
    return found, [" ".join(line.split()) for line in instructions.splitlines()]


@pytest.mark.parametrize("arguments", [["k.ptx", *GEOMETRY], ["l.toml", "--time"]])
def test_the_parts_and_the_instructions(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *arguments]) == 0
    parts, instructions = table(capsys.readouterr().out)
    assert list(parts) == PARTS
    assert 95 <= sum(share for _, share in parts.values()) <= 105
    line = kernel(BODY.format("")).splitlines().index("mbarrier.init.shared::cta.b64 [bar], 1;") + 1
    heading, *rows = instructions
    assert heading == "line ms batches instruction"
    assert any(re.fullmatch(rf"k\.ptx:{line} [\d.,]+ 1 mbarrier\.init\.shared::cta\.b64", row) for row in rows)


def test_only_native_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "native.ptx", *GEOMETRY]) == 0
    printed = capsys.readouterr().out
    assert list(table(printed)[0]) == PARTS
    assert "interpreted instructions" not in printed


def test_a_trap_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "trap.ptx", *GEOMETRY]) == 1
    printed = capsys.readouterr()
    assert printed.out.startswith("time\n")
    assert list(table(f"\n{printed.out}")[0]) == PARTS
    assert "out of bounds" in printed.err


def test_no_table_without_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "l.toml"]) == 0
    assert "native code" not in capsys.readouterr().out


def test_an_unknown_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "k.ptx", "--kernel", "other", *GEOMETRY]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "other" in printed.err


def test_an_exploration_has_no_times(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "k.ptx", *GEOMETRY, "--explore", "2"]) == 2
    assert "--time cannot be combined with --explore" in capsys.readouterr().err
