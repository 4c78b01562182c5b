"""Queries to nvcc and the record of its answers."""

from __future__ import annotations
