"""Fuzzing of `parse` and `check` with mutated PTX."""
