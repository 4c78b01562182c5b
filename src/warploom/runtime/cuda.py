"""Launches on a GPU."""

from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from warploom.diagnostics import Source, UsageError
from warploom.gpu.arrays import current_of, number_of
from warploom.gpu.device import Gpu, Kernel
from warploom.gpu.geometry import Geometry
from warploom.gpu.tensormap import encode_tensor_map
from warploom.isa.model.parameters import Parameter
from warploom.isa.model.signature import Signature
from warploom.runtime.arguments import Arguments
from warploom.runtime.limits import check_architecture
from warploom.runtime.run import Run

AssemblerName = Literal["driver", "ptxas"]


def run(
    signature: Signature,
    geometry: Geometry,
    arguments: Arguments,
    stream: object = None,
    wait: bool = True,
    assembler: AssemblerName = "driver",
) -> Run:
    """Run a kernel on the GPU that has its arrays, or on GPU 0 if all arrays are in host memory.

    `runtime.api.launch` describes `stream`, `wait` and `assembler`. The findings of the returned Run are the
    assembler's remarks.

    Errors: UsageError gpu.*, DeviceFault gpu.fault.
    """
    buffers, arrays = arguments.buffers, arguments.gpu_arrays
    if not wait and buffers:
        raise UsageError(
            "a launch with arrays in the host's memory must be waited for, because they are copied back; expected "
            "wait=True",
            code="gpu.stream",
            hint="keep the arrays on the GPU",
        )
    if stream is None:  # the stream that the library of an array uses now
        stream = next((current(array) for array in arrays if (current := current_of(array.__class__))), None)
    with Gpu(number_of(arrays[0]) if arrays else 0, stream=stream) as gpu:
        kernel = enqueue(gpu, signature, geometry, arguments, gpu.address_of, gpu.stream, assembler)
        if wait:
            gpu.wait(signature.entry.readable_name)
        buffers.download(gpu)
    return Run(kernel.findings)


def enqueue(
    gpu: Gpu, signature: Signature, geometry: Geometry, arguments: Arguments, address_of: Callable[[object], int],
    stream: object, assembler: AssemblerName = "driver",
) -> Kernel:  # fmt: skip
    """Copy the buffers of a launch to a GPU, and launch the kernel on a stream.

    Return the assembled kernel. `address_of` returns the address of an array that is on the GPU.

    Errors: UsageError gpu.*.
    """
    check_architecture(geometry, gpu.arch)
    buffers, arrays = arguments.buffers, arguments.gpu_arrays
    source = signature.module.source or Source("<ptx>", str(signature.module))
    kernel = _assembled(gpu.number, source.name, source.text, signature.name, signature.parameters, assembler)
    launch = gpu.prepare(kernel, geometry, {}, {})

    def address(array: object) -> int:
        return buffers.address(array) if buffers.contains(array) else address_of(array)

    buffers.allocate(gpu)
    arguments.fill_tables(address, encode_tensor_map)
    buffers.upload(gpu)
    values = [
        value if any(value is array for array in arrays) else arguments.device_value(number, address, encode_tensor_map)
        for number, value in enumerate(arguments.values)
    ]
    launch(*values, stream=stream)
    return kernel


@lru_cache(maxsize=64)
def _assembled(
    number: int, file: str, text: str, name: str, parameters: tuple[Parameter, ...], assembler: AssemblerName
) -> Kernel:
    # Most kernels are launched often.
    return Gpu(number).kernel(Source(file, text), name, parameters=parameters, assembler=assembler)
