"""Rules of the sanitizer, read from `rules.toml`.

The kernel of an example consists of `setup` and then `bad` or `good`. It has the declarations of `example.ptx`.
"""

# Callers may pass values of any type, whatever the annotations state.
# pyright: reportUnnecessaryIsInstance=false

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

from warploom.diagnostics import Severity, UsageError

_PREFIX = "sanitize."


@dataclass(frozen=True, slots=True)
class Rule:
    """Rule of the sanitizer.

    `what` is the finding, `why` the reason, and `cure` the edit that fixes it. The statements `bad` violate the rule,
    and `good` obey it. With `tensor`, the statements of `tensor_example.ptx` precede both. `threads` is the number of
    threads in a CTA, and `cluster` the number of CTAs in a cluster.

    A rule about two launches has the statements `earlier` of a kernel that is launched first, on the same buffer. If
    `programmatic`, the kernel of the example is a programmatic launch on the same stream. Otherwise it is launched on
    another stream.

    A rule that is not `enabled` is off unless a launch enables it.

    Conflicts with the same `remedy` may have one cause. `place` states where the edit belongs: "between" the two
    accesses, or "before" or "after" the later access. With "object", the conflicts of one object, such as an mbarrier,
    have one cause, and the edit belongs to one of its uses. The rule with the highest `level` describes the cause.
    `operation` states which access belongs to an asynchronous operation that may be incomplete: "other" for the earlier
    access, "pc" for the later one, or neither if empty.
    `explains` lists the traps and deadlocks that may follow. `insert` has the instructions of the edit, unless they
    depend on the kernel. `template` has instructions with names in braces for parts of the kernel. `side` names the
    threads that execute the edit: those of the "earlier" access, or "all" of the CTA. If `names_phases`, the hint
    also lists the lines of all waits for phases and of all arrivals, because the edit may belong to one of them. With a
    `scope`, releases and acquires may be too weak, and the right ones have at least this scope. `words` maps words of
    the opcode to words that replace them, or to "".
    """

    code: str
    what: str
    why: str
    cure: str
    source: str
    bad: str
    good: str
    setup: str = ""
    earlier: str = ""
    programmatic: bool = False
    severity: Severity = Severity.ERROR
    enabled: bool = True
    remedy: str = ""
    place: str = ""
    level: int = 0
    insert: str = ""
    template: str = ""
    side: str = ""
    names_phases: bool = False
    scope: str = ""
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    operation: str = ""
    explains: tuple[str, ...] = ()
    threads: int = 64
    cluster: int = 1
    tensor: bool = False

    def text(self, example: str) -> str:
        """Return a PTX module with the statements `example`, which are `bad` or `good`."""
        return _module(self.before + example, "sm_100a" if self.tensor else "sm_90a")

    @property
    def before(self) -> str:
        """Statements before both examples."""
        return (_read("tensor_example.ptx") if self.tensor else "") + self.setup

    def first(self) -> str:
        """Return a PTX module with the statements `earlier`."""
        return _module(self.earlier)


def _module(statements: str, target: str = "sm_90a") -> str:
    """Return a PTX module with a kernel for `target` that has the given statements."""
    lines = statements.strip().split("\n")
    indented = "\n".join(line if line.endswith(":") else f"    {line}" for line in lines)
    return _read("example.ptx").replace("    // EXAMPLE", indented).replace("sm_90a", target)


@cache
def rules() -> dict[str, Rule]:
    """Return every rule by its code."""
    return {code: _rule(code, record) for code, record in tomllib.loads(_read("rules.toml")).items()}


def _rule(code: str, record: dict[str, Any]) -> Rule:
    record["severity"] = Severity(record.get("severity", "error"))
    return Rule(code, **record)


def active_rules(enable: Sequence[str] = (), disable: Sequence[str] = ()) -> frozenset[str]:
    """Return the codes of the rules that are on by default or in `enable`, except those in `disable`.

    A code may lack its prefix "sanitize.".

    Errors: UsageError launch.rule for an unknown code.
    """
    known = {code.removeprefix(_PREFIX): code for code in rules()}

    def codes(option: str, names: Sequence[str]) -> set[str]:
        is_sequence = isinstance(names, Sequence) and not isinstance(names, str)
        if not is_sequence or not all(isinstance(name, str) for name in names):
            raise UsageError(f"{option} is {names!r}; expected a sequence of rule codes", code="launch.rule")
        for name in names:
            if name.removeprefix(_PREFIX) not in known:
                near = get_close_matches(name.removeprefix(_PREFIX), known, 1)
                expected = f"'{_PREFIX}{near[0]}'" if near else "a rule of docs/rules"
                raise UsageError(f"{option} has the unknown rule '{name}'; expected {expected}", code="launch.rule")
        return {known[name.removeprefix(_PREFIX)] for name in names}

    defaults = {code for code, rule in rules().items() if rule.enabled}
    return frozenset((defaults | codes("enable", enable)) - codes("disable", disable))


def _read(name: str) -> str:
    return files(__package__ or "").joinpath(name).read_text(encoding="utf-8")


def pages() -> list[tuple[str, str, str]]:
    """Return the code, the description and the Markdown page of every rule."""
    return [(rule.code, rule.what, page(rule)) for rule in rules().values()]


def page(rule: Rule) -> str:
    """Return the Markdown page of a rule."""
    where = "on the same stream, before a programmatic launch" if rule.programmatic else "on another stream"
    heading = f"## Kernel that is launched first, {where}"
    earlier = f"{heading}\n\n```ptx\n{rule.earlier.strip()}\n```\n\n" if rule.earlier else ""
    setup = f"## Statements before both examples\n\n```ptx\n{rule.before.strip()}\n```\n\n" if rule.before else ""
    launch = f"{rule.threads} threads" + (f" and clusters of {rule.cluster} CTAs" if rule.cluster > 1 else "")
    off = "" if rule.enabled else f"\n\nThis rule is off by default. The option `--enable {rule.code}` enables it."
    return (
        f"# {rule.code}\n\n{rule.what}\n\n{rule.why.strip()}{off}\n\n"
        f"Severity: {rule.severity.value}.\n\nTo fix it: {rule.cure}.\n\n"
        f"The examples are statements of a kernel with {launch}. The examples of all sanitizer rules have\n"
        "these registers, and most examples need only a few of them:\n\n"
        "- `%r0` has the index of the thread, and `%r2` the rank of the CTA in its cluster.\n"
        "- `%p0` is true in thread 0 only.\n"
        "- `%r3` and `%r4` have addresses of shared memory: a buffer at `%r3`, and an mbarrier at `%r4`.\n"
        "- `%rd0` has the address of a buffer in global memory, and `%rd1` the address of a tensor map.\n\n"
        f"{earlier}{setup}## Bad\n\n```ptx\n{rule.bad.strip()}\n```\n\n## Good\n\n```ptx\n{rule.good.strip()}\n```\n\n"
        f"Source: {rule.source}\n"
    )
