"""Values of registers, matrices in registers, and live registers of stopped kernels."""

from __future__ import annotations

import numpy as np
import pytest
from observe.debug.stopped import Select, executing, stopped, stopped_example

from warploom.diagnostics import UsageError
from warploom.emulator.loader import load
from warploom.emulator.program import Program
from warploom.observe.debug.lines import LineIndex
from warploom.observe.debug.registers import Registers
from warploom.observe.debug.values import element_numbers, numbers
from warploom.ptx import parse

TYPED = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<4>; .reg .s32 %s; .reg .b64 %rd; .reg .b128 %q; .reg .f32 %f; .reg .f16 %h; .reg .f16x2 %pair;
    .reg .b16 %low; .reg .pred %p; .reg .v2 .b32 %v;
    mov.u32 %r1, %tid.x;
    neg.s32 %s, %r1;
    mov.u64 %rd, 0x8000000000000001;
    mov.b128 %q, {%rd, %rd};
    cvt.rn.f32.u32 %f, %r1;
    cvt.rn.f16.f32 %h, %f;
    mov.b16 %low, 0x3C00;
    mov.b32 %pair, {%h, %low};
    mov.u32 %r2, 0x40490FDB;
    setp.gt.u32 %p, %r1, 30;
    mov.u32 %v.y, 5;
    {
        .reg .b64 %r1;
        mov.u64 %r1, 77;
    }
    ret;
}
"""
LANES = np.arange(32)
HALVES = np.stack([(LANES + 32.0).astype(np.float16).view(np.uint16), np.full(32, 0x3C00)], axis=1)
E4M3 = numbers(np.array([0xDB, 0x0F, 0x49, 0x40], np.uint8), "e4m3")


def last(program: Program) -> list[int]:
    return [len(program.steps) - 1]


@pytest.fixture(scope="module")
def typed() -> Registers:
    return Registers(stopped(TYPED, last, block=64))


@pytest.mark.parametrize(
    ("name", "as_type", "declared", "expected"),
    [
        ("%r1", "", "b32", LANES + 32),
        ("%s", "", "s32", -LANES - 32),
        ("%s", "u32", "u32", 2**32 - 32 - LANES),
        ("%rd", "", "b64", np.full(32, 0x8000000000000001)),
        ("%rd", "s32", "s32", np.full(32, 1)),
        ("%q", "", "b128", np.full(32, 0x8000000000000001 << 64 | 0x8000000000000001)),
        ("%f", "", "f32", LANES + 32.0),
        ("%h", "", "f16", LANES + 32.0),
        ("%pair", "", "f16x2", np.stack([LANES + 32.0, np.ones(32)], axis=1)),
        ("%pair", "u16x2", "u16x2", HALVES),
        ("%r2", "f32", "f32", np.full(32, np.float32(np.pi))),
        ("%r2", "u8", "u8", np.full(32, 0xDB)),
        ("%r2", "e4m3x4", "e4m3x4", np.broadcast_to(E4M3, (32, 4))),
        ("%p", "", "pred", LANES + 32 > 30),
        ("%v.y", "", "b32", np.full(32, 5)),
        ("%tid.x", "", "u32", LANES + 32),
        ("%ntid.x", "", "u32", np.full(32, 64)),
    ],
)  # fmt: skip
def test_a_register_has_typed_numbers(
    typed: Registers, name: str, as_type: str, declared: str, expected: np.ndarray
) -> None:
    found = typed.read(name, 0, 1, type=as_type)
    assert (found.name, found.type) == (name, declared)
    np.testing.assert_array_equal(found.numbers, expected)


def test_the_scope_selects_the_register(typed: Registers) -> None:
    inner = len(typed.program.steps) - 2
    assert typed.read("%r1", inner, 0).numbers.tolist() == [77] * 32
    assert typed.read("%r1", 0, 0).numbers.tolist() == LANES.tolist()


@pytest.mark.parametrize(
    ("name", "as_type", "code", "message"),
    [
        ("%r9", "", "debug.register", "unknown register '%r9'"),
        ("%v", "", "debug.register", "expected '%v.x' or '%v.y'"),
        ("%r1", "f64", "debug.type", "32 bits cannot be read as .f64"),
        ("%r1", "pred", "debug.type", "cannot be read as .pred"),
        ("%p", "u32", "debug.type", "a predicate cannot be read as .u32"),
        ("%r1", "u31", "debug.type", "unknown type 'u31'"),
    ],
)
def test_wrong_names_and_types_are_refused(typed: Registers, name: str, as_type: str, code: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        typed.read(name, 0, 0, type=as_type)
    assert caught.value.diagnostics[0].code == code
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("element", "expected"),
    [("s4", [0, 7, -8, -1]), ("u4", [0, 7, 8, 15]), ("e2m1", [0, 6, 0, -6]), ("s8", [0, 7, 8, 15])],
)
def test_narrow_matrix_elements(element: str, expected: list[int]) -> None:
    assert element_numbers(np.array([0, 7, 8, 15], np.uint8), element).tolist() == expected


# Matrices -------------------------------------------------------------------------------------------------


def first(kind: str) -> Select:
    return lambda program: program.analysis(LineIndex).of_kind(kind)[:1]


def test_fragments_of_a_warp_are_the_tiles_that_were_loaded() -> None:
    emulator, arrays = stopped_example("gemm_mma_sync.toml", first("multiply"))
    pc, registers = emulator.state.pc, Registers(emulator)
    warp = int(executing(emulator).warp_index[-1])
    a, b, d = (registers.fragment(pc, name, warp) for name in ("A", "b", "D"))
    assert [each.numbers.shape for each in (a, b, d)] == [(16, 16), (16, 8), (16, 8)]
    assert [each.element for each in (a, b, d)] == ["f16", "f16", "f32"]
    whole = arrays["a"].astype(np.float64)
    rows = [row for row in range(0, len(whole), 16) if (whole[row : row + 16, :16] == a.numbers).all()]
    assert len(rows) == 1
    assert "CTA (0, 0, 0), warp" in a.name


def test_accumulators_of_a_warpgroup_are_read_while_they_are_cached() -> None:
    def after_products(program: Program) -> list[int]:
        index = program.analysis(LineIndex)
        return [pc for pc in index.of_kind("wait") if pc > index.of_kind("multiply")[0]][:1]

    emulator, arrays = stopped_example("gemm_warp_specialised.toml", after_products)
    multiply = emulator.program.analysis(LineIndex).of_kind("multiply")[0]
    assert emulator.accumulators.cached
    found = Registers(emulator).fragment(multiply, "D", 2)
    a, b = (arrays[name].astype(np.float64)[:128, :64] for name in "ab")  # the first stage
    np.testing.assert_allclose(found.numbers, a[:64] @ b.T, rtol=1e-3, atol=1e-3)
    assert "warps 0 to 3" in found.name
    again = Registers(emulator).fragment(multiply, "D", 0)
    np.testing.assert_array_equal(found.numbers, again.numbers)


def test_narrow_elements_are_in_the_middle_of_their_bytes() -> None:
    text = """\
