"""Configuration word of a warpgroup multiplication: the booleans of the call.

The reference text guesses the names of the bits and uses two names twice. The order of the bits is from the text. The
name of a bit states the effect of its boolean in the real compiler.
"""

from __future__ import annotations

from warploom.nvvm.packed.fields import Field, PackedWord

CONFIG = PackedWord(
    "config",
    "the configuration word of a warpgroup multiplication",
    5,
    (
        Field("scale_d", 0, 1, description="1 adds the product to D, 0 overwrites D"),
        Field("trans_b", 1, 1, description="1 reads B with N innermost (f16 and bf16)"),
        Field("neg_b", 2, 1, description="1 negates B"),
        Field("trans_a", 3, 1, description="1 reads A with M innermost (f16 and bf16, A behind a descriptor)"),
        Field("neg_a", 4, 1, description="1 negates A"),
    ),
    source="cicc: WGMMA Config Bit Packing",
)
