"""Error messages for calls that match no instruction form: what was found, and what is legal."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from warploom.author.overloads import (
    IMPOSSIBLE,
    Candidate,
    arrange,
    input_operands,
    is_vector,
    mismatch,
    named_parts,
    slot_choices,
)
from warploom.author.values import Location, Register
from warploom.diagnostics.wording import did_you_mean
from warploom.isa.binding.operands import expected_operand, list_values

_SYNTAX_LINES = 2  # most syntax lines in one hint
_WORDS = 16  # most words in one list
_NUMBERS = re.compile(r"\d+|\D+")
_CHOICES = 64  # combinations of words for which the operands are checked


def explain_mismatch(
    name: str, candidates: Sequence[Candidate], operands: Sequence[Any], words: Mapping[str, Any]
) -> tuple[str, str]:
    """Return a message and a hint that explain why a call matches none of the candidates.

    `operands` and `words` are the arguments and the keywords of the call.
    """
    keywords = {key for each in candidates for key in each.keywords}
    known = keywords.union(*(each.operands for each in candidates))
    for word, value in words.items():
        if word not in known:
            expected = list_values(sorted(keywords)) or "operands only"
            hint = did_you_mean(word, known, "'") or usage(candidates)
            return f"{name} has no keyword '{word}'; expected {expected}", hint
        legal = {w for c in candidates if word in c.keywords for w in c.form.vocabulary.get(word, ())} - {""}
        if not isinstance(value, bool) and legal and str(value) not in legal:
            return f"{name} has '{value}' for {word}; expected {_listed(legal)}", ""
    fitting = [each for each in candidates if any(True for _ in slot_choices(each, operands, words))]
    if not fitting:
        return _incompatible_words(name, candidates, words), usage(candidates)
    message, nearest = _wrong_operands(name, fitting, operands, words)
    return message, usage([nearest])


def ambiguous_word(name: str, slot: str, legal: Iterable[str]) -> str:
    """Return the message for a call that must name the modifier `slot`. `legal` lists its values."""
    return f"{name} needs {slot}, which its operands do not determine; expected {slot} = {_listed(legal)}"


def usage(candidates: Sequence[Candidate]) -> str:
    """Return a hint with the syntax lines of the candidates."""
    lines = list(dict.fromkeys(map(_syntax_line, candidates)))
    more = f"; and {len(lines) - _SYNTAX_LINES} more" if len(lines) > _SYNTAX_LINES else ""
    return f"the syntax is {'; '.join(lines[:_SYNTAX_LINES])}{more}"


def _syntax_line(candidate: Candidate) -> str:
    opcode, _, operands = candidate.form.syntax_line.strip().removesuffix(";").partition(" ")
    for slot, text in candidate.fixed:
        opcode = re.sub(rf"(?<![\w:]){slot}(?![\w:])", text, opcode, count=1)
    return f"{opcode} {operands.strip()}"


def _listed(words: Iterable[str]) -> str:
    ordered = sorted(
        words, key=lambda word: [(p.isdecimal(), int(p) if p.isdecimal() else p) for p in _NUMBERS.findall(word)]
    )
    return ", ".join(ordered) if len(ordered) <= _WORDS else list_values(ordered)


def _incompatible_words(name: str, candidates: Sequence[Candidate], words: Mapping[str, Any]) -> str:
    """Return the message for legal keywords that no form combines."""
    for candidate in candidates:
        form = candidate.form
        given = {s: str(value) for s, value in (*candidate.fixed, *words.items()) if s in form.columns}
        if not words.keys() <= candidate.keywords.keys() | candidate.operands.keys():
            continue
        for slot in reversed([slot for slot in given if slot in words]):
            others = {key: value for key, value in given.items() if key != slot}
            rows = [row for row in form.rows if all(value in row.cells[key] for key, value in others.items())]
            if legal := {word for row in rows for word in row.cells[slot]} - {""}:
                beside = ", ".join(f"{key} = {value}" for key, value in others.items() if key in words)
                return f"{name} has '{given[slot]}' for {slot}; expected {_listed(legal)} with {beside}"
    return f"{name} does not combine {', '.join(words)}"


def _wrong_operands(
    name: str, candidates: Sequence[Candidate], operands: Sequence[Any], words: Mapping[str, Any]
) -> tuple[str, Candidate]:
    """Return the message for operands of wrong number or type. Also return the nearest candidate."""
    best: tuple[int, str, Candidate] | None = None
    counts: dict[int, tuple[str, Candidate]] = {}
    for candidate in candidates:
        for slots, _ in islice(slot_choices(candidate, operands, words), _CHOICES):
            values = arrange(candidate, slots, operands, words)
            if values is None:
                inputs = [n for place in input_operands(candidate, slots) for n in place.names[:1]]
                left = [n for n in inputs if n not in {candidate.operands.get(word) for word in words}]
                counts.setdefault(len(left), (", ".join(n.replace("_", "-") for n in left), candidate))
                continue
            bad = [n for n, value in values.items() if mismatch(candidate, slots, n, value) >= IMPOSSIBLE]
            if bad and (best is None or len(bad) < best[0]):
                found, expected = values[bad[0]], _expected(candidate, slots, bad[0], values[bad[0]])
                shown = bad[0].replace("_", "-")
                message = f"operand {shown} of {name} is {_described(found)}; expected {expected}"
                best = len(bad), message, candidate
    if best is not None:
        return best[1:]
    number = min(counts, key=lambda count: abs(count - len(operands)))
    found = f"{len(operands)} operand{'s' if len(operands) != 1 else ''}"
    names, candidate = counts[number]
    return f"{name} has {found}; expected {f'{number}: {names}' if number else 'none'}", candidate


def _expected(candidate: Candidate, slots: Mapping[str, str], name: str, value: Any) -> str:
    """Return a description of the values that the operand `name` can have."""
    operand = candidate.form.operands[name]
    if len(parts := named_parts(candidate.form, name)) > 1:
        return f"a vector of {len(parts)}: {', '.join(part.replace('_', '-') for part in parts)}"
    if operand.kind == "address" and isinstance(value, Location) and not operand.registers(slots):
        slot = next((each for each in ("ss", "space") if each in candidate.form.columns), "")
        spaces = candidate.form.vocabulary.get(slot, {operand.space_word(slots)}) - {"", "?"}
        if spaces:
            return f"an address in {_listed(f'.{space}' for space in spaces)}"
    return expected_operand(operand, slots)


def _described(value: Any) -> str:
    match value:
        case Register(type="pred"):
            return "a predicate"
        case Register():
            return f"a register of .{value.type}"
        case Location(coordinates=()):
            return f"an address in .{value.space}" if value.space != "?" else "an address"
        case Location():
            return f"an address with {len(value.coordinates)} coordinates"
        case bool() | int() | float() | str() | None:
            return f"{value!r}"
        case _ if is_vector(value):
            kinds = dict.fromkeys(f".{each.type}" for each in value if isinstance(each, Register))
            return f"a vector of {len(value)}" + (f" registers of {', '.join(kinds)}" if kinds else "")
        case _:
            return f"a {type(value).__name__}"
