"""The interpreter and native code agree on results, traps and counts of random programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulator.native.random_programs import WORDS, programs
from hypothesis import HealthCheck, given, settings

import warploom as wl

CTAS, THREADS = 2, 80


def outcome(engine: str, text: str, schedule: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, ...]:
    """Run a program. Return its arrays, its error, and the counts of instructions and batches."""
    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    data = np.random.default_rng(0).integers(0, 1 << 32, WORDS, dtype=np.uint32)
    out = np.zeros((CTAS * THREADS, 8), np.uint32)
    run = wl.launch(text, grid=CTAS, block=THREADS, args=[data, out], schedule=schedule, raises=False)
    stats = run.stats
    return data.tobytes(), out.tobytes(), str(run.error), dict(stats.instructions), stats.batches, stats.spent


def check(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for schedule in ("eager", "random:1"):
        expected = outcome("interpreter", text, schedule, monkeypatch)
        assert outcome("compiler", text, schedule, monkeypatch) == expected


quiet = settings(deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@settings(quiet, max_examples=40)
@given(text=programs())
def test_some_random_programs(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    check(text, monkeypatch)


@settings(quiet, max_examples=400)
@given(text=programs())
def test_more_random_programs(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    check(text, monkeypatch)
