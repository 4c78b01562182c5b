"""Output of notebooks: every kind of object has a representation, and all text is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import warploom as wl
from warploom.check.pages import form_section
from warploom.diagnostics import Diagnostic, Severity, Source, Span
from warploom.display import Displayed
from warploom.emulator.execute import Stats
from warploom.isa.model.form import forms
from warploom.runtime.api import Run
from warploom.runtime.explore import Difference, Exploration
from warploom.view import notebook

CORPUS = Path(__file__).parents[1] / "corpus"
HEAD = ".version 8.0\n.target sm_90a\n.address_size 64\n"
ATTACK = "<script>alert(1)</script>"
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def text_in(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


def well_formed(html: str | None) -> ET.Element:
    assert html is not None
    return ET.fromstring(html)


def finding(message: str = ATTACK) -> Diagnostic:
    source = Source(ATTACK, f"// {ATTACK}\n")
    return Diagnostic(f"a/{ATTACK}", Severity.ERROR, message, source, Span(3, 10), ATTACK, ATTACK)


def every(kind: type[Displayed]) -> Iterator[type[Displayed]]:
    for below in kind.__subclasses__():
        yield below
        yield from every(below)


def test_every_kind_of_object_has_a_representation() -> None:
    assert {kind.display_kind for kind in every(Displayed)} == set(notebook._REPRESENTATIONS)


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.ptx")), ids=lambda path: path.stem)
def test_a_listing_contains_the_text(path: Path) -> None:
    module = wl.parse(path.read_text())
    code = well_formed(module._repr_html_()).find("pre/code")
    assert code is not None
    lines = path.read_text().rstrip("\n").split("\n")[: notebook.MAX_LINES]
    assert "".join(code.itertext()) == "\n".join(lines)


def test_a_long_line_is_cut() -> None:
    module = wl.parse(f"{HEAD}// {'x' * 10 * notebook.MAX_CHARACTERS}\n")
    html = str(module._repr_html_())
    assert notebook.MAX_CHARACTERS < len(html) < 2 * notebook.MAX_CHARACTERS
    assert "… and more" in html


def test_tokens_are_coloured() -> None:
    text = "@%p1 add.s32 %r1, %r2, 3; // sum\n\t@!q bra $end;\n$end: ret;"
    pieces = {
        text_in(piece): piece.split('"')[1] for piece in notebook._coloured(text) if piece.startswith("<span")
    }
    kinds = {style: kind for kind, style in notebook._TOKEN_STYLES.items()}
    found = {word.strip(): kinds.get(style) for word, style in pieces.items()}
    assert found["add.s32"] == found["bra"] == found["ret"] == "opcode"
    assert found["%p1"] == found["%r1"] == found["q"] == "register"
    assert found["// sum"] == "comment"
    assert found["$end"] == "label"


@pytest.mark.parametrize(
    "thing",
    [
        wl.parse(f"{HEAD}// {ATTACK}\n.visible .entry k()\n{{ /* {ATTACK} */ ret; }}\n"),
        wl.parse(f'{HEAD}.file 1 "{ATTACK}"\n'),
        finding(),
        wl.check(f"{HEAD}.visible .entry k()\n{{ // {ATTACK}\n\tmov.b33 %r1, %r2; /* {ATTACK} */\n}}\n"),
        Run((finding(),), Stats({ATTACK: 3}, ctas=1)),
        Exploration(
            ("eager", "lazy"),
            Difference(("eager", "lazy"), ATTACK, 0, (0,), (ATTACK, ATTACK)),
            ((ATTACK, ATTACK),),
            (finding(),),
            None,
        ),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_texts_are_escaped(thing: Displayed) -> None:
    html = thing._repr_html_()
    assert "<script" not in str(html)
    assert ATTACK in text_in(str(html))
    well_formed(html)


def test_tables_of_descriptors_and_tensor_maps() -> None:
    cells = text_in(str(wl.Descriptor(1024, 16, 512, 0, 128)._repr_html_()))
    assert "stride byte offset512" in cells
    assert f"{wl.Descriptor(1024, 16, 512, 0, 128).encode():#018x}" in cells
    product = wl.InstructionDescriptor("f16", 128, 64, "bf16", "bf16")
    assert f"{product.encode():#010x}" in text_in(str(product._repr_html_()))
    tensor = wl.TensorMap.tiled(np.zeros((64, 128), np.float16), (32, 64), swizzle=128)
    rows = [list(row.itertext()) for row in well_formed(tensor._repr_html_()).iter("tr")]
    assert rows[1:] == [["0", "128", "2", "64", "1"], ["1", "64", "256", "32", "1"]]


def test_a_large_layout_is_cut() -> None:
    small = ET.fromstring(str(wl.layout(MMA, "A")._repr_svg_()))
    assert len(small.findall(".//*[@data-row]")) == 256
    product = wl.InstructionDescriptor("f16", 128, 16, "bf16", "bf16")
    in_tensor_memory = wl.layout("tcgen05.mma.cta_group::1.kind::f16", "D", idesc=product)
    assert str(in_tensor_memory._repr_svg_()).count("data-row") == notebook.MAX_SIDE * 16
    large = wl.layout("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16", "D")
    picture = str(large._repr_svg_())
    assert len(ET.fromstring(picture).findall(".//*[@data-row]")) == 64 * notebook.MAX_SIDE
    assert "the first 64 rows and 64 columns of 64 by 256" in picture


def test_a_form_is_shown_as_its_page() -> None:
    form = next(iter(forms()))
    assert form._repr_markdown_() == form_section(form)
    assert form._repr_html_() is None
    assert form._repr_svg_() is None


def test_a_page_is_shown_as_markdown() -> None:
    page = wl.explain(MMA)
    assert page._repr_markdown_() == page
    assert page.startswith("## mma.half")
    with pytest.raises(wl.UsageError, match=r"unknown rule or instruction 'mma\.snyc'"):
        wl.explain("mma.snyc")


def test_a_trace_is_shown_as_a_table_of_waits() -> None:
    text = (
        f"{HEAD}.visible .entry k()\n{{\n.reg .pred %p;\n.reg .b32 %t;\nmov.u32 %t, %tid.x;\n"
        "setp.lt.u32 %p, %t, 32;\n@%p bra $late;\nbra $there;\n$late: nanosleep.u32 1;\nnanosleep.u32 1;\n"
        "$there: bar.sync 0;\nret;\n}\n"
    )
    run = wl.launch(text, grid=1, block=64, args=[], trace=True)
    assert run.trace is not None
    table = notebook.waits(run.trace)
    rows = [[cell.text for cell in row] for row in well_formed(table).iter("tr")]
    assert [row[0] for row in rows] == ["warp", "warp 0", "warp 1"]
    assert all(int(str(row[1])) > 0 for row in rows[1:])
    assert int(str(rows[2][2])) > 0
    assert table in str(run._repr_html_())
