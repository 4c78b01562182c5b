"""The record of what MLIR's tools made of operations, and what differs from it here.

    for answer in read(folder): print(differences(answer))

A file of xz-compressed lines of JSON, one an operation, beside `record.json`, which says with which tools and
commands it was made.
"""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from warploom.check import check
from warploom.diagnostics import Severity, WarploomError
from warploom.nvvm import LowerError, lower
from warploom.nvvm.mlir_text import parse_mlir
from warploom.nvvm.to_ptx import to_ptx
from warploom.ptx import parse
from warploom_lab.mlir.ask import TARGETS, instructions
from warploom_lab.mlir.cases import Case
from warploom_lab.mlir.tools import Tools
from warploom_lab.ptxas.assembler import Assembler, provide

HEADER = "record.json"
_ANSWERS = "operations.jsonl.xz"
_PTX_OF_LLC = {"sm_80": (7, 8), "sm_90": (8, 6), "sm_90a": (8, 6)}
_NEWEST_OF_LLC = (8, 8)
_TOGETHER = 16


@dataclass(frozen=True)
class Answer:
    """What was said of one operation.

    `text` and `generic` are mlir-opt's two spellings, `target` the first target that has it here, `ptx` what llc
    makes of it, as `instructions` has it. Where mlir-opt does not take it, `text` is the dialect's own and
    `refused` the complaint. `assembled` are the releases of ptxas that took the PTX made here.
    """

    operation: str
    text: str
    target: str
    generic: str = ""
    ptx: tuple[str, ...] = ()
    refused: str = ""
    assembled: tuple[str, ...] = ()


def together(cases: Sequence[Case]) -> list[tuple[Case, ...]]:
    """The cases by the processes in which they are asked."""
    return [tuple(cases[start : start + _TOGETHER]) for start in range(0, len(cases), _TOGETHER)]


def ask(
    shared: tuple[Tools, Sequence[str]], cases: Sequence[Case], _tell: Callable[[int], object]
) -> list[Answer]:
    """What the tools say of each case, and the assemblers that `provide` finds by these names.

    Errors: UsageError where an assembler cannot be had.
    """
    tools, assemblers = shared
    return list(_ask(tools, [provide(name) for name in assemblers], cases))


def _ask(tools: Tools, assemblers: Sequence[Assembler], cases: Sequence[Case]) -> Iterator[Answer]:
    texts = [case.text for case in cases]
    printed = tools.printed(texts)
    generic = tools.printed(texts, "-mlir-print-op-generic")
    translated = tools.translated(tools.printed(texts, "-convert-nvvm-to-llvm"))
    for case, custom, plain, llvm in zip(cases, printed, generic, translated, strict=True):
        target, ptx = first_lowered(case.text)
        took = tuple(each.release for each in assemblers if each.run(ptx, target)[0] == 0)
        if not custom or not llvm:
            complaint = tools.complaint(case.text) or "it has no LLVM IR"
            yield Answer(case.operation, case.text, target, refused=complaint, assembled=took)
            continue
        made = tools.ptx(llvm, target, _PTX_OF_LLC.get(target, _NEWEST_OF_LLC))
        theirs = tuple(instructions(parse(made))) if made.strip() else ()
        yield Answer(case.operation, custom, target, plain, theirs, "", took)


def first_lowered(text: str) -> tuple[str, str]:
    """The first target that has what a text needs, and its PTX. Errors: LowerError where none has."""
    for target in TARGETS[:-1]:
        try:
            ptx = lower(text, target=target)
        except LowerError:
            continue
        if all(found.severity is Severity.NOTE for found in check(ptx)):
            return target, ptx
    return TARGETS[-1], lower(text, target=TARGETS[-1])


def write(directory: Path, answers: Sequence[Answer], header: Mapping[str, object]) -> None:
    """Write the record."""
    directory.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps({k: v for k, v in asdict(each).items() if v}) + "\n" for each in answers)
    (directory / _ANSWERS).write_bytes(lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME))
    counts = Counter("refused" if each.refused else "agreed on" for each in answers)
    families = Counter(each.operation for each in answers)
    said = {
        **header,
        "operations": len(answers),
        "taken by mlir-opt": counts["agreed on"],
        "by name": dict(sorted(families.items())),
    }
    (directory / HEADER).write_text(json.dumps(said, indent=1) + "\n")


def read(directory: Path) -> Iterator[Answer]:
    """The answers of a record."""
    for line in lzma.decompress((directory / _ANSWERS).read_bytes()).decode().splitlines():
        found = json.loads(line)
        found["ptx"] = tuple(found.get("ptx", ()))
        found["assembled"] = tuple(found.get("assembled", ()))
        yield Answer(**found)


KNOWN = {
    ".s32.b1.b1 ": "MLIR leaves `.and.popc` out, and ptxas refuses its text",
    "cta_group": "MLIR drops the CTA group of a load with a predicate",
}
"""What MLIR's PTX lacks, by a part of the text that tells it, and why what is here is right."""


def differences(answer: Answer) -> Iterator[str]:
    """What is otherwise here: in reading, printing, PTX, or the judgement of `check`."""
    try:
        reading = parse_mlir(answer.text)
        module = to_ptx(reading, answer.target).module
    except WarploomError as error:
        yield f"it is refused: {error}"
        return
    printed = str(reading.module)
    if tokens(printed) != tokens(answer.text):
        yield f"it is printed otherwise: {printed}"
    if answer.generic and not parse_mlir(answer.generic).module.is_structurally_equivalent(reading.module):
        yield "its generic text is another operation"
    yield from (f"{found}" for found in check(module) if found.severity is not Severity.NOTE)
    ours = tuple(instructions(module))
    if answer.ptx and ours != answer.ptx and not is_known(answer, ours):
        yield f"its PTX is {ours}; llc's is {answer.ptx}"


def is_known(answer: Answer, ours: tuple[str, ...]) -> bool:
    """Whether a difference is one of MLIR's known ones."""
    return any(
        mine != theirs and any(part in f"{mine if part == 'cta_group' else theirs}" for part in KNOWN)
        for mine, theirs in zip(ours, answer.ptx, strict=False)
    )


def tokens(text: str) -> list[str]:
    """The operations of the dialect in a text, without blanks, and their values numbered as they come."""
    names: dict[str, str] = {}
    lines = " ".join(line for line in text.splitlines() if "nvvm." in line)
    return [
        names.setdefault(token, f"%{len(names)}") if token.startswith("%") else token
        for token in re.findall(r"%\w+|\w+|[^\w\s]", lines)
    ]
