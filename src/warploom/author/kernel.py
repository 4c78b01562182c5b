"""Decorator `@kernel` for Python functions that build PTX kernels."""

# Callers may pass objects of other types than annotated.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import prod
from typing import Any, Literal, cast

from warploom.author import ptx
from warploom.author.builder import REGISTER_TYPES, Builder, building, current, reaches_end
from warploom.author.errors import AuthorError, CallerLines, author_error, errors_at_caller, line_place
from warploom.author.inline import checked_items, read_directives, read_parameter
from warploom.author.line_directives import LineDirectives
from warploom.author.values import DYNAMIC, Location, Register
from warploom.check import declarations
from warploom.check.header import find_target, find_version
from warploom.check.instruction_checker import instruction_checker
from warploom.check.module_checker import ModuleChecker
from warploom.check.names import Names
from warploom.diagnostics import Severity, SourceLine, UsageError
from warploom.garbage import paused_collection
from warploom.isa.model.availability import Target, Version
from warploom.isa.model.capacity import MAX_CLUSTER, MAX_THREADS
from warploom.isa.model.types import TYPES
from warploom.layout import TensorMap
from warploom.providers import provider
from warploom.ptx import Directive, Function, Integer, Label, Module, Symbol, TopLevel, Variable, parse

_DEFAULT_VERSION = (8, 6)  # PTX version of CUDA 12.7
Extents = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Parameter:
    """Kind of a kernel parameter: a value, a pointer to elements, a tensor map or PTX text.

    `type` is the type of the value or of the elements. `text` is the PTX text.
    """

    kind: Literal["value", "pointer", "tensor map", "declared"]
    type: str = "u64"
    text: str = ""

    def declare(self, name: str) -> Variable:
        """Return the PTX declaration of a parameter with the name `name`. Errors: AuthorError."""
        if self.kind == "declared":
            return read_parameter(self.text)
        if self.kind == "tensor map":
            return Variable("param", "b8", name, align=64, shape=(128,))
        return Variable("param", self.type if self.kind == "value" else "u64", name)

    def load(self, name: str) -> Any:
        """Emit the loads of the parameter. Return the value that the Python function receives."""
        location, type_word = Location(name, 0, "param"), self.type
        if self.kind == "declared":
            return location
        if self.kind == "tensor map":
            return ptx.cvta(ptx.mov(Symbol(name), type="b64"), space="param", size="u64")
        if self.kind == "value":
            return _load(location, type_word)
        address = ptx.cvta_to(ptx.ld(location, type="u64"), space="global", size="u64")
        return Pointer(address.name, type_word)


def pointer(type: str) -> Parameter:
    """Return a parameter for the address of elements in global memory. Errors: AuthorError author.type."""
    if type not in TYPES or TYPES[type].bits < 8:
        message = f"unknown element type '{type}'; expected a type such as f32, u8 or bf16"
        raise author_error(message, "author.type")
    return Parameter("pointer", type)


def parameter(text: str) -> Parameter:
    """Return the parameter that PTX declares, such as `.param .b8 sizes[24]`. Its value is a location."""
    return Parameter("declared", text=text)


tensor_map = Parameter("tensor map")
"""Parameter that is a tensor map."""


class Pointer(Register):
    """Address of elements of one type: `x[i]` loads an element, and `x[i] = v` stores an element."""

    __slots__ = ("element_type",)

    def __init__(self, name: str, element_type: str) -> None:
        super().__init__(name, "u64")
        self.element_type = element_type

    def element(self, index: Any) -> Location:
        """Return the location of the element `index`. Errors: AuthorError author.index."""
        size = TYPES[self.element_type].bytes
        if isinstance(index, int):
            return Location(self, index * size, "global")
        if not isinstance(index, Register) or TYPES[index.type].kind not in ("signed", "unsigned", "bits"):
            found = f"a register of {index.type}" if isinstance(index, Register) else repr(index)
            message = f"the index is {found}; expected an integer or an integer register"
            raise author_error(message, "author.index")
        type_word: Any = index.type
        wide = ptx.mul_wide(index, size, type=type_word) if type_word in ("u32", "s32") else index * size
        return Location(ptx.add(self, wide, type="u64"), 0, "global")

    def __getitem__(self, index: Any) -> Register:
        return _load(self.element(index), self.element_type)

    def __setitem__(self, index: Any, value: Any) -> None:
        type_word: Any = self.element_type
        ptx.st(self.element(index), value, type=type_word)


def _load(location: Location, type_word: Any) -> Register:
    return ptx.ld(location, type=type_word)


