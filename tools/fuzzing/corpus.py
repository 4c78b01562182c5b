"""The corpus: statements of every form, and every statement of its kind that compilers wrote."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

from warploom_lab.ptxas.points import last_version
from warploom_lab.ptxas.probe import Probe, write_module
from warploom_lab.ptxas.spell import combinations_of, instruction, opcode_words, write_operands

from warploom.isa.model.form import Form, forms
from warploom.ptx import Block, Function, Instruction, Statement, parse

_ROWS, _WORDS = 4, 3  # rows of a form that are written, and words of each
_DIGITS = re.compile(r"\d+")


def make_corpus(folder: Path, files: Path) -> None:
    """Write the parts of a corpus that follow from the Forms and from compilers' files."""
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
            _piece(path.read_text(encoding="utf-8"), known), encoding="utf-8"
        )


def _probes(form: Form) -> list[Probe]:
    """Statements of a form: the first rows of its table and its last, with and without what is optional."""
    found: list[Probe] = []
    for row in dict.fromkeys((*range(min(len(form.rows), _ROWS)), len(form.rows) - 1)):
        for slots in islice(combinations_of(form, form.rows[row]), _WORDS):
            words = opcode_words(form, slots)
            written = (write_operands(form, slots, optional=optional) for optional in (False, True))
            found += [Probe(instruction(words, operands)) for operands in written]
    return found


def _piece(text: str, known: set[str]) -> str:
    """A file with the statements alone whose like is not known: opcode and operands but for their numbers."""
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
        kept += _new(item.body, text, known)
        kept.append("}")
    return "\n".join(line for line in kept if line) + "\n"


def _new(block: Block, text: str, known: set[str]) -> list[str]:
    found: list[str] = []
    for statement in block.statements:
        if isinstance(statement, Block):
            found += ["{", *_new(statement, text, known), "}"]
        elif statement.span is not None:
            shown = text[statement.span.start : statement.span.end]
            shape = _shape(statement, shown)
            if shape not in known or not isinstance(statement, Instruction):
                found.append(shown)
            known.add(shape)
    return found


def _shape(statement: Statement, shown: str) -> str:
    return statement.opcode if isinstance(statement, Instruction) else _DIGITS.sub("0", shown)
