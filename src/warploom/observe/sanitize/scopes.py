"""Levels of scopes: CTA, cluster and GPU. A system scope counts as GPU scope."""

from __future__ import annotations

CTA, CLUSTER, GPU = 0, 1, 2

_LEVELS = {"cta": CTA, "cluster": CLUSTER}


def level_of(scope: str) -> int:
    """Return the level of a scope word; GPU if the instruction names none."""
    return _LEVELS.get(scope, GPU)
