"""Interceptors that record launches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warploom.diagnostics import WarploomError
from warploom.emulator.loader import names_in_initializer
from warploom.integrations.cuda_driver.launches import Shape, read_configuration, read_parameters
from warploom.integrations.cuda_driver.recording.driver import RealError, intercept
from warploom.integrations.cuda_driver.recording.modules import kernel_of
from warploom.integrations.cuda_driver.recording.reach import Reach, TooLarge
from warploom.integrations.cuda_driver.statuses import DriverError
from warploom.isa.model.parameters import size_of
from warploom.runtime.captures.capture_file import CapturedLaunch
from warploom.runtime.limits import read_geometry

if TYPE_CHECKING:
    from warploom.gpu.geometry import Geometry
    from warploom.integrations.cuda_driver.recording.driver import Interception
    from warploom.integrations.cuda_driver.recording.program import LoadedKernel
    from warploom.isa.model.signature import Signature

_MAJOR, _MINOR = 75, 76  # attributes of a device: its compute capability
_CLUSTER = (11, 12, 13)  # attributes of a kernel: the shape of its clusters
_GIB = 1 << 30


@intercept("cuLaunchKernel cuLaunchCooperativeKernel cuLaunchKernelEx")
def _launch(call: Interception) -> int:
    log, arguments = call.program.log, call.arguments
    kernel = kernel_of(call, arguments["function"])
    if kernel is None:
        log.skip("a kernel of an unknown module was launched; its launches are not captured")
        return call.forward()
    if not log.selects(kernel.readable_name):
        return call.forward()
    if call.program.stream_captures:
        log.skip("launches into CUDA graphs are not captured; run the program without graphs")
        return call.forward()
    try:
        record = _before(call, arguments, kernel)
    except _Skipped as reason:
        log.skip(str(reason), kernel.readable_name)
        return call.forward()
    except (RealError, DriverError):  # an invalid call, or an earlier failure: the driver states it
        return call.forward()
    status = call.forward()
    if status:
        return status
    try:
        call.must("cuCtxSynchronize")
        for each in record.allocations:
            each.after = call.copy_from_device(each.address, each.size)
    except RealError as error:
        record.status = error.status
        for each in record.allocations:
            each.after = each.before
    try:
        log.add(record, kernel.readable_name)
    except WarploomError as error:
        log.skip(error.diagnostics[0].message)
    return status


@intercept("cuGraphLaunch")
def _launch_graph(call: Interception) -> int:
    call.program.log.say_once("launches of CUDA graphs are not captured; run the program without graphs")
    return call.forward()


class _Skipped(Exception):
    """Reason why a launch is not recorded."""


def _before(call: Interception, arguments: dict[str, int], kernel: LoadedKernel) -> CapturedLaunch:
    """Return a record of the state before a launch. Errors: _Skipped, RealError, DriverError."""
    capability = _capability(call)
    name = kernel.readable_name
    try:
        text = kernel.module.text(capability)
        signature = kernel.signature(capability)
        geometry = _geometry(call, arguments, signature)
    except WarploomError as error:
        found = error.diagnostics[0]
        raise _Skipped("; ".join(filter(None, (found.message, found.hint)))) from None
    call.must("cuCtxSynchronize")
    extra = arguments.get("extra", 0)
    parameters = read_parameters(
        call.connection, signature.parameters, arguments["values"], 0 if arguments["values"] else extra
    )
    reach = Reach(call, call.program.log.options.limit)
    try:
        _add_variables(call, kernel, signature, reach)
        reach.follow(parameters)
    except TooLarge as error:
        sizes = f"more than {error.size / _GIB:.1f} GiB; the limit is {call.program.log.options.limit / _GIB:.1f} GiB"
        raise _Skipped(f"they reach {sizes}, which the option --memory raises") from None
    if reach.is_partial:
        call.program.log.say_once(
            f"the memory of {name} has too many words that may be pointers: only a part of them was examined, so that "
            "the captures may lack memory that it reaches"
        )
    major, minor = capability
    return CapturedLaunch(
        text, kernel.name, f"sm_{major}{minor}{'a' if major >= 9 else ''}", geometry, parameters, reach.allocations,
        reach.placed_tensor_maps(parameters),
    )  # fmt: skip


def _capability(call: Interception) -> tuple[int, int]:
    """Return the compute capability of the current device. Errors: RealError."""
    call.must("cuCtxGetDevice", call.result_address(0))
    device = call.result(0) & 0xFFFF_FFFF
    numbers: list[int] = []
    for attribute in (_MAJOR, _MINOR):
        call.must("cuDeviceGetAttribute", call.result_address(0), attribute, device)
        numbers.append(call.result(0) & 0xFFFF_FFFF)
    major, minor = numbers
    return major, minor


def _geometry(call: Interception, arguments: dict[str, int], signature: Signature) -> Geometry:
    """Return the geometry of a launch. Errors: UsageError launch.*, DriverError."""
    if "configuration" in arguments:
        shape, _ = read_configuration(call.connection, arguments["configuration"])
    else:
        gx, gy, gz, bx, by, bz, shared = (arguments[each] for each in ("gx", "gy", "gz", "bx", "by", "bz", "shared"))
        shape = Shape((gx, gy, gz), (bx, by, bz), shared, is_cooperative="Cooperative" in call.symbol)
    cluster = shape.cluster
    if cluster is None and signature.extents(".reqnctapercluster") is None:
        found = [
            call.results("cuFuncGetAttribute", 1, lambda out, which=each: (*out, which, arguments["function"]))
            for each in _CLUSTER
        ]
        x, y, z = (each[0] & 0xFFFF_FFFF if each else 0 for each in found)
        cluster = (x, y or 1, z or 1) if x else None
    geometry = read_geometry(signature, shape.grid, shape.block, cluster, shape.shared)
    return replace(geometry, cooperative=shape.is_cooperative)


def _add_variables(call: Interception, kernel: LoadedKernel, signature: Signature, reach: Reach) -> None:
    """Add the variables of the module to the reached memory.

    A variable with addresses of functions keeps its initial value in a replay, where the functions have other
    addresses.
    """
    module = kernel.module
    symbol = "cuLibraryGetGlobal" if module.is_library else "cuModuleGetGlobal_v2"
    functions = signature.module.functions
    for name, variable in signature.module.variables.items():
        size = size_of(variable)
        if variable.space not in ("global", "const") or not size:
            continue
        if any(each in functions for each in names_in_initializer(variable.initializer)):
            continue
        text = name.encode() + b"\0"
        call.program.shared[64 : 64 + len(text)] = memoryview(text)  # after the results
        found = call.results(symbol, 2, lambda out: (*out, module.handle, call.result_address(8)))
        if found is not None and found[1] == size:
            reach.add_variable(name, found[0], size)
