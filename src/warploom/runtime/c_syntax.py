"""Parser for C declarations of structures. The text is only read, never compiled or evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, NoReturn

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import did_you_mean
from warploom.lazy_dataclass import dataclass
from warploom.runtime.c_types import BASIC, NAMED, CType, Member, Pointer, Record, TooLarge, array_of, names_of, record

_TOKEN = re.compile(
    r"(?P<blank>\s+|//[^\n]*|/\*.*?\*/)|(?P<name>(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)"
    r"|(?P<number>\d\w*)|(?P<mark>[{}\[\]();,*])|(?P<other>.)",
    re.DOTALL,
)
_NUMBER = re.compile(r"(?P<value>0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)[uUlL]*")
_QUALIFIERS = ("const", "volatile", "restrict", "__restrict__", "__restrict", "mutable")
_KEYWORDS = ("unsigned", "signed", "char", "short", "int", "long", "float", "double", "bool", "_Bool")
_ALIGNERS = ("alignas", "_Alignas", "__align__")
_ATTRIBUTE = ("__attribute__", "__attribute")
_REFUSED = {
    "enum": "an enum; write its integer type instead",
    "class": "a class; write it as a struct",
    "template": "a template; write out the structure for the types in use",
    "static": "a static member, which is no part of the structure",
    "constexpr": "a constant, which is no part of the structure",
    "using": "an alias; write it as a typedef",
}
_DEPTH = 16  # nested structures


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class _Unknown:
    """Type without a definition, which only pointers may refer to."""

    name: str
    start: int


@dataclass(slots=True)
class _Attributes:
    align: int = 0
    packed: bool = False


@lru_cache(maxsize=64)
def parse_structure(text: str) -> Record:
    """Return the last structure or union that a C text declares.

    The text has one or more declarations with `struct`, `union` or `typedef`.

    Errors: UsageError launch.argument.
    """
    return _Parser(text).structure()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._tokens())
        self.at = 0
        self.depth = 0
        self.named: dict[str, CType] = dict(NAMED)
        self.tags: dict[str, Record] = {}

    def _tokens(self) -> Iterator[_Token]:
        for found in _TOKEN.finditer(self.text):
            kind = found.lastgroup or ""
            if kind == "other":
                self._refuse(found.start(), _strange(found[0]))
            if kind != "blank":
                yield _Token(kind, found[0], found.start())
        yield _Token("end", "the end of the text", len(self.text))

    # Tokens ---------------------------------------------------------------------------------------------------

    def _refuse(self, start: int, message: str) -> NoReturn:
        before = self.text[:start]
        line, column = before.count("\n") + 1, start - (before.rfind("\n") + 1) + 1
        raise UsageError(f"line {line}, column {column} of the C declaration: {message}", code="launch.argument")

    @property
    def next(self) -> _Token:
        return self.tokens[self.at]

    def _take(self) -> _Token:
        token = self.next
        self.at += token.kind != "end"
        return token

    def _accept(self, *texts: str) -> str:
        return self._take().text if self.next.kind != "end" and self.next.text in texts else ""

    def _expect(self, text: str, expected: str = "") -> None:
        if not self._accept(text):
            self._refuse(self.next.start, f"found {_shown(self.next)}; expected {expected or repr(text)}")

    def _number(self, what: str) -> int:
        token = self._take()
        found = _NUMBER.fullmatch(token.text) if token.kind == "number" else None
        if found is None:
            self._refuse(token.start, f"found {_shown(token)}; expected {what}, an integer")
        digits = found["value"]
        return int(digits, 16 if digits[:2].lower() == "0x" else 8 if digits[0] == "0" else 10)

    # Declarations ---------------------------------------------------------------------------------------------

    def structure(self) -> Record:
        last: CType | None = None
        while self.next.kind != "end":
            if self._accept(";"):
                continue
            start = self.next.start
            is_named = bool(self._accept("typedef"))
            if not is_named and self.next.text not in ("struct", "union"):
                what = _REFUSED.get(self.next.text)
                expected = f"{_shown(self.next)}; expected 'struct', 'union' or 'typedef'"
                self._refuse(start, f"found {what or expected}")
            kind, attributes = self._specifier()
            if is_named:
                for name, found, own in self._declarators(kind, attributes):
                    if own != _Attributes():
                        self._refuse(start, f"the alias {name!r} has an alignment; write it at the structure")
                    self.named[name] = last = found
            elif isinstance(kind, Record):
                last = kind
            if self.next.kind != "end":
                self._expect(";")
        if not isinstance(last, Record):
            self._refuse(len(self.text), "found no structure; expected text such as 'struct { float *x; int n; }'")
        return last

    def _attributes(self, into: _Attributes) -> bool:
        """Read one `alignas` or `__attribute__`. Return False if the next token is something else."""
        if self._accept(*_ALIGNERS):
            self._expect("(")
            into.align = self._alignment(into.align)
            self._expect(")")
            return True
        if not self._accept(*_ATTRIBUTE):
            return False
        self._expect("(")
        self._expect("(")
        while not self._accept(")"):
            token = self._take()
            match token.text.strip("_"):
                case "aligned":
                    self._expect("(")
                    into.align = self._alignment(into.align)
                    self._expect(")")
                case "packed":
                    into.packed = True
                case _:
                    self._refuse(token.start, f"found {_shown(token)}; expected 'aligned' or 'packed'")
            self._accept(",")
        self._expect(")")
        return True

    def _alignment(self, before: int) -> int:
        """Read an alignment. `before` is an earlier alignment of the same type or member, or 0."""
        start = self.next.start
        if before:
            self._refuse(start, "found a second alignment, for which compilers differ; expected one")
        value = self._number("an alignment")
        if value < 1 or value & (value - 1) or value > 1024:
            self._refuse(start, f"the alignment is {value}; expected a power of two up to 1024")
        return value

    def _specifier(self) -> tuple[CType | _Unknown, _Attributes]:
        """Read the type before the names of a declaration, with its attributes."""
        attributes, kind = _Attributes(), None
        words: list[str] = []
        first = self.next
        while True:
            token = self.next
            if self._accept(*_QUALIFIERS) or self._attributes(attributes):
                continue
            if kind is None and not words and self._accept("struct", "union"):
                kind = self._record(token.text == "union")
            elif kind is None and self._accept(*_KEYWORDS):
                words.append(token.text)
            elif kind is None and not words and token.kind == "name":
                if token.text in _REFUSED:
                    self._refuse(token.start, f"found {_REFUSED[token.text]}")
                self._take()
                kind = self.named.get(token.text.rsplit("::", 1)[-1], _Unknown(token.text, token.start))
            else:
                break
        if words:
            kind = self._basic(first, words)
        if kind is None:
            self._refuse(first.start, f"found {_shown(first)}; expected a type")
        return kind, attributes

    def _basic(self, first: _Token, words: list[str]) -> CType:
        """Return the type that keywords such as `unsigned` and `long` name, in any order."""
        rest = ["bool" if word == "_Bool" else word for word in words]
        sign = [word for word in rest if word in ("signed", "unsigned")]
        rest = [word for word in rest if word not in sign]
        if "int" in rest and len(rest) > 1 and rest.count("int") == 1 and {*rest} <= {"int", "short", "long"}:
            rest.remove("int")  # `long int` is `long`
        name = " ".join(rest) or "int"
        is_signed = sign == ["signed"] and name in ("char", "short", "int", "long", "long long")
        name = name if is_signed or not sign else " ".join([*sign, name])
        found = BASIC.get("signed char" if is_signed and name == "char" else name)
        if found is None:
            self._refuse(first.start, f"{' '.join(words)!r} is no type of a kernel's parameter")
        return found

    def _record(self, is_union: bool) -> CType | _Unknown:
        attributes = _Attributes()
        while self._attributes(attributes):
            pass
        token = self.next
        tag = self._take().text if token.kind == "name" else ""
        while self._attributes(attributes):
            pass
        if not self._accept("{"):
            if not tag:
                self._refuse(self.next.start, f"found {_shown(self.next)}; expected '{{'")
            return self.tags.get(tag, _Unknown(tag, token.start))
        self.depth += 1
        if self.depth > _DEPTH:
            self._refuse(token.start, f"structures are nested more than {_DEPTH} deep")
        members: list[tuple[str, CType, _Attributes]] = []
        while not self._accept("}"):
            members += self._members(token)
        self.depth -= 1
        while self._attributes(attributes):
            pass
        word = "union" if is_union else "struct"
        names = [name for label, kind, _ in members for name in names_of(Member(label, kind, 0))]
        if not names:
            self._refuse(token.start, f"the {word} has no members")
        if twice := [name for k, name in enumerate(names) if name in names[:k]]:
            self._refuse(token.start, f"the {word} has two members {twice[0]!r}")
        placed = [
            (label, kind, max(own.align, 1 if attributes.packed or own.packed else kind.align))
            for label, kind, own in members
        ]
        try:
            made = record(f"{word} {tag}".rstrip(), placed, is_union=is_union, align=max(attributes.align, 1))
        except TooLarge as error:
            self._refuse(token.start, error.diagnostics[0].message)
        if tag:
            self.tags[tag] = self.named[tag] = made
        return made

    def _members(self, inside: _Token) -> Iterator[tuple[str, CType, _Attributes]]:
        if self.next.kind == "end":
            self._refuse(inside.start, "the '}' of the structure is missing")
        start = self.next.start
        kind, attributes = self._specifier()
        if self._accept(";"):
            if not isinstance(kind, Record):
                self._refuse(start, "the name of a member is missing")
            if kind.name in ("struct", "union"):  # a structure with a tag only defines a type
                yield "", kind, attributes
            return
        yield from self._declarators(kind, attributes)
        self._expect(";")

    def _declarators(self, base: CType | _Unknown, common: _Attributes) -> Iterator[tuple[str, CType, _Attributes]]:
        """Yield the name, the type and the attributes of each name of a declaration."""
        while True:
            own = _Attributes(common.align, common.packed)
            kind, stars = base, 0
            while True:
                if self._accept("*"):
                    kind, stars = Pointer(f"{base.name} {'*' * (stars + 1)}"), stars + 1
                elif not (self._accept(*_QUALIFIERS) or self._attributes(own)):
                    break
            token = self._take()
            if token.text == "(":
                self._refuse(token.start, "found a pointer to a function or an array; expected 'void *' and a name")
            if token.kind != "name" or "::" in token.text:
                self._refuse(token.start, f"found {_shown(token)}; expected the name of a member")
            extents: list[int] = []
            while self._accept("["):
                at = self.next.start
                if (count := self._number("the number of elements")) < 1:
                    self._refuse(at, f"the array has {count} elements; expected at least 1")
                extents.append(count)
                self._expect("]")
            while self._attributes(own):
                pass
            if isinstance(kind, _Unknown):
                hint = did_you_mean(kind.name, [*BASIC, *self.named], "'")
                self._refuse(kind.start, f"unknown type {kind.name!r}{f'; {hint}' if hint else ''}")
            try:
                yield token.text, array_of(kind, extents), own
            except TooLarge as error:
                self._refuse(token.start, error.diagnostics[0].message)
            if not self._accept(","):
                return


def _shown(token: _Token) -> str:
    return token.text if token.kind == "end" else repr(token.text)


def _strange(mark: str) -> str:
    known = {
        ":": "found ':'; bit-fields and base classes are not supported",
        "=": "found '='; expected a declaration without initial values",
        "&": "found '&'; a reference is passed as a pointer: write '*'",
        "<": "found '<'; templates are not supported: write out the structure for the types in use",
        "#": "found '#'; expected a declaration without lines of the preprocessor",
        "/": "found '/'; expected a comment that ends",
    }
    return known.get(mark, f"found {mark!r}; expected a declaration")
