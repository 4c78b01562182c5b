"""Attributes of functions, parameters, results, variables, modules, calls and accesses, compared with MLIR 22."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("xdsl")

from xdsl.dialects.builtin import UnitAttr

import warploom as wl
from warploom.nvvm import LowerError
from warploom.nvvm.mlir import attributes
from warploom.nvvm.mlir.llvm_operations import INSTRUCTIONS
from warploom.nvvm.mlir.to_llvm_ir import to_llvm_ir
from warploom.nvvm.mlir_text import ParsedModule, parse_mlir
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


DEFAULTS = (
    "0 : i64", "0 : i32", "array<i32>", "false", "#llvm.cconv<ccc>", "#llvm.fastmath<none>", "#llvm.overflow<none>",
    '#llvm.linkage<"external">', "#llvm.tailcallkind<none>",
)  # fmt: skip
"""Values of attributes that say the same as their absence."""
WITHOUT_TEXT = ("llvm.comdat sym_name", "builtin.module llvm.target_triple")
"""Attributes without text of their own: LLVM has no tables of comdats, and the triple of the case is the default."""


def translated(parsed: ParsedModule) -> str:
    try:
        return to_llvm_ir(parsed).text
    except LowerError as error:
        return repr(error)


def dropped(text: str) -> Iterator[str]:
    """Yield the attributes of operations of the llvm dialect whose absence changes neither the result nor the error."""
    parsed = parse_mlir(text)
    whole = translated(parsed)
    for operation in parsed.module.walk():
        for owner in (operation.attributes, operation.properties):
            for name, value in list(owner.items()):
                if name not in attributes.WITHOUT_EFFECT and str(value) not in DEFAULTS:
                    del owner[name]
                    if translated(parsed) == whole and (found := f"{operation.name} {name}") not in WITHOUT_TEXT:
                        yield found
                    owner[name] = value


def test_no_attribute_is_dropped() -> None:
    assert not {name: found for name, (generic, _) in RECORD.items() if (found := list(dropped(generic)))}


def test_a_dropped_attribute_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    generic = RECORD["llvm.load tbaa = [#tag1]"][0]
    without = INSTRUCTIONS["load"].replace("{access}", "")
    monkeypatch.setitem(INSTRUCTIONS, "load", without)
    with pytest.raises(LowerError, match=r"'llvm\.load' has the attribute 'tbaa', which cannot be lowered to LLVM"):
        wl.lower(generic, to="llvm")
    monkeypatch.setattr(attributes.UsedAttributes, "refuse_unused", lambda _: None)
    assert list(dropped(generic)) == ["llvm.load tbaa"]


def test_every_operation_refuses_an_unknown_attribute() -> None:
    """Add an attribute to an operation of every kind that a case contains."""
    seen: set[str] = set()
    for generic, _ in RECORD.values():
        if set(re.findall(r'"(llvm\.[\w.]+)"\(', generic)) <= seen:
            continue
        parsed = parse_mlir(generic)
        for operation in parsed.module.walk():
            if operation.name.startswith("llvm.") and operation.name not in seen:
                seen.add(operation.name)
                operation.attributes["own"] = UnitAttr()
                with pytest.raises(LowerError) as found:
                    to_llvm_ir(parsed)
                del operation.attributes["own"]
                assert "has the attribute 'own', which cannot be lowered to LLVM" in str(found.value)
                spans = [each.span for each in found.value.diagnostics]
                owner = operation.parent_op()
                assert parsed.spans[operation] in spans or (owner is not None and parsed.spans[owner] in spans)
    assert len(seen) >= 60
