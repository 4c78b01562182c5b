"""Conditions on registers and positions, and the refusal of everything else."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from observe.debug.stopped import executing, stopped

from warploom.diagnostics import UsageError
from warploom.emulator.emulator import Emulator
from warploom.observe.debug.conditions import Condition

TEXT = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<6>; .reg .s32 %s; .reg .b64 %rd<3>; .reg .f32 %f<2>; .reg .f64 %d; .reg .b16 %h; .reg .f16 %half;
    .reg .f16x2 %pair; .reg .pred %p<2>; .reg .v2 .b32 %v; .reg .b32 plain;
    mov.u32 %r1, %tid.x;
    sub.u32 %r2, %r1, 5;
    mov.b32 %s, %r2;
    mov.u64 %rd1, 0xFFFFFFFFFFFFFFFF;
    mov.u64 %rd2, 0x8000000000000000;
    cvt.rn.f32.u32 %f1, %r1;
    mov.f64 %d, 0d3FB999999999999A;
    cvt.rn.f16.f32 %half, %f1;
    mov.b16 %h, 0xFFFF;
    setp.lt.u32 %p1, %r1, 4;
    mov.u32 %v.x, 7;
    mov.u32 %v.y, %r1;
    mov.u32 plain, 9;
    mov.u32 %r3, 0;
    @%p1 bra SMALL;
    bar.sync 0;
SMALL:
    ret;
}
"""


@cache
def emulator() -> Emulator:
    return stopped(TEXT, lambda program: [len(program.steps) - 4], grid=(2, 3), block=128)


def lanes(text: str) -> list[int]:
    """Return the lanes of warp 0 of CTA 0 for which a condition is true, in a batch of all warps."""
    state = emulator()
    condition = Condition.parse(text, state.program.steps[0].scope)
    return np.flatnonzero(condition.lanes(executing(state))[0]).tolist()


ALL = list(range(32))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%r1 == 3", [3]),
        ("%r1 == 3 and lane < 7", [3]),
        ("%r1 == 3 or not lane < 30", [3, 30, 31]),
        ("2 <= %r1 < 5", [2, 3, 4]),
        ("%r1 % 8 == 1", [1, 9, 17, 25]),
        ("%r1%8==1", [1, 9, 17, 25]),
        ("(%r1)%16 == %r1 and %r1>13", [14, 15]),
        ("%r1 & 0x1C == 4", [4, 5, 6, 7]),
        ("%r1 >> 3 == 1 and ~%r1 < -14", [14, 15]),
        ("%r1 // 10 == 3", [30, 31]),
        ("%r2 > 0xFFFFFFF0", [0, 1, 2, 3, 4]),
        ("%r2 == -1", []),
        ("%s == -1", [4]),
        ("s32(%r2) < 0", [0, 1, 2, 3, 4]),
        ("-s32(%r2) == 5", [0]),
        ("%rd1 == 0xFFFFFFFFFFFFFFFF", ALL),
        ("%rd1 == 0xFFFFFFFFFFFFFFFE", []),
        ("%rd1 + 1 == 1 << 63 << 1", ALL),
        ("%rd2 - 1 < %rd2", ALL),
        ("%rd1 * %rd1 > %rd1", ALL),
        ("%r2 * %r2 == 0xFFFFFFFF * 0xFFFFFFFF", [4]),
        ("%r1 + 0x7FFFFFFFFFFFFFFF > 0x7FFFFFFFFFFFFFFF + 30", [31]),
        ("%f1 == 2.5 * 4", [10]),
        ("%f1 >= 29.5", [30, 31]),
        ("%d == 0.1", ALL),
        ("%half == 17", [17]),
        ("f16(%h) == f16(%h)", []),
        ("u8(%r2) == 255", [4]),
        ("%p1", [0, 1, 2, 3]),
        ("not %p1 and %p1 == 0 and %r1 < 6", [4, 5]),
        ("%p1 + 1 == 2", [0, 1, 2, 3]),
        ("%v.x == 7 and %v.y == 6", [6]),
        ("plain == 9 and lane == 2", [2]),
        ("%tid.x == 12", [12]),
        ("%laneid == lane", ALL),
        ("%ctaid.x == cta.x and %ctaid.y == cta.y and cta.z == 0", ALL),
        ("%nctaid.y == 3", ALL),
        ("%r1 - 31", list(range(31))),
        ("1", ALL),
        ("0.0", []),
        ("lane == 4", [4]),
    ],
)
def test_a_condition_selects_lanes(text: str, expected: list[int]) -> None:
    assert lanes(text) == expected


