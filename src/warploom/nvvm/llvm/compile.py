"""Compilation of LLVM IR to PTX, with the choice of the PTX version and readable errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from warploom.diagnostics import Diagnostic, UsageError
from warploom.diagnostics.wording import one_of
from warploom.isa.binding.bind import Binding, bind
from warploom.isa.model.availability import FIRST_VERSION, Target, Version, read_target, unmet_by_rows
from warploom.nvvm.llvm.backend import VERSIONS, BackendError, emit, line_of_function, line_of_only_function
from warploom.ptx import Function, parse

Report = Callable[[int | None, str], Diagnostic]
"""Function from a line of LLVM IR, or None, and a message to an error.

A message that does not begin with "cannot lower" lacks its subject: "is not legal in LLVM IR: …".
"""

_TARGETS = tuple(
    f"sm_{name}"
    for name in (
        "70", "75", "80", "86", "87", "88", "89", "90", "90a", "100", "100f", "100a", "101", "101f", "101a",
        "103", "103f", "103a", "110", "110f", "110a", "120", "120f", "120a", "121", "121f", "121a",
    )
)  # fmt: skip
"""Targets of `lower`: those of LLVM 22 that have tensor cores, without sm_72."""
_HOPPER = 90
_BLACKWELL = 100
_FIRST_VERSION_OF_BLACKWELL = (8, 8)
"""Least PTX version for sm_100 and later.

ptxas 13.0 requires it for block scales without `.scale_vec`; ptxas 13.1 and the manual do not.
"""
_INTRINSIC = re.compile(r"intrinsic %(llvm\.[\w.]+)")
_FUNCTION = re.compile(r"In function: (\S+)")
_CRASH = "LLVM ended without a message; a cause may be types that are nested too deeply"
_CAUSES = (
    (r"inline asm(?: constraint)?:? (?:string: )?'(.*)'|constraint '(.*)'", r" asm .*{0}"),
    (r"address space .*: (\d+)", r"addrspace\({0}\)"),
    (r"Bad inline asm", r'call void asm .*"[^"]*", "='),
    (r'"(\w+)" ordering', r"\b(?:cmpxchg|atomicrmw|load|store|fence)\b.*\b{0}\b"),
    (r'syncscope ("\w+")', r"syncscope\({0}\)"),
    (r"scalable", r"\bvscale\b"),
    (r"aliasee", r"^@.* alias "),
    (r"integer attribute (\w+) in ([\w.]+)", r'"{1}"=".*\b{0}\b'),
    (r"Symbol name", r'^(?:@|define|declare).*?@(?:"[^"]*[^\w.$"][^"]*"|[\w.$]*-)'),
)
"""Pattern of LLVM's message, and of the line of LLVM IR at fault.

Numbers in braces stand for groups of the first pattern.
"""


def check_bounds(text: str, target: Target, report: Report) -> None:
    """Refuse bounds of kernels in LLVM IR that LLVM drops without a message. Errors: CompileError."""
    for name, numbers in re.findall(r'"nvvm\.(maxntid|reqntid|cluster_dim)"="([^"]*)"', text):
        place = _line_with(f'"nvvm.{name}"="{re.escape(numbers)}"', text)
        if numbers.count(",") > 2:
            message = f"is not legal in LLVM IR: 'nvvm.{name}' has {numbers.count(',') + 1} numbers; expected 1 to 3"
            raise CompileError(report(place, message))
        if name == "cluster_dim" and target.number < _HOPPER:
            message = f"cannot be compiled for {target.name}: 'nvvm.cluster_dim' needs sm_90 or later"
            raise CompileError(report(place, message))


def compile_llvm(
    text: str, target: Target, version: Version | None, report: Report, least: Version | None = None
) -> str:
    """Return the PTX of LLVM IR for a target.

    The default version is the first, from `least`, that has all instructions.

    Errors: UsageError lower.target for an unsupported target; BackendError for text that LLVM does not parse or verify;
        CompileError for LLVM IR that LLVM cannot translate to PTX
    """
    if target.name not in _TARGETS:
        raise UsageError(f"cannot lower to {target.name}; expected {one_of(_TARGETS)}", code="lower.target")
    if version is not None:
        return _with_version(_emit(text, target, version, report), version)
    least = least or (_FIRST_VERSION_OF_BLACKWELL if target.number >= _BLACKWELL else VERSIONS[0])
    least = max(target.first_version, least)
    try:
        ptx = emit(text, target, next((each for each in VERSIONS if each >= least), VERSIONS[-1]))
    except BackendError as error:
        if error.stage != "select":
            raise
        ptx = _emit(text, target, VERSIONS[-1], report)
    # LLVM may need a newer version than the first that has the instructions.
    needed = first_version(parse(ptx).functions.values(), target, least)
    for candidate in (each for each in VERSIONS if each >= needed):
        try:
            return emit(text, target, candidate)
        except BackendError:
            continue
    return _with_version(ptx, needed)


def _emit(text: str, target: Target, version: Version, report: Report) -> str:
    known = max(each for each in VERSIONS if each <= max(version, VERSIONS[0]))
    try:
        return emit(text, target, known)
    except BackendError as error:
        if error.stage != "select":
            raise
        raise CompileError(_selection_error(error, text, target, known, report)) from None


class CompileError(Exception):
    """Error of LLVM's code generation, as a diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def _with_version(ptx: str, version: Version) -> str:
    """Return PTX with the version in its header replaced. LLVM 22 does not print every version."""
    return re.sub(r"(?m)^\.version .*$", f".version {version[0]}.{version[1]}", ptx, count=1)


