"""Distributor without a cluster: runs the parts of a grid in this process, in random order, and merges them."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from integrations.dask.launches import waves_of

from warploom.diagnostics import Diagnostic
from warploom.emulator.arena import Arena
from warploom.emulator.request import Request
from warploom.emulator.stats import Stats
from warploom.emulator.waves import divide
from warploom.integrations.dask.grid import GridJob, PartResult, merge_results, run_part, single_worker_reason
from warploom.integrations.dask.shared_payload import mapped, pack
from warploom.runtime import cpu
from warploom.runtime.distribution import Distribution, WorkReport


@dataclass
class InProcessDistributor:
    """Distributor that records the reason for a single worker and the number of parts of each launch."""

    seed: int
    reasons: list[str] = field(default_factory=list[str])
    parts: list[int] = field(default_factory=list[int])

    def run_grid(
        self, request: Request, arena: Arena, segments: dict[str, int], sanitize: bool, *_: object
    ) -> tuple[Stats, tuple[Diagnostic, ...], Distribution]:
        """Run a grid as `dask.run_grid` does, in the order that the seed selects."""
        whole = divide(request.program, request.shape())
        job = GridJob(request, whole, arena, segments, sanitize)
        chance = random.Random(self.seed)
        parts = [range(number, number + 1) for number in whole.numbers]
        order = list(range(len(parts)))
        chance.shuffle(order)
        payload = pack(job)
        with mapped(payload) as local:
            payloads = (payload, local or payload)
            found = {
                number: pickled(run_part(chance.choice(payloads).unpack(), parts[number], ignore)) for number in order
            }
            results = [found[number] for number in range(len(parts))]
            reason = single_worker_reason(job, results)
            if reason:
                results = [pickled(run_part(chance.choice(payloads).unpack(), None, ignore))]
        self.reasons.append(reason)
        self.parts.append(len(parts))
        stats, findings = merge_results(job, results)
        return stats, findings, Distribution(reason, WorkReport())


def ignore(progress: Any) -> None:
    """Ignore the progress of a part."""


def pickled(result: PartResult) -> PartResult:
    """Return a result as another process would receive it."""
    return pickle.loads(pickle.dumps(result))


@contextmanager
def in_process_parts(seed: int, warps: int) -> Iterator[InProcessDistributor]:
    """Replace the distributor, and split grids into waves of a number of warps."""
    distributor = InProcessDistributor(seed)
    with waves_of(warps), pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, "distributor", lambda: distributor)
        yield distributor
