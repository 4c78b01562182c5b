"""Memory scopes as numbers that grow with the scope. A system scope counts as GPU scope."""

from __future__ import annotations

CTA, CLUSTER, GPU = 0, 1, 2

_LEVELS = {"cta": CTA, "cluster": CLUSTER}


def level_of(scope: str) -> int:
    """Return the number of a scope word such as "cluster"; GPU for "gpu", "sys" and the empty word."""
    return _LEVELS.get(scope, GPU)
