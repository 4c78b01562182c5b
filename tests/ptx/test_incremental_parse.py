"""ParsedText again after an edit: the same as parsed the whole, and no more than what was touched."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from typed import edited, mended, one_body

from warploom.ptx import Block, Function, Node, parse, parse_readable
from warploom.ptx.incremental_parse import ParsedText, parse_incrementally

CORPUS = Path(__file__).parents[1] / "corpus"
HEAD = ".version 8.0\n.target sm_90a\n.address_size 64\n\n"
KERNELS = HEAD + "".join(
    f".visible .entry k{n}(.param .u64 p)\n{{\n\t.reg .b32 %r<4>; // kept\n\tadd.s32 %r1, %r2, {n};\n\tret;\n}}\n\n"
    for n in range(12)
)


def _spans(node: Node, start: int) -> list[tuple[int, int]]:
    assert node.span is not None
    found = [(node.span.start + start, node.span.end + start)]
    match node:
        case Function(params=params, body=body):
            inner = (*params, *(() if body is None else (body,)))
        case Block(statements):
            inner = statements
        case _:
            inner = ()
    return found + [span for each in inner for span in _spans(each, start)]


def _as_fresh(parsed: ParsedText, text: str) -> None:
    module, errors = parse_readable(text)
    assert parsed.module == module
    assert [(e.message, e.span, e.hint) for e in sorted(parsed.errors, key=lambda e: e.span.start)] == [
        (e.message, e.span, e.hint) for e in errors
    ]
    assert "".join(piece.source.text for piece in parsed.pieces) in ("", text)
    if module is not None:
        placed = [
            span
            for piece, start in zip(parsed.pieces, parsed.starts, strict=True)
            for item in piece.items
            for span in _spans(item, start)
        ]
        assert placed == [span for item in module.items for span in _spans(item, 0)]


@pytest.mark.parametrize(
    ("name", "edits"), [("micro_sm90a", 15), ("vadd_f32_sm90", 30), ("many", 100), ("one", 30), ("sound", 60)]
)
def test_random_edits_are_read_as_the_whole_is(name: str, edits: int) -> None:
    made = {"many": KERNELS, "one": one_body(12), "sound": one_body(12, sound=True)}
    whole = made.get(name) or (CORPUS / f"{name}.ptx").read_text(encoding="utf-8")[:30_000]
    rng = random.Random(7)
    text, parsed = whole, parse_incrementally(whole)
    for _ in range(edits):
        text = mended(text, whole, rng) if rng.random() < 0.2 else edited(text, rng)
        parsed = parse_incrementally(text, parsed)
        _as_fresh(parsed, text)


def test_pieces_that_an_edit_does_not_touch_are_the_same_ones() -> None:
    before = parse_incrementally(KERNELS)
    pieces = before.pieces
    text = KERNELS.replace("%r2, 5;", "%r2, 55; add")
    after = parse_incrementally(text, before)
    changed = [k for k, (one, other) in enumerate(zip(pieces, after.pieces, strict=True)) if one is not other]
    assert [pieces[k].items[0].name for k in changed] == ["k5"]


@pytest.mark.parametrize(
    ("old", "new", "read"),
    [
        ("add.s32 %r5, %r1, 5;", "add.s32 %r5, %r1, 55;", ["add.s32 %r5, %r1, 55;"]),
        ("$L5:\n", "$L5:\n\tadd.s32 %r1,\n", []),  # the label before the edit and the instruction behind stay
        ("st.global.v2.b32 [%rd1], {%r1, t}; }", "ret;\n}", ["ret;"]),
        (".param .u32 q", ".param .u32 q, .param .u32 s", []),
        ("// note 5", "// noted", []),
        ("braces */", "braces\n\n*/", []),
        (".reg .f32 x5, y5;", ".reg .f32 x5, z5;", ["z5;"]),
    ],
)
def test_statements_that_an_edit_does_not_touch_are_the_same_ones(old: str, new: str, read: list[str]) -> None:
    whole = one_body(8, sound=True)
    before = parse_incrementally(whole)
    known = {id(node): node for node in _statements(before)}
    text = whole.replace(old, new, 1)
    after = parse_incrementally(text, before)
    found = {node.source_text for node in _statements(after) if id(node) not in known}
    assert {text for text in found if "\n" not in text} == set(read)  # blocks around it are others
    _as_fresh(after, text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("$L5:\n", "$L5::\n"),
        (".loc 1 5 3\n", ".loc 1 5 3, function_name $L5, inlined_at 1 2 3\n"),
        (".loc 1 5 3\n", ".loc 1 5 3\n, function_name $L5, inlined_at 1 2 3\n"),
        (".reg .f32 x5, y5;", ".reg .f32 x5 y5;"),
        ("\t\tleft5:\n\t}", "\t\tleft5:\n\t{"),
        ("/* in", "/* in */ { /*"),
        ("\tret;\n}\n.func", "\tret;\n.func"),
    ],
)
def test_what_is_written_behind_a_statement_may_belong_to_it(old: str, new: str) -> None:
    whole = one_body(8, sound=True)
    text = whole.replace(old, new, 1)
    parsed = parse_incrementally(text, parse_incrementally(whole))
    _as_fresh(parsed, text)
    _as_fresh(parse_incrementally(whole, parsed), whole)


def _statements(parsed: ParsedText) -> list[Node]:
    found: list[Node] = []
    blocks = [item.body for item in parsed.module.items if isinstance(item, Function) and item.name == "first"]
    for block in blocks:
        found += block.statements
        blocks += [statement for statement in block.statements if isinstance(statement, Block)]
    return found


def test_a_parsed_answers_no_more_once_a_later_text_is_read() -> None:
    before = parse_incrementally(KERNELS)
    parse_incrementally(KERNELS.replace("%r2, 5;", "%r2, 55;"), before)
    with pytest.raises(RuntimeError, match="taken for a later text"):
        before.pieces  # noqa: B018
    with pytest.raises(RuntimeError, match="taken for a later text"):
        parse_incrementally(KERNELS, before)


def test_an_error_that_tells_a_line_tells_the_right_one_after_lines_were_added() -> None:
    broken = KERNELS.replace("\tret;\n}\n\n.visible .entry k7", "\tret;\n\n.visible .entry k7")
    parsed = parse_incrementally(broken)
    text = broken.replace(".visible .entry k1(", "\n\n\n.visible .entry k1(")
    _as_fresh(parse_incrementally(text, parsed), text)


def test_a_text_that_is_nested_too_deep_is_read_again_once_it_is_not() -> None:
    deep = KERNELS.replace("\tret;", "{" * 100, 1)
    parsed = parse_incrementally(deep, parse_incrementally(KERNELS))
    assert parsed.module is None
    assert parse_incrementally(KERNELS, parsed).module == parse(KERNELS)
