"""Wrong elements of a result: their pattern, the largest error and the instructions that wrote them."""

from __future__ import annotations

from pathlib import Path

import pytest

from warploom.runtime.api import launch
from warploom.runtime.comparison import Comparison
from warploom.runtime.launchfile import parse_launch_file
from warploom.runtime.wrong_elements import find_writers

SCHEDULES = ("eager", "lazy", "random:3")

# Each CTA copies a tile of 64 rows and 32 columns, and each warp 16 rows of the tile.
COPY = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 c)
{
.reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .f32 %f<4>; .reg .pred %p<4>;
ld.param.u64 %rd0, [a];
ld.param.u64 %rd1, [c];
mov.u32 %r0, %tid.x;
and.b32 %r1, %r0, 31;       // lane
shr.u32 %r2, %r0, 5;        // warp
mov.u32 %r3, %ctaid.x;
mov.u32 %r4, %ctaid.y;
mad.lo.u32 %r5, %r3, 32, %r1;   // column
mov.u32 %r6, 0;                 // row of the warp
LOOP:
mad.lo.u32 %r7, %r4, 64, %r6;
mad.lo.u32 %r7, %r2, 16, %r7;   // row
mad.lo.u32 %r8, %r7, 64, %r5;
mad.wide.u32 %rd2, %r8, 4, %rd0;
mad.wide.u32 %rd3, %r8, 4, %rd1;
ld.global.f32 %f0, [%rd2];
mov.pred %p1, -1;
FAULT
@%p1 st.global.f32 [%rd3], %f0;
add.u32 %r6, %r6, 1;
setp.lt.u32 %p0, %r6, 16;
@%p0 bra LOOP;
ret;
}
"""

# One thread of each CTA stores a tile of 32 rows and 32 columns with a tensor copy.
STORE = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a, .param .align 64 .b8 c[128])
{
.reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .f32 %f<4>; .reg .pred %p<4>;
.shared .align 128 .b8 tile[4096];
ld.param.u64 %rd0, [a];
mov.u64 %rd1, c;
mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
shl.b32 %r1, %r1, 5;        // first column
mov.u32 %r2, %ctaid.y;
shl.b32 %r2, %r2, 5;        // first row
mov.u32 %r3, tile;
mov.u32 %r6, 0;
LOOP:
add.u32 %r7, %r2, %r6;
mad.lo.u32 %r8, %r7, 64, %r1;
add.u32 %r8, %r8, %r0;
mad.wide.u32 %rd2, %r8, 4, %rd0;
ld.global.f32 %f0, [%rd2];
mad.lo.u32 %r9, %r6, 128, %r3;
mad.lo.u32 %r9, %r0, 4, %r9;
st.shared.f32 [%r9], %f0;
add.u32 %r6, %r6, 1;
setp.lt.u32 %p0, %r6, 32;
@%p0 bra LOOP;
fence.proxy.async.shared::cta;
bar.sync 0;
setp.ne.u32 %p1, %r0, 7;
@%p1 ret;
FAULT
cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r1, %r2}], [tile];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
ret;
}
"""

LAUNCH = """\
kernel.file = "k.ptx"
launch.grid = [2, 2]
launch.block = {block}
argument = [{{ buffer = "a" }}, {c}]
[buffer.a]
dtype = "float32"
shape = [{rows}, 64]
distribution = "normal"
[buffer.c]
dtype = "float32"
shape = [{rows}, 64]
distribution = "zeros"
[expect]
reference = "copy"
a = "a"
result = "c"
"""


def compared(folder: Path, text: str, launch_file: str, schedule: str = "eager") -> Comparison:
    (folder / "k.ptx").write_text(text)
    plan = parse_launch_file(launch_file, "l.toml", folder)
    prepared = plan.prepare()
    launch(plan.ptx, plan.kernel, **plan.keywords, args=prepared.args, schedule=schedule)
    comparison = prepared.compare()
    assert comparison is not None
    return find_writers(comparison, plan, schedule)


def facts(folder: Path, fault: str, text: str = COPY, schedule: str = "eager") -> dict[str, str]:
    """Return the facts about the wrong elements of a kernel with a fault, without the values of elements."""
    is_copy = text is COPY
    c = '{ buffer = "c" }' if is_copy else '{ tensor_map = "c", box = [32, 32] }'
    file = LAUNCH.format(block=128 if is_copy else 32, c=c, rows=128 if is_copy else 64)
    found = compared(folder, text.replace("FAULT", fault), file, schedule).facts()
    return {label: words for label, words in found if not label.startswith("c[")}


