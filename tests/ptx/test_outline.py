"""The module of one kernel: the reached items of the whole module, at the same positions."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from strategies import modules

from warploom.ptx import Function, Module, parse
from warploom.ptx.outline import read_outline

CORPUS = sorted((Path(__file__).parents[1] / "corpus").glob("*.ptx"))
HEAD = ".version 8.7\n.target sm_90a\n.address_size 64\n"
TEXT = (
    HEAD
    + """
.file 1 "a.cu" // { in a comment
.global .u32 table[4] = {1, 2, 3, 4}, second = 7;
.global .u64 pointers[2] = {helper, generic(table)};
.const .u32 unused[3] = {1, 0x2, 3};
.func helper();
.func (.param .u32 r) inner(.param .u32 x) { /* } */ ret; }
.func helper()
.pragma "nounroll";
{
    .reg .b32 %r<3>;
    { mov.b32 {%r0, %r1}, second; }
    .pragma "}";
    call inner;
    ret;
}
.visible .entry first() { .reg .b64 %rd; mov.u64 %rd, pointers; ret; }
.entry second_kernel() { nonsense.of.any kind, {{}}; ret; }
.section .debug_str { name: .b8 102, 0 }
"""
)


def outlined(text: str, kernel: str) -> Module:
    outline = read_outline(text, "<ptx>")
    assert outline is not None
    module = outline.module(kernel)
    assert module is not None
    return module


def names(module: Module) -> list[str]:
    return [item.name for item in module.items]


def assert_part_of_the_whole(text: str) -> None:
    whole = parse(text)
    outline = read_outline(text, "<ptx>")
    assert outline is not None
    by_start = {item.origin[1]: item for item in whole.items if item.origin}
    assert [*outline.kernels] == [
        item.name for item in whole.items if isinstance(item, Function) and item.kind == "entry" and item.body
    ]
    for kernel in outline.kernels:
        module = outline.module(kernel)
        assert module is not None
        assert str(module) == text
        for item in module.items:
            assert item.origin is not None
            assert item == by_start[item.origin[1]]
            assert item.span == by_start[item.origin[1]].span
        assert module.functions[kernel] == whole.functions[kernel]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_corpus(path: Path) -> None:
    assert_part_of_the_whole(path.read_bytes().decode())


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(modules())
def test_random_modules(text: str) -> None:
    assert_part_of_the_whole(text)


def test_names_in_bodies_and_initial_values_are_reached() -> None:
    reached = [".version", ".target", ".address_size", ".file", "table", "second", "pointers", "helper", "inner"]
    assert [*dict.fromkeys(names(outlined(TEXT, "first")))] == [*reached, "first"]


def test_other_kernels_are_not_parsed() -> None:
    assert names(outlined(TEXT, "second_kernel"))[4:] == ["second_kernel"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEAD + ".visible .entry k() { ret; ",
        HEAD + ".func f() { ret;\n.visible .entry k() { ret; }",
        HEAD + ".global .u32 a\n",
        HEAD + '.entry k() { .pragma "a; }\n }',
        HEAD + ".entry k() { ret; } nonsense",
        HEAD + ".entry k() { ret; } /* no end",
        HEAD + ".entry k( { ret; }",
    ],
)
def test_malformed_modules_have_no_outline(text: str) -> None:
    assert read_outline(text, "<ptx>") is None


def test_a_kernel_with_a_syntax_error_is_not_parsed() -> None:
    outline = read_outline(HEAD + ".entry k() { mov.u32 %r1 %r2; }\n.entry other() { ret; }", "<ptx>")
    assert outline is not None
    assert outline.module("k") is None
    assert outline.module("other") is not None


def test_source_lines_have_function_names_from_sections() -> None:
    text = HEAD + (
        '.file 1 "a.cu"\n.entry k()\n{\n.loc 1 5 1\n.loc 1 9 2, function_name name, inlined_at 1 5 1\nret;\n}\n'
        ".section .debug_str\n{\nname:\n.b8 102,0\n}\n"
    )
    assert outlined(text, "k").source is not None
    source = outlined(text, "k").source
    assert source is not None
    line = source.compiled_from(text.index("ret"))
    assert line == parse(text).source.compiled_from(text.index("ret"))  # pyright: ignore[reportOptionalMemberAccess]
    assert line is not None
    assert line.function == "f"
