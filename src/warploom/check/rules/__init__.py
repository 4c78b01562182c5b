"""Rules of the checker: description, reason, and examples with and without the error.

The TOML files of this folder contain the rules.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from warploom.isa.model.form import forms

_HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"
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
    """Record of one rule, or of a rule that every Form has."""

    code: str
    what: str  # the rule
    why: str  # the reason
    cure: str  # the fix
    bad: str  # example with the error
    good: str  # example without the error
    source: str
    scope: str = "body"  # examples are statements ("body"), items ("module") or a whole "text"
    repeat: int = 1  # how often the bad example is repeated
    emits: str = ""  # code that the bad example gives, if every Form has the rule

    def text(self, example: str) -> str:
        """Return `example`, which is `bad` or `good`, as a whole PTX text."""
        if self.scope == "text":
            return example + "\n"
        if self.scope == "module":
            return _HEADER + example + "\n"
        return _HEADER + _BODY.format("\n".join(f"    {line}" for line in example.strip().split("\n")))


@cache
def rules() -> dict[str, Rule]:
    """Return every rule by its code, in the order of the files."""
    found: dict[str, Rule] = {}
    for name in ("syntax", "module", "instructions", "bodies", "tolerated"):
        text = files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
        found |= {code: Rule(code, **record) for code, record in tomllib.loads(text).items()}
    return found


def rule_of(code: str) -> Rule | None:
    """Return the rule of a code, or None. For the code of a Form, return the rule that all Forms share."""
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
