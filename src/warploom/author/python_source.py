"""Translation of a PTX module into Python code that builds the module."""

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count, groupby
from textwrap import indent, wrap
from typing import Any

from warploom.author.builder import reaches_end, register_prefix
from warploom.author.call_source import Call, Registers, call_of
from warploom.author.inline import without_origin
from warploom.author.overloads import flatten, is_vector
from warploom.author.values import Location, Register
from warploom.diagnostics import UsageError
from warploom.isa.model.types import TYPES
from warploom.ptx import Float, Symbol, parse, tree
from warploom.ptx.scopes import Scope

_WIDTH = 110
_TOKEN = re.compile(r"[%\w$][\w$]*(?:\.\w+)*")
_RESERVED = frozenset({"au", "ptx", "program", "Float", "Symbol", *keyword.kwlist})
_BODY_DIRECTIVES = (".loc", ".pragma")


def from_ptx(text: str | tree.Module, kernel: str | None = None) -> str:
    """Return Python code that builds the module `text`, or only its declarations and the kernel `kernel`.

    The new module differs from `text` only in register names, comments, white space and line information. A kernel
    with `.loc` directives keeps them. Statements that no call emits become inline PTX.

    Errors: the codes of `PtxSyntaxError`; UsageError author.rebuild.
    """
    module = parse(text) if isinstance(text, str) else text
    if len(module.target) != 1 or module.address_size != 64:
        raise UsageError(
            f"the module has target {', '.join(module.target)} and {module.address_size}-bit addresses; "
            "expected one target and 64-bit addresses",
            code="author.rebuild",
        )
    names = [name for name, each in module.functions.items() if each.kind == "entry"]
    if kernel is not None and kernel not in names:
        expected = f"expected {', '.join(names)}" if names else "the module has no kernel"
        raise UsageError(f"unknown kernel '{kernel}'; {expected}", code="author.rebuild")
    body = "\n".join(_parts(module, kernel))
    needed = [name for name in ("Float", "Symbol") if re.search(rf"\b{name}[(.]", body)]
    head = ["from __future__ import annotations", "", "from warploom import author as au"]
    head += ["from warploom.author import ptx"] * ("ptx." in body)
    head += [f"from warploom.ptx import {', '.join(needed)}"] * bool(needed)
    major, minor = module.version
    head += ["", f'program = au.Program(target="{module.target[0]}", ptx_version="{major}.{minor}")']
    return "\n".join([*head, body]) + "\n"


def _parts(module: tree.Module, kernel: str | None) -> Iterator[str]:
    sources: list[tuple[tree.TopLevel, str | None]] = []
    for item in module.items:
        if isinstance(item, tree.Directive) and item.name in (".version", ".target", ".address_size"):
            continue
        if not isinstance(item, tree.Function) or item.kind != "entry":
            sources.append((item, None))
        elif kernel in (None, item.name):
            sources.append((item, _Kernel(item).source()))
    for number, (is_declaration, group) in enumerate(groupby(sources, lambda each: each[1] is None)):
        if not is_declaration:
            yield from (f"\n\n{source}" for _, source in group)
            continue
        texts = [str(item) for item, _ in group]
        quoted = _quoted("\n".join(["", *texts, ""]) if len(texts) > 1 else texts[0])
        yield ("\n\n" if number else "") + f"program.declare({quoted})"


def _quoted(text: str) -> str:
    unprintable = any(not (each.isprintable() or each in "\n\t") for each in text)
    if unprintable or '"""' in text or "\\" in text or text.endswith('"'):
        return repr(text)
    return f'"""{text}"""' if "\n" in text or '"' in text else f'"{text}"'


def _list(head: str, items: Sequence[str], tail: str, margin: str = "    ") -> list[str]:
    """Return lines of Python code: `head`, the items separated by commas, and `tail`."""
    if "\n" in (text := ", ".join(items)) or len(margin + head + text + tail) <= _WIDTH:
        return [f"{margin}{head}{text}{tail}"]
    blank = "\0"  # replaces blanks of items, at which `wrap` would break lines
    wrapped = wrap(", ".join(each.replace(" ", blank) for each in items), _WIDTH - 12, break_long_words=False)
    return [f"{margin}{head}", *(f"{margin}    {line.replace(blank, ' ')}" for line in wrapped), f"{margin}{tail}"]


