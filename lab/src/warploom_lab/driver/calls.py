"""Cases of calls before `cuInit`, of devices, of errors, and of the search for functions."""

from __future__ import annotations

import ctypes

from warploom_lab.driver.case import Driver, Isolation, Word, add, call_row, calls, case

_NAME = ctypes.create_string_buffer(64)
_INT = ctypes.c_int()
_SIZE = Word()


def _declare_early_calls() -> None:
    """Add a case for each function that is called before `cuInit`."""
    rows: dict[str, tuple[object, ...]] = {
        "cuDeviceGetCount": (_INT,), "cuDeviceGet": (_INT, 0), "cuDeviceGetName": (_NAME, 64, 0),
        "cuDeviceGetAttribute": (_INT, 1, 0), "cuDeviceTotalMem_v2": (_SIZE, 0), "cuDriverGetVersion": (_INT,),
        "cuDevicePrimaryCtxRetain": (_SIZE, 0), "cuCtxGetCurrent": (_SIZE,), "cuCtxSynchronize": (),
        "cuMemAlloc_v2": (_SIZE, 16), "cuMemFree_v2": (0,), "cuModuleLoadData": (_SIZE, b"x"),
        "cuStreamCreate": (_SIZE, 0), "cuEventCreate": (_SIZE, 0), "cuGraphCreate": (_SIZE, 0),
        "cuPointerGetAttribute": (_SIZE, 2, 16), "cuCtxSetCurrent": (0,), "cuCtxPopCurrent_v2": (_SIZE,),
    }  # fmt: skip
    for function, arguments in rows.items():
        name = f"calls.before_init_{function}"
        add(name, lambda cuda, f=function, a=arguments: call_row(cuda, f, *a), Isolation.ALONE)


_declare_early_calls()


@case(alone=True)
def before_init_bad_flags(cuda: Driver) -> None:
    cuda("cuInit", 1)
    cuda("cuDeviceGetCount", _INT)
    cuda("cuInit", 0)
    cuda("cuDeviceGetCount", _INT)
    cuda("cuInit", 7)
    cuda("cuDeviceGetCount", _INT)


@case(alone=True)
def before_context(cuda: Driver) -> None:
    cuda("cuInit", 0)
    found = Word(1)
    cuda("cuCtxGetCurrent", found)
    cuda.note("current", found.value)
    cuda("cuCtxPopCurrent_v2", found)
    cuda("cuCtxSynchronize")
    cuda("cuCtxGetDevice", _INT)
    cuda("cuCtxGetFlags", _INT)
    cuda("cuCtxGetLimit", _SIZE, 0)
    cuda("cuCtxSetLimit", 0, 1024)
    cuda("cuCtxGetApiVersion", None, _INT)
    cuda("cuCtxGetCacheConfig", _INT)
    cuda("cuCtxGetStreamPriorityRange", _INT, _INT)
    cuda("cuMemAlloc_v2", found, 16)
    cuda("cuMemFree_v2", 0)
    cuda("cuMemAllocHost_v2", found, 16)
    cuda("cuMemGetInfo_v2", _SIZE, _SIZE)
    cuda("cuModuleLoadData", found, b"x")
    cuda("cuStreamCreate", found, 0)
    cuda("cuStreamSynchronize", 0)
    cuda("cuEventCreate", found, 0)
    cuda("cuPointerGetAttribute", _SIZE, 2, 4096)
    cuda("cuMemcpyHtoD_v2", 0, b"x", 0)
    cuda("cuMemsetD8_v2", 0, 0, 0)
    graph = Word()
    cuda("cuGraphCreate", graph, 0)
    cuda("cuDevicePrimaryCtxGetState", 0, _INT, found)
    cuda("cuDevicePrimaryCtxRelease_v2", 0)
    cuda("cuCtxSetCurrent", 0)


