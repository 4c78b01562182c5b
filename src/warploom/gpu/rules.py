"""Rules of launches on a GPU, as records of `rules.toml`."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_WHEN = {
    "open": "The kernel is not launched.",
    "call": "The kernel is not launched.",
    "assembled": "Warploom reports this when the kernel is assembled, before the kernel runs.",
    "run": "This fault ends the run.",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """Rule for launches on a GPU, with the texts of its documentation page.

    `what` describes the violation, `why` gives the reason, and `cure` is the remedy. `when` is the time of the check:
    "open" (the GPU is opened), "call" (launch), "assembled" (assembly) or "run" (execution). `says` summarizes the
    remark of ptxas for this rule, or is empty.
    """

    code: str
    when: str
    what: str
    why: str
    cure: str
    source: str
    says: str = ""


@cache
def rules() -> dict[str, Rule]:
    """Return the rules by code, in the order of the file."""
    text = files(__package__ or "").joinpath("rules.toml").read_text(encoding="utf-8")
    return {code: Rule(code, **record) for code, record in tomllib.loads(text).items()}


def rule_of_remark(number: str) -> Rule | None:
    """Return the rule for an assembler's remark such as "C7508", or None."""
    return rules().get(f"gpu.{number.lower()}")


def page(rule: Rule) -> str:
    """Return the documentation page of a rule as Markdown."""
    remark = f"This is remark {rule.code[4:].upper()} of ptxas. In short: {rule.says}.\n\n" if rule.says else ""
    return (
        f"# {rule.code}\n\n{rule.what}\n\n{rule.why}\n\n{remark}{_WHEN[rule.when]}\n\n"
        f"To fix it: {rule.cure}.\n\nSource: {rule.source}\n"
    )


def pages() -> list[tuple[str, str, str]]:
    """Return the code, the summary and the page of every rule."""
    return [(rule.code, rule.what, page(rule)) for rule in rules().values()]
