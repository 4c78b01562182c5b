"""Edits that fix what a diagnostic reports."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.diagnostics import Diagnostic, Severity, Source, UsageError, render_sarif
from warploom.diagnostics.edits import Edit, apply_edits, with_fixes

TEXT = "first 1;\n    second %r, 2;\n"


def edit(line: int, column: int, old: str, new: str) -> dict[str, Any]:
    return Edit(line, column, old, new, f"in line {line}").data


def test_edits_refer_to_the_text_before_all_edits() -> None:
    edits = [edit(2, 16, "2", "16"), edit(1, 1, "", "zero;\n"), edit(2, 5, "second", ""), edit(2, 12, "", "%q, ")]
    assert apply_edits(TEXT, edits) == "zero;\nfirst 1;\n     %q, %r, 16;\n"


def test_insertions_at_one_position_keep_their_order() -> None:
    assert apply_edits("b", [edit(1, 1, "", "a"), edit(1, 1, "b", "c"), edit(1, 1, "", "-")]) == "a-c"


@pytest.mark.parametrize("changed", [edit(1, 1, "second", ""), edit(1, 9, "x", ""), edit(9, 1, "x", "")])
def test_an_edit_of_another_text_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="the edit expects"):
        apply_edits(TEXT, [changed])


def test_edits_that_overlap_are_refused() -> None:
    with pytest.raises(UsageError, match="two edits change line 1, column 3"):
        apply_edits(TEXT, [edit(1, 1, "first", ""), edit(1, 3, "rst", "")])


@given(st.text(alphabet="ab\n"), st.text(alphabet="xy\n"), st.data())
def test_a_replacement_changes_nothing_else(text: str, new: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    line, column = Source("", text).position(start)
    assert apply_edits(text, [edit(line, column, text[start:end], new)]) == text[:start] + new + text[end:]


def test_the_hint_and_the_data_name_the_same_edits() -> None:
    found = Diagnostic("a/b", Severity.ERROR, "wrong", hint="count better")
    one, other = Edit(1, 7, "1", "2", "in line 1"), Edit(2, 5, "second %r, 2;", "", "in line 2")
    fixed = with_fixes(found, [(), (one, one), (other,), (one,)])
    assert fixed.hint == "count better; replace `1` with `2` in line 1; or delete `second %r, 2;` in line 2"
    assert fixed.data == {"fixes": [[one.data], [other.data]]}


def test_sarif_has_the_fixes() -> None:
    found = Diagnostic("a/b", Severity.ERROR, "wrong", Source("k.ptx", TEXT))
    fixed = with_fixes(found, [(Edit(1, 7, "1;\n  ", "2;", "in line 1"),)])
    (fix,) = json.loads(render_sarif([fixed]))["runs"][0]["results"][0]["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "k.ptx"}
    region = {"startLine": 1, "startColumn": 7, "endLine": 2, "endColumn": 3}
    assert change["replacements"] == [{"deletedRegion": region, "insertedContent": {"text": "2;"}}]
