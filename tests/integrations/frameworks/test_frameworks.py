"""Programs that use Python frameworks, with `warploom exec`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from warploom.integrations.cuda_driver.build import library_folder
from warploom_lab.programs.frameworks import EXAMPLES, Example, run_on_emulator

ROOT = Path(__file__).parents[3]
RECORD = json.loads((ROOT / "tests/evidence/frameworks/h100.json").read_text(encoding="utf-8"))["examples"]
LINKER = str(Path(__file__).with_name("linker.py"))


@pytest.fixture(autouse=True)
def _root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("WARPLOOM_EXEC", raising=False)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.title.replace(" ", "-"))
def test_an_example_prints_what_it_prints_on_a_gpu(example: Example) -> None:
    for package in example.packages:
        pytest.importorskip(package, exc_type=ImportError)
    if example.name == "pytorch_extension" and shutil.which("nvcc") is None:
        pytest.skip("nvcc is not installed")
    status, output, errors = run_on_emulator(example)
    assert (status, output) == (0, RECORD[example.title]["gpu"][1]), errors


def link(count: int) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("cuda.core")
    command = [sys.executable, "-m", "warploom", "exec", "--", sys.executable, LINKER, str(count)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_nvjitlink_returns_a_single_ptx_text() -> None:
    pytest.importorskip("cuda.bindings.nvjitlink")
    done = link(1)
    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr


def test_gpu_code_of_several_ptx_texts_is_refused_with_its_kernels() -> None:
    done = link(2)
    assert done.returncode == 1
    assert "a module in memory has GPU code (SASS) of add" in done.stderr


def test_the_assembler_returns_ptx(tmp_path: Path) -> None:
    ptxas = str(library_folder() / "ptxas")
    (tmp_path / "in put.ptx").write_text(".version 8.0", encoding="utf-8")
    command = [ptxas, "-lineinfo", "-v", "--gpu-name=sm_90a", "in put.ptx", "-o", "out"]
    subprocess.run(command, check=True, cwd=tmp_path)
    assert (tmp_path / "out").read_text() == ".version 8.0"
    version = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True).stdout
    assert "Warploom" in version
    assert "release 12.9" in version
    done = subprocess.run([ptxas, "-v"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "ptxas of warploom exec: expected a file with the suffix .ptx\n")
