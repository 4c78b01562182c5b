"""Every rule's page: its bad example breaks it and nothing else does, its good example breaks nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import warploom as wl
from warploom.check.pages import all_pages, rule_page
from warploom.check.ptxas.tolerated import TOLERATED
from warploom.check.rules import Rule, rule_of, rules
from warploom.emulator.traps import pages as machine_pages
from warploom.gpu.rules import pages as gpu_pages
from warploom.isa.model.form import forms
from warploom.observe.sanitize.rules import pages as sanitizer_pages
from warploom.ptx import PtxSyntaxError

ROOT = Path(__file__).resolve().parents[2]
BESIDES = {"ptx.syntax/comment": "ptx.syntax/expected", "ptx.syntax/limit": "ptx.syntax/expected"}


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.code)
def test_the_bad_example_breaks_the_rule_alone(rule: Rule) -> None:
    codes = {found.code for found in wl.check(rule.text(rule.bad * rule.repeat))}
    assert codes - {BESIDES.get(rule.code, "")} == {rule.emits or rule.code}


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.code)
def test_the_good_example_breaks_nothing(rule: Rule) -> None:
    assert list(wl.check(rule.text(rule.good))) == []


def test_every_code_in_the_source_has_a_page() -> None:
    codes: set[str] = set()
    for path in (ROOT / "src/warploom/check").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        codes.update(
            re.findall(
                r'"((?:module|variable|function|directive|name|statement|warpgroup|registers)/[\w-]+)"', text
            )
        )
    assert codes
    assert codes <= set(rules())
    assert {f"tolerated/{tolerance.name}" for tolerance in TOLERATED} <= set(rules())


def test_every_code_of_a_form_has_a_page() -> None:
    for form in forms():
        parts = [word.slot or word.literal for word in form.syntax.words[1:]]
        for part in (*parts, *form.columns, *form.operands, "operands", "target", "ptx"):
            assert rule_of(f"{form.name}/{part}") is not None, (form.name, part)
    assert rule_of("mma.half/nothing") is None
    assert rule_of("nothing") is None


def test_the_tolerated_list_is_short() -> None:
    text = (ROOT / "src/warploom/check/ptxas/tolerated.py").read_text(encoding="utf-8")
    listed = text[text.index("TOLERATED = (") :].splitlines()
    assert len(listed) < 40
    assert all(tolerance.reason and tolerance.evidence for tolerance in TOLERATED)


PAGES = all_pages([*sanitizer_pages(), *machine_pages(), *gpu_pages()])


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_not_stale(name: str) -> None:
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == PAGES[name], "run python tools/make_docs.py"


def test_no_page_is_left_over() -> None:
    there = {
        f"{folder}/{path.name}" for folder in ("isa", "rules") for path in (ROOT / "docs" / folder).iterdir()
    }
    assert there == set(PAGES)


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.code)
def test_a_page_says_what_why_and_where_from(rule: Rule) -> None:
    page = rule_page(rule)
    for part in (rule.what, rule.why, rule.bad.strip("\n"), rule.good.strip("\n"), rule.source):
        assert part.strip()
        assert part in page
    assert rule.what != rule.why
    assert rule.bad != rule.good


def test_every_code_of_a_syntax_error_has_a_page() -> None:
    codes = set(re.findall(r"ptx\.syntax/[\w-]+", PtxSyntaxError.__doc__ or ""))
    assert len(codes) > 5
    assert codes == {code for code in rules() if code.startswith("ptx.syntax/")}
