"""Data model of a loaded kernel and of the device functions that it may call."""

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import Source, SourceLine, Span
from warploom.isa.binding.bind import Binding
from warploom.isa.binding.vectors import member_of
from warploom.isa.model.parameters import Parameter
from warploom.isa.model.types import TYPES
from warploom.lazy_dataclass import dataclass
from warploom.ptx import Function, Instruction, Module, Variable
from warploom.ptx.flow import EXIT
from warploom.ptx.scopes import Scope as Names

Result = TypeVar("Result")

# Register width in bits -> dtype of the register file.
_FILES: dict[int, np.dtype[Any]] = {1: np.dtype(np.bool_)} | {n: TYPES[f"b{n}"].dtype for n in (8, 16, 32, 64, 128)}


class RegisterFiles:
    """Numbers of registers that a program needs, by width."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(_FILES, 0)

    def declare(self, type: str, count: int) -> tuple[int, int]:
        """Reserve `count` registers of a type. Return their width in bits and the index of the first register.

        Errors: KeyError for a width without a register file.
        """
        width = TYPES[type].bits
        first = self.counts[width]
        self.counts[width] += count
        return width, first

    def bytes_per_warp(self) -> int:
        """Return the size of one warp's registers in bytes."""
        return sum(32 * self.counts[width] * dtype.itemsize for width, dtype in _FILES.items())

    def allocate(self, warps: int) -> dict[int, NDArray[Any]]:
        """Return zero-filled register files by width in bits. Shapes: (registers, warps, 32)."""
        return {width: np.zeros((self.counts[width], warps, 32), dtype) for width, dtype in _FILES.items()}


@dataclass(slots=True)  # not frozen, as `Binding`
class RegisterLocation:
    """Location of a register: its width in bits, and its index in the register file of this width.

    The `members` of a vector register are consecutive in the file. A scalar register has one member.
    """

    width: int
    index: int
    type: str
    members: int = 1


@dataclass(frozen=True, slots=True)
class Storage:
    """Location of a variable: a state space, and an offset in bytes.

    `space` is "shared", "dynamic" (dynamic shared memory), "local", "param" (of the kernel), "stack" (a parameter of a
    device function, in local memory), "global" or "const". A global or constant variable has its own segment of
    `Arena`.
    """

    space: str
    name: str
    offset: int
    size: int


@dataclass(eq=False, slots=True)
class Scope(Names[RegisterLocation, Storage, int]):
    """Names declared in one `{}` block of PTX."""

    found: dict[str, RegisterLocation] = field(default_factory=dict[str, RegisterLocation])  # cache of `location`

    def location(self, name: str) -> RegisterLocation | None:
        """Return the location of a register declared in this or an enclosing scope, or None."""
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
            members = 1 if stem else first.members
            known = self.found[name] = RegisterLocation(first.width, index, first.type, members)
        return known

    def members(self, name: str) -> int:
        """Return the number of members of a vector register: 1 for a scalar register, 0 for an unknown name."""
        found = self.location(name)
        return 0 if found is None else found.members


@dataclass(slots=True)  # not frozen, as `Binding`
class Step:
    """Instruction of the program, its binding to a Form, and the name of its function."""

    instruction: Instruction
    binding: Binding
    scope: Scope
    function: str


@dataclass(frozen=True, slots=True)
class DeviceFunction:
    """Device function: the program counter of its entry, and the locations of its parameters and results.

    All kernels of a module use the same address, because they may exchange addresses through memory.
    """

    name: str
    address: int
    entry: int
    params: tuple[Storage | RegisterLocation, ...]
    returns: tuple[Storage | RegisterLocation, ...]


@dataclass(frozen=True, slots=True)
class Service:
    """Function that the GPU driver defines, such as `vprintf`.

    `run` executes a call (see `services`). `uses_heap` is set if the function changes the heap, which all CTAs share.

    Units: `parameters` and `result` are sizes in bytes; `result` is 0 for a function without a result.
    """

    name: str
    parameters: tuple[int, ...]
    result: int
    run: Callable[[Any, Any], Any]
    uses_heap: bool = False


@dataclass(frozen=True, slots=True)
class GlobalVariable:
    """Variable of the module in global or constant memory."""

    name: str
    space: str
    size: int
    declaration: Variable


