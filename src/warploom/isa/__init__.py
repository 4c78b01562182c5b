"""Instruction set: the Forms, how instructions bind to them, and the model that describes a Form."""

from __future__ import annotations

from warploom.isa import instructions as instructions
