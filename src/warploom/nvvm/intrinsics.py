"""Names of LLVM's intrinsics: from a form and its modifiers to the name, and back.

    name_of(form, {"shape": "m16n8k16", …})                         # the intrinsic of an instruction
    read_name("llvm.nvvm.mma.m16n8k16.row.col.f32.f32")             # Intrinsic(form=…, words={...}, origin="llvm")

The origin is "llvm" for intrinsics of LLVM 22, "later" for those of later releases, and "nvidia" for those
that only NVIDIA's compiler has.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.resources import files
from itertools import product
from types import MappingProxyType
from typing import Any

from warploom.diagnostics import UsageError
from warploom.isa import instructions
from warploom.isa.binding.compose import slots_of
from warploom.isa.model.form import Form
from warploom.isa.model.table import Row
from warploom.nvvm import forms

_PIECE = re.compile(
    r"\[\.\{(?P<maybe>\w+)\}\]|\[_\{(?P<joined>\w+)\}\]|\[\.(?P<given>\w+=\w+)\]|\{(?P<slot>\w+)\}|<(?P<number>\w+)>"
    r"|(?P<text>[^\[{<]+)"
)
PREFIX = "llvm.nvvm."
"""Start of the names of LLVM's intrinsics for NVIDIA's targets."""
_POINTERS = re.compile(r"(?:\.p\d+)+$")
NO_OPERANDS: Mapping[str, object] = MappingProxyType({})
_TYPE_SLOTS = ("atype", "btype")
_DEFAULT_TYPE = "f16"
_SEPARATORS = {"slot": "", "maybe": ".", "joined": "_"}
"""Separator before a modifier, by group of `_PIECE`."""


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """Intrinsic of LLVM or NVIDIA: its form, and its modifiers by name ("" for an absent one).

    `operands` has the optional operands that the name implies, and the values of constant operands in the name.
    Modifiers that `words` lacks are arguments of the call, such as the flag for a cache hint.
    """

    name: str
    form: Form
    words: dict[str, str]
    operands: dict[str, int | None]
    origin: str

    @property
    def targets(self) -> tuple[str, ...]:
        """Targets that have the instruction."""
        return tuple(dict.fromkeys(target for row in self._rows for target in row.targets))

    @property
    def ptx(self) -> tuple[int, int]:
        """First PTX version that has an instruction with the modifiers in the name."""
        return min(row.ptx for row in self._rows)

    @property
    def _rows(self) -> list[Row]:
        cells = {slot: word for slot, word in self.words.items() if slot in self.form.columns}
        return [row for row in self.form.rows if all(row.allows(slot, word) for slot, word in cells.items())]


@dataclass(frozen=True)
class Pattern:
    """Pattern of intrinsic names for one form. intrinsics.toml describes the fields."""

    form: Form
    name: str
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    types: str = ""
    equal: bool | None = None
    needs: str = ""
    excluded: str = ""
    spelling: Mapping[str, str] = field(default_factory=dict[str, str])
    origin: str = "llvm"
    signature: str | None = None

    @cached_property
    def pieces(self) -> tuple[tuple[str, str], ...]:
        """Parts of the pattern: pairs of a kind and a text, such as ("slot", "shape")."""
        return tuple((str(each.lastgroup), each[str(each.lastgroup)]) for each in _PIECE.finditer(self.name))

    @cached_property
    def slots(self) -> list[str]:
        """Names of the modifiers, such as "shape", that occur in the pattern."""
        return [text for kind, text in self.pieces if kind in _SEPARATORS]

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """Regular expression for the intrinsic names, with one group for each modifier."""
        parts: list[str] = []
        for kind, text in self.pieces:
            if kind == "text":
                parts.append(re.escape(text))
            elif kind == "given":
                word, _, operand = text.partition("=")
                parts.append(rf"(?P<{operand}>\.{word})?")
            elif kind == "number":
                parts.append(rf"(?P<{text}>\d+)")
            else:
                words = sorted(map(self.spelled, self._vocabulary(text)), key=len, reverse=True)
                choice = f"(?P<{text}>{'|'.join(map(re.escape, words))})"
                parts.append(choice if kind == "slot" else rf"(?:{re.escape(_SEPARATORS[kind])}{choice})?")
        return re.compile("".join(parts))

    def _vocabulary(self, slot: str) -> list[str]:
        form = self.form
        if slot in form.composites:
            parts = re.findall(r"\{(\w+)\}", form.composites[slot])
            every = product(*(sorted(form.vocabulary[part]) for part in parts))
            return [form.composites[slot].format(**dict(zip(parts, each, strict=True))) for each in every]
        words = sorted(form.vocabulary.get(slot, frozenset()))
        words += [word.literal for word in form.syntax.words if word.slot == slot == word.literal]
        return [word for word in dict.fromkeys(words) if word not in self.excluded.split()]

    def spelled(self, word: str) -> str:
        """Return the spelling of a PTX modifier in intrinsic names."""
        return self.spelling.get(word) or word.replace("::", ".")

    def word(self, slot: str, spelled: str) -> str:
        """Return the PTX modifier for a spelling, or "" if it is unknown. `slot` is the modifier's name."""
        return next((word for word in self._vocabulary(slot) if self.spelled(word) == spelled), "")

    def fits(self, words: Mapping[str, str]) -> bool:
        """Return True if an instruction with these modifiers has a name of this pattern."""
        a, b = (words.get(slot) or _DEFAULT_TYPE for slot in _TYPE_SLOTS)
        return (
            all(words.get(slot, "") == word for slot, word in self.words.items())
            and all(words.get(text) for kind, text in self.pieces if kind == "slot")
            and (not self.types or {a, b} <= set(self.types.split()))
            and (self.equal is None or (a == b) == self.equal)
            and not set(self.excluded.split()) & set(words.values())
        )

    def written(self, words: Mapping[str, str], operands: Mapping[str, object]) -> str:
        """Return the intrinsic's name for `words`, which must contain every modifier of the pattern.

        An operand of the pattern that is in `operands` adds a part such as `.stride`.
        """
        parts: list[str] = []
        for kind, text in self.pieces:
            if kind == "text":
                parts.append(text)
            elif kind == "given":
                word, _, operand = text.partition("=")
                parts.append(f".{word}" if operand in operands else "")
            elif kind == "number":
                parts.append(str(operands[text]))
            elif word := self.spelled(words[text]):
                parts.append(f"{_SEPARATORS[kind]}{word}")
        return "".join(parts)

    def completed(self, words: dict[str, str]) -> Iterator[dict[str, str]]:
        """Yield all modifiers for each row of the Form that allows `words`.

        They are `words`, and the only possible value of each other modifier. Rows with a choice are skipped.
        """
        form = self.form
        known = {**self.words, **words}
        if self.equal:
            known |= dict.fromkeys(_TYPE_SLOTS, known[_TYPE_SLOTS[0]])
        for slot, spelling in form.composites.items():
            if slot in known:
                regex = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>\\d+)", re.escape(spelling))
                found = re.fullmatch(regex, known[slot])
                known |= found.groupdict() if found else {}
        for row in form.rows:
            if not all(row.allows(slot, word) for slot, word in known.items() if slot in form.columns):
                continue
            # The arguments of a call state some required modifiers.
            stated = {each.partition(":")[0] for each in (self.signature or "").split()}
            rest = {
                slot: cell
                for slot, cell in row.cells.items()
                if slot not in known and ("" in cell or slot not in stated)
            }
            if all(len(cell) == 1 or "" in cell for cell in rest.values()):
                yield {**{slot: "" if "" in cell else cell[0] for slot, cell in rest.items()}, **known}


