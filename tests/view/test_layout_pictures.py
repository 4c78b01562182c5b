"""Pictures of layouts: they exist for every matrix instruction and agree with the manual and the emulator."""

from __future__ import annotations

import csv
import io
import json
from functools import cache
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from isa.matrices import opcodes
from isa.test_layouts import BOX, GROUP, MOVING, MULTIPLYING, SPARSE, maps
from layout.manual import MANUAL

import warploom as wl
from warploom.diagnostics import UsageError
from warploom.isa.binding.layouts import operands_of
from warploom.isa.instructions.mma import BIT, DOUBLE, FLOAT, HALF, INTEGER, SCALED
from warploom.isa.model.form import Form
from warploom.isa.model.operand_layout import LayoutInputs, LayoutMap
from warploom.layout import InstructionDescriptor, SharedMap, TensorMemoryMap, box_fields, box_map, tiled_fragment
from warploom.view.layout_grid import LayoutGrid, csv_text, grid_of, json_data, text_lines
from warploom.view.layout_pictures import layout_page, layout_svg

SVG = "{http://www.w3.org/2000/svg}"
Places = dict[tuple[int, int], list[str]]


def drawn(grid: LayoutGrid) -> Places:
    """Return the locations of every element in the picture."""
    cells = ET.fromstring(layout_svg(grid)).iter(f"{SVG}g")
    return {
        (int(each.attrib["data-row"]), int(each.attrib["data-col"])): each.attrib["data-locations"].split()
        for each in cells
    }


def locations(found: LayoutMap) -> Places:
    """Return the locations of every element in a layout."""
    places: Places = {}
    if isinstance(found, TensorMemoryMap):
        for (copy, row, col), lane in np.ndenumerate(found.lane):
            cta, column, bit = (part[copy, row, col] for part in (found.cta, found.column, found.bit))
            word = f"L{lane}.{column}" + (f":{bit}" if bit else "")
            places.setdefault((row, col), []).append(f"{cta}/{word}" if found.ctas > 1 else word)
        return places
    if isinstance(found, SharedMap):
        for (row, col), at in np.ndenumerate(found.at):
            places[row, col] = [f"{at // 8}.{at % 8}" if found.bits < 8 else f"{at // 8}"]
        return places
    for (lane, item), row in np.ndenumerate(found.row):
        if row >= 0:
            places.setdefault((int(row), int(found.col[lane, item])), []).append(f"T{lane}:{item}")
    return places


@pytest.mark.parametrize("form", [*MULTIPLYING, *MOVING], ids=lambda form: form.name)
def test_every_form_has_its_pictures(form: Form) -> None:
    shown: set[str] = set()
    for _, name, _, found in maps(form):
        if name not in shown:  # one for each operand; other tests check all maps
            shown.add(name)
            assert drawn(grid_of(name, found)) == locations(found)
    assert shown


@cache
def instructions() -> dict[tuple[str, str, str], str]:
    """Return an opcode for every shape, element type and operand of dense warp-level multiplications."""
    return {
        (slots["shape"], slots[f"{operand}type"], operand.upper()): opcode
        for form in (HALF, FLOAT, DOUBLE, INTEGER, BIT, SCALED)
        for opcode, slots, _ in opcodes(form)
        for operand in "abcd"
    }


FORMULAS = [
    (shape, word, operand, formula) for (shape, words, operand), formula in MANUAL.items() for word in words.split()
]


@pytest.mark.parametrize(
    ("shape", "word", "operand", "formula"), FORMULAS, ids=[" ".join(each[:3]) for each in FORMULAS]
)
def test_pictures_show_the_manuals_formulas(shape: str, word: str, operand: str, formula: Any) -> None:
    # Sections 9.7.14.5.2 to 13, with groupID = laneid >> 2 and threadID_in_group = laneid % 4.
    items, row, col = formula
    expected = {
        (row(lane >> 2, lane % 4, i), col(lane >> 2, lane % 4, i)): [f"T{lane}:{i}"]
        for lane in range(32)
        for i in range(items)
    }
    assert drawn(grid_of(operand, wl.layout(instructions()[shape, word, operand], operand))) == expected


def test_enough_formulas_are_compared() -> None:
    assert len(FORMULAS) >= 40
    assert {each[:3] for each in FORMULAS} <= set(instructions())


