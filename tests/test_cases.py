"""Runs every case of the Markdown suites in `tests/cases`."""

from __future__ import annotations

import re

import numpy as np
import pytest
from case_pages import Case, all_cases

import warploom as wl
from warploom.diagnostics import WarploomError
from warploom.isa.binding.bind import Binding, bind
from warploom.ptx import Module, PtxSyntaxError, parse

_CODE = re.compile(r"//\s*([\w.-]+(?:/[\w:-]+)?)\s*$")


def _expected_codes(case: Case) -> list[str]:
    """The rule codes at the ends of lines that are not comments as a whole."""
    lines = [line for line in case.text.splitlines() if not line.startswith("//")]
    return [found[1] for line in lines if (found := _CODE.search(line))]


def _instruction_codes(module: Module) -> list[str]:
    """The rule codes of the instructions that no form takes, in order."""
    bodies = [function.body for function in module.functions.values() if function.body is not None]
    verdicts = [bind(instruction) for body in bodies for instruction in body.instructions()]
    return [verdict.code for verdict in verdicts if not isinstance(verdict, Binding)]


def check_malformed(case: Case) -> None:
    with pytest.raises(PtxSyntaxError) as caught:
        parse(case.module())
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == _expected_codes(case)


def check_refused(case: Case) -> None:
    expected = _expected_codes(case)
    assert expected, "no line names a rule"
    assert _instruction_codes(parse(case.module())) == expected


def check_traps(case: Case) -> None:
    nothing = np.zeros(case.block, np.uint64)
    args = [] if ".version" in case.text else [nothing, nothing.copy()]
    with pytest.raises(WarploomError) as caught:
        wl.launch(case.module(), grid=1, block=case.block, args=args, shared=case.shared, arch=case.target)
    assert caught.value.diagnostics[0].code == case.words[0]


def check_returns(case: Case) -> None:
    inputs, results, rows = case.table()
    given = np.zeros((max(1, len(inputs)), case.block), np.uint64)
    for lane in range(case.block):
        for k, column in enumerate(inputs):
            given[k, lane] = column.pattern(rows[min(lane, len(rows) - 1)][0][k])
    got = np.zeros((len(results), case.block), np.uint64)
    module = case.module(inputs, results)
    wl.launch(module, grid=1, block=case.block, args=[given, got], shared=case.shared, arch=case.target)
    wrong = [
        f"row {lane + 1}: {column.register} is {int(got[k, lane]):#x}, not {words[1][k]}"
        for lane, words in enumerate(rows)
        for k, column in enumerate(results)
        if not column.holds(words[1][k], int(got[k, lane]))
    ]
    assert not wrong, "\n".join(wrong)


_VERBS = {"malformed": check_malformed, "refused": check_refused, "traps": check_traps, "returns": check_returns}


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.id)
def test_case(case: Case) -> None:
    _VERBS[case.verb](case)