def bounds(*, threads: int, cluster: Extents | None = None, ctas_per_sm: int = 0) -> None:
    """Declare the maximum threads of a CTA, the extents of a cluster, and the minimum CTAs per SM.

    Errors: AuthorError author.bounds.
    """
    if not 1 <= threads <= MAX_THREADS:
        raise author_error(f"threads is {threads}; expected 1 to {MAX_THREADS}", "author.bounds")
    _add_directive(Directive(".maxntid", (Integer(threads),)))
    if ctas_per_sm:
        _add_directive(Directive(".minnctapersm", (Integer(ctas_per_sm),)))
    if cluster is not None:
        if not 1 <= (size := prod(cluster)) <= MAX_CLUSTER:
            message = f"a cluster of {' x '.join(map(str, cluster))} has {size} CTAs; expected 1 to {MAX_CLUSTER}"
            raise author_error(message, "author.bounds")
        _add_directive(Directive(".reqnctapercluster", tuple(map(Integer, cluster))))


def directive(text: str) -> None:
    """Add PTX directives, such as `.maxnreg 128`, to the kernel. Errors: AuthorError of the checker."""
    for each in read_directives(text):
        _add_directive(each)


def _add_directive(directive: Directive) -> None:
    builder = current()
    builder.directives.append(directive)
    function = Function("entry", "", directives=tuple(builder.directives))
    for found in declarations.directives(function, builder.target, builder.version):
        if found.severity is Severity.ERROR:
            raise author_error(found.message, found.code, found.hint)


