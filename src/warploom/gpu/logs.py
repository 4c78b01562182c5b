"""Remarks and resources of kernels, read from the log of an assembler."""

import re
from dataclasses import dataclass, replace

from warploom.diagnostics import Diagnostic, Severity, Source, Span
from warploom.diagnostics.symbols import readable_name
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
_NEWER_HINT = (
    "this assembler supports PTX {}: install a newer one (pip install nvidia-cuda-nvcc) and select it with "
    'assembler="ptxas", or write the kernel in the older version'
)


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources of a kernel.

    Units: `registers` per thread; `stack`, `spill_stores` and `spill_loads` in bytes per thread; `shared` in bytes
        per CTA, without dynamic shared memory; `barriers` per CTA.
    """

    registers: int = 0
    stack: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    shared: int = 0
    barriers: int = 0


def findings(log: str, source: Source) -> tuple[Diagnostic, ...]:
    """Return the errors, warnings and remarks in the log of an assembler as diagnostics.

    `source` is the assembled text. The code of a diagnostic is gpu.assembler, or that of the rule for the remark, such
    as gpu.c7508 for C7508.
    """
    found: list[Diagnostic] = []
    for line in log.splitlines():
        entry = _LINE.search(line)
        if entry is None:
            continue
        severity, message = entry[2], entry[3].strip()
        remark = _REMARK.match(message)
        span = _line_span(source, int(entry[1])) if entry[1] else None
        if severity in ("fatal", "error"):
            newer = _NEWER.search(message)
            hint = _NEWER_HINT.format(newer[2]) if newer else ""
            found.append(Diagnostic("gpu.assembler", Severity.ERROR, message, source, span, hint))
        elif remark is not None:
            found.append(_explained(remark[1], remark[2], source, span))
        elif severity == "warning":
            found.append(Diagnostic("gpu.assembler", Severity.WARNING, message, source, span))
    return tuple(found)


def _explained(number: str, message: str, source: Source, span: Span | None) -> Diagnostic:
    """Return a remark of the assembler as a diagnostic. Its hint comes from the rule for the remark."""
    rule = rule_of_remark(number)
    text = message.replace(_PERFORMANCE, "").strip()
    name = _IN_FUNCTION.search(text)
    if around := _AROUND.search(text):
        span = _line_span(source, int(around[1]))
    place = span or (_name_span(source, name[1]) if name is not None else None)
    code, hint = ("gpu.assembler", "") if rule is None else (rule.code, rule.cure)
    return Diagnostic(code, Severity.WARNING, f"{number}: {text}", source, place, hint)


def spills(name: str, used: Resources, source: Source) -> tuple[Diagnostic, ...]:
    """Return the diagnostic gpu.spills, or () if the kernel `name` does not spill registers."""
    if not used.spill_stores and not used.spill_loads:
        return ()
    rule = rules()["gpu.spills"]
    message = (
        f"kernel {readable_name(name)} uses {used.registers} registers and spills: each thread stores "
        f"{used.spill_stores} bytes and loads {used.spill_loads}"
    )
    return (Diagnostic(rule.code, Severity.WARNING, message, source, _name_span(source, name), rule.cure),)


def resources(log: str) -> dict[str, Resources]:
    """Return the resources of each kernel in the assembler's verbose log, by kernel name."""
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
            counts = (each.search(line) for each in (_SHARED, _BARRIERS))
            shared, barriers = (int(count[1]) if count else 0 for count in counts)
            found[name] = replace(known, registers=int(used[1]), shared=shared, barriers=barriers)
    return found


def _line_span(source: Source, line: int) -> Span:
    lines = source.text.splitlines(keepends=True)
    start = sum(len(text) for text in lines[: line - 1])
    shown = lines[line - 1] if 0 < line <= len(lines) else ""
    return Span(start + len(shown) - len(shown.lstrip()), start + len(shown.rstrip()))


def _name_span(source: Source, name: str) -> Span | None:
    found = re.search(rf"\.(?:entry|func)\b[^;{{]*?(?<![\w$])({re.escape(name)})(?![\w$])", source.text)
    return Span(*found.span(1)) if found is not None else None