calls("calls", {
    "init_again": ("cuInit", 0),
    "init_flags": ("cuInit", 2),
    "version_null": ("cuDriverGetVersion", None),
    "count_null": ("cuDeviceGetCount", None),
    "device_null": ("cuDeviceGet", None, 0),
    "device_negative": ("cuDeviceGet", _INT, -1),
    "device_large": ("cuDeviceGet", _INT, 99),
    "device_null_and_large": ("cuDeviceGet", None, 99),
    "name_null": ("cuDeviceGetName", None, 10, 0),
    "name_zero_length": ("cuDeviceGetName", _NAME, 0, 0),
    "name_negative_length": ("cuDeviceGetName", _NAME, -1, 0),
    "name_bad_device": ("cuDeviceGetName", _NAME, 10, 99),
    "name_null_and_bad_device": ("cuDeviceGetName", None, 10, 99),
    "uuid_null": ("cuDeviceGetUuid_v2", None, 0),
    "uuid_bad_device": ("cuDeviceGetUuid_v2", _NAME, 99),
    "memory_null": ("cuDeviceTotalMem_v2", None, 0),
    "memory_bad_device": ("cuDeviceTotalMem_v2", _SIZE, -3),
    "attribute_null": ("cuDeviceGetAttribute", None, 1, 0),
    "attribute_zero": ("cuDeviceGetAttribute", _INT, 0, 0),
    "attribute_negative": ("cuDeviceGetAttribute", _INT, -1, 0),
    "attribute_large": ("cuDeviceGetAttribute", _INT, 100_000, 0),
    "attribute_bad_device": ("cuDeviceGetAttribute", _INT, 1, 99),
    "capability_null": ("cuDeviceComputeCapability", None, _INT, 0),
    "capability_bad_device": ("cuDeviceComputeCapability", _INT, _INT, 99),
    "bus_null": ("cuDeviceGetPCIBusId", None, 64, 0),
    "bus_short": ("cuDeviceGetPCIBusId", _NAME, 5, 0),
    "bus_zero_length": ("cuDeviceGetPCIBusId", _NAME, 0, 0),
    "bus_bad_device": ("cuDeviceGetPCIBusId", _NAME, 64, 99),
    "device_by_bad_bus": ("cuDeviceGetByPCIBusId", _INT, b"nonsense"),
    "device_by_other_bus": ("cuDeviceGetByPCIBusId", _INT, b"ffff:ff:1f.0"),
    "device_by_null_bus": ("cuDeviceGetByPCIBusId", _INT, None),
    "peer_null": ("cuDeviceCanAccessPeer", None, 0, 0),
    "peer_bad_device": ("cuDeviceCanAccessPeer", _INT, 0, 99),
    "affinity_bad_kind": ("cuDeviceGetExecAffinitySupport", _INT, 9, 0),
    "affinity_null": ("cuDeviceGetExecAffinitySupport", None, 0, 0),
    "pool_null": ("cuDeviceGetDefaultMemPool", None, 0),
    "pool_bad_device": ("cuDeviceGetDefaultMemPool", _SIZE, 99),
    "properties_null": ("cuDeviceGetProperties", None, 0),
    "luid": ("cuDeviceGetLuid", _NAME, _INT, 0),
    "primary_null": ("cuDevicePrimaryCtxRetain", None, 0),
    "primary_bad_device": ("cuDevicePrimaryCtxRetain", _SIZE, 99),
    "primary_release_bad_device": ("cuDevicePrimaryCtxRelease_v2", 99),
    "primary_reset_bad_device": ("cuDevicePrimaryCtxReset_v2", 99),
    "primary_state_null_flags": ("cuDevicePrimaryCtxGetState", 0, None, _INT),
    "primary_state_null_active": ("cuDevicePrimaryCtxGetState", 0, _INT, None),
    "primary_state_bad_device": ("cuDevicePrimaryCtxGetState", 99, _INT, _INT),
    "primary_flags_bad_device": ("cuDevicePrimaryCtxSetFlags_v2", 99, 0),
    "export_table_null": ("cuGetExportTable", None, bytes(16)),
    "export_table_unknown": ("cuGetExportTable", _SIZE, bytes(16)),
})  # fmt: skip


@case
def device_values(cuda: Driver) -> None:
    count, value = ctypes.c_int(), ctypes.c_int(-7)
    cuda("cuDeviceGet", value, 0)
    cuda.note("device", value.value)
    cuda("cuDeviceCanAccessPeer", count, 0, 0)
    cuda.note("itself", count.value)
    short = ctypes.create_string_buffer(b"~~~~~~~~~~")
    cuda("cuDeviceGetName", short, 7, 0)
    cuda.note("name", short.raw[:8].decode())
    cuda("cuDeviceGetName", short, 1, 0)
    cuda.note("name", short.raw[0])
    version = ctypes.c_int()
    cuda("cuDriverGetVersion", version)
    cuda.note("version", version.value)


