"""Instruction set of PTX.

`model` describes what a Form is, `instructions` declares the Forms, and `binding` matches instructions to Forms.
"""

from warploom.isa import instructions as instructions
