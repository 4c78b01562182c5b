"""Record of the operations that MLIR accepts and refuses, and the comparison of Warploom's acceptance with it.

The record is a file of xz-compressed JSON lines, one for each operation.
"""

import json
import lzma
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from warploom.diagnostics import WarploomError
from warploom.nvvm import lower
from warploom.nvvm.mlir_text import parse_mlir
from warploom.ptx import parse
from warploom_lab.mlir.mutants import Mutant
from warploom_lab.mlir.normalized import TARGETS, instructions
from warploom_lab.mlir.record import is_known
from warploom_lab.mlir.tools import Tools
from warploom_lab.ptxas.assembler import Assembler, provide

HEADER = "acceptance.json"
_JUDGEMENTS = "acceptance.jsonl.xz"
_VERSION = (9, 0)
"""PTX version of all PTX, the newest that llc generates."""
_BATCH = 48


@dataclass(frozen=True)
class Judgement:
    """Results of MLIR's tools and of ptxas for one operation.

    `stage` is "" for an accepted operation, or the stage that refuses it: "verify" (mlir-opt's parser and verifier),
    "convert" (-convert-nvvm-to-llvm), "translate" (mlir-translate), "llc" or "ptxas".
    """

    operation: str
    kind: str  # of the change that made the operation
    text: str
    stage: str = ""
    message: str = ""  # of the stage
    target: str = ""  # first target for which llc and ptxas accept the operation
    ptx: tuple[str, ...] = ()  # of llc for the target, in normal form


def batches(mutants: Sequence[Mutant]) -> list[tuple[Mutant, ...]]:
    """Return the operations in batches, one for each run of MLIR's tools."""
    return [tuple(mutants[start : start + _BATCH]) for start in range(0, len(mutants), _BATCH)]


def query(shared: Tools, mutants: Sequence[Mutant], _report: Callable[[int], object]) -> list[Judgement]:
    """Return the results of MLIR's tools, llc and ptxas for each operation."""
    tools, assembler = shared, provide("13.1")
    found: dict[int, tuple[str, str]] = {}
    texts = {number: mutant.text for number, mutant in enumerate(mutants)}
    stages = (
        ("verify", tools.opt, ("-mlir-print-op-generic",)),
        ("convert", tools.opt, ("-convert-nvvm-to-llvm", "-mlir-print-op-generic")),
        ("translate", tools.translate, ("-mlir-to-llvmir",)),
    )
    for stage, tool, options in stages:
        outputs = tools.each(tool, list(texts.values()), *options) if texts else []
        for number, (output, message) in zip(list(texts), outputs, strict=True):
            if output:
                texts[number] = output
            else:
                found[number] = (stage, message)
                del texts[number]
    return [
        Judgement(each.operation, each.kind, each.text, *found[number])
        if number in found
        else _compiled(tools, assembler, each, texts[number])
        for number, each in enumerate(mutants)
    ]


def _compiled(tools: Tools, assembler: Assembler, mutant: Mutant, llvm: str) -> Judgement:
    refused = ("", "")
    for target in TARGETS:
        ptx, message = tools.compiled(llvm, target, _VERSION)
        if not ptx:
            refused = refused if refused[0] else ("llc", message)
            continue
        status, output = assembler.run(ptx, target)
        if status == 0:
            return Judgement(*_about(mutant), target=target, ptx=tuple(instructions(parse(ptx))))
        refused = ("ptxas", found[1] if (found := re.search(r"(?:error|fatal) *: (.*)", output)) else "crash")
    return Judgement(*_about(mutant), *refused)


def _about(mutant: Mutant) -> tuple[str, str, str]:
    return mutant.operation, mutant.kind, mutant.text


def refusal(text: str) -> str:
    """Return the message of Warploom's parser and verifier for a text, or "" for a legal text."""
    try:
        parse_mlir(text)
    except WarploomError as error:
        return str(error)
    return ""


def lowered(text: str, target: str = "") -> tuple[str, str]:
    """Return Warploom's PTX for a target, and "" or the error message.

    The default target is the first one for which the operation has no error.
    """
    message = ""
    for each in (target,) if target else TARGETS:
        try:
            return lower(text, target=each, ptx_version=_VERSION), ""
        except WarploomError as error:
            message = str(error)
    return "", message


