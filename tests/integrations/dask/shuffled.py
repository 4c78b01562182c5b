"""A launch spread over nobody: its parts run here, one after the other, in any order, and are put together."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from integrations.dask.launches import fine

from warploom.diagnostics import Diagnostic
from warploom.emulator.arena import Arena
from warploom.emulator.execute import Request, Stats, waves
from warploom.emulator.initial_data import initialise
from warploom.integrations.dask.grids import Job, Piece, join, why_together, work
from warploom.integrations.dask.parcel import lent, pack
from warploom.runtime import api
from warploom.runtime.spreading import Ledger, Spread


@dataclass
class Shuffled:
    """Spreads launches in the order of a seed, and keeps why those ran together that did, and in how many parts."""

    seed: int
    reasons: list[str] = field(default_factory=list[str])
    parts: list[int] = field(default_factory=list[int])

    def grid(
        self, request: Request, arena: Arena, segments: dict[str, int], sanitize: bool, *_: object
    ) -> tuple[Stats, tuple[Diagnostic, ...], Spread]:
        """What farm.grid does, without a cluster."""
        initialise(request.program, arena, segments, request.parameters)
        whole = waves(request.program, request.shape())
        job = Job(request, whole, arena, segments, sanitize)
        chance = random.Random(self.seed)
        parts = [range(number, number + 1) for number in whole.numbers]
        order = list(range(len(parts)))
        chance.shuffle(order)
        parcel = pack(job)
        with lent(parcel) as loan:
            sent = (parcel, loan or parcel)
            found = {
                number: travelled(work(chance.choice(sent).opened(), parts[number], ignored))
                for number in order
            }
            pieces = [found[number] for number in range(len(parts))]
            together = why_together(job, pieces)
            if together:
                pieces = [travelled(work(chance.choice(sent).opened(), None, ignored))]
        self.reasons.append(together)
        self.parts.append(len(parts))
        stats, findings = join(job, pieces)
        return stats, findings, Spread(together, Ledger())


def ignored(told: Any) -> None:
    """Nobody listens."""


def travelled(piece: Piece) -> Piece:
    """As it comes from another process."""
    return pickle.loads(pickle.dumps(piece))


@contextmanager
def shuffled(seed: int, warps: int) -> Iterator[Shuffled]:
    """Grids are cut into waves of so many warps; launches with workers="dask" are spread here."""
    spread = Shuffled(seed)
    with fine(warps), pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "spreader", lambda: spread)
        yield spread
