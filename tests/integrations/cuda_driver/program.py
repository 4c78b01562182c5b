"""CUDA program that calls the driver library through ctypes. Its first argument selects what it does."""

# ruff: noqa: T201

import ctypes
import os
import sys
import threading
import time

PTX = b"""
.version 8.0
.target sm_90
.address_size 64

.visible .entry twice(.param .u64 values)
{
    .reg .b64 %address;
    .reg .b32 %index, %value;
    ld.param.u64 %address, [values];
    mov.u32 %index, %tid.x;
    mad.wide.u32 %address, %index, 4, %address;
    ld.global.u32 %value, [%address];
    add.u32 %value, %value, %value;
    st.global.u32 [%address], %value;
    ret;
}

.const .align 4 .u32 factor = 21;

.visible .entry constant(.param .u64 values)
{
    .reg .b64 %address;
    .reg .b32 %value;
    ld.param.u64 %address, [values];
    ld.const.u32 %value, [factor];
    st.global.u32 [%address], %value;
    ret;
}

.visible .entry race(.param .u64 values)
{
    .reg .b64 %address;
    .reg .b32 %index;
    ld.param.u64 %address, [values];
    mov.u32 %index, %ctaid.x;
    st.global.u32 [%address], %index;
    ret;
}
"""

cuda = ctypes.CDLL("libcuda.so.1")


def check(status: int) -> None:
    if status:
        print("status", status, flush=True)
        sys.exit(3)


def connect() -> None:
    check(cuda.cuInit(0))
    context = ctypes.c_void_p()
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))


def launch(kernel: bytes, values: int, grid: int = 1) -> int:
    module, function, address = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64(values)
    check(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, kernel))
    table = (ctypes.c_void_p * 1)(ctypes.addressof(address))
    return cuda.cuLaunchKernel(function, grid, 1, 1, 32, 1, 1, 0, None, table, None)


def numbers(count: int = 32) -> int:
    address = ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(4 * count)))
    check(cuda.cuMemsetD32_v2(address, ctypes.c_uint32(21), ctypes.c_size_t(count)))
    return address.value


def result(values: int) -> int:
    word = ctypes.c_uint32()
    check(cuda.cuMemcpyDtoH_v2(ctypes.byref(word), ctypes.c_uint64(values), ctypes.c_size_t(4)))
    return word.value


def main(what: str) -> None:
    connect()
    if what == "name":
        name = ctypes.create_string_buffer(80)
        check(cuda.cuDeviceGetName(name, 80, 0))
        print(name.value.decode())
    elif what == "twice":
        values = numbers()
        check(launch(b"twice", values))
        print(result(values))
    elif what == "constant":
        values = ctypes.c_uint64()
        check(cuda.cuMemAlloc_v2(ctypes.byref(values), ctypes.c_size_t(4)))
        check(launch(b"constant", values.value))
        print(result(values.value))
    elif what == "race":
        check(launch(b"race", numbers(), grid=2))
    elif what == "beyond":
        print("status", launch(b"twice", numbers(16)), cuda.cuCtxSynchronize())
    elif what == "exit":
        sys.exit(7)
    elif what == "fork":
        child = os.fork()
        if child == 0:
            os._exit(cuda.cuCtxSynchronize())
        print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    elif what == "replace":
        check(launch(b"twice", numbers()))
        os.execv(sys.executable, [sys.executable, __file__, "free"])
    elif what == "free":
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        check(cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)))
        print(total.value - free.value)
    elif what == "fault":
        cuda.cuMemcpyHtoD_v2(ctypes.c_uint64(numbers()), ctypes.c_void_p(16), ctypes.c_size_t(4))
    elif what == "fault-arguments":
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        check(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
        check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"twice"))
        cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, ctypes.c_void_p(16), None)
    elif what == "fault-result":
        cuda.cuCtxGetApiVersion(None, ctypes.c_void_p(16))
    elif what == "hang":
        print("ready", flush=True)
        time.sleep(60)
    elif what == "threads":
        values = [numbers() for _ in range(4)]
        context = ctypes.c_void_p()
        check(cuda.cuCtxGetCurrent(ctypes.byref(context)))

        def work(address: int) -> None:
            check(cuda.cuCtxSetCurrent(context))
            for _ in range(3):
                check(launch(b"twice", address))

        threads = [threading.Thread(target=work, args=(each,)) for each in values]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print([result(each) for each in values])


if __name__ == "__main__":
    main(sys.argv[1])
