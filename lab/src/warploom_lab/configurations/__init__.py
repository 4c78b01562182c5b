"""GEMM kernel configurations: the space of plans, covering arrays, and trials of kernels."""

from __future__ import annotations