@case
def limits_of_launches(cuda: Driver) -> None:
    for number in (*range(1, 13), 14, 15, 18, 19, 31, 35, 39, 40, 41, 75, 76, 78, 79, 81, 82, 83, 86, 87, 88, 89, 90,
                   91, 95, 96, 97, 99, 100, 101, 106, 108, 111, 115, 120, 121, 123, 125, 126, 127):  # fmt: skip
        value = ctypes.c_int()
        cuda("cuDeviceGetAttribute", value, number, 0)
        cuda.note(f"attribute {number}", value.value)


@case
def error_texts(cuda: Driver) -> None:
    for code in (0, 1, 2, 3, 34, 100, 200, 201, 209, 218, 400, 500, 600, 700, 719, 720, 801, 900, 912, 999, 5000, -1):
        for function in ("cuGetErrorName", "cuGetErrorString"):
            text = ctypes.c_char_p(b"unchanged")
            cuda(function, code, text)
            cuda.note(str(code), None if text.value is None else text.value.decode())
    cuda("cuGetErrorName", 1, None)
    cuda("cuGetErrorString", 1, None)


def _search(cuda: Driver, name: bytes | None, version: int, flags: int = 0) -> None:
    """Search for a function, and record whether it was found."""
    address, found = Word(1), ctypes.c_int(-1)
    cuda("cuGetProcAddress_v2", name, address, version, flags, found)
    cuda.note(f"{name} {version} {flags}", address.value not in (0, 1), address.value == 1, found.value)


@case
def search_versions(cuda: Driver) -> None:
    for name, version in (
        (b"cuLaunchKernelEx", 11000), (b"cuLaunchKernelEx", 11060), (b"cuLaunchKernelEx", 12000), (b"cuInit", 1000),
        (b"cuInit", 0), (b"cuInit", -1), (b"cuMemAlloc", 2000), (b"cuMemAlloc", 3010), (b"cuMemAlloc", 3020),
        (b"cuStreamBeginCapture", 10000), (b"cuStreamBeginCapture", 10010), (b"cuGetProcAddress", 11000),
        (b"cuTensorMapEncodeTiled", 11080), (b"cuTensorMapEncodeTiled", 12000), (b"cuInit", 99_000),
        (b"cuLibraryLoadData", 11080), (b"cuLibraryLoadData", 12000), (b"cuCtxSynchronize", 12000),
        (b"cuTensorMapEncodeIm2colWide", 12000), (b"cuTensorMapEncodeIm2colWide", 12080),
    ):  # fmt: skip
        _search(cuda, name, version)


@case
def search_unknown_names(cuda: Driver) -> None:
    for name in (b"", b"cuNothing", b"CUINIT", b"cuInit ", b"cuMemAlloc_v2", b"cudaMalloc", b"cuLaunchKernel_ptsz"):
        _search(cuda, name, 13000)
    _search(cuda, None, 13000)


@case
def search_flags(cuda: Driver) -> None:
    for flags in (0, 1, 2, 3, 4, 8):
        _search(cuda, b"cuMemcpy", 13000, flags)
        _search(cuda, b"cuCtxGetCurrent", 13000, flags)


@case
def search_null(cuda: Driver) -> None:
    cuda("cuGetProcAddress_v2", b"cuInit", None, 13000, 0, ctypes.c_int())
    cuda("cuGetProcAddress_v2", b"cuInit", Word(), 13000, 0, None)
    cuda("cuGetProcAddress_v2", b"cuNothing", Word(), 13000, 0, None)
    cuda("cuGetProcAddress", b"cuInit", Word(), 13000, 0)
    cuda("cuGetProcAddress", b"cuNothing", Word(), 13000, 0)


@case
def search_gives_the_default_stream(cuda: Driver) -> None:
    def address(flags: int) -> int:
        found = Word()
        cuda("cuGetProcAddress_v2", b"cuLaunchKernel", found, 13000, flags, ctypes.c_int())
        return found.value

    plain, legacy, per_thread = address(0), address(1), address(2)
    cuda.note("same", plain == legacy, plain == per_thread)