@dataclass(slots=True)
class Program:
    """Kernel and the device functions that it may call, ready to be linked.

    A program counter is an index of `steps`, and of `block_end`, `reconvergence` and `following`. `block_end` has the
    end of the basic block, `reconvergence` the program counter at which diverging lanes reconverge, -1 for none, and
    `following` the instructions that may execute next, without those of called functions. `services` has the device
    services that the kernel may call, by address. `analyses` is a cache for later launches. Its keys are the functions
    that compute the results.
    """

    module: Module
    kernel: Function
    source: Source | None
    steps: list[Step]
    entry: int
    functions: dict[str, DeviceFunction]
    parameters: tuple[Parameter, ...]
    globals: tuple[GlobalVariable, ...]
    registers: RegisterFiles
    static_shared: int
    dynamic_start: int
    local_bytes: int
    uses_stack: bool  # True if local memory ends with a stack
    services: dict[int, Service] = field(default_factory=dict[int, Service])
    block_end: list[int] = field(default_factory=list[int])
    reconvergence: list[int] = field(default_factory=list[int])
    following: list[list[int]] = field(default_factory=list[list[int]])
    pickled: bytes = field(default=b"", init=False, repr=False, compare=False)
    analyses: dict[Any, Any] = field(default_factory=dict[Any, Any], init=False, repr=False, compare=False)

    def analysis(self, analyse: Callable[["Program"], Result]) -> Result:
        """Return `analyse(self)`, which is computed once for each program."""
        if analyse not in self.analyses:
            self.analyses[analyse] = analyse(self)
        return self.analyses[analyse]

    @property
    def uses_heap(self) -> bool:
        """True if the kernel may allocate or free memory of the heap."""
        return any(service.uses_heap for service in self.services.values())

    def address_of(self, name: str) -> int | None:
        """Return the address of a device function or of a service, or None for an unknown name."""
        if name in self.functions:
            return self.functions[name].address
        return next((address for address, service in self.services.items() if service.name == name), None)

    def function_at(self, address: int) -> DeviceFunction | None:
        """Return the device function with an address, or None."""
        return next((each for each in self.functions.values() if each.address == address), None)

    def preceding(self) -> list[list[int]]:
        """Return, for each program counter, the instructions that may execute before. Calls are left out."""
        found: list[list[int]] = [[] for _ in self.steps]
        for pc, following in enumerate(self.following):
            for after in following:
                if after != EXIT:
                    found[after].append(pc)
        return found

    def span_of(self, pc: int) -> Span | None:
        """Return the source span of the instruction at program counter `pc`."""
        return self.steps[pc].instruction.span

    def line_of(self, pc: int) -> int:
        """Return the line number of the instruction at program counter `pc`.

        The first line is 1. Return 0 without a source text.
        """
        span = self.span_of(pc)
        return 0 if self.source is None or span is None else self.source.position(span.start)[0]

    def source_line(self, pc: int) -> SourceLine | None:
        """Return the line of Python or CUDA C++ of the instruction at program counter `pc`, or None."""
        span = self.span_of(pc)
        return None if self.source is None or span is None else self.source.compiled_from(span.start)

    def place_of(self, pc: int) -> str:
        """Return the line of an instruction as a phrase, such as `line 42 (gemm.py:12)`."""
        line = self.source_line(pc)
        return f"line {self.line_of(pc)}" if line is None else f"line {self.line_of(pc)} ({line})"

    def places_of(self, pcs: Iterable[int], separator: str = ", ") -> str:
        """Return the lines of instructions as a phrase, such as `lines 42 (gemm.py:12), 44 (gemm.py:13)`."""
        places = list(dict.fromkeys(map(self.place_of, pcs)))
        if len(places) == 1:
            return places[0]
        return f"lines {separator.join(each.removeprefix('line ') for each in places)}"

    def data_of(self, pc: int, line: str = "line", source: str = "source") -> dict[str, int | str]:
        """Return the line of an instruction as data of a diagnostic, and its source line if that is known.

        `line` and `source` are the names of the two values.
        """
        source_line = self.source_line(pc)
        return {line: self.line_of(pc)} | ({} if source_line is None else {source: source_line.place})

    def directive(self, name: str) -> tuple[int, ...] | None:
        """Return the integer arguments of a kernel directive such as `.maxnreg`, or None without it."""
        found = next((d for d in self.kernel.directives if d.name == name), None)
        return None if found is None else found.ints
