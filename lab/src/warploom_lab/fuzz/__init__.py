"""Fuzzing of `parse` and `check` with mutated PTX."""

from __future__ import annotations
