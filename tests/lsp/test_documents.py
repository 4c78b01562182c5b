"""What the server knows of a document, in offsets of its text."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typed import edited, mended

from warploom.check import check
from warploom.diagnostics import Span, UsageError
from warploom.isa.model.availability import read_target
from warploom.isa.model.form import match_opcode
from warploom.lsp.completion import completions, next_words
from warploom.lsp.document import Document, View
from warploom.lsp.fixes import fixes_in
from warploom.lsp.formatting import formatting
from warploom.lsp.hover import hover
from warploom.lsp.names import Names
from warploom.lsp.outline import outline
from warploom.lsp.positions import Lines
from warploom.ptx import parse

CORPUS = Path(__file__).parents[1] / "corpus"
EDITS = int(os.environ.get("WARPLOOM_LSP_EDITS", "2000"))
HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n\n"
BODY = """.global .b32 mark;
.func (.param .b32 out) twice(.param .b32 in)
{
	.reg .b32 %r<4>;
	ld.param.b32 %r1, [in];
	add.s32 %r2, %r1, %r1; // twice %r1
	st.param.b32 [out], %r2;
	ret;
}
.visible .entry kernel(.param .u64 data)
{
	.reg .b32 %r<8>, one;
	.reg .pred %p<2>;
	.param .b32 a;
	ld.global.b32 %r1, [mark];
exit:
	setp.ne.s32 %p1, %r1, 0;
	@%p1 bra exit;
	{
		.reg .b32 %r<3>;
		mov.u32 %r1, %tid.x;
		add.s32 %r2, %r1, %r1;
	}
	mov.u32 one, %r1;
	exit;
}
"""
TEXT = HEAD + BODY


def view(text: str) -> View:
    return Document("k.ptx", text).view


def at(text: str, marked: str) -> int:
    """Where `|` stands in a piece of the text."""
    before, _, behind = marked.partition("|")
    return text.index(before + behind) + len(before)


def applied(text: str, changes: list[tuple[Span, str]] | tuple[tuple[Span, str], ...]) -> str:
    for span, new in sorted(changes, key=lambda change: change[0].start, reverse=True):
        text = text[: span.start] + new + text[span.end :]
    return text


# Positions --------------------------------------------------------------------------------------------------


@given(st.text(st.sampled_from("ab\r\n\f😀é\ud800\u2028"), max_size=40), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_positions_are_those_of_offsets(text: str, encoding: str) -> None:
    lines = Lines(text, encoding)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] != "\r\n" or offset == 0:
            assert lines.offset(*lines.position(offset)) == offset
    assert lines.offset(1000, 0) == len(text)
    assert text[: lines.offset(0, 1000)] == text.replace("\r", "\n").split("\n")[0]


def test_characters_are_units_of_utf_16() -> None:
    assert Lines("a😀b").position(2) == (0, 3)
    assert Lines("a😀b").offset(0, 3) == 2


# Names ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("marked", "declared", "count"),
    [
        ("ld.global.b32 %r|1", ".reg .b32 %r<8>, one", 4),  # with its declaration; the inner %r1 is another
        ("mov.u32 %r1|, %tid", ".reg .b32 %r<3>", 4),
        ("bra exi|t", "exit:", 2),  # and not the instruction
        ("[mar|k]", ".global .b32 mark", 2),
        ("@%p|1", ".reg .pred %p<2>", 3),
        ("mov.u32 on|e", "one;\n", 2),
        ("ld.param.b32 %r1, [i|n]", ".param .b32 in", 2),
        ("[ou|t]", ".param .b32 out", 2),
        ("|twice(", "twice(", 1),
    ],
)
def test_a_name_is_found_where_it_is_declared_and_named(marked: str, declared: str, count: int) -> None:
    names = Names(view(TEXT))
    symbol = names.symbol_at(at(TEXT, marked))
    assert symbol is not None
    place = names.definition(symbol)
    assert place is not None
    start = TEXT.index(declared)
    assert start <= place.start < start + len(declared)
    assert len(names.references(symbol)) == count


def test_renaming_keeps_the_program() -> None:
    names = Names(view(TEXT))
    symbol = names.symbol_at(at(TEXT, "bra exi|t"))
    assert symbol is not None
    text = applied(TEXT, names.rename(symbol, "$again"))
    assert text == TEXT.replace("exit:", "$again:").replace("bra exit", "bra $again")


def test_a_register_of_a_range_that_is_renamed_is_declared_alone() -> None:
    names = Names(view(TEXT))
    symbol = names.symbol_at(at(TEXT, "ld.global.b32 %r|1"))
    assert symbol is not None
    text = applied(TEXT, names.rename(symbol, "%loaded"))
    assert "\t.reg .b32 %r<8>, one;\n\t.reg .b32 %loaded;\n" in text
    assert text.count("%loaded") == 4
    assert "mov.u32 %r1, %tid.x" in text
    assert check(text).ok


def test_a_range_is_renamed_with_all_its_registers() -> None:
    names = Names(view(TEXT))
    symbol = names.symbol_at(at(TEXT, ".reg .b32 %r|<3>"))
    assert symbol is not None
    text = applied(TEXT, names.rename(symbol, "%in"))
    assert ".reg .b32 %in<3>;\n\t\tmov.u32 %in1, %tid.x;\n\t\tadd.s32 %in2, %in1, %in1;" in text


@pytest.mark.parametrize(
    ("name", "said"), [("1x", "legal name"), ("%tid.x", "legal name"), ("one", "declared already")]
)
def test_a_name_that_cannot_be_is_refused(name: str, said: str) -> None:
    names = Names(view(TEXT))
    symbol = names.symbol_at(at(TEXT, "bra exi|t"))
    assert symbol is not None
    with pytest.raises(UsageError, match=said):
        names.rename(symbol, name)


def test_nothing_is_renamed_in_a_text_that_cannot_be_read() -> None:
    text = TEXT.replace("bra exit;", "bra exit")
    names = Names(view(text))
    symbol = names.symbol_at(at(text, "bra exi|t"))
    assert symbol is not None
    with pytest.raises(UsageError, match="syntax errors"):
        names.rename(symbol, "there")


def test_names_in_comments_are_none() -> None:
    assert Names(view(TEXT)).symbol_at(at(TEXT, "// twice %r|1")) is None


# Hover and completion ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("marked", "said"),
    [
        ("ad|d.s32", "## integer.add"),
        ("ld.global.b32 %r|1", ".reg .b32 %r<8>"),
        ("%ti|d.x", "special register of `.u32`"),
        ("bra exi|t", "label"),
        ("|twice(", ".func (.param .b32 out) twice(.param .b32 in)"),
    ],
)
def test_hover_says_what_stands_there(marked: str, said: str) -> None:
    found = hover(view(TEXT), at(TEXT, marked))
    assert found is not None
    assert said in found[0]


def test_hover_tells_the_layout_of_fragments() -> None:
    text = (CORPUS / "gemm_f16_nn_sm80.ptx").read_text(encoding="utf-8")
    found = hover(view(text), text.index("m16n8k16"))
    assert found is not None
    assert "`d`: 4 `.f32` `(T32,V4) -> (M16,N8)`" in found[0]
    assert "| shape | dtype |" in found[0]


@pytest.mark.parametrize(
    ("typed", "there", "missing"),
    [
        ("wgmma.mma_async.sync.aligned.m64n", "m64n256k16", "m64n4k16"),
        ("wgmma.mma_async.sync.aligned.m64n8k16.f32.", "bf16", "e4m3"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.", "f16", "s8"),
        ("cp.async.bulk.tensor.2d.", "shared::cluster", "tile::gather4"),
        ("add.", "s32", "b32"),
        ("@%p1 ld.sha", "shared", "param"),
        ("wg", "wgmma", "add"),
        ("bra exi", "exit", "add"),
        ("mov.u32 %tid", "%tid.x", "%r1"),
        ("mov.u32 %r", "%r1", "%rd1"),
        ("// add.", "", "s32"),
    ],
)
def test_what_can_come_next_is_offered_and_nothing_else(typed: str, there: str, missing: str) -> None:
    text = TEXT.replace("\tmov.u32 one", f"\t{typed}\n\tmov.u32 one")
    words = {found.word for found in completions(view(text), text.index(typed) + len(typed))}
    assert (there in words) == bool(there)
    assert missing not in words


def test_what_the_target_lacks_is_not_offered() -> None:
    text = TEXT.replace("sm_90a", "sm_80").replace("\tmov.u32 one", "\twg\n\tmov.u32 one")
    assert not completions(view(text), text.index("\twg\n") + 3)


@pytest.mark.parametrize("name", ["sm_75", "sm_90a", "sm_100a"])
def test_every_way_through_the_offers_ends_in_a_legal_opcode(name: str) -> None:
    target = read_target(name)
    assert target is not None
    rng = random.Random(5)
    for _ in range(15):
        words: tuple[str, ...] = ()
        while following := next_words(words, target, (8, 7)):
            assert len(words) < 30
            words = (*words, rng.choice(list(following)))
        opcode = ".".join(words)
        assert match_opcode(opcode), opcode
        text = f".version 8.7\n.target {name}\n.address_size 64\n.entry k() {{ {opcode}; }}\n"
        codes = {found.code.rpartition("/")[2] for found in check(text)}
        assert not codes & {"target", "ptx"}, opcode


# Fixes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[mark]", "[markk]"),
        ("setp.ne", "setpp.ne"),
        ("setp.ne.s32", "setp.neq.s32"),
        ("mov.u32 one, %r1;", "mov.u32 one, %r9;"),
        ("ld.global.b32 %r1, [mark];", "ld.global.b32 %r1, [mark]"),
        (".target sm_90a", ".target sm_90aa"),
    ],
)
def test_a_fix_leaves_nothing_to_find(old: str, new: str) -> None:
    text = TEXT.replace(old, new)
    document = view(text)
    found = next(iter(document.report))
    assert found.span is not None
    mended = [applied(text, [(fix.span, fix.text)]) for fix in fixes_in(document, found.span.start, found.span.end)]
    assert any(check(each).ok for each in mended), str(document.report)


def test_a_missing_fence_is_put_in() -> None:
    text = (CORPUS / "wgmma_raw_sm90a.ptx").read_text(encoding="utf-8")
    text = "\n".join(line for line in text.splitlines() if "wgmma.fence" not in line) + "\n"
    document = view(text)
    found = next(found for found in document.report if found.code == "warpgroup/fence")
    assert found.span is not None
    (fix,) = fixes_in(document, found.span.start, found.span.end)
    codes = [found.code for found in document.report]
    assert len([f for f in check(applied(text, [(fix.span, fix.text)])) if f.code == "warpgroup/fence"]) < len(codes)


# Formatting and outline -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gemm_f16_nn_sm80", "micro_sm90a", "wgmma_raw_sm90a", "vadd_f32_sm90"])
def test_formatting_keeps_the_module_and_its_comments(name: str) -> None:
    text = (CORPUS / f"{name}.ptx").read_text(encoding="utf-8")
    formatted = applied(text, formatting(view(text)))
    assert parse(formatted) == parse(text)
    assert formatted.count("//") == text.count("//")
    assert not formatting(view(formatted))


MESSY = """// before
.visible   .entry k( .param .u64 a,.param .u64 b ) // header
{ .reg .b32 %r<4>;  // four



  /* one */ add.s32  %r1 ,%r2,
 3;mov.u32 %r1, /* kept  as it is */  %r2;
L: bra   L;
{ ret ;}
// last
}
.entry  j( .param .u64 a )  {}
// end"""
NEAT = """// before
.visible   .entry k( .param .u64 a,.param .u64 b ) // header
{
	.reg .b32 %r<4>; // four

	/* one */
	add.s32 %r1, %r2, 3;
	mov.u32 %r1, /* kept  as it is */  %r2;
	L:
	bra L;
	{
		ret;
	}
	// last
}
.entry j(
	.param .u64 a
)
{
}
// end
"""


