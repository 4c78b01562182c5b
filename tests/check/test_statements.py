"""Statements: registers and their types, constants, addresses, names, availability, order of words."""

from __future__ import annotations

import pytest

import warploom as wl
from warploom.diagnostics import Severity

HEAD = """\
.version 9.0
.target {target}
.address_size 64
.global .align 16 .b8 gl[64];
.const .align 16 .b8 co[64];
"""
TYPES = [
    "pred",
    "b8",
    "u8",
    "s8",
    "b16",
    "u16",
    "s16",
    "f16",
    "f16x2",
    "b32",
    "u32",
    "s32",
    "f32",
    "b64",
    "u64",
    "s64",
    "f64",
    "b128",
]
DECLARED = " ".join(f".reg .{name} %{name}_<40>;" for name in TYPES)


def check_statement(statement: str, target: str = "sm_90a") -> wl.Report:
    text = (
        HEAD.format(target=target)
        + f".entry k(.param .u64 pa) {{ {DECLARED} .shared .align 16 .b8 sm[64];\n"
        + ".local .align 16 .b8 lo[16];\n"
        + f"{statement}\nret; }}\n"
    )
    return wl.check(text)


def findings(statement: str, target: str = "sm_90a") -> list[str]:
    """Code and message of everything that is wrong with a statement."""
    report = check_statement(statement, target)
    return [f"{found.code}: {found.message}" for found in report if found.severity is not Severity.NOTE]


def takes(template: str, target: str = "sm_90a") -> set[str]:
    """The declared types whose register may stand at `{}`."""
    return {name for name in TYPES if not findings(template.format(f"%{name}_1"), target)}


@pytest.mark.parametrize(
    ("template", "types"),
    [
        ("mov.u32 {}, %b32_2;", "f16x2 b32 u32 s32"),
        ("mov.b32 {}, %b32_2;", "f16x2 b32 u32 s32 f32"),
        ("mov.f32 {}, %b32_2;", "b32 f32"),
        ("add.u16 %u16_2, {}, %u16_3;", "b16 u16 s16"),
        ("add.rn.f16 %f16_2, {}, %f16_3;", "b16 f16"),
        ("add.rn.bf16 %b16_2, {}, %b16_3;", "b16"),
        ("add.rn.f16x2 %b32_2, {}, %b32_3;", "b32 f16x2"),
        ("add.rn.bf16x2 %b32_2, {}, %b32_3;", "b32"),
        ("add.f64 %f64_2, {}, %f64_3;", "b64 f64"),
        ("and.b16 %b16_2, {}, %b16_3;", "b16 u16 s16 f16"),
        ("ld.global.b8 {}, [%b64_1];", " ".join(TYPES[1:])),
        ("ld.global.u16 {}, [%b64_1];", "b16 u16 s16 f16x2 b32 u32 s32 b64 u64 s64 b128"),
        ("ld.global.f32 {}, [%b64_1];", "b32 f32 b64 b128"),
        ("st.global.f64 [%b64_1], {};", "b64 f64 b128"),
        ("cvt.u32.u8 %u32_1, {};", "b8 u8 s8 b16 u16 s16 f16x2 b32 u32 s32 b64 u64 s64 b128"),
        ("cvt.rn.f16.f32 {}, %f32_1;", "b16 f16 b32 b64 b128"),
        ("shl.b64 %b64_1, %b64_2, {};", "b32 u32 s32"),
        ("setp.eq.u32 {}, %u32_1, 0;", "pred"),
        ("selp.b32 %b32_1, %b32_2, %b32_3, {};", "pred"),
        ("ld.global.u32 %u32_1, [{}];", "b8 u8 s8 b16 u16 s16 b64 u64 s64"),
        ("ld.shared.u32 %u32_1, [{}];", "b8 u8 s8 b16 u16 s16 b32 u32 s32 b64 u64 s64"),
        ("mbarrier.arrive.shared.b64 {}, [sm];", "b64 u64 s64"),
        ("@{} mov.b32 %b32_1, 0;", "pred"),
    ],
)
def test_registers_of_these_types_stand_there(template: str, types: str) -> None:
    assert takes(template) == set(types.split())


