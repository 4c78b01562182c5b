"""Search for the legal opcodes that are nearest to an illegal opcode.

A *slot* is a named modifier of a Form's syntax line, such as `.type`. Its *word* is its text in an opcode, or "". A
*fix* is a change that makes an opcode legal.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import product

from warploom.isa.model.form import LONGEST_OPCODE, OPTIONAL_NAME_WORDS, Form, Match, forms, forms_of
from warploom.isa.model.syntax import Word, bind_word
from warploom.isa.model.table import Row
from warploom.isa.model.types import TYPES
from warploom.lazy_dataclass import dataclass

_INTEGERS = "us"
_DIGITS = re.compile(r"\d+")
_FORMAT = re.compile(r"b\d+x\d+(_p\d+)?")
_KINDS = ("doubled", "missing", "word", "extra")
"""Kinds of fixes. Fixes that keep all other words of the opcode are first."""


@dataclass(frozen=True, slots=True)
class Fix:
    """Change that makes an opcode legal.

    - `kind`: "word" (a wrong word), "missing", "extra" or "doubled" (the word occurs twice)
    - `slot`, `position`: modifier or literal word at fault, and its index in the opcode
    - `found`, `legal`: word in the opcode, and the legal words
    - `match`: legal opcode after the change
    - `nearest`: text of the nearest legal opcode if one change is not enough, else ""
    """

    kind: str
    slot: str
    position: int
    found: str
    legal: tuple[str, ...]
    match: Match
    nearest: str = ""

    @property
    def is_known(self) -> bool:
        """True if the Form allows the found word for the modifier, but not together with the other words."""
        form = self.match.form
        return self.slot in form.columns and (self.kind != "word" or self.found in form.vocabulary[self.slot])

    @property
    def similarity(self) -> float:
        """Similarity of the found word to the most similar legal word."""
        if not self.found or self.kind != "word":
            return 0.0
        similarity = max((_similarity(self.found, word) for word in self.legal if word), default=0.0)
        if self.legal == (self.slot,):
            return similarity / 2  # users seldom mean a literal word
        return similarity + 2 * (self.found in _words_by_slot().get(self.slot, ()))  # legal in another Form


@lru_cache(maxsize=4096)
def fixes(opcode: str) -> tuple[Fix, ...]:
    """Return the single changes that make an illegal opcode legal, the most likely change first.

    If several changes are necessary, return only the first of them, with `Fix.nearest`.
    """
    words = tuple(opcode.split("."))
    family = forms_of(words[0])
    # Another instruction of the family may be fewer changes away, but the author meant the one that is named.
    counts = [_match_name(form, words)[0] for form in family]
    family = tuple(form for form, count in zip(family, counts, strict=True) if count == max(counts) or max(counts) < 2)
    found = [fix for form in family for order in form.orders for fix in _single_changes(form, order, words)]
    if not found:  # align the opcode with each syntax line, with the fewest changes
        ways = [_least_changes(form, order, words) for form in family for order in form.orders]
        ways.sort(key=lambda way: way[0])
        found = [fix for _, fix in ways[:1]]
    best: dict[tuple[str, str], Fix] = {}
    for fix in sorted(found, key=lambda fix: (min(1, _KINDS.index(fix.kind)), not fix.is_known, -fix.similarity)):
        best.setdefault((fix.match.form.name, fix.slot), fix)
    forms: dict[str, list[Fix]] = {}
    for fix in best.values():
        forms.setdefault(fix.match.form.name, []).append(fix)
    return tuple(fix for group in forms.values() for fix in sorted(group, key=_rank))


def insertions(opcode: str) -> Iterator[Fix]:
    """Yield the insertions of one missing word that make an opcode legal in some Form."""
    words = tuple(opcode.split("."))
    for form in forms_of(words[0]):
        for order in form.orders:
            yield from (fix for fix in _single_changes(form, order, words) if fix.kind == "missing")


@lru_cache(maxsize=4096)
def reordered(
    opcode: str, more_forms: Callable[[str], tuple[Form, ...]] | None = None
) -> tuple[tuple[str, Match], ...]:
    """Return the legal opcodes with the same words in another order, each with its match.

    `more_forms` returns additional Forms to try, given the first word of an opcode.
    """
    if len(opcode) > LONGEST_OPCODE:
        return ()
    words = tuple(opcode.split("."))
    known = forms_of(words[0]) + (more_forms(words[0]) if more_forms else ())
    ways = (way for form in known for order in form.orders for way in _reordered(form, order, words))
    return tuple({way[1].form.name: way for way in ways}.values())


def instruction_name(words: tuple[str, ...]) -> str:
    """Return the leading words of an opcode that name its instruction, such as "wgmma.mma_async"."""
    return ".".join(words[: max((count_name_words(form, words) for form in forms_of(words[0])), default=1)])


def count_name_words(form: Form, words: tuple[str, ...]) -> int:
    """Return the number of leading opcode words that spell the name of a Form, or 0 for another name."""
    count, is_whole = _match_name(form, words)
    return count if is_whole else 0


def _match_name(form: Form, words: tuple[str, ...]) -> tuple[int, bool]:
    """Return how many leading opcode words agree with the name of a Form, and True if all of it agrees."""
    count = named = 0
    for word in form.syntax.words:
        if named == form.name_words and word.slot not in OPTIONAL_NAME_WORDS:
            break
        if count < len(words) and bind_word(word, words[count], form.vocabulary) is not None:
            count += 1
        elif word.optional:
            continue
        else:
            return count, False
        named += not word.optional
    return count, True


def has_same_name(form: Form, one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return True if the opcodes `one` and `other` begin with the same words of the Form's name."""
    count = count_name_words(form, other)
    return one[:count] == other[:count]


