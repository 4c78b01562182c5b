"""Record of MLIR's results for operations, and the comparison of Warploom's results with it.

    for answer in read(folder): print(*differences(answer))

The record is a file of xz-compressed JSON lines, one for each operation.
"""

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
from warploom.nvvm.dialect import Operation
from warploom.nvvm.mlir_text import ParsedModule, parse_mlir
from warploom.ptx import parse
from warploom_lab.mlir.cases import Case
from warploom_lab.mlir.normalized import TARGETS, instructions
from warploom_lab.mlir.tools import Tools
from warploom_lab.ptxas.assembler import Assembler, provide

HEADER = "record.json"
_ANSWERS = "operations.jsonl.xz"
_NEWEST_OF_LLC = (9, 0)
_BATCH = 16  # operations in one process


@dataclass(frozen=True)
class Answer:
    """Results of MLIR's tools and of ptxas for one operation."""

    operation: str
    text: str  # custom syntax of mlir-opt, or of Warploom if mlir-opt refuses the operation
    target: str  # first target to which Warploom lowers the operation
    version: str  # PTX version of Warploom's PTX, which llc generates, too
    generic: str = ""  # generic syntax of mlir-opt
    ptx: tuple[str, ...] = ()  # of llc, in normal form
    refused: str = ""  # message of mlir-opt
    assembled: tuple[str, ...] = ()  # releases of ptxas that accept Warploom's PTX


def batches(cases: Sequence[Case]) -> list[tuple[Case, ...]]:
    """Return the cases in batches, one for each run of MLIR's tools."""
    return [tuple(cases[start : start + _BATCH]) for start in range(0, len(cases), _BATCH)]


def query(shared: tuple[Tools, Sequence[str]], cases: Sequence[Case], _report: Callable[[int], object]) -> list[Answer]:
    """Return the results of MLIR's tools and of ptxas for each case.

    `shared` has the tools and the releases of ptxas.

    Errors: UsageError if an assembler is missing.
    """
    tools, assemblers = shared
    return list(_query(tools, [provide(name) for name in assemblers], cases))


def _query(tools: Tools, assemblers: Sequence[Assembler], cases: Sequence[Case]) -> Iterator[Answer]:
    texts = [case.text for case in cases]
    printed = tools.printed(texts)
    generic = tools.printed(texts, "-mlir-print-op-generic")
    translated = tools.translated(tools.printed(texts, "-convert-nvvm-to-llvm"))
    for case, custom, plain, llvm in zip(cases, printed, generic, translated, strict=True):
        target, ptx = first_lowered(case.text)
        version = min(parse(ptx).version or _NEWEST_OF_LLC, _NEWEST_OF_LLC)
        number = f"{version[0]}.{version[1]}"
        accepting = tuple(each.release for each in assemblers if each.run(ptx, target)[0] == 0)
        if not custom or not llvm:
            message = tools.message(case.text) or "no LLVM IR"
            yield Answer(case.operation, case.text, target, number, refused=message, assembled=accepting)
            continue
        llc_ptx = tools.ptx(llvm, target, version)
        expected = tuple(instructions(parse(llc_ptx))) if llc_ptx.strip() else ()
        yield Answer(case.operation, custom, target, number, plain, expected, "", accepting)


def first_lowered(text: str) -> tuple[str, str]:
    """Return the first target for which `lower` gives PTX without an error, and the PTX.

    If every target has an error, the result is that of the last target.

    Errors: LowerError if the last target refuses the operation.
    """
    for target in TARGETS[:-1]:
        try:
            ptx = lower(text, target=target)
        except LowerError:
            continue
        if all(found.severity is not Severity.ERROR for found in check(ptx)):
            return target, ptx
    return TARGETS[-1], lower(text, target=TARGETS[-1])


def write(directory: Path, answers: Sequence[Answer], header: Mapping[str, object]) -> None:
    """Write the record: the answers, and `header` with the numbers of operations."""
    directory.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps({k: v for k, v in asdict(each).items() if v}) + "\n" for each in answers)
    (directory / _ANSWERS).write_bytes(lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME))
    counts = Counter("refused" if each.refused else "agreed on" for each in answers)
    families = Counter(each.operation for each in answers)
    summary = {
        **header,
        "operations": len(answers),
        "taken by mlir-opt": counts["agreed on"],
        "by name": dict(sorted(families.items())),
    }
    (directory / HEADER).write_text(json.dumps(summary, indent=1) + "\n")


def read(directory: Path) -> Iterator[Answer]:
    """Yield the answers of the record in a folder."""
    for line in lzma.decompress((directory / _ANSWERS).read_bytes()).decode().splitlines():
        found = json.loads(line)
        found["ptx"] = tuple(found.get("ptx", ()))
        found["assembled"] = tuple(found.get("assembled", ()))
        yield Answer(**found)


KNOWN = (
    (".s32.b1.b1 ", False, "MLIR leaves `.and.popc` out, and ptxas refuses its text"),
    ("cta_group", True, "MLIR drops the CTA group of a load with a predicate"),
    (".const.", True, "MLIR drops the state space of a prefetch with a predicate"),
    ("mask -", False, "LLVM prints a mask with the highest bit as a negative number, which ptxas refuses"),
)
"""Known defects of MLIR's PTX: a part of an instruction, True if our text has the part, and the reason."""


def differences(answer: Answer) -> Iterator[str]:
    """Yield a text for each difference between Warploom's results and the recorded results."""
    try:
        reading = parse_mlir(answer.text)
        version = None if answer.refused else answer.version
        ptx = parse(lower(answer.text, target=answer.target, ptx_version=version))
    except WarploomError as error:
        yield f"refused: {error}"
        return
    printed = str(reading.module)
    if tokens(printed) != tokens(answer.text):
        yield f"printed as: {printed}"
    if answer.generic and _operations(parse_mlir(answer.generic)) != _operations(reading):
        yield "the generic text is another operation"
    yield from (f"{found}" for found in check(ptx) if found.severity is Severity.ERROR)
    ours = tuple(instructions(ptx))
    if answer.ptx and ours != answer.ptx and not is_known(answer.ptx, ours):
        yield f"PTX is {ours}; expected {answer.ptx} from llc"


def _operations(parsed: ParsedModule) -> list[object]:
    """Return the name, the properties and the types of each nvvm operation."""
    return [
        (each.name, each.properties, [value.type for value in (*each.operands, *each.results)])
        for each in parsed.module.walk()
        if isinstance(each, Operation)
    ]


def is_known(expected: tuple[str, ...], ours: tuple[str, ...]) -> bool:
    """Return True if a difference between Warploom's PTX `ours` and MLIR's PTX is a known defect of MLIR."""
    return any(
        mine != theirs and any(part in (mine if is_ours else theirs) for part, is_ours, _ in KNOWN)
        for mine, theirs in zip(ours, expected, strict=False)
    )


def tokens(text: str) -> list[str]:
    """Return the tokens of the nvvm operations in a text. SSA values are numbered in order."""
    names: dict[str, str] = {}
    lines = " ".join(line[line.index("nvvm.") :] for line in text.splitlines() if "nvvm." in line)
    return [
        names.setdefault(token, f"%{len(names)}") if token.startswith("%") else token
        for token in re.findall(r"%\w+|\w+|[^\w\s]", lines)
    ]
