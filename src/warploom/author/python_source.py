"""Translation of a PTX module into the author code that builds it."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from textwrap import indent, wrap
from typing import Any

from warploom.author.builder import reaches_end, register_prefix
from warploom.author.call_source import Call, Registers, call_of
from warploom.author.inline import without_origin
from warploom.author.overloads import flatten, is_vector
from warploom.author.values import Location, Register
from warploom.diagnostics import UsageError
from warploom.isa.model.types import TYPES
from warploom.ptx import parse, tree
from warploom.ptx.printer import to_text

_WIDTH = 110
_TOKEN = re.compile(r"[%\w$][\w$]*(?:\.\w+)*")
_RESERVED = frozenset({"au", "ptx", "program", "Float", "Symbol", *keyword.kwlist})
_BODY_DIRECTIVES = (".loc", ".pragma")


def from_ptx(text: str | tree.Module, kernel: str | None = None) -> str:
    """Return author code that builds the same module, or only one of its kernels and the declarations.

    The built module differs only in register names, comments and white space. Each call has as few keywords as
    possible; statements that no call emits become inline PTX.

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
        expected = ", ".join(names) or "none, for the module has no kernel"
        raise UsageError(f"unknown kernel '{kernel}'; expected {expected}", code="author.rebuild")
    body = "\n".join(_parts(module, kernel))
    needed = [name for name in ("Float", "Symbol") if re.search(rf"\b{name}[(.]", body)]
    head = ["from __future__ import annotations", "", "from warploom import author as au"]
    head += ["from warploom.author import ptx"] * ("ptx." in body)
    head += [f"from warploom.ptx import {', '.join(needed)}"] * bool(needed)
    major, minor = module.version
    head += ["", f'program = au.Program(target="{module.target[0]}", ptx_version="{major}.{minor}")']
    return "\n".join([*head, body]) + "\n"


def _parts(module: tree.Module, kernel: str | None) -> Iterator[str]:
    """Yield the code of each kernel, and of the declarations between kernels."""
    declarations: list[tree.TopLevel] = []
    gap = ""  # two lines before and after a kernel
    for item in module.items:
        if isinstance(item, tree.Directive) and item.name in (".version", ".target", ".address_size"):
            continue
        is_entry = isinstance(item, tree.Function) and item.kind == "entry"
        if is_entry and kernel is not None and item.name != kernel:
            continue
        written = _Kernel(item).source() if isinstance(item, tree.Function) and is_entry else None
        if written is None:
            declarations.append(item)
            continue
        if declarations:
            yield gap + _declaration(declarations)
            declarations = []
        gap = "\n\n"
        yield gap + written
    if declarations:
        yield gap + _declaration(declarations)


def _declaration(items: Sequence[tree.TopLevel]) -> str:
    text = "\n".join(to_text(item) for item in items)
    quoted = _quoted(f"\n{text}\n" if len(items) > 1 else text)
    return f"program.declare({quoted})"


def _quoted(text: str) -> str:
    """Return a Python literal, over several lines if the text has several."""
    unprintable = any(not (each.isprintable() or each in "\n\t") for each in text)
    if unprintable or '"""' in text or "\\" in text or text.endswith('"'):
        return repr(text)
    return f'"""{text}"""' if "\n" in text or '"' in text else f'"{text}"'


@dataclass(slots=True)
class _Source:
    """Code of a body up to a statement. `inline` holds PTX lines that are not yet written."""

    lines: list[str] = field(default_factory=list[str])
    inline: list[str] = field(default_factory=list[str])
    guard: tree.Guard | None = None
    types: dict[str, str] = field(default_factory=dict[str, str])  # registers that exist


