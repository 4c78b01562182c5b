"""Kernels compiled by Triton, Gluon and nvcc, with their launches and expected results."""

from __future__ import annotations
