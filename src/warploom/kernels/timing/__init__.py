"""Timing of GEMM kernels on a GPU beside cuBLAS, and the search for the fastest tiles."""

from __future__ import annotations
