"""Opcode words that ptxas ignores on instructions whose syntax does not have them.

Source: answers of ptxas 12.9 to 13.1 for each Form and each word of the language
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from warploom.isa.binding.nearest import count_name_words, instruction_name
from warploom.isa.model.form import forms_of
from warploom.isa.model.types import TYPES


@dataclass(frozen=True, slots=True)
class IgnoredWords:
    """Class of opcode words that ptxas ignores."""

    words: frozenset[str]
    limit: int  # ptxas refuses more in one opcode; 0: no limit
    names: frozenset[str] = frozenset()  # of instructions; empty: all that have none of the words

    def is_for(self, words: tuple[str, ...]) -> bool:
        """Return True if ptxas ignores `self.words` in an opcode. `words` is the opcode, split at the dots."""
        name = instruction_name(words)
        return name in self.names if self.names else not self.words & _vocabulary(name)


@cache
def _vocabulary(name: str) -> frozenset[str]:
    words = tuple(name.split("."))
    named = (form for form in forms_of(words[0]) if count_name_words(form, words) == len(words))
    return frozenset[str]().union(*(found for form in named for found in form.vocabulary.values()))


def _ignored(words: str, limit: int = 0, names: str = "") -> IgnoredWords:
    return IgnoredWords(frozenset(words.split()), limit, frozenset(names.split()))


_IGNORED = (
    _ignored("finite infinite number notanumber normal subnormal", limit=1),
    _ignored(
        "global_address global_dim global_stride box_dim rank element_stride elemtype fill_mode"
        " interleave_layout swizzle_mode swizzle_atomicity",
        limit=1,
    ),
    _ignored("acc::f16 acc::f32", limit=1),
    _ignored("b8x16 b6x16_p32 b4x16_p64"),
    _ignored(
        "pred",
        names="abs add sub mul fma neg min max rcp sqrt rsqrt sin cos lg2 ex2 tanh set setp cvt cvt.pack atom red"
        " cp.reduce.async.bulk wgmma.mma_async wmma.mma",
    ),
    _ignored(
        "row col",
        limit=2,
        names="ldmatrix stmatrix movmatrix wgmma.mma_async tcgen05.ld tcgen05.ld.red tcgen05.st tcgen05.cp",
    ),
    _ignored("b1 u2 s2 u4 s4 bf16 bf16x2 tf32", names="movmatrix"),
    _ignored("cta cluster gpu sys", limit=1, names="cp.async.bulk"),
    _ignored("any all", limit=1, names="bar"),
    _ignored("any", limit=1, names="bar.arrive bar.red"),
)


_SUFFIX = re.compile(r"::(?:ld|st|before_thread_sync|after_thread_sync)$")
_WITH_SUFFIXES = frozenset({"tcgen05", "griddepcontrol"})
"""Instructions whose words have suffixes of their own. On others, ptxas ignores the suffix of a word."""

MAY_STATE_LENGTH = frozenset({"mma", "wmma", "wgmma"})
"""Instructions whose opcode may state the length of their vectors, as loads do."""


def without_suffixes(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of an opcode without the suffixes that ptxas ignores."""
    return words if words[0] in _WITH_SUFFIXES else (words[0], *(_SUFFIX.sub("", word) for word in words[1:]))


def without_ignored(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the words of an opcode as ptxas may read them, without the words that it ignores."""
    left = without_suffixes(words)
    for ignored in _IGNORED:
        found = [word for word in left[1:] if word in ignored.words]
        if found and (not ignored.limit or len(found) <= ignored.limit) and ignored.is_for(words):
            left = (left[0], *(word for word in left[1:] if word not in ignored.words))
    if left != words:
        yield left
    yield from _without_narrow(left)


_NARROW = frozenset({"b1", "b2", "u2", "s2", "u4", "s4", "bf16", "bf16x2", "tf32"})
_ALWAYS_COUNTED = frozenset({"bf16", "tf32", "b1"})


def _bits(word: str) -> int:
    return TYPES[word].bits if word in TYPES else int(word[1:])


def _without_narrow(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the words of a matrix opcode without narrow types, if ptxas may ignore these types."""
    at = [k for k, word in enumerate(words) if k and (word in TYPES or word in _NARROW)]
    ignored = [k for k in at if words[k] in _NARROW]
    # ptxas checks only these first types.
    counted = 4 if words[0] == "mma" else 1 if words[:2] in _MOVES else 0
    if not ignored or not counted:
        return
    for dropped in (ignored, [k for k in ignored if k in at[counted - 1 :]]):
        left = [words[k] for k in at if k not in dropped]
        compared = zip((words[k] for k in at[:counted]), left, strict=False)
        if (
            dropped
            and len(left) >= counted
            # ptxas ignores no type with these elements, or with integers and a sparse A.
            and not (_ALWAYS_COUNTED & {*left} or (words[1][:2] == "sp" and left[0] == "s32"))
            and (left[0] == "f64" or all(_bits(found) == _bits(read) for found, read in compared))
            and (words[:2] not in _MOVES or _NARROW_SHAPES & {*words})
        ):
            yield tuple(word for k, word in enumerate(words) if k not in dropped)


_MOVES = (("wmma", "load"), ("wmma", "store"))
_NARROW_SHAPES = frozenset({"m8n8k32", "m8n8k128"})
