"""Heads, declarations, functions and names: beyond the examples of the rules' pages."""

from __future__ import annotations

import pytest

import warploom as wl

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"


def codes(text: str) -> list[str]:
    return [found.code for found in wl.check(text)]


@pytest.mark.parametrize(
    ("version", "target", "found"),
    [
        ("9.0", "sm_90a", []),
        ("8.7", "sm_120f", ["module/version"]),
        ("8.8", "sm_120f", []),
        ("6.6", "sm_75", ["module/version"]),
        ("9.9", "sm_90a", ["module/version"]),
        ("8.7", "sm_101a", []),
        ("9.0", "sm_101a", ["module/renamed-target"]),
        ("9.0", "sm_90f", ["module/target"]),
        ("9.0", "sm_90a, debug", []),
        ("9.0", "sm_90a, fast", ["module/target"]),
        ("9.0", "debug", ["module/target"]),
        ("9.0", "sm_90a, map_f64_to_f32", ["module/target"]),
        ("9.0", "compute_90a", []),
    ],
)
def test_heads(version: str, target: str, found: list[str]) -> None:
    assert codes(f".version {version}\n.target {target}\n.address_size 64\n.entry k() {{ ret; }}\n") == found


# Every one is judged so by ptxas 13.1.
INITIAL = (".global .b32 a[2] = {};", ".global .b32 a[][2] = {{1,2},{3,4},{5}};", ".global .v2 .b32 a = {1,2};",
           ".global .v2 .b32 a[2] = {{1,2},{3,4}};", ".global .b8 a = 1.0;", ".global .b64 a = 0f3F800000;",
           ".func f() { ret; }\n.global .u64 b[2] = {f, 0};", ".const .b32 a[2] = {1};",
           ".global .u32 a;\n.global .u8 b[8] = {0xFF(a), 0xFF00(a)};")  # fmt: skip
NO_INITIAL = (".global .b32 a[2][2] = {1,2};", ".global .b32 a[4] = {{1,2},{3,4}};", ".global .b32 a = {1};",
              ".global .b32 a[2] = 1;", ".global .b32 a[2] = {{}};", ".global .b8 a[] = {};",
              ".global .v2 .b32 a[2] = {1,2,3,4};", ".global .b32 a[2][2] = {{1,2,3},{1}};",
              ".global .b32 a[2] = {1,{2}};", ".global .u32 a = 1.0;", ".global .f16 a = 1.0;",
              ".shared .u32 a;\n.global .u64 b = generic(a);",
              ".func f() { ret; }\n.global .u64 b = generic(f);")  # fmt: skip


@pytest.mark.parametrize("text", INITIAL)
def test_initial_values(text: str) -> None:
    assert codes(f"{HEAD}{text}\n") == []


