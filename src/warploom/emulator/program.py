"""A kernel made ready: its instructions in one list with the device functions it calls, bound to Forms.

Everything that is not implemented is found here, before execution starts, and reported by name, all of it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from warploom.diagnostics import Diagnostic, Source, Span
from warploom.emulator.blocks import find_blocks, names_of
from warploom.emulator.faults import Unsupported, diagnostic
from warploom.emulator.registers import Declared
from warploom.isa.binding.bind import Binding, bind
from warploom.isa.binding.vectors import member_of, spread
from warploom.isa.instructions.control import IMPLIED
from warploom.isa.model.parameters import Parameter, aligned, place, size_of
from warploom.isa.model.types import TYPES
from warploom.ptx import (
    Block,
    Function,
    Initializer,
    Instruction,
    Label,
    Module,
    Name,
    Statement,
    Symbol,
    Variable,
)
from warploom.ptx.scopes import Scope as Names


@dataclass(frozen=True, slots=True)
class RegisterPlace:
    """A register: width in bits, index in the file of that width, declared type, and how many members follow
    each other where it is a vector.
    """

    width: int
    index: int
    type: str
    members: int = 1


@dataclass(frozen=True, slots=True)
class Storage:
    """A variable: its space and offset or segment name.

    The space is "shared", "dynamic", "local", "global", "const", "param" (the kernel's), or "stack": a
    function's parameter, which lies in local memory and is addressed generically, as every parameter is.
    """

    space: str
    name: str
    offset: int
    size: int


@dataclass(eq=False, slots=True)
class Scope(Names[RegisterPlace, Storage, int]):
    """Names declared between braces; the places of a range's registers follow its first one's.

    `found` holds those looked up already.
    """

    found: dict[str, RegisterPlace] = field(default_factory=dict[str, RegisterPlace])

    def place(self, name: str) -> RegisterPlace | None:
        """The register of a name, from this scope outwards."""
        known = self.found.get(name)
        if known is None:
            stem, _, member = name.rpartition(".")
            declared = self.register(stem or name)
            if declared is None:
                return None
            first, number = declared
            offset = member_of(member, first.members) if stem else 0
            if offset < 0:
                return None
            index = first.index + number * first.members + offset
            known = self.found[name] = replace(first, index=index, members=1 if stem else first.members)
        return known

    def members(self, name: str) -> int:
        """Members of a vector register; 1 of a plain one, 0 where there is no register of that name."""
        declared = self.register(name)
        return declared[0].members if declared is not None else 0


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction at its program counter."""

    instruction: Instruction
    binding: Binding
    scope: Scope
    function: str


@dataclass(frozen=True, slots=True)
class Activation:
    """A device function: where it starts and where its parameters and results live."""

    name: str
    entry: int
    params: tuple[Storage | RegisterPlace, ...]
    returns: tuple[Storage | RegisterPlace, ...]


@dataclass(frozen=True, slots=True)
class GlobalVariable:
    """A module-scope variable in global or constant memory."""

    name: str
    space: str
    size: int
    declaration: Variable


@dataclass(slots=True)
class Program:
    """A kernel and all it reaches. `block_end[pc]` is where the basic block of pc ends; `meet[pc]` where lanes that
    part at pc meet again; `following[pc]` what may come next, a call's function left out.
    """

    module: Module
    kernel: Function
    source: Source | None
    steps: list[Step]
    entry: int
    activations: dict[str, Activation]
    by_entry: dict[int, Activation]
    parameters: tuple[Parameter, ...]
    globals: tuple[GlobalVariable, ...]
    registers: Declared
    static_shared: int
    dynamic_start: int
    local_bytes: int
    block_end: list[int] = field(default_factory=list[int])
    meet: list[int] = field(default_factory=list[int])
    following: list[list[int]] = field(default_factory=list[list[int]])
    pickled: bytes = field(default=b"", init=False, repr=False, compare=False)

    def span_of(self, pc: int) -> Span | None:
        """Where the instruction at a program counter stands in the text."""
        return self.steps[pc].instruction.span

    def __reduce__(self) -> tuple[Callable[[bytes, str], Program], tuple[bytes, str]]:
        """A program travels to another process as its module, and is made ready there, once."""
        if not self.pickled:
            self.pickled = pickle.dumps(self.module)
        return _made_ready, (self.pickled, self.kernel.name)

    def line_of(self, pc: int) -> int:
        """The line of an instruction in the text, from 1; 0 where there is no text."""
        span = self.span_of(pc)
        return 0 if self.source is None or span is None else self.source.position(span.start)[0]

    def directive(self, name: str) -> tuple[int, ...] | None:
        """The integer arguments of a directive of the kernel, or None."""
        found = next((d for d in self.kernel.directives if d.name == name), None)
        return None if found is None else found.ints


@lru_cache(maxsize=16)
def _made_ready(module: bytes, kernel: str) -> Program:
    return load(pickle.loads(module), kernel)  # noqa: S301 - part of a pickle that is being read


def load(module: Module, kernel: str | None = None) -> Program:
    """Make a kernel of a module ready.

    Errors: emulator.kernel (no such kernel, or several and none named); Unsupported with one diagnostic for
    each instruction, function or variable that is not implemented.
    """
    return _Loader(module, choose(module, kernel)).load()


def choose(module: Module, name: str | None) -> Function:
    """The kernel of a name; without one the only kernel.

    Errors: emulator.kernel.
    """
    entries = [f for f in module.functions.values() if f.kind == "entry" and f.body is not None]
    names = ", ".join(f.name for f in entries)
    if name is None:
        if len(entries) == 1:
            return entries[0]
        found = f"the module has {len(entries)} kernels ({names})" if entries else "the module has no kernel"
        raise Unsupported(
            [diagnostic("emulator.kernel", f"{found}; name the one to run", module.source, None)]
        )
    chosen = next((f for f in entries if f.name == name), None)
    if chosen is None:
        message = f"there is no kernel '{name}' in the module; it has {names or 'none'}"
        raise Unsupported([diagnostic("emulator.kernel", message, module.source, None)])
    return chosen


class _Loader:
    def __init__(self, module: Module, kernel: Function) -> None:
        self.module = module
        self.kernel = kernel
        self.source = module.source
        self.problems: list[Diagnostic] = []
        self.steps: list[Step] = []
        self.registers = Declared()
        self.shared_end = 0
        self.local_end = 0
        self.globals: dict[str, GlobalVariable] = {}
        self.dynamic_align = 16
        self.bodies: dict[str, tuple[int, int]] = {}
        self.activations: dict[str, Activation] = {}
        self.module_scope = Scope(None)
        self.pending: list[str] = []

    def load(self) -> Program:
        """Flatten the kernel and what it reaches."""
        reached = self._reached()
        self._place_module_variables(reached)
        parameters = place(self.kernel.params)
        entry = self._flatten(self.kernel, self._parameter_scope(parameters))
        for name in reached:
            if name != self.kernel.name:
                self._flatten_device(self.module.functions[name])
        self._check_recursion(reached)
        if self.problems:
            raise Unsupported(self.problems)
        program = Program(
            module=self.module,
            kernel=self.kernel,
            source=self.source,
            steps=self.steps,
            entry=entry,
            activations=self.activations,
            by_entry={a.entry: a for a in self.activations.values()},
            parameters=parameters,
            globals=tuple(self.globals.values()),
            registers=self.registers,
            static_shared=self.shared_end,
            dynamic_start=aligned(self.shared_end, self.dynamic_align),
            local_bytes=self.local_end,
        )
        find_blocks(program, self.bodies)
        return program

    # What the kernel reaches ----------------------------------------------------------------------------

    def _reached(self) -> dict[str, set[str]]:
        """Functions the kernel reaches, with the names each mentions, by itself or through variables."""
        functions = self.module.functions
        mentioned: dict[str, set[str]] = {}
        pending = [self.kernel.name]
        while pending:
            name = pending.pop()
            function = functions[name]
            if name in mentioned or function.body is None:
                continue
            mentioned[name] = self._through_variables(_names_in(function.body))
            pending.extend(other for other in mentioned[name] if other in functions)
        return mentioned

    def _through_variables(self, names: Iterable[str]) -> set[str]:
        """Names, and the names that the initialisers of variables among them hold."""
        variables = self.module.variables
        found: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                if name in variables:
                    pending.extend(_names_in_initializer(variables[name].initializer))
        return found

    def _place_module_variables(self, reached: Mapping[str, set[str]]) -> None:
        wanted = set[str]().union(*reached.values())
        for name, variable in self.module.variables.items():
            if name in wanted:
                self._place_variable(variable, self.module_scope)

    def _check_recursion(self, reached: Mapping[str, set[str]]) -> None:
        calls = {name: {n for n in names if n in reached} for name, names in reached.items()}
        state: dict[str, int] = {}

        def visit(name: str, path: tuple[str, ...]) -> None:
            if state.get(name) == 2:
                return
            if name in path:
                cycle = " -> ".join((*path[path.index(name) :], name))
                span = self.module.functions[name].span
                self.problems.append(
                    diagnostic(
                        "emulator.recursion", f"recursion is not implemented: {cycle}", self.source, span
                    )
                )
                return
            for other in sorted(calls[name]):
                visit(other, (*path, name))
            state[name] = 2

        visit(self.kernel.name, ())

    # Variables and parameters ---------------------------------------------------------------------------

    def _place_variable(self, variable: Variable, scope: Scope) -> None:
        if variable.space == "reg":
            self._place_register(variable, scope)
            return
        size = size_of(variable)
        align = variable.align or (
            TYPES[variable.type].bytes * variable.vector if variable.type in TYPES else 1
        )
        if variable.space == "shared":
            if "extern" in variable.linkage or size is None:
                self.dynamic_align = max(self.dynamic_align, align)
                scope.variables[variable.name] = Storage("dynamic", variable.name, 0, 0)
                return
            self.shared_end = aligned(self.shared_end, align)
            scope.variables[variable.name] = Storage("shared", variable.name, self.shared_end, size)
            self.shared_end += size
        elif variable.space in ("local", "param"):
            self.local_end = aligned(self.local_end, max(align, 8))
            space = "stack" if variable.space == "param" else "local"
            scope.variables[variable.name] = Storage(space, variable.name, self.local_end, size or 0)
            self.local_end += size or 0
        elif variable.space in ("global", "const"):
            if size is None:
                self._refuse(
                    "emulator.extern",
                    f"external variable '{variable.name}' is not defined here",
                    variable.span,
                )
                return
            scope.variables[variable.name] = Storage(variable.space, variable.name, 0, size)
            self.globals[variable.name] = GlobalVariable(variable.name, variable.space, size, variable)
        else:
            self._refuse(
                "emulator.space", f"variables in .{variable.space} are not implemented", variable.span
            )

    def _place_register(self, variable: Variable, scope: Scope) -> None:
        if variable.type not in TYPES or TYPES[variable.type].bits > 64:
            message = f"registers of type .{variable.type} are not implemented"
            self._refuse("emulator.register", message, variable.span)
            return
        width, first = self.registers.declare(variable.type, (variable.count or 1) * variable.vector)
        place = RegisterPlace(width, first, variable.type, variable.vector)
        if variable.count is None:
            scope.registers[variable.name] = place
        else:
            scope.ranges[variable.name] = variable.count, place

    def _parameter_scope(self, parameters: tuple[Parameter, ...]) -> Scope:
        scope = Scope(self.module_scope)
        for parameter in parameters:
            scope.variables[parameter.name] = Storage(
                "param", parameter.name, parameter.offset, parameter.size
            )
        return scope

    # Bodies ---------------------------------------------------------------------------------------------

    def _flatten_device(self, function: Function) -> None:
        scope = Scope(self.module_scope)
        places = [
            tuple(self._formal(v, scope) for v in group) for group in (function.params, function.returns)
        ]
        entry = self._flatten(function, scope)
        self.activations[function.name] = Activation(function.name, entry, places[0], places[1])

    def _formal(self, variable: Variable, scope: Scope) -> Storage | RegisterPlace:
        self._place_variable(variable, scope)
        place = scope.place(variable.name) if variable.space == "reg" else scope.variables.get(variable.name)
        return place or Storage("stack", variable.name, 0, 0)

    def _flatten(self, function: Function, outer: Scope) -> int:
        entry = len(self.steps)
        assert function.body is not None
        scope = Scope(outer)
        self._flatten_block(function.body.statements, scope, function.name)
        if self._runs_past(function.body, entry):
            self._flatten_instruction(IMPLIED, scope, function.name)
        self.bodies[function.name] = (entry, len(self.steps))
        return entry

    def _runs_past(self, body: Block, entry: int) -> bool:
        """Whether threads may come to the end of a body."""
        last = body.statements[-1] if body.statements else None
        if not isinstance(last, Instruction) or last.guard is not None or len(self.steps) == entry:
            return True
        form = self.steps[-1].binding.form
        return form.control != "jump" and not form.ends_thread

    def _flatten_block(self, statements: tuple[Statement, ...], scope: Scope, function: str) -> None:
        last_label: str | None = None
        for statement in statements:
            if isinstance(statement, Label):
                scope.labels[statement.name] = len(self.steps)
                last_label = statement.name
                continue
            if isinstance(statement, Instruction):
                self._flatten_instruction(statement, scope, function)
            elif isinstance(statement, Variable):
                self._place_variable(statement, scope)
            elif isinstance(statement, Block):
                self._flatten_block(statement.statements, Scope(scope), function)
            elif last_label is not None and statement.name in (
                ".branchtargets",
                ".callprototype",
                ".calltargets",
            ):
                scope.tables[last_label] = statement
            last_label = None

    def _flatten_instruction(self, instruction: Instruction, scope: Scope, function: str) -> None:
        bound = bind(spread(instruction, scope.members), self.source)
        if isinstance(bound, Diagnostic):
            self.problems.append(bound)
        elif bound.form.execution is None:
            message = f"'{instruction.opcode}' is known and not executed by the machine"
            self.problems.append(
                diagnostic(
                    "emulator.unsupported", message, self.source, instruction.span, "", bound.form.source
                )
            )
        else:
            self.steps.append(Step(instruction, bound, scope, function))

    def _refuse(self, code: str, message: str, span: Span | None) -> None:
        self.problems.append(diagnostic(code, message, self.source, span))


def _names_in(body: Block) -> Iterator[str]:
    for instruction in body.instructions():
        yield from names_of(instruction)


def _names_in_initializer(initializer: Initializer | None) -> Iterator[str]:
    match initializer:
        case Name(text):
            yield text
        case Symbol(name):
            yield name
        case tuple():
            for item in initializer:
                yield from _names_in_initializer(item)
        case _:
            return
