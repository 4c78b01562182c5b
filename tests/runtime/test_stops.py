"""Stops of a debugger session: a launch that stops anywhere continues as if it had not stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulator.native.random_programs import WORDS, programs
from emulator.texts import kernel
from hypothesis import HealthCheck, given, settings
from observe.sanitize.launches import LAUNCHES
from runtime.kernels import INDEX, make, run
from runtime.stepping import Blocks, Every, Hops, Never, Outcome, stepping

import warploom as wl
from warploom.emulator.grid_dependencies import Overlap
from warploom.runtime import cpu
from warploom.runtime.api import load_launch
from warploom.runtime.debugging.session import DebugSession
from warploom.runtime.launchfile import read_launch_file

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCHEDULES = ("eager", "lazy", "random:0", "random:3")
ENGINES = ("auto", "interpreter")
CORPUS = (
    "softmax_bf16_sm90.ptx", "gemm_f16_nn_16x16_1w_sm80.ptx", "gemm_f16_nn_sm90.ptx",
    "gemm_f16_tma_persistent_ws0_sm90.ptx", "gluon_gemm_f16_ws_128x128_sm90.ptx",
    "gluon_wgmma_rs_bf16_64x64x32_sm90.ptx",
)  # fmt: skip

Launch = Callable[[], bytes]
"""Function that launches a kernel, and returns the bytes that it leaves in its buffers."""


def outcomes(launch: Launch, stops: Callable[[int], Every] | None) -> tuple[bytes, list[Outcome]]:
    with stepping(stops) as found:
        contents = launch()
    return contents, found


def check(launch: Launch, monkeypatch: pytest.MonkeyPatch, kinds: tuple[type[Every], ...] = (Every, Hops)) -> None:
    """Compare launches in sessions, on both engines, with a launch without a session."""
    plain = outcomes(launch, None)
    for engine in ENGINES:
        monkeypatch.setenv("WARPLOOM_ENGINE", engine)
        assert outcomes(launch, None) == plain, engine
        for kind in kinds:
            stepped = outcomes(launch, kind)
            assert stepped == plain, (engine, kind)
            assert all(each.stopped for each in stepped[1])


def corpus(file: str, schedule: str) -> Launch:
    def launch() -> bytes:
        problem = make(file, 0)
        run(file, problem, schedule)
        return problem.outside.tobytes()

    return launch


def handwritten(name: str, **options: Any) -> Launch:
    def launch() -> bytes:
        args, _ = LAUNCHES[name].make()
        chosen = LAUNCHES[name]
        wl.launch(
            chosen.text, grid=chosen.grid, block=chosen.block, cluster=chosen.cluster, args=args, raises=False,
            **options,
        )  # fmt: skip
        return b"".join(each.tobytes() for each in args if isinstance(each, np.ndarray))

    return launch


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("file", CORPUS)
def test_stops_in_kernels_of_the_corpus(file: str, schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(corpus(file, schedule), monkeypatch)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", sorted(LAUNCHES))
def test_stops_under_the_sanitizer(name: str, schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(handwritten(name, schedule=schedule, sanitize=True), monkeypatch)
