"""TextMate grammar of PTX for editors."""

import json
import re
from collections.abc import Iterable
from typing import Any

from warploom.isa.model.directives import OF_ENTRIES, OF_FUNCTIONS
from warploom.isa.model.form import Form, forms_of, heads
from warploom.isa.model.special_registers import SPECIAL_REGISTERS
from warploom.isa.model.syntax import Word
from warploom.isa.model.types import TYPES
from warploom.ptx.lexer import STATE_SPACES, STATEMENT_WORDS

FILE = "editors/vscode/syntaxes/ptx.tmLanguage.json"

_END = r"(?![\w$])"
_START = r"(?<![\w$%.])"


def texts() -> dict[str, str]:
    """Return the grammar by its path in the repository."""
    return {FILE: json.dumps(_grammar(), indent=2) + "\n"}


def _grammar() -> dict[str, Any]:
    opcodes, modifiers, types = set(heads()), _modifiers(), set(TYPES)
    spaces = {word.removeprefix(".") for word in STATE_SPACES}
    directives = {word.removeprefix(".") for word in (*STATEMENT_WORDS, *OF_ENTRIES, *OF_FUNCTIONS)} - spaces
    special = {name.removeprefix("%").partition(".")[0] for name in SPECIAL_REGISTERS}
    dotted = [
        _rule("storage.type.ptx", rf"\.{_words(types)}{_END}"),
        _rule("storage.modifier.space.ptx", rf"\.{_words(spaces)}(?:::\w+)*{_END}"),
        _rule("support.function.modifier.ptx", rf"\.(?:{_words(modifiers - types - spaces)}|{_composites()}){_END}"),
    ]
    return {
        "name": "PTX",
        "scopeName": "source.ptx",
        "fileTypes": ["ptx"],
        "patterns": [
            {"include": "#comments"},
            _rule("string.quoted.double.ptx", r'"[^"\n]*"'),
            {
                "match": r"^\s*(@)(!?)([\w$%]+)",
                "captures": {
                    "1": {"name": "keyword.control.guard.ptx"},
                    "2": {"name": "keyword.operator.ptx"},
                    "3": {"name": "variable.other.register.ptx"},
                },
            },
            {
                "match": rf"(\.(?:entry|func)){_END}(?:\s*\([^()]*\))?\s+([\w$]+)",
                "captures": {"1": {"name": "keyword.other.directive.ptx"}, "2": {"name": "entity.name.function.ptx"}},
            },
            _rule("keyword.other.directive.ptx", rf"{_START}\.{_words(directives)}{_END}"),
            _rule("keyword.operator.opcode.ptx", rf"{_START}{_words(opcodes)}(?=[\s.;]|$)"),
            *dotted,
            _rule("storage.modifier.ptx", rf"\.[A-Za-z_][\w$]*{_END}"),
            _rule("variable.language.special.ptx", rf"%{_words(special)}(?:\.[xyzw])?{_END}"),
            _rule("variable.other.register.ptx", r"%[A-Za-z_$][\w$]*"),
            _rule("constant.numeric.float.ptx", r"\b0[fFdD][0-9a-fA-F]+\b|\b[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?\b"),
            _rule("constant.numeric.integer.ptx", r"\b(?:0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)U?\b"),
            {"match": r"^\s*([\w$]+)(?=\s*:(?!:))", "captures": {"1": {"name": "entity.name.label.ptx"}}},
        ],
        "repository": {
            "comments": {
                "patterns": [
                    _rule("comment.line.double-slash.ptx", r"//.*$"),
                    {"name": "comment.block.ptx", "begin": r"/\*", "end": r"\*/"},
                ]
            }
        },
    }


def _rule(scope: str, pattern: str) -> dict[str, Any]:
    return {"name": scope, "match": pattern}


def _words(words: Iterable[str]) -> str:
    """Return a pattern for one of several words, which tries longer words first."""
    return "(?:" + "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word)))) + ")"


def _forms() -> list[Form]:
    return list(dict.fromkeys(form for head in sorted(heads()) for form in forms_of(head)))


def _modifiers_of_forms() -> list[tuple[Form, Word]]:
    return [(form, word) for form in _forms() for order in form.orders for word in order[1:]]


def _modifiers() -> set[str]:
    """Return the words that follow the first word of an opcode, except composite modifiers."""
    found: set[str] = set()
    for form, word in _modifiers_of_forms():
        if word.composite is None:
            found |= {word.literal} if word.literal else set(form.vocabulary[word.slot])
    return found - {""}


def _composites() -> str:
    """Return a pattern for composite modifiers such as shapes, whose parts are numbers or words."""
    patterns: set[str] = set()
    for form, word in _modifiers_of_forms():
        if word.composite is not None:
            pattern = re.escape(form.composites[word.slot]).replace(r"\{", "{").replace(r"\}", "}")
            for column in word.composite.groupindex:
                cells = form.vocabulary[column]
                pattern = pattern.replace(f"{{{column}}}", r"[0-9]+" if all(map(str.isdigit, cells)) else _words(cells))
            patterns.add(pattern)
    return "|".join(sorted(patterns, key=lambda pattern: (-len(pattern), pattern)))
