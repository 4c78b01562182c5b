"""Probes: short PTX texts that an assembler judges, each in a kernel of its own.

    Probe("ret;").module("sm_90a", (9, 1))

The names in the statements decide the declarations: `%r` is b32, `%f` f32, `%rd` b64 and so on (REGISTERS); `smem`,
`gmem`, … are variables (VARIABLES); `L0` to `L9` are labels before the end of the kernel; `table`, `proto` and
`targets` are the labels of TABLES. `%f[0:4]` is short for `%f0, %f1, %f2, %f3`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

REGISTERS = {
    "p": "pred",
    "b": "b8",
    "bu": "u8",
    "bs": "s8",
    "h": "b16",
    "uh": "u16",
    "sh": "s16",
    "hf": "f16",
    "r": "b32",
    "u": "u32",
    "s": "s32",
    "f": "f32",
    "x": "f16x2",
    "rd": "b64",
    "ud": "u64",
    "sd": "s64",
    "d": "f64",
    "rq": "b128",
}
"""Type of the registers with each prefix."""

VARIABLES = {
    "smem": ".shared .align 128 .b8 smem[1024];",
    "gmem": ".global .align 128 .b8 gmem[1024];",
    "cmem": ".const .align 128 .b8 cmem[1024];",
    "lmem": ".local .align 128 .b8 lmem[1024];",
}
TABLES = {
    "table": (".branchtargets", "L0, L1"),
    "proto": (".callprototype", "_ ()"),
    "targets": (".calltargets", "callee"),
}
"""Directive and its content for each label. The directives precede the statements of a probe."""
_IN_ENTRY = ("smem", "lmem")
_PARAMETERS = "(.param .align 64 .b8 kparam[128])"
_CALLEE = ".func callee() { ret; }"
_CALLEE_OF_ONE = ".func (.reg .b32 %result) callee1(.reg .b32 %argument) { ret; }"

_RANGE = re.compile(r"%([a-z]+)\[(\d+):(\d+)\]")
_REGISTER = re.compile(r"%([a-z]+)(\d+)\b")
_NAME = re.compile(r"(?<![\w.%$])[A-Za-z_]\w*")
_LABEL = re.compile(r"L\d")


@dataclass(frozen=True, slots=True, order=True)
class Probe:
    """Short PTX text that an assembler judges."""

    text: str  # statements
    directives: str = ""  # between the header and the body of the kernel
    prelude: str = ""  # declarations before the kernel

    @property
    def statements(self) -> str:
        """Statements of the text, with ranges of registers such as `%f[0:4]` written out."""
        return _RANGE.sub(_write_out, self.text)

    @property
    def key(self) -> str:
        """Declarations, directives and statements in one line of text."""
        return f"{self.prelude} | {self.directives} | {self.text}" if self.directives or self.prelude else self.text

    @classmethod
    def of_key(cls, key: str) -> Probe:
        """Return the probe with a `key`."""
        prelude, bar, rest = f" {key}".partition(" | ")
        if not bar:
            return cls(key)
        directives, _, text = rest.partition(" | ")
        return cls(text, directives, prelude.strip())

    def module(self, target: str, version: tuple[int, int]) -> str:
        """Return a PTX module that contains only this text."""
        return write_module((self,), target, version)[0]


def write_module(probes: Sequence[Probe], target: str, version: tuple[int, int]) -> tuple[str, tuple[int, ...]]:
    """Return a module with a kernel for each PTX text in `probes`, and the owner of each line.

    The owner is the index of the text on the line, or -1.
    """
    written = [(probe, probe.statements) for probe in probes]
    names = set[str]().union(*(_NAME.findall(statements) for _, statements in written))
    names |= {name for table in names & TABLES.keys() for name in _NAME.findall(TABLES[table][1])}
    lines = [f".version {version[0]}.{version[1]}", f".target {target}", ".address_size 64"]
    lines += [text for name, text in VARIABLES.items() if name in names and name not in _IN_ENTRY]
    lines += [text for name, text in (("callee", _CALLEE), ("callee1", _CALLEE_OF_ONE)) if name in names]
    lines += [prelude for prelude in dict.fromkeys(probe.prelude for probe in probes) if prelude]
    owners = [-1] * len(lines)
    for k, (probe, statements) in enumerate(written):
        entry = _entry(k, probe, statements)
        lines += entry
        owners += [k] * len(entry)
    return "\n".join(lines) + "\n", tuple(owners)


def _entry(k: int, probe: Probe, statements: str) -> list[str]:
    tables = [
        f"{name}: {directive} {content};"
        for name, (directive, content) in TABLES.items()
        if name in _NAME.findall(statements) and f"{name}:" not in statements
    ]
    used = dict.fromkeys(_NAME.findall(" ".join([*tables, statements])))
    parameters = _PARAMETERS if "kparam" in used else "()"
    highest: dict[str, int] = {}
    for prefix, index in _REGISTER.findall(statements):
        if prefix in REGISTERS:
            highest[prefix] = max(highest.get(prefix, 0), int(index))
    declared = [f".reg .{REGISTERS[prefix]} %{prefix}<{last + 1}>;" for prefix, last in highest.items()]
    declared += [VARIABLES[name] for name in _IN_ENTRY if name in used]
    declared += tables
    labels = [f"{name}:" for name in used if _LABEL.fullmatch(name) and f"{name}:" not in statements]
    return [
        f".visible .entry e{k}{parameters} {probe.directives} {{ {' '.join(declared)}",
        *statements.splitlines(),
        *labels,
        "ret; }",
    ]


def _write_out(found: re.Match[str]) -> str:
    return ", ".join(f"%{found[1]}{k}" for k in range(int(found[2]), int(found[3])))
