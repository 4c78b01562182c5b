"""Kernels compiled by Triton, Gluon and nvcc, with launches and reference results."""

from __future__ import annotations
