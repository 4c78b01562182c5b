"""Binding of instructions to Forms: matching rows, nearest legal opcodes, and error messages."""

from __future__ import annotations
