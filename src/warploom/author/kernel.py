"""`@kernel`: a Python function that builds one PTX entry; and programs of several."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property, partial
from math import prod
from pathlib import Path
from typing import Any

from warploom.author.building import (
    AuthorError,
    Building,
    Line,
    current,
    declared_of,
    entered,
    misuse,
    on_its_line,
    place_of,
    reaches_end,
)
from warploom.author.inline import declared, read_directives, read_parameter
from warploom.author.instructions import named
from warploom.author.values import DYNAMIC, Location, Register
from warploom.check import declarations
from warploom.check.header import find_target, find_version
from warploom.check.module_checker import ModuleChecker
from warploom.check.names import Names
from warploom.diagnostics import Severity, UsageError
from warploom.isa.model.availability import Target, Version
from warploom.isa.model.capacity import MAX_CLUSTER, MAX_THREADS
from warploom.isa.model.special_registers import SPECIAL_REGISTERS
from warploom.isa.model.types import TYPES
from warploom.ptx import (
    Directive,
    Function,
    Integer,
    Label,
    Module,
    Symbol,
    TopLevel,
    Variable,
    parse,
)

_VERSION = (8, 6)  # what assemblers of CUDA 12.7 and later take


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a kernel takes: a type of the language, a pointer to elements of one, a tensor map, or what PTX
    declares.
    """

    kind: str  # "value" | "pointer" | "tensor map" | "declared"
    type: str = "u64"
    text: str = ""


def pointer(type: str) -> Parameter:
    """A parameter that is the address of global memory with elements of a type. Errors: AuthorError author.type."""
    if type not in TYPES or TYPES[type].bits < 8:
        raise misuse(
            f"there are no elements of '{type}'; expected a type such as f32, u8 or bf16", "author.type"
        )
    return Parameter("pointer", type)


def parameter(text: str) -> Parameter:
    """A parameter as PTX declares it, `.param .align 8 .b8 sizes[24]`. The function gets its place in memory."""
    return Parameter("declared", text=text)


tensor_map = Parameter("tensor map")
"""A parameter that is a tensor map."""


class Pointer(Register):
    """The address of elements: `x[i]` loads one, `x[i] = v` stores one."""

    __slots__ = ("element",)

    def __init__(self, name: str, element: str) -> None:
        super().__init__(name, "u64")
        self.element = element

    def place(self, index: Any) -> Location:
        """Where element `index` is."""
        size = TYPES[self.element].bytes
        if isinstance(index, int):
            return Location(self, index * size, "global")
        if not isinstance(index, Register) or TYPES[index.type].kind not in ("signed", "unsigned", "bits"):
            found = f"a register of {index.type}" if isinstance(index, Register) else repr(index)
            raise misuse(f"an index is {found}; expected an integer, or a register of one", "author.index")
        wide = (
            named("mul_wide")(index, size, type=index.type) if index.type in ("u32", "s32") else index * size
        )
        address = named("add")(self, wide, type="u64")
        return Location(address, 0, "global")

    def __getitem__(self, index: Any) -> Register:
        return named("ld")(self.place(index), type=self.element)

    def __setitem__(self, index: Any, value: Any) -> None:
        named("st")(self.place(index), value, type=self.element)


def special(name: str) -> Register:
    """What a special register holds, by its name without the sign: `special("tid.x")`.

    Errors: AuthorError author.special.
    """
    known = SPECIAL_REGISTERS.get(f"%{name}")
    if known is None:
        like = next(iter(get_close_matches(f"%{name}", SPECIAL_REGISTERS, 1)), "")
        hint = f"did you mean '{like[1:]}'?" if like else ""
        raise misuse(f"there is no special register '%{name}'", "author.special", hint)
    return named("mov")(Symbol(known.name), type=known.type)


def bounds(*, threads: int, cluster: tuple[int, int, int] | None = None, ctas_per_sm: int = 0) -> None:
    """How the kernel is launched: threads of a CTA, the shape of its cluster, CTAs that share an SM.

    Errors: AuthorError author.bounds
    """
    if not 1 <= threads <= MAX_THREADS:
        raise misuse(f"a CTA of {threads} threads; expected 1 to {MAX_THREADS}", "author.bounds")
    _direct(Directive(".maxntid", (Integer(threads),)))
    if ctas_per_sm:
        _direct(Directive(".minnctapersm", (Integer(ctas_per_sm),)))
    if cluster is not None:
        if not 1 <= (size := prod(cluster)) <= MAX_CLUSTER:
            shape = " x ".join(map(str, cluster))
            raise misuse(f"a cluster of {shape} CTAs is {size}; expected 1 to {MAX_CLUSTER}", "author.bounds")
        _direct(Directive(".reqnctapercluster", tuple(map(Integer, cluster))))


def directive(text: str) -> None:
    """Put a directive of PTX on the kernel: `.maxnreg 128`. Errors: AuthorError with the checker's diagnostics."""
    for each in read_directives(text):
        _direct(each)


