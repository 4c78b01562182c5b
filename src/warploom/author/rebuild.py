"""PTX as author code: Python that builds the same module again."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from textwrap import indent, wrap
from typing import Any

from warploom.author.building import prefix_of, reaches_end
from warploom.author.calls import Call, call_of
from warploom.author.inline import bare
from warploom.author.readings import flat, is_many
from warploom.author.values import Location, Register
from warploom.diagnostics import UsageError
from warploom.isa.model.types import TYPES
from warploom.ptx import (
    Block,
    Directive,
    Float,
    Function,
    Guard,
    Instruction,
    Label,
    Module,
    Statement,
    Symbol,
    TopLevel,
    Variable,
    parse,
)

_WIDTH = 110
_TOKEN = re.compile(r"[%\w$][\w$]*(?:\.\w+)*")
_TAKEN = frozenset({"au", "ptx", "program", "Float", "Symbol", *keyword.kwlist})
_IN_BODIES = (".loc", ".pragma")


def from_ptx(text: str | Module, kernel: str | None = None) -> str:
    """Author code that builds the module of a text again, or what it has with one of its kernels.

    The module is the same but for the names of registers, comments and white space. Instructions are calls with as
    few keywords as they take; what author has no word for is PTX in the code.

    Errors: every code of `PtxSyntaxError`; UsageError author.rebuild
    """
    module = parse(text) if isinstance(text, str) else text
    if len(module.target) != 1 or module.address_size != 64:
        raise UsageError(
            f"the module is for {', '.join(module.target)} with addresses of {module.address_size} bits; "
            "author code is for one target with addresses of 64 bits",
            code="author.rebuild",
        )
    names = [name for name, each in module.functions.items() if each.kind == "entry"]
    if kernel is not None and kernel not in names:
        expected = ", ".join(names) or "none, for there is no kernel"
        raise UsageError(f"there is no kernel '{kernel}'; expected {expected}", code="author.rebuild")
    body = "\n".join(_parts(module, kernel))
    needed = [name for name in ("Float", "Symbol") if re.search(rf"\b{name}[(.]", body)]
    head = ["from __future__ import annotations", "", "from warploom import author as au"]
    head += ["from warploom.author import ptx"] * ("ptx." in body)
    head += [f"from warploom.ptx import {', '.join(needed)}"] * bool(needed)
    major, minor = module.version
    head += ["", f'program = au.Program(target="{module.target[0]}", ptx_version="{major}.{minor}")']
    return "\n".join([*head, body]) + "\n"


def _parts(module: Module, kernel: str | None) -> Iterator[str]:
    """The items of a module: kernels as functions, the others as they are."""
    others: list[TopLevel] = []
    gap = ""  # two lines before and after a kernel
    for item in module.items:
        if isinstance(item, Directive) and item.name in (".version", ".target", ".address_size"):
            continue
        is_entry = isinstance(item, Function) and item.kind == "entry"
        if is_entry and kernel is not None and item.name != kernel:
            continue
        written = _Kernel(item).text() if isinstance(item, Function) and is_entry else None
        if written is None:
            others.append(item)
            continue
        if others:
            yield gap + _declaration(others)
            others = []
        gap = "\n\n"
        yield gap + written
    if others:
        yield gap + _declaration(others)


def _declaration(items: Sequence[TopLevel]) -> str:
    text = "\n".join(str(item) for item in items)
    quoted = _quoted(f"\n{text}\n" if len(items) > 1 else text)
    return f"program.declare({quoted})"


def _quoted(text: str) -> str:
    """A text as Python writes it: over several lines where it has them."""
    odd = any(not (each.isprintable() or each in "\n\t") for each in text)
    if odd or '"""' in text or "\\" in text or text.endswith('"'):
        return repr(text)
    return f'"""{text}"""' if "\n" in text or '"' in text else f'"{text}"'


@dataclass(slots=True)
class _Written:
    """A body so far. `line` holds PTX that waits for its call."""

    lines: list[str] = field(default_factory=list[str])
    inline: list[str] = field(default_factory=list[str])
    guard: Guard | None = None
    types: dict[str, str] = field(default_factory=dict[str, str])  # of the registers that are there