@dataclass(eq=False)
class Kernel:
    """PTX kernel, built from a Python function and compile-time arguments on first use.

    `kernel[grid](*args)` launches the kernel. `entry` is the name of the kernel in the PTX, by default that of the
    function.
    """

    function: Callable[..., None]
    target: str = "sm_90a"
    version: str = ""
    constants: Mapping[str, Any] = field(default_factory=dict[str, Any])
    entry: str = ""
    linkage: tuple[str, ...] = ("visible",)
    before: tuple[TopLevel, ...] = ()  # declarations of the module before the kernel

    def __post_init__(self) -> None:
        self.entry = self.entry or self.function.__name__
        self.__doc__ = self.function.__doc__

    def at(self, **constants: Any) -> Kernel:
        """Return a copy with keyword parameters fixed to `constants`. Errors: AuthorError author.constant."""
        known = inspect.signature(self.function).parameters
        names = [n for n, p in known.items() if p.kind is inspect.Parameter.KEYWORD_ONLY]
        for name in constants:
            if name not in names:
                expected = ", ".join(names) or "none"
                message = f"{self.entry} has no compile-time parameter '{name}'; expected {expected}"
                raise author_error(message, "author.constant")
        return replace(self, constants={**self.constants, **constants})

    # Building -----------------------------------------------------------------------------------------------

    @cached_property
    def built(self) -> Builder:
        """Builder with the statements of the kernel. Errors: AuthorError at the wrong expression."""
        with paused_collection():
            return self._build()

    def _build(self) -> Builder:
        try:
            target, version = resolve_target(self.target, self.version)
        except UsageError as error:
            source, span = line_place(self._line)
            moved = (replace(each, source=source, span=span) for each in error.diagnostics)
            raise AuthorError(moved) from None
        walk, code = ModuleChecker(Module(()), target, version), self.function.__code__
        walk.instructions = instruction_checker(target, version)
        for item in self.before:
            walk.check_item(item)
        builder = Builder(target, version, walk, Names(walk.names, walk.functions), ptx, CallerLines(code))
        builder.names.declare(Variable("shared", "b8", DYNAMIC, shape=(None,), linkage=("extern",)))
        builder.line = self._line
        with building(builder):
            arguments = self._declare_parameters(builder)
            builder.line = None
            with errors_at_caller():
                self.function(*arguments, **self.constants)
            builder.line = self._line
            self._finish(builder)
        return builder

    @property
    def _line(self) -> SourceLine:
        code = self.function.__code__
        return SourceLine(code.co_filename, code.co_firstlineno)

    def _finish(self, builder: Builder) -> None:
        """Refuse labels that are never placed. Add a return if control flow reaches the end."""
        statements = [statement for statement, _ in builder.statements]
        placed = {each.name for each in statements if isinstance(each, Label)}
        for name, line in builder.user_labels.items():
            if name not in placed:
                message = f"label '{name}' is never placed"
                raise author_error(message, "author.label", "`put(label)` places it", line)
        if reaches_end(statements):
            ptx.ret()

    def _parameters(self) -> list[tuple[str, Parameter]]:
        """Return the positional parameters of the function by name. Errors: AuthorError author.parameter."""
        try:
            hints = inspect.get_annotations(self.function, eval_str=True)
        except NameError as error:
            message = f"the parameters of {self.entry} have an unknown type: {error}"
            raise author_error(message, "author.parameter", line=self._line) from None
        found: list[tuple[str, Parameter]] = []
        for name, parameter in inspect.signature(self.function).parameters.items():
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                continue
            kind = hints.get(name)
            if isinstance(kind, str) and kind in TYPES:
                kind = Parameter("value", kind)
            if not isinstance(kind, Parameter):
                has = "no type" if kind is None else f"the type {kind!r}"
                message = (
                    f"parameter '{name}' of {self.entry} has {has}; "
                    "expected a type such as u32, pointer(f32) or tensor_map"
                )
                raise author_error(message, "author.parameter", line=self._line)
            found.append((name, kind))
        return found

    def _declare_parameters(self, builder: Builder) -> list[Any]:
        """Declare the kernel parameters. Return the values that the Python function receives for them."""
        parameters = self._parameters()
        builder.parameters += [kind.declare(f"{self.entry}_{name}") for name, kind in parameters]
        for variable in builder.parameters:
            builder.names.declare(variable)
            builder.names.roles[variable.name] = "entry"
        for wrong in declarations.parameters(Function("entry", self.entry, tuple(builder.parameters))):
            raise author_error(wrong.message, wrong.code, wrong.hint, self._line)
        return [kind.load(each.name) for each, (_, kind) in zip(builder.parameters, parameters, strict=True)]

    # PTX ----------------------------------------------------------------------------------------------------

    @cached_property
    def text(self) -> str:
        """PTX of the kernel as a module. `.loc` directives state the Python line of each instruction."""
        return _module_text(self.built.target, self.built.version, [*self.before, self])

    @cached_property
    def module(self) -> Module:
        """Module of the kernel, as a tree."""
        return parse(self.text)

    # Launching ----------------------------------------------------------------------------------------------

    @property
    def shared(self) -> int:
        """Dynamic shared memory of a CTA. Units: bytes."""
        return self.built.shared_bytes

    @property
    def block(self) -> Extents | None:
        """Threads of a CTA from `.reqntid` or `.maxntid`, or None without these directives."""
        return self._extents(".reqntid") or self._extents(".maxntid")

    @property
    def cluster(self) -> Extents | None:
        """CTAs of a cluster from `.reqnctapercluster`, or None without this directive."""
        return self._extents(".reqnctapercluster")

    def _extents(self, name: str) -> Extents | None:
        for each in self.built.directives:
            if each.name == name:
                x, y, z, *_ = [*(arg.value for arg in each.args if isinstance(arg, Integer)), 1, 1, 1]
                return x, y, z
        return None

    def __getitem__(self, geometry: Any) -> Callable[..., Any]:
        """Return a function that launches the kernel: `kernel[grid](*args)` or `kernel[grid, block](*args)`.

        Omit the block if the kernel declares its threads (`bounds` or `.reqntid`). A grid is one to three integers. The
        launch runs on the GPU if an argument is an array in GPU memory, otherwise on the CPU.

        Errors: UsageError launch.geometry, and the errors of `wl.launch`.
        """
        if self.block is not None:
            return partial(self._launch, geometry, self.block)
        pair = cast("Sequence[Any]", geometry)
        if not isinstance(geometry, tuple) or len(pair) != 2:
            message = f"{self.entry} does not declare the threads of a CTA; expected {self.entry}[grid, block](...)"
            raise UsageError(message, code="launch.geometry", hint="declare them with `bounds(threads=...)`")
        return partial(self._launch, pair[0], pair[1])

    def _launch(self, grid: Any, block: Any, *args: Any) -> Any:
        launch = provider("launch")
        device = "cuda" if _any_on_gpu(args) else "cpu"
        cluster = self.cluster or (1, 1, 1)
        return launch(
            self.text, self.entry, grid=grid, block=block, args=args, cluster=cluster, shared=self.shared, device=device
        )  # fmt: skip


def _any_on_gpu(args: Iterable[Any]) -> bool:
    """Return True if an array is in GPU memory. Arrays in tensor maps and lists count, too."""
    from warploom.gpu.arrays import is_on_gpu

    return any(
        _any_on_gpu(cast("Sequence[Any]", value))
        if isinstance(value, list | tuple)
        else is_on_gpu(value.array if isinstance(value, TensorMap) else value)
        for value in args
    )


