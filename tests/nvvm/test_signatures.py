"""Declarations of nvvm operations: their signatures, and their tables of rules."""

from __future__ import annotations

from functools import partial

import pytest

pytest.importorskip("xdsl")

from xdsl.dialects.builtin import IntegerAttr, i32

from warploom.isa.instructions import control
from warploom.nvvm.dialect import OPERATIONS, Operation
from warploom.nvvm.dialect.fields import read_signature
from warploom.nvvm.dialect.operation import operation


def test_a_signature_has_a_name_fields_and_ptx_names() -> None:
    read = read_signature(
        "nvvm.x(at as a in ss: ptr0|ptr3, mask?: i32, more*: any, kind: shfl_kind) -> res as d: i32&i1"
    )
    assert read.name == "nvvm.x"
    assert list(read.members) == ["at", "mask", "more", "kind", "res", "irdl_options"]
    assert read.ptx_names == {"at": "a", "res": "d"}
    assert read.spaces == {"ss": "at"}


@pytest.mark.parametrize("text", ["nvvm.x(a i32)", "nvvm.x(a: i32", "nvvm.x a: i32"])
def test_a_malformed_signature_is_an_error(text: str) -> None:
    with pytest.raises(AssertionError):
        read_signature(text)


def test_rules_name_fields() -> None:
    """A rule about a field that the operation lacks would never refuse anything."""
    tested = 0
    for kind in OPERATIONS:
        definition = kind.get_irdl_definition()
        fields = {*dict(definition.operands), *dict(definition.results), *definition.properties}
        for rule in kind.RULES:
            if isinstance(rule, partial):
                assert {term["name"] for term in rule.args[0]} <= fields, kind.name
                tested += 1
    assert tested > 50


@pytest.mark.parametrize(
    ("rule", "number", "message"),
    [
        ("t<0: t is {t}; expected 0 or more", -1, "t is -1; expected 0 or more"),
        ("t<0: t is {t}", 0, ""),
        ("t>3: t is {t}", 4, "t is 4"),
        ("t=1|2: no {t}", 2, "no 2"),
        ("t!=1|2: no {t}", 2, ""),
        ("t !u: u is missing", 1, "u is missing"),
        ("u: u is present", 1, ""),
        ("!t: t is missing", 1, ""),
    ],
)
def test_a_rule_refuses_under_all_its_terms(rule: str, number: int, message: str) -> None:
    kind = operation("nvvm.x(t: int32, u?: unit)", "Example.", control.EXIT, rules=rule)
    made = kind.create(properties={"t": IntegerAttr(number, i32)})
    assert isinstance(made, Operation)
    assert [each(made) for each in kind.RULES] == [message]


def test_a_malformed_rule_is_an_error() -> None:
    kind = operation("nvvm.x(a: int32)", "Example.", control.EXIT, rules="a~1: never")
    with pytest.raises(AssertionError, match="never"):
        kind.create().check()