def line_with(fault: str, words: str, text: str = COPY) -> int:
    lines = text.replace("FAULT", fault).splitlines()
    return next(number for number, line in enumerate(lines, 1) if words in line)


def test_a_wrong_tile(tmp_path: Path) -> None:
    fault = """setp.eq.u32 %p2, %r3, 1;
setp.eq.and.u32 %p2, %r4, 0, %p2;
@%p2 add.f32 %f0, %f0, 0f3F800000;"""
    line = line_with(fault, "st.global")
    assert facts(tmp_path, fault) == {
        "wrong elements": "rows 0-63, columns 32-63",
        "written by": "CTA (1, 0, 0); all elements written there are wrong",
        "writer of c[0, 32]": f"st.global.f32 in line {line}, CTA (1, 0, 0), warp 0, lane 0",
    }


def test_a_column_that_is_not_written(tmp_path: Path) -> None:
    assert facts(tmp_path, "setp.ne.u32 %p1, %r5, 63;") == {
        "wrong elements": "column 63",
        "never written": "128 elements keep their initial values",
    }


def test_rows_that_are_not_written(tmp_path: Path) -> None:
    assert facts(tmp_path, "setp.lt.u32 %p1, %r6, 8;") == {
        "wrong elements": "rows 8-15 of every 16",
        "never written": "4,096 elements keep their initial values",
    }


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_warp_that_writes_garbage(tmp_path: Path, schedule: str) -> None:
    fault = "setp.eq.u32 %p2, %r2, 2;\n@%p2 mov.f32 %f0, 0f7FC00000;"
    line = line_with(fault, "st.global")
    assert facts(tmp_path, fault, schedule=schedule) == {
        "wrong elements": "rows 32-47 of every 64",
        "written by": "warp 2 of each CTA; all elements written there are wrong",
        "writer of c[32, 0]": f"st.global.f32 in line {line}, CTA (0, 0, 0), warp 2, lane 0",
    }


def test_lanes_that_write_a_wrong_row(tmp_path: Path) -> None:
    fault = """setp.lt.u32 %p2, %r1, 4;
setp.eq.and.u32 %p2, %r6, 3, %p2;
@%p2 add.f32 %f0, %f0, 0f3F800000;"""
    found = facts(tmp_path, fault)
    assert found["wrong elements"] == "every 16th row from 3, columns 0-3 of every 32"
    lanes = "lanes 0-3 of each warp of each CTA; 64 of the 1,024 elements written there are wrong"
    assert found["written by"] == lanes


def test_one_of_two_stores_is_wrong(tmp_path: Path) -> None:
    fault = """setp.lt.u32 %p1, %r4, 1;
add.f32 %f1, %f0, 0f3F800000;
@!%p1 st.global.f32 [%rd3], %f1;"""
    line = line_with(fault, "@!%p1 st.global")
    found = facts(tmp_path, fault)
    assert found["wrong elements"] == "rows 64-127"
    assert found["written by"] == "CTAs with y 1; all elements written there are wrong"
    assert found["writer of c[64, 0]"] == f"st.global.f32 in line {line}, CTA (0, 1, 0), warp 0, lane 0"


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_tensor_copy_with_a_wrong_coordinate(tmp_path: Path, schedule: str) -> None:
    fault = "setp.eq.u32 %p2, %r2, 0;\n@%p2 add.u32 %r1, %r1, 4;"
    opcode = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group"
    line = line_with(fault, opcode, STORE)
    assert facts(tmp_path, fault, STORE, schedule) == {
        "wrong elements": "rows 0-31",
        "never written": "128 elements keep their initial values: rows 0-31, columns 0-3",
        "written by": "CTAs with y 0; all elements written there are wrong",
        "writer of c[0, 4]": f"{opcode} in line {line}, CTA (0, 0, 0), warp 0, lane 7",
    }


def test_a_result_that_no_argument_refers_to(tmp_path: Path) -> None:
    file = LAUNCH.format(block=128, c='{ buffer = "d" }', rows=128)
    d = '[buffer.d]\ndtype = "float32"\nshape = [128, 64]\ndistribution = "zeros"\n[expect]'
    comparison = compared(tmp_path, COPY.replace("FAULT", ""), file.replace("[expect]", d))
    assert comparison.writers is None
    assert comparison.facts()[-1] == ("wrong elements", "all elements")


def test_a_right_result_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warploom.runtime.wrong_elements.load_launch", None)
    file = LAUNCH.format(block=128, c='{ buffer = "c" }', rows=128)
    comparison = compared(tmp_path, COPY.replace("FAULT", ""), file)
    assert comparison.ok
    assert comparison.facts() == []