def resolve_target(target: str, version: str) -> tuple[Target, Version]:
    """Return the target and the PTX version with the given names.

    If `version` is empty, the PTX version is the oldest one that accepts the target, but at least 8.6.
    """
    found = find_target(target)
    return found, find_version(version) if version else max(_DEFAULT_VERSION, found.first_version)


def kernel(
    function: Callable[..., None] | None = None, *, target: str = "sm_90a", ptx_version: str = "", name: str = ""
) -> Any:
    """Decorate a Python function that builds a kernel. Return a `Kernel`.

    The positional parameters of the function are the parameters of the kernel. Their annotations give the types: `u32`,
    `f32`, `pointer(f32)`, `tensor_map`. The keyword parameters of the function are compile-time arguments. `name` is
    the name of the kernel in the PTX. `resolve_target` describes `target` and `ptx_version`.
    """
    if function is None:
        return partial(Kernel, target=target, version=ptx_version, entry=name)
    return Kernel(function, target, ptx_version, entry=name)


# Programs ----------------------------------------------------------------------------------------------------


class Program:
    """PTX module of several kernels and declarations, in the order of their addition."""

    def __init__(self, *, target: str = "sm_90a", ptx_version: str = "") -> None:
        self.target = target
        self.version = ptx_version
        self.parts: list[TopLevel | Kernel] = []

    def declare(self, text: str) -> None:
        """Add PTX declarations: variables, functions, directives. Kernels that are added later can use them.

        Errors: AuthorError with the diagnostics of the parser and the checker.
        """
        with errors_at_caller():
            target, version = resolve_target(self.target, self.version)
        walk = ModuleChecker(Module(()), target, version)
        for item in self._items():
            walk.check_item(item)
        self.parts += checked_items(text, walk)

    def kernel(
        self, function: Callable[..., None] | None = None, *, name: str = "", linkage: tuple[str, ...] = ("visible",)
    ) -> Any:
        """Decorate a function as `warploom.author.kernel` does, and add the kernel to this program.

        `linkage` contains linking directives of PTX, such as "visible".
        """
        if function is None:
            return partial(self.kernel, name=name, linkage=linkage)
        made = Kernel(function, self.target, self.version, {}, name, linkage, self._items())
        self.parts.append(made)
        return made

    def _items(self) -> tuple[TopLevel, ...]:
        return tuple(part for part in self.parts if not isinstance(part, Kernel))

    @property
    def text(self) -> str:
        """PTX of the program. `.loc` directives state the Python line of each instruction."""
        return _module_text(*resolve_target(self.target, self.version), self.parts)

    @property
    def module(self) -> Module:
        """Module of the program, as a tree."""
        return parse(self.text)


# Text --------------------------------------------------------------------------------------------------------


def _module_text(target: Target, version: Version, parts: Sequence[TopLevel | Kernel]) -> str:
    """Return the text of a module with the items and kernels in `parts`."""
    text = f".version {version[0]}.{version[1]}\n.target {target.name}\n.address_size 64\n\n"
    built = [part.built for part in parts if isinstance(part, Kernel)]
    if align := max((each.shared_align for each in built if each.shared_bytes), default=0):
        text += f".extern .shared .align {align} .b8 {DYNAMIC}[];\n\n"
    declared = [item for part in parts for item in (part.built.items if isinstance(part, Kernel) else (part,))]
    lines = LineDirectives(version, declared)
    items: list[str] = []
    for part in parts:
        if isinstance(part, Kernel):
            items += [*map(str, part.built.items), _entry_text(part, lines)]
        else:
            items.append(str(part))
    items += lines.module_items()
    return text + "\n".join(item if item.endswith("\n") else f"{item}\n" for item in items)


def _entry_text(kernel: Kernel, line_directives: LineDirectives) -> str:
    builder = kernel.built
    words = "".join(f".{word} " for word in kernel.linkage)
    parameters = ",\n".join(f"    {variable!s}".rstrip(";\n") for variable in builder.parameters)
    lines = [f"{words}.entry {kernel.entry}(\n{parameters}\n)" if parameters else f"{words}.entry {kernel.entry}()"]
    function = Function("entry", "", directives=tuple(builder.directives))
    lines += str(function).removesuffix(";").splitlines()[1:]
    lines.append("{")
    for prefix, count in builder.registers.items():
        lines.append(f"    .reg .{REGISTER_TYPES[prefix]} %{prefix}<{count}>;")
    lines += line_directives.body(builder.statements)
    return "\n".join([*lines, "}", ""])
