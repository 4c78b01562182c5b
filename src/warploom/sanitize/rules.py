"""The sanitizer's rules as records: what each finds, why, what cures it, and a kernel that breaks it.

They stand in `rules.toml`, a table for each code. `bad` and `good` are statements of a kernel (`scope` "body")
with shared memory, registers and a buffer declared, or whole modules; `launch` gives grid, block and so on.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule."""

    code: str
    what: str
    why: str
    cure: str
    source: str
    bad: str
    good: str


@cache
def rules() -> dict[str, Rule]:
    """Every rule by its code, in the order of the file."""
    text = files(__package__ or "").joinpath("rules.toml").read_text(encoding="utf-8")
    return {code: Rule(code, **record) for code, record in tomllib.loads(text).items()}
