"""Parts of sentences that many messages share."""

from __future__ import annotations

import pytest

from warploom.diagnostics.wording import counted, one_of


@pytest.mark.parametrize(
    ("values", "text"), [((64,), "64"), ((64, 128), "64 or 128"), ((64, 128, 256), "64, 128 or 256")]
)
def test_alternatives(values: tuple[int, ...], text: str) -> None:
    assert one_of(values) == text


def test_numbers_of_things() -> None:
    assert [counted(number, "CTA") for number in (0, 1, 2)] == ["0 CTAs", "1 CTA", "2 CTAs"]