def test_positions_of_all_warps() -> None:
    state = emulator()
    batch = executing(state)
    scope = state.program.steps[0].scope
    found = Condition.parse("warp == 2 and cta.x == 1 and cta.y == 2", scope).lanes(batch)
    warps = batch.warp_index[found.all(axis=1)]
    assert found.any(axis=1).sum() == 1
    assert state.state.placement.describe_warp(int(warps[0])) == "CTA (1, 2, 0), warp 2"


def test_only_active_lanes_are_selected() -> None:
    state = stopped(TEXT, lambda program: [len(program.steps) - 2])
    found = Condition.parse("1", state.program.steps[0].scope).lanes(executing(state))
    assert np.flatnonzero(found[0]).tolist() == list(range(4, 32))


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "not an expression"),
        ("%r1 ==", 7, "not an expression"),
        ("%r1 = 3", 5, "not an expression"),
        ("%r1 == 'a'", 8, "cannot contain this"),
        ("open(%r1)", 1, "unknown type 'open'"),
        ("__import__('os')", 1, "cannot contain this"),
        ("%r1.real", 1, "unknown register"),
        ("(%r1).real", 1, "cannot contain this"),
        ("%r1 ** 2", 1, "cannot contain this"),
        ("%r1 / 2", 1, "cannot contain this"),
        ("%r1 if lane else 2", 5, "not an expression"),
        ("[1]", 1, "cannot contain this"),
        ("lane in (1, 2)", 6, "not an expression"),
        ("%r1 % lane", 7, "expected a constant from 1 to"),
        ("%r1 // 0", 8, "expected a constant from 1 to"),
        ("%r1 << 64", 8, "expected a constant from 0 to 63"),
        ("%f1 & 1", 1, "needs integers"),
        ("~%f1", 1, "needs an integer"),
        ("s31(%r1) == 1", 1, "unknown type 's31'"),
        ("lan == 1", 1, "unknown name 'lan'"),
        ("s32(lane) == 1", 5, "has no PTX type"),
        ("lane == 3 and f16x2(%r1) == 1", 21, "several elements"),
        ("%pair == 1", 1, "several elements"),
        ("lane == é", 9, "unexpected character"),
        ("lane : 3", 6, "not an expression"),
        ("not " * 60 + "1", 205, "nested too deeply"),
    ],
)
def test_anything_else_is_refused_at_its_place(text: str, column: int, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Condition.parse(text, emulator().program.steps[0].scope)
    assert message in str(caught.value)
    if caught.value.diagnostics[0].code == "debug.condition" and message:
        assert f"at character {column} of the condition" in str(caught.value)


def test_a_long_condition_is_refused() -> None:
    with pytest.raises(UsageError, match="1003 characters"):
        Condition.parse("1" + " or 1" * 200 + "  ", emulator().program.steps[0].scope)


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("%rr1 == 2", "debug.register", "did you mean '%r1'?"),
        ("%r6 == 2", "debug.register", "did you mean"),
        ("%tid.w2 == 2", "debug.register", "did you mean '%tid.w'?"),
        ("%v == 2", "debug.register", ""),
        ("lan == 2", "debug.condition", "did you mean 'lane'?"),
        ("u31(%r1) == 2", "debug.condition", "did you mean"),
        ("f64(%r1) == 2", "debug.type", ""),
        ("pred(%r1)", "debug.type", ""),
        ("u32(%p1) == 1", "debug.type", ""),
    ],
)
def test_an_unknown_name_gets_a_similar_one(text: str, code: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        Condition.parse(text, emulator().program.steps[0].scope)
    assert caught.value.diagnostics[0].code == code
    assert caught.value.diagnostics[0].hint.startswith(hint)
