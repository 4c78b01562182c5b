"""Expected results of the compiled kernels, computed with NumPy."""

from __future__ import annotations

from warploom_lab.compiled.references import cooperative, elements, groups, hopper, matrices, models, scalar

__all__ = ["cooperative", "elements", "groups", "hopper", "matrices", "models", "scalar"]
