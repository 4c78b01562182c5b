"""Attributes of functions, parameters, results, variables, modules, calls and accesses, compared with MLIR 22."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("xdsl")

import warploom as wl
from warploom.nvvm import LowerError
from warploom.nvvm.mlir import attributes
from warploom_lab.mlir.attributes import cases
from warploom_lab.mlir.functions import read_attributes
from warploom_lab.mlir.normal_ir import normal_ir

CASES = dict(cases())
RECORD = read_attributes(Path(__file__).parents[1] / "functions")
"""MLIR's generic syntax and LLVM IR by the name of the case."""


def differs(text: str, expected: str) -> bool:
    try:
        return normal_ir(wl.lower(text, to="llvm")) != expected
    except LowerError:
        return True


def test_record_has_every_case() -> None:
    assert set(RECORD) == set(CASES)


@pytest.mark.parametrize(("name", "text"), CASES.items(), ids=CASES)
def test_attribute_has_the_translation_of_mlir(name: str, text: str) -> None:
    generic, expected = RECORD[name]
    for form in (text, generic):
        assert normal_ir(wl.lower(form, to="llvm")) == expected


TABLES = (
    "FUNCTION_WORDS", "FUNCTION_STRINGS", "FUNCTION_HINTS", "KERNEL_DIMENSIONS", "KERNEL_NUMBERS", "KERNEL_UNITS",
    "PARAMETER_WORDS", "PARAMETER_TYPES", "PARAMETER_NUMBERS",
)  # fmt: skip
ENTRIES = [(table, name) for table in TABLES for name in getattr(attributes, table) if name != "elementtype"]
"""Names of attributes in each table. The attribute `elementtype` is legal only in calls of some intrinsics."""


@pytest.mark.parametrize(("table", "name"), ENTRIES)
def test_case_fails_when_an_attribute_is_dropped(table: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every entry of the tables of attributes has a case that fails without the entry."""
    found = getattr(attributes, table)
    rest = [each for each in found if each != name]
    monkeypatch.setattr(
        attributes, table, {key: found[key] for key in rest} if isinstance(found, dict) else tuple(rest)
    )
    affected = [(case, text) for case, text in CASES.items() if name.rpartition(".")[2] in text]
    assert any(differs(text, RECORD[case][1]) for case, text in affected)
