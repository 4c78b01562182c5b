"""The packed words of NVIDIA's compiler: each encodes, decodes and is shown field by field."""

from __future__ import annotations

from warploom.nvvm.words.kit import Field, Line, Word
from warploom.nvvm.words.tcgen05 import COLLECTOR, MODIFIERS, SCALED
from warploom.nvvm.words.warp import MMA, MOVE
from warploom.nvvm.words.warpgroup import CONFIG

WORDS = {word.name: word for word in (MMA, MOVE, CONFIG, MODIFIERS, COLLECTOR, SCALED)}
"""Every word by name; the shared-memory descriptor is `layout.Descriptor`."""

__all__ = ["WORDS", "Field", "Line", "Word"]