_ORDERED: tuple[Callable[[str], bool], ...] = (
    lambda word: word in TYPES or _FORMAT.fullmatch(word) is not None,
    lambda word: word in ("row", "col"),
    lambda word: word.partition("::")[0] in ("global", "shared"),
    lambda word: word in ("and", "or", "xor", "popc"),
)
"""Tests for types, layouts, state spaces and bit operations. Words of one category keep their order."""


def _rank(fix: Fix) -> tuple[int, int, float]:
    kind = _KINDS.index(fix.kind)
    if fix.is_known:  # a replaced and an extra word rank alike, by column, the last column first
        return min(_KINDS.index("word"), kind), -fix.match.form.columns.index(fix.slot), 0.0
    return kind, 0, -fix.similarity


@cache
def _words_by_slot() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for form in forms():
        for slot, words in form.vocabulary.items():
            found[slot] = found.get(slot, frozenset()) | words
    return found


def _single_changes(form: Form, order: tuple[Word, ...], words: tuple[str, ...]) -> Iterator[Fix]:
    for kind, word, position, slots, at in _one_off(form, order, words):
        if kind in ("extra", "doubled"):
            if rows := form.rows_of(slots):
                yield Fix(kind, words[position], position, words[position], (), Match(form, slots, rows))
        elif word is None:
            yield from _row_changes(form, order, words, slots, at)
        elif legal := _legal_words(form, word, slots):
            chosen = slots | _bound(form, word, legal[0])
            found = words[position] if kind == "word" else ""
            match = Match(form, chosen, form.rows_of(chosen))
            yield Fix(kind, word.slot or word.literal, min(position, len(words) - 1), found, legal, match)


_Alignment = tuple[str, Word | None, int, dict[str, str], tuple[int, ...]]
"""Alignment of an opcode with a pattern that needs at most one change.

The items are the kind of change, the word of the pattern, the position in the opcode, the words of the slots, and the
position of each word of the pattern. Without a change, the kind is "row".
"""


def _one_off(form: Form, order: tuple[Word, ...], words: tuple[str, ...]) -> Iterator[_Alignment]:
    def walk(
        at: tuple[int, ...], w: int, slots: dict[str, str], change: tuple[str, Word | None, int] | None
    ) -> Iterator[_Alignment]:
        if len(at) == len(order) and w == len(words):
            kind, word, position = change or ("row", None, -1)
            yield kind, word, position, slots, at
            return
        if len(at) < len(order):
            word, after = order[len(at)], (*at, w)
            bound = bind_word(word, words[w], form.vocabulary) if w < len(words) else None
            if bound is not None:
                yield from walk(after, w + 1, slots | bound, change)
            elif change is None and 0 < w < len(words):
                yield from walk(after, w + 1, slots, ("word", word, w))
            if word.optional:
                yield from walk(after, w, slots | {word.slot: ""}, change)
            elif change is None and w > 0 and bound is None and not word.slot.endswith("variant"):
                yield from walk(after, w, slots, ("missing", word, w))
        if change is None and 0 < w < len(words):
            kind = "doubled" if words[w] in words[:w] + words[w + 1 :] else "extra"
            yield from walk(at, w + 1, slots, (kind, None, w))

    yield from walk((), 0, {}, None)


