"""NVIDIA GPUs: assembly of PTX, device memory, launches and their timing.

    with Gpu() as gpu:
        kernel = gpu.kernel(text, "scale")
        launch = kernel.prepare(grid=(8, 1, 1), block=(128, 1, 1))
        launch(tensor, 1024)            # a tensor of PyTorch, CuPy or JAX, in place
        gpu.wait()

NVIDIA's Python packages (cuda-core and cuda-bindings, extra `gpu`) are imported when a Gpu is opened.
"""

from warploom.gpu.device import Gpu, Kernel
from warploom.gpu.driver import DeviceFault
from warploom.gpu.logs import Resources
from warploom.gpu.prepared import Launch
from warploom.gpu.tensormap import encode_tensor_map
from warploom.gpu.timing import State, Timing, driver_release, measure, state

__all__ = [
    "DeviceFault", "Gpu", "Kernel", "Launch", "Resources", "State", "Timing", "driver_release", "encode_tensor_map",
    "measure", "state",
]  # fmt: skip
