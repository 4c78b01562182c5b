"""Binding of instructions to Forms: matching rows, nearest legal opcodes, and error messages."""
