"""Common mistakes: each is refused on its Python line, in these words (mistakes.md)."""

from __future__ import annotations

import pytest
from author.mistakes import entries, message_of

ENTRIES = entries()


def test_there_are_many():
    assert len(ENTRIES) >= 50


@pytest.mark.parametrize(("text", "message"), [entry[1:] for entry in ENTRIES], ids=[e[0] for e in ENTRIES])
def test_a_mistake_is_said_on_its_line(text, message):
    assert message_of(text) == message
