"""Choice of the Hopper kernel for a plan."""

from warploom.author import Kernel
from warploom.kernels.hopper.exchanged import exchanged_gemm
from warploom.kernels.hopper.gemm import gemm
from warploom.kernels.hopper.plan import Plan
from warploom.kernels.hopper.vector import vector_gemm


def kernel_of(plan: Plan) -> Kernel:
    """Return the kernel of a plan."""
    tile = plan.tile
    return (vector_gemm if tile.is_vector else exchanged_gemm if tile.exchanged else gemm).at(plan=plan)
