"""Seed corpus of the fuzzer: statements generated from the Forms, and statements from compiled PTX."""

import re
from itertools import islice
from pathlib import Path

from warploom.isa.model.form import Form, forms
from warploom.ptx import Block, Function, Instruction, Statement, parse
from warploom_lab.ptxas.instruction_text import combinations_of, instruction, opcode_words, write_operands
from warploom_lab.ptxas.points import last_version
from warploom_lab.ptxas.probe import Probe, write_module

_ROWS, _COMBINATIONS = 4, 3  # rows of a form, and slot combinations of a row
_DIGITS = re.compile(r"\d+")


def make_corpus(folder: Path, files: Path) -> None:
    """Write the seed corpus into `folder`.

    The compiled PTX modules are in the folder `files`.
    """
    for name in ("forms", "pieces"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    families: dict[str, list[Probe]] = {}
    for form in forms():
        families.setdefault(form.family, []).extend(_probes(form))
    for family, probes in families.items():
        text, _ = write_module(list(dict.fromkeys(probes)), "sm_90a", last_version("sm_90a"))
        (folder / "forms" / f"{family}.ptx").write_text(text, encoding="utf-8")
    known: set[str] = set()
    for path in sorted(files.glob("*.ptx")):
        (folder / "pieces" / path.name).write_text(
            _new_statements(path.read_text(encoding="utf-8"), known), encoding="utf-8"
        )


def _probes(form: Form) -> list[Probe]:
    found: list[Probe] = []
    for row in dict.fromkeys((*range(min(len(form.rows), _ROWS)), len(form.rows) - 1)):
        for slots in islice(combinations_of(form, form.rows[row]), _COMBINATIONS):
            words = opcode_words(form, slots)
            texts = (write_operands(form, slots, optional=optional) for optional in (False, True))
            found += [Probe(instruction(words, operands)) for operands in texts]
    return found


def _new_statements(text: str, known: set[str]) -> str:
    """Return the text without instructions whose opcode is in `known`. Add the other opcodes to `known`."""
    module = parse(text)
    kept: list[str] = []
    for item in module.items:
        if item.span is None:
            continue
        if not isinstance(item, Function) or item.body is None or item.body.span is None:
            shown = text[item.span.start : item.span.end]
            kept.append("" if len(shown) > 1_000 else shown)
            continue
        kept.append(text[item.span.start : item.body.span.start] + "{")
        kept += _new_in_block(item.body, text, known)
        kept.append("}")
    return "\n".join(line for line in kept if line) + "\n"


def _new_in_block(block: Block, text: str, known: set[str]) -> list[str]:
    found: list[str] = []
    for statement in block.statements:
        if isinstance(statement, Block):
            found += ["{", *_new_in_block(statement, text, known), "}"]
        elif statement.span is not None:
            shown = text[statement.span.start : statement.span.end]
            shape = _shape(statement, shown)
            if shape not in known or not isinstance(statement, Instruction):
                found.append(shown)
            known.add(shape)
    return found


def _shape(statement: Statement, shown: str) -> str:
    return statement.opcode if isinstance(statement, Instruction) else _DIGITS.sub("0", shown)
