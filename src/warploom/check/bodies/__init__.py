"""Checks of whole function bodies, whose faults no single statement shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from warploom.check.bodies.body import Body, Facts, Step
from warploom.check.bodies.cta_groups import CtaGroups, FunctionUse, function_use
from warploom.check.bodies.register_count import register_counts
from warploom.check.bodies.warpgroup_order import warpgroup_order
from warploom.diagnostics import Diagnostic

CHECKS: tuple[Callable[[Body], Iterable[Diagnostic]], ...] = (warpgroup_order, register_counts)

__all__ = ["CHECKS", "Body", "CtaGroups", "Facts", "FunctionUse", "Step", "function_use"]
