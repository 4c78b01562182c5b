"""The rules as records: what each does, why, an example that breaks it and one that does not.

They stand in the TOML files beside this one, a table for each rule code. `what`, `why`, `bad`, `good` and
`source` are sentences and examples. `scope` says what an example is: "body" (statements of a kernel that
has the usual registers declared), "module" (what follows the head) or "text" (everything). `repeat` writes
the bad example so many times. Codes of forms are in one page for all: there `emits` is the code that the
example gives.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from warploom.isa.model.form import forms

_HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"
_BODY = """\
.visible .entry example()
{{
    .reg .pred %p<16>;
    .reg .b16 %h<16>;
    .reg .b32 %r<64>;
    .reg .f32 %f<64>;
    .reg .b64 %rd<16>;
    .reg .f64 %d<16>;
{}
    ret;
}}
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, or the rules that all forms have alike."""

    code: str
    what: str
    why: str
    bad: str
    good: str
    source: str
    scope: str = "body"
    repeat: int = 1
    emits: str = ""

    def text(self, example: str) -> str:
        """An example as a whole text."""
        if self.scope == "text":
            return example + "\n"
        if self.scope == "module":
            return _HEAD + example + "\n"
        return _HEAD + _BODY.format("\n".join(f"    {line}" for line in example.strip().split("\n")))


@cache
def rules() -> dict[str, Rule]:
    """Every rule by its code, in the order of the files."""
    found: dict[str, Rule] = {}
    for name in ("syntax", "module", "instructions", "bodies", "tolerated"):
        text = files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
        found |= {code: Rule(code, **record) for code, record in tomllib.loads(text).items()}
    return found


def rule_of(code: str) -> Rule | None:
    """The rule of a code; for a code of a form, the one that all forms have alike."""
    known = rules().get(code)
    if known is not None:
        return known
    name, _, part = code.partition("/")
    form = next((form for form in forms() if form.name == name), None)
    if form is None or not part:
        return None
    if part in ("operands", "extra", "target", "ptx"):
        return rules()[f"<form>/{part}"]
    if part in form.operands:
        return rules()["<form>/<operand>"]
    return rules()["<form>/<slot>"] if part in form.slot_names else None
