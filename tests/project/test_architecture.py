"""Rules of the architecture: length of files, names of instructions, a repository without outside references."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import grimp
import pytest
from project.instruction_names import offences, opcode_text

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "warploom"
PACKAGES = (SOURCE, ROOT / "lab" / "src" / "warploom_lab")
LONGEST = 600
"""Largest number of lines of a source file."""


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_no_source_file_is_too_long() -> None:
    lengths = {
        relative(path): len(path.read_text(encoding="utf-8").splitlines())
        for package in PACKAGES
        for path in package.rglob("*.py")
    }
    assert {path: length for path, length in lengths.items() if length > LONGEST} == {}


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
    assert [name for name in modules if name.startswith("warploom.")] == ["warploom.providers"]
    assert len(modules) <= 40


@pytest.mark.parametrize("package", ["warploom", "warploom_lab"])
def test_modules_have_no_import_cycle(package: str) -> None:
    """Imports under TYPE_CHECKING count too."""
    graph = grimp.build_graph(package, cache_dir=None, exclude_type_checking_imports=False)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert cycles(imports) == []


def test_a_planted_cycle_is_found() -> None:
    imports = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"d2"}, "d2": set(), "e": {"e2"}, "e2": {"e"}}
    assert cycles(imports) == [["a", "b", "c"], ["e", "e2"]]


def cycles(imports: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import each other, directly or through others."""
    reachable: dict[str, set[str]] = {}
    for start in imports:
        seen: set[str] = set()
        pending = [start]
        while pending:
            pending += (following := imports[pending.pop()] - seen)
            seen |= following
        reachable[start] = seen
    groups = {
        tuple(sorted(other for other in reachable[module] if module in reachable[other]))
        for module in imports
        if module in reachable[module]
    }
    return sorted(map(list, groups))


# Names of instructions --------------------------------------------------------------------------------------


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
        "tcgen05.mma: its shape",
        "st.async",
        "multimem.red",
        "rsqrt.f64",
    ],
)
def test_opcode_text_is_recognised(text: str) -> None:
    assert opcode_text(text)


@pytest.mark.parametrize(
    "text",
    ["state.barrier.arrived", "words.add(x)", "match.group(1)", "np.add.reduce(", "a.bar.sync", "wgmma.FENCE, mma.MMA"],
)
def test_python_is_not_opcode_text(text: str) -> None:
    assert not opcode_text(text)


def test_a_quoted_form_name_is_not_opcode_text() -> None:
    assert not opcode_text('x("mbarrier.init")')
    assert opcode_text('x("mbarrier.init.shared.b64")')


@pytest.mark.parametrize(
    "source",
    [
        "text = 'mbarrier.try_wait.shared'",
        "ACTIONS = {'mma.half': 1}",
        "if step.binding.form.family == 'mma': pass",
        "if 'tensor' != form.family: pass",
        "if form.name in {'control.ret', 'control.exit'}: pass",
        "if form.name.startswith('sparse'): pass",
        "kind = {'mma': 1, 'wgmma': 2}[form.family]",
        "KINDS = {'memory': 1}\ndef kind(form): return KINDS.get(form.family)",
        "KINDS = frozenset({'memory'})\ndef known(step): return step.form.family in KINDS",
        (
            "class A:\n  def __init__(self): self.acts = {('barrier', 'fence'): 1}\n"
            "  def f(self, form):\n    family, _, part = form.name.partition('.')\n"
            "    return self.acts.get((family, part))"
        ),
        "def f(form):\n  part = form.name.partition('.')[2]\n  return part == 'arrive'",
        "def f(form):\n  match form.family, form.name:\n    case 'memory', _: return 1",
        "if statement.opcode.partition('.')[0] == 'ret': pass",
        "if 'ldmatrix' in form.heads: pass",
        "if 'bar' in binding.words: pass",
        "if (form.family, 'load') == other: pass",
    ],
)
def test_a_comparison_with_an_instruction_name_is_found(source: str) -> None:
    assert list(offences(source))


@pytest.mark.parametrize(
    "source",
    [
        "space = 'memory'",
        "if buffer.space == 'memory': pass",
        "layers = {'memory': 1, 'control': 2}[kind]",
        "if argument.name == 'grid': pass",
        "families = [form.family for form in chosen]",
        "if form.family in wanted: pass",
        "by_family.setdefault(form.family, []).append(form)",
        "if 'global' in binding.words: pass",
        "label = form.name.partition('.')[0]",
    ],
)
def test_other_code_is_not_an_offence(source: str) -> None:
    assert list(offences(source)) == []


def test_only_isa_names_instructions() -> None:
    """The ptxas overlay `check/ptxas/` may name them, too."""
    allowed = (SOURCE / "isa", SOURCE / "check" / "ptxas")
    found = [
        f"{relative(path)}:{line}: {offence}"
        for path in sorted(SOURCE.rglob("*.py"))
        if not any(path.is_relative_to(folder) for folder in allowed)
        for line, offence in offences(path.read_text(encoding="utf-8"))
    ]
    assert found == []


# Repository -------------------------------------------------------------------------------------------------


def text_files() -> Iterator[Path]:
    """Yield the text files of the repository without generated files."""
    folders = ("src", "lab", "tests", "tools", "bench", "docs", "examples", "changelog.d", ".ci")
    yield from (path for path in ROOT.iterdir() if path.is_file() and path.name != ".git")
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix not in {".npy", ".npz", ".pyc", ".nbi", ".nbc", ".xz"}:
                yield path


def test_the_repository_is_self_contained() -> None:
    workplace = re.compile("|".join(map(re.escape, ("/wor" + "k/", "../sha" + "red/", "/tm" + "p/w/"))))
    found = [
        f"{relative(path)}:{number}: {line.strip()[:100]}"
        for path in text_files()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if workplace.search(line)
    ]
    assert found == []


def test_every_decision_is_listed() -> None:
    why = ROOT / "docs" / "why"
    listed = re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", (why / "README.md").read_text(encoding="utf-8"))
    assert listed == sorted(path.name for path in why.glob("[0-9]*.md"))