class _Kernel:
    """Translation of one entry into a Python function."""

    def __init__(self, function: tree.Function) -> None:
        self.function = function
        self.statements = () if function.body is None else function.body.statements
        self.declared = _registers(self.statements)
        self.created_first: dict[
            str, None
        ] = {}  # registers that `au.new` creates before the first instruction
        self.taken = set(_RESERVED)
        prefix = f"{function.name}_"
        self.parameters = {
            each.name: self._name(each.name.removeprefix(prefix) or each.name) for each in function.params
        }
        instructions = _instructions(self.statements)
        mentioned = {text for each in instructions for text in _TOKEN.findall(to_text(replace(each)))}
        self.labels = {
            each.name: self._name(re.sub(r"^\W*L_*", "at_", each.name).lower())
            for each in self.statements
            if isinstance(each, tree.Label) and each.name in mentioned
        }
        self.names = {name: self._name(name) for name in self.declared}

    def _name(self, name: str) -> str:
        """Return an unused Python name like a PTX name."""
        plain = re.sub(r"\W", "_", name.lstrip("%$")) or "x"
        plain = f"x{plain}" if plain[0].isdigit() else plain
        names = chain((plain,), (f"{plain}_{k}" for k in count(2)))
        chosen = next(each for each in names if each not in self.taken)
        self.taken.add(chosen)
        return chosen

    def source(self) -> str | None:
        """Return the Python function, or None if author cannot express the kernel."""
        function = self.function
        if function.body is None or function.attributes or any(map(_is_inexpressible, self.statements)):
            return None
        if reaches_end(self.statements):
            return None
        body = self._body()
        python = self._name(function.name)
        options: dict[str, Any] = {"name": function.name} if python != function.name else {}
        if function.linkage != ("visible",):
            options["linkage"] = function.linkage
        arguments = ", ".join(f"{key}={value!r}" for key, value in options.items())
        lines = [f"@program.kernel({arguments})" if options else "@program.kernel"]
        parameters = [
            f"    {self.parameters[each.name]}: au.parameter({_quoted(to_text(replace(each)).rstrip(';'))}),"
            for each in function.params
        ]
        lines += [f"def {python}(", *parameters, "):"] if parameters else [f"def {python}():"]
        lines += [f"    au.directive({_quoted(_directive(each))})" for each in function.directives]
        lines += self._new_registers()
        lines += [f"    {name} = au.label({_quoted(label)})" for label, name in self.labels.items()]
        return "\n".join([*lines, *body])

    def _new_registers(self) -> list[str]:
        by_type: dict[str, list[str]] = {}
        for name in self.created_first:
            by_type.setdefault(self.declared[name], []).append(self.names[name])
        lines: list[str] = []
        for type_word, names in by_type.items():
            if len(names) == 1:
                lines.append(f'    {names[0]} = au.new("{type_word}")')
                continue
            targets = ", ".join(names)
            if len(targets) > _WIDTH // 2:
                targets = f"(\n{indent(_wrapped(targets), ' ' * 8)},\n    )"
            lines.append(f'    {targets} = (au.new("{type_word}") for _ in range({len(names)}))')
        return lines

    # Statements ---------------------------------------------------------------------------------------------

    def _body(self) -> list[str]:
        """Return the body. A pass that finds a register read before its first write repeats."""
        while True:
            known = len(self.created_first)
            source = _Source(types={name: self.declared[name] for name in self.created_first})
            for statement in self.statements:
                self._statement(statement, source)
            self._flush(source)
            if len(self.created_first) == known:
                return source.lines

    def _statement(self, statement: tree.Statement, source: _Source) -> None:
        match statement:
            case tree.Variable(space="reg"):
                return
            case tree.Label(name):
                self._flush(source)
                source.guard = None
                source.lines.append(f"    au.put({self._value(name)})")
            case tree.Instruction() if (call := self._call(statement, source)) is not None:
                self._flush(source)
                self._write_call(call, statement.guard, source)
            case _:
                self._add_inline(statement, source)

    def _call(self, instruction: tree.Instruction, source: _Source) -> Call | None:
        unguarded = tree.Instruction(None, instruction.opcode, instruction.operands)

        def registers(types: Mapping[str, str]) -> Registers:
            def register(name: str) -> Register | None:
                declared = self.declared.get(name)
                return None if declared is None else Register(name, types.get(name, declared))

            return register

        found = call_of(unguarded, registers(source.types))
        with_declared_types = found is None
        if with_declared_types:  # types that registers got from earlier results may prevent a call
            found = call_of(unguarded, registers({}))
        if found is not None:
            self._require(found.arguments, source, declared=with_declared_types)
        return found

    def _require(self, values: Sequence[Any], source: _Source, *, declared: bool = False) -> None:
        """Create registers in front if they do not exist yet, or have another type than the declared one."""
        for value in _registers_in(values):
            known = source.types.get(value.name)
            if known is None or (declared and known != self.declared[value.name]):
                self.created_first[value.name] = None

    def _write_call(self, call: Call, guard: tree.Guard | None, source: _Source) -> None:
        arguments = [self._value(each) for each in call.arguments]
        arguments += [f"{key}={self._value(value)}" for key, value in call.keywords]
        target = ""
        if self._creates_results(call, source):
            target = f"{self._target(call.results)} = "
            for value, type_word in zip(call.results, call.types, strict=True):
                source.types |= {each.name: type_word for each in flatten((value,))}
        elif call.results:
            self._require(call.results, source)
            shown = ", ".join(map(self._value, call.results))
            arguments.append(f"out=({shown})" if len(call.results) > 1 else f"out={shown}")
        is_branch = call.jumps and len(call.arguments) == 1 and dict(call.keywords).keys() <= {"uni"}
        if is_branch and guard is not None:
            source.guard = None
            uniform = ", uniform=True" if call.keywords else ""
            self._line(f"au.branch({arguments[0]}, {self._guard(guard, source)}{uniform})", source)
            return
        if guard is not None and guard != source.guard:
            source.lines.append(f"    with au.guarded({self._guard(guard, source)}):")
        source.guard = guard
        self._line(f"{target}ptx.{call.name}({', '.join(arguments)})", source)

    def _creates_results(self, call: Call, source: _Source) -> bool:
        """Return True if a call without `out` creates the result registers of the instruction."""
        results: list[Any] = list(flatten(call.results))
        if not results or call.needs_out or not all(isinstance(each, Register) for each in results):
            return False
        names = {each.name for each in results}
        if len(names) < len(results) or not names.isdisjoint(source.types):
            return False
        return all(
            register_prefix(type_word) == register_prefix(each.type)
            for value, type_word in zip(call.results, call.types, strict=True)
            for each in flatten((value,))
        )

    def _target(self, results: Sequence[Any]) -> str:
        """Return the assignment target of results."""
        if len(results) > 1:
            return ", ".join(
                f"({self._target([each])})" if is_vector(each) else self._value(each) for each in results
            )
        if not is_vector(results[0]):
            return self._value(results[0])
        return ", ".join(map(self._value, results[0])) + "," * (len(results[0]) == 1)

    def _guard(self, guard: tree.Guard, source: _Source) -> str:
        if guard.name not in source.types:
            self.created_first[guard.name] = None
        return f"{'~' if guard.negated else ''}{self.names[guard.name]}"

    def _line(self, text: str, source: _Source) -> None:
        margin = "    " if source.guard is None else "        "
        if len(margin) + len(text) > _WIDTH and not re.search(r"\"[^\"]* |'[^']* ", text):
            head, _, rest = text.partition("(")
            text = f"{head}(\n{indent(_wrapped(rest[:-1]), '    ')}\n)"
        source.lines += indent(text, margin).splitlines()

    # Values -------------------------------------------------------------------------------------------------

    def _value(self, value: Any) -> str:
        """Return a value as Python code."""
        match value:
            case Register():
                return f"{'~' if value.negated else ''}{self.names[value.name]}"
            case tree.Float(width=None):
                return f"Float.decimal({value.value!r})"
            case tree.Float(bits, width):
                return f"Float(0x{bits:X}, {width})"
            case tree.Symbol(name, offset):
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

    # Inline PTX ---------------------------------------------------------------------------------------------

    def _add_inline(self, statement: tree.Statement, source: _Source) -> None:
        """Add a statement as inline PTX with its registers as slots."""
        source.guard = None
        own = _registers(statement.statements) if isinstance(statement, tree.Block) else {}

        def slot(found: re.Match[str]) -> str:
            name = found[0]
            if name not in self.declared or name in own:
                return name
            if name not in source.types:
                self.created_first[name] = None
            return f"{{{self.names[name]}}}"

        # Blanks keep a vector of one register from being a slot.
        text = re.sub(r"\{(\w+)\}", r"{ \1 }", to_text(without_origin(statement)))
        for line in _TOKEN.sub(slot, text).splitlines():
            code = line.lstrip("\t")
            source.inline.append("    " * (len(line) - len(code)) + code)

    def _flush(self, source: _Source) -> None:
        """Write the pending inline PTX."""
        if not source.inline:
            return
        text = "\n".join(source.inline)
        known = set(self.names.values())
        names = dict.fromkeys(found for found in re.findall(r"\{(\w+)\}", text) if found in known)
        if len(source.inline) > 1:
            text = "\n" + indent(text, " " * 8) + "\n    "
        slots = ", ".join(f"{name}={name}" for name in names)
        if len(slots) > _WIDTH // 2:
            slots = f",\n{indent(_wrapped(slots), ' ' * 8)},\n    "
        elif slots:
            slots = f", {slots}"
        source.lines.append(f"    ptx.inline({_quoted(text)}{slots})")
        source.inline = []