class _Kernel:
    """Translation of one kernel into a Python function."""

    def __init__(self, function: tree.Function) -> None:
        self.function = function
        self.statements = () if function.body is None else function.body.statements
        self.declared = _registers(self.statements)
        self.created: dict[str, None] = {}  # registers that `au.new` creates before the first instruction
        self.taken = set(_RESERVED)
        prefix = f"{function.name}_"
        self.parameters = {
            each.name: self._name(each.name.removeprefix(prefix) or each.name) for each in function.params
        }
        mentioned = set(_names(self.statements))
        self.labels = {
            each.name: self._name(re.sub(r"^\W*L_*", "at_", each.name).lower())
            for each in self.statements
            if isinstance(each, tree.Label) and each.name in mentioned
        }
        self.names = {name: self._name(name) for name in self.declared}
        # State of the translation of the body.
        self.lines: list[str] = []
        self.guard: tree.Guard | None = None
        self.types: dict[str, str] = {}  # Python types of the registers that exist

    def _name(self, name: str) -> str:
        plain = re.sub(r"\W", "_", name.lstrip("%$")) or "x"
        plain = f"x{plain}" if plain[0].isdigit() else plain
        names = chain((plain,), (f"{plain}_{k}" for k in count(2)))
        chosen = next(each for each in names if each not in self.taken)
        self.taken.add(chosen)
        return chosen

    def source(self) -> str | None:
        """Return the Python function, or None if Python code cannot express the kernel."""
        function = self.function
        if function.body is None or function.attributes or any(map(_is_inexpressible, self.statements)):
            return None
        if reaches_end(self.statements):
            return None
        self._translate()
        python = self._name(function.name)
        options: dict[str, Any] = {"name": function.name} if python != function.name else {}
        if function.linkage != ("visible",):
            options["linkage"] = function.linkage
        arguments = ", ".join(f"{key}={value!r}" for key, value in options.items())
        lines = [f"@program.kernel({arguments})" if options else "@program.kernel"]
        parameters = [
            f"    {self.parameters[each.name]}: au.parameter({_quoted(str(replace(each)).rstrip(';'))}),"
            for each in function.params
        ]
        lines += [f"def {python}(", *parameters, "):"] if parameters else [f"def {python}():"]
        lines += [f"    au.directive({_quoted(_directive(each))})" for each in function.directives]
        by_type: dict[str, list[str]] = {}
        for name in self.created:
            by_type.setdefault(self.declared[name], []).append(self.names[name])
        for word, names in by_type.items():
            new, brackets = f'au.new("{word}")', "[]" if len(names) > _WIDTH // 10 else ("", "")
            values = f"({new} for _ in range({len(names)}))" if len(names) > 1 else new
            lines += _list(brackets[0], names, f"{brackets[1]} = {values}")
        lines += [f"    {name} = au.label({_quoted(label)})" for label, name in self.labels.items()]
        return "\n".join([*lines, *self.lines])

    # Statements ---------------------------------------------------------------------------------------------

    def _translate(self) -> None:
        # A register that is read before its first write is created in the next pass.
        known = -1
        while known < len(self.created):
            known = len(self.created)
            self.lines, self.guard = [], None
            self.types = {name: self.declared[name] for name in self.created}
            for statement in self.statements:
                self._statement(statement)

    def _statement(self, statement: tree.Statement) -> None:
        match statement:
            case tree.Variable(space="reg"):
                return
            case tree.Label(name):
                self.guard = None
                self.lines.append(f"    au.put({self._value(name)})")
            case tree.Instruction() if (call := self._call(statement)) is not None:
                self._write_call(call, statement.guard)
            case _:
                self._write_inline(statement)

    def _call(self, instruction: tree.Instruction) -> Call | None:
        unguarded = tree.Instruction(None, instruction.opcode, instruction.operands)

        def registers(types: Mapping[str, str]) -> Registers:
            def register(name: str) -> Register | None:
                declared = self.declared.get(name)
                return None if declared is None else Register(name, types.get(name, declared))

            return register

        found = call_of(unguarded, registers(self.types))
        with_declared_types = found is None
        if with_declared_types:  # a type that a register got from an earlier result may prevent a call
            found = call_of(unguarded, registers({}))
        if found is not None:
            self._require(found.arguments, declared=with_declared_types)
        return found

    def _require(self, values: Sequence[Any], *, declared: bool = False) -> None:
        """Record the registers in `values` that must be created first.

        If `declared`, these include registers that exist with a type other than their declared type.
        """
        for value in _registers_in(values):
            known = self.types.get(value.name)
            if known is None or (declared and known != self.declared[value.name]):
                self.created[value.name] = None

    def _write_call(self, call: Call, guard: tree.Guard | None) -> None:
        arguments = [self._value(each) for each in call.arguments]
        arguments += [f"{key}={self._value(value)}" for key, value in call.keywords]
        target, margin = "", "    "
        if self._creates_results(call):
            target = f"{self._target(call.results)} = "
            for value, type_word in zip(call.results, call.types, strict=True):
                self.types |= {each.name: type_word for each in flatten((value,))}
        elif call.results:
            self._require(call.results)
            shown = ", ".join(map(self._value, call.results))
            arguments.append(f"out=({shown})" if len(call.results) > 1 else f"out={shown}")
        is_branch = call.jumps and len(call.arguments) == 1 and dict(call.keywords).keys() <= {"uni"}
        condition = None
        if guard is not None:
            if guard.name not in self.types:
                self.created[guard.name] = None
            condition = f"{'~' if guard.negated else ''}{self.names[guard.name]}"
        if is_branch and condition is not None:
            self.guard = None
            uniform = ", uniform=True" if call.keywords else ""
            self.lines.append(f"    au.branch({arguments[0]}, {condition}{uniform})")
            return
        if condition is not None:
            margin = "        "
            if guard != self.guard:
                self.lines.append(f"    with au.guarded({condition}):")
        self.guard = guard
        self.lines += _list(f"{target}ptx.{call.name}(", arguments, ")", margin)

    def _creates_results(self, call: Call) -> bool:
        """Return True if a call without `out` creates the instruction's result registers."""
        results: list[Any] = list(flatten(call.results))
        if not results or call.needs_out or not all(isinstance(each, Register) for each in results):
            return False
        names = {each.name for each in results}
        if len(names) < len(results) or not names.isdisjoint(self.types):
            return False
        return all(
            register_prefix(type_word) == register_prefix(each.type)
            for value, type_word in zip(call.results, call.types, strict=True)
            for each in flatten((value,))
        )

    def _target(self, results: Sequence[Any]) -> str:
        """Return the left side of the assignment of results. Vectors are unpacked."""
        parts = [
            ", ".join(map(self._value, each)) + "," * (len(each) == 1) if is_vector(each) else self._value(each)
            for each in results
        ]
        if len(parts) == 1:
            return parts[0]
        return ", ".join(f"({p})" if is_vector(r) else p for p, r in zip(parts, results, strict=True))

    def _write_inline(self, statement: tree.Statement) -> None:
        """Write a statement as inline PTX, with `{name}` in place of each register."""
        self.guard = None
        own = _registers(statement.statements) if isinstance(statement, tree.Block) else {}
        slots: dict[str, None] = {}

        def slot(found: re.Match[str]) -> str:
            name = found[0]
            if name not in self.declared or name in own:
                return name
            if name not in self.types:
                self.created[name] = None
            slots[self.names[name]] = None
            return f"{{{self.names[name]}}}"

        # Blanks distinguish a vector of one register from a slot.
        text = re.sub(r"\{(\w+)\}", r"{ \1 }", str(without_origin(statement)))
        text = _TOKEN.sub(slot, text).expandtabs(4)
        if "\n" in text:
            text = "\n" + indent(text, " " * 8) + "\n    "
        self.lines += _list("ptx.inline(", [_quoted(text), *(f"{name}={name}" for name in slots)], ")")

    # Values -------------------------------------------------------------------------------------------------

    def _value(self, value: Any) -> str:
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
            case _ if is_vector(value):
                return f"[{', '.join(map(self._value, value))}]"
            case _:
                return repr(value)

    def _location(self, location: Location) -> str:
        space = "" if location.space == "?" else f'"{location.space}"'
        offset = location.offset
        if isinstance(location.base, Register) and not location.coordinates:
            arguments = [str(offset)] if offset else []
            arguments += [space if offset else f"space={space}"] if space else []
            return f"{self.names[location.base.name]}.at({', '.join(arguments)})"
        if isinstance(location.base, str) and location.base in self.parameters and location.space == "param":
            name = self.parameters[location.base]
            return f"{name} + {offset}" if offset else name
        arguments = [self._value(location.base)]
        arguments += [f"offset={offset}"] if offset else []
        arguments += [f"space={space}"] if space else []
        if location.coordinates:
            inner = ", ".join(map(self._value, location.coordinates))
            arguments.append(f"coordinates=({inner}{',' if len(location.coordinates) == 1 else ''})")
        return f"au.Location({', '.join(arguments)})"


