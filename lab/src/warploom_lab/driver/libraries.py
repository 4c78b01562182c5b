"""Cases of libraries and kernels."""

from __future__ import annotations

import ctypes

from warploom_lab.driver.case import Driver, Word, calls, case
from warploom_lab.driver.kernels import EMPTY, KERNELS
from warploom_lab.driver.structures import Values, configuration

_WORD = Word()
_INT = ctypes.c_int()
_NONE = (None, None, 0, None, None, 0)

calls("libraries", {
    "load_null": ("cuLibraryLoadData", _WORD, None, *_NONE),
    "load_null_library": ("cuLibraryLoadData", None, EMPTY, *_NONE),
    "load_file_missing": ("cuLibraryLoadFromFile", _WORD, b"/nonexistent/file.ptx", *_NONE),
    "load_file_null": ("cuLibraryLoadFromFile", _WORD, None, *_NONE),
    "unload_null": ("cuLibraryUnload", None),
    "kernel_of_null": ("cuLibraryGetKernel", _WORD, None, b"nothing"),
    "module_of_null": ("cuLibraryGetModule", _WORD, None),
    "variable_of_null": ("cuLibraryGetGlobal", _WORD, _WORD, None, b"counter"),
    "count_of_null": ("cuLibraryGetKernelCount", _INT, None),
    "list_of_null": ("cuLibraryEnumerateKernels", _WORD, 1, None),
    "function_of_null": ("cuKernelGetFunction", _WORD, None),
    "library_of_null": ("cuKernelGetLibrary", _WORD, None),
    "attribute_of_null": ("cuKernelGetAttribute", _INT, 0, None, 0),
    "set_attribute_of_null": ("cuKernelSetAttribute", 8, 0, None, 0),
    "cache_of_null": ("cuKernelSetCacheConfig", None, 0, 0),
    "name_of_null": ("cuKernelGetName", _WORD, None),
    "parameter_of_null": ("cuKernelGetParamInfo", None, 0, _WORD, _WORD),
})  # fmt: skip


def _library(cuda: Driver, text: bytes = KERNELS) -> int:
    """Return a new library."""
    return cuda.new("cuLibraryLoadData", text, *_NONE)


@case(alone=True)
def images(cuda: Driver) -> None:
    for text in (b"", b"nonsense", bytes(64), EMPTY, EMPTY.replace(b"8.0", b"99.0"), KERNELS[:300]):
        cuda("cuLibraryLoadData", _WORD, text, *_NONE)
        cuda("cuLibraryLoadData", _WORD, text, None, None, 0, None, None, 1)


@case
def names(cuda: Driver) -> None:
    library, size = _library(cuda), Word()
    for name in (b"nothing", b"missing", b"counter", b"", None):
        cuda("cuLibraryGetKernel", _WORD, library, name)
    cuda("cuLibraryGetKernel", None, library, b"nothing")
    for name in (b"counter", b"missing", b"nothing", b"", None):
        cuda("cuLibraryGetGlobal", _WORD, size, library, name)
    cuda.note("size", size.value)
    for name in (b"counter", b"missing"):
        cuda("cuLibraryGetManaged", _WORD, size, library, name)
        cuda("cuLibraryGetUnifiedFunction", _WORD, library, name)
    cuda("cuLibraryGetGlobal", None, None, library, b"counter")
    cuda("cuLibraryUnload", library)


@case
def kernels(cuda: Driver) -> None:
    library, found = _library(cuda), Word()
    kernel = cuda.new("cuLibraryGetKernel", library, b"kept")
    again = cuda.new("cuLibraryGetKernel", library, b"kept")
    cuda.note("same", kernel == again)
    function = cuda.new("cuKernelGetFunction", kernel)
    cuda("cuKernelGetLibrary", found, kernel)
    cuda.note("same library", found.value == library)
    text = ctypes.c_char_p()
    cuda("cuKernelGetName", text, kernel)
    cuda.note("name", (text.value or b"").decode())
    for number in (0, 1, 3, 5, 8, 14, 17, -1):
        value = ctypes.c_int(-99)
        cuda("cuKernelGetAttribute", value, number, kernel, 0)
        cuda.note(f"attribute {number}", value.value)
    cuda("cuKernelGetAttribute", _INT, 0, kernel, 99)
    cuda("cuKernelGetAttribute", None, 0, kernel, 0)
    for size in (65536, 232448, -1):
        cuda("cuKernelSetAttribute", 8, size, kernel, 0)
        value = ctypes.c_int(-99)
        cuda("cuFuncGetAttribute", value, 8, function)
        cuda.note(f"shared after {size}", value.value)
    cuda("cuKernelSetAttribute", 8, 1024, kernel, 99)
    cuda("cuKernelSetAttribute", 1, 1024, kernel, 0)
    cuda("cuKernelSetCacheConfig", kernel, 1, 0)
    cuda("cuKernelSetCacheConfig", kernel, 9, 0)
    cuda("cuKernelSetCacheConfig", kernel, 1, 99)
    cuda("cuKernelGetFunction", None, kernel)
    cuda("cuLibraryUnload", library)


