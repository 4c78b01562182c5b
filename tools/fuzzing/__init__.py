"""Mutated PTX through `parse` and `check`: inputs, trials, and the hunt over many of them."""

from __future__ import annotations
