"""NVIDIA GPUs: assembly of PTX, device memory, launches and their timing.

    with Gpu() as gpu:
        kernel = gpu.kernel(text, "scale")
        launch = kernel.prepare(grid=(8, 1, 1), block=(128, 1, 1))
        launch(tensor, 1024)            # a tensor of PyTorch, CuPy or JAX, in place
        gpu.wait()

The names are loaded on first use, so a launch on the CPU does not import this package. NVIDIA's Python packages
(cuda-core and cuda-bindings, extra `gpu`) are imported when a Gpu is opened.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warploom.gpu.device import Gpu as Gpu
    from warploom.gpu.device import Kernel as Kernel
    from warploom.gpu.driver import DeviceFault as DeviceFault
    from warploom.gpu.logs import Resources as Resources
    from warploom.gpu.prepared import Launch as Launch
    from warploom.gpu.tensormap import encode_tensor_map as encode_tensor_map
    from warploom.gpu.timing import State as State
    from warploom.gpu.timing import Timing as Timing
    from warploom.gpu.timing import driver_release as driver_release
    from warploom.gpu.timing import measure as measure
    from warploom.gpu.timing import state as state

_MODULES = {
    "device": "Gpu Kernel",
    "driver": "DeviceFault",
    "logs": "Resources",
    "prepared": "Launch",
    "tensormap": "encode_tensor_map",
    "timing": "State Timing driver_release measure state",
}
"""Public names of the package by the module that defines them."""

_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [*_HOME]  # noqa: PLE0604  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
