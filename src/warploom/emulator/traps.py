"""What the machine says of a kernel that it refuses or stops, as records: they stand in `traps.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_WHEN = {
    "load": "The kernel is refused before anything runs.",
    "run": "The run ends there; under `sanitize` it is a finding among others.",
}


@dataclass(frozen=True, slots=True)
class TrapRule:
    """One code of the machine. `when` is "load" or "run"."""

    code: str
    when: str
    what: str
    why: str
    cure: str
    source: str


@cache
def traps() -> dict[str, TrapRule]:
    """Every code of the machine, in the order of the file."""
    text = files(__package__ or "").joinpath("traps.toml").read_text(encoding="utf-8")
    return {code: TrapRule(code, **record) for code, record in tomllib.loads(text).items()}


def page(rule: TrapRule) -> str:
    """The page of a code."""
    return (
        f"# {rule.code}\n\n{rule.what}\n\n{rule.why}\n\n{_WHEN[rule.when]}\n\n"
        f"What cures it: {rule.cure}.\n\nSource: {rule.source}\n"
    )


def pages() -> list[tuple[str, str, str]]:
    """Code, what it is, and page of every one."""
    return [(rule.code, rule.what, page(rule)) for rule in traps().values()]