@pytest.mark.parametrize(
    ("element", "shape", "counts", "types"),
    [
        ("f16", "m16n8k16", (4, 2), "b32 f16x2"),
        ("bf16", "m16n8k16", (4, 2), "b32"),
        ("tf32", "m16n8k8", (4, 2), "b32"),
        ("e4m3", "m16n8k32", (4, 2), "b32 u32 s32 f32 f16x2"),
    ],
)
def test_fragments_take_the_registers_of_their_elements(
    element: str, shape: str, counts: tuple[int, int], types: str
) -> None:
    allowed: set[str] = set()
    for name in TYPES:
        a, b = ("{" + ", ".join(f"%{name}_{k}" for k in range(count)) + "}" for count in counts)
        d = "{%f32_0, %f32_1, %f32_2, %f32_3}"
        opcode = f"mma.sync.aligned.{shape}.row.col.f32.{element}.{element}.f32"
        if not findings(f"{opcode} {d}, {a}, {b}, {d};"):
            allowed.add(name)
    assert allowed == set(types.split())


@pytest.mark.parametrize(
    "statement",
    [
        "mov.f32 %f32_1, 1.5;",
        "mov.f32 %f32_1, 0d3FF0000000000000;",
        "mov.b32 %b32_1, 0f3F800000;",
        "mov.pred %p_1, 1;".replace("%p_", "%pred_"),
        "mov.u32 %u32_1, sm;",
        "mov.u64 %u64_1, gl+4;",
        "mov.u32 %u32_1, %tid.x;",
        "mov.u16 %u16_1, %tid.x;",
        "cvt.u64.u32 %u64_1, %tid.x;",
        "add.u32 %u32_1, WARP_SZ, 1;",
        "ld.global.v2.u32 {_, %u32_1}, [%u64_1];",
        "atom.global.add.u32 _, [%u64_1], 1;",
        "setp.eq.u32 %pred_1|_, %u32_1, 0;",
        "ld.local.u32 %u32_1, [16];",
        "ld.u32 %u32_1, [lo];",
        "ld.shared::cluster.u32 %u32_1, [sm];",
        "st.global.v2.u32 [%u64_1], {1, %u32_1};",
        "T: .branchtargets A;\nbrx.idx %u32_1, T;\nA:",
        "bra L;\nL:",
        "{ bra L; }\nL:",
    ],
)
def test_what_may_stand(statement: str) -> None:
    assert findings(statement) == []


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        (
            "mov.f32 %f32_1, 1;",
            (
                "move.mov/a: operand a is the integer 1; expected a constant such as 1.0 or 0f3F800000, "
                "or a register of .b32, .f32"
            ),
        ),
        (
            "mov.b32 %b32_1, 1.5;",
            (
                "move.mov/a: operand a is the floating constant 1.5; "
                "expected a register of .b32, .f16x2, .f32, .s32, .u32"
            ),
        ),
        (
            "add.u32 %u32_1, %tid.x, 1;",
            (
                "integer.add/a: operand a is the special register '%tid.x', which only a move can read; "
                "expected a register of .b32, .f16x2, .s32, .u32"
            ),
        ),
        (
            "mov.u32 %tid.x, %u32_1;",
            (
                "move.mov/d: operand d is the special register '%tid.x', which cannot be written; "
                "expected a register of .b32, .f16x2, .s32, .u32"
            ),
        ),
        (
            "mov.u64 %u64_1, %tid.x;",
            ("move.mov/a: operand a is the special register '%tid.x' of .u32; expected a register of .b64, .s64, .u64"),
        ),
        (
            "add.u64 %u64_1, gl, 4;",
            "integer.add/a: operand a is the address of 'gl'; expected a register of .b64, .s64, .u64",
        ),
        (
            "add.u32 _, %u32_1, 1;",
            ("integer.add/d: operand d is the sink '_'; expected a register, because this result cannot be discarded"),
        ),
        ("st.global.v2.u32 [%u64_1], {_, %u32_1};", "memory.st/b: operand b is the sink '_'; expected a value"),
        ("ld.global.v2.u32 {_, _}, [%u64_1];", "memory.ld/d: operand d has sinks only; expected at least one register"),
        (
            "ld.global.v2.b32 {%u32_1, %f32_1}, [%u64_1];",
            "memory.ld/d: operand d mixes registers of .u32, .f32; expected one type",
        ),
        (
            "ld.global.u32 %u32_1, [16];",
            "memory.ld/a: operand a is an address without a base; expected a register or a variable",
        ),
        (
            "ld.shared.u32 %u32_1, [%u64_1].unified;",
            ("memory.ld/a: operand a has '.unified'; expected a load from a generic or global address in a register"),
        ),
        (
            "ld.shared.u32 %u32_1, [gl];",
            "memory.ld/a: operand a has 'gl' in .global as its base; expected a variable in .shared",
        ),
        (
            "ld.u32 %u32_1, [co];",
            (
                "memory.ld/a: operand a has 'co' in .const as its base; "
                "expected a variable in .global, .shared or .local"
            ),
        ),
        (
            "cp.async.ca.shared.global [sm], [sm], 16;",
            ("async_copy.cp_async/src: operand src has 'sm' in .shared as its base; expected a variable in .global"),
        ),
        ("bra %u32_1;", "control.bra/tgt: operand tgt is the register '%u32_1' of .u32; expected a label"),
        ("bar.sync 16;", "barrier.sync/a: operand a is 16; expected 0, 1, 2, 3, 4, … 15"),
        ("add.u32 %u32_1, %u32_2;", "integer.add/operands: 'add.u32' has 2 operands; expected 3: d, a, b"),
        (
            "ld.global.u32 %u32_1, [%u64_1], %u64_2;",
            "memory.ld/cache_policy: operand cache-policy requires '.level::cache_hint'",
        ),
        (
            "wgmma.wait_group.sync.aligned %u32_1;",
            (
                "wgmma.wait_group/N: operand N is '%u32_1'; "
                "expected an integer constant: 0, 1, 2, 3, 4, … 9223372036854775807"
            ),
        ),
        ("{ L: }\nbra L;", "name/undeclared: 'L' is not declared"),
        ("T: .branchtargets ZZ;\nbrx.idx %u32_1, T;", "name/undeclared: 'ZZ' is not declared"),
        ("add.ftz.ftz.f32 %f32_1, %f32_1, %f32_1;", "floating.add/ftz: 'add.ftz.ftz.f32' has '.ftz' twice"),
        (
            (
                "mma.sync.m16n8k16.row.col.f32.f16.f16.f32 {%f32_0, %f32_1, %f32_2, %f32_3}, "
                "{%b32_0, %b32_1, %b32_2, %b32_3}, {%b32_4, %b32_5}, {%f32_0, %f32_1, %f32_2, %f32_3};"
            ),
            (
                "mma.half/aligned: 'mma.sync.m16n8k16.row.col.f32.f16.f16.f32' has no '.aligned'; "
                "expected 'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32'"
            ),
        ),
    ],
)
def test_what_may_not_stand(statement: str, finding: str) -> None:
    assert findings(statement) == [finding]


