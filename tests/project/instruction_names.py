"""Search of Python source for opcode text and for comparisons with names of instructions.

Three kinds of offences are found outside `isa/`:

- opcode text, such as `mbarrier.try_wait`, anywhere in a line: the first word of an opcode and another of its words;
- a string constant that equals the name of a form, such as "mma.half";
- a comparison of an instruction's name with a string constant: `form.family == "mma"`, `opcode in ("ret", "exit")`,
  `TABLE[form.family]`, `match form.name`, `form.name.startswith("sparse")`. The constant may also be an element of a
  collection that the expression names. A variable that is assigned from an instruction's name counts as that name.

Attributes such as `.name` and `.words` belong to many objects. A comparison with them is an offence only if the
constant equals a form name, a family name, or the first word of an opcode.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TypeGuard

_DOTTED = re.compile(r"(?<![\w.])([a-z]\w*)\.(\w+(?:::\w+)*)")
"""First two words of a dotted name, which may be those of an opcode."""
_QUOTED = re.compile(r'"([^"]*)"')
_LETTER = re.compile("[A-Za-z]")
_INSTRUCTION_NAMES = {"family", "form_name", "mnemonic", "opcode"}
"""Attributes and variables whose value is the name of an instruction, or a part of it."""
_WORD_ATTRIBUTES = {"heads", "name_words"}
"""Attributes of a form that contain opcode words."""
_OTHER_NAMES = {"name", "words", "form"}
"""Attributes that instructions share with other objects."""
_TEXT_METHODS = {"startswith", "endswith", "removeprefix", "removesuffix"}
_PART_METHODS = {"partition", "rpartition", "split", "rsplit", *_TEXT_METHODS}


@dataclass(frozen=True)
class Names:
    """Names of all declared forms and families, and the first words of their opcodes."""

    forms: frozenset[str]
    families: frozenset[str]
    heads: frozenset[str]

    def __contains__(self, text: str) -> bool:
        return text in self.forms or text in self.families or text in self.heads


@cache
def declared() -> Names:
    """Return the names of the forms that the package declares."""
    from warploom import isa  # declares every form
    from warploom.isa.model.form import forms

    assert isa
    every = list(forms())
    return Names(
        frozenset(form.name for form in every),
        frozenset(form.family for form in every),
        frozenset(head for form in every for head in form.heads),
    )


@cache
def begins_opcode(head: str, word: str) -> bool:
    """Return True if an instruction has an opcode that begins with `head` and contains `word`."""
    from warploom.isa.model.form import Form

    return any(
        word == each.literal
        or word in form.vocabulary.get(each.slot, ())
        or (each.composite is not None and each.composite.fullmatch(word))
        for form in Form.registry.forms_of(head)
        for each in form.syntax.words
    )


def opcode_text(line: str) -> str:
    """Return the opcode text of a line, or ""; quoted form names do not count, as another rule covers them."""
    rest = _QUOTED.sub(lambda found: "" if found[1] in declared().forms else found[0], line)
    return next((found[0] for found in _DOTTED.finditer(rest) if begins_opcode(found[1], found[2])), "")


def offences(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, description) for every offence in the source of a module."""
    for number, line in enumerate(source.splitlines(), 1):
        if text := opcode_text(line):
            yield number, f"opcode text '{text}'"
    module = _Module(ast.parse(source))
    reported: set[ast.Constant] = set()
    for constant in module.compared_texts():
        if constant not in reported:
            reported.add(constant)
            yield constant.lineno, f"comparison with instruction name '{constant.value}'"
    for constant in module.texts:
        if constant.value in declared().forms and constant not in reported:
            yield constant.lineno, f"form name '{constant.value}'"


