"""Random test instructions that the record of ptxas lacks, with up to two changes."""

import random
from collections.abc import Callable, Container, Iterable, Sequence

from warploom.diagnostics import UsageError
from warploom.isa.model.form import Form, forms
from warploom_lab.ptxas import operand_changes
from warploom_lab.ptxas.cases import LEGAL, Case, all_words, family_words
from warploom_lab.ptxas.instruction_text import Slots, combinations_of, instruction, opcode_words, write_operands
from warploom_lab.ptxas.points import RECENT_TARGETS, TARGETS, Point, point, recent_points, versions_of
from warploom_lab.ptxas.probe import Probe

_CHANGES = (0, 1, 1, 1, 2)
_FAMILY_WORDS = 0.7  # share of new words from the family; the others come from the whole ISA
_WORD_SHARE = 0.55  # share of changes that change a word; the others change an operand
_NAMED_TARGETS = 0.6  # share of points on a target that the form names
_LAST_VERSION = 0.65  # share of points at the last version of their target


def random_cases(
    count: int,
    seed: int,
    families: Iterable[str] = (),
    known: Container[tuple[str, Point]] = frozenset(),
    *,
    recent: bool = False,
) -> list[Case]:
    """Return `count` distinct test instructions, each with one target, PTX version and ptxas release.

    (`Probe.key`, point) pairs in `known` are left out. A seed gives the same result until the Forms change. With
    `recent`, the release is the newest one and the PTX version is 9.2 or later.

    Errors: UsageError for an unknown family.
    """
    wanted = frozenset(families)
    chosen = [form for form in forms() if not wanted or form.family in wanted]
    if not chosen:
        raise UsageError(f"unknown family '{', '.join(sorted(wanted))}'")
    chance = random.Random(seed)
    slots: dict[str, list[Slots]] = {}
    found: dict[tuple[str, Point], Case] = {}
    while len(found) < count:
        form = chance.choice(chosen)
        if form.name not in slots:
            slots[form.name] = [each for row in form.rows for each in combinations_of(form, row)]
        case = _case(form, chance.choice(slots[form.name]), chance, recent=recent)
        key = case.probe.key, case.points[0]
        if key not in known:
            found.setdefault(key, case)
    return list(found.values())


def _case(form: Form, slots: Slots, chance: random.Random, *, recent: bool) -> Case:
    words = opcode_words(form, slots, chance.choice(form.orders))
    operands = write_operands(form, slots, optional=chance.random() < 0.4)
    slot, changes = "", list[str]()
    for _ in range(chance.choice(_CHANGES)):
        if chance.random() < _WORD_SHARE:
            words, change = chance.choice(_WORD_CHANGES)(form, words, chance)
        elif alternatives := list(operand_changes.of(form, slots, optional=False)):
            slot, change, operands = chance.choice(alternatives)
        else:
            continue
        changes.append(change)
    probe = Probe(instruction(words, operands))
    return Case(form.name, slot, " and ".join(changes) or LEGAL, probe, (_point(form, chance, recent=recent),))


def _point(form: Form, chance: random.Random, *, recent: bool) -> Point:
    targets = RECENT_TARGETS if recent else TARGETS
    named = sorted({name for row in form.rows for name in row.targets} & set(targets))
    target = chance.choice(named if named and chance.random() < _NAMED_TARGETS else targets)
    points = recent_points(target) if recent else tuple(point(target, version) for version in versions_of(target))
    return points[-1] if chance.random() < _LAST_VERSION else chance.choice(points)


# Changes of a word ----------------------------------------------------------------------------------------


def _replace_word(form: Form, words: Sequence[str], chance: random.Random) -> tuple[list[str], str]:
    k = chance.randrange(len(words))
    new = _word(form, chance) if k else chance.choice(sorted(form.heads))
    return [*words[:k], new, *words[k + 1 :]], f"{words[k]} to {new}"


def _insert_word(form: Form, words: Sequence[str], chance: random.Random) -> tuple[list[str], str]:
    k, new = chance.randint(1, len(words)), _word(form, chance)
    return [*words[:k], new, *words[k:]], f"{new} at {k}"


def _remove_word(form: Form, words: Sequence[str], chance: random.Random) -> tuple[list[str], str]:
    k = chance.randrange(1, len(words)) if len(words) > 1 else 0
    return [*words[:k], *words[k + 1 :]] or [*words], f"{words[k]} missing"


def _exchange_words(form: Form, words: Sequence[str], chance: random.Random) -> tuple[list[str], str]:
    changed = [*words]
    k, j = (chance.randrange(min(1, len(words) - 1), len(words)) for _ in range(2))
    changed[k], changed[j] = changed[j], changed[k]
    return changed, f"{words[k]} with {words[j]}"


def _word(form: Form, chance: random.Random) -> str:
    family = family_words(form)
    return chance.choice(family if family and chance.random() < _FAMILY_WORDS else all_words())


_WordChange = Callable[[Form, Sequence[str], random.Random], tuple[list[str], str]]
_WORD_CHANGES: tuple[_WordChange, ...] = (
    *(_replace_word, _replace_word, _replace_word),
    *(_insert_word, _remove_word, _exchange_words),
)
