"""Triton and Gluon kernels, and their compilation by a Python interpreter that has Triton."""

from __future__ import annotations
