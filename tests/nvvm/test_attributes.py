"""Attributes of functions, parameters, results, variables, modules, calls and accesses, compared with MLIR 22."""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path

import pytest

pytest.importorskip("xdsl")

import warploom as wl
from warploom.nvvm import LowerError
from warploom.nvvm.mlir import attributes
from warploom_lab.mlir.functions import read_attributes
from warploom_lab.mlir.attributes import cases
from warploom_lab.mlir.normal_ir import normal_ir

RECORD = read_attributes(Path(__file__).parents[1] / "functions")
"""MLIR's generic syntax and LLVM IR by the name of the case."""


def differs(text: str, expected: str) -> bool:
    try:
        return normal_ir(wl.lower(text, to="llvm")) != expected
    except LowerError:
        return True


def test_record_has_every_case() -> None:
    assert set(RECORD) == set(dict(cases()))


@pytest.mark.parametrize(("name", "text"), cases(), ids=[name for name, _ in cases()])
def test_attribute_has_the_translation_of_mlir(name: str, text: str) -> None:
    generic, expected = RECORD[name]
    for form in (text, generic):
        assert normal_ir(wl.lower(form, to="llvm")) == expected


TABLES: list[tuple[MutableMapping[str, str], str]] = [
    (table, name)
    for table in (
        attributes.FUNCTION_WORDS, attributes.FUNCTION_STRINGS, attributes.KERNEL_NUMBERS, attributes.PARAMETER_WORDS,
    )
    for name in table
]  # fmt: skip


@pytest.mark.parametrize(("table", "name"), TABLES, ids=[name for _, name in TABLES])
def test_case_fails_when_an_attribute_is_dropped(
    table: MutableMapping[str, str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every entry of the tables of attributes has a case that fails without the entry."""
    monkeypatch.delitem(table, name)
    word = f"{name} " if name == "no_inline" else name
    affected = [(case, text) for case, text in cases() if word.rpartition(".")[2] in text]
    assert any(differs(text, RECORD[case][1]) for case, text in affected)
