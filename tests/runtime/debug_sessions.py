"""Debugger sessions of small kernels, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from emulator.texts import kernel

from warploom.runtime import cpu
from warploom.runtime.api import load_launch
from warploom.runtime.debugging.session import DebugSession
from warploom.runtime.launchfile import read_launch_file

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def session_of(
    body: str,
    words: int = 64,
    *,
    schedule: str = "eager",
    grid: int = 1,
    block: int = 64,
    text: str = "",
    **options: Any,
) -> tuple[DebugSession, np.ndarray[Any, Any]]:
    """Return a session of a small kernel with one output array, and the array."""
    out = np.zeros(words, np.uint32)
    loaded, geometry, arguments = load_launch(text or kernel(body), None, grid, block, (1, 1, 1), None, [out])
    return DebugSession(cpu.prepare(loaded, geometry, arguments, None, schedule), arguments, **options), out


def example(name: str, schedule: str, grid: tuple[int, int, int] | None = None) -> DebugSession:
    """Return a session of an example. A smaller `grid` computes a part of the results."""
    plan = read_launch_file(EXAMPLES / name)
    prepared = plan.prepare()
    keys = plan.keywords
    loaded, geometry, arguments = load_launch(
        plan.ptx, plan.kernel, grid or keys["grid"], keys["block"], keys["cluster"], keys["shared"], prepared.args
    )
    return DebugSession(cpu.prepare(loaded, geometry, arguments, keys["arch"], schedule), arguments)
