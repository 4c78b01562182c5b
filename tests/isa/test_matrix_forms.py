"""Which matrix instructions bind, with how many registers, and what is said of those that do not."""

from __future__ import annotations

import pytest
from isa.fake import instruction
from isa.matrices import opcodes, vector

from warploom.diagnostics import Diagnostic
from warploom.isa.binding.bind import Binding, bind
from warploom.isa.instructions import mma, sparse, wgmma, wmma

BITS = {"f64": 64, "f32": 32, "s32": 32, "tf32": 32, "f16": 16, "bf16": 16, "s4": 4, "u4": 4, "b1": 1}
CHECKED = (
    mma.HALF, mma.FLOAT, mma.DOUBLE, mma.INTEGER, mma.BIT, mma.SCALED, sparse.FLOAT, sparse.INTEGER, sparse.SCALED,
    wmma.FLOAT, wmma.INTEGER, wmma.BIT, wgmma.HALF_REGISTERS, wgmma.FLOAT_REGISTERS, wgmma.INTEGER_REGISTERS,
    wgmma.BIT_REGISTERS, wgmma.SPARSE_HALF_REGISTERS, wgmma.SPARSE_FLOAT_REGISTERS,
    wgmma.SPARSE_INTEGER_REGISTERS,
)  # fmt: skip


def bits_of(slots: dict[str, str], element: str) -> int:
    if element == "e2m1" and slots.get("kind", "") in ("kind::mxf4", "kind::mxf4nvf4"):
        return 4
    return BITS.get(element, 8)


@pytest.mark.parametrize("form", CHECKED, ids=lambda form: form.name)
def test_registers_hold_the_matrix_once(form: mma.Form) -> None:
    lanes = 128 if form.family == "wgmma" else 32
    for opcode, slots, _ in opcodes(form):
        m, rest = slots["shape"][1:].split("n")
        m, n, k = int(m), *(int(part) for part in rest.split("k"))
        stored = k // 2 if {"e", "sp_meta"} & set(form.operands) else k
        matrices = 4 if slots["shape"] == "m8n8k4" and slots["atype"] == "f16" else 1
        for name, elements in (("a", m * stored), ("b", n * k), ("c", m * n), ("d", m * n)):
            if name not in form.operands:
                continue
            spec, element = form.operands[name], slots[f"{name}type"]
            register_bits = 64 if element == "f64" else 32
            expected = matrices * elements * bits_of(slots, element) // (lanes * register_bits)
            assert spec.registers(slots) == expected, (opcode, name)
            pairs = {"f16": "f16x2", "bf16": "bf16x2"}
            own = element if element in ("f32", "f64", "s32", "tf32") else pairs.get(element, "b32")
            if form.family == "wgmma" and name == "a":
                own = "b32" if slots["dtype"] == "s32" else "f16x2"  # of whatever floats
            assert spec.type_word(slots) == own, (opcode, name)


def test_wmma_half_fragments_have_eight_registers_of_any_shape() -> None:
    for _, slots, _ in opcodes(wmma.HALF):
        counts = {name: spec.registers(slots) for name, spec in wmma.HALF.operands.items()}
        expected = {"a": 8, "b": 8, "c": 4 if slots["ctype"] == "f16" else 8, "d": 4 if slots["dtype"] == "f16" else 8}
        assert counts == expected


def verdict(text: str) -> Binding | Diagnostic:
    return bind(instruction(text))


D4, F4 = vector("d", 4), vector("f", 4)
TWO = "{%r0, %r1}"
LEGAL = [
    f"mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16 {vector('d', 8)}, {TWO}, {TWO}, {vector('c', 4)};",
    f"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {D4}, {TWO}, {{%r2}}, {F4};",
    f"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64.rn {D4}, {TWO}, {{%r2}}, {F4};",
    f"mma.sync.aligned.row.col.m16n8k16.f32.f16.f16.f32 {D4}, {vector('r', 4)}, {TWO}, {F4};",
    f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {D4}, %ad, %bd, %p1, 1, -1, 0, 1;",
    f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {D4}, {vector('r', 4)}, %bd, !%p1, 1, 1, 1;",
    f"wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {D4}, %ad, %bd, 0, 1, 1;",
    f"wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.s8.satfinite {D4}, %ad, %bd, 1;",
    f"wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.u8.s8 {D4}, %ad, %bd, 1;",
    f"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {D4}, %ad, %bd, %e, 1, %p1, 1, 1, 0, 0;",
    f"wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {D4}, %ad, %bd, %e, 0, %p1;",
    "wgmma.fence.sync.aligned;",
    "wgmma.wait_group.sync.aligned 0;",
    "ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16 {%d0}, [%rd0];",
    "ldmatrix.sync.aligned.m8n8.x4.trans.b16 {%d0, %d1, %d2, %d3}, [%rd0+64];",
    "stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%rd0], {%d0, %d1, %d2, %d3};",
    "wmma.load.a.sync.aligned.m32n8k16.row.u8 {%d0, %d1, %d2, %d3}, [%rd0];",
    "wmma.load.c.sync.aligned.m16n16k16.global.row.f16 {%d0, %d1, %d2, %d3}, [%rd0], %r4;",
    "wmma.store.d.sync.aligned.row.m8n8k4.f64 [%rd0], {%d0, %d1}, 8;",
    "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn {%d0, %d1}, {%d2}, {%d3}, {%d4, %d5};",
]


@pytest.mark.parametrize("text", LEGAL)
def test_legal_instructions_bind(text: str) -> None:
    assert isinstance(verdict(text), Binding)


