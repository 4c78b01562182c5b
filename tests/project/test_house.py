"""The rules of the house that no linter knows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "warploom"
SOURCE_FILES = sorted(SOURCE.rglob("*.py"))
LONGEST = 600

# Instruction names as the language writes them. Words that Python code has other uses for (`add.`, `bar.`)
# count only together with what follows them in PTX.
OPCODE_TEXT = re.compile(
    r"""(?<![\w.])(?:
        (?:wgmma|wmma|ldmatrix|stmatrix|movmatrix|tcgen05|setmaxnreg|griddepcontrol|cvta|lop3|prmt|membar|isspacep)\.
      | mma\.(?:sync|sp|m\d)
      | cp\.(?:async|reduce)
      | mbarrier\.[a-z]
      | barrier\.(?:cluster|cta|sync|arrive|red)
      | bar\.(?:sync|arrive|red|warp)
      | fence\.(?:proxy|mbarrier|acq_rel|sc|acquire|release)
      | tensormap\.(?:replace|cp_fenceproxy)
      | (?:elect|shfl|vote|match|redux|activemask)\.(?:sync|any|all|b32)
      | (?:ld|st|atom|red|prefetch)\.(?:global|shared|param|local|const|async|relaxed|volatile|acquire)
      | (?:mov|selp|and|or|xor|not|shl|brev)\.(?:b|u|s|f|pred)\d*\b
      | setp\.(?:eq|ne|lt|le|gt|ge)
      | cvt\.(?:r[nzmp]|[usbf]\d+|sat|pack)
      | (?:fma|add|sub|mul|mad|div|sqrt|rcp)\.(?:r[nzmp]|[usf]\d+|lo|hi|wide|approx|ftz|sat)\b
      | (?:ex2|lg2|sin|cos|tanh|rsqrt)\.approx
    )""",
    re.VERBOSE,
)


QUOTED = re.compile(r'"([^"]*)"')
"""A whole string; one that is the name of a form is no opcode, though it may read as one."""


def without_names_of_forms(line: str) -> str:
    from warploom import isa  # declares every form
    from warploom.isa.model.form import forms

    assert isa
    names = {form.name for form in forms()}
    return QUOTED.sub(lambda found: "" if found[1] in names else found[0], line)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize(
    "text",
    [
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
        "mma.sync.aligned.m16n8k16",
        "cp.async.bulk.tensor",
        "mbarrier.try_wait",
        "ldmatrix.sync",
        "tcgen05.ld",
        "setmaxnreg.inc",
        "bar.sync 0",
        "barrier.cluster.arrive",
        "fence.proxy.async",
        "ld.shared.b32",
        "mov.b32",
        "mov.pred",
        "cvt.rn.f16.f32",
        "add.s32",
        "(`fma.rn.f32`)",
    ],
)
def test_opcode_text_is_recognised(text: str) -> None:
    assert OPCODE_TEXT.search(text)


@pytest.mark.parametrize(
    "text", ["state.barrier.arrived", "words.add(x)", "match.group(1)", "np.add.reduce(", "a.bar.sync"]
)
def test_python_is_not_taken_for_opcode_text(text: str) -> None:
    assert not OPCODE_TEXT.search(text)


def test_names_of_forms_are_not_taken_for_opcode_text() -> None:
    assert not OPCODE_TEXT.search(without_names_of_forms('x("mbarrier.init")'))
    assert OPCODE_TEXT.search(without_names_of_forms('x("mbarrier.init.shared.b64")'))


@pytest.mark.parametrize(
    "path",
    [
        p
        for p in SOURCE_FILES
        if SOURCE / "isa" not in p.parents and SOURCE / "check" / "ptxas" not in p.parents
    ],
    ids=relative,
)
def test_opcode_text_stands_in_isa_alone(path: Path) -> None:
    found = [
        f"{relative(path)}:{number}: {line.strip()}"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if OPCODE_TEXT.search(line) and OPCODE_TEXT.search(without_names_of_forms(line))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", SOURCE_FILES, ids=relative)
def test_no_file_is_too_long(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST


def text_files() -> list[Path]:
    """Every text file of the repository, and none that a tool has made beside it."""
    folders = [ROOT / name for name in ("src", "tests", "bench", "docs", "examples", "changelog.d", ".ci")]
    return [p for p in ROOT.iterdir() if p.is_file() and p.name != ".git"] + [
        p
        for folder in folders
        for p in sorted(folder.rglob("*"))
        if p.is_file() and p.suffix not in {".npy", ".npz", ".pyc", ".nbi", ".nbc"}
    ]


def test_the_repository_stands_alone() -> None:
    workplace = re.compile("|".join(map(re.escape, ("/wor" + "k/", "../sha" + "red/", "/tm" + "p/w/"))))
    found = [
        f"{relative(path)}:{number}: {line.strip()[:100]}"
        for path in text_files()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if workplace.search(line)
    ]
    assert not found, "\n".join(found)


def test_importing_the_package_is_light() -> None:
    program = (
        "import sys, json; before = set(sys.modules); import warploom; "
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    modules: list[str] = json.loads(done.stdout)
    packages = {name.partition(".")[0] for name in modules}
    assert "warploom" in packages
    assert not packages & {"numpy", "numba", "llvmlite", "ml_dtypes", "rich", "torch", "cuda", "cupy"}
    assert [name for name in modules if name.startswith("warploom.")] == [
        "warploom.providers",
    ]
    assert len(modules) <= 40


def test_the_version_is_the_distribution_s() -> None:
    import warploom

    assert warploom.__version__ in (ROOT / "pyproject.toml").read_text()


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    import warploom

    with pytest.raises(AttributeError, match="'warploom' has no attribute 'lunch'"):
        warploom.lunch  # noqa: B018


def test_every_decision_is_listed() -> None:
    why = ROOT / "docs" / "why"
    listed = re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", (why / "README.md").read_text(encoding="utf-8"))
    assert listed == sorted(path.name for path in why.glob("[0-9]*.md"))
