"""Words that assemblers pass over, words said twice, and parts of registers."""

from __future__ import annotations

import pytest

import warploom as wl


def verdict(statement: str) -> str:
    """The first code that a statement is given, "" where nothing is wrong with it."""
    text = (
        ".version 9.0\n.target sm_90a\n.address_size 64\n.func callee() { ret; }\n"
        ".entry k() { .reg .b32 %r<4>; .reg .b16 %h<4>;"
        ".reg .v4 .b32 %v; .reg .v2 .f32 %w; .reg .f32 %f<2>; .reg .pred %p<4>; .reg .b64 %rd<4>;"
        f".reg .f16x2 %x<4>; .reg .f64 %d<4>;\n{statement}\nret; }}\n"
    )
    return next((found.code for found in wl.check(text)), "")


@pytest.mark.parametrize("word", ["finite", "rank", "acc::f16", "b8x16", "b6x16_p32"])
def test_a_word_of_another_instruction_is_passed_over(word: str) -> None:
    assert verdict(f"add.{word}.u32 %r0, %r1, %r2;") == "tolerated/ignored"
    assert verdict(f"add.u32.{word} %r0, %r1, %r2;") == "tolerated/ignored"
    assert verdict(f"mul.{word}.lo.u32 %r0, %r1, %r2;").startswith("integer.mul/")


def test_some_classes_are_passed_over_once() -> None:
    assert verdict("add.u32.b8x16.b8x16.finite.rank %r0, %r1, %r2;") == "tolerated/ignored"
    assert verdict("add.u32.finite.normal %r0, %r1, %r2;").startswith("integer.add/")
    assert verdict("testp.finite.f32.normal %p0, %f0;").startswith("floating.testp/")


def test_some_words_are_passed_over_on_some_instructions() -> None:
    assert verdict("add.u32.pred %r0, %r1, %r2;") == "tolerated/ignored"
    assert verdict("mul.lo.u32.pred %r0, %r1, %r2;").startswith("integer.mul/")
    assert verdict("movmatrix.sync.aligned.m8n8.trans.b16.row %r0, %r1;") == "tolerated/ignored"
    assert verdict("cnot.row.b16 %h0, %h1;").startswith("logic.not/")
    assert verdict("bar.sync.all 0;") == "tolerated/ignored"
    assert verdict("bar.arrive.all 0, 32;").startswith("barrier.arrive/")


def test_flags_count_once() -> None:
    assert verdict("add.sat.sat.s32 %r0, %r1, %r2;") == "tolerated/doubled"
    assert verdict("shf.l.l.wrap.b32 %r0, %r1, %r2, %r3;").startswith("bits.shf/")


def test_a_side_is_part_of_the_name() -> None:
    assert verdict("shf.l.b32.wrap %r0, %r1, %r2, %r3;") == "tolerated/order"
    assert verdict("shf.wrap.l.b32 %r0, %r1, %r2, %r3;").startswith("bits.shf/")


def test_a_matrix_may_say_its_number_of_registers() -> None:
    load = "wmma.load.c.sync.aligned.row.m16n16k16.f16{} {{%r0, %r1, %r2, %r3}}, [%rd0];"
    assert verdict(load.format("")) == ""
    assert verdict(load.format(".v4")) == "tolerated/vector"
    assert verdict(load.format(".v2")).startswith("wmma.load/")


def test_members_of_a_vector_register_are_registers_of_its_type() -> None:
    assert verdict("add.u32 %v.x, %v.w, %v.b;") == ""
    assert verdict("mov.f32 %w.y, %f0;") == ""
    assert verdict("mov.f32 %w.z, %f0;") == "name/undeclared"
    assert verdict("add.u64 %rd0, %v.x, %rd1;") == "integer.add/a"


@pytest.mark.parametrize(
    "statement",
    [
        "vadd.u32.s32.u32.sat %r0, %r1.b0, %r2.h1;",
        "vsub.s32.u32.u32 %r0.h1, %r1, 3, %r2;",
        "vshl.u32.u32.u32.clamp.add %r0, %r1.b3, %r2, %r3;",
        "vmad.s32.s32.s32.shr7 %r0, -%r1.h0, %r2, %r3;",
        "vmad.u32.u32.u32 %r0, %r1, %r2, -%r3;",
        "vmad.u32.u32.u32.po %r0, %r1, %r2, %r3;",
        "vset.u32.s32.ge.max %r0, %r1.b1, %r2, %r3;",
        "vavrg2.s32.s32.s32.sat %r0.h1, %r1.h32, %r2.h00, %r3;",
        "vadd4.u32.u32.u32 %r0.b31, %r1.b7654, %r2, %r3;",
        "vset4.u32.u32.ne.add %r0.b0, %r1, %r2.b0000, %r3;",
    ],
)
def test_video_instructions_take_parts_of_registers(statement: str) -> None:
    assert verdict(statement) == ""


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("add.u32 %r0, %r1.b0, %r2;", "integer.add/a"),
        ("vadd.u32.u32.u32 %r0, %r1.b4, %r2;", "video.arithmetic/a"),
        ("vadd.u32.u32.u32.min %r0.b0, %r1, %r2, %r3;", "video.arithmetic_merged/d"),
        ("vadd4.u32.u32.u32 %r0.b13, %r1, %r2, %r3;", "video.quad/d"),
        ("vadd4.u32.u32.u32 %r0, %r1.b0, %r2, %r3;", "video.quad/a"),
        ("vadd2.u32.u32.u32 %r0, 5, %r2, %r3;", "video.lanes/a"),
        ("vmad.u32.u32.u32.po %r0, -%r1, %r2, %r3;", "video.mad_negated/a"),
        ("vadd.u32.u32.u32 %r0, %r1, %h0;", "video.arithmetic/b"),
    ],
)
def test_other_parts_and_places_are_refused(statement: str, code: str) -> None:
    assert verdict(statement) == code


def test_a_predicate_is_negated_wherever_it_is_read() -> None:
    assert verdict("and.pred %p0, !%p1, %p2;") == ""
    assert verdict("and.pred !%p0, %p1, %p2;") == "logic.bitwise/d"
    assert verdict("and.b32 %r0, !%r1, %r2;") == "logic.bitwise/a"


def test_constants_of_a_bit_field_have_eight_bits() -> None:
    assert verdict("bfe.u32 %r0, %r1, 255, 0;") == ""
    assert verdict("bfe.u32 %r0, %r1, 256, 0;") == "bits.bfe/b"
    assert verdict("bfi.b32 %r0, %r1, %r2, 0, -1;") == "bits.bfi/d"


def test_a_function_s_address_is_divided_in_32_bits_alone() -> None:
    assert verdict("add.u64 %rd0, callee, %rd1;") == "tolerated/function"
    assert verdict("div.u32 %r0, %r1, callee;") == "tolerated/function"
    assert verdict("div.u64 %rd0, %rd1, callee;") == "integer.div/b"
    assert verdict("rem.u16 %h0, callee, %h1;") == "integer.div/a"
