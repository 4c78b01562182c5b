"""What is said of a launch on a GPU, as records: they stand in `rules.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_WHEN = {
    "open": "Nothing is launched.",
    "call": "The launch is refused.",
    "assembled": "It is found when the kernel is assembled, before anything runs.",
    "run": "The run ends there.",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One code. `when` is "open", "call", "assembled" or "run"; `says` is the remark that it stands for, in short."""

    code: str
    when: str
    what: str
    why: str
    cure: str
    source: str
    says: str = ""


@cache
def rules() -> dict[str, Rule]:
    """Every code, in the order of the file."""
    text = files(__package__ or "").joinpath("rules.toml").read_text(encoding="utf-8")
    return {code: Rule(code, **record) for code, record in tomllib.loads(text).items()}


def rule_of_remark(number: str) -> Rule | None:
    """The rule of an assembler's remark, by its number ("C7508")."""
    return rules().get(f"gpu.{number.lower()}")


def page(rule: Rule) -> str:
    """The page of a code."""
    said = f"ptxas says so as ({rule.code[4:].upper()}): {rule.says}.\n\n" if rule.says else ""
    return (
        f"# {rule.code}\n\n{rule.what}\n\n{rule.why}\n\n{said}{_WHEN[rule.when]}\n\n"
        f"What cures it: {rule.cure}.\n\nSource: {rule.source}\n"
    )


def pages() -> list[tuple[str, str, str]]:
    """Code, what it is, and page of every one."""
    return [(rule.code, rule.what, page(rule)) for rule in rules().values()]