def _direct(directive: Directive) -> None:
    building = current()
    building.directives.append(directive)
    function = Function("entry", "", directives=tuple(building.directives))
    found = declarations.directives(function, building.target, building.version)
    wrong = next((each for each in found if each.severity is Severity.ERROR), None)
    if wrong is not None:
        raise misuse(wrong.message, wrong.code, wrong.hint)


class Kernel:
    """A kernel and the compile-time arguments chosen for it so far. It is built when its text is asked for."""

    def __init__(
        self,
        function: Callable[..., None],
        target: str,
        version: str,
        constants: Mapping[str, Any],
        name: str = "",
        linkage: tuple[str, ...] = ("visible",),
        before: tuple[TopLevel, ...] = (),
    ) -> None:
        self.function = function
        self.target = target
        self.version = version
        self.constants = dict(constants)
        self.name = name or function.__name__
        self.linkage = linkage
        self.before = before
        self.__doc__ = function.__doc__

    def at(self, **constants: Any) -> Kernel:
        """The kernel with compile-time arguments, its keyword parameters. Errors: AuthorError author.constant."""
        known = inspect.signature(self.function).parameters
        names = [n for n, p in known.items() if p.kind is inspect.Parameter.KEYWORD_ONLY]
        for name in constants:
            if name not in names:
                expected = ", ".join(names) or "none"
                raise misuse(
                    f"{self.name} has no compile-time parameter '{name}'; expected {expected}",
                    "author.constant",
                )
        return Kernel(
            self.function,
            self.target,
            self.version,
            {**self.constants, **constants},
            self.name,
            self.linkage,
            self.before,
        )

    @property
    def _line(self) -> Line:
        code = self.function.__code__
        return code.co_filename, code.co_firstlineno

    @cached_property
    def built(self) -> Building:
        """What its function built. Errors: AuthorError, on the line that is wrong."""
        try:
            target, version = judged_by(self.target, self.version)
        except UsageError as error:
            source, span = place_of(self._line)
            placed = (replace(each, source=source, span=span) for each in error.diagnostics)
            raise AuthorError(placed) from None
        walk = ModuleChecker(Module(()), target, version)
        for item in self.before:
            walk.check_item(item)
        building = Building(target, version, walk, Names(walk.names, walk.functions))
        building.names.declare(Variable("shared", "b8", DYNAMIC, shape=(None,), linkage=("extern",)))
        building.line = self._line
        with entered(building):
            parameters = [self._parameter(building, name, kind) for name, kind in self._parameters()]
            building.line = None
            with on_its_line():
                self.function(*parameters, **self.constants)
            building.line = self._line
            self._finish(building)
        return building

    def _finish(self, building: Building) -> None:
        """Refuse labels that stand nowhere, and return at the end where it can be reached."""
        placed = {each.name for each, _ in building.statements if isinstance(each, Label)}
        for name, line in building.marks.items():
            if name not in placed:
                raise misuse(
                    f"the label '{name}' stands nowhere", "author.label", "`put(label)` puts it", line
                )
        if reaches_end(building.statements):
            named("ret")()

    def _parameters(self) -> list[tuple[str, Parameter]]:
        try:
            hints = inspect.get_annotations(self.function, eval_str=True)
        except NameError as error:
            raise misuse(
                f"the parameters of {self.name} have a type that is not known: {error}",
                "author.parameter",
                at=self._line,
            ) from None
        found: list[tuple[str, Parameter]] = []
        for name, parameter in inspect.signature(self.function).parameters.items():
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                continue
            kind = hints.get(name)
            if isinstance(kind, str) and kind in TYPES:
                kind = Parameter("value", kind)
            if not isinstance(kind, Parameter):
                has = "no type" if kind is None else f"the type {kind!r}"
                raise misuse(
                    f"parameter '{name}' of {self.name} has {has}; "
                    "expected one such as u32, pointer(f32) or tensor_map",
                    "author.parameter",
                    at=self._line,
                )
            found.append((name, kind))
        return found

    def _parameter(self, building: Building, name: str, kind: Parameter) -> Any:
        full = f"{self.name}_{name}"
        if kind.kind == "declared":
            variable = read_parameter(kind.text)
        elif kind.kind == "tensor map":
            variable = Variable("param", "b8", full, align=64, shape=(128,))
        else:
            variable = Variable("param", kind.type if kind.kind == "value" else "u64", full)
        building.variables.append(variable)
        building.names.declare(variable)
        building.names.roles[variable.name] = "entry"
        function = Function("entry", self.name, tuple(building.variables))
        for wrong in declarations.parameters(function):
            raise misuse(wrong.message, wrong.code, wrong.hint, self._line)
        place = Location(variable.name, 0, "param")
        if kind.kind == "declared":
            return place
        if kind.kind == "tensor map":
            generic = named("mov")(Symbol(full), type="b64")
            return named("cvta")(generic, space="param", size="u64")
        if kind.kind == "value":
            return named("ld")(place, type=kind.type)
        loaded = named("ld")(place, type="u64")
        made = named("cvta_to")(loaded, space="global", size="u64")
        return Pointer(made.name, kind.type)

    @property
    def shared_bytes(self) -> int:
        """Bytes of dynamic shared memory that a launch gives it."""
        return self.built.shared_bytes

    @cached_property
    def text(self) -> str:
        """The PTX, with the Python line of each instruction beside it."""
        built = self.built
        items = [str(item) for item in (*self.before, *built.items)]
        return _module(
            built.target, built.version, built.shared_align * bool(built.shared_bytes), [*items, self.entry]
        )

    @cached_property
    def entry(self) -> str:
        """The PTX of the kernel alone, without the module's head and what stands before it."""
        return _entry(self, self.built)

    @cached_property
    def module(self) -> Module:
        """The PTX as a tree."""
        return parse(self.text)


