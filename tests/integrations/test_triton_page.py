"""The code of docs/triton.md and the example run with the output that they state."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytest.importorskip("triton")

from integrations.test_pytest import blocks

ROOT = Path(__file__).resolve().parents[2]


def test_the_code_of_the_page_on_triton(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "add.py"
    file.write_text("\n\n".join(blocks("triton.md")), encoding="utf-8")
    runpy.run_path(str(file))
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("add {")
    assert said[1].startswith("BLOCK: 128")


def test_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "triton_softmax.py"))["main"](4, 100)
    assert capsys.readouterr().out == "softmax: 4 CTAs of 128 threads, 0 findings\nright to six digits\n"