# Differences ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Group:
    """Known differences of acceptance: operations that only MLIR's verifier, or only Warploom's accepts.

    An operation is in the group if its stage is among `stages` and the regular expressions occur in its name, its text
    and the message of the tool that refuses it.
    """

    name: str
    is_refused: bool  # by Warploom
    stages: Collection[str]
    operation: str = ""
    text: str = ""
    message: str = ""

    def has(self, judgement: Judgement, message: str) -> bool:
        """Return True if an operation that differs, with Warploom's message, is in the group."""
        return (
            self.is_refused == bool(message)
            and judgement.stage in self.stages
            and bool(re.search(self.operation, judgement.operation))
            and bool(re.search(self.text, judgement.text))
            and bool(re.search(self.message, message or judgement.message))
        )


_LATER = ("convert", "translate", "llc", "ptxas")
GROUPS = (
    Group("MLIR refuses later", True, _LATER),
    Group("unknown property", True, ("",), text="unknown = 1"),
    Group("negative number of groups", True, ("",), operation="cp.async.wait.group", message="expected 0 or more"),
    Group("number of values", True, ("",), text="operandSegmentSizes", message="expected (1|0 or 1) values? for"),
    Group("stated twice", True, ("",), message="dictionary states"),
    Group("placeholder", True, ("",), operation="inline_ptx", message="placeholder"),
    Group("kind of integers", True, ("",), operation="mma.sp.sync", message="has '.kind::f8f6f4'"),
    Group("MLIR crashes", False, ("verify",), message="^crash$"),
    Group("lane of a block scale", True, ("",), operation="block_scale", message="(byte|thread)-id-[ab] is"),
)
"""Known differences; README.md of the record states the reason of each."""
_OTHER_PTX = (
    ("inline_ptx", r"\{\$rw|operandSegmentSizes = array<i32: \d, \d, 1>|operandSegmentSizes = array<i32: \d, [1-9]"),
    ("bulk.tensor.shared.cluster.global", "cta_group<"),
    ("tcgen05.ld", r"constant\(-"),
    ("", r"\{(nvvm\.)?unknown"),
)
"""Operations whose PTX may differ from llc's: regular expressions of the name and the text."""


def group_of(judgement: Judgement, message: str) -> str | None:
    """Return the name of the known difference of an operation, "" for equal acceptance, or None.

    `message` is that of Warploom's verifier, or "".
    """
    if (judgement.stage == "verify") == bool(message):
        return ""
    return next((group.name for group in GROUPS if group.has(judgement, message)), None)


def ptx_difference(judgement: Judgement) -> str:
    """Return a text if Warploom's PTX for an operation that MLIR's tools accept is missing or differs, or ""."""
    if any(re.search(name, judgement.operation) and re.search(text, judgement.text) for name, text in _OTHER_PTX):
        return ""
    ptx, message = lowered(judgement.text, judgement.target)
    if not ptx:
        return f"refused: {message}"
    ours = tuple(instructions(parse(ptx)))
    if ours == judgement.ptx or is_known(judgement.ptx, ours):
        return ""
    return f"PTX is {ours}; expected {judgement.ptx} from llc"


def differences(judgement: Judgement) -> Iterator[str]:
    """Yield a text for each difference between Warploom and MLIR's tools that is not known."""
    message = refusal(judgement.text)
    if group_of(judgement, message) is None:
        theirs = f"refused by MLIR: {judgement.message}" if judgement.stage == "verify" else "accepted by MLIR"
        yield f"{theirs}; {'refused' if message else 'accepted'} by Warploom {message}"
    if not message and not judgement.stage and (found := ptx_difference(judgement)):
        yield found


# Record -----------------------------------------------------------------------------------------------------


def write(directory: Path, judgements: Sequence[Judgement], header: Mapping[str, object]) -> None:
    """Write the record: the judgements, and `header` with the numbers of operations."""
    directory.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps({k: v for k, v in asdict(each).items() if v}) + "\n" for each in judgements)
    (directory / _JUDGEMENTS).write_bytes(lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME))
    groups = Counter(group_of(each, refusal(each.text)) for each in judgements)
    summary = {
        **header,
        "operations": len(judgements),
        "by change": dict(sorted(Counter(each.kind for each in judgements).items())),
        "refused by": dict(sorted(Counter(each.stage for each in judgements if each.stage).items())),
        "differences": {group.name: groups[group.name] for group in GROUPS},
    }
    (directory / HEADER).write_text(json.dumps(summary, indent=1) + "\n")


def read(directory: Path) -> Iterator[Judgement]:
    """Yield the judgements of the record in a folder."""
    for line in lzma.decompress((directory / _JUDGEMENTS).read_bytes()).decode().splitlines():
        found = json.loads(line)
        found["ptx"] = tuple(found.get("ptx", ()))
        yield Judgement(**found)