def test_every_fault_of_an_instruction_is_found() -> None:
    d = "{%f32_0, %f32_1, %f32_2, %f32_3}"
    statement = f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d}, %b64_0, %b64_1, %b32_0, 1, 2, 0, 7;"
    codes = [finding.partition(":")[0] for finding in findings(statement)]
    assert [code for code in codes if code.startswith("wgmma.")] == [
        "wgmma.half/scale_d",
        "wgmma.half/imm_scale_b",
        "wgmma.half/imm_trans_b",
    ]


def test_the_diagnostic_points_at_the_word_or_operand() -> None:
    text = (
        HEAD.format(target="sm_90a")
        + f".entry k() {{ {DECLARED}\n    add.sat.u32 %u32_1, %u32_1, 1;\n    mov.b32 %b32_1, %f64_1;\n"
        + "    ld.global.v2.u32 {%u32_1, %f64_2}, [%u64_1];\nret; }\n"
    )
    report = wl.check(text)
    assert [text[found.span.start : found.span.end] for found in report if found.span] == ["u32", "%f64_1", "%f64_2"]


def test_a_hint_names_the_row_that_the_operands_fit() -> None:
    text = (
        HEAD.format(target="sm_90a") + f".entry k() {{ {DECLARED}\nmma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
        "{%f32_0, %f32_1, %f32_2, %f32_3}, {%b32_0, %b32_1, %b32_2, %b32_3}, {%b32_4, %b32_5}, "
        "{%f32_0, %f32_1, %f32_2, %f32_3};\nadd.f32 %f64_1, %f64_1, %f64_1;\nret; }\n"
    )
    assert [found.hint for found in wl.check(text)] == [
        *["the operands fit '.m16n8k16' for shape"] * 2,
        *["the operands fit '.f64' for type"] * 3,
    ]