# Patterns ---------------------------------------------------------------------------------------------------


@cache
def _table() -> dict[str, dict[str, Any]]:
    """Return the tables of intrinsics.toml: those of forms, and the two tables `codes` and `spelling`."""
    return tomllib.loads(files("warploom.nvvm").joinpath("intrinsics.toml").read_text(encoding="utf-8"))


def _entries() -> Iterator[tuple[Form, dict[str, Any]]]:
    """Yield each form with its table."""
    for key, entry in _table().items():
        if "names" in entry:
            yield from ((form, entry) for form in _forms_of(key))


def codes() -> dict[str, list[str]]:
    """Return the lists of modifiers that calls encode as an index, such as `kind`, by name."""
    return _table()["codes"]


def _forms_of(key: str) -> Sequence[Form]:
    # The key is a group of nvvm.forms, or a form in a module of instructions.
    module, _, name = key.partition(".")
    return [getattr(import_module(f"{instructions.__name__}.{module}"), name)] if name else getattr(forms, key)


@cache
def patterns() -> tuple[Pattern, ...]:
    """Return the patterns of all names in the order of intrinsics.toml."""
    spelling = _table()["spelling"]
    every = (
        Pattern(form, **{**fields, "spelling": spelling | fields.get("spelling", {})})
        for form, entry in _entries()
        for fields in _expanded(entry)
    )
    return tuple(pattern for pattern in every if set(pattern.slots) <= pattern.form.slot_names)


