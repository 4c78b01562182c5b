"""Loading of one kernel of a module: the same program as from the whole module, the same errors, changed files."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import warploom as wl
from warploom.emulator.loader import load
from warploom.emulator.program import Program
from warploom.ptx import Module, parse, text_of
from warploom.ptx.outline import read_outline
from warploom.runtime import kernel as runtime_kernel

CORPUS = sorted((Path(__file__).parents[1] / "corpus").glob("*.ptx"))
HEAD = ".version 8.7\n.target sm_90a\n.address_size 64\n"
STORE = ".visible .entry store(.param .u64 out)\n{ .reg .b64 %rd; .reg .b32 %r; ld.param.u64 %rd, [out];\n"
BROKEN = ".visible .entry broken() { mov.u32 %r1 %r2; ret; }\n"


def contents(program: Program) -> Any:
    """Everything that a run or a message reads from a program."""
    steps = [(str(step.instruction), step.binding, step.function) for step in program.steps]
    pcs = range(len(steps))
    spans, places = [program.span_of(pc) for pc in pcs], [program.place_of(pc) for pc in pcs]
    control = program.block_end, program.reconvergence, program.following, program.entry
    layout = program.registers.counts, program.static_shared, program.dynamic_start, program.local_bytes
    return steps, spans, places, control, layout, program.functions, program.parameters, program.globals


def assert_same_programs(text: str) -> None:
    outline = read_outline(text, "<ptx>")
    assert outline is not None
    for kernel in outline.kernels:
        module = outline.module(kernel)
        assert module is not None
        assert loaded(module, kernel) == loaded(parse(text), kernel)


def loaded(module: Module, kernel: str) -> Any:
    try:
        return contents(load(module, kernel))
    except wl.Unsupported as error:
        return [(each.code, each.message, each.span) for each in error.diagnostics]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_corpus(path: Path) -> None:
    assert_same_programs(path.read_bytes().decode())


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Modules of functions and variables that use each other at random."""
    count = draw(st.integers(1, 6))
    numbers = st.integers(0, count - 1)
    parts = [f'.file {n + 1} "f{n}.cu"\n' for n in range(count)]
    for n in range(count):
        target = draw(numbers)
        values = draw(st.sampled_from([f"= {{f{target}, 1}}", f"= {{v{target}, 0}}", "= {3, 4}", ""]))
        parts.append(f".global .u64 v{n}[2] {values}; // {{ v{draw(numbers)}\n")
        parts.append(f".func f{n}();\n")
    for n in range(count):
        lines = [f".loc {n + 1} {draw(st.integers(1, 99))} 0"]
        callees = draw(st.lists(st.integers(n + 1, count), max_size=2))
        lines += [f"call f{k};" if k < count else "{ .reg .b32 %q<2>; mov.b32 %q1, 3; }" for k in callees]
        lines += [f"mov.u64 %rd, v{v};" for v in draw(st.lists(numbers, max_size=2))]
        body = "\n".join(lines)
        parts.append(f".func f{n}()\n{{ .reg .b64 %rd;\n{body}\nret; }}\n")
        parts.append(f".visible .entry k{n}() {{ .reg .b64 %rd; /* }} */ {body} call f{draw(numbers)};\nret; }}\n")
    return HEAD + "".join(parts)


@settings(max_examples=100)
@given(programs())
def test_random_modules(text: str) -> None:
    assert_same_programs(text)


def test_other_kernels_may_have_syntax_errors() -> None:
    out = np.zeros(1, np.uint32)
    wl.launch(HEAD + BROKEN + STORE + "st.global.u32 [%rd], 7; ret; }", "store", grid=1, block=1, args=[out])
    assert out[0] == 7


@pytest.mark.parametrize(
    "text",
    [
        HEAD + BROKEN + STORE + "st.global.u32 [%rd] 7; ret; }",  # in the kernel, too
        HEAD + BROKEN + STORE + "st.global.u32 [%rd], 7; ret;",  # a missing brace
        HEAD + ".func f() { ret;\n" + STORE + "ret; }",
        HEAD + STORE + "ret; }\nnonsense",
        "no module\n",
    ],
)
def test_all_syntax_errors_of_the_text_are_reported(text: str) -> None:
    with pytest.raises(wl.PtxSyntaxError) as launched:
        wl.launch(text, "store", grid=1, block=1, args=[0])
    with pytest.raises(wl.PtxSyntaxError) as parsed:
        wl.parse(text)
    found, expected = (
        [(each.code, each.message, each.span) for each in error.value.diagnostics] for error in (launched, parsed)
    )
    assert found == expected


@pytest.mark.parametrize("name", [None, "missing"])
def test_unknown_kernels_are_reported_with_all_kernels(name: str | None) -> None:
    text = HEAD + ".entry one() { ret; }\n.entry two() { ret; }\n"
    with pytest.raises(wl.UsageError, match="one, two"):
        wl.launch(text, name, grid=1, block=1, args=[])


def test_a_syntax_error_comes_before_an_unknown_kernel() -> None:
    with pytest.raises(wl.PtxSyntaxError):
        wl.launch(HEAD + BROKEN, "missing", grid=1, block=1, args=[])


# Files -------------------------------------------------------------------------------------------------------------


def value_of(path: Path | str) -> int:
    """Number that the kernel in a file stores."""
    out = np.zeros(1, np.uint32)
    wl.launch(path, grid=1, block=1, args=[out])
    return int(out[0])


def write(path: Path, value: int) -> None:
    """Write a kernel that stores a number. The time of the file's last modification does not change."""
    path.write_text(f"{HEAD}{STORE}mov.u32 %r, {value}; st.global.u32 [%rd], %r; ret; }}\n")
    os.utime(path, ns=(10**18, 10**18))


def test_a_file_is_read_again_after_each_change(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    for value in range(5):
        write(path, value)
        assert value_of(path) == value_of(str(path)) == value


def test_a_file_that_has_long_been_unchanged_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[object] = []

    def read(source: Path) -> tuple[str, str]:
        reads.append(source)
        return text_of(source)

    monkeypatch.setattr(runtime_kernel, "text_of", read)
    path, other = tmp_path / "k.ptx", tmp_path / "other.ptx"
    write(path, 1)
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now + 60 * 10**9)
    assert value_of(path) == value_of(path) == 1
    assert len(reads) == 1
    changed = path.stat().st_ctime_ns
    while path.stat().st_ctime_ns == changed:
        write(path, 2)
    assert value_of(path) == 2
    write(other, 3)
    other.replace(path)
    assert value_of(path) == 3


def test_a_file_that_has_long_been_unchanged_may_disappear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "k.ptx"
    write(path, 1)
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now + 60 * 10**9)
    assert value_of(path) == 1
    path.unlink()
    with pytest.raises(wl.UsageError, match="there is no file"):
        value_of(path)
    path.mkdir()
    with pytest.raises(wl.UsageError, match="cannot be read"):
        value_of(path)