.version 8.8
.target sm_120a
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<8>; .reg .f32 %f<4>;
    mov.u32 %r1, 0x083C;
    mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32
        {%f0, %f1, %f2, %f3}, {%r1, %r2, %r2, %r2}, {%r2, %r2}, {%f0, %f1, %f2, %f3};
    ret;
}
"""
    emulator = stopped(text, first("multiply"))
    found = Registers(emulator).fragment(emulator.state.pc, "A", 0)
    assert (found.element, found.numbers[0, :4].tolist()) == ("e2m1", [-6, 1, 0, 0])


def test_integer_fragments() -> None:
    emulator, arrays = stopped_example("gemm_int8.toml", first("multiply"))
    found = Registers(emulator).fragment(emulator.state.pc, "A", int(executing(emulator).warp_index[0]))
    assert found.element == "s8"
    whole = arrays["a"]
    rows, cols = found.numbers.shape
    assert any((whole[row : row + rows, :cols] == found.numbers).all() for row in range(0, len(whole), rows))


@pytest.mark.parametrize(("operand", "message"), [("Q", "expected D, A, B or C"), ("x", "unknown matrix operand 'x'")])
def test_an_unknown_operand_is_refused(operand: str, message: str) -> None:
    emulator, _ = stopped_example("gemm_mma_sync.toml", first("multiply"))
    with pytest.raises(UsageError, match=message):
        Registers(emulator).fragment(emulator.state.pc, operand, 0)


def test_an_operand_in_memory_is_refused() -> None:
    emulator, _ = stopped_example("gemm_warp_specialised.toml", first("multiply"))
    with pytest.raises(UsageError, match="'a_desc' is in memory"):
        Registers(emulator).fragment(emulator.state.pc, "A", 0)


# Live registers -------------------------------------------------------------------------------------------

LOOP = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<6>; .reg .b64 %rd<2>; .reg .pred %p<2>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, 0;
    mov.u32 %r2, 9;
LOOP:
    add.u32 %r1, %r1, %r0;
    mov.u32 %r3, %r1;
    setp.lt.u32 %p0, %r1, 100;
    @%p0 bra LOOP;
    setp.eq.u32 %p1, %r0, 3;
    @%p1 mov.u32 %r4, 5;
    st.global.v2.u32 [%rd0], {%r3, %r4};
    ret;
}
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ld.param.u64 %rd0", {"%r4"}),
        ("mov.u32 %r2, 9", {"%rd0", "%r0", "%r1", "%r4"}),
        ("add.u32", {"%rd0", "%r0", "%r1", "%r4"}),
        ("setp.lt.u32", {"%rd0", "%r0", "%r1", "%r3", "%r4"}),
        ("@%p0 bra", {"%rd0", "%r0", "%r1", "%r3", "%r4", "%p0"}),
        ("@%p1 mov", {"%rd0", "%r3", "%r4", "%p1"}),
        ("st.global", {"%rd0", "%r3", "%r4"}),
        ("ret", set()),
    ],
)
def test_live_registers(text: str, expected: set[str]) -> None:
    emulator = stopped(LOOP, last, args=[np.zeros(64, np.uint32)])
    lines = LOOP.splitlines()
    line = next(number for number, each in enumerate(lines, 1) if each.strip().startswith(text))
    (pc,) = emulator.program.analysis(LineIndex).at_line(line)
    assert set(Registers(emulator).live(pc)) == expected


def test_a_vector_register_is_live_by_member() -> None:
    text = LOOP.replace("mov.u32 %r2, 9;", "mov.u32 %v.y, 9;").replace("%r3, %r1;", "%v.y, %r1;")
    text = text.replace(".reg .pred", ".reg .v2 .u32 %v; .reg .pred").replace("{%r3, %r4}", "%v")
    emulator = stopped(text, last, args=[np.zeros(64, np.uint32)])
    assert {"%v.x", "%v.y"} <= set(Registers(emulator).live(len(load(parse(text)).steps) - 2))


def test_registers_are_live_in_a_compiled_kernel() -> None:
    emulator, _ = stopped_example("gemm_warp_specialised.toml", batches=1)
    registers = Registers(emulator)
    assert registers.live(len(emulator.program.steps) - 1) == ()
    for pc, linked in enumerate(emulator.linked):
        if linked.guard is not None:
            assert linked.guard.name in registers.live(pc)
