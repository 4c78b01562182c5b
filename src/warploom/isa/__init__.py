"""Instruction set of PTX.

`model` describes what a Form is, `instructions` declares the Forms, and `binding` matches instructions to Forms.
"""

from __future__ import annotations

from warploom.isa import instructions as instructions
