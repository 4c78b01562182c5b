"""Expected results of the compiled kernels, computed with NumPy."""

from __future__ import annotations

from warploom_lab.compiled.references import cuda, elements, groups, hopper, matrices, models

__all__ = ["cuda", "elements", "groups", "hopper", "matrices", "models"]