def test_metadata_agree_with_the_manual() -> None:
    # Section 9.7.14.6.1: m16n8k16 with f16, one thread of each group has the metadata of rows g and g + 8.
    opcode = SPARSE.replace("k32", "k16")
    for selector in range(4):
        shown = drawn(grid_of("metadata", wl.layout(opcode, "metadata", selector=selector)))
        assert shown == {
            (row, chunk): [f"T{4 * (row % 8) + selector}:{chunk + 4 * (row // 8)}"]
            for row in range(16)
            for chunk in range(4)
        }


def test_scale_factors_agree_with_the_manual() -> None:
    # Section 9.7.14.3: a pair of each quad gives those of A, a thread those of B, byte by byte from the byte id.
    opcode = next(opcode for opcode, slots, _ in opcodes(SCALED) if slots["scale_vec"] == "scale_vec::2X")
    a = drawn(grid_of("scale A", wl.layout(opcode, "scale A", byte_id=2, thread_id=1)))
    assert a == {(row, k): [f"T{4 * (row % 8) + 2 + row // 8}:{k + 2}"] for row in range(16) for k in range(2)}
    b = drawn(grid_of("scale B", wl.layout(opcode, "scale B", byte_id=0, thread_id=3)))
    assert b == {(k, col): [f"T{4 * col + 3}:{k}"] for col in range(8) for k in range(2)}