def _row_changes(
    form: Form, order: tuple[Word, ...], words: tuple[str, ...], slots: Mapping[str, str], at: Sequence[int]
) -> Iterator[Fix]:
    """Yield the changes of one modifier after which the words of an opcode are legal together.

    `slots` maps modifiers to words. `at` contains the position in the opcode of each word of `order`.
    """
    for column in form.columns:
        legal = _legal_cells(form, column, slots)
        if not legal:
            continue
        found = slots.get(column, "")
        position = _position(order, column, words, at)
        chosen = {**slots, column: max(legal, key=lambda word: _similarity(found, word) if found and word else 0.0)}
        kind = "missing" if not found else "word" if any(legal) else "doubled" if words.count(found) > 1 else "extra"
        match = Match(form, respell(form, chosen), form.rows_of(chosen))
        yield Fix(kind, column, position, found, legal, match)


def _legal_cells(form: Form, column: str, slots: Mapping[str, str]) -> tuple[str, ...]:
    legal = (
        word
        for row in form.rows
        if column in row.cells and all(row.allows(c, slots.get(c, "")) for c in row.cells if c != column)
        for word in row.cells[column]
    )
    return tuple(dict.fromkeys(legal))


def _legal_words(form: Form, word: Word, slots: Mapping[str, str]) -> tuple[str, ...]:
    if word.composite is None:
        if word.literal:
            with_it = {**slots, word.slot: word.literal} if word.slot else slots
            return (word.literal,) if form.rows_of(with_it) else ()
        return tuple(text for text in _legal_cells(form, word.slot, slots) if text)
    fitting = (
        row for row in form.rows if all(row.allows(c, slots.get(c, "")) for c in row.cells if c not in form.parts)
    )
    return tuple(dict.fromkeys(text for row in fitting for text in _spellings(form, word.slot, row)))


def _spellings(form: Form, slot: str, row: Row) -> Iterator[str]:
    parts = [column for column in form.columns if column in form.parts]
    for cells in product(*(row.cells[part] for part in parts)):
        yield form.composites[slot].format(**dict(zip(parts, cells, strict=True)))


def _bound(form: Form, word: Word, text: str) -> dict[str, str]:
    return bind_word(word, text, form.vocabulary) or {}


def respell(form: Form, slots: Mapping[str, str]) -> dict[str, str]:
    """Return `slots` with rebuilt words of composite modifiers, such as `m64n{n}k{k}` from n and k."""
    spelled = dict(slots)
    for slot, pattern in form.composites.items():
        spelled[slot] = pattern.format(**{name: slots.get(name, "") for name in form.parts})
    return spelled


def _position(order: tuple[Word, ...], column: str, words: tuple[str, ...], at: Sequence[int]) -> int:
    for word, position in zip(order, at, strict=True):
        if column == word.slot or (word.composite and column in word.composite.groupindex):
            return min(position, len(words) - 1)
    return len(words) - 1


def _reordered(form: Form, order: tuple[Word, ...], words: tuple[str, ...]) -> Iterator[tuple[str, Match]]:
    """Arrange words as in the pattern `order`. Yield the resulting opcode and its match if it is legal."""
    left = list(words)
    slots: dict[str, str] = {}
    arranged: list[str] = []
    for word in order:
        text = next((text for text in left if bind_word(word, text, form.vocabulary) is not None), None)
        if text is not None:
            left.remove(text)
            arranged.append(text)
            slots |= _bound(form, word, text)
        elif word.optional:
            slots[word.slot] = ""
        else:
            return
    rows = form.rows_of(slots)
    if left or not rows or tuple(arranged) == words or not has_same_name(form, words, tuple(arranged)):
        return
    if all([w for w in words if kind(w)] == [w for w in arranged if kind(w)] for kind in _ORDERED):
        yield ".".join(arranged), Match(form, slots, rows)


