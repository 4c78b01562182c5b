"""Verdicts on the mutants of the second programme, and the judgement of findings.

The verdicts derive from the PTX manual. An operator states the rules that its mutants break. The tables below list the
exceptions with their reasons. A key is `kernel:operator:place`.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from observe.sanitize.protocol import orders, phases, proxies
from observe.sanitize.protocol.engine import OPERATORS, Mutant, mutants
from observe.sanitize.protocol.subjects import Subject

import warploom as wl

__all__ = ["ALLOWED", "OPERATORS", "REASONS", "UNDECIDED", "codes", "judged", "key", "mutants", "rules"]

CHAPTERS = (orders, phases, proxies)
"""Modules that register operators."""

SCHEDULES = ("eager", "lazy", "random:0")

Outcome: TypeAlias = Literal["one finding", "more findings", "misnamed", "missed", "silent", "wrongly reported"]

REASONS = {
    "unread": "The moved store writes a result in global memory that no thread of the grid reads.",
    "input": "The moved load reads an input that no thread writes.",
    "awaited": "Each CTA waits for the last access of its peer before it exits: for all bytes, and for all arrivals.",
    "acquires": "`barrier.cluster.wait` acquires by default, so the fence after the wait is not needed.",
    "writers": "The guard of the fence is true for exactly the threads that stored to the tile.",
    "producer": "A warp that only produces arrives without waiting; the count is that of all threads of the CTA.",
}

ALLOWED = {
    "mailbox:store-below-barrier:0": "unread",
    "multicast_pair:store-below-barrier:0": "unread",
    "dsmem_push:store-below-barrier:1": "unread",
    "wgmma_chain:read-above-barrier:0": "input",
    "mailbox:cta-barrier-instead-of-cluster-barrier:1": "awaited",
    "cluster_fences:memory-fence-early:0": "acquires",
    "wgmma_chain:fence-by-one-thread:0": "writers",
    "tensormap_update:arrive-instead-of-sync:0": "producer",
}
"""Mutants that the manual allows although their operator breaks rules elsewhere, and the reason."""

_WARPGROUP = "A `wgmma` group belongs to a warpgroup, but a wait covers the groups of the executing threads."

UNDECIDED = {
    "tensormap_update:election-instead-of-warp-barrier:1": (
        "The manual does not state whether `tensormap.cp_fenceproxy.sync` reads after earlier stores of all lanes."
    ),
    "wgmma_chain:arrive-instead-of-sync:1": _WARPGROUP,
    "wgmma_chain:warp-barrier-instead-of-cta-barrier:1": _WARPGROUP,
}
"""Mutants that the manual does not decide, and the open question. They are not counted."""


def key(kernel: str, mutant: Mutant) -> str:
    """Return the key of a mutant in the tables."""
    return f"{kernel}:{mutant.operator}:{mutant.place}"


def rules(kernel: str, mutant: Mutant) -> tuple[str, ...]:
    """Return the rules that a mutant breaks, or nothing if the manual allows the mutant."""
    return () if key(kernel, mutant) in ALLOWED else OPERATORS[mutant.operator].rules


def codes(subject: Subject, text: str) -> list[str]:
    """Return the rules of the findings of a kernel, one item for each finding.

    `trap` stands for every trap of the emulator.
    """
    findings = subject.sanitize(wl.parse(text), SCHEDULES).findings
    names = (re.sub(r"^sanitize\.|^emulator\.(?=deadlock)", "", finding.code) for finding in findings)
    return [re.sub(r"^emulator\..*", "trap", name) for name in names]


def judged(subject: Subject, mutant: Mutant) -> tuple[Outcome, list[str]]:
    """Return the outcome of a mutant, and the rules of its findings."""
    broken, found = rules(subject.name, mutant), codes(subject, str(mutant.module))
    if not broken:
        return ("wrongly reported" if found else "silent"), found
    if not found:
        return "missed", found
    if not set(found) & set(broken):
        return "misnamed", found
    return ("one finding" if len(found) == 1 else "more findings"), found
