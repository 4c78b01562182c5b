"""Driver functions for contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warploom.diagnostics import UsageError
from warploom.integrations.cuda_driver.functions import driver
from warploom.integrations.cuda_driver.memory import free
from warploom.integrations.cuda_driver.program import Context
from warploom.integrations.cuda_driver.statuses import DriverError, Status

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import DriverCall

_API_VERSION = 3020
_MAPS_HOST = 8  # the context flag of mapped host memory, which the primary context always has
_MOST_FLAGS = 0xFF
_SCHEDULES = (0, 1, 2, 4)
CACHE_CONFIGURATIONS, SHARED_CONFIGURATIONS = range(4), range(3)
"""Values of CUfunc_cache and CUsharedconfig."""
_LOWEST_PRIORITY, _HIGHEST_PRIORITY = 0, -5
_BANKS_OF_4_BYTES = 1
_STACK, _PRINTED, _HEAP, _FETCHED = 0, 1, 2, 5  # limits
_STACK_STEP = 16  # bytes
_LEAST_LIMITS = {_PRINTED: 512 << 10, _HEAP: 4 << 20}  # smaller values become these
_MOST_LIMITS = {_STACK: 512 << 10, _FETCHED: 128}


def _check_flags(flags: int) -> None:
    """Refuse flags that a context cannot have. Errors: DriverError INVALID_VALUE."""
    if flags > _MOST_FLAGS or flags & 7 not in _SCHEDULES:
        raise DriverError(Status.INVALID_VALUE)


@driver("cuDevicePrimaryCtxRetain", "out ptr context, i32 device")
def _retain(call: DriverCall, device: int) -> int:
    call.device(device)
    retain_primary(call)
    return call.program.handle_of(call.program.primary)


def retain_primary(call: DriverCall) -> None:
    """Count a use of the primary context.

    Errors: DriverError with the failure of a kernel if the context must be created.
    """
    program = call.program
    if program.failure is not None and program.primary.is_destroyed:
        raise DriverError(program.failure)
    program.primary.uses += 1


def _free_memory(call: DriverCall, context: Context) -> None:
    """Free the memory of a context."""
    program = call.program
    for address in [each for each, owner in program.owners.items() if owner is context]:
        free(call, address)
    program.constants = {data: address for data, address in program.constants.items() if address in program.owners}


@driver("cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2", "i32 device")
def _release(call: DriverCall, device: int) -> None:
    call.device(device)
    primary = call.program.primary
    if not primary.uses:
        raise DriverError(Status.INVALID_CONTEXT)
    primary.uses -= 1
    if primary.is_destroyed:
        _free_memory(call, primary)


@driver("cuDevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2", "i32 device")
def _reset(call: DriverCall, device: int) -> None:
    call.device(device)
    program = call.program
    for address, mapped in program.mapped.items():
        call.connection.unmap(address, mapped.size)
    program.reset()


@driver("cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxSetFlags_v2", "i32 device, u32 flags")
def _set_primary_flags(call: DriverCall, device: int, flags: int) -> None:
    call.device(device)
    _check_flags(flags)
    if flags & _MAPS_HOST:
        raise DriverError(Status.INVALID_VALUE)
    call.program.primary.flags = flags


@driver("cuDevicePrimaryCtxGetState", "i32 device, out u32 flags, out i32 active")
def _state(call: DriverCall, device: int) -> tuple[int, int]:
    call.device(device)
    primary = call.program.primary
    return primary.flags, int(primary.uses > 0)


def _create(call: DriverCall, flags: int, device: int) -> int:
    call.device(device)
    _check_flags(flags)
    context = Context(flags, number=next(call.program.next_context))
    call.thread.contexts.append(context)
    return call.program.handle_of(context)


@driver("cuCtxCreate cuCtxCreate_v2", "out ptr context, u32 flags, i32 device")
def _create_2(call: DriverCall, flags: int, device: int) -> int:
    return _create(call, flags, device)


@driver("cuCtxCreate_v3", "out ptr context, ptr affinity, i32 count, u32 flags, i32 device")
def _create_3(call: DriverCall, affinity: int, count: int, flags: int, device: int) -> int:
    return _create(call, flags, device)


@driver("cuCtxCreate_v4", "out ptr context, ptr parameters, u32 flags, i32 device")
def _create_4(call: DriverCall, parameters: int, flags: int, device: int) -> int:
    return _create(call, flags, device)


@driver("cuCtxDestroy cuCtxDestroy_v2", "ptr context")
def _destroy(call: DriverCall, handle: int) -> None:
    context = call.context_of(handle)
    if context.is_primary:
        raise DriverError(Status.INVALID_CONTEXT)
    if call.thread.contexts[-1:] == [context]:
        call.thread.contexts.pop()
    _free_memory(call, context)
    context.uses = 0


@driver("cuCtxPushCurrent cuCtxPushCurrent_v2", "ptr context")
def _push(call: DriverCall, handle: int) -> None:
    call.thread.contexts.append(call.context_of(handle))


@driver("cuCtxPopCurrent cuCtxPopCurrent_v2", "out? ptr context")
def _pop(call: DriverCall) -> int:
    if not call.thread.contexts:
        raise DriverError(Status.INVALID_CONTEXT)
    return call.program.handle_of(call.thread.contexts.pop())


@driver("cuCtxSetCurrent", "ptr context")
def _set_current(call: DriverCall, handle: int) -> None:
    contexts = [call.context_of(handle)] if handle else []
    call.thread.contexts[-1:] = contexts


@driver("cuCtxGetCurrent", "out ptr context")
def _get_current(call: DriverCall) -> int:
    contexts = call.thread.contexts
    return call.program.handle_of(contexts[-1]) if contexts else 0


@driver("cuCtxGetDevice", "out i32 device")
def _device(call: DriverCall) -> int:
    if not call.thread.contexts:
        raise DriverError(Status.INVALID_CONTEXT)
    return 0


@driver("cuCtxGetDevice_v2", "out i32 device, ptr context")
def _device_2(call: DriverCall, handle: int) -> int:
    _ = call.context_of(handle) if handle else call.context
    return 0


@driver("cuCtxGetFlags", "out u32 flags")
def _flags(call: DriverCall) -> int:
    context = call.context
    return context.flags | (_MAPS_HOST if context.is_primary else 0)


@driver("cuCtxSetFlags", "u32 flags")
def _set_flags(call: DriverCall, flags: int) -> None:
    _check_flags(flags)
    call.context.flags = flags


@driver("cuCtxGetId", "ptr context, out u64 number")
def _number(call: DriverCall, handle: int) -> int:
    return (call.context_of(handle) if handle else call.context).number


@driver("cuCtxSynchronize", "")
def _synchronize(call: DriverCall) -> None:
    _ = call.context


@driver("cuCtxSynchronize_v2", "ptr context")
def _synchronize_2(call: DriverCall, handle: int) -> None:
    _ = call.context_of(handle) if handle else call.context


@driver("cuCtxGetLimit", "out size value, i32 limit")
def _limit(call: DriverCall, limit: int) -> int:
    limits = call.program.model.limits | call.context.limits
    if limit not in limits:
        raise DriverError(Status.UNSUPPORTED_LIMIT if limit in (3, 9) else Status.INVALID_VALUE)
    return limits[limit]


@driver("cuCtxSetLimit", "i32 limit, size value")
def _set_limit(call: DriverCall, limit: int, value: int) -> None:
    if limit not in call.program.model.limits:
        raise DriverError(Status.UNSUPPORTED_LIMIT if limit in (3, 9) else Status.INVALID_VALUE)
    most = _MOST_LIMITS.get(limit)
    if most is not None and value > most:
        raise DriverError(Status.INVALID_VALUE)
    step = _STACK_STEP if limit == _STACK else 1
    value = max(-(-value // step) * step, _LEAST_LIMITS.get(limit, 0))
    if limit == _HEAP:
        try:
            call.program.memory.resize_heap(value)
        except UsageError as error:
            call.program.log.error(error)
            raise DriverError(Status.INVALID_VALUE) from None
    call.context.limits[limit] = value


@driver("cuCtxGetCacheConfig", "out i32 configuration")
def _cache(call: DriverCall) -> int:
    return call.context.cache


@driver("cuCtxSetCacheConfig", "i32 configuration")
def _set_cache(call: DriverCall, configuration: int) -> None:
    context = call.context
    if configuration not in CACHE_CONFIGURATIONS:
        raise DriverError(Status.INVALID_VALUE)
    context.cache = configuration


@driver("cuCtxGetSharedMemConfig", "out i32 configuration")
def _shared(call: DriverCall) -> int:
    _ = call.context
    return _BANKS_OF_4_BYTES


@driver("cuCtxSetSharedMemConfig", "i32 configuration")
def _set_shared(call: DriverCall, configuration: int) -> None:
    _ = call.context
    if configuration not in SHARED_CONFIGURATIONS:
        raise DriverError(Status.INVALID_VALUE)


@driver("cuCtxGetApiVersion", "ptr context, out u32 version")
def _api_version(call: DriverCall, handle: int) -> int:
    _ = call.context_of(handle) if handle else call.context
    return _API_VERSION


@driver("cuCtxGetStreamPriorityRange", "out? i32 lowest, out? i32 highest")
def _priorities(call: DriverCall) -> tuple[int, int]:
    _ = call.context
    return _LOWEST_PRIORITY, _HIGHEST_PRIORITY


@driver("cuCtxResetPersistingL2Cache", "")
def _reset_cache(call: DriverCall) -> None:
    _ = call.context


@driver("cuProfilerStart cuProfilerStop", "")
def _profile(call: DriverCall) -> None:
    _ = call.context
