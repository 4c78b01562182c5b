"""Compiled kernels whose mutants run, and the launches that make their loops long enough.

A mutation of a stage of shared memory has no effect in a launch that fills every stage only once. Therefore some
launches have a larger K or fewer CTAs than in the descriptions of the kernels.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Subject:
    """Compiled kernel. `depth` multiplies K, and `ctas` replaces the grid if it is not 0."""

    name: str
    depth: int = 1
    ctas: int = 0

    def case(self, described: dict[str, Any]) -> dict[str, Any]:
        """Return the description of the launch, changed from the description `described` of the kernel."""
        case = deepcopy(described)
        if self.depth > 1:
            for name in ("ad", "bd"):
                case["args"][name]["shape"][-1] *= self.depth
            case["args"]["K"]["value"] *= self.depth
        if self.ctas:
            case["grid"] = [self.ctas]
        return case


SUBJECTS = (
    Subject("tensor_memory_tile_f16_m64_sm100"),
    Subject("tensor_memory_tile_bf16_ts_sm100"),
    Subject("tensor_memory_added_f16_sm100"),
    Subject("tensor_memory_pipelined_f16_sm100", depth=2),
    Subject("tensor_memory_specialised_f16_sm100", depth=2, ctas=1),
    Subject("tensor_memory_pair_bf16_m128_sm100", depth=3),
    Subject("tensor_memory_scaled_mxfp8_copied_sm100"),
    Subject("tensor_memory_attention_fp16_sm100"),
    Subject("blackwell_gemm_tma_f16_sm100", depth=3),
    Subject("blackwell_gemm_tma_ws_sm100", depth=2),
    Subject("blackwell_gemm_tma_persistent_ws_sm100", depth=3, ctas=1),
    Subject("blackwell_block_scaled_tensor_e4m3_sm100"),
    Subject("blackwell_attention_f16_d64_sm100"),
    Subject("cuda_dense_f16_sm_100a"),
    Subject("cuda_scaled_mxf8_sm_100a"),
    Subject("cuda_reshaped_sm_100a"),
)
"""Kernels of Gluon, Triton and nvcc."""
