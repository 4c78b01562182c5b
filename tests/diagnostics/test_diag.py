"""Places in texts, and findings as a reader sees them."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.diagnostics import (
    Diagnostic,
    Note,
    Severity,
    Source,
    SourceLine,
    Span,
    UsageError,
    WarploomError,
    render,
    render_json,
    render_sarif,
)

SOURCE = Source("k.ptx", "one\r\n\ttwo three\nfour")


@pytest.mark.parametrize(
    ("offset", "position"),
    [(0, (1, 1)), (3, (1, 4)), (4, (1, 5)), (5, (2, 1)), (6, (2, 2)), (16, (3, 1)), (20, (3, 5))],
)
def test_position(offset: int, position: tuple[int, int]) -> None:
    assert SOURCE.position(offset) == position


def test_lines() -> None:
    assert [SOURCE.line_text(line) for line in (1, 2, 3)] == ["one", "\ttwo three", "four"]
    assert SOURCE.line_count == 3


@given(st.text(alphabet="ab\r\n"), st.data())
def test_a_position_leads_back_to_its_offset(text: str, data: st.DataObject) -> None:
    source = Source("x", text)
    offset = data.draw(st.integers(0, len(text)))
    line, column = source.position(offset)
    assert sum(len(part) + 1 for part in text.split("\n")[: line - 1]) + column - 1 == offset
    assert source.line_count == text.count("\n") + 1


WHERE = Diagnostic("ptx.syntax/expected", Severity.ERROR, "found 'three'; expected 'four'", SOURCE, Span(10, 15))


def test_render() -> None:
    full = Diagnostic("a/b", Severity.WARNING, "this is odd", SOURCE, Span(6, 9), hint="try one", section="PTX ISA 9.7")
    assert render([WHERE, full]) == (
        "k.ptx:2:6: error[ptx.syntax/expected]: found 'three'; expected 'four'\n"
        "    2 |     two three\n"
        "      |         ^^^^^\n"
        "k.ptx:2:2: warning[a/b]: this is odd\n"
        "    2 |     two three\n"
        "      |     ^^^\n"
        "  hint: try one\n"
        "  see: PTX ISA 9.7\n"
    )


def test_render_without_a_place() -> None:
    assert render([Diagnostic("usage", Severity.NOTE, "nothing to do")]) == "note[usage]: nothing to do\n"
    assert render([Diagnostic("usage", Severity.ERROR, "is empty", SOURCE)]) == "k.ptx: error[usage]: is empty\n"


def test_render_in_color_says_the_same() -> None:
    colored = render([WHERE], color=True)
    assert "\x1b[1;31merror[ptx.syntax/expected]\x1b[0m" in colored
    plain = colored
    for code in ("\x1b[1;31m", "\x1b[1m", "\x1b[0m"):
        plain = plain.replace(code, "")
    assert plain == render([WHERE])


def test_render_of_a_long_line_shows_the_place() -> None:
    source = Source("x", "a" * 500 + "HERE" + "b" * 500)
    first, line, caret = render([Diagnostic("c", Severity.ERROR, "m", source, Span(500, 504))]).splitlines()
    assert first == "x:1:501: error[c]: m"
    assert line[caret.index("^") :].startswith("HERE")
    assert caret.count("^") == 4
    assert len(line) < 180


def test_caret_at_the_end_of_a_text_and_over_several_lines() -> None:
    assert render([Diagnostic("c", Severity.ERROR, "m", SOURCE, Span(20, 20))]).splitlines()[2].endswith("|     ^")
    assert render([Diagnostic("c", Severity.ERROR, "m", SOURCE, Span(12, 20))]).splitlines()[2].endswith(" ^^^")


def test_error_is_one_sentence_for_each_finding() -> None:
    error = WarploomError([WHERE, Diagnostic("usage", Severity.ERROR, "and no grid")])
    assert str(error) == "k.ptx:2:6: found 'three'; expected 'four'\nand no grid"


def test_usage_error_survives_pickling() -> None:
    error = UsageError("grid is 0; expected at least 1", code="launch/grid", hint="pass grid=1")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is UsageError
    assert str(again) == "grid is 0; expected at least 1"
    assert again.diagnostics == error.diagnostics
    assert isinstance(again, WarploomError)


# Source lines -----------------------------------------------------------------------------------------------------


def compiled() -> Diagnostic:
    """A finding in a text that a compiler made, with a note in a line of its own."""
    source = Source("k.ptx", "add\nmul\n")
    kernel = SourceLine("/home/me/gemm.cu", 40, 3)
    inlined = SourceLine("/home/me/tile.cuh", 8, 7, "demo::Tile<float>::store", kernel)
    source.read_line_table = lambda: [(0, inlined), (4, kernel)]
    return Diagnostic("a/b", Severity.ERROR, "it adds", source, Span(0, 3), notes=(Note("it multiplies", Span(4, 7)),))


def test_a_source_line_is_named_with_its_calls() -> None:
    assert str(compiled()) == "k.ptx:1:1 (tile.cuh:8): it adds"
    assert render([compiled()]) == (
        "k.ptx:1:1: error[a/b]: it adds\n"
        "    1 | add\n"
        "      | ^^^\n"
        "  source: /home/me/tile.cuh:8 in demo::Tile<float>::store\n"
        "  inlined at: /home/me/gemm.cu:40\n"
        "  note: it multiplies\n"
    )


def test_source_lines_in_json() -> None:
    (record,) = json.loads(render_json([compiled()]))
    kernel = {"file": "/home/me/gemm.cu", "line": 40, "column": 3}
    inlined = {"file": "/home/me/tile.cuh", "line": 8, "column": 7, "function": "demo::Tile<float>::store"}
    assert record["compiled_from"] == [inlined, kernel]
    assert record["notes"][0]["compiled_from"] == [kernel]
    assert "compiled_from" not in json.loads(render_json([WHERE]))[0]


def test_source_lines_in_sarif() -> None:
    result = json.loads(render_sarif([compiled()]))["runs"][0]["results"][0]
    found = [
        (
            each["message"]["text"],
            each["physicalLocation"]["artifactLocation"]["uri"],
            each["physicalLocation"]["region"]["startLine"],
        )
        for each in result["relatedLocations"]
    ]
    assert found == [
        ("source line", "/home/me/tile.cuh", 8),
        ("call that was inlined", "/home/me/gemm.cu", 40),
        ("it multiplies", "k.ptx", 2),
        ("source line", "/home/me/gemm.cu", 40),
    ]
    assert "relatedLocations" not in json.loads(render_sarif([WHERE]))["runs"][0]["results"][0]