def _least_changes(form: Form, order: tuple[Word, ...], words: tuple[str, ...]) -> tuple[float, Fix]:
    """Return the cost of changing `words` to the nearest legal opcode, and the first change."""
    m, n = len(order), len(words)
    cost = [[0.0] * (n + 1) for _ in range(m + 1)]
    step = [[""] * (n + 1) for _ in range(m + 1)]
    for p in range(m, -1, -1):
        for w in range(n, -1, -1):
            if p == m and w == n:
                continue
            ways: list[tuple[float, str]] = []
            if p < m and w < n:
                fits = bind_word(order[p], words[w], form.vocabulary) is not None
                ways.append((cost[p + 1][w + 1] + (0.0 if fits else 1.0), "both"))
            if p < m:
                ways.append((cost[p + 1][w] + (0.0 if order[p].optional else 1.0), "skip"))
            if w < n:
                ways.append((cost[p][w + 1] + 1.1, "drop"))
            cost[p][w], step[p][w] = min(ways)
    slots: dict[str, str] = {}
    faults: list[tuple[str, str, int, str]] = []
    at: list[int] = []
    w = 0
    while len(at) < m or w < n:
        way = step[len(at)][w]
        if way == "drop":
            kind = "doubled" if words.count(words[w]) > 1 else "extra"
            faults.append((kind, words[w], w, words[w]))
            w += 1
            continue
        word = order[len(at)]
        at.append(w)
        if way == "both":
            bound = bind_word(word, words[w], form.vocabulary)
            if bound is None:
                faults.append(("word", word.slot or word.literal, w, words[w]))
            slots |= bound or {}
            w += 1
        elif word.optional:
            slots[word.slot] = ""
        else:
            faults.append(("missing", word.slot or word.literal, min(w, n - 1), ""))
    row = min(form.rows, key=lambda row: _distance(row, slots))
    chosen = _complete(form, row, slots)
    wrong = [
        ("word", column, _position(order, column, words, at), slots[column])
        for column in form.columns
        if column in slots and slots[column] not in row.cells[column] and slots[column]
    ]
    total = cost[0][0] + _distance(row, slots)
    kind, slot, position, found = (faults or wrong or [("word", form.columns[0] if form.columns else "", 0, "")])[0]
    legal = _legal_in(form, slot, row)
    fix = Fix(kind, slot, position, found, legal, Match(form, chosen, form.rows_of(chosen)), _spell(order, chosen))
    return total - fix.similarity / 100, fix


def _legal_in(form: Form, slot: str, row: Row) -> tuple[str, ...]:
    if slot in row.cells:
        return row.cells[slot]
    if slot in form.composites:
        return tuple(_spellings(form, slot, row))
    return (slot,) if slot else ()


def _distance(row: Row, slots: Mapping[str, str]) -> float:
    return sum(1.0 for column, words in row.cells.items() if slots.get(column, "") not in words)


def _complete(form: Form, row: Row, slots: Mapping[str, str]) -> dict[str, str]:
    chosen = dict(slots)
    for column, words in row.cells.items():
        found = slots.get(column, "")
        if found in words:
            chosen[column] = found
        else:
            chosen[column] = max(words, key=lambda word: _similarity(found, word) if found and word else not word)
    for word in form.syntax.words:
        if word.slot and word.optional and word.slot not in form.columns:
            chosen.setdefault(word.slot, "")
    return respell(form, chosen)


def _spell(order: tuple[Word, ...], slots: Mapping[str, str]) -> str:
    words = (slots.get(word.slot, "") if word.slot else word.literal for word in order)
    return ".".join(word for word in words if word)


def spell(match: Match) -> str:
    """Return the opcode of a match, in the word order of the syntax line."""
    return _spell(match.form.syntax.words, match.slots)


@lru_cache(maxsize=4096)
def _similarity(one: str, other: str) -> float:
    from difflib import SequenceMatcher  # a run of legal instructions does not need the module

    near = SequenceMatcher(None, _DIGITS.sub("8", one), _DIGITS.sub("8", other)).ratio() + (one[0] == other[0])
    if one in TYPES and other in TYPES:
        near += (TYPES[one].bits == TYPES[other].bits) + (one[0] in _INTEGERS and other[0] in _INTEGERS)
    return near