def _is_inexpressible(statement: tree.Statement) -> bool:
    """Return True for directives and register vectors that author cannot express in a body."""
    match statement:
        case tree.Directive():
            return statement.name not in _BODY_DIRECTIVES
        case tree.Variable(space="reg"):
            return statement.vector > 1 or statement.type not in TYPES
        case _:
            return False


def _wrapped(text: str) -> str:
    return "\n".join(wrap(text, _WIDTH - 12, break_long_words=False, break_on_hyphens=False))


def _directive(directive: tree.Directive) -> str:
    function = tree.Function("entry", "", directives=(replace(directive),))
    return to_text(function).removesuffix(";").splitlines()[1]


def _registers(statements: Sequence[tree.Statement]) -> dict[str, str]:
    """Return the registers that statements use by name, with their declared types."""
    found: dict[str, str] = {}
    ranges: dict[str, tuple[int, str]] = {}
    for each in statements:
        if isinstance(each, tree.Variable) and each.space == "reg":
            if each.count is None:
                found[each.name] = each.type
            else:
                ranges[each.name] = each.count, each.type
    for instruction in _instructions(statements):
        for name in _TOKEN.findall(to_text(replace(instruction))):
            stem = name.rstrip("0123456789")
            count_type = ranges.get(stem)
            if name in found or count_type is None or stem == name:
                continue
            if int(name[len(stem) :]) < count_type[0]:
                found[name] = count_type[1]
    return found


def _instructions(statements: Sequence[tree.Statement]) -> Iterator[tree.Instruction]:
    """Yield all instructions, including those of nested blocks."""
    for each in statements:
        if isinstance(each, tree.Instruction):
            yield each
        elif isinstance(each, tree.Block):
            yield from each.instructions()


def _registers_in(values: Sequence[Any]) -> Iterator[Register]:
    for value in flatten(values):
        if isinstance(value, Register):
            yield value
        elif isinstance(value, Location):
            yield from _registers_in((value.base, *value.coordinates))
