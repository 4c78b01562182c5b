"""The configuration word of a warpgroup multiplication: the booleans of the call, packed.

The text's table names the bits by guess (and two of them twice). The real compiler, asked with one boolean true
at a time, decides what each boolean does; the text's order of bits is kept, and each bit is called what the
compiler does with it.
"""

from __future__ import annotations

from warploom.nvvm.words.kit import Field, Word

CONFIG = Word(
    "config",
    "the configuration word of a warpgroup multiplication",
    5,
    (
        Field("scale_d", 0, 1, meaning="1 adds the product to D, 0 overwrites D"),
        Field("trans_b", 1, 1, meaning="1 reads B with N innermost (f16 and bf16)"),
        Field("neg_b", 2, 1, meaning="1 negates B"),
        Field("trans_a", 3, 1, meaning="1 reads A with M innermost (f16 and bf16, A behind a descriptor)"),
        Field("neg_a", 4, 1, meaning="1 negates A"),
    ),
    source="cicc: WGMMA Config Bit Packing",
)