REFUSED = [
    (f"mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {D4}, {F4}, {TWO}, {F4};", "mma.half/shape"),
    (f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16 {D4}, {F4}, {TWO}, {TWO};", "mma.half/ctype"),
    (f"mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32 {D4}, {F4}, {TWO}, {F4};", "mma.half/alayout"),
    (f"mma.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {D4}, {F4}, {TWO}, {F4};", "mma.float/shape"),
    (f"mma.sync.aligned.m16n8k32.row.col.f32.e3m2.e4m3.f32 {D4}, {F4}, {TWO}, {F4};", "mma.float/kind"),
    (f"mma.sync.aligned.m16n8k32.row.col.kind::i8.f32.e4m3.e4m3.f32 {D4}, {F4}, {TWO}, {F4};", "mma.float/kind"),
    (f"mma.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {D4}, {F4}, {TWO}, {F4};", "mma.integer/shape"),
    (f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {D4}, {TWO}, {TWO}, {F4};", "mma.half/a"),
    (
        (
            "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3"
            f" {D4}, {F4}, {TWO}, {F4}, %s0, {{0, 0}}, %s1, {{0, 0}};"
        ),
        "mma.scaled/stype",
    ),
    (
        (
            "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0"
            f" {D4}, {F4}, {TWO}, {F4}, %s0, {{1, 0}}, %s1, {{0, 0}};"
        ),
        "mma.scaled/byte_id_a",
    ),
    (
        (
            "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0"
            f" {D4}, {F4}, {TWO}, {F4}, %s0, {{2, 2}}, %s1, {{0, 0}};"
        ),
        "mma.scaled/thread_id_a",
    ),
    (f"mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {D4}, {F4}, {F4}, {F4}, %e, 2;", "sparse.float/f"),
    (
        f"mma.sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16 {TWO}, {F4}, {F4}, {TWO}, %e, 0;",
        "sparse.float/spvariant",
    ),
    (f"wgmma.mma_async.sync.aligned.m64n100k16.f32.f16.f16 {D4}, %ad, %bd, 1, 1, 1, 0, 0;", "wgmma.half/n"),
    (f"wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {D4}, %ad, %bd, 1;", "wgmma.integer/n"),
    (f"wgmma.mma_async.sync.aligned.m64n8k8.f32.f16.f16 {D4}, %ad, %bd, 1, 1, 1, 0, 0;", "wgmma.half/k"),
    (f"wgmma.mma_async.sync.aligned.m64n8k16.f32.tf32.tf32 {D4}, %ad, %bd, 1, 1, 1;", "wgmma.float/k"),
    (f"wgmma.mma_async.sync.aligned.m64n8k16.s32.f16.f16 {D4}, %ad, %bd, 1, 1, 1, 0, 0;", "wgmma.half/dtype"),
    (f"wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {TWO}, %ad, %bd, 1, 1, 1, 0, 0;", "wgmma.half/dtype"),
    (f"wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc {D4}, %ad, %bd, 1;", "wgmma.bit/bitOp"),
    (f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {D4}, %ad, %bd, 1, 1, 1;", "wgmma.half/operands"),
    (f"wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {D4}, %ad, %bd, 1, 1, 1;", "wgmma.integer/operands"),
    (f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {D4}, %ad, %bd, 1, 2, 1, 0, 0;", "wgmma.half/imm_scale_a"),
    (f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {D4}, %ad, %bd, 2, 1, 1, 0, 0;", "wgmma.half/scale_d"),
    (
        f"wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e4m3 {D4}, %ad, %bd, %e, 1, 1, 1, 1;",
        "wgmma.sparse-float/sp_sel",
    ),
    ("wgmma.wait_group.sync.aligned -1;", "wgmma.wait_group/N"),
    ("ldmatrix.sync.aligned.m8n8.x8.shared.b16 {%d0}, [%rd0];", "matrix.ldmatrix/num"),
    ("ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%d0, %d1}, [%rd0];", "matrix.ldmatrix/trans"),
    ("ldmatrix.sync.aligned.m8n8.x1.shared.b8 {%d0}, [%rd0];", "matrix.ldmatrix/type"),
    ("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%d0}, [%rd0];", "matrix.ldmatrix/r"),
    ("stmatrix.sync.aligned.m16n8.x4.b8 [%rd0], {%d0, %d1, %d2, %d3};", "matrix.stmatrix/trans"),
    ("wmma.load.a.sync.aligned.col.m8n8k32.s4 {%d0}, [%rd0];", "wmma.load/layout"),
    (f"wmma.mma.sync.aligned.row.col.m16n16k8.f32.bf16.bf16.f32 {D4}, {F4}, {F4}, {F4};", "wmma.float/shape"),
]


@pytest.mark.parametrize(("text", "code"), REFUSED, ids=lambda value: value.split(" ")[0])
def test_near_misses_are_refused_where_they_are_wrong(text: str, code: str) -> None:
    found = verdict(text)
    assert isinstance(found, Diagnostic)
    assert found.code == code, found.message


def test_a_refusal_says_what_is_legal() -> None:
    half = f"wgmma.mma_async.sync.aligned.m64n100k16.f32.f16.f16 {D4}, %ad, %bd, 1, 1, 1, 0, 0;"
    found = verdict(half)
    assert isinstance(found, Diagnostic)
    opcode = "wgmma.mma_async.sync.aligned.m64n100k16.f32.f16.f16"
    assert found.message == f"'{opcode}' has n = 100; expected 8, 16, 24, 32, 40, … 256"
    found = verdict(f"wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {D4}, %ad, %bd, 1, 0, 1;")
    assert isinstance(found, Diagnostic)
    assert found.message == "operand imm-scale-a is 0; expected 1, -1"