@pytest.mark.parametrize(
    ("statement", "target", "finding"),
    [
        (
            "wgmma.fence.sync.aligned;",
            "sm_100a",
            "wgmma.fence/target: 'wgmma.fence.sync.aligned' needs sm_90a; the target is sm_100a",
        ),
        (
            "barrier.cluster.arrive;",
            "sm_80",
            ("barrier.cluster_arrive/target: 'barrier.cluster.arrive' needs sm_90 or higher; the target is sm_80"),
        ),
        (
            "mov.u32 %u32_1, %cluster_ctarank;",
            "sm_80",
            "move.mov/a: operand a is '%cluster_ctarank', which needs sm_90 or higher; the target is sm_80",
        ),
    ],
)
def test_what_a_target_lacks(statement: str, target: str, finding: str) -> None:
    assert findings(statement, target) == [finding]


@pytest.mark.parametrize(
    "words", ["mma.m16n8k16.sync.aligned.row.col.f32.f16.f16.f32", "mma.sync.aligned.row.col.f32.m16n8k16.f16.f16.f32"]
)
def test_words_in_another_order_are_tolerated(words: str) -> None:
    f = "{%f32_0, %f32_1, %f32_2, %f32_3}"
    operands = f"{f}, {{%b32_0, %b32_1, %b32_2, %b32_3}}, {{%b32_4, %b32_5}}, {f}"
    (finding,) = findings(f"{words} {operands};")
    assert finding.startswith("tolerated/order: ")


def test_types_keep_their_order() -> None:
    (finding, *_) = findings("cvt.rn.f32.f16.ftz %f16_1, %f32_1;")
    assert not finding.startswith("tolerated")


def test_nothing_is_passed_over_in_an_instruction_s_name() -> None:
    assert findings("match.any.sync.b32.finite %b32_1, %b32_2, %b32_3;")[0].startswith("tolerated/ignored")
    assert findings("wgmma.finite.fence.sync.aligned;")[0].startswith("wgmma.fence/")


def test_a_vector_register_stands_for_its_members() -> None:
    assert findings("{ .reg .v4 .f32 %v; ld.global.v4.f32 %v, [%u64_1]; mov.f32 %f32_1, %v.w; }") == []
    (finding,) = findings("{ .reg .v2 .f32 %v; ld.global.v4.f32 %v, [%u64_1]; }")
    assert finding.startswith("memory.ld/d: ")


@pytest.mark.parametrize(
    ("statement", "first", "hint"),
    [
        ("cvt.f32.f64 %f32_1, %f64_1;", "no rounding modifier '.rnd'; expected '.rn', '.rz', '.rm', '.rp'", "or "),
        ("cvt.s32.f32 %b32_1, %f32_1;", "no rounding modifier '.rnd'; expected '.rni'", "or "),
        ("mul.s32 %b32_1, %b32_2, %b32_3;", "no mode '.mode'; expected '.hi', '.lo', '.wide'", "or "),
        ("shfl.down.b32 %b32_1, %b32_2, 1, 31;", "no '.sync'; without it", "write 'shfl.sync.down.b32 d{|p}, a, b, c"),
        (
            "vote.all.pred %pred_1, %pred_2, -1;",
            "no '.sync'; without it",
            "write 'vote.sync.all.pred d, {!}a, membermask",
        ),
        (
            "match.any.b32 %b32_1, %b32_2;",
            "no '.sync'; expected 'match.any.sync.b32'",
            "write 'match.any.sync.b32 d, a,",
        ),
        ("bar.warp;", "no '.sync'; expected 'bar.warp.sync'", "write 'bar.warp.sync membermask'"),
        ("bar.warp -1;", "no '.sync'; expected 'bar.warp.sync'", ""),
    ],
)
def test_a_missing_word_is_proposed_first(statement: str, first: str, hint: str) -> None:
    (found,) = check_statement(statement)
    assert first in found.message
    assert found.hint.startswith(hint)
    assert bool(found.hint) == bool(hint)