def first_version(functions: Iterable[Function], target: Target, least: Version) -> Version:
    """Return the first PTX version, from `least`, in which a target has all instructions of the functions.

    If there is none, return the highest version that an instruction needs.
    """
    bindings = [
        binding
        for function in functions
        if function.body is not None
        for instruction in function.body.instructions()
        if isinstance(binding := bind(instruction), Binding)
    ]
    known = {*FIRST_VERSION.values(), *(row.ptx for binding in bindings for row in binding.form.rows)}
    for version in sorted({least, *(version for version in known if version >= least)}):
        if all(unmet_by_rows(binding.form.rows_of(binding.slots), target, version) is None for binding in bindings):
            return version
    return max(least, *(min(row.ptx for row in binding.form.rows_of(binding.slots)) for binding in bindings))


# Errors of instruction selection ------------------------------------------------------------------------------


def _selection_error(error: BackendError, text: str, target: Target, version: Version, report: Report) -> Diagnostic:
    """Return the diagnostic for LLVM's error in code generation.

    For an intrinsic, it names the call and the required targets or PTX version.
    """
    message = str(error)
    if (found := _INTRINSIC.search(message)) is None:
        line = next((line for line in message.splitlines() if line.strip()), _CRASH)
        place = line_of_function(f"@{name[1]}", text) if (name := _FUNCTION.search(message)) else None
        for pattern, cause in _CAUSES:
            if place is None and (quoted := re.search(pattern, line)):
                words = [re.escape(word) for word in quoted.groups() if word]
                place = _line_with(cause.format(*words), text)
        place = place or line_of_only_function(text)
        return report(place, f"cannot be compiled for {target.name}: {_sentence(line)}")
    name = found[1]
    needs = _requirement(name, text, target, version)
    wanted = f"expected {needs}" if needs else "no target of LLVM 22 supports it with these operands"
    given = f"for {target.name} and PTX {version[0]}.{version[1]}" if needs.startswith("PTX") else f"for {target.name}"
    return report(line_of(name, text), f"cannot lower the call of '{name}' {given}: {wanted}")


def _line_with(pattern: str, text: str) -> int | None:
    """Return the number of the first line that contains a regular expression."""
    return next((number for number, line in enumerate(text.splitlines(), 1) if re.search(pattern, line)), None)


def _sentence(line: str) -> str:
    if found := re.search(r"Assertion `(.*?)' failed|Assertion `(.*)", line):
        return f"LLVM fails, because it assumes `{found[1] or found[2]}`"
    if "Symbol name" in line:
        return "a symbol has characters that PTX lacks; expected letters, digits, '_', '$' and '.'"
    line = line.removeprefix("LLVM ERROR: ").removeprefix("error: <unknown>:0:0: ").removeprefix("error: ")
    return line.strip().rstrip(".!")


def line_of(name: str, text: str) -> int | None:
    """Return the line of the first call of an intrinsic."""
    call = re.compile(rf"\bcall\b.*@\"?{re.escape(name)}\b")
    return next((number for number, line in enumerate(text.splitlines(), 1) if call.search(line)), None)


def _requirement(name: str, text: str, target: Target, version: Version) -> str:
    """Return the PTX version or the targets that an intrinsic needs, or "" if none is sufficient.

    The function compiles the module for newer PTX versions, then for each target.
    """

    def selects(candidate: Target, number: Version) -> bool:
        try:
            emit(text, candidate, number)
        except BackendError as error:
            return name not in str(error)
        return True

    newer = [each for each in VERSIONS if each > version]
    if newer and selects(target, newer[-1]):
        first = next(each for each in newer if selects(target, each))
        return f"PTX {first[0]}.{first[1]}"
    targets = [each for name in _TARGETS if (each := read_target(name)) and selects(each, VERSIONS[-1])]
    return one_of(_summary(targets)) if targets else ""


def _summary(targets: Sequence[Target]) -> list[str]:
    """Return the names of the targets that extend no other target in the list."""
    kept = [each for each in targets if not any(each.has(other) and each != other for other in targets)]
    return [each.name for each in kept]
