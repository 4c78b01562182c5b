"""`@kernel`: a Python function that builds one PTX entry."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from warploom.author.building import Building, current, declared_of, entered
from warploom.author.instructions import named
from warploom.author.memory import DYNAMIC
from warploom.author.values import Location, Register
from warploom.check.module import asked_target, asked_version
from warploom.check.statements import Statements
from warploom.diag import UsageError
from warploom.isa.special import SPECIAL_REGISTERS
from warploom.isa.types import TYPES
from warploom.ptx import Label, Module, Symbol, Variable, parse
from warploom.ptx.printer import to_text

_VERSION = (8, 6)  # what assemblers of CUDA 12.7 and later take


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a kernel takes: a type of the language, a pointer to elements of one, or a tensor map."""

    kind: str  # "value" | "pointer" | "tensor map"
    type: str = "u64"


def pointer(type: str) -> Parameter:
    """A parameter that is the address of global memory with elements of a type."""
    return Parameter("pointer", type)


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

    Errors: UsageError author.special.
    """
    known = SPECIAL_REGISTERS.get(f"%{name}")
    if known is None:
        raise UsageError(f"there is no special register '%{name}'", code="author.special")
    return named("mov")(Symbol(known.name), type=known.type)


def bounds(*, threads: int, cluster: tuple[int, int, int] | None = None, ctas_per_sm: int = 0) -> None:
    """How the kernel is launched: threads of a CTA, the shape of its cluster, CTAs that share an SM."""
    directives = current().directives
    directives["maxntid"] = (threads,)
    if ctas_per_sm:
        directives["minnctapersm"] = (ctas_per_sm,)
    if cluster is not None:
        directives["reqnctapercluster"] = cluster


class Kernel:
    """A kernel and the compile-time arguments chosen for it so far. It is built when its text is asked for."""

    def __init__(
        self, function: Callable[..., None], target: str, version: str, constants: Mapping[str, Any]
    ) -> None:
        self.function = function
        self.target = target
        self.version = version
        self.constants = dict(constants)
        self.__doc__ = function.__doc__

    def at(self, **constants: Any) -> Kernel:
        """The kernel with compile-time arguments, its keyword parameters."""
        known = inspect.signature(self.function).parameters
        for name in constants:
            if name not in known or known[name].kind is not inspect.Parameter.KEYWORD_ONLY:
                names = [n for n, p in known.items() if p.kind is inspect.Parameter.KEYWORD_ONLY]
                expected = ", ".join(names) or "none"
                raise UsageError(
                    f"{self.name} has no compile-time parameter '{name}'; expected {expected}",
                    code="author.constant",
                )
        return Kernel(self.function, self.target, self.version, {**self.constants, **constants})

    @property
    def name(self) -> str:
        """The entry's name."""
        return self.function.__name__

    @cached_property
    def _built(self) -> tuple[str, Building]:
        target = asked_target(self.target)
        version = asked_version(self.version) if self.version else max(_VERSION, target.first_version)
        building = Building(target, version, Statements(target, version))
        building.names.declare(Variable("shared", "b8", DYNAMIC, shape=(None,), linkage=("extern",)))
        code = self.function.__code__
        building.line = own = code.co_filename, code.co_firstlineno
        with entered(building):
            parameters = [
                self._parameter(building, number, name, kind)
                for number, (name, kind) in enumerate(self._parameters())
            ]
            building.line = None
            self.function(*parameters, **self.constants)
            building.line = own
            named("ret")()
        return _text(self, building), building

    def _parameters(self) -> list[tuple[str, Parameter]]:
        hints = inspect.get_annotations(self.function, eval_str=True)
        found: list[tuple[str, Parameter]] = []
        for name, parameter in inspect.signature(self.function).parameters.items():
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                continue
            kind = hints.get(name)
            if isinstance(kind, str) and kind in TYPES:
                kind = Parameter("value", kind)
            if not isinstance(kind, Parameter):
                raise UsageError(
                    f"parameter '{name}' of {self.name} has no type; "
                    "expected one such as u32, pointer(f32) or tensor_map",
                    code="author.parameter",
                )
            found.append((name, kind))
        return found

    def _parameter(self, building: Building, number: int, name: str, kind: Parameter) -> Any:
        full = f"{self.name}_{name}"
        if kind.kind == "tensor map":
            variable = Variable("param", "b8", full, align=64, shape=(128,))
        else:
            variable = Variable("param", kind.type if kind.kind == "value" else "u64", full)
        building.variables.append(variable)
        building.names.declare(variable)
        building.names.roles[full] = "entry"
        place = Location(full, 0, "param")
        if kind.kind == "tensor map":
            generic = named("mov")(Symbol(full), type="b64")
            return named("cvta")(generic, space="param", size="u64")
        if kind.kind == "value":
            return named("ld")(place, type=kind.type)
        loaded = named("ld")(place, type="u64")
        made = named("cvta_to")(loaded, space="global", size="u64")
        return Pointer(made.name, kind.type)

    @property
    def text(self) -> str:
        """The PTX, with the Python line of each instruction beside it."""
        return self._built[0]

    @property
    def shared_bytes(self) -> int:
        """Bytes of dynamic shared memory that a launch gives it."""
        return self._built[1].shared_bytes

    @cached_property
    def module(self) -> Module:
        """The PTX as a tree."""
        return parse(self.text)


def kernel(
    function: Callable[..., None] | None = None, *, target: str = "sm_90a", ptx_version: str = ""
) -> Any:
    """Decorator: the function builds a kernel. Its parameters are the kernel's; those behind `*` are compile-time
    arguments. The types are annotations: `u32`, `f32`, `pointer(f32)`, `tensor_map`.
    """
    if function is None:
        return partial(Kernel, target=target, version=ptx_version, constants={})
    return Kernel(function, target, ptx_version, {})


def _text(made: Kernel, building: Building) -> str:
    major, minor = building.version
    lines = [f".version {major}.{minor}", f".target {building.target.name}", ".address_size 64", ""]
    if building.shared_bytes:
        lines += [f".extern .shared .align {building.shared_align} .b8 {DYNAMIC}[];", ""]
    parameters = ",\n".join(f"    {to_text(variable)}".rstrip(";\n") for variable in building.variables)
    lines.append(
        f".visible .entry {made.name}(\n{parameters}\n)" if parameters else f".visible .entry {made.name}()"
    )
    lines += [f".{name} {', '.join(map(str, numbers))}" for name, numbers in building.directives.items()]
    lines.append("{")
    lines += [
        f"    .reg .{declared_of(prefix)} %{prefix}<{count}>;" for prefix, count in building.registers.items()
    ]
    before = None
    for statement, line in building.statements:
        if isinstance(statement, Label):
            lines.append(f"{statement.name}:")
            continue
        text = f"    {to_text(statement).rstrip()}"
        if line is not None and line != before:
            text = f"{text:<70} // {Path(line[0]).name}:{line[1]}"
            before = line
        lines.append(text)
    lines += ["}", ""]
    return "\n".join(lines)
