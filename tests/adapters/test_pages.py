"""What docs/triton.md and docs/pytest.md say is true: their code runs, and ends as they say."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

pytest.importorskip("triton")

from adapters.test_pytest import outcomes, run

ROOT = Path(__file__).resolve().parents[2]


def blocks(page: str) -> list[str]:
    return re.findall(
        r"^```python\n(.*?)^```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


def test_the_code_of_the_page_on_triton(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "add.py"
    file.write_text("\n\n".join(blocks("triton.md")), encoding="utf-8")
    runpy.run_path(str(file))
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("add {")
    assert said[1].startswith("BLOCK: 128")


def test_the_code_of_the_page_on_pytest(tmp_path: Path) -> None:
    reverse, double, marked = blocks("pytest.md")
    racy = reverse.replace("    bar.sync 0;\n", "").replace("def test_reverse", "def test_racy")
    text = "\n\n".join((reverse, double, marked, racy.replace("REVERSE", "RACY")))
    said = run(tmp_path, text, "-W", "ignore::UserWarning")
    found = outcomes(said)
    assert {name for name, outcome in found.items() if outcome == "FAILED"} == {
        "test_racy[cpu-eager]",
        "test_racy[cpu-lazy]",
    }
    assert {name for name, outcome in found.items() if outcome == "SKIPPED"} == {
        "test_reverse[cuda]",
        "test_racy[cuda]",
    }
    assert len([name for name, outcome in found.items() if outcome == "PASSED"]) == 7
    told = re.findall(r"^on cpu-eager:\n.*\n.*\n.*\n.*$", said, re.MULTILINE)[0].splitlines()
    page = (ROOT / "docs" / "pytest.md").read_text(encoding="utf-8")
    assert told[1].partition(", CTA")[0] in page
    assert all(line in page for line in told[2:])


def test_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "triton_softmax.py"))["main"](4, 100)
    assert capsys.readouterr().out == "softmax: 4 CTAs of 128 threads, 0 findings\nright to six digits\n"
