"""Loading of a kernel: the kernel and its device functions become one list of bound instructions."""

from __future__ import annotations

import copyreg
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from warploom.diagnostics import Diagnostic, Span
from warploom.diagnostics.symbols import readable_name
from warploom.emulator.address_space import CODE_BASE, SERVICE_BASE
from warploom.emulator.blocks import find_blocks, names_in
from warploom.emulator.faults import Unsupported, diagnostic
from warploom.emulator.program import (
    DeviceFunction,
    GlobalVariable,
    Program,
    RegisterFiles,
    RegisterLocation,
    Scope,
    Service,
    Step,
    Storage,
)
from warploom.emulator.services import SERVICES
from warploom.emulator.stacks import STACK_BYTES
from warploom.isa.binding.bind import bind
from warploom.isa.binding.marks import separate_marks
from warploom.isa.binding.vectors import expand_vectors
from warploom.isa.instructions.control import IMPLIED
from warploom.isa.model.parameters import aligned, parameter_block, size_of
from warploom.isa.model.signature import read_signature
from warploom.isa.model.types import TYPES
from warploom.ptx import (
    Block,
    Directive,
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

_CODE_STEP = 16  # bytes between the addresses of device functions
_PROTOTYPES = (".callprototype", ".calltargets")
_TABLES = (".branchtargets", *_PROTOTYPES)  # directives that follow a label, which is their name


def load(module: Module, kernel: str | None = None) -> Program:
    """Load a kernel of a module. The name may be omitted if the module has one kernel.

    Errors: UsageError emulator.kernel if the kernel does not exist or is ambiguous; Unsupported, with one diagnostic
    for each instruction, function or variable that is not implemented.
    """
    return _Loader(module, read_signature(module, kernel).entry).load()


def _reduce(program: Program) -> tuple[Callable[[bytes, str], Program], tuple[bytes, str]]:
    if not program.pickled:
        program.pickled = pickle.dumps(program.module)
    # `pickle` stores the module, and loads the program again from the module.
    return _load_pickled, (program.pickled, program.kernel.name)


@lru_cache(maxsize=16)
def _load_pickled(module: bytes, kernel: str) -> Program:
    return load(pickle.loads(module), kernel)  # noqa: S301 - the bytes come from a pickle that is already being loaded


copyreg.pickle(Program, _reduce)


class _Loader:
    def __init__(self, module: Module, kernel: Function) -> None:
        self.module = module
        self.kernel = kernel
        self.source = module.source
        self.problems: list[Diagnostic] = []
        self.steps: list[Step] = []
        self.registers = RegisterFiles()
        self.has_vectors = False  # True after the declaration of a vector register
        self.shared_end = 0
        self.local_end = 0
        self.globals: dict[str, GlobalVariable] = {}
        self.dynamic_align = 16
        self.calls: dict[str, set[str]] = {}  # functions that a function may call, with other names
        self.bodies: dict[str, tuple[int, int]] = {}
        self.functions: dict[str, DeviceFunction] = {}
        self.services: dict[int, Service] = {}
        self.module_scope = Scope(None)

    def load(self) -> Program:
        """Load the kernel and all device functions that it may call."""
        reached = self._reached()
        wanted = set[str]().union(*reached.values())
        for name, variable in self.module.variables.items():
            if name in wanted:
                self._declare(variable, self.module_scope)
        parameters = parameter_block(self.kernel.params)
        scope = Scope(self.module_scope)
        scope.variables.update((p.name, Storage("param", p.name, p.offset, p.size)) for p in parameters)
        entry = self._flatten(self.kernel, scope)
        for name in reached:
            if name != self.kernel.name:
                self._flatten_device(self.module.functions[name])
        self._check_recursion()
        if self.problems:
            raise Unsupported(self.problems)
        uses_stack = any(step.binding.form.moves_stack for step in self.steps)
        if uses_stack:
            self.local_end = aligned(self.local_end, 16) + STACK_BYTES
        program = Program(
            module=self.module,
            kernel=self.kernel,
            source=self.source,
            steps=self.steps,
            entry=entry,
            functions=self.functions,
            parameters=parameters,
            globals=tuple(self.globals.values()),
            registers=self.registers,
            static_shared=self.shared_end,
            dynamic_start=aligned(self.shared_end, self.dynamic_align),
            local_bytes=self.local_end,
            uses_stack=uses_stack,
            services=self.services,
        )
        find_blocks(program, self.bodies)
        return program

    # Reached functions ----------------------------------------------------------------------------------

    def _reached(self) -> dict[str, set[str]]:
        """Map the kernel and each function that it may call to the names used in the function."""
        functions = self.module.functions
        mentioned: dict[str, set[str]] = {}
        pending = [self.kernel.name]
        while pending:
            name = pending.pop()
            function = functions[name]
            if name in mentioned:
                continue
            if function.body is None:
                self._bind_service(function)
                continue
            # With the names in initialisers of the variables that the function uses.
            operands = {id(each): each for i in function.body.instructions() for each in i.operands}
            names = set(names_in(*operands.values()))
            mentioned[name] = self._with_initializers(names)
            pending.extend(other for other in mentioned[name] if other in functions)
            calls_addresses = _calls_addresses(function.body)
            self.calls[name] = mentioned[name] if calls_addresses else names
            if calls_addresses:
                pending.extend(self._functions_in_tables())
        return mentioned

    def _functions_in_tables(self) -> set[str]:
        """Return the functions whose addresses the variables of the module contain.

        Another kernel may have passed these addresses to this kernel, for example in the instances of a class.
        """
        variables = self.module.variables.values()
        names = {name for each in variables for name in names_in_initializer(each.initializer)}
        return names & self.module.functions.keys()

    def _bind_service(self, declared: Function) -> None:
        """Bind an external function to the device service of this name, if there is one.

        The linker refuses calls of all other external functions.
        """
        service = SERVICES.get(declared.name)
        if service is None:
            return
        sizes = [tuple(size_of(each) for each in group) for group in (declared.params, declared.returns)]
        expected = [service.parameters, (service.result,) if service.result else ()]
        if sizes != expected:
            found, legal = (f"{_listed(each[0])} and results of {_listed(each[1])}" for each in (sizes, expected))
            message = f"'{service.name}' is declared with parameters of {found} bytes; expected {legal}"
            self._refuse("emulator.call", message, declared.span)
        self.services[SERVICE_BASE + list(SERVICES).index(service.name)] = service

    def _with_initializers(self, names: Iterable[str]) -> set[str]:
        variables = self.module.variables
        found: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                if name in variables:
                    pending.extend(names_in_initializer(variables[name].initializer))
        return found

    def _check_recursion(self) -> None:
        calls = {name: names & self.calls.keys() for name, names in self.calls.items()}
        done: set[str] = set()

        def visit(name: str, path: tuple[str, ...]) -> None:
            if name in done:
                return
            if name in path:
                cycle = " -> ".join(map(readable_name, (*path[path.index(name) :], name)))
                message = f"recursion is not implemented: {cycle}"
                self._refuse("emulator.recursion", message, self.module.functions[name].span)
                return
            for other in sorted(calls[name]):
                visit(other, (*path, name))
            done.add(name)

        for name in self.calls:
            visit(name, ())

    # Variables and parameters ---------------------------------------------------------------------------

    def _declare(self, variable: Variable, scope: Scope) -> None:
        if variable.space == "reg":
            self._declare_register(variable, scope)
            return
        size = size_of(variable)
        align = variable.align or (TYPES[variable.type].bytes * variable.vector if variable.type in TYPES else 1)
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
                message = f"external variable '{readable_name(variable.name)}' is not defined in the module"
                self._refuse("emulator.extern", message, variable.span)
                return
            scope.variables[variable.name] = Storage(variable.space, variable.name, 0, size)
            self.globals[variable.name] = GlobalVariable(variable.name, variable.space, size, variable)
        else:
            message = f"variables in .{variable.space} are not implemented"
            self._refuse("emulator.space", message, variable.span)

    def _declare_register(self, variable: Variable, scope: Scope) -> None:
        if variable.type not in TYPES:
            message = f"registers of type .{variable.type} are not implemented"
            self._refuse("emulator.register", message, variable.span)
            return
        width, first = self.registers.declare(variable.type, (variable.count or 1) * variable.vector)
        location = RegisterLocation(width, first, variable.type, variable.vector)
        self.has_vectors |= variable.vector > 1
        if variable.count is None:
            scope.registers[variable.name] = location
        else:
            scope.ranges[variable.name] = variable.count, location

    # Bodies ---------------------------------------------------------------------------------------------

    def _flatten_device(self, function: Function) -> None:
        scope = Scope(self.module_scope)
        locations = [tuple(self._formal(v, scope) for v in group) for group in (function.params, function.returns)]
        entry = self._flatten(function, scope)
        number = [*self.module.functions].index(function.name) if function.span is None else function.span.start
        address = CODE_BASE + _CODE_STEP * number
        self.functions[function.name] = DeviceFunction(function.name, address, entry, locations[0], locations[1])

    def _formal(self, variable: Variable, scope: Scope) -> Storage | RegisterLocation:
        self._declare(variable, scope)
        in_register = variable.space == "reg"
        found = scope.location(variable.name) if in_register else scope.variables.get(variable.name)
        return found or Storage("stack", variable.name, 0, 0)

    def _flatten(self, function: Function, outer: Scope) -> int:
        entry = len(self.steps)
        assert function.body is not None
        scope = Scope(outer)
        self._flatten_block(function.body.statements, scope, function.name)
        if self._falls_through(function.body, entry):
            self._flatten_instruction(IMPLIED, scope, function.name)
        self.bodies[function.name] = (entry, len(self.steps))
        return entry

    def _falls_through(self, body: Block, entry: int) -> bool:
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
                self._declare(statement, scope)
            elif isinstance(statement, Block):
                self._flatten_block(statement.statements, Scope(scope), function)
            elif last_label is not None and statement.name in _TABLES:
                scope.tables[last_label] = statement
            last_label = None

    def _flatten_instruction(self, instruction: Instruction, scope: Scope, function: str) -> None:
        members = scope.members if self.has_vectors else None
        bound = bind(expand_vectors(instruction, members), self.source)
        if isinstance(bound, Diagnostic):
            self.problems.append(bound)
        elif not bound.form.is_executable:
            message = f"'{instruction.opcode}' is known, but the emulator does not execute it"
            self._refuse("emulator.unsupported", message, instruction.span, bound.form.source)
        else:
            self.steps.append(Step(instruction, separate_marks(bound), scope, function))

    def _refuse(self, code: str, message: str, span: Span | None, section: str = "") -> None:
        self.problems.append(diagnostic(code, message, self.source, span, "", section))


def _calls_addresses(body: Block) -> bool:
    """Return True if a function calls other functions by their addresses.

    Each such call names a prototype.
    """
    return any(
        _calls_addresses(each) if isinstance(each, Block) else isinstance(each, Directive) and each.name in _PROTOTYPES
        for each in body.statements
    )


def _listed(sizes: Sequence[int | None]) -> str:
    return ", ".join(map(str, sizes)) or "no"


def names_in_initializer(initializer: Initializer | None) -> Iterator[str]:
    """Yield the names of variables and functions whose addresses an initial value contains."""
    match initializer:
        case Name(text):
            yield text
        case Symbol(name):
            yield name
        case tuple():
            for item in initializer:
                yield from names_in_initializer(item)
        case _:
            return
