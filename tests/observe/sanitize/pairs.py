"""Pairs of kernels: one that orders its accesses, and its neighbour that does not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import warploom as wl
from warploom.observe.sanitize.rules import Rule

SCHEDULES = ("eager", "lazy", "random:1")


@dataclass(frozen=True, slots=True)
class Pair:
    """Statements of the rules' example kernel that are right, and a change (what, to what) that breaks a rule."""

    text: str
    change: tuple[str, str]
    codes: tuple[str, ...]
    threads: int = 32
    cluster: int = 1
    grid: int = 1

    @property
    def faulty(self) -> str:
        """The statements with the change."""
        assert self.change[0] in self.text
        return self.text.replace(*self.change)


def findings(pair: Pair, text: str, schedule: str) -> list[str]:
    """Return the rules of the findings of `text`, which is launched as `pair` states."""
    rule = Rule("", "", "", "", "", "", "", threads=pair.threads, cluster=pair.cluster)
    buffer = np.zeros(4096, np.uint32)
    tensor = wl.TensorMap.tiled(np.zeros((64, 64), np.float16), (64, 64), swizzle=128)
    done = wl.launch(
        rule.text(text), grid=max(pair.grid, pair.cluster), cluster=pair.cluster, block=pair.threads,
        args=[buffer, tensor], schedule=schedule, sanitize=True, raises=False,
    )  # fmt: skip
    return [each.code.removeprefix("sanitize.") for each in done.findings]


def found(pair: Pair, text: str, schedule: str) -> set[str]:
    """Return the set of the rules that `findings` returns."""
    return set(findings(pair, text, schedule))
