"""CUDA program for the tests of `warploom capture`. Its first argument selects what it does."""

# ruff: noqa: T201

import ctypes
import sys
import threading

from program import PTX, check, connect, cuda, launch, numbers, result

Launch = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, *[ctypes.c_uint] * 7, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)


def arguments(values: int) -> object:
    address = ctypes.c_uint64(values)
    table = (ctypes.c_void_p * 1)(ctypes.addressof(address))
    table.keep = address  # pyright: ignore[reportAttributeAccessIssue]
    return table


def library_kernel() -> ctypes.c_void_p:
    library, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuLibraryLoadData(ctypes.byref(library), PTX, None, None, 0, None, None, 0))
    check(cuda.cuLibraryGetKernel(ctypes.byref(kernel), library, b"twice"))
    return kernel


def stream() -> ctypes.c_void_p:
    created = ctypes.c_void_p()
    check(cuda.cuStreamCreate(ctypes.byref(created), 1))
    return created


def main(what: str) -> None:
    connect()
    values = numbers()
    if what == "library":
        check(cuda.cuLaunchKernel(library_kernel(), 1, 1, 1, 32, 1, 1, 0, None, arguments(values), None))
    elif what == "library-function":
        function = ctypes.c_void_p()
        check(cuda.cuKernelGetFunction(ctypes.byref(function), library_kernel()))
        check(cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, arguments(values), None))
    elif what == "library-module":
        library, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        check(cuda.cuLibraryLoadData(ctypes.byref(library), PTX, None, None, 0, None, None, 0))
        check(cuda.cuLibraryGetModule(ctypes.byref(module), library))
        check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"twice"))
        check(cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, arguments(values), None))
    elif what == "list":
        module, functions = ctypes.c_void_p(), (ctypes.c_void_p * 1)()
        check(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
        check(cuda.cuModuleEnumerateFunctions(functions, 1, module))
        check(cuda.cuLaunchKernel(ctypes.c_void_p(functions[0]), 1, 1, 1, 32, 1, 1, 0, None, arguments(values), None))
    elif what == "link":
        state, code, module, function = (ctypes.c_void_p() for _ in range(4))
        check(cuda.cuLinkCreate_v2(0, None, None, ctypes.byref(state)))
        check(cuda.cuLinkAddData_v2(state, 1, PTX, ctypes.c_size_t(len(PTX)), b"name", 0, None, None))
        check(cuda.cuLinkComplete(state, ctypes.byref(code), None))
        check(cuda.cuModuleLoadData(ctypes.byref(module), code))
        check(cuda.cuLinkDestroy(state))
        check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"twice"))
        check(cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, arguments(values), None))
    elif what == "search":
        found, state, flags = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_uint64(0)
        check(
            cuda.cuGetProcAddress_v2(
                b"cuLaunchKernel", ctypes.byref(found), 13000, ctypes.c_uint64(0), ctypes.byref(state)
            )
        )
        assert found.value is not None
        check(Launch(found.value)(library_kernel(), 1, 1, 1, 32, 1, 1, 0, None, arguments(values), None))
        check(cuda.cuGetProcAddress_v2(b"cuMemFree", ctypes.byref(found), 13000, flags, ctypes.byref(state)))
        assert found.value is not None
        print(cuda.cuGetProcAddress_v2(b"cuNothing", ctypes.byref(found), 13000, flags, None))
    elif what == "graph":
        queue, graph, ready = stream(), ctypes.c_void_p(), ctypes.c_void_p()
        kernel = library_kernel()
        check(cuda.cuStreamBeginCapture_v2(queue, 0))
        check(cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, queue, arguments(values), None))
        check(cuda.cuStreamEndCapture(queue, ctypes.byref(graph)))
        check(cuda.cuGraphInstantiateWithFlags(ctypes.byref(ready), graph, ctypes.c_uint64(0)))
        check(cuda.cuGraphLaunch(ready, queue))
    elif what == "unload":
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        for _ in range(2):
            check(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
            check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"twice"))
            check(cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, arguments(values), None))
            check(cuda.cuModuleUnload(module))
        print(cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, arguments(values), None))
    elif what == "wrong":
        print(cuda.cuLaunchKernel(library_kernel(), 1, 1, 1, 2048, 1, 1, 0, None, arguments(values), None))
    elif what == "threads":
        context = ctypes.c_void_p()
        check(cuda.cuCtxGetCurrent(ctypes.byref(context)))

        def work() -> None:
            check(cuda.cuCtxSetCurrent(context))
            check(launch(b"twice", numbers()))

        workers = [threading.Thread(target=work) for _ in range(4)]
        for each in workers:
            each.start()
        for each in workers:
            each.join()
    elif what == "nothing":
        return
    print(result(values))


main(sys.argv[1])
