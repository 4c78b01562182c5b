"""Driver functions for modules, libraries, kernels and variables."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from warploom.diagnostics import WarploomError
from warploom.emulator.arena import Segment
from warploom.integrations.cuda_driver.contexts import CACHE_CONFIGURATIONS, SHARED_CONFIGURATIONS
from warploom.integrations.cuda_driver.device_code import FileImage, file_image, read_ptx
from warploom.integrations.cuda_driver.functions import driver
from warploom.integrations.cuda_driver.memory import map_segment, text_address, unmap_segment
from warploom.integrations.cuda_driver.program import Lasting
from warploom.integrations.cuda_driver.statuses import DriverError, Status
from warploom.isa.model.capacity import shared_bytes
from warploom.runtime.sessions.modules import SessionModule

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import Context, DriverCall
    from warploom.runtime.sessions.modules import SessionKernel

_STATIC_LIMIT = 48 << 10  # bytes of shared memory that a kernel may use unless it asks for more
_ASSUMED_REGISTERS = 32
_MOST_THREADS = 1024
_LAZY = 2
_DYNAMIC_SHARED = 8
NON_PORTABLE = 14
"""Attribute of a kernel that allows clusters of more than 8 CTAs."""
_CLUSTER = (11, 12, 13)
_SETTINGS = {9: range(-1, 101), NON_PORTABLE: range(2), 15: range(3)}
"""Values of the other attributes that a program can set: carveout, size and scheduling of clusters."""


@dataclass(eq=False)
class DriverModule(Lasting):
    """Module or library. `functions` has the kernels that the program has asked for, by name.

    `context` is the context of a module, and None for a library, which all contexts can use. A library remains after a
    reset of the device, with new variables.
    """

    session: SessionModule
    context: Context | None
    functions: dict[str, Function] = field(default_factory=dict[str, "Function"])

    @property
    def lasts(self) -> bool:
        """True for a library."""
        return self.context is None

    def renew(self) -> None:
        """Allocate the memory of the kernels again."""
        session = self.session
        self.session = SessionModule(session.memory, session.text, session.name)
        for name, function in self.functions.items():
            function.kernel = self.session.kernel(name)


@dataclass(eq=False)
class Function(Lasting):
    """Kernel with the attributes that the program sets.

    Units: `dynamic_shared` is the largest size of dynamic shared memory in bytes.
    """

    module: DriverModule
    name: str
    kernel: SessionKernel
    dynamic_shared: int
    settings: dict[int, int] = field(default_factory=dict[int, int])

    @property
    def lasts(self) -> bool:
        """True for a kernel of a library."""
        return self.module.lasts

    @property
    def cluster(self) -> tuple[int, int, int] | None:
        """Shape of clusters that the program has set."""
        x, y, z = (self.settings.get(each, 0) for each in _CLUSTER)
        return (x, y or 1, z or 1) if x else None

    @property
    def readable_name(self) -> str:
        """Demangled name of the kernel."""
        return self.kernel.loaded.signature.entry.readable_name


def load(call: DriverCall, address: int, *, file: FileImage | None = None, is_library: bool = False) -> DriverModule:
    """Load device code at an address of the program, or of a file.

    Errors: as `read_ptx`. The cause is also reported to the user.
    """
    context = None if is_library else call.context
    text, program = read_ptx(call, address, file), call.program
    name = program.log.module_name()
    try:
        session = SessionModule(program.memory, text, name)
    except WarploomError as error:
        program.log.error(error)
        raise DriverError(Status.INVALID_PTX) from None
    program.log.loaded(text, name)
    return DriverModule(session, context)


def _load_file(call: DriverCall, name: str, *, is_library: bool = False) -> int:
    """Load a file of device code."""
    file = file_image(call.program.process, name)
    return call.program.handle_of(load(call, 1, file=file, is_library=is_library))


@driver("cuModuleLoad", "out ptr module, str name")
def _load_module_file(call: DriverCall, name: str) -> int:
    return _load_file(call, name)


@driver(
    "cuLibraryLoadFromFile",
    "out ptr library, str name, ptr jit_options, ptr jit_values, u32 jit_count, ptr options, ptr values, u32 count",
)
def _load_library_file(call: DriverCall, name: str, *options: int) -> int:
    return _load_file(call, name, is_library=True)


def function_of(call: DriverCall, module: DriverModule, name: str) -> Function:
    """Return a kernel of a module. Errors: DriverError NOT_FOUND, INVALID_PTX."""
    if name not in module.session.kernels:
        raise DriverError(Status.NOT_FOUND)
    if name not in module.functions:
        try:
            kernel = module.session.kernel(name)
            static = kernel.loaded.program.static_shared
        except WarploomError as error:
            call.program.log.error(error)
            raise DriverError(Status.INVALID_PTX) from None
        module.functions[name] = Function(module, name, kernel, max(_STATIC_LIMIT - static, 0))
    return module.functions[name]


def _variable(call: DriverCall, module: DriverModule, name: str) -> Segment:
    if not name or name in module.session.kernels:
        raise DriverError(Status.INVALID_VALUE)
    try:
        found = module.session.variable(name)
    except WarploomError as error:
        call.program.log.error(error)
        raise DriverError(Status.INVALID_PTX) from None
    if found is None:
        raise DriverError(Status.NOT_FOUND)
    return found


def _module(call: DriverCall, handle: int) -> DriverModule:
    return call.get(DriverModule, handle)


def _unload(call: DriverCall, handle: int) -> None:
    module = _module(call, handle)
    for function in module.functions.values():
        call.program.drop(function)
    for segment in module.session.variables.values():
        unmap_segment(call, segment)
    module.session.unload()
    call.program.drop(module)


# Modules and libraries --------------------------------------------------------------------------------------------


@driver("cuModuleLoadData cuModuleLoadFatBinary", "out ptr module, ptr image")
def _load_module(call: DriverCall, address: int) -> int:
    return call.program.handle_of(load(call, address))


@driver("cuModuleLoadDataEx", "out ptr module, ptr image, u32 count, ptr options, ptr values")
def _load_module_with_options(call: DriverCall, address: int, count: int, options: int, values: int) -> int:
    if count and not (options and values):
        raise DriverError(Status.INVALID_VALUE)
    return call.program.handle_of(load(call, address))


@driver(
    "cuLibraryLoadData",
    "out ptr library, ptr image, ptr jit_options, ptr jit_values, u32 jit_count, ptr options, ptr values, u32 count",
)
def _load_library(call: DriverCall, address: int, *options: int) -> int:
    return call.program.handle_of(load(call, address, is_library=True))


@driver("runtime_load_module", "out ptr module, ptr image")
def _load_for_runtime(call: DriverCall, address: int) -> int:
    return call.program.handle_of(load(call, address))


@driver("runtime_load_module_with_options", "out ptr module, ptr image, ptr first, ptr second, u32 count")
def _load_for_runtime_with_options(call: DriverCall, address: int, first: int, second: int, count: int) -> int:
    return call.program.handle_of(load(call, address))


@driver("runtime_load_fat_binary", "ptr image, out ptr module, ptr first, ptr second, u32 count")
def _load_fat_binary_for_runtime(call: DriverCall, address: int, first: int, second: int, count: int) -> int:
    return call.program.handle_of(load(call, address))


@driver("cuModuleUnload", "ptr module")
def _unload_module(call: DriverCall, handle: int) -> None:
    if _module(call, handle).context is None:
        raise DriverError(Status.NOT_PERMITTED)
    _unload(call, handle)


@driver("cuLibraryUnload", "ptr library")
def _unload_library(call: DriverCall, handle: int) -> None:
    _unload(call, handle)


@driver("cuModuleGetLoadingMode", "out i32 mode")
def _loading_mode(call: DriverCall) -> int:
    return _LAZY


@driver("cuModuleGetFunction", "out ptr function, ptr module, str name")
def _get_function(call: DriverCall, handle: int, name: str) -> int:
    if not name:
        raise DriverError(Status.INVALID_VALUE)
    return call.program.handle_of(function_of(call, _module(call, handle), name))


@driver("cuLibraryGetKernel", "out ptr kernel, ptr library, str name")
def _get_kernel(call: DriverCall, handle: int, name: str) -> int:
    return call.program.handle_of(function_of(call, _module(call, handle), name))


@driver("cuLibraryGetModule", "out ptr module, ptr library")
def _get_module(call: DriverCall, handle: int) -> int:
    _ = call.context
    return call.program.handle_of(_module(call, handle))


@driver("cuKernelGetFunction", "out ptr function, ptr kernel")
def _get_kernel_function(call: DriverCall, handle: int) -> int:
    _ = call.context
    return call.program.handle_of(call.get(Function, handle))


@driver("cuKernelGetLibrary", "out ptr library, ptr kernel")
def _get_library(call: DriverCall, handle: int) -> int:
    return call.program.handle_of(call.get(Function, handle).module)


@driver("cuFuncGetModule", "out ptr module, ptr function")
def _get_module_of_function(call: DriverCall, handle: int) -> int:
    return call.program.handle_of(call.get(Function, handle, Status.INVALID_VALUE).module)


@driver("cuModuleGetFunctionCount cuLibraryGetKernelCount", "out u32 count, ptr module")
def _function_count(call: DriverCall, handle: int) -> int:
    return len(_module(call, handle).session.kernels)


@driver("cuModuleEnumerateFunctions cuLibraryEnumerateKernels", "ptr functions, u32 count, ptr module")
def _functions(call: DriverCall, address: int, count: int, handle: int) -> None:
    if not address:
        raise DriverError(Status.INVALID_VALUE)
    module = _module(call, handle)
    handles = [call.program.handle_of(function_of(call, module, name)) for name in module.session.kernels[:count]]
    call.connection.write(address, struct.pack(f"={len(handles)}Q", *handles))


@driver("cuLibraryGetManaged", "out? u64 address, out? size bytes, ptr library, str name")
def _get_managed(call: DriverCall, handle: int, name: str) -> tuple[int, int]:
    module = _module(call, handle)
    if not module.session.is_managed(name):
        raise DriverError(Status.NOT_FOUND)
    found = _variable(call, module, name)
    if found.start not in call.program.mapped:
        map_segment(call, found, is_managed=True, flags=0)
    return found.start, found.size


@driver("cuModuleGetGlobal_v2 cuLibraryGetGlobal", "ptr address, ptr bytes, ptr module, str name")
def _get_global(call: DriverCall, address: int, size: int, handle: int, name: str) -> None:
    _ = call.context
    module = _module(call, handle)
    if not (address or size):
        raise DriverError(Status.INVALID_VALUE)
    found = _variable(call, module, name)
    for target, value in ((address, found.start), (size, found.size)):
        if target:
            call.connection.write(target, struct.pack("=Q", value))


# Kernels ----------------------------------------------------------------------------------------------------------


def static_shared(function: Function) -> int:
    """Return the bytes of static shared memory of a kernel."""
    return function.kernel.loaded.program.static_shared


def most_threads(function: Function) -> int:
    """Return the largest number of threads of a CTA of a kernel."""
    signature = function.kernel.loaded.signature
    most = signature.extents(".maxntid")
    return _MOST_THREADS if most is None else prod(most)


def registers(function: Function) -> int:
    """Return an assumed number of registers of a thread. Only ptxas knows the number."""
    limit = function.kernel.loaded.program.directive(".maxnreg")
    return _ASSUMED_REGISTERS if limit is None else limit[0]


def _attribute(call: DriverCall, function: Function, attribute: int) -> int:
    model, loaded = call.program.model, function.kernel.loaded
    capability = 10 * model.capability[0] + model.capability[1]
    cluster = loaded.signature.extents(".reqnctapercluster") or (0, 0, 0)
    try:
        values = {
            0: lambda: most_threads(function),
            1: lambda: static_shared(function),
            2: lambda: sum(each.size for each in loaded.program.globals if each.space == "const"),
            3: lambda: loaded.program.local_bytes,
            4: lambda: registers(function),
            5: lambda: capability,
            6: lambda: capability,
            7: lambda: 0,
            _DYNAMIC_SHARED: lambda: function.dynamic_shared,
            9: lambda: function.settings.get(9, -1),
            10: lambda: int(loaded.signature.directive(".explicitcluster") is not None),
            _CLUSTER[0]: lambda: cluster[0] or function.settings.get(_CLUSTER[0], 0),
            _CLUSTER[1]: lambda: cluster[1] or function.settings.get(_CLUSTER[1], 0),
            _CLUSTER[2]: lambda: cluster[2] or function.settings.get(_CLUSTER[2], 0),
            NON_PORTABLE: lambda: function.settings.get(NON_PORTABLE, 0),
            15: lambda: function.settings.get(15, 0),
        }
        if attribute not in values:
            raise DriverError(Status.INVALID_VALUE)
        return values[attribute]()
    except WarploomError as error:
        call.program.log.error(error)
        raise DriverError(Status.NOT_SUPPORTED) from None


def _set_attribute(call: DriverCall, function: Function, attribute: int, value: int) -> None:
    if attribute == _DYNAMIC_SHARED:
        major, minor = call.program.model.capability
        if not 0 <= value <= shared_bytes(10 * major + minor) - static_shared(function):
            raise DriverError(Status.INVALID_VALUE)
        function.dynamic_shared = value
    elif attribute in _CLUSTER and function.kernel.loaded.signature.extents(".reqnctapercluster"):
        raise DriverError(Status.INVALID_VALUE)
    elif value in _SETTINGS.get(attribute, range(17 if attribute in _CLUSTER else 0)):
        function.settings[attribute] = value
    else:
        raise DriverError(Status.INVALID_VALUE)


@driver("cuFuncGetAttribute", "out i32 value, i32 attribute, ptr function")
def _get_attribute(call: DriverCall, attribute: int, handle: int) -> int:
    return _attribute(call, call.get(Function, handle), attribute)


@driver("cuKernelGetAttribute", "out i32 value, i32 attribute, ptr kernel, i32 device")
def _get_kernel_attribute(call: DriverCall, attribute: int, handle: int, device: int) -> int:
    call.device(device)
    return _attribute(call, call.get(Function, handle), attribute)


@driver("cuFuncSetAttribute", "ptr function, i32 attribute, i32 value")
def _set_function_attribute(call: DriverCall, handle: int, attribute: int, value: int) -> None:
    _set_attribute(call, call.get(Function, handle), attribute, value)


@driver("cuKernelSetAttribute", "i32 attribute, i32 value, ptr kernel, i32 device")
def _set_kernel_attribute(call: DriverCall, attribute: int, value: int, handle: int, device: int) -> None:
    call.device(device)
    _set_attribute(call, call.get(Function, handle), attribute, value)


@driver("cuFuncSetCacheConfig", "ptr function, i32 configuration")
def _configure(call: DriverCall, handle: int, configuration: int) -> None:
    call.get(Function, handle)
    if configuration not in CACHE_CONFIGURATIONS:
        raise DriverError(Status.INVALID_VALUE)


@driver("cuFuncSetSharedMemConfig", "ptr function, i32 configuration")
def _configure_shared(call: DriverCall, handle: int, configuration: int) -> None:
    call.get(Function, handle)
    if configuration not in SHARED_CONFIGURATIONS:
        raise DriverError(Status.INVALID_VALUE)


@driver("cuKernelSetCacheConfig", "ptr kernel, i32 configuration, i32 device")
def _configure_kernel(call: DriverCall, handle: int, configuration: int, device: int) -> None:
    _configure(call, handle, configuration)
    call.device(device)


@driver("cuFuncIsLoaded", "out i32 state, ptr function")
def _is_loaded(call: DriverCall, handle: int) -> int:
    call.get(Function, handle)
    return 1


@driver("cuFuncLoad", "ptr function")
def _load_function(call: DriverCall, handle: int) -> None:
    call.get(Function, handle)


@driver("cuFuncGetName cuKernelGetName", "out ptr name, ptr function")
def _name(call: DriverCall, handle: int) -> int:
    return text_address(call, call.get(Function, handle, Status.INVALID_VALUE).name)


@driver("cuFuncGetParamInfo cuKernelGetParamInfo", "ptr function, size number, out size offset, out? size bytes")
def _parameter(call: DriverCall, handle: int, number: int) -> tuple[int, int]:
    _ = call.context
    parameters = call.get(Function, handle, Status.INVALID_VALUE).kernel.loaded.signature.parameters
    if number >= len(parameters):
        raise DriverError(Status.INVALID_VALUE)
    return parameters[number].offset, parameters[number].size
