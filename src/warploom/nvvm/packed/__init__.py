"""Packed operand words of NVIDIA's compiler: their fields, encoding, decoding and display."""

from warploom.nvvm.packed.fields import Field, FieldRow, PackedWord
from warploom.nvvm.packed.matrix import CONFIG, MMA, MOVE
from warploom.nvvm.packed.tcgen05 import COLLECTOR, MODIFIERS, SCALED

WORDS = {word.name: word for word in (MMA, MOVE, MODIFIERS, COLLECTOR, CONFIG, SCALED)}
"""Packed words by name. The words of which the smallest share of all numbers is legal come first.

`explain` lists them in this order. The shared-memory descriptor is `layout.Descriptor`.
"""

__all__ = ["WORDS", "Field", "FieldRow", "PackedWord"]
