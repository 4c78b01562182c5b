"""Triton and Gluon kernels, and their compilation in an interpreter with Triton."""

from __future__ import annotations
