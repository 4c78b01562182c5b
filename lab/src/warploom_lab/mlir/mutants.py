"""Illegal and nearly legal operations of MLIR's nvvm dialect.

    for mutant in mutants(definitions, answers, seed=0): print(mutant.kind, mutant.text)

An operation is a legal one of the record with one or two changes, or it is drawn from MLIR's definitions alone. Nothing
here depends on Warploom's dialect.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from warploom_lab.mlir.definitions import TYPES, Definition
from warploom_lab.mlir.record import Answer

_SEGMENTS = "operandSegmentSizes"
_FEW, _MORE, _MOST = 6, 8, 60
"""Operations of a name: a few, more for each operand and attribute, and a limit."""
_DRAWN, _PAIRS, _IN_DICTIONARY = 40, 400, 6


@dataclass(frozen=True)
class Mutant:
    """MLIR module with one operation, and the kind of the change."""

    operation: str
    kind: str
    text: str


@dataclass(frozen=True)
class Parts:
    """Parts of an operation in the generic syntax."""

    name: str
    groups: Sequence[Sequence[tuple[str, str]]]  # type and constant, or "", of each value of each operand
    attributes: Mapping[str, str]
    results: Sequence[str]

    def text(self, has_segments: bool) -> str:
        """Return a module whose only function runs the operation and returns the results."""
        arguments: list[str] = []
        lines: list[str] = []
        names: list[str] = []
        values = [value for group in self.groups for value in group]
        for type_, constant in values:
            names.append(f"%{'k' if constant else 'a'}{len(names)}")
            if constant:
                lines.append(f"{names[-1]} = llvm.mlir.constant({constant} : {type_}) : {type_}")
            else:
                arguments.append(f"{names[-1]}: {type_}")
        attributes = dict(self.attributes)
        if has_segments:
            attributes[_SEGMENTS] = f"array<i32: {', '.join(str(len(group)) for group in self.groups)}>"
        results = [f"%r{number}" for number in range(len(self.results))]
        properties = ", ".join(name if value == "unit" else f"{name} = {value}" for name, value in attributes.items())
        types = f"({', '.join(type_ for type_, _ in values)}) -> ({', '.join(self.results)})"
        head = f"{', '.join(results)} = " if results else ""
        inside = f" <{{{properties}}}>" if properties else ""
        lines.append(f'{head}"{self.name}"({", ".join(names)}){inside} : {types}')
        result = f" -> {self.results[0]}" if len(results) == 1 else ""
        lines.append(f"llvm.return %r0 : {self.results[0]}" if result else "llvm.return")
        body = "\n".join(f"  {line}" for line in lines)
        return f"llvm.func @case({', '.join(arguments)}){result} {{\n{body}\n}}\n"


# From the generic syntax ------------------------------------------------------------------------------------

_OPERATION = re.compile(r'^\s*(?:%[^=]* = )?"(nvvm\.[^"]+)"\((.*?)\)(?: <\{(.*)\}>)? : \((.*)\) -> (.*)$', re.MULTILINE)
_CONSTANT = re.compile(r'(%\w+) = "llvm\.mlir\.constant"\(\) <\{value = ([^:]*) : \w+\}>')
_OPEN, _CLOSE = "<([{", ">)]}"


def split(text: str) -> list[str]:
    """Return the parts between the commas of a text that are outside brackets and strings."""
    parts, depth, is_string = [""], 0, False
    for at, character in enumerate(text):
        is_string ^= character == '"'
        if not is_string:
            depth += (character in _OPEN) - (character in _CLOSE and text[at - 1] != "-")
            if character == "," and not depth:
                parts.append("")
                continue
        parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def parts_of(answer: Answer, definition: Definition) -> Parts:
    """Return the parts of the operation of a recorded answer."""
    (found,) = (
        (each for each in _OPERATION.findall(answer.generic) if each[0] == definition.name)
        if (definition.name not in _PROTOCOL)
        else list(_OPERATION.findall(answer.generic))[:1]
    )
    name, operands, properties, types, results = found
    constants = dict(_CONSTANT.findall(answer.generic))
    values = [(type_, constants.get(operand, "")) for operand, type_ in zip(split(operands), split(types), strict=True)]
    attributes: dict[str, str] = {}
    for each in split(properties):
        key, _, value = each.partition(" = ")
        attributes[key] = value or "unit"
    if sizes := re.search(r"i32: (.*)>", attributes.pop(_SEGMENTS, "")):
        counts = [int(size) for size in sizes[1].split(", ")]
    else:
        spare = len(values) - sum(not (each.is_optional or each.is_variadic) for each in definition.operands)
        counts = [spare if each.is_optional or each.is_variadic else 1 for each in definition.operands]
    rest = iter(values)
    groups = [[next(rest) for _ in range(count)] for count in counts]
    results = split(results[1:-1] if results.startswith("(") else results)
    return Parts(name, groups, attributes, results)


_PROTOCOL = ("nvvm.wgmma.fence.aligned", "nvvm.wgmma.commit.group.sync.aligned", "nvvm.wgmma.wait.group.sync.aligned")
"""Operations that also surround another operation of the record."""

# Changes ----------------------------------------------------------------------------------------------------

Changes = Iterator[Parts]


def _with_group(parts: Parts, at: int, group: Sequence[tuple[str, str]]) -> Parts:
    return replace(parts, groups=[group if number == at else each for number, each in enumerate(parts.groups)])


def attribute_value(parts: Parts, definition: Definition) -> Changes:
    """Give one attribute another value, add it, or drop it."""
    for name, values in definition.attributes.items():
        for value in values:
            if parts.attributes.get(name) != value:
                yield replace(parts, attributes={**parts.attributes, name: value})
        if name in parts.attributes:
            yield replace(parts, attributes={key: value for key, value in parts.attributes.items() if key != name})


def attribute_pair(parts: Parts, definition: Definition) -> Changes:
    """Give two attributes other values."""
    for names in combinations(definition.attributes, 2):
        for values in product(*(definition.attributes[name] for name in names)):
            yield replace(parts, attributes={**parts.attributes, **dict(zip(names, values, strict=True))})


def literal(parts: Parts, definition: Definition) -> Changes:
    """Give one attribute a value of another kind, another width or an unknown case, or add an unknown attribute."""
    for name, values in definition.attributes.items():
        first = values[0]
        wrong = ["unit", "true", "7 : i32", "7 : i16", "-3 : i64", '"word"', "f32", "#nvvm.mma_layout<row>", "[]"]
        if first.startswith("#"):
            wrong += [re.sub(r"\w+>$", "nothing>", first), re.sub(r"\w+>$", "0>", first), first.replace("<", "<<")]
        for value in wrong:
            if value not in values:
                yield replace(parts, attributes={**parts.attributes, name: value})
    yield replace(parts, attributes={**parts.attributes, "unknown": "1 : i32"})


def operand_type(parts: Parts, _: Definition) -> Changes:
    """Give one value, or all values of one operand, another type."""
    for at, group in enumerate(parts.groups):
        for type_ in TYPES:
            for number in range(len(group)):
                changed = [(type_, "") if each == number else value for each, value in enumerate(group)]
                yield _with_group(parts, at, changed)
            if len(group) > 1:
                yield _with_group(parts, at, [(type_, "")] * len(group))


def operand_count(parts: Parts, definition: Definition) -> Changes:
    """Add values to one operand, or drop its values."""
    for at, (group, operand) in enumerate(zip(parts.groups, definition.operands, strict=True)):
        if group:
            yield _with_group(parts, at, group[:-1])
            yield _with_group(parts, at, [])
            yield _with_group(parts, at, [*group, group[-1]])
            yield _with_group(parts, at, [*group, *group])
        else:
            for type_ in operand.types[:8]:
                yield _with_group(parts, at, [(type_, "")])
                yield _with_group(parts, at, [(type_, "")] * 2)


def constant(parts: Parts, _: Definition) -> Changes:
    """Turn a value into a constant, a constant into a value, or change a constant."""
    for at, group in enumerate(parts.groups):
        for number, (type_, now) in enumerate(group):
            for new in ("", "0", "1", "3", "16", "-1", "128"):
                if new != now and (not new or re.fullmatch(r"i(8|16|32|64)", type_)):
                    yield _with_group(parts, at, [*group[:number], (type_, new), *group[number + 1 :]])


def result(parts: Parts, _: Definition) -> Changes:
    """Change the type of the result, the number of its registers, or the number of results."""
    yield replace(parts, results=[*parts.results, "i32"])
    for type_ in TYPES:
        yield replace(parts, results=[type_])
    if parts.results:
        yield replace(parts, results=parts.results[:-1])
        (first,) = parts.results[:1]
        if found := re.fullmatch(r"!llvm\.struct<\((.*)\)>", first):
            elements = split(found[1])
            for changed in (elements[:-1], [*elements, elements[-1]], elements * 2, elements[: len(elements) // 2]):
                yield replace(parts, results=[f"!llvm.struct<({', '.join(changed)})>"])
            for element in ("i32", "f32", "vector<2xf16>", "f64", "i16"):
                for changed in ([element] * len(elements), [element, *elements[1:]], [*elements[:-1], element]):
                    yield replace(parts, results=[f"!llvm.struct<({', '.join(changed)})>"])
        if found := re.fullmatch(r"vector<(\d+)x(\w+)>", first):
            for count in (1, 3, 4, 8, 16, 32, 64, 128, 256):
                yield replace(parts, results=[f"vector<{count}x{found[2]}>"])


CHANGES: Mapping[str, Callable[[Parts, Definition], Changes]] = {
    each.__name__.replace("_", " "): each
    for each in (attribute_value, attribute_pair, literal, operand_type, operand_count, constant, result)
}
"""Changes of an operation by their kind."""


def drawn(definition: Definition, chance: random.Random) -> Parts:
    """Return an operation of MLIR's definition with random types, optional operands and attributes."""
    groups: list[list[tuple[str, str]]] = []
    for operand in definition.operands:
        count = chance.choice((0, 1, 2, 3, 4)) if operand.is_variadic else 1
        if operand.is_optional:
            count = chance.choice((0, 1))
        groups.append([(chance.choice(operand.types), "")] * count)
    attributes = {
        name: chance.choice(values)
        for name, values in definition.attributes.items()
        if name not in definition.optional or chance.random() < 0.4
    }
    given = [each for each in definition.results if not each.is_optional or chance.random() < 0.5]
    results = [chance.choice(each.types) for each in given]
    return Parts(definition.name, groups, attributes, results)