def test_formatting_brings_statements_into_the_canonical_form() -> None:
    assert applied(HEAD + MESSY, formatting(view(HEAD + MESSY))) == HEAD + NEAT


def test_what_cannot_be_read_is_not_formatted() -> None:
    broken = ".visible .entry k() {\n  add.s32   %r1 %r2;\n}\n"
    text = f"{HEAD}  .global  .b32   x;\n{broken}.global  .b32   y;\n.global  .b32   z;\n"
    formatted = applied(text, formatting(view(text)))
    assert formatted == f"{HEAD}.global .b32 x;\n{broken}.global  .b32   y;\n.global .b32 z;\n"


def test_the_outline_has_functions_with_their_labels() -> None:
    entries = outline(view(TEXT))
    assert [(entry.kind, entry.name) for entry in entries] == [
        ("variable", "mark"),
        ("function", "twice"),
        ("kernel", "kernel"),
    ]
    assert [(entry.kind, entry.name) for entry in entries[2].inner] == [("variable", "data"), ("label", "exit")]


# Edits ------------------------------------------------------------------------------------------------------


def test_random_edits_end_in_what_check_says_of_the_text() -> None:
    """Every question at a random place after every edit, and no exception."""
    rng = random.Random(11)
    document = Document("k.ptx", TEXT)
    for k in range(EDITS):
        text = document.view.text
        text = mended(text, TEXT, rng) if rng.random() < 0.3 else edited(text, rng)
        document.replace(TEXT if k % 100 == 99 else text)
        ask(document.view, rng.randrange(len(document.view.text) + 1), rng)
        if k % 50 == 49:
            found = [(each.code, each.message, each.span) for each in document.view.report]
            assert found == [(each.code, each.message, each.span) for each in check_of(document.view.text)]


def check_of(text: str) -> object:
    return check(text if "\n" in text else text + "\n")


def ask(document: View, offset: int, rng: random.Random) -> None:
    """One of the questions, at a place."""
    document.lines.position(offset)
    match rng.randrange(6):
        case 0:
            completions(document, offset)
        case 1:
            hover(document, offset)
        case 2:
            names = Names(document)
            symbol = names.symbol_at(offset)
            if symbol is not None:
                assert names.definition(symbol) is not None
                assert names.references(symbol)
        case 3:
            for fix in fixes_in(document, max(0, offset - 50), offset):
                assert applied(document.text, [(fix.span, fix.text)]) != document.text
        case 4:
            formatting(document)
        case _:
            outline(document)
