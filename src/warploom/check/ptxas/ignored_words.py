"""Words that assemblers pass over on instructions that do not have them.

Every other word that an instruction does not have is refused.

Source: ptxas 12.9 to 13.1, asked for each form and each word of the language
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from warploom.isa.binding.nearest import name_of, named_words
from warploom.isa.model.form import forms_of
from warploom.isa.model.types import TYPES


@dataclass(frozen=True, slots=True)
class Spare:
    """A class of words: how many of them are passed over together (0: any number), and on which instructions.

    Without `names` they are passed over on every instruction none of whose forms has one of them.
    """

    words: frozenset[str]
    most: int
    names: frozenset[str] = frozenset()

    def is_for(self, words: tuple[str, ...]) -> bool:
        """Whether it holds on the instruction of an opcode."""
        name = name_of(words)
        return name in self.names if self.names else not self.words & _vocabulary(name)


@cache
def _vocabulary(name: str) -> frozenset[str]:
    """The words that stand in slots of the forms of an instruction."""
    words = tuple(name.split("."))
    named = (form for form in forms_of(words[0]) if named_words(form, words) == len(words))
    return frozenset[str]().union(*(found for form in named for found in form.vocabulary.values()))


def _spare(words: str, most: int = 0, names: str = "") -> Spare:
    return Spare(frozenset(words.split()), most, frozenset(names.split()))


_SPARE = (
    _spare("finite infinite number notanumber normal subnormal", most=1),
    _spare(
        "global_address global_dim global_stride box_dim rank element_stride elemtype fill_mode"
        " interleave_layout swizzle_mode swizzle_atomicity",
        most=1,
    ),
    _spare("acc::f16 acc::f32", most=1),
    _spare("b8x16 b6x16_p32 b4x16_p64"),
    _spare(
        "pred",
        names="abs add sub mul fma neg min max rcp sqrt rsqrt sin cos lg2 ex2 tanh set setp cvt cvt.pack atom red"
        " cp.reduce.async.bulk wgmma.mma_async wmma.mma",
    ),
    _spare(
        "row col",
        most=2,
        names="ldmatrix stmatrix movmatrix wgmma.mma_async tcgen05.ld tcgen05.ld.red tcgen05.st tcgen05.cp",
    ),
    _spare("b1 u2 s2 u4 s4 bf16 bf16x2 tf32", names="movmatrix"),
    _spare("cta cluster gpu sys", most=1, names="cp.async.bulk"),
    _spare("any all", most=1, names="bar"),
    _spare("any", most=1, names="bar.arrive bar.red"),
)


_TAILS = re.compile(r"::(?:ld|st|before_thread_sync|after_thread_sync)$")
_WITH_TAILS = frozenset({"tcgen05", "griddepcontrol"})
"""What assemblers pass over at the end of any word, and the instructions where it belongs to a word."""

SAYS_LENGTH = frozenset({"mma", "wmma", "wgmma"})
"""Instructions that may say how many registers their vectors have, as loads do."""


def bare(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of an opcode without the tails that are passed over."""
    return words if words[0] in _WITH_TAILS else (words[0], *(_TAILS.sub("", word) for word in words[1:]))


def without_spare(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The words of an opcode without those that are passed over, where there are any."""
    left = bare(words)
    for spare in _SPARE:
        found = [word for word in left[1:] if word in spare.words]
        if found and (not spare.most or len(found) <= spare.most) and spare.is_for(words):
            left = (left[0], *(word for word in left[1:] if word not in spare.words))
    if left != words:
        yield left
    yield from _without_narrow(left)


_NARROW = frozenset({"b1", "b2", "u2", "s2", "u4", "s4", "bf16", "bf16x2", "tf32"})
_ALWAYS_COUNTED = frozenset({"bf16", "tf32", "b1"})


def _bits(word: str) -> int:
    return TYPES[word].bits if word in TYPES else int(word[1:])


def _without_narrow(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The words of a matrix opcode without the narrow types that assemblers do not count.

    They look at the first types alone (four of a product, one of a move), and at the widths of most of them;
    that there are more is seen where single bits, bf16 or tf32 are multiplied, and a sparse A by integers.
    """
    at = [k for k, word in enumerate(words) if k and (word in TYPES or word in _NARROW)]
    spare = [k for k in at if words[k] in _NARROW]
    counted = 4 if words[0] == "mma" else 1 if words[:2] in _MOVES else 0
    if not spare or not counted:
        return
    for dropped in (spare, [k for k in spare if k in at[counted - 1 :]]):
        left = [words[k] for k in at if k not in dropped]
        seen = zip((words[k] for k in at[:counted]), left, strict=False)
        if (
            dropped
            and len(left) >= counted
            and not (_ALWAYS_COUNTED & {*left} or (words[1][:2] == "sp" and left[0] == "s32"))
            and (left[0] == "f64" or all(_bits(found) == _bits(read) for found, read in seen))
            and (words[:2] not in _MOVES or _FEW_BITS & {*words})
        ):
            yield tuple(word for k, word in enumerate(words) if k not in dropped)


_MOVES = (("wmma", "load"), ("wmma", "store"))
_FEW_BITS = frozenset({"m8n8k32", "m8n8k128"})
