"""What is wrong with a call that no Form takes: one sentence, and what would be right."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any

from warploom.author.catalogue import Candidate
from warploom.author.readings import NEVER, arranged, choices, is_many, standing, value_misfit, vocabulary
from warploom.author.values import Location, Register
from warploom.isa.binding.operands import expected_operand, list_values

_FORMS = 2  # syntax lines of a hint
_WORDS = 16  # words that are all listed
_PARTS = re.compile(r"\d+|\D+")
_READINGS = 64  # choices of words that operands are laid beside


def complaint(
    name: str, candidates: Sequence[Candidate], operands: Sequence[Any], words: Mapping[str, Any]
) -> tuple[str, str]:
    """Why no Form takes a call, and a hint."""
    known = {key for each in candidates for key in (*each.keywords, *each.places)}
    for word, value in words.items():
        if word not in known:
            like = next(iter(get_close_matches(word, known, 1)), "")
            slots = sorted({key for each in candidates for key in each.keywords})
            message = f"{name} has no '{word}'; expected {list_values(slots) or 'operands alone'}"
            return message, f"did you mean '{like}'?" if like else usage(candidates)
        legal = {w for each in candidates for w in vocabulary(each, word)} - {""}
        if not isinstance(value, bool) and legal and str(value) not in legal:
            return f"{name} has '{value}' for {word}; expected {_listed(legal)}", ""
    fitting = [each for each in candidates if any(True for _ in choices(each, operands, words))]
    if not fitting:
        return _apart(name, candidates, words), usage(candidates)
    message, nearest = _misplaced(name, fitting, operands, words)
    return message, usage([nearest])


def open_word(name: str, slot: str, legal: Iterable[str]) -> str:
    """That a call leaves open what nothing decides."""
    return f"{name} leaves {slot} open, and its operands do not say it; expected {slot} = {_listed(legal)}"


def usage(candidates: Sequence[Candidate]) -> str:
    """The syntax lines of some forms."""
    lines = list(dict.fromkeys(map(_line, candidates)))
    more = f"; and {len(lines) - _FORMS} more" if len(lines) > _FORMS else ""
    return f"{'its form is' if len(lines) == 1 else 'its forms are'} {'; '.join(lines[:_FORMS])}{more}"


def _line(candidate: Candidate) -> str:
    """The syntax line of a form, with the words that its name says."""
    opcode, _, operands = candidate.form.syntax_line.strip().removesuffix(";").partition(" ")
    for slot, text in candidate.fixed:
        opcode = re.sub(rf"(?<![\w:]){slot}(?![\w:])", text, opcode, count=1)
    return f"{opcode} {operands.strip()}"


def _listed(words: Iterable[str]) -> str:
    """Words in the order of their letters and numbers; many are cut."""
    ordered = sorted(
        words,
        key=lambda word: [(p.isdecimal(), int(p) if p.isdecimal() else p) for p in _PARTS.findall(word)],
    )
    return ", ".join(ordered) if len(ordered) <= _WORDS else list_values(ordered)


def _apart(name: str, candidates: Sequence[Candidate], words: Mapping[str, Any]) -> str:
    """That words do not stand together: the first whose others leave it a choice."""
    for candidate in candidates:
        form = candidate.form
        given = {
            slot: str(value) for slot, value in (*candidate.fixed, *words.items()) if slot in form.columns
        }
        if not words.keys() <= candidate.keywords.keys() | candidate.places.keys():
            continue
        for slot in reversed([slot for slot in given if slot in words]):
            others = {key: value for key, value in given.items() if key != slot}
            legal = {
                word
                for row in form.rows
                if all(value in row.cells[key] for key, value in others.items())
                for word in row.cells[slot]
                if word
            }
            if legal:
                beside = ", ".join(f"{key} = {value}" for key, value in others.items() if key in words)
                return f"{name} has '{given[slot]}' for {slot}; expected {_listed(legal)} beside {beside}"
    return f"{name} does not have {', '.join(words)} together"


def _misplaced(
    name: str, candidates: Sequence[Candidate], operands: Sequence[Any], words: Mapping[str, Any]
) -> tuple[str, Candidate]:
    """That the operands are too many, too few, or not what belongs there; and in which form."""
    best: tuple[int, str, Candidate] | None = None
    counts: dict[int, tuple[str, Candidate]] = {}
    for candidate in candidates:
        for slots, _ in islice(choices(candidate, operands, words), _READINGS):
            values = arranged(candidate, slots, operands, words)
            if values is None:
                named = [n for place in standing(candidate, slots) for n in place.names[:1]]
                left = [n for n in named if n not in {candidate.places.get(word) for word in words}]
                shown = ", ".join(n.replace("_", "-") for n in left)
                counts.setdefault(len(left), (shown, candidate))
                continue
            bad = [n for n, value in values.items() if value_misfit(candidate, slots, n, value) >= NEVER]
            if bad and (best is None or len(bad) < best[0]):
                expected = _expected(candidate, slots, bad[0], values[bad[0]])
                shown = bad[0].replace("_", "-")
                message = f"operand {shown} of {name} is {_shown(values[bad[0]])}; expected {expected}"
                best = len(bad), message, candidate
    if best is not None:
        return best[1:]
    number = min(counts, key=lambda count: abs(count - len(operands)))
    found = f"{len(operands)} operand{'s' if len(operands) != 1 else ''}"
    names, candidate = counts[number]
    return f"{name} has {found}; expected {f'{number}: {names}' if number else 'none'}", candidate


def _expected(candidate: Candidate, slots: Mapping[str, str], name: str, value: Any) -> str:
    """What belongs in a place; of an address that would do elsewhere, in which state spaces."""
    place = candidate.form.operands[name]
    if place.kind == "address" and isinstance(value, Location) and not place.registers(slots):
        slot = next((each for each in ("ss", "space") if each in candidate.form.columns), "")
        spaces = candidate.form.vocabulary.get(slot, {place.space_word(slots)}) - {"", "?"}
        if spaces:
            return f"an address in {_listed(f'.{space}' for space in spaces)}"
    return expected_operand(place, slots)


def _shown(value: Any) -> str:
    match value:
        case Register(type="pred"):
            return "a predicate"
        case Register():
            return f"a register of .{value.type}"
        case Location(coordinates=()):
            known = value.space != "?"
            return f"an address in .{value.space}" if known else "an address"
        case Location():
            return f"an address with {len(value.coordinates)} coordinates"
        case bool() | int() | float() | str() | None:
            return f"{value!r}"
        case _ if is_many(value):
            kinds = dict.fromkeys(f".{each.type}" for each in value if isinstance(each, Register))
            of = f" of {', '.join(kinds)}" if kinds else ""
            return f"a vector of {len(value)} registers{of}" if of else f"a vector of {len(value)}"
        case _:
            return f"a {type(value).__name__}"
