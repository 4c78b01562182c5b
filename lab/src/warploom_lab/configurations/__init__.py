"""Configurations of the GEMM kernels: legal plans, covering arrays, and trials of the kernels."""

from __future__ import annotations