def test_a_warpgroups_accumulator() -> None:
    # Warp w has rows 16w to 16w + 15, in tiles of 16 by 8 that are each the accumulator of a warp.
    expected = {
        (16 * (t // 32) + t % 32 // 4 + 8 * (i // 2 % 2), 8 * (i // 4) + 2 * (t % 4) + i % 2): [f"T{t}:{i}"]
        for t in range(128)
        for i in range(8)
    }
    assert drawn(grid_of("D", wl.layout(GROUP, "D"))) == expected


# Agreement with the emulator ----------------------------------------------------------------------------------------

COPY = """
.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 memory[];
.visible .entry copied(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 words)
{{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    .shared .align 8 .b64 full;
    mov.u32 %r0, %tid.x;
    ld.param.u32 %r1, [words];
    setp.ne.u32 %p0, %r0, 0;
    mov.u32 %r2, full;
    mov.u32 %r3, memory;
    shl.b32 %r4, %r1, 2;
    @%p0 bra there;
    mbarrier.init.shared::cta.b64 [%r2], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], {transferred};
    mov.u64 %rd0, map;
    cvta.param.u64 %rd1, %rd0;
    {copy} [%r3], [%rd1, {{{origin}}}], [%r2];
there:
    bar.sync 0;
wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
    @!%p1 bra wait;
    ld.param.u64 %rd2, [out];
    cvta.to.global.u64 %rd2, %rd2;
more:
    setp.ge.u32 %p2, %r0, %r1;
    @%p2 bra done;
    shl.b32 %r5, %r0, 2;
    add.u32 %r6, %r3, %r5;
    ld.shared.b32 %r7, [%r6];
    cvt.u64.u32 %rd3, %r5;
    add.u64 %rd4, %rd2, %rd3;
    st.global.b32 [%rd4], %r7;
    add.u32 %r0, %r0, 32;
    bra more;
done:
    ret;
}}
"""
BOXES = [
    (0, 0, (6, 24)),
    (0, 32, (16, 16)),
    (0, 64, (16, 32)),
    (0, 128, (16, 64)),
    (0, 128, (3, 5, 40)),
    (16, 0, (2, 1, 3, 8)),
    (32, 32, (2, 1, 3, 8)),
]


@pytest.mark.parametrize(("interleave", "swizzle", "box"), BOXES)
def test_a_copied_box_agrees_with_the_picture(interleave: int, swizzle: int, box: tuple[int, ...]) -> None:
    found = wl.layout(
        BOX.replace("2d", f"{len(box)}d"),
        "box",
        tensor_map=box_fields(box, "f16", swizzle=swizzle, interleave=interleave),
    )
    assert isinstance(found, SharedMap)
    slice_of = (interleave // 2,) if interleave else ()
    source = np.arange(1, found.rows * found.cols + 1, dtype=np.uint16).reshape(*box, *slice_of)
    words = 1024 * (-(-int(found.byte.max() + 2) // 4096))
    out = np.zeros(words, np.uint32)
    text = COPY.format(
        transferred=source.nbytes, copy=BOX.replace("2d", f"{len(box)}d"), origin=", ".join(["0"] * len(box))
    )
    tensor_map = wl.TensorMap.tiled(source.view(np.float16), box, swizzle=swizzle, interleave=interleave)
    wl.launch(text, grid=1, block=32, shared=4 * words, args=[tensor_map, out, words])
    elements = source.reshape(found.rows, found.cols)
    for (row, col), (place,) in drawn(grid_of("box", found)).items():
        assert out.view(np.uint16)[int(place) // 2] == elements[row, col]


MULTIPLY = """
.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 memory[];
.visible .entry multiplied(.param .u64 image, .param .u64 out, .param .u64 a, .param .u64 b)
{{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<12>;
    .reg .f32 %f<4>;
    mov.u32 %r0, %tid.x;
    mov.u32 %r3, memory;
    ld.param.u64 %rd0, [image];
    cvta.to.global.u64 %rd0, %rd0;
    mov.u32 %r1, %r0;
fill:
    shl.b32 %r5, %r1, 2;
    cvt.u64.u32 %rd1, %r5;
    add.u64 %rd2, %rd0, %rd1;
    ld.global.b32 %r6, [%rd2];
    add.u32 %r7, %r3, %r5;
    st.shared.b32 [%r7], %r6;
    add.u32 %r1, %r1, 128;
    setp.lt.u32 %p0, %r1, 4096;
    @%p0 bra fill;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    shr.u32 %r4, %r3, 4;
    cvt.u64.u32 %rd3, %r4;
    ld.param.u64 %rd4, [a];
    ld.param.u64 %rd5, [b];
    add.u64 %rd4, %rd4, %rd3;
    add.u64 %rd5, %rd5, %rd3;
    setp.ne.u32 %p1, 0, 1;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, %rd4, %rd5, 0, 1, 1, {turned}, {turned};
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    ld.param.u64 %rd6, [out];
    cvta.to.global.u64 %rd6, %rd6;
    shl.b32 %r2, %r0, 4;
    cvt.u64.u32 %rd7, %r2;
    add.u64 %rd8, %rd6, %rd7;
    st.global.v4.f32 [%rd8], {{%f0, %f1, %f2, %f3}};
    ret;
}}
"""


@pytest.mark.parametrize("major", ["K", "MN"])
@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_a_multiplication_agrees_with_the_picture(major: str, swizzle: int) -> None:
    opcode = GROUP.replace("n16", "n8")
    image = np.random.default_rng(swizzle).integers(-4, 5, 8192).astype(np.float16)
    out = np.zeros((128, 4), np.float32)
    span = swizzle // 2 if major == "MN" and swizzle else 8  # least number of rows of B, one span
    a = wl.descriptor(64, 16, "f16", swizzle=swizzle, major=major)
    b = wl.descriptor(max(8, span), 16, "f16", swizzle=swizzle, major=major, start_address=8192)
    wl.launch(
        MULTIPLY.format(turned=int(major == "MN")), grid=1, block=128, shared=16384,
        args=[image, out, a.encode(), b.encode()],
    )  # fmt: skip
    factors: list[np.ndarray] = []
    for operand, descriptor, rows in (("A", a, 64), ("B", b, 8)):
        places = drawn(grid_of(operand, wl.layout(opcode, operand, descriptor=descriptor, major=major)))
        factors.append(
            np.array([[image[int(places[row, k][0]) // 2] for k in range(16)] for row in range(rows)], np.float32)
        )
    shown = drawn(grid_of("D", wl.layout(opcode, "D")))
    expected = factors[0] @ factors[1].T
    for (row, col), (place,) in shown.items():
        lane, item = (int(part) for part in place[1:].split(":"))
        assert out[lane, item] == expected[row, col]


PAIR = "tcgen05.mma.cta_group::2.kind::f16"

# Other representations ---------------------------------------------------------------------------------

GRIDS = {
    "fragment": grid_of("A", wl.layout("mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32", "A")),
    "repeated": grid_of("A", tiled_fragment("wmma", "A", "m16n16k16", "f16")),
    "partial": grid_of("metadata", wl.layout(SPARSE, "metadata", selector=1)),
    "tile": grid_of("B", wl.layout(GROUP, "B", swizzle=64)),
    "folded": grid_of("D", wl.layout(PAIR, "D", idesc=InstructionDescriptor("f16", 128, 16, "f16", "f16", "f16"))),
    "copied": grid_of("A", wl.layout(PAIR, "A", idesc=InstructionDescriptor("f16", 128, 16, "f16", "f16"))),
    "nibbles": grid_of("box", box_map(box_fields((4, 64), "b4x16", swizzle=32))),
}


def word_of(row: dict[str, str], grid: LayoutGrid) -> str:
    """Return the location of a CSV row in one word."""
    if grid.memory.name == "tensor memory":
        bit = f":{row['bit']}" if row["bit"] != "0" else ""
        return (f"{row['cta']}/" if grid.ctas > 1 else "") + f"L{row['tlane']}.{row['tcol']}{bit}"
    if grid.memory.name == "registers":
        return f"T{row['lane']}:{row['item']}"
    return row["byte"] + (f".{row['bit']}" if grid.bits < 8 else "")


@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_all_representations_agree(grid: LayoutGrid) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text([grid]))))
    data = json.loads(json.dumps(json_data(grid)))
    assert [dict(zip(data["columns"], map(str, entry))) for entry in data["entries"]] == [
        {name: value for name, value in row.items() if name != "operand"} for row in rows
    ]
    places: Places = {}
    for row in rows:
        place = word_of(row, grid)
        places.setdefault((int(row["row"]), int(row["col"])), []).append(place)
    assert places == drawn(grid)
    assert data["bits"] * len(data["entries"]) >= data["rows"] * data["cols"]
    lines = ["".join(text for text, _ in line).split() for line in text_lines(grid, 10_000)]
    assert [len(lines), lines[1]] == [grid.rows + 2, [str(col) for col in range(grid.cols)]]
    for row in range(grid.rows):
        assert lines[row + 2] == [str(row), *(word for col in range(grid.cols) for word in places[row, col])]


def test_wide_tables_are_split_into_panels() -> None:
    grid = GRIDS["fragment"]
    for width in (1, 40, 100):
        lines = ["".join(text for text, _ in line) for line in text_lines(grid, width)][1:]
        heads = [line for number, line in enumerate(lines) if number % (grid.rows + 1) == 0]
        assert " ".join(heads).split() == [str(col) for col in range(grid.cols)]
        assert max(map(len, lines)) <= max(width, 10)


def test_the_picture_contains_all_cells_and_text() -> None:
    root = ET.fromstring(layout_svg(GRIDS["partial"]))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for each in root.iter(f"{SVG}rect"):
        x, y = float(each.get("x", 0)), float(each.get("y", 0))
        assert 0 <= x < x + float(each.attrib["width"]) <= width
        assert 0 <= y < y + float(each.attrib["height"]) <= height
    named = {each.get("id"): each.text for each in root.iter() if each.get("id")}
    title, description = (named[name] for name in root.attrib["aria-labelledby"].split())
    assert title == "metadata: mma sparse m16n8k32 f16 metadata"
    assert "16 rows by 8 columns" in str(description)
    assert "prefers-color-scheme: dark" in "".join(each.text or "" for each in root.iter(f"{SVG}style"))
    said = {each.text for group in root.iter(f"{SVG}g") for each in group.iter(f"{SVG}title")}
    assert "row 8, column 1: lane 2, item 5, register 0, bits 20 to 23" in said


def test_lanes_and_banks_have_distinct_colours() -> None:
    style = "".join(each.text or "" for each in ET.fromstring(layout_svg(GRIDS["tile"])).iter(f"{SVG}style"))
    light = [line for line in style.splitlines() if line.startswith("  .l") and "{ fill: hsl" in line]
    assert len(light) == len({line.partition("{")[2] for line in light}) == 64
    for name, grid in GRIDS.items():
        for number, colour in enumerate(grid.colours):
            owner = {"registers": 2, "shared memory": 4, "tensor memory": 3}[grid.memory.name]
            assert colour == grid.entries[number, owner] % 32, name


@pytest.mark.parametrize("picture", [layout_svg, lambda grid: layout_page("x", [grid])])
def test_too_many_elements_for_a_picture_are_refused(picture: Any) -> None:
    grid = grid_of("box", box_map(box_fields((4, 256, 128), "u8")))
    with pytest.raises(UsageError, match="box 4x256x128 u8 has 131,072 elements; a picture shows at most 65,536"):
        picture(grid)


def test_operands_of_an_opcode_have_grids() -> None:
    known = {each.name: each.map(LayoutInputs()) for each in operands_of(GROUP)}
    assert grid_of("D", known["D"]).memory.owner == "lane"
    assert grid_of("B", known["B"]).memory.owner == "bank"