_TOKEN = re.compile(r"%\w+|[\w.]+|#\w+|->|[^\w\s]")


def words(text: str, chance: random.Random) -> Iterator[str]:
    """Yield a module in the custom syntax with one token of the operation dropped, repeated, or exchanged."""
    lines = [line for line in text.splitlines() if "nvvm." in line]
    line = lines[len(lines) // 2]
    start = line.index("nvvm.")
    tokens = list(_TOKEN.finditer(line, start))
    for _ in range(24):
        at = chance.randrange(1, len(tokens)) if len(tokens) > 1 else 0
        found, other = tokens[at], chance.choice(tokens)
        made = chance.choice(("", f"{found[0]} {found[0]}", other[0]))
        changed = text.replace(line, line[: found.start()] + made + line[found.end() :])
        if "nvvm." in changed:
            yield changed


_SPELLINGS = (
    (r"<\{(.*)\}>", r"{\1}"),  # properties in the dictionary of attributes
    (r"(\}>|\)) : \(", r"\1 {unknown = 1 : i32} : ("),
    (r"(\}>|\)) : \(", r"\1 {nvvm.unknown} : ("),
    (r"#nvvm\.(\w+)<(\w+)>", r"#nvvm<\1 <\2>>"),
    (r"#nvvm\.(\w+)<(\w+)>", r"#nvvm<\1 \2>"),
    (r"#nvvm\.(\w+)<(\w+)>", r'#nvvm.\1<"\2">'),
    (r"#nvvm<(\w+) (\w+)>", r"#nvvm.\1<\2>"),
    (r"#nvvm<(\w+) (\w+)>", r"#nvvm<\1<\2>>"),
    (r"#nvvm<(\w+) (\w+)>", r'#nvvm<\1 "\2">'),
    (r", operandSegmentSizes = array<[^>]*>|operandSegmentSizes = array<[^>]*>(, )?", ""),
    (r"array<i32: (\d)", r"array<i64: \1"),
    (r"array<i32: (\d)", r"array<i32: 1\1"),
    (r"array<i32: (\d), ", r"array<i32: \1, 0, "),
    (r"array<i32: (\d), (\d)", r"array<i32: \2, \1"),
    (r"array<i32: \d, ", r"array<i32: -1, "),
)
"""Regular expressions and replacements: other spellings of the generic syntax."""


def spellings(text: str) -> Iterator[str]:
    """Yield a module in the generic syntax with other spellings of attributes, properties and numbers of operands."""
    for pattern, replacement in _SPELLINGS:
        if (changed := re.sub(pattern, replacement, text, count=1)) != text:
            yield changed


def dictionary(text: str, definition: Definition) -> Iterator[str]:
    """Yield a module in the custom syntax with one more attribute in the dictionary of the operation."""
    lines = [line for line in text.splitlines() if definition.name in line]
    line = lines[len(lines) // 2]
    for name, values in definition.attributes.items():
        for value in (*values, "7 : i16"):
            added = name if value == "unit" else f"{name} = {value}"
            if re.search(r" \{\w+ = |\{\w+[,}]", line):
                changed = re.sub(r"\{(?=\w+( = |,|\}))", f"{{{added}, ", line, count=1)
            elif " : " in line:
                changed = line.replace(" : ", f" {{{added}}} : ", 1)
            else:
                changed = f"{line} {{{added}}}"
            yield text.replace(line, changed)


# Selection --------------------------------------------------------------------------------------------------


def mutants(definitions: Sequence[Definition], answers: Sequence[Answer], seed: int = 0) -> Iterator[Mutant]:
    """Yield distinct illegal and nearly legal operations of every name, all kinds of changes equally often."""
    every: set[str] = set()
    for definition in definitions:
        chance = random.Random(f"{definition.name} {seed}")
        legal = [each for each in answers if each.operation == definition.name and not each.refused]
        count = min(_FEW + _MORE * (len(definition.operands) + len(definition.attributes)), _MOST)
        kinds = _of(definition, legal, chance)
        seen: set[str] = set()
        while len(seen) < count and kinds:
            for kind in list(kinds):
                text = next((text for text in kinds[kind] if text not in seen), None)
                if text is None:
                    del kinds[kind]
                elif len(seen) < count:
                    seen.add(text)
                    yield Mutant(definition.name, kind, text)
        every |= seen
    for definition in definitions:
        chance = random.Random(f"{definition.name} dictionary {seed}")
        legal = [each.text for each in answers if each.operation == definition.name and not each.refused]
        texts = list(dict.fromkeys(each for text in legal for each in dictionary(text, definition)))
        for text in chance.sample(texts, min(len(texts), _IN_DICTIONARY)):
            if text not in every:
                yield Mutant(definition.name, "dictionary", text)


def _of(definition: Definition, legal: Sequence[Answer], chance: random.Random) -> dict[str, Iterator[str]]:
    """Return the texts of each kind of change, in random order."""
    bases = [parts_of(each, definition) for each in legal]
    found: dict[str, Iterator[str]] = {}
    for kind, change in CHANGES.items():
        texts: list[str] = []
        for base in chance.sample(bases, min(len(bases), 12)):
            made = list(change(base, definition))
            made = chance.sample(made, min(len(made), _PAIRS))
            texts += [each.text(definition.has_segments) for each in made]
        chance.shuffle(texts)
        found[kind] = iter(texts)
    found["drawn"] = iter([drawn(definition, chance).text(definition.has_segments) for _ in range(_DRAWN)])
    texts = [each for base in bases for each in spellings(base.text(definition.has_segments))]
    chance.shuffle(texts)
    found["spelling"] = iter(texts)
    texts = [each for answer in chance.sample(legal, min(len(legal), 6)) for each in words(answer.text, chance)]
    chance.shuffle(texts)
    found["words"] = iter(texts)
    return found
