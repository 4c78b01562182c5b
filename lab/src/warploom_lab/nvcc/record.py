"""Record of nvcc's answers to calls of builtins, and the comparison of `lower` with the record.

The record is xz-compressed text with one line for each call: target, call, and `+` with the instruction or `-` with the
messages.
"""

import json
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from warploom.diagnostics import UsageError
from warploom.isa.binding.compose import compose
from warploom.isa.model.availability import read_target
from warploom.nvvm.builtins.lowering import Call, translate
from warploom.nvvm.builtins.registry import BUILTINS, Builtin
from warploom.nvvm.builtins.source import BuiltinError
from warploom.ptx import Address, Integer, Name, Operand, Vector
from warploom_lab.nvcc.compiler import BATCH, Answer, Nvcc, counted, kernel

HEADER = "record.json"
ANSWERS = "answers.txt.xz"
PROBES = "calls.txt"
MAIN = "sm_90a"
OTHERS = ("sm_80", "sm_90", "sm_100a", "sm_120")
_POINTERS = {
    ("int", False): "ip",
    ("int", True): "cip",
    ("float", False): "fp",
    ("float", True): "cfp",
    ("double", False): "dp",
    ("double", True): "cdp",
    ("void", False): "fp",
}
_BOTH_A = ("q", "cip")
_SOME_N = (0, 4, 12, 20, 260, 264, 512)


@dataclass(frozen=True, slots=True)
class Case:
    """Call of a builtin and the target for which it is compiled."""

    target: str
    call: str


# Calls -----------------------------------------------------------------------------------------------------


def cases(probes: str) -> list[Case]:
    """Return generated calls of every builtin, and the hand-written calls in the text `probes`."""
    found = [Case(MAIN, call) for builtin in BUILTINS for call in calls_of(builtin)]
    found += [Case(target, next(iter(calls_of(builtin)))) for target in OTHERS for builtin in BUILTINS]
    lines = [line.strip() for line in probes.splitlines()]
    found += [Case(MAIN, line) for line in lines if line and not line.startswith("#")]
    return list(dict.fromkeys(found))


def calls_of(builtin: Builtin) -> Iterator[str]:
    """Yield calls of a builtin with legal and illegal arguments. The first call is legal."""
    match builtin.kind:
        case "load" | "store":
            yield from _load_store_calls(builtin)
        case "multiply":
            yield from _multiply_calls(builtin)
        case _:
            yield from _warpgroup_calls(builtin)


def _load_store_calls(builtin: Builtin) -> Iterator[str]:
    dst, src = (_POINTERS[p.type.base, p.type.const] for p in builtin.parameters[:2])
    word = builtin.parameters[0].type.base
    legal = _legal_layouts(builtin)
    for layout, ldm in product(legal, ("u", "16")):
        yield f"{builtin.name}({dst}, {src}, {ldm}, {layout});"
    moved = (dst, "s") if builtin.kind == "load" else ("s", src)
    for layout in legal:
        yield f"__shared__ {word} s[256]; {builtin.name}({moved[0]}, {moved[1]}, u, {layout});"
        yield f"__shared__ {word} s[256]; {builtin.name}({_at(moved[0])}, {_at(moved[1])}, 32, {layout});"
    generic = f"z ? {src if builtin.kind == 'load' else dst} : s"
    first, second = (dst, generic) if builtin.kind == "load" else (generic, src)
    yield f"__shared__ {word} s[256]; {builtin.name}({first}, {second}, u, {legal[0]});"
    for layout in ("2", "-1", "n", *({0, 1} - set(legal))):
        yield f"{builtin.name}({dst}, {src}, u, {layout});"


def _at(name: str) -> str:
    return "&s[16]" if name == "s" else name


def _legal_layouts(builtin: Builtin) -> Sequence[int]:
    if builtin.shape in ("m8n8k32", "m8n8k128") and builtin.matrix in "ab":
        return (0,) if builtin.matrix == "a" else (1,)
    return (0, 1)


def _multiply_calls(builtin: Builtin) -> Iterator[str]:
    pointers = ", ".join(_POINTERS[p.type.base, p.type.const] for p in builtin.parameters[:4])
    legal = (1,) if builtin.shape in ("m8n8k32", "m8n8k128") else (1, 0, 2, 3)
    saturations = [", 0", ", 1"] if len(builtin.parameters) == 6 else [""]
    for rowcol, satf in product(legal, saturations):
        yield f"{builtin.name}({pointers}, {rowcol}{satf});"
    for rowcol in (4, -1, "n", *sorted({0, 1, 2, 3} - set(legal))):
        yield f"{builtin.name}({pointers}, {rowcol}{saturations[0]});"
    if len(saturations) > 1:
        for satf in (2, -1, "n"):
            yield f"{builtin.name}({pointers}, 1, {satf});"


