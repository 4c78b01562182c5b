"""The real machine: one NVIDIA GPU, its driver's assembler, its memory, launches on it.

    with Gpu() as gpu:
        kernel = gpu.kernel(text, "scale")
        address = gpu.allocate(1024)
        gpu.run(kernel, grid=(1, 1, 1), block=(32, 1, 1), parameters=[address.to_bytes(8, "little")])

NVIDIA's Python packages (cuda-core and cuda-bindings, extra `gpu`) are imported when a Gpu is opened.
"""

from __future__ import annotations

from warploom.gpu.device import DeviceFault, Gpu, Kernel
from warploom.gpu.tensormap import encode_tensor_map

__all__ = ["DeviceFault", "Gpu", "Kernel", "encode_tensor_map"]