def _is_inexpressible(statement: tree.Statement) -> bool:
    if isinstance(statement, tree.Variable) and statement.space == "reg":
        return statement.vector > 1 or statement.type not in TYPES
    return isinstance(statement, tree.Directive) and statement.name not in _BODY_DIRECTIVES


def _directive(directive: tree.Directive) -> str:
    function = tree.Function("entry", "", directives=(replace(directive),))
    return str(function).removesuffix(";").splitlines()[1]


def _registers(statements: Sequence[tree.Statement]) -> dict[str, str]:
    scope = Scope[str, None, None](None)
    for each in statements:
        if isinstance(each, tree.Variable) and each.space == "reg":
            if each.count is None:
                scope.registers[each.name] = each.type
            else:
                scope.ranges[each.name] = each.count, each.type
    used = {name: found[0] for name in _names(statements) if (found := scope.own_register(name)) is not None}
    return {**scope.registers, **used}


def _names(statements: Sequence[tree.Statement]) -> Iterator[str]:
    for instruction in tree.Block(tuple(statements)).instructions():
        yield from _TOKEN.findall(str(replace(instruction)))


def _registers_in(values: Sequence[Any]) -> Iterator[Register]:
    for value in flatten(values):
        if isinstance(value, Register):
            yield value
        elif isinstance(value, Location):
            yield from _registers_in((value.base, *value.coordinates))
