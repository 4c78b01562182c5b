"""Binding of single instructions, for the tests of the families."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

import warploom.isa  # noqa: F401  (declares every form)
from warploom.diagnostics import Diagnostic
from warploom.isa.binding.bind import Binding, bind
from warploom.ptx import Instruction, parse


def instruction(text: str) -> Instruction:
    """The one instruction in a text."""
    module = parse(f".version 9.0\n.target sm_90a\n.address_size 64\n.entry k() {{ {text} }}\n")
    body = module.functions["k"].body
    assert body is not None
    (found,) = (statement for statement in body.statements if isinstance(statement, Instruction))
    return found


def form_of(text: str) -> str:
    """The name of the form that takes an instruction; the diagnostic's message when none does."""
    found = bind(instruction(text))
    return found.form.name if isinstance(found, Binding) else found.message


def binding(text: str) -> Binding:
    """The binding of a legal instruction."""
    found = bind(instruction(text))
    assert isinstance(found, Binding), found
    return found


def refusal(text: str) -> Diagnostic:
    """The diagnostic of an instruction that no form takes."""
    found = bind(instruction(text))
    assert isinstance(found, Diagnostic), found.form
    return found


def legality_tests(
    legal: Mapping[str, str], refused: Mapping[str, str]
) -> tuple[Callable[[str, str], None], Callable[[str, str], None]]:
    """Tests that legal instructions have their forms, and that refused ones have their codes."""

    @pytest.mark.parametrize(("text", "form"), legal.items())
    def test_legal(text: str, form: str) -> None:
        assert form_of(text) == form

    @pytest.mark.parametrize(("text", "code"), refused.items())
    def test_refused(text: str, code: str) -> None:
        assert refusal(text).code == code

    return test_legal, test_refused
