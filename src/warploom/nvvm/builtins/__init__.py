"""Tensor-core builtins of NVIDIA's compiler: registry, parser for calls, and lowering of calls.

builtin_named("__hmma_m16n16k16_ld_a").number      # 678
builtin_numbered(744).name                         # "__bmma_m8n8k128_mma_xor_popc_b1"
"""

from warploom.nvvm.builtins.registry import BUILTINS, Builtin, Parameter, builtin_named, builtin_numbered

__all__ = ["BUILTINS", "Builtin", "Parameter", "builtin_named", "builtin_numbered"]
