"""Rules of the emulator, read from `traps.toml`."""

import tomllib
from functools import cache
from importlib.resources import files

from warploom.lazy_dataclass import dataclass

_WHEN = {
    "load": "The emulator refuses the kernel and runs no instruction.",
    "run": (
        "The run ends with an error. The caller's arrays stay as they were before the run, and the attribute `arrays` "
        "of the error has their contents at the fault. In `wl.sanitize` and with `wl.launch(..., raises=False)`, the "
        "fault is a finding."
    ),
    "warning": "This finding is a warning. The run continues.",
}
_MODULE = "The examples are declarations and functions after the header of a module."
_WHOLE = "The examples are modules whose kernel runs with 128 threads."
_BODY = """The examples are statements of a kernel with 128 threads. `%r0` is the index of the thread. The parameter
`out` and `%rd0` are the address of 128 elements of 32 bits, and `%rd1` is the address of the thread's element."""


@dataclass(frozen=True, slots=True)
class TrapRule:
    """Rule of the emulator. A kernel that violates the rule is refused or stopped.

    `when` is "load" for a check before the kernel starts, "run" for a check during the run, and "warning" for a finding
    that does not end the run.
    """

    code: str
    when: str
    what: str
    why: str
    cure: str
    source: str
    bad: str = ""  # example, or empty
    good: str = ""


@cache
def traps() -> dict[str, TrapRule]:
    """Return the rules by their codes, in the order of `traps.toml`."""
    text = files(__package__ or "").joinpath("traps.toml").read_text(encoding="utf-8")
    return {code: TrapRule(code, **record) for code, record in tomllib.loads(text).items()}


def page(rule: TrapRule) -> str:
    """Return the documentation page of a rule as Markdown."""
    where = _WHOLE if ".version" in rule.bad else _MODULE if ".entry" in rule.bad else _BODY
    shown = f"{where}\n\n## Bad\n\n```ptx\n{rule.bad.strip()}\n```\n\n## Good\n\n```ptx\n{rule.good.strip()}\n```\n\n"
    return (
        f"# {rule.code}\n\n{rule.what}\n\n{rule.why}\n\n{_WHEN[rule.when]}\n\n"
        f"To fix it: {rule.cure}.\n\n{shown if rule.bad else ''}Source: {rule.source}\n"
    )


def pages() -> list[tuple[str, str, str]]:
    """Return the code, the summary and the documentation page of each rule."""
    return [(rule.code, rule.what, page(rule)) for rule in traps().values()]
