"""Binding of instructions to Forms: matching rows, finding the nearest legal form, and error messages."""

from __future__ import annotations