def _expanded(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the fields of the patterns of one table."""
    signature: dict[str, Any] = {"signature": entry.get("signature")}
    for each in entry["names"]:
        if isinstance(each, str):
            yield signature | {"name": each}
        elif "ordered" not in each:
            yield signature | each
        else:
            # One pattern for each memory order.
            name, space, suffix = each["ordered"], {"space": each["space"]}, f"space.{each['suffix']}"
            default = {"sem": each["default"], "scope": "cluster", **space}
            yield signature | {"name": f"{name}.scope.cta.{suffix}", "words": {"sem": "", "scope": "", **space}}
            yield signature | {"name": f"{name}.scope.{{scope}}.{suffix}", "words": default}
            relaxed = {"sem": "relaxed", **space}
            yield signature | {"name": f"{name}.{{sem}}.scope.{{scope}}.{suffix}", "words": relaxed}


# Names ------------------------------------------------------------------------------------------------------


def pattern_of(form: Form, words: Mapping[str, str], operands: Mapping[str, object]) -> Pattern:
    """Return the pattern of intrinsic names for an instruction.

    Errors: UsageError if LLVM has no such intrinsic
    """
    slots = slots_of(form, {slot: word for slot, word in words.items() if word})
    for pattern in patterns():
        if pattern.form is form and pattern.fits(slots) and (not pattern.needs or pattern.needs in operands):
            return pattern
    listed = " ".join(f"{slot}={word}" for slot, word in words.items() if word)
    raise UsageError(f"LLVM 22 has no intrinsic of {form.name} {f'with {listed}' if listed else 'without modifiers'}")


def name_of(form: Form, words: Mapping[str, str], operands: Mapping[str, object] = NO_OPERANDS) -> str:
    """Return the name of an instruction's intrinsic. `operands` are the present optional operands.

    Errors: UsageError if LLVM has no such intrinsic
    """
    slots = slots_of(form, {slot: word for slot, word in words.items() if word})
    return pattern_of(form, words, operands).written(slots, operands)


def read_name(name: str) -> Intrinsic:
    """Return the intrinsic with a name. Errors: UsageError for an unknown name."""
    # A name may end in the address spaces of its pointers, `.p0` or `.p3`.
    plain = _POINTERS.sub("", name)
    for pattern in patterns():
        if (found := pattern.regex.fullmatch(plain)) is None:
            continue
        words = {slot: pattern.word(slot, found[slot] or "") for slot in pattern.slots}
        operands: dict[str, int | None] = dict.fromkeys([pattern.needs] if pattern.needs else ())
        for kind, text in pattern.pieces:
            if kind in {"given", "number"} and (part := found[text.rpartition("=")[2]]):
                operands[text.rpartition("=")[2]] = int(part) if kind == "number" else None
        for completed in pattern.completed(words):
            if pattern.fits(completed):
                return Intrinsic(name, pattern.form, completed, operands, pattern.origin)
    raise UsageError(f"unknown intrinsic {name!r}; `warploom explain` accepts names such as llvm.nvvm.mapa")
