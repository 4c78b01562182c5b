"""Shell completion scripts."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from warploom.cli import completion, main


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_the_script_is_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert capsys.readouterr().out == (completion.FOLDER / f"warploom.{shell}").read_text(encoding="utf-8")


def test_an_unknown_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "nush"]) == 2
    assert "invalid choice: 'nush'" in capsys.readouterr().err


def completed(*words: str) -> set[str]:
    """Return the completions of the last word in bash."""
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
