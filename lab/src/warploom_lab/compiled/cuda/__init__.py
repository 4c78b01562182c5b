"""CUDA kernels and their compilation with nvcc."""

from __future__ import annotations