def _warpgroup_calls(builtin: Builtin) -> Iterator[str]:
    k = {"tf32": 8, "f8": 32}.get(builtin.operation, 16)
    flags = len(builtin.booleans)
    every = [", ".join(words) for words in product(("false", "true"), repeat=flags)]
    for n, a in product((2**power for power in range(3, 9)), _BOTH_A):
        for words in every:
            yield f"{builtin.name}(64, {n}, {k}, {words}, fp, {a}, q2);"
    for n, a in product(range(8, 257, 8), _BOTH_A):
        if n & (n - 1):
            yield f"{builtin.name}(64, {n}, {k}, {every[0]}, fp, {a}, q2);"
    for n in _SOME_N:
        yield f"{builtin.name}(64, {n}, {k}, {every[0]}, fp, q, q2);"
    for m, wrong in ((32, k), (128, k), (64, k // 2), (64, 2 * k), (64, 0)):
        yield f"{builtin.name}({m}, 16, {wrong}, {every[0]}, fp, q, q2);"
    for place in range(3 + flags):
        words = ["64", "16", str(k), *["false"] * flags]
        words[place] = "u" if place < 3 else "z"
        yield f"{builtin.name}({', '.join(words)}, fp, q, q2);"


# Comparison -------------------------------------------------------------------------------------------------


def instruction_text(call: Call) -> str:
    """Return the instruction of a builtin's call as nvcc prints it. Registers have the names of the operands."""
    selection, is_late = call.selection, call.builtin.is_second_generation
    operands: dict[str, Operand] = {name: Integer(value) for name, value in selection.constants.items()}
    for name in selection.fragments:
        operands[name] = Vector(tuple(Name(f"%{name}{k}") for k in range(selection.registers(name))))
    operands |= {name: Name(f"%{name}") for name in selection.values}
    for name, position in selection.address.items():
        operands[name] = Address(Name(f"%{name}"), call.arguments[position][0].offset if is_late else 0)
    # In the builtins of f64, the compiler prints the rounding after the types.
    return str(compose(selection.form, selection.words, operands, None, ("rnd",) if is_late else ()))


def lowered(case: Case) -> Answer:
    """Return the answer of `lower` to a call."""
    target = read_target(case.target)
    assert target is not None
    try:
        (call,) = translate(kernel(case.call), target).calls
        return Answer(counted(instruction_text(call)))
    except BuiltinError as error:
        return Answer("", tuple(each.message for each in error.diagnostics))


def agrees(recorded: Answer, result: Answer) -> bool:
    """Return True if both answers have the same instruction and the same first message."""
    return recorded.instruction == result.instruction and recorded.messages[:1] == result.messages[:1]


def disagreements(answers: Iterable[tuple[Case, Answer]]) -> Iterator[tuple[Case, Answer, Answer]]:
    """Yield (call, recorded answer, answer of `lower`) for every difference."""
    for case, recorded in answers:
        if not agrees(recorded, result := lowered(case)):
            yield case, recorded, result


# The record -------------------------------------------------------------------------------------------------


def batches(calls: Iterable[Case]) -> list[tuple[Case, ...]]:
    """Return the calls in batches, one for each CUDA C++ file."""
    by_target: dict[str, list[Case]] = {}
    for case in calls:
        by_target.setdefault(case.target, []).append(case)
    found: list[tuple[Case, ...]] = []
    for listed in by_target.values():
        accepted = [case for case in listed if lowered(case).instruction]
        found += [tuple(accepted[start : start + BATCH]) for start in range(0, len(accepted), BATCH)]
        # Most compilations end at the first error of a call, so such a call gets a file of its own.
        found += [(case,) for case in listed if case not in set(accepted)]
    return found


def query(nvcc: Nvcc, file: Sequence[Case], _report: object) -> list[Answer]:
    """Return nvcc's answers to the calls of one file. All calls must have the same target."""
    return nvcc.judge([case.call for case in file], file[0].target)


def in_order(
    calls: Iterable[Case], files: Sequence[Sequence[Case]], answers: Sequence[Sequence[Answer]]
) -> list[tuple[Case, Answer]]:
    """Return (call, answer) in the order of `calls`.

    `files` has the calls of each CUDA C++ file, and `answers` the answers to them.
    """
    found: dict[Case, Answer] = {}
    for file, results in zip(files, answers, strict=True):
        found.update(zip(file, results, strict=True))
    return [(case, found[case]) for case in calls]


def write(folder: Path, answers: Sequence[tuple[Case, Answer]], nvcc: Nvcc, command: str, date: str) -> None:
    """Write the record: the answers, and a header with the command, the date and the release of nvcc."""
    lines = [
        f"{case.target}\t{case.call}\t"
        + (f"-{' / '.join(answer.messages)}" if answer.messages else f"+{answer.instruction}")
        for case, answer in answers
    ]
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join(lines) + "\n"
    (folder / ANSWERS).write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    counts = Counter("accepted" if answer.instruction else "refused" for _, answer in answers)
    targets = Counter(case.target for case, _ in answers)
    header = {
        "command": command,
        "date": date,
        "nvcc": nvcc.release,
        "calls": len(answers),
        **dict(sorted(counts.items())),
        "targets": dict(sorted(targets.items())),
    }
    (folder / HEADER).write_text(json.dumps(header, indent=1) + "\n")


def read(folder: Path) -> list[tuple[Case, Answer]]:
    """Return the recorded calls and answers.

    Errors: UsageError if there is no record.
    """
    path = folder / ANSWERS
    if not path.is_file():
        raise UsageError(f"{folder} is not a folder of recorded answers: it has no {ANSWERS}")
    found: list[tuple[Case, Answer]] = []
    for line in lzma.decompress(path.read_bytes()).decode().splitlines():
        target, call, answer = line.split("\t")
        messages = tuple(answer[1:].split(" / ")) if answer[0] == "-" else ()
        found.append((Case(target, call), Answer("" if messages else answer[1:], messages)))
    return found
