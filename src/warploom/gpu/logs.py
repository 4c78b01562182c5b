"""An assembler's log as findings, each at its line, and as what the kernels of a module use."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from warploom.diagnostics import Diagnostic, Severity, Source, Span
from warploom.gpu.rules import rule_of_remark, rules

_LINE = re.compile(r"ptxas (?:[^,;]*, line (\d+); )?(fatal|error|warning|info)\s*: (.*)")
_REMARK = re.compile(r"\((C\d+)\) ?(.*)")
_IN_FUNCTION = re.compile(r"'([^']+)'\s*$")
_KERNEL = re.compile(r"(?:Compiling entry function '|Function properties for )([\w$]+)")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")
_BARRIERS = re.compile(r"used (\d+) barriers")
_AROUND = re.compile(r"in around line (\d+)")
_PERFORMANCE = "Potential Performance Loss: "
_NEWER = re.compile(r"Unsupported \.version (\S+); current version is '([^']*)'")


@dataclass(frozen=True, slots=True)
class Resources:
    """What a kernel takes of a multiprocessor.

    Units: `registers` of a thread; `stack`, `spill_stores` and `spill_loads` in bytes of a thread, `shared` in
        bytes of a CTA, without what a launch adds.
    """

    registers: int = 0
    stack: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    shared: int = 0
    barriers: int = 0


def findings(log: str, source: Source) -> tuple[Diagnostic, ...]:
    """What an assembler complains of, and its remarks with what they mean: gpu.assembler, gpu.c7508 and such."""
    found: list[Diagnostic] = []
    for line in log.splitlines():
        said = _LINE.search(line)
        if said is None:
            continue
        severity, words = said[2], said[3].strip()
        remark = _REMARK.match(words)
        span = _line_span(source, int(said[1])) if said[1] else None
        if severity in ("fatal", "error"):
            hint = _mended(words)
            found.append(Diagnostic("gpu.assembler", Severity.ERROR, words, source, span, hint))
        elif remark is not None:
            found.append(_explained(remark[1], remark[2], source, span))
        elif severity == "warning":
            found.append(Diagnostic("gpu.assembler", Severity.WARNING, words, source, span))
    return tuple(found)


def _mended(words: str) -> str:
    if newer := _NEWER.search(words):
        return (
            f"this assembler knows PTX {newer[2]}: install a newer one (pip install nvidia-cuda-nvcc) and choose "
            'it with assembler="ptxas", or write the kernel in the older version'
        )
    return ""


def _explained(number: str, words: str, source: Source, span: Span | None) -> Diagnostic:
    """A remark: the assembler's words, and what the rule of its number knows."""
    rule = rule_of_remark(number)
    text = words.replace(_PERFORMANCE, "").strip()
    name = _IN_FUNCTION.search(text)
    if around := _AROUND.search(text):
        span = _line_span(source, int(around[1]))
    place = span or (_name_span(source, name[1]) if name is not None else None)
    code, hint = ("gpu.assembler", "") if rule is None else (rule.code, rule.cure)
    return Diagnostic(code, Severity.WARNING, f"{number}: {text}", source, place, hint)


def spills(name: str, used: Resources, source: Source) -> tuple[Diagnostic, ...]:
    """The finding that a kernel spills; none where it does not."""
    if not used.spill_stores and not used.spill_loads:
        return ()
    rule = rules()["gpu.spills"]
    message = (
        f"kernel {name} uses {used.registers} registers and spills: {used.spill_stores} bytes stored and"
        f" {used.spill_loads} loaded by each thread"
    )
    span = _name_span(source, name)
    return (Diagnostic(rule.code, Severity.WARNING, message, source, span, rule.cure),)


def resources(log: str) -> dict[str, Resources]:
    """What each kernel of a module uses, by name, as far as a verbose log says it."""
    found: dict[str, Resources] = {}
    name = ""
    for line in log.splitlines():
        if kernel := _KERNEL.search(line):
            name = kernel[1]
        known = found.get(name, Resources())
        if frame := _FRAME.search(line):
            stack, stores, loads = map(int, frame.groups())
            found[name] = replace(known, stack=stack, spill_stores=stores, spill_loads=loads)
        elif used := _USED.search(line):
            shared, barriers = _SHARED.search(line), _BARRIERS.search(line)
            found[name] = replace(
                known,
                registers=int(used[1]),
                shared=int(shared[1]) if shared else 0,
                barriers=int(barriers[1]) if barriers else 0,
            )
    return found


def _line_span(source: Source, line: int) -> Span:
    lines = source.text.splitlines(keepends=True)
    start = sum(len(text) for text in lines[: line - 1])
    shown = lines[line - 1] if 0 < line <= len(lines) else ""
    return Span(start + len(shown) - len(shown.lstrip()), start + len(shown.rstrip()))


def _name_span(source: Source, name: str) -> Span | None:
    """Where a function is declared."""
    found = re.search(rf"\.(?:entry|func)\b[^;{{]*?(?<![\w$])({re.escape(name)})(?![\w$])", source.text)
    return Span(*found.span(1)) if found is not None else None
