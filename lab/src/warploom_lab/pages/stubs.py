"""Type stubs for editors: one overload for each form of each instruction function."""

from collections.abc import Iterator

from warploom.author.overloads import Candidate, catalogue, python_name

STUBS = "src/warploom/author/ptx.pyi"

_HEAD = '''# pyright: reportOverlappingOverload=false
"""Made by `warploom-lab pages stubs` from the Forms; do not edit."""

from collections.abc import Sequence
from typing import Any, Literal, overload

from warploom.author.inline import inline as inline
from warploom.author.values import Location, Register, Value

'''
_KINDS = {"address": "Location", "immediate": "int", "label": "str", "predicate": "Register | bool"}


def texts() -> dict[str, str]:
    """Return the text of the stub file, by its path in the repository."""
    parts = [_HEAD]
    for name, candidates in catalogue().items():
        signatures = list(dict.fromkeys(_signature(name, candidate) for candidate in candidates))
        parts += ["@overload\n" * (len(signatures) > 1) + signature for signature in signatures]
    return {STUBS: "\n".join(parts)}


def _signature(name: str, candidate: Candidate) -> str:
    form = candidate.form
    operands = [f"{python_name(n)}: {kind}" for n, kind in _operands(candidate)]
    words = [f"{key}: {kind} = ..." for key, kind in _words(candidate)]
    results = [p for p in form.syntax.operands if form.operands[p.names[0]].access == "write"]
    many = sum(1 if result.second_optional else len(result.names) for result in results)
    result = "None" if not many else "Any" if many > 1 or form.operands[results[0].names[0]].count else "Register"
    keywords = ["*", *words] if words else []
    head = f"def {name}({', '.join([*operands, *keywords])}) -> {result}:"
    return f'{head}\n    """{form.syntax_line.strip()} ({form.source})"""\n'


def _operands(candidate: Candidate) -> Iterator[tuple[str, str]]:
    form = candidate.form
    optional = False
    for name in form.syntax.operands:
        spec = form.operands[name.names[0]]
        if spec.kind == "sink" or (spec.access == "write" and spec.kind != "tuple"):
            continue
        kind = _KINDS.get(spec.kind, "Sequence[Value]" if spec.count else "Value")
        optional = optional or name.optional or bool(spec.when)
        yield name.names[0], f"{kind} = ..." if optional else kind


def _words(candidate: Candidate) -> Iterator[tuple[str, str]]:
    form = candidate.form
    for key, word in candidate.keywords.items():
        slot = key if key in form.columns else word.slot
        texts = sorted(form.vocabulary.get(slot, ()))
        if word.literal or texts == [slot]:
            yield key, "bool"
        elif word.composite is not None and key == word.slot:
            yield key, "str"
        elif texts:
            yield key, f"Literal[{', '.join(map(repr, texts))}]"
    if any(p.access == "write" for p in form.operands.values()):
        yield "out", "Any"