class _Kernel:
    """One entry as a Python function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.statements = () if function.body is None else function.body.statements
        self.declared = dict(_registers(self.statements))
        self.first: dict[str, None] = {}  # registers that are made before the first instruction
        self.names: dict[str, str] = {}
        self.taken = set(_TAKEN)
        self.parameters = {each.name: self._name(self._short(each.name)) for each in function.params}
        mentioned = {
            text for each in _instructions(self.statements) for text in _TOKEN.findall(str(replace(each)))
        }
        self.labels = {
            each.name: self._name(re.sub(r"^\W*L_*", "at_", each.name).lower())
            for each in self.statements
            if isinstance(each, Label) and each.name in mentioned
        }
        for name in self.declared:
            self.names[name] = self._name(name)

    def _short(self, name: str) -> str:
        return name.removeprefix(f"{self.function.name}_") or name

    def _name(self, name: str) -> str:
        """A Python name that is not taken."""
        plain = re.sub(r"\W", "_", name.lstrip("%$")) or "x"
        plain = f"x{plain}" if plain[0].isdigit() else plain
        names = chain((plain,), (f"{plain}_{k}" for k in count(2)))
        chosen = next(each for each in names if each not in self.taken)
        self.taken.add(chosen)
        return chosen

    def text(self) -> str | None:
        """The function; None where author has no word for what the kernel is made of."""
        function = self.function
        odd = any(
            (isinstance(each, Directive) and each.name not in _IN_BODIES)
            or (
                isinstance(each, Variable)
                and each.space == "reg"
                and (each.vector > 1 or each.type not in TYPES)
            )
            for each in self.statements
        )
        if function.body is None or function.attributes or odd:
            return None
        if reaches_end([(each, None) for each in self.statements]):
            return None
        body = self._body()
        python = self._name(function.name)
        asked: dict[str, Any] = {"name": function.name} if python != function.name else {}
        if function.linkage != ("visible",):
            asked["linkage"] = function.linkage
        arguments = ", ".join(f"{key}={value!r}" for key, value in asked.items())
        lines = [f"@program.kernel({arguments})" if asked else "@program.kernel"]
        parameters = [
            f"    {self.parameters[each.name]}: au.parameter({_quoted(str(replace(each)).rstrip(';'))}),"
            for each in function.params
        ]
        lines += [f"def {python}(", *parameters, "):"] if parameters else [f"def {python}():"]
        lines += [f"    au.directive({_quoted(_directive(each))})" for each in function.directives]
        lines += self._made_first()
        lines += [f"    {name} = au.label({_quoted(label)})" for label, name in self.labels.items()]
        return "\n".join([*lines, *body])

    def _made_first(self) -> list[str]:
        by_type: dict[str, list[str]] = {}
        for name in self.first:
            by_type.setdefault(self.declared[name], []).append(self.names[name])
        lines: list[str] = []
        for type_word, names in by_type.items():
            if len(names) == 1:
                lines.append(f'    {names[0]} = au.new("{type_word}")')
                continue
            targets = ", ".join(names)
            if len(targets) > _WIDTH // 2:
                targets = f"(\n{indent(_filled(targets), ' ' * 8)},\n    )"
            lines.append(f'    {targets} = (au.new("{type_word}") for _ in range({len(names)}))')
        return lines

    # Statements ---------------------------------------------------------------------------------------------

    def _body(self) -> list[str]:
        """The lines of the body, written again until every register is there where it is needed."""
        while True:
            known = len(self.first)
            written = _Written(types={name: self.declared[name] for name in self.first})
            for statement in self.statements:
                self._statement(statement, written)
            self._flush(written)
            if len(self.first) == known:
                return written.lines

    def _statement(self, statement: Statement, written: _Written) -> None:
        match statement:
            case Variable(space="reg"):
                return
            case Label(name):
                self._flush(written)
                written.guard = None
                written.lines.append(f"    au.put({self._value(name)})")
            case Instruction() if (call := self._call(statement, written)) is not None:
                self._flush(written)
                self._put_call(call, statement.guard, written)
            case _:
                self._put_inline(statement, written)

    def _call(self, instruction: Instruction, written: _Written) -> Call | None:
        bare = Instruction(None, instruction.opcode, instruction.operands)

        def register(name: str, types: Mapping[str, str]) -> Register | None:
            declared = self.declared.get(name)
            return None if declared is None else Register(name, types.get(name, declared))

        found = call_of(bare, lambda name: register(name, written.types))
        if found is not None:
            self._need(found.arguments, written)
            return found
        found = call_of(bare, lambda name: register(name, {}))
        if found is not None:  # the types that registers got keep it from being written
            self._need(found.arguments, written, typed=True)
        return found

    def _need(self, values: Sequence[Any], written: _Written, *, typed: bool = False) -> None:
        """Registers that are read must be there, and with `typed` be of the type they are declared of."""
        for value in _registers_in(values):
            there = written.types.get(value.name)
            if there is None or (typed and there != self.declared[value.name]):
                self.first[value.name] = None

    def _put_call(self, call: Call, guard: Guard | None, written: _Written) -> None:
        arguments = [self._value(each) for each in call.arguments]
        arguments += [f"{key}={self._value(value)}" for key, value in call.keywords]
        target = ""
        if self._are_new(call, written):
            target = f"{self._target(call.results)} = "
            for value, type_word in zip(call.results, call.types, strict=True):
                written.types |= {each.name: type_word for each in flat((value,))}
        elif call.results:
            for each in _registers_in(call.results):
                if each.name not in written.types:
                    self.first[each.name] = None
            shown = ", ".join(map(self._value, call.results))
            arguments.append(f"out=({shown})" if len(call.results) > 1 else f"out={shown}")
        plain_jump = call.jumps and len(call.arguments) == 1 and dict(call.keywords).keys() <= {"uni"}
        if plain_jump and guard is not None:
            written.guard = None
            uniform = ", uniform=True" if call.keywords else ""
            self._line(f"au.branch({arguments[0]}, {self._guard(guard, written)}{uniform})", written)
            return
        self._guarded(guard, written)
        self._line(f"{target}ptx.{call.name}({', '.join(arguments)})", written)

    def _are_new(self, call: Call, written: _Written) -> bool:
        """Whether the registers that a call makes for its results can be those that are written."""
        results: list[Any] = list(flat(call.results))
        if not results or call.asks or not all(isinstance(each, Register) for each in results):
            return False
        names = {each.name for each in results}
        if len(names) < len(results) or not names.isdisjoint(written.types):
            return False
        return all(
            prefix_of(type_word) == prefix_of(each.type)
            for value, type_word in zip(call.results, call.types, strict=True)
            for each in flat((value,))
        )

    def _target(self, results: Sequence[Any]) -> str:
        """What results are assigned to."""
        if len(results) > 1:
            return ", ".join(
                f"({self._target([each])})" if is_many(each) else self._value(each) for each in results
            )
        if not is_many(results[0]):
            return self._value(results[0])
        return ", ".join(map(self._value, results[0])) + "," * (len(results[0]) == 1)

    def _guarded(self, guard: Guard | None, written: _Written) -> None:
        """Begin or end the block of a guard."""
        if guard is not None and (written.guard is None or guard != written.guard):
            written.lines.append(f"    with au.guarded({self._guard(guard, written)}):")
        written.guard = guard

    def _guard(self, guard: Guard, written: _Written) -> str:
        if guard.name not in written.types:
            self.first[guard.name] = None
        return f"{'~' if guard.negated else ''}{self.names[guard.name]}"

    def _line(self, text: str, written: _Written) -> None:
        margin = "    " if written.guard is None else "        "
        if len(margin) + len(text) > _WIDTH and not re.search(r"\"[^\"]* |'[^']* ", text):
            head, _, rest = text.partition("(")
            text = f"{head}(\n{indent(_filled(rest[:-1]), '    ')}\n)"
        written.lines += indent(text, margin).splitlines()

    # Values -------------------------------------------------------------------------------------------------

    def _value(self, value: Any) -> str:
        """A value as Python writes it."""
        match value:
            case Register():
                return f"{'~' if value.negated else ''}{self.names[value.name]}"
            case Float(width=None):
                return f"Float.decimal({value.value!r})"
            case Float(bits, width):
                return f"Float(0x{bits:X}, {width})"
            case Symbol(name, offset):
                return f"Symbol({name!r}, {offset})"
            case Location():
                return self._location(value)
            case str():
                return self.labels.get(value) or _quoted(value)
            case _ if is_many(value):
                return f"[{', '.join(map(self._value, value))}]"
            case _:
                return repr(value)

    def _location(self, place: Location) -> str:
        space = "" if place.space == "?" else f'"{place.space}"'
        if isinstance(place.base, Register) and not place.coordinates:
            further = [str(place.offset)] if place.offset else []
            further += [space if place.offset else f"space={space}"] if space else []
            return f"{self.names[place.base.name]}.at({', '.join(further)})"
        if isinstance(place.base, str) and place.base in self.parameters and place.space == "param":
            name = self.parameters[place.base]
            return f"{name} + {place.offset}" if place.offset else name
        base = self._value(place.base)
        further = [f"offset={place.offset}"] if place.offset else []
        further += [f"space={space}"] if space else []
        if place.coordinates:
            inner = ", ".join(map(self._value, place.coordinates))
            further.append(f"coordinates=({inner}{',' if len(place.coordinates) == 1 else ''})")
        return f"au.Location({', '.join([base, *further])})"

    # PTX as it is -------------------------------------------------------------------------------------------

    def _put_inline(self, statement: Statement, written: _Written) -> None:
        """A statement that author has no word for, with its registers as slots."""
        written.guard = None
        own = dict(_registers(statement.statements)) if isinstance(statement, Block) else {}

        def slot(found: re.Match[str]) -> str:
            name = found[0]
            if name not in self.declared or name in own:
                return name
            if name not in written.types:
                self.first[name] = None
            return f"{{{self.names[name]}}}"

        text = re.sub(r"\{(\w+)\}", r"{ \1 }", _plain(statement))  # a vector of one is no slot
        lines = _TOKEN.sub(slot, text).splitlines()
        written.inline += [
            " " * 4 * (len(each) - len(each.lstrip("\t"))) + each.lstrip("\t") for each in lines
        ]

    def _flush(self, written: _Written) -> None:
        if not written.inline:
            return
        text = "\n".join(written.inline)
        names = dict.fromkeys(
            found for found in re.findall(r"\{(\w+)\}", text) if found in self.names.values()
        )
        if len(written.inline) > 1:
            text = "\n" + indent(text, " " * 8) + "\n    "
        slots = ", ".join(f"{name}={name}" for name in names)
        if len(slots) > _WIDTH // 2:
            slots = f",\n{indent(_filled(slots), ' ' * 8)},\n    "
        elif slots:
            slots = f", {slots}"
        written.lines.append(f"    ptx.inline({_quoted(text)}{slots})")
        written.inline = []


def _filled(text: str) -> str:
    return "\n".join(wrap(text, _WIDTH - 12, break_long_words=False, break_on_hyphens=False))


def _directive(directive: Directive) -> str:
    function = Function("entry", "", directives=(replace(directive),))
    return str(function).removesuffix(";").splitlines()[1]


def _plain(statement: Statement) -> str:
    """A statement in canonical text."""
    return str(bare(statement))


def _registers(statements: Sequence[Statement]) -> Iterator[tuple[str, str]]:
    """The registers that statements use, and the type that each is declared of."""
    single: dict[str, str] = {}
    ranges: dict[str, tuple[int, str]] = {}
    for each in statements:
        if isinstance(each, Variable) and each.space == "reg":
            if each.count is None:
                single[each.name] = each.type
            else:
                ranges[each.name] = each.count, each.type
    seen: dict[str, str] = dict(single)
    for instruction in _instructions(statements):
        for name in _TOKEN.findall(str(replace(instruction))):
            stem = name.rstrip("0123456789")
            held = ranges.get(stem)
            if name not in seen and held is not None and stem != name and int(name[len(stem) :]) < held[0]:
                seen[name] = held[1]
    yield from seen.items()


def _instructions(statements: Sequence[Statement]) -> Iterator[Instruction]:
    """Every instruction, those of nested blocks too."""
    for each in statements:
        if isinstance(each, Instruction):
            yield each
        elif isinstance(each, Block):
            yield from each.instructions()


def _registers_in(values: Sequence[Any]) -> Iterator[Register]:
    for value in flat(values):
        if isinstance(value, Register):
            yield value
        elif isinstance(value, Location):
            yield from _registers_in((value.base, *value.coordinates))
