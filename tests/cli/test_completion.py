"""The scripts that complete the command line are those of the command line, and complete it."""

from __future__ import annotations

import shutil
import subprocess

import make_completions
import pytest

from warploom.cli import completion, main


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_a_script_is_fresh_and_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert capsys.readouterr().out == make_completions.scripts()[shell], "run tools/make_completions.py"


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "nush"]) == 2
    assert "invalid choice: 'nush'" in capsys.readouterr().err


def completed(*words: str) -> set[str]:
    """What bash offers for the last word."""
    bash = shutil.which("bash")
    assert bash
    typed = " ".join(f"'{word}'" for word in words)
    program = (
        f"source {completion.FOLDER / 'warploom.bash'}; COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1};"
        ' _shtab_warploom; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run([bash, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["warploom", "la"], {"layout"}),
        (["warploom", "check", "--format", ""], {"text", "json", "sarif"}),
        (["warploom", "run", "--sc"], {"--schedule"}),
        (["warploom", "completion", ""], set(completion.SHELLS)),
    ],
)
def test_bash_completes(words: list[str], offered: set[str]) -> None:
    assert completed(*words) == offered
