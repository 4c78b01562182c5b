"""Checks of whole bodies: what no single statement shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from warploom.check.bodies.body import Body, Facts, Step
from warploom.check.bodies.granularity import Granularity, Used, used_in
from warploom.check.bodies.registers import register_counts
from warploom.check.bodies.warpgroup import warpgroup_order
from warploom.check.found import Found

CHECKS: tuple[Callable[[Body], Iterable[Found]], ...] = (warpgroup_order, register_counts)

__all__ = ["CHECKS", "Body", "Facts", "Granularity", "Step", "Used", "used_in"]
