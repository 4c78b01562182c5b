"""Wheel and source distribution: they are complete, and the wheel works outside the repository.

`tools/try_release.py` installs them in empty environments, with and without each extra.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import fresh_environment
import pytest
import try_release

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GENERATED = {".pyc", ".nbi", ".nbc"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the source distribution."""
    return fresh_environment.build(tmp_path_factory.mktemp("dist"))


def files(folder: str) -> set[str]:
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in GENERATED and "node_modules" not in path.parts
    }


def test_the_wheel_contains_the_package_and_its_data(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as wheel:
        inside = {f"src/{name}" for name in wheel.namelist() if name.startswith("warploom/")}
        described = [name for name in wheel.namelist() if not name.startswith("warploom/")]
    libraries = {name for name in inside if "/library/prebuilt-" in name}
    assert inside - libraries == files("src")
    assert {name.rpartition("/")[2] for name in libraries} >= {"libcuda.so.1", "libcompilers.so", "ptxas"}
    assert {name.rpartition("/")[2] for name in described} >= {"METADATA", "LICENSE", "entry_points.txt"}


def test_a_wheel_runs_cuda_programs_without_a_compiler(built: tuple[Path, Path], tmp_path: Path) -> None:
    with zipfile.ZipFile(built[0]) as wheel:
        wheel.extractall(tmp_path / "site")
    program = "import sys; sys.path.insert(0, 'site'); import warploom.cli; sys.exit(warploom.cli.main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, "exec", "--", "/bin/true"],
        cwd=tmp_path,
        env=fresh_environment.environment(tmp_path) | {"PATH": "", "CC": "no-compiler"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [*(tmp_path / ".cache/warploom/driver").glob("*/libcuda.so.1")]


def test_the_source_distribution_contains_tests_and_documentation(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[1]) as source:
        inside = {name.partition("/")[2] for name in source.getnames()}
    assert {"pyproject.toml", "uv.lock", "mkdocs.yml", "CITATION.cff", "CHANGELOG.md", "Makefile"} <= inside
    for folder in ("src", "lab", "docs", "tools", "examples"):
        assert files(folder) <= inside


def test_the_wheel_works_outside_the_repository(built: tuple[Path, Path], tmp_path: Path) -> None:
    with zipfile.ZipFile(built[0]) as wheel:
        wheel.extractall(tmp_path / "site")
    program = (
        "import sys; sys.path.insert(0, 'site'); import warploom, warploom.cli;"
        "assert warploom.__file__.startswith(sys.argv[1]);"
        "sys.exit(max(warploom.cli.main(line.split()) for line in sys.argv[2:]))"
    )
    layout = "layout mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 --html -o x.html"
    lines = ["explain mma.half", "explain sanitize.wgmma/wait", "completion zsh", layout]
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, str(tmp_path / "site"), *lines],
        cwd=tmp_path,
        env=fresh_environment.environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "x.html").is_file()


def test_every_extra_is_tried_alone() -> None:
    assert try_release.ALONE.keys() == PROJECT["project"]["optional-dependencies"].keys()


def test_the_citation_names_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    keys = dict(re.findall(r"^([a-z-]+): *(.*)$", text, re.MULTILINE))
    assert {"cff-version", "message", "title", "authors"} <= keys.keys(), "required by the format"
    assert keys["version"] == PROJECT["project"]["version"]
    assert keys["license"] == PROJECT["project"]["license"]
    assert keys["type"] == "software"


@pytest.mark.parametrize(
    "package", ["warploom", "warploom.author", "warploom.kernels", "warploom.gpu", "warploom.diagnostics"]
)
def test_every_public_name_is_documented(package: str) -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    entries = {name.rpartition(".")[2] for name in re.findall(r"^      heading: (\S+)$", pages, re.MULTILINE)}
    module = importlib.import_module(package)
    words = {name for name in module.__all__ if isinstance(getattr(module, name), str)} | {"ptx"}
    assert set(module.__all__) - words <= entries
