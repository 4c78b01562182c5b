"""Calls and branch tables against what they name, and vectors by what their items make together."""

from __future__ import annotations

import pytest

import warploom as wl

_HEAD = """.version 9.1
.target sm_90a
.address_size 64
.func plain() { ret; }
.func (.reg .b32 out) one(.reg .f32 in) { ret; }
.func array(.param .align 8 .b8 in[16]) { ret; }
.entry kernel() { ret; }
.entry k() {
.reg .b32 %r<8>; .reg .u32 %u<8>; .reg .f32 %f<8>; .reg .f16x2 %x<8>; .reg .b64 %rd<8>; .reg .pred %p<8>;
.shared .b8 smem[64];
table: .branchtargets done;
proto: .callprototype (.reg .b32 _) _ (.reg .f32 _);
targets: .calltargets one, plain;
"""


def codes(text: str) -> list[str]:
    report = wl.check(f"{_HEAD}{text}\ndone:\nret; }}")
    return [found.code for found in report.errors]


@pytest.mark.parametrize(
    "text",
    [
        "brx.idx %r0, table;",
        "call plain;",
        "call (), plain, ();",
        "call (%r0), one, (%f0);",
        "call (_), one, (1.0);",
        "call (%r0), %rd0, (%f0), proto;",
        "{ .param .align 8 .b8 x[16]; call array, (x); }",
        "mov.b64 %rd0, {%r0, (1)};",
    ],
)
def test_what_a_call_may_say(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("brx.idx %r0, done;", "control.brx/tlist"),
        ("brx.idx %r0, proto;", "control.brx/tlist"),
        ("bra table;", "control.bra/tgt"),
        ("bra _;", "control.bra/tgt"),
        ("call kernel;", "control.call/func"),
        ("call smem;", "control.call/func"),
        ("call %rd0;", "control.call/func"),
        ("call plain, proto;", "control.call/func"),
        ("call %rd0, (), table;", "control.call/targets"),
        ("call one, (%f0);", "control.call/ret_param"),
        ("call (%rd0), one, (%f0);", "control.call/ret_param"),
        ("call (%r0), one, ();", "control.call/param_list"),
        ("call (%r0), one, (1);", "control.call/param_list"),
        ("call (%r0), one, (%u0);", "control.call/param_list"),
        ("call (%r0), %rd0, (%f0), targets;", "control.call/ret_param"),
        ("{ .param .align 4 .b8 x[16]; call array, (x); }", "control.call/param_list"),
        (".branchtargets done;", "name/table"),
        ("empty: .branchtargets ;", "name/table"),
    ],
)
def test_what_a_call_may_not_say(text: str, code: str) -> None:
    assert codes(text)[:1] == [code]


@pytest.mark.parametrize(
    ("items", "fits"),
    [
        ("%r0, %f1", True),
        ("%r0, %u1", True),
        ("%x0, %r1", True),
        ("%u0, %f1", False),
        ("%x0, %u1", False),
        ("%f0, 1", False),
        ("%u0, 1.0", False),
        ("%p0, %u1", False),
    ],
)
def test_items_of_a_vector_go_together(items: str, fits: bool) -> None:
    assert (codes(f"st.global.v2.b32 [%rd0], {{{items}}};") == []) is fits