@case
def counts(cuda: Driver) -> None:
    library, count, table = _library(cuda), ctypes.c_uint(), (ctypes.c_uint64 * 20)()
    cuda("cuLibraryGetKernelCount", count, library)
    cuda.note("count", count.value)
    cuda("cuLibraryGetKernelCount", None, library)
    cuda("cuLibraryEnumerateKernels", table, 2, library)
    cuda.note("filled", sum(word != 0 for word in table))
    cuda("cuLibraryEnumerateKernels", table, 20, library)
    cuda.note("filled", sum(word != 0 for word in table))
    cuda("cuLibraryEnumerateKernels", table, 0, library)
    cuda("cuLibraryEnumerateKernels", None, 2, library)
    cuda("cuLibraryUnload", library)


@case
def parameters(cuda: Driver) -> None:
    library = _library(cuda)
    kernel = cuda.new("cuLibraryGetKernel", library, b"mixed")
    for i in range(6):
        offset, size = Word(99), Word(99)
        cuda("cuKernelGetParamInfo", kernel, i, offset, size)
        cuda.note(f"parameter {i}", offset.value, size.value)
    cuda("cuKernelGetParamInfo", kernel, 0, _WORD, None)
    cuda("cuKernelGetParamInfo", kernel, 0, None, _WORD)
    cuda("cuLibraryUnload", library)


@case
def launches(cuda: Driver) -> None:
    library, address = _library(cuda), cuda.allocate()
    kernel = cuda.new("cuLibraryGetKernel", library, b"store")
    values = Values(address, 5)
    cuda.launch(kernel, values=values.table)
    cuda("cuLaunchKernelEx", configuration(), kernel, values.table, None)
    cuda.launch(kernel)
    cuda.launch(kernel, block=(2048, 1, 1), values=values.table)
    cuda("cuCtxSynchronize")
    cuda("cuFuncGetAttribute", _INT, 0, cuda.new("cuKernelGetFunction", kernel))
    cuda("cuLibraryUnload", library)


@case
def module_of_a_library(cuda: Driver) -> None:
    library, found = _library(cuda), Word()
    cuda("cuLibraryGetModule", found, library)
    cuda("cuModuleGetFunction", _WORD, found.value, b"nothing")
    cuda("cuModuleGetGlobal_v2", _WORD, None, found.value, b"counter")
    cuda("cuModuleUnload", found.value)
    cuda("cuLibraryGetModule", None, library)
    cuda("cuLibraryUnload", library)


@case(alone=True)
def without_a_context(cuda: Driver) -> None:
    cuda("cuCtxSetCurrent", None)
    library = Word()
    cuda("cuLibraryLoadData", library, KERNELS, *_NONE)
    kernel = Word()
    cuda("cuLibraryGetKernel", kernel, library.value, b"nothing")
    cuda("cuKernelGetFunction", _WORD, kernel.value)
    cuda("cuLibraryGetModule", _WORD, library.value)
    cuda("cuLibraryGetGlobal", _WORD, None, library.value, b"counter")
    cuda("cuKernelGetAttribute", _INT, 0, kernel.value, 0)
    cuda("cuKernelGetParamInfo", kernel.value, 0, _WORD, _WORD)
    cuda.launch(kernel.value)
    cuda("cuLibraryUnload", library.value)


@case(alone=True)
def library_survives_a_reset(cuda: Driver) -> None:
    library = _library(cuda)
    kernel = cuda.new("cuLibraryGetKernel", library, b"nothing")
    cuda.launch(kernel)
    cuda("cuCtxSynchronize")
    cuda("cuDevicePrimaryCtxReset_v2", 0)
    context = Word()
    cuda("cuDevicePrimaryCtxRetain", context, 0)
    cuda("cuCtxSetCurrent", context.value)
    cuda.launch(kernel)
    cuda("cuCtxSynchronize")
    cuda("cuLibraryUnload", library)


@case(alone=True)
def unload_twice(cuda: Driver) -> None:
    library = _library(cuda)
    cuda("cuLibraryUnload", library)
    cuda("cuLibraryUnload", library)


@case(alone=True)
def kernel_of_unloaded_library(cuda: Driver) -> None:
    library = _library(cuda)
    kernel = cuda.new("cuLibraryGetKernel", library, b"nothing")
    cuda("cuLibraryUnload", library)
    cuda.launch(kernel)
