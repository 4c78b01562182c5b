"""Conventions of all commands: help without arguments, standard input as `-`, `--arch`, and exit statuses."""

from __future__ import annotations

import io
from argparse import ArgumentParser
from pathlib import Path

import pytest
from emulator.texts import kernel

from warploom.cli import main
from warploom.cli._main import parser as command_line

PTX = kernel("st.global.u32 [%rd1], %r0;\nret;")
WARNED = ".version 9.0\n.target sm_101a\n.address_size 64\n.entry k() { ret; }\n"
LAUNCH = """\
kernel.file = "k.ptx"
launch.grid = 1
launch.block = 32
argument = [{ buffer = "x" }]
[buffer.x]
dtype = "uint32"
shape = [32]
distribution = "zeros"
[expect]
reference = "copy"
a = "y"
result = "x"
[buffer.y]
dtype = "uint32"
shape = [32]
distribution = "arange"
"""
GEOMETRY = ["--grid", "1", "--block", "32", "--arg", "zeros:uint32:32"]

Captured = pytest.CaptureFixture[str]


def commands(parser: ArgumentParser, words: tuple[str, ...] = ()) -> dict[tuple[str, ...], ArgumentParser]:
    """The parsers of the command line and of every command."""
    found = {words: parser}
    if parser._subparsers is not None:
        for name, each in parser._subparsers._group_actions[0].choices.items():
            found |= commands(each, (*words, name))
    return found


COMMANDS = commands(command_line())
WITHOUT_ARGUMENTS = {("bench", "gemm"), ("lsp",)}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(PTX)


def feed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


@pytest.mark.parametrize("words", sorted(COMMANDS.keys() - WITHOUT_ARGUMENTS), ids=" ".join)
def test_a_bare_command_prints_its_help(words: tuple[str, ...], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert capsys.readouterr() == ("", COMMANDS[words].format_help())


def test_the_architecture_has_one_option_name() -> None:
    options = {words: set(parser._option_string_actions) for words, parser in COMMANDS.items()}
    assert not any({"--target", "--targets", "--gpu-name"} & found for found in options.values())
    with_arch = {words for words, found in options.items() if "--arch" in found}
    assert with_arch == {(word,) for word in ("check", "run", "sanitize", "debug", "report", "lower", "replay")}


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        (["check", "-"], ""),
        (["run", "-", *GEOMETRY], "CTAs     1"),
        (["sanitize", "-", *GEOMETRY], "no findings"),
        (["report", "-", *GEOMETRY, "-o", "-"], "<!doctype html>"),
        (["report", "-", *GEOMETRY], "report.html: no findings"),
        (["init", "-"], 'kernel.file = "fill in: the path of the PTX file"'),
        (["author", "-"], "ptx.st(rd1"),
        (["lower", "-", "--source", "ptx", "--to", "nvvm"], "llvm.func @k"),
    ],
)
def test_a_dash_is_standard_input(
    command: list[str], printed: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed(monkeypatch, PTX)
    assert main(command) == 0, capsys.readouterr().err
    assert printed in capsys.readouterr().out


def test_a_launch_file_may_come_from_standard_input(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, LAUNCH)
    assert main(["run", "-"]) == 0
    assert capsys.readouterr().out.endswith("x is exact\n")


def test_a_finding_in_standard_input_has_its_place(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, PTX.replace("ret;", "frobnicate;"))
    assert main(["check", "-"]) == 1
    assert capsys.readouterr().out.startswith("<stdin>:")


def test_warnings_count_with_strict_only(capsys: Captured) -> None:
    Path("warned.ptx").write_text(WARNED)
    for command in (["check", "warned.ptx"], ["check", "--format", "json", "warned.ptx"]):
        assert main(command) == 0
        assert "warning" in capsys.readouterr().out
        assert main([*command, "--strict"]) == 1


def test_an_unknown_command_is_a_sentence(capsys: Captured) -> None:
    assert main(["walk"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error[usage]: COMMAND: invalid choice: 'walk' (choose from ")
    assert said.endswith("\n  hint: `warploom --help` lists the arguments\n")