def judged_by(target: str, version: str) -> tuple[Target, Version]:
    """The target and the PTX version of a name and a number. Errors: UsageError."""
    found = find_target(target)
    return found, find_version(version) if version else max(_VERSION, found.first_version)


def kernel(
    function: Callable[..., None] | None = None,
    *,
    target: str = "sm_90a",
    ptx_version: str = "",
    name: str = "",
) -> Any:
    """Decorator: the function builds a kernel. Its parameters are the kernel's; those behind `*` are compile-time
    arguments. The types are annotations: `u32`, `f32`, `pointer(f32)`, `tensor_map`. The kernel is called `name`,
    else as the function is.
    """
    if function is None:
        return partial(Kernel, target=target, version=ptx_version, constants={}, name=name)
    return Kernel(function, target, ptx_version, {}, name)


class Program:
    """A module of several kernels and what they share: its items stand in the order they were given in."""

    def __init__(self, *, target: str = "sm_90a", ptx_version: str = "") -> None:
        self.target = target
        self.version = ptx_version
        self.parts: list[TopLevel | Kernel] = []

    def declare(self, text: str) -> None:
        """Put PTX there: variables, functions, directives. The kernels after it know what it declares.

        Errors: AuthorError with the checker's and the parser's diagnostics, in the text
        """
        with on_its_line():
            target, version = judged_by(self.target, self.version)
        walk = ModuleChecker(Module(()), target, version)
        for item in self._items():
            walk.check_item(item)
        self.parts += declared(text, walk)

    def kernel(
        self,
        function: Callable[..., None] | None = None,
        *,
        name: str = "",
        linkage: tuple[str, ...] = ("visible",),
    ) -> Any:
        """Decorator: the function builds a kernel of this program, as `@kernel` has it."""
        if function is None:
            return partial(self._add, name=name, linkage=linkage)
        return self._add(function, name, linkage)

    def _add(self, function: Callable[..., None], name: str, linkage: tuple[str, ...]) -> Kernel:
        made = Kernel(function, self.target, self.version, {}, name, linkage, self._items())
        self.parts.append(made)
        return made

    def _items(self) -> tuple[TopLevel, ...]:
        return tuple(part for part in self.parts if not isinstance(part, Kernel))

    @property
    def text(self) -> str:
        """The PTX, with the Python line of each instruction beside it."""
        target, version = judged_by(self.target, self.version)
        built = [part.built for part in self.parts if isinstance(part, Kernel)]
        align = max((each.shared_align for each in built if each.shared_bytes), default=0)
        texts: list[str] = []
        for part in self.parts:
            if isinstance(part, Kernel):
                texts += [str(item) for item in part.built.items]
            texts.append(part.entry if isinstance(part, Kernel) else str(part))
        return _module(target, version, align, texts)

    @property
    def module(self) -> Module:
        """The PTX as a tree."""
        return parse(self.text)


def _module(target: Target, version: Version, shared_align: int, items: Sequence[str]) -> str:
    lines = [f".version {version[0]}.{version[1]}", f".target {target.name}", ".address_size 64", ""]
    if shared_align:
        lines += [f".extern .shared .align {shared_align} .b8 {DYNAMIC}[];", ""]
    return "\n".join(lines) + "\n" + "\n".join(item if item.endswith("\n") else f"{item}\n" for item in items)


def _entry(made: Kernel, building: Building) -> str:
    linkage = "".join(f".{word} " for word in made.linkage)
    parameters = ",\n".join(f"    {variable!s}".rstrip(";\n") for variable in building.variables)
    lines = [
        f"{linkage}.entry {made.name}(\n{parameters}\n)" if parameters else f"{linkage}.entry {made.name}()"
    ]
    function = Function("entry", "", directives=tuple(building.directives))
    lines += str(function).removesuffix(";").splitlines()[1:]
    lines.append("{")
    lines += [
        f"    .reg .{declared_of(prefix)} %{prefix}<{count}>;" for prefix, count in building.registers.items()
    ]
    before, files = None, dict[str, str]()
    for statement, line in building.statements:
        if isinstance(statement, Label):
            lines.append(f"{statement.name}:")
            continue
        first, *rest = (f"    {each}".expandtabs(4) for each in str(statement).rstrip().splitlines())
        if line is not None and line != before:
            file = files.get(line[0]) or files.setdefault(line[0], Path(line[0]).name)
            first = f"{first:<70} // {file}:{line[1]}"
            before = line
        lines += [first, *rest]
    lines += ["}", ""]
    return "\n".join(lines)
