"""Binding of instructions to Forms, search for the nearest legal opcode, and error messages."""
