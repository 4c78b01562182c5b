"""Binding of the arithmetic families: what is legal binds to its form, near misses name the slot at fault."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from isa.binding import form_of, refusal

from warploom.isa.model.form import Form, forms
from warploom.isa.model.types import TYPES

FAMILIES = frozenset({"approximate", "bits", "compare", "convert", "floating", "half", "integer", "logic", "move"})
ARITHMETIC = [form for form in forms() if form.family in FAMILIES]

LEGAL = {
    "add.s32 %r1, %r2, -1;": "integer.add",
    "add.f32 %f1, %f2, 0f3F800000;": "floating.add",
    "add.rn.ftz.f16x2 %r1, %r2, %r3;": "half.add",
    "add.f32.bf16 %f1, %h1, %f2;": "half.mixed_add",
    "add.rz.f32x2 %rd1, %rd2, %rd3;": "floating.add",
    "add.cc.u32 %r1, %r2, %r3;": "integer.addc",
    "mad.wide.s32 %rd1, %r1, 4, %rd2;": "integer.mad",
    "mad.rn.f32 %f1, %f2, %f3, %f4;": "floating.fma",
    "madc.hi.cc.u64 %rd1, %rd2, %rd3, %rd4;": "integer.madc",
    "div.full.ftz.f32 %f1, %f2, %f3;": "approximate.div_full",
    "div.rn.f32 %f1, %f2, %f3;": "floating.div",
    "div.s32 %r1, %r2, %r3;": "integer.div",
    "max.ftz.NaN.f32 %f1, %f2, %f3;": "floating.min",
    "max.f32 %f1, %f2, %f3, %f4;": "floating.min3",
    "min.NaN.bf16x2 %r1, %r2, %r3;": "half.min",
    "rcp.approx.ftz.f64 %d1, %d2;": "approximate.rcp64",
    "setp.lt.and.s32 %p1|%p2, %r1, 0, !%p3;": "compare.setp",
    "setp.geu.f16x2 %p1|%p2, %r1, %r2;": "compare.setp_pair",
    "selp.b32 %r1, 1, 0, !%p1;": "compare.selp",
    "cvt.u32.u16 %r1, %h1;": "convert.integer",
    "cvt.rn.bf16x2.f32 %r1, %f1, %f2;": "convert.halves",
    "cvt.rn.satfinite.e4m3x2.f16x2 %h1, %r1;": "convert.narrow_halves",
    "cvt.rn.relu.f16x2.e5m2x2 %r1, %h1;": "convert.widen",
    "cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4;": "convert.pack_onto",
    "prmt.b32 %r1, %r2, 0, 0x5410;": "bits.prmt",
    "mov.u64 %rd1, table+16;": "move.mov",
    "mov.u32 %r1, %tid.x;": "move.mov",
    "mov.b64 %rd1, {%r1, %r2};": "move.pack2",
    "mov.b64 {%h1, %h2, %h3, _}, %rd1;": "move.unpack4",
    "lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x80, !%p2;": "logic.lop3_bool",
}

REFUSED = {
    "add.sat.u32 %r1, %r2, %r3;": ("integer.add/type", "has '.u32' for type; expected '.s32'"),
    "mul.wide.u64 %rd1, %rd2, %rd3;": ("integer.mul/type", "expected '.u16', '.u32', '.s16', '.s32'"),
    "fma.f32 %f1, %f2, %f3, %f4;": (
        "floating.fma/rnd",
        "has no rounding modifier '.rnd'; expected '.rn', '.rz', '.rm', '.rp'",
    ),
    "fma.rz.f16x2 %r1, %r2, %r3, %r4;": ("floating.fma/type", "has '.f16x2' for type; expected '.f32', '.f64'"),
    "setp.lt.b32 %p1, %r1, %r2;": ("compare.setp/type", "has '.b32' for type; expected"),
    "setp.lt.s32 %p1, %r1, %r2, %p2;": ("compare.setp/c", "requires '.BoolOp'"),
    "cvt.s32.f32 %r1, %f1;": ("convert.cvt/rnd", "has no rounding modifier '.rnd'"),
    "cvt.rn.e4m3x2.f32 %h1, %f1, %f2;": ("convert.narrow/satfinite", "has no '.satfinite'"),
    "selp.pred %p1, %p2, %p3, %p4;": ("compare.selp/type", "has '.pred'"),
    "mov.b64 %rd1, {%r1, %r2, %r3};": ("move.mov/a", "a vector of 3"),
    "lop3.b32 %r1, %r2, %r3, %r4, %r5;": ("logic.lop3/immLut", "expected an integer constant"),
    "shl.u32 %r1, %r2, %r3;": ("bits.shift/type", "has '.u32' for type; expected '.b16', '.b32', '.b64'"),
}


@pytest.mark.parametrize(("text", "form"), LEGAL.items())
def test_legal(text: str, form: str) -> None:
    assert form_of(text) == form


@pytest.mark.parametrize(("text", "verdict"), REFUSED.items())
def test_near_miss_names_the_slot(text: str, verdict: tuple[str, str]) -> None:
    code, message = verdict
    found = refusal(text)
    assert found.code == code
    assert message in found.message


def _operand(form: Form, name: str, slots: dict[str, str], numbers: Iterator[int]) -> str:
    spec = form.operands[name]
    if spec.kind == "immediate":
        return "3"
    registers = {1: "%p", 8: "%b", 16: "%h", 32: "%r", 64: "%rd", 128: "%rq"}[TYPES[spec.type_word(slots)].bits]
    if length := spec.registers(slots):
        return "{" + ", ".join(f"{registers}{next(numbers)}" for _ in range(length)) + "}"
    return f"{registers}{next(numbers)}"


def _instructions(form: Form) -> Iterator[str]:
    """One instruction for each word that a row allows, the other slots at the row's first word."""
    for row in form.rows:
        first = {column: words[0] for column, words in row.cells.items()}
        choices = [first | {column: word} for column, words in row.cells.items() for word in words]
        for slots in choices or [{}]:
            numbers = count(1)
            words = [slots.get(word.slot, "") if word.slot else word.literal for word in form.syntax.words]
            operands: list[str] = []
            for pattern in form.syntax.operands:
                when = form.operands[pattern.first].when
                if when and not slots[when]:
                    continue
                names = [pattern.first, pattern.second] if pattern.second else [pattern.first]
                operands.append("|".join(_operand(form, name, slots, numbers) for name in names))
            yield f"{'.'.join(word for word in words if word)} {', '.join(operands)};"


@pytest.mark.parametrize("form", [form for form in forms() if form.family in FAMILIES], ids=lambda form: form.name)
def test_every_word_of_a_row_binds_to_its_own_form(form: Form) -> None:
    texts = set(_instructions(form))
    assert texts
    assert {text: form_of(text) for text in texts} == dict.fromkeys(texts, form.name)


@pytest.mark.parametrize("form", [form for form in forms() if form.family in FAMILIES], ids=lambda form: form.name)
def test_every_form_has_a_meaning(form: Form) -> None:
    assert form.is_executable


def test_no_two_forms_take_the_same_instruction() -> None:
    taken: dict[str, str] = {}
    for form in ARITHMETIC:
        for text in set(_instructions(form)):
            assert taken.setdefault(text, form.name) == form.name
