"""Random multiplications in tensor memory equal the NumPy model, element by element."""

from __future__ import annotations

import pytest
from emulator.tcgen05_cases import MODIFIERS, mismatches

SCHEDULES = ("eager", "lazy", "random:7")


@pytest.mark.parametrize("number", range(len(MODIFIERS)))
def test_multiplications_equal_the_model(number: int) -> None:
    # D, and all words of tensor memory that are not part of D.
    assert not mismatches(number, 4, schedule=SCHEDULES[number % 3])


@pytest.mark.parametrize("number", range(len(MODIFIERS), 12 * len(MODIFIERS)))
def test_more_multiplications_equal_the_model(number: int) -> None:
    assert not mismatches(number, 4, schedule=SCHEDULES[number % 3])
