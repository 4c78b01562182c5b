"""Instruction set of PTX.

A Form describes one instruction. `model` defines this class, `instructions` declares the Forms, and `binding` matches
instructions to Forms.
"""

from warploom.isa import instructions as instructions
