"""Calls of builtins in CUDA C: parsing, constant folding, and errors."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warploom.cli import main
from warploom.diagnostics import UsageError
from warploom.isa.model.availability import read_target
from warploom.nvvm import LowerError, lower
from warploom.nvvm.builtins.c_types import Value
from warploom.nvvm.builtins.lowering import translate

SM_90A = read_target("sm_90a")
LOAD = "__hmma_m16n16k16_ld_a(d, s, {}, 0);"
TEXTS = [
    "__hmma_m16n16k16_ld_a(d, s + 3, 16u, 1);",
    "__global__ void k(int *d, const int (s)) { }",
    'extern "C" __global__ void k(int* d, const int* s, int n) { __hmma_m16n16k16_ld_a(d, &s[n], 16, 1); }',
    "__shared__ int t[4][8]; enum { A, B = 7 }; __imma_m8n8k32_ld_c(d, &t[1][2], sizeof(int) * B, false);",
    "__wgmma_mma_async_f8(64, 16, 32, 1, 0, true, false, 1 > 0, !1, d, (int*)a, b << 2);",
]


def argument(text: str, position: int) -> Value:
    """Return an argument of a call."""
    assert SM_90A is not None
    (call,) = translate(text, SM_90A).calls
    return call.arguments[position][0]


def constant(text: str) -> object:
    """Return the constant value of a leading dimension."""
    return argument(LOAD.format(text), 2).constant


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("010", 8), ("0x10", 16), ("0b11", 3), ("0", 0), ("1'000", 1000), ("0x1'f", 31),
        ("'a'", 97), ("'\\n'", 10), ("true", 1), ("1.5", 1.5),
        ("-7 / 2", -3), ("-7 % 2", -1), ("7 / -2", -3), ("1 << 31", -(2**31)), ("1u << 31", 2**31), ("-1 >> 1", -1),
        ("~0u", 2**32 - 1), ("2147483647 + 1", -(2**31)), ("(unsigned char)300", 44), ("(char)200", -56),
        ("1 ? 2 : 3", 2), ("0 && n", 0), ("1 || n", 1), ("sizeof(double)", 8), ("sizeof(int*)", 8), ("-1 < 1u", 0),
        ("(int)2.9", 2), ("1 == 1.0", 1), ("+5", 5), ("!5", 0), ("6 ^ 3 & 2 | 8", 12), ("1 + 2 * 3 - 4", 3),
        ("4294967296", 2**32), ("0xffffffff", 2**32 - 1), ("static_cast<int>(7.5)", 7), ("unsigned(3)", 3),
        ("n", None), ("n + 1", None), ("1 / 0", None), ("1 << 40", None), ("1e30f > 1", 1), ("(int)1e30", None),
    ],
)  # fmt: skip
def test_constants_have_the_value_of_c(text: str, value: object) -> None:
    assert constant(text) == value


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1), st.sampled_from("+-*&|^"))
def test_arithmetic_on_constants_wraps_at_32_bits(a: int, b: int, sign: str) -> None:
    whole = {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}[sign]
    assert (
        constant(f"({a}) {sign} ({b})".replace(str(-(2**31)), "(-2147483647 - 1)")) == (whole + 2**31) % 2**32 - 2**31
    )


@given(st.integers(-100, 100), st.integers(-100, 100), st.integers(-9, 9))
def test_pointer_has_a_space_and_a_constant_offset(offset: int, more: int, factor: int) -> None:
    text = f"__hmma_m16n16k16_ld_a(d, &s[{offset}] + ({factor}) * n - ({more}), 16, 0);".replace(
        "&s[-", "s + (0 - "
    ).replace("]", ")" if offset < 0 else "]")
    value = argument(text, 1)
    assert value.space == "global"
    assert value.offset == 4 * (offset - more)


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("", "expected a function or a call of a builtin, got an empty text", "1:1"),
        ("foo(1);", 'identifier "foo" is undefined', "1:1"),
        ("__hmma_m16n16k16_ld_a(d, s, 16, 0", "'(' is not closed", "1:22"),
        ("__hmma_m16n16k16_ld_a(d, s, @, 0);", "unexpected character '@'", "1:29"),
        ("__hmma_m16n16k16_ld_a(d, s, 0b', 0);", 'unexpected character "\'"', "1:31"),
        ("__hmma_m16n16k16_ld_a(d, s, 1'', 0);", 'unexpected character "\'"', "1:30"),
        ("__hmma_m16n16k16_ld_a(d, s, 09, 0);", "unexpected 9", "1:30"),
        ("__hmma_m16n16k16_ld_a(d, s, 16, 2);", "'rowcol' operand can be 0 or 1 only", "1:33"),
        ("__global__ void k() { __hmma_m16n16k16_ld_a(d, s, 16, 0); }", 'identifier "d" is undefined', "1:45"),
        ("__global__ void k(int *d, int *s) { __hmma_m16n16k16_ld_a(d, s, 16, 0);", "'{' is not closed", "1:35"),
        ("__hmma_m16n16k16_ld_a(d, s, nullptr * 2, 0);", "operator * is not defined", "1:29"),
        ("enum { A = 1e999 }; __hmma_m16n16k16_ld_a(d, s, A, 0);", "a constant integer value", "1:12"),
        ("quux x; __hmma_m16n16k16_ld_a(d, s, 16, 0);", "unknown type 'quux'", "1:1"),
        ("__shared__ int t[n]; __hmma_m16n16k16_ld_a(d, t, 16, 0);", "positive constant", "1:18"),
        (
            "int t[256]; __hmma_m16n16k16_ld_a(d, t, 16, 0);",
            "expected a matrix in global or shared memory, got one in local memory",
            "1:38",
        ),
        ("__wgmma_mma_async_f16(64, 24, 16, 0,0,0,0,0,0, d, a, b);", "N only supported for powers of two", "1:27"),
    ],
)
def test_text_without_a_legal_call_has_an_error_at_its_position(text: str, message: str, place: str) -> None:
    with pytest.raises(LowerError) as refused:
        lower(text, source="builtin", name="call.cu")
    found = refused.value.diagnostics[0]
    assert message in found.message
    assert found.place == f"call.cu:{place}"


def test_errors_of_a_warpgroup_call_have_the_compilers_order() -> None:
    with pytest.raises(LowerError) as refused:
        lower("__wgmma_mma_async_f16(63, 17, 16, 0, 0, 0, 0, 0, n, d, 1.5, 7);", source="builtin", target="sm_90")
    assert [each.message for each in refused.value.diagnostics] == [
        "__wgmma_mma_async builtins are only available for sm_90a",
        "Non-constant argument to __wgmma_mma_async call",
        "'A' argument must have void* or unsigned long long type",
        "'B' argument must be unsigned long long type",
        "The shape m63n17k16 is not supported for __wgmma_mma_async builtin",
    ]


def test_undeclared_fragments_are_pointers() -> None:
    text = "__hmma_m16n16k16_mma_f32f16((float*)&d, (const int*)&a, (const int*)&b, (const int*)&c, 1, 0);"
    assert ".row.col.m16n16k16.f32.f16 {" in " ".join(lower(text, source="builtin").split())
    text = "__hmma_m16n16k16_ld_a((int*)&a, (const int*)p, ldm, 1);"
    assert ".col.m16n16k16.global.f16 {" in " ".join(lower(text, source="builtin").split())


def test_a_text_has_any_number_of_calls() -> None:
    text = "int t[8]; __hmma_m16n16k16_ld_a(t, s, 16, 0); if (n) __hmma_m16n16k16_ld_b(t, s, 16, 1); d[0] = t[n];"
    assert SM_90A is not None
    assert [call.builtin.operation for call in translate(text, SM_90A).calls] == ["ld_a", "ld_b"]
    ptx = lower(text, source="builtin")
    assert ptx.count("wmma.load") == 2
    assert ptx.count(".param .") == 3


def test_arrays_have_their_initial_values() -> None:
    ptx = lower("int t[4] = {1, -2}; __wgmma_mma_async_tf32(64, 8, 8, 0, 0, 0, d, t, b);", source="builtin")
    words = {line.split(", ")[1] for line in ptx.splitlines() if "\tmov.b32" in line}
    assert words == {"1;", "-2;", "0;"}
    ptx = lower("double t[2] = {1.5}; __dmma_m8n8k4_st_c_f64(d, t, 8, 0);", source="builtin")
    assert "0d3FF8000000000000;" in ptx
    ptx = lower("int t[4] = {n}; __wgmma_mma_async_tf32(64, 8, 8, 0, 0, 0, d, t, b);", source="builtin")
    assert "wgmma.mma_async" in ptx


def test_deep_nesting_is_an_error() -> None:
    for text in ("(" * 5000, "-" * 5000, "1 ? " * 5000, "!" * 4000 + "1", "1 + (" * 3000):
        with pytest.raises(LowerError):
            translate(LOAD.format(text), SM_90A)


@settings(max_examples=300)
@given(
    st.sampled_from(TEXTS),
    st.integers(0, 200),
    st.integers(0, 12),
    st.text(" (){}[];,*&+-<>?:.!~0x1fn\"'=_ab", max_size=6),
)
def test_mutated_text_is_a_call_or_an_error(text: str, at: int, cut: int, more: str) -> None:
    with suppress(LowerError):
        translate(text[:at] + more + text[at + cut :], SM_90A)


def test_unknown_levels_and_targets() -> None:
    call = LOAD.format(16)
    with pytest.raises(UsageError, match="cannot lower builtin to builtin"):
        lower(call, source="builtin", to="builtin")
    assert "load.a.row.stride.f16.p1" in lower(call, source="builtin", to="llvm")
    with pytest.raises(UsageError, match="unknown target 'sm_9'"):
        lower(call, source="builtin", target="sm_9")
    with pytest.raises(UsageError, match="unknown PTX version"):
        lower(call, source="builtin", ptx_version=(9, 9))


def test_command_lowers_a_call(tmp_path, capsys) -> None:
    path = tmp_path / "call.cu"
    path.write_text(LOAD.format("ldm"))
    assert main(["lower", str(path)]) == 0
    assert ".m16n16k16.global.f16" in capsys.readouterr().out
    path.write_text(LOAD.format("ldm").replace("0);", "3);"))
    assert main(["lower", str(path)]) == 1
    assert "error[builtin.operand]: 'rowcol' operand can be 0 or 1 only" in capsys.readouterr().err
