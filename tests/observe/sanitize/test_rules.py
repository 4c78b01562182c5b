"""Every rule of the sanitizer: its bad example breaks it, its good example breaks nothing, its page is up to date."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import warploom as wl
from warploom.diagnostics import Diagnostic
from warploom.observe.sanitize.rules import Rule, rules
from warploom_lab.pages.reference import texts

ROOT = Path(__file__).resolve().parents[3]
SCHEDULES = ("eager", "lazy", "random:1", "random:2")


def findings(rule: Rule, example: str, schedule: str) -> tuple[Diagnostic, ...]:
    if rule.earlier:
        return findings_of_two(rule, example, schedule)
    buffer = np.zeros(4096, np.uint32)
    tensor = wl.TensorMap.tiled(np.zeros((64, 64), np.float16), (64, 64), swizzle=128)
    return wl.sanitize(
        rule.text(example), grid=rule.cluster, cluster=rule.cluster, block=rule.threads, args=[buffer, tensor],
        schedules=(schedule,), enable=(rule.code,),
    ).findings  # fmt: skip


def findings_of_two(rule: Rule, example: str, schedule: str) -> tuple[Diagnostic, ...]:
    """Return the findings about the kernel of an example and the one that is launched before."""
    with wl.Session(sanitize=True, schedule=schedule) as session:
        args = [buffer := session.array(np.zeros(4096, np.uint32)), wl.TensorMap.tiled(buffer.reshape(64, 64), (8, 32))]
        stream = session.stream()
        session.launch(rule.first(), grid=1, block=rule.threads, args=args, stream=stream)
        session.launch(
            rule.text(example), grid=1, block=rule.threads, args=args, programmatic=rule.programmatic,
            stream=stream if rule.programmatic else None,
        )  # fmt: skip
        return session.findings


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.code)
def test_the_bad_example_breaks_the_rule_under_every_schedule(rule: Rule) -> None:
    for schedule in SCHEDULES:
        found = {each.code: each for each in findings(rule, rule.bad, schedule)}
        assert rule.code in found, schedule
        assert found[rule.code].message
        cure = rule.cure.replace("the register ", "%r5 ")  # the hint names the register
        assert found[rule.code].hint.startswith(cure)


def test_rules_are_switched_on_and_off() -> None:
    rule, buffer = rules()["sanitize.proxy/thread-copy"], np.zeros(4096, np.uint32)
    tensor = wl.TensorMap.tiled(np.zeros((64, 64), np.float16), (64, 64), swizzle=128)
    launch = {"grid": 1, "block": rule.threads, "args": [buffer, tensor]}
    assert wl.sanitize(rule.text(rule.bad), **launch).findings == ()
    found = wl.sanitize(rule.text(rule.bad), **launch, enable=["proxy/thread-copy"]).findings
    assert [(each.code, each.severity.value) for each in found] == [(rule.code, "warning")]
    race = rules()["sanitize.race/shared"]
    assert wl.sanitize(race.text(race.bad), **launch, disable=["sanitize.race/shared"]).findings == ()
    with pytest.raises(wl.UsageError, match=r"unknown rule 'race/share'; expected 'sanitize\.race/shared'"):
        wl.sanitize(race.text(race.bad), **launch, disable=["race/share"])


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.code)
def test_the_good_example_breaks_nothing(rule: Rule) -> None:
    for schedule in SCHEDULES:
        assert [str(each) for each in findings(rule, rule.good, schedule)] == []


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.code)
def test_the_examples_are_legal(rule: Rule) -> None:
    for example in (rule.bad, rule.good):
        found = [each for each in wl.check(rule.text(example)) if not each.code.startswith("warpgroup/")]
        assert [str(each) for each in found] == []


def test_every_code_in_the_source_has_a_page() -> None:
    codes: set[str] = set()
    for path in (ROOT / "src/warploom/observe/sanitize").glob("*.py"):
        codes.update(re.findall(r'"(sanitize\.[a-z-]+/[a-z-]+|sanitize\.deadlock)"', path.read_text(encoding="utf-8")))
    assert codes == set(rules())
    assert {f"docs/rules/{code.replace('/', '-')}.md" for code in codes} <= set(texts())