def _is_text(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _identifier(node: ast.AST) -> str:
    """Return the name of a variable or attribute, or ""."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


class _Module:
    """String constants of a module, and its comparisons with names of instructions."""

    def __init__(self, tree: ast.Module) -> None:
        self.texts: list[ast.Constant] = []
        self._comparisons: list[tuple[ast.AST, tuple[ast.AST, ...]]] = []
        self._collections: dict[str, list[ast.Constant]] = {}
        self._variables: dict[ast.AST, set[str]] = {}
        pending: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(tree, ())]
        while pending:
            node, functions = pending.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                functions = (*functions, node)
            if _is_text(node):
                self.texts.append(node)
            elif isinstance(node, ast.Compare | ast.Subscript | ast.Call | ast.Match):
                self._comparisons.append((node, functions))
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                self._add_assignment(node, functions)
            pending += [(child, functions) for child in ast.iter_child_nodes(node)]
        self.texts.sort(key=lambda text: text.lineno)
        self._comparisons.sort(key=lambda entry: getattr(entry[0], "lineno", 0))

    def _add_assignment(self, node: ast.Assign | ast.AnnAssign, functions: tuple[ast.AST, ...]) -> None:
        """Record a collection of texts, and variables that are assigned from an instruction's name."""
        if node.value is None:
            return
        texts = _keys(node.value)
        named = bool(functions) and self._is_name(node.value, frozenset())
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if texts:
                self._collections.setdefault(_identifier(target), []).extend(texts)
            if named:
                elements = target.elts if isinstance(target, ast.Tuple) else [target]
                names = {each.id for each in elements if isinstance(each, ast.Name)} - {"_"}
                self._variables.setdefault(functions[-1], set()).update(names)

    def compared_texts(self) -> Iterator[ast.Constant]:
        """Yield the string constants that are compared with the name of an instruction."""
        for node, functions in self._comparisons:
            names = frozenset[str]().union(*(self._variables.get(function, ()) for function in functions))
            for strict, texts in self._compared(node, names):
                yield from (
                    text
                    for text in texts
                    if (_LETTER.search(str(text.value)) if strict else str(text.value) in declared())
                )

    def _is_name(self, node: ast.AST, variables: frozenset[str], *, strict: bool = True) -> bool:
        """Return True if the value of an expression is the name of an instruction, a part of it, or a tuple of both."""
        match node:
            case ast.Name(identifier):
                return identifier in _INSTRUCTION_NAMES or identifier in variables
            case ast.Attribute(value, attribute):
                if attribute in _INSTRUCTION_NAMES | _WORD_ATTRIBUTES or (
                    attribute == "name" and _identifier(value) == "form"
                ):
                    return True
                return not strict and attribute in _OTHER_NAMES
            case ast.Call(ast.Attribute(value, method)) if method in _PART_METHODS:
                return self._is_name(value, variables, strict=strict)
            case ast.Subscript(value):
                return self._is_name(value, variables, strict=strict)
            case ast.Tuple(elements):
                return any(self._is_name(element, variables, strict=strict) for element in elements)
            case _:
                return False

    def _compared(self, node: ast.AST, variables: frozenset[str]) -> Iterator[tuple[bool, list[ast.Constant]]]:
        """Yield the constants of a comparison, and True if its other side is an instruction's name for certain."""
        subjects, others = _sides(node)
        for strict in (True, False):
            names = [subject for subject in subjects if self._is_name(subject, variables, strict=strict)]
            if names:
                texts = [text for other in others if other not in names for text in self._texts(other)]
                elements = [element for name in names if isinstance(name, ast.Tuple) for element in name.elts]
                yield strict, [*texts, *filter(_is_text, elements)]
                return

    def _texts(self, node: ast.AST) -> list[ast.Constant]:
        """Return the string constants of an expression, and of the collections that it names."""
        found: list[ast.Constant] = []
        for part in ast.walk(node):
            if _is_text(part):
                found.append(part)
            elif isinstance(part, ast.Name | ast.Attribute):
                found += self._collections.get(_identifier(part), [])
        return found


def _sides(node: ast.AST) -> tuple[list[ast.AST], list[ast.AST]]:
    """Return the possible names and the possible constants of a comparison, lookup or match statement."""
    match node:
        case ast.Compare(left, _, comparators):
            return [left, *comparators], [left, *comparators]
        case ast.Subscript(value, index):
            return [index], [value]
        case ast.Call(ast.Attribute(value, "get"), [key, *_]):
            return [key], [value]
        case ast.Call(ast.Attribute(value, method), arguments) if method in _TEXT_METHODS:
            return [value], list(arguments)
        case ast.Match(subject, cases):
            return [subject], [case.pattern for case in cases]
        case _:
            return [], []


def _keys(value: ast.expr) -> list[ast.Constant]:
    """Return the string constants of a collection display, or those of the keys of a dictionary."""
    if isinstance(value, ast.Dict):
        return [text for key in value.keys if key is not None for text in ast.walk(key) if _is_text(text)]
    if isinstance(value, ast.Tuple | ast.List | ast.Set | ast.Call | ast.Constant | ast.BinOp):
        return [text for text in ast.walk(value) if _is_text(text)]
    return []
