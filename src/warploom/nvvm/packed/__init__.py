"""Packed operand words of NVIDIA's compiler: their fields, encoding, decoding and display."""

from warploom.nvvm.packed.fields import Field, FieldRow, PackedWord
from warploom.nvvm.packed.matrix import CONFIG, MMA, MOVE
from warploom.nvvm.packed.tcgen05 import COLLECTOR, MODIFIERS, SCALED

WORDS = {word.name: word for word in (MMA, MOVE, MODIFIERS, COLLECTOR, CONFIG, SCALED)}
"""Packed words by name. The shared-memory descriptor is `layout.Descriptor`."""

__all__ = ["WORDS", "Field", "FieldRow", "PackedWord"]
