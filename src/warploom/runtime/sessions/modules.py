"""Modules and launches that share device memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from warploom.diagnostics import Source
from warploom.diagnostics.symbols import readable_name
from warploom.emulator.arena import Segment
from warploom.emulator.execute import WORKSPACE_BYTES, initial_bytes
from warploom.emulator.grid_dependencies import Overlap, Steps, finish, triggers
from warploom.emulator.loader import names_in_initializer
from warploom.emulator.program import GlobalVariable, Program
from warploom.emulator.request import STEP_BUDGET, Request
from warploom.emulator.schedule import Schedule
from warploom.gpu.geometry import Geometry
from warploom.isa.model.parameters import block_bytes, size_of
from warploom.ptx import Module, Variable, parse
from warploom.ptx.outline import read_outline
from warploom.runtime import cpu
from warploom.runtime.kernel import LoadedKernel, load_kernel
from warploom.runtime.limits import architecture, check_limits
from warploom.runtime.run import Run
from warploom.runtime.sessions.device_memory import ALIGNMENT, PAGE_BYTES, DeviceMemory


class SessionModule:
    """Module whose variables keep their contents between launches.

    `kernels` lists the names of its kernels. `variables` has the memory of the variables by name. A variable is
    allocated and initialised when a kernel or a caller first needs it.

    Errors: PtxSyntaxError; UsageError launch.memory.
    """

    def __init__(self, memory: DeviceMemory, text: str, name: str = "<ptx>") -> None:
        self.memory = memory
        self.text = text
        self.name = name
        outline = read_outline(text, name)
        self.kernels = [*_entries(self._module)] if outline is None else [*outline.kernels]
        self._kernels: dict[str, SessionKernel] = {}
        self.variables: dict[str, Segment] = {}

    @cached_property
    def _module(self) -> Module:
        return parse(self.text, self.name)

    def kernel(self, name: str) -> SessionKernel:
        """Return a kernel of the module. Errors: UsageError emulator.kernel."""
        if name not in self._kernels:
            self._kernels[name] = SessionKernel(self, load_kernel(self.text, name, self.name))
        return self._kernels[name]

    def variable(self, name: str) -> Segment | None:
        """Return the memory of a variable of the module, or None if the module defines no such variable.

        Errors: Unsupported for an initial value that is not implemented; UsageError launch.memory.
        """
        if name not in self.variables:
            declared = {each.name: each for each in self._declared(name)}
            self._allocate([*declared.values()], _no_address, self._module.source)
        return self.variables.get(name)

    def is_managed(self, name: str) -> bool:
        """Return True if the module defines a managed variable with this name. It starts at a page of memory."""
        declared = self._module.variables.get(name)
        return declared is not None and _is_managed(declared)

    def _declared(self, name: str) -> Iterator[GlobalVariable]:
        """Yield a variable and the variables whose addresses its initial value contains."""
        variables, pending, seen = self._module.variables, [name], set[str]()
        while pending:
            each = pending.pop()
            if each in seen or each not in variables:
                continue
            seen.add(each)
            variable = variables[each]
            size = size_of(variable)
            if variable.space in ("global", "const") and size is not None:
                yield GlobalVariable(each, variable.space, size, variable)
                pending += names_in_initializer(variable.initializer)

    def addresses(self, program: Program) -> dict[str, int]:
        """Return the addresses of the variables of a program, by name. Errors: as `variable`."""
        self._allocate(program.globals, program.address_of, program.source)
        return {each.name: self.variables[each.name].start for each in program.globals}

    def _allocate(
        self, variables: Sequence[GlobalVariable], address_of: Callable[[str], int | None], source: Source | None
    ) -> None:  # fmt: skip
        """Allocate and initialise the variables that have no memory yet."""
        new = [each for each in variables if each.name not in self.variables]
        for each in new:
            label = f"the {each.space} variable {readable_name(each.name)}"
            self.variables[each.name] = self.memory.allocate(
                label, each.size, writable=each.space == "global", kind=each.space,
                alignment=PAGE_BYTES if _is_managed(each.declaration) else ALIGNMENT,
            )  # fmt: skip
        starts = {name: segment.start for name, segment in self.variables.items()} if new else {}
        for each in new:
            contents = initial_bytes(each, starts, address_of, source)
            self.memory.view(starts[each.name], each.size)[:] = memoryview(contents)

    def unload(self) -> None:
        """Free the memory of the module's variables and of its kernels' parameters."""
        frames = (frame for kernel in self._kernels.values() for frame in kernel.frames)
        for segment in (*self.variables.values(), *(each for frame in frames for each in frame if each is not None)):
            self.memory.free(segment)


class Frame(NamedTuple):
    """Memory of one launch: its parameters, and the workspace of a cooperative grid."""

    block: Segment
    workspace: Segment | None


class SessionKernel:
    """Kernel of a module. `frames` has the memory of launches that have ended, which later launches use."""

    def __init__(self, module: SessionModule, loaded: LoadedKernel) -> None:
        self.module = module
        self.loaded = loaded
        self.frames: list[Frame] = []
        self.frames.append(self._frame())

    def _frame(self, *, cooperative: bool = False) -> Frame:
        """Return the memory of a launch, with a cleared workspace for a cooperative grid."""
        memory, size = self.module.memory, block_bytes(self.loaded.signature.parameters)
        frame = next((each for each in self.frames if bool(each.workspace) == cooperative), None)
        if frame is not None:
            self.frames.remove(frame)
        else:
            block = memory.allocate("the kernel's parameters", size or 1, writable=False, kind="param")
            frame = Frame(block, memory.allocate("the grid's workspace", WORKSPACE_BYTES) if cooperative else None)
        if frame.workspace is not None:
            memory.view(frame.workspace.start, WORKSPACE_BYTES)[:] = 0
        return frame

    @property
    def triggers(self) -> bool:
        """True if the kernel may let a dependent grid start before its end. Errors: Unsupported."""
        program = self.loaded.program
        # Two launches cannot use the heap at the same time.
        return program.analysis(triggers) and not program.uses_heap

    def launch(self, geometry: Geometry, parameters: bytes, **options: Any) -> Run:
        """Run the kernel on the memory of its module, to its end.

        `start` describes the arguments and the errors.
        """
        return finish(self.start(geometry, parameters, **options))

    def start(
        self, geometry: Geometry, parameters: bytes, *, arch: str | None = None, schedule: str = "eager",
        step_budget: int = STEP_BUDGET, overlap: Overlap | None = None, **options: Any,
    ) -> Steps[Run]:  # fmt: skip
        """Run the kernel on the memory of its module. Pause if the launch overlaps with others.

        `parameters` are the bytes of the parameter block. `options` are keyword arguments of `cpu.start`. `wl.launch`
        describes the other arguments.

        Errors: Unsupported and UsageError launch.* before the run; Trap and Deadlock during the run.
        """
        name = architecture(arch, self.loaded.signature)
        program = self.loaded.program
        check_limits(program, geometry, name, step_budget)
        memory, addresses = self.module.memory, self.module.addresses(program)
        block, workspace = frame = self._frame(cooperative=geometry.cooperative)
        memory.view(block.start, len(parameters))[:] = memoryview(parameters)
        request = Request(
            program, geometry.grid, geometry.block, geometry.cluster or (1, 1, 1), geometry.shared, parameters, name,
            Schedule.parse(schedule), geometry.cluster is not None, step_budget,
            workspace=0 if workspace is None else workspace.start, overlap=overlap,
        )  # fmt: skip
        arena = memory.arena(uses_heap=program.uses_heap)
        launch = cpu.EmulatorLaunch(request, arena, {"": block.start, **addresses}, len(arena.segments))
        try:
            return (yield from cpu.start(launch, **options))
        finally:
            self.frames.append(frame)


def _is_managed(variable: Variable) -> bool:
    return any(".managed" in text for text in variable.attributes)


def _no_address(_: str) -> None:
    """Return None: the address of a function depends on the kernel that calls it."""


def _entries(module: Module) -> Iterator[str]:
    """Yield the names of the kernels of a module."""
    return (each.name for each in module.functions.values() if each.kind == "entry" and each.body is not None)
