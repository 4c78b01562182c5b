"""Matrix instructions: which registers hold fragments on which target, and what goes on their opcodes."""

from __future__ import annotations

import pytest

import warploom as wl
from warploom_lab.ptxas.probe import Probe


def verdict(statement: str, target: str = "sm_90a", version: tuple[int, int] = (9, 1)) -> str:
    """The code of the first finding; "" where there is none."""
    report = wl.check(Probe(statement).module(target, version))
    return next((found.code for found in report), "")


HALF = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
BYTE = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"
FOUR = "mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32"
EIGHT = "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16"
SPARSE = "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"
ORDERED = SPARSE.replace("sp.", "sp::ordered_metadata.")


@pytest.mark.parametrize(
    ("c", "code"),
    [
        ("{%f[4:8]}", ""),
        ("{%r[4:8]}", ""),
        ("{%u[4:8]}", "mma.half/c"),
        ("{%x[4:8]}", "mma.half/c"),
        ("{%f4, %f5, %f6, %r7}", ""),
        ("{%f4, %f5, %f6, %s7}", "mma.half/c"),
        ("{%f4, %f5, %f6, 1.0}", ""),
        ("{%f4, %f5, %f6, 1}", "mma.half/c"),
        ("{%r4, %r5, %r6, 1}", ""),
        ("{1, 1, 1, 1}", "mma.half/c"),
    ],
)
def test_registers_of_a_vector_are_judged_together(c: str, code: str) -> None:
    assert verdict(f"{HALF} {{%f[0:4]}}, {{%r[0:4]}}, {{%r[4:6]}}, {c};") == code


@pytest.mark.parametrize(
    ("statement", "native", "software"),
    [
        (f"{BYTE} {{%f[0:4]}}, {{%r0, %r1, %r2, %p3}}, {{%r[4:6]}}, {{%f[4:8]}};", "sm_89", "sm_90a"),
        (f"{BYTE} {{%f0, %f1, %f2, _}}, {{%r[0:4]}}, {{%r[4:6]}}, {{%f[4:8]}};", "sm_120a", "sm_100a"),
        (f"{FOUR} {{%r[0:4]}}, {{%r0, %r1, %r2, %p3}}, {{%r[4:6]}}, {{%r[8:12]}};", "sm_80", "sm_90"),
        (f"{EIGHT} {{%r[0:4]}}, {{%r4, %p5}}, {{%r[6:8]}}, {{%r[8:12]}};", "sm_75", "sm_80"),
        (f"{SPARSE} {{%r[0:2]}}, {{%r2, %p3}}, {{%r[4:6]}}, {{%r[6:8]}}, %r8, 0;", "sm_90", "sm_100"),
        (f"{SPARSE} {{%r[0:2]}}, {{%r[2:4]}}, {{%r[4:6]}}, {{%r[6:8]}}, !%p8, 0;", "sm_90", "sm_100"),
    ],
)
def test_where_software_takes_the_place_of_a_unit_registers_stand_alone(
    statement: str, native: str, software: str
) -> None:
    assert verdict(statement, native) in ("", "tolerated/operand")
    assert verdict(statement, software).rpartition("/")[2] in ("a", "d", "e")


def test_ordered_metadata_has_a_unit_everywhere() -> None:
    statement = f"{ORDERED} {{%r[0:2]}}, {{%r2, %p3}}, {{%r[4:6]}}, {{%r[6:8]}}, %r8, 0;"
    assert [verdict(statement, target) for target in ("sm_80", "sm_90a", "sm_120a")] == ["", "", ""]


SCALED = "mma.sp::ordered_metadata.sync.aligned.{}.row.col.{}.block_scale.f32.{}.{}.f32.ue8m0"
SCALES = "{{%f[0:4]}}, {{%r[0:4]}}, {{%r[4:8]}}, {{%f[4:8]}}, %r8, {}, %r9, {{{}, {}}}, %r10, {{0, 0}};"


@pytest.mark.parametrize(
    ("shape", "kind", "element", "operands", "target", "code"),
    [
        ("m16n8k128", "kind::mxf4", "e2m1", (0, 2, 1), "sm_120a", ""),
        ("m16n8k128", "kind::mxf4", "e2m1", (0, 1, 1), "sm_120a", "sparse.scaled/byte_id_a"),
        ("m16n8k128", "kind::mxf4", "e2m1", (0, 2, 2), "sm_120a", "sparse.scaled/thread_id_a"),
        ("m16n8k128", "kind::mxf4", "e2m1", (1, 2, 1), "sm_120a", "sparse.scaled/f"),
        ("m16n8k128", "kind::mxf4", "e2m1", (0, 2, 1), "sm_120f", "sparse.scaled/target"),
        ("m16n8k64", "kind::mxf8f6f4", "e3m2", (0, 3, 1), "sm_120f", ""),
        ("m16n8k64", "kind::mxf4", "e2m1", (0, 2, 1), "sm_120a", "sparse.scaled/kind"),
        ("m16n8k128", "kind::mxf4nvf4", "e2m1", (0, 2, 1), "sm_120a", "sparse.scaled/scale_vec"),
    ],
)
def test_a_sparse_a_takes_block_scales(
    shape: str, kind: str, element: str, operands: tuple[int, int, int], target: str, code: str
) -> None:
    opcode = SCALED.format(shape, kind, element, element)
    assert verdict(f"{opcode} {SCALES.format(*operands)}", target) == code


@pytest.mark.parametrize(
    ("opcode", "version", "code"),
    [
        ("wmma.mma.sync.row.col.m16n16k16.f16.f16", (6, 2), ""),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", (6, 2), "wmma.half/ptx"),
        ("wmma.mma.sync.row.col.m16n16k16.f16.f16", (6, 3), "wmma.half/aligned"),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", (6, 3), ""),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16.satfinite", (6, 4), ""),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16.satfinite", (6, 5), "wmma.half/satfinite"),
    ],
)
def test_what_wmma_was_before(opcode: str, version: tuple[int, int], code: str) -> None:
    operands = "{%r[0:4]}, {%r[4:12]}, {%r[12:20]}, {%r[20:24]};"
    assert verdict(f"{opcode} {operands}", "sm_70", version) == code


@pytest.mark.parametrize(
    ("types", "code"),
    [
        ("f32.f16.f16.f32.tf32", "tolerated/ignored"),
        ("f32.f16.f16.tf32.f32", "tolerated/ignored"),
        ("f32.f16.f16.u4.f32", "mma.half/u4"),
        ("f32.bf16.bf16.f32.tf32", "mma.float/tf32"),
    ],
)
def test_narrow_types_after_those_that_count_are_passed_over(types: str, code: str) -> None:
    operands = "{%f[0:4]}, {%r[0:4]}, {%r[4:6]}, {%f[4:8]};"
    found = verdict(f"mma.sync.aligned.m16n8k16.row.col.{types} {operands}")
    assert found == code or (found.partition("/")[0] == code.partition("/")[0] != "tolerated")


def test_a_kind_is_tolerated_where_the_target_knows_it() -> None:
    operands = "{%f[0:4]}, {%r[0:4]}, {%r[4:6]}, {%f[4:8]};"
    opcode = "mma.sync.aligned.m16n8k32.row.col.kind::i8.f32.e4m3.e4m3.f32"
    assert verdict(f"{opcode} {operands}", "sm_100a") == "tolerated/kind"
    assert verdict(f"{opcode} {operands}", "sm_120a") == "mma.float/kind"