@pytest.mark.parametrize("text", NO_INITIAL)
def test_what_is_no_initial_value(text: str) -> None:
    assert codes(f"{HEAD}{text}\n") == ["variable/initial"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (".extern .global .b32 a;\n.visible .global .b32 a;", []),
        (".visible .global .b32 a;\n.extern .global .b32 a;", []),
        (".extern .global .b32 a[];\n.visible .global .b32 a[4];", []),
        (".extern .global .b32 a;\n.global .b32 a;", ["variable/linkage"]),
        (".extern .global .b32 a[];\n.visible .global .b64 a[4];", ["variable/linkage"]),
        (".extern .global .b32 a[4];\n.visible .global .b32 a[8];", ["variable/linkage"]),
        (".extern .shared .b8 a[];\n.extern .shared .b32 a[];", ["variable/linkage"]),
        (".const[2] .b32 a;", ["variable/space"]),
        (".global .v3 .b32 a;", ["variable/type"]),
        (".global .v8 .b16 a;", ["variable/type"]),
        (".func f() .noreturn { trap; }", []),
        (".func (.reg .b32 a) f() .noreturn { trap; }", ["directive/conflict"]),
        (".func f() { ret; }\n.func g();\n.alias g, f;", []),
        (".func f() { ret; }\n.alias g, f;", ["name/undeclared"]),
        (".func g();\n.alias g, f;\n.func f() { ret; }", ["name/undeclared"]),
        (".func f() { ret; }\n.func g() { ret; }\n.alias g, f;", ["function/linkage"]),
        (".weak .func f() { ret; }\n.func g();\n.alias g, f;", ["function/linkage"]),
        (".extern .func f();\n.func g();\n.alias g, f;", ["function/linkage"]),
        (".entry f() { ret; }\n.func g();\n.alias g, f;", ["function/linkage"]),
        (".func f() { ret; }\n.func g(.param .b32 a);\n.alias g, f;", ["function/prototype"]),
    ],
)
def test_what_is_declared_again(text: str, found: list[str]) -> None:
    assert codes(f"{HEAD}{text}\n") == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (".extern .shared .b8 s[];", []),
        (".global .u32 a[4] = {1, 2, 3, 4, 5};", ["variable/initial"]),
        (".global .u32 a[] = {1, 2};", []),
        (".global .f32 a = 1;", ["variable/initial"]),
        (".global .u32 x;\n.global .u64 p = generic(x)+4;", []),
        (".global .u64 p = q;", ["name/undeclared"]),
        (".global .v4 .f64 a;", ["variable/type"]),
        (".global .pred a;", ["variable/type"]),
        (".extern .global .u32 x = 3;", ["variable/initial"]),
        (".global .u32 x;\n.global .u32 x;", ["name/duplicate"]),
        (".extern .func f();\n.entry k() { call f; ret; }", []),
        (".entry k() { call f; ret; }\n.func f() { ret; }", ["name/undeclared"]),
        (".entry k() { ret; }\n.entry k() { ret; }", ["name/duplicate"]),
        (".extern .func f();\n.func f() { ret; }", ["function/linkage"]),
        (".entry k(.param .u32 a, .param .u32 a) { ret; }", ["name/duplicate"]),
        (".entry k(.param .b8 a[32764]) { ret; }", []),
        (".entry k(.param .b8 a[32765]) { ret; }", ["function/parameter"]),
        (".entry k(.reg .u32 a) { ret; }", ["function/parameter"]),
        (".entry k(.param .f16x2 a) { ret; }", ["function/parameter"]),
        (".entry k() { .reg .b32 %r<4>; .reg .b32 %r2; ret; }", ["name/duplicate"]),
        (".entry k() { .reg .b32 %r<4>; { .reg .f32 %r<5>; mov.f32 %r1, 0f00000000; } ret; }", []),
        (".entry k() { L: L: ret; }", ["name/duplicate"]),
        (".entry k() { L: { L: bra L; } ret; }", []),
        (".entry k() { .reg .b32 L; L: ret; }", ["name/duplicate"]),
        (".entry k() { .reg .b64 d; mov.u64 d, s; .shared .b32 s; ret; }", ["name/undeclared"]),
        (".entry k() .maxntid 1, 2, 3 .maxnreg 64 { ret; }", []),
        (".entry k() .reqntid 128 .maxntid 128 { ret; }", ["directive/conflict"]),
        (".entry k() .blocksareclusters { ret; }", ["directive/conflict"]),
        (".entry k() .explicitcluster .maxclusterrank 8 { ret; }", []),
        (".entry k() .noreturn { ret; }", ["directive/unknown"]),
        (".func f() .noreturn { ret; }", []),
    ],
)
def test_modules(text: str, found: list[str]) -> None:
    assert codes(f"{HEAD}{text}\n") == found


def test_what_can_be_read_is_judged_beside_syntax_errors() -> None:
    text = f"{HEAD}.entry k() {{ .reg .b32 r;\nmov.b32 r, r\nadd.sat.u32 r, r, 1;\nadd.u32 r, q, 1;\nret; }}\n"
    assert codes(text) == ["ptx.syntax/expected", "integer.add/type", "name/undeclared"]


def test_names_are_not_missed_where_their_declaration_could_not_be_read() -> None:
    text = f"{HEAD}.entry k()\n{{\n.reg .b32 r q;\nmov.b32 r, 0;\nret; }}\n"
    assert codes(text) == ["ptx.syntax/expected"]
