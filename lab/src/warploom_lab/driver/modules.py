"""Cases of modules, variables, functions and their attributes."""

from __future__ import annotations

import ctypes

from warploom_lab.driver.case import Driver, Word, calls, case
from warploom_lab.driver.kernels import EMPTY, KERNELS, OTHER

_WORD = Word()
_INT = ctypes.c_int()

calls("modules", {
    "load_null": ("cuModuleLoadData", _WORD, None),
    "load_null_module": ("cuModuleLoadData", None, EMPTY),
    "load_empty_text": ("cuModuleLoadData", _WORD, b""),
    "load_word": ("cuModuleLoadData", _WORD, b"nonsense"),
    "load_zeros": ("cuModuleLoadData", _WORD, bytes(4096)),
    "load_noise": ("cuModuleLoadData", _WORD, b"\x01\x02\x03\x04\xff\xfe" * 100),
    "load_elf_header": ("cuModuleLoadData", _WORD, b"\x7fELF" + bytes(4096)),
    "load_comment": ("cuModuleLoadData", _WORD, b"// only a comment\n"),
    "load_version_alone": ("cuModuleLoadData", _WORD, b".version 8.0\n"),
    "load_without_version": ("cuModuleLoadData", _WORD, b".target sm_90\n.address_size 64\n.entry k() { ret; }\n"),
    "load_without_target": ("cuModuleLoadData", _WORD, b".version 8.0\n.address_size 64\n.entry k() { ret; }\n"),
    "load_empty_module": ("cuModuleLoadData", _WORD, EMPTY),
    "load_future_version": ("cuModuleLoadData", _WORD, EMPTY.replace(b"8.0", b"99.0")),
    "load_wrong_version": ("cuModuleLoadData", _WORD, EMPTY.replace(b"8.0", b"8.99")),
    "load_future_target": ("cuModuleLoadData", _WORD, EMPTY.replace(b"8.0", b"8.8").replace(b"sm_90", b"sm_120")),
    "load_unknown_target": ("cuModuleLoadData", _WORD, EMPTY.replace(b"sm_90", b"sm_999")),
    "load_32_bits": ("cuModuleLoadData", _WORD, EMPTY.replace(b"64", b"32")),
    "load_old_target": ("cuModuleLoadData", _WORD, EMPTY.replace(b"sm_90", b"sm_50")),
    "load_architecture_target": ("cuModuleLoadData", _WORD, EMPTY.replace(b"sm_90", b"sm_90a")),
    "load_truncated": ("cuModuleLoadData", _WORD, KERNELS[: len(KERNELS) // 2]),
    "load_unknown_instruction": ("cuModuleLoadData", _WORD, OTHER.replace(b"ret;", b"launder.u32 %r0; ret;")),
    "load_unknown_register": ("cuModuleLoadData", _WORD, OTHER.replace(b"ret;", b"mov.u32 %r0, 1; ret;")),
    "load_wrong_type": (
        "cuModuleLoadData", _WORD, OTHER.replace(b"ret;", b".reg .b64 %a; add.u32 %a, %a, 1; ret;"),
    ),
    "load_missing_semicolon": ("cuModuleLoadData", _WORD, OTHER.replace(b"ret;", b"ret")),
    "load_duplicate_names": ("cuModuleLoadData", _WORD, OTHER + OTHER[OTHER.index(b".visible"):]),
    "load_undefined_extern": (
        "cuModuleLoadData", _WORD,
        EMPTY + b".extern .func missing();\n.visible .entry k() { call missing; ret; }\n",
    ),
    "load_undefined_variable": (
        "cuModuleLoadData", _WORD,
        EMPTY + b".extern .global .u32 missing;\n"
        b".visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [missing]; ret; }",
    ),
    "load_too_much_shared": (
        "cuModuleLoadData", _WORD,
        EMPTY + b".visible .entry k() { .shared .b8 x[65536]; .reg .b32 %r; mov.u32 %r, x; "
        b"st.volatile.shared.u32 [%r], %r; ret; }",
    ),
    "load_with_options_null": ("cuModuleLoadDataEx", _WORD, EMPTY, 0, None, None),
    "load_with_missing_options": ("cuModuleLoadDataEx", _WORD, EMPTY, 1, None, None),
    "load_fat_binary_null": ("cuModuleLoadFatBinary", _WORD, None),
    "load_file_null": ("cuModuleLoad", _WORD, None),
    "load_file_missing": ("cuModuleLoad", _WORD, b"/nonexistent/file.ptx"),
    "unload_null": ("cuModuleUnload", None),
    "mode_null": ("cuModuleGetLoadingMode", None),
    "function_of_null": ("cuModuleGetFunction", _WORD, None, b"nothing"),
    "variable_of_null": ("cuModuleGetGlobal_v2", _WORD, _WORD, None, b"counter"),
    "count_of_null": ("cuModuleGetFunctionCount", _INT, None),
    "attribute_of_null": ("cuFuncGetAttribute", _INT, 0, None),
    "set_attribute_of_null": ("cuFuncSetAttribute", None, 8, 0),
    "cache_of_null": ("cuFuncSetCacheConfig", None, 0),
    "name_of_null": ("cuFuncGetName", _WORD, None),
    "module_of_null": ("cuFuncGetModule", _WORD, None),
    "parameter_of_null": ("cuFuncGetParamInfo", None, 0, _WORD, _WORD),
    "loaded_of_null": ("cuFuncIsLoaded", _INT, None),
    "load_function_null": ("cuFuncLoad", None),
    "link_null": ("cuLinkCreate_v2", 0, None, None, None),
    "link_destroy_null": ("cuLinkDestroy", None),
})  # fmt: skip


@case
def unknown_names(cuda: Driver) -> None:
    module, size = cuda.module(), Word()
    for name in (b"missing", b"", b"counter", b"NOTHING", None):
        cuda("cuModuleGetFunction", _WORD, module, name)
    for name in (b"missing", b"", b"nothing", b"data", b"address", None):
        cuda("cuModuleGetGlobal_v2", _WORD, size, module, name)
    cuda("cuModuleGetFunction", None, module, b"nothing")
    cuda("cuModuleGetGlobal_v2", None, None, module, b"counter")
    cuda("cuModuleGetGlobal_v2", None, size, module, b"counter")
    cuda.note("size", size.value)
    cuda("cuModuleGetGlobal_v2", _WORD, None, module, b"counter")
    cuda("cuModuleGetGlobal_v2", None, None, module, b"missing")


@case
def variables(cuda: Driver) -> None:
    module, address, size = cuda.module(), Word(), Word()
    for name in (b"counter", b"area", b"table"):
        cuda("cuModuleGetGlobal_v2", address, size, module, name)
        cuda.note("size", size.value)
        data = ctypes.create_string_buffer(b"\xaa" * 4)
        cuda("cuMemcpyDtoH_v2", data, address.value, 4)
        cuda.note("bytes", data.raw[:4].hex())
        cuda("cuMemcpyHtoD_v2", address.value, b"1234", 4)
        cuda("cuMemsetD8_v2", address.value, 0, 4)


@case
def functions_are_the_same(cuda: Driver) -> None:
    module, found = cuda.module(), Word()
    first, second = cuda.function("nothing", module), cuda.function("nothing", module)
    cuda.note("same", first == second)
    cuda("cuFuncGetModule", found, first)
    cuda.note("same module", found.value == module)
    cuda("cuFuncGetModule", None, first)


@case
def modules_differ(cuda: Driver) -> None:
    first, second = cuda.module(), cuda.module()
    cuda.note("same", first == second)
    one, two = Word(), Word()
    cuda("cuModuleGetGlobal_v2", one, None, first, b"counter")
    cuda("cuModuleGetGlobal_v2", two, None, second, b"counter")
    cuda.note("same", one.value == two.value)


@case
def list_functions(cuda: Driver) -> None:
    module, count = cuda.module(), ctypes.c_uint()
    cuda("cuModuleGetFunctionCount", count, module)
    cuda.note("count", count.value)
    cuda("cuModuleGetFunctionCount", None, module)
    table = (ctypes.c_uint64 * 20)()
    cuda("cuModuleEnumerateFunctions", table, 3, module)
    cuda.note("filled", sum(word != 0 for word in table))
    cuda("cuModuleEnumerateFunctions", table, 20, module)
    cuda.note("filled", sum(word != 0 for word in table))
    cuda("cuModuleEnumerateFunctions", table, 0, module)
    cuda("cuModuleEnumerateFunctions", None, 3, module)
    empty = cuda.module(EMPTY)
    cuda("cuModuleGetFunctionCount", count, empty)
    cuda.note("count", count.value)


@case(alone=True)
def unload_twice(cuda: Driver) -> None:
    module = cuda.module()
    cuda("cuModuleUnload", module)
    cuda("cuModuleUnload", module)


@case(alone=True)
def function_of_unloaded_module(cuda: Driver) -> None:
    module = cuda.module()
    cuda("cuModuleUnload", module)
    cuda("cuModuleGetFunction", _WORD, module, b"nothing")


@case(alone=True)
def launch_after_unload(cuda: Driver) -> None:
    module = cuda.module()
    function = cuda.function("nothing", module)
    cuda.launch(function)
    cuda("cuCtxSynchronize")
    cuda("cuModuleUnload", module)
    cuda.launch(function)


@case
def variable_after_unload(cuda: Driver) -> None:
    module, address = cuda.module(), Word()
    cuda("cuModuleGetGlobal_v2", address, None, module, b"counter")
    cuda("cuModuleUnload", module)
    cuda("cuMemcpyDtoH_v2", ctypes.create_string_buffer(4), address.value, 4)
    cuda("cuPointerGetAttribute", _WORD, 2, address.value)


@case
def parameters(cuda: Driver) -> None:
    module = cuda.module()
    for name, count in (("mixed", 7), ("nothing", 1), ("store", 3)):
        function = cuda.function(name, module)
        for i in range(count):
            offset, size = Word(99), Word(99)
            cuda("cuFuncGetParamInfo", function, i, offset, size)
            cuda.note(f"parameter {i}", offset.value, size.value)
    function = cuda.function("mixed", module)
    cuda("cuFuncGetParamInfo", function, 0, None, _WORD)
    cuda("cuFuncGetParamInfo", function, 0, _WORD, None)
    cuda("cuFuncGetParamInfo", function, (1 << 64) - 1, _WORD, _WORD)


@case
def attributes(cuda: Driver) -> None:
    module = cuda.module()
    for name in ("nothing", "bounded", "required", "kept", "clustered", "constant", "mixed"):
        function = cuda.function(name, module)
        for number in (0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, -1):
            value = ctypes.c_int(-99)
            cuda("cuFuncGetAttribute", value, number, function)
            cuda.note(f"{name} {number}", value.value)
    cuda("cuFuncGetAttribute", None, 0, cuda.function("nothing", module))


@case
def set_dynamic_shared(cuda: Driver) -> None:
    module = cuda.module()
    for name in ("nothing", "kept"):
        function, value = cuda.function(name, module), ctypes.c_int()
        for size in (0, 49152, 65536, 232448, 231424, 231425, 232449, 1 << 20, -1, 100, 1000):
            cuda("cuFuncSetAttribute", function, 8, size)
            cuda("cuFuncGetAttribute", value, 8, function)
            cuda.note(f"shared after {size}", value.value)


@case
def set_attributes(cuda: Driver) -> None:
    function = cuda.function("nothing")
    for number, value in (
        (0, 1), (1, 1), (2, 0), (3, 0), (4, 8), (5, 90), (6, 90), (7, 1), (9, -1), (9, 0), (9, 50), (9, 100), (9, 101),
        (9, -2), (10, 1), (11, 2), (11, 0), (12, 1), (13, 1), (14, 1), (14, 0), (14, 2), (15, 0), (15, 1), (15, 2),
        (15, 3), (16, 0), (-1, 0),
    ):  # fmt: skip
        found = ctypes.c_int(-99)
        cuda("cuFuncSetAttribute", function, number, value)
        cuda("cuFuncGetAttribute", found, number, function)
        cuda.note(f"{number} after {value}", found.value if number != 4 else None)


@case
def configurations(cuda: Driver) -> None:
    function = cuda.function("nothing")
    for value in (0, 1, 2, 3, 4, -1):
        cuda("cuFuncSetCacheConfig", function, value)
    for value in (0, 1, 2, 3, -1):
        cuda("cuFuncSetSharedMemConfig", function, value)


@case
def names(cuda: Driver) -> None:
    function, text = cuda.function("bounded"), ctypes.c_char_p()
    cuda("cuFuncGetName", text, function)
    cuda.note("name", (text.value or b"").decode())
    cuda("cuFuncGetName", None, function)
    cuda("cuFuncIsLoaded", None, function)
    cuda("cuFuncLoad", function)
    value = ctypes.c_int(-1)
    cuda("cuFuncIsLoaded", value, function)
    cuda.note("state", value.value)


@case
def log_of_the_compiler(cuda: Driver) -> None:
    log = ctypes.create_string_buffer(2000)
    options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER and its size
    values = (ctypes.c_uint64 * 2)(ctypes.addressof(log), 2000)
    cuda("cuModuleLoadDataEx", _WORD, OTHER.replace(b"ret;", b"launder.u32 %r0; ret;"), 2, options, values)
    cuda.note("log", log.value != b"", values[1] > 0)
    cuda("cuModuleLoadDataEx", _WORD, OTHER, 2, options, values)
    cuda("cuModuleLoadDataEx", _WORD, OTHER, 1, (ctypes.c_int * 1)(99), values)
    cuda("cuModuleLoadDataEx", _WORD, OTHER, 1, (ctypes.c_int * 1)(0), (ctypes.c_uint64 * 1)(32))
    cuda("cuModuleLoadDataEx", _WORD, OTHER, 1, (ctypes.c_int * 1)(7), (ctypes.c_uint64 * 1)(9))
    cuda("cuModuleLoadDataEx", _WORD, OTHER, 1, options, None)


@case
def old_launch_functions(cuda: Driver) -> None:
    function = cuda.function("nothing")
    cuda("cuFuncSetBlockShape", function, 32, 1, 1)
    cuda("cuFuncSetBlockShape", function, 0, 1, 1)
    cuda("cuFuncSetBlockShape", function, 2048, 1, 1)
    cuda("cuFuncSetSharedSize", function, 1024)
    cuda("cuParamSetSize", function, 0)
    cuda("cuLaunch", function)
    cuda("cuLaunchGrid", function, 2, 1)
    cuda("cuLaunchGrid", function, 0, 1)
    cuda("cuCtxSynchronize")
