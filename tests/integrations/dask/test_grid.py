"""A launch in parts has the bytes, the findings and the statistics of a launch in one process."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.services import module, printf, string
from integrations.dask.launches import COMPILED, EXAMPLES, HANDWRITTEN, Launch
from integrations.dask.parts_in_process import in_process_parts
from runtime.kernels import make

import warploom as wl


def compare(launch: Launch, schedule: str, warps: int) -> tuple[str, int]:
    """Compare a launch in parts with one in one process; return the single-worker reason and the number of parts."""
    with in_process_parts(1, warps) as distributor:
        alone, left = launch(1, schedule)
        parted, left_by_parts = launch("dask", schedule)
    assert left_by_parts == left
    assert [str(found) for found in parted.findings] == [str(found) for found in alone.findings]
    assert parted.stats.instructions == alone.stats.instructions
    assert (parted.stats.macs, parted.stats.ctas, parted.stats.batches) == (
        alone.stats.macs, alone.stats.ctas, alone.stats.batches,
    )  # fmt: skip
    return distributor.reasons[-1], distributor.parts[-1]


@pytest.mark.parametrize("file", COMPILED)
def test_compiled_kernels_in_parts(file: str) -> None:
    schedule = ("eager", "lazy", "random:3")[list(COMPILED).index(file) % 3]
    reason, parts = compare(COMPILED[file], schedule, 4)
    assert reason == ""
    assert (parts > 1) == (np.prod(make(file, 0).grid) > 1)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_in_parts(name: str) -> None:
    reason, parts = compare(EXAMPLES[name], "eager", 8)
    assert reason == ""
    assert parts > 1


@pytest.mark.parametrize("name", HANDWRITTEN)
def test_handwritten_kernels_and_their_findings_in_parts(name: str) -> None:
    compare(HANDWRITTEN[name], "eager", 2)


def test_the_output_in_parts_is_that_of_one_process() -> None:
    text = module(
        f"mov.u64 %rd10, fmt; cvta.global.u64 %rd10, %rd10; st.local.u32 [%rd8], %r1; {printf()}\n"
        "setp.eq.u32 %p1, %r1, 60; @%p1 trap;",
        string("fmt", b"%d\n"),
    )
    runs: list[wl.Run] = []
    with in_process_parts(1, 4) as distributor:
        for workers in (1, "dask"):
            out = [np.zeros(1)]
            runs.append(wl.launch(text, grid=80, block=32, args=out, workers=workers, raises=False, output=list))
    assert runs[0].output.startswith("0\n" * 32 + "1\n")
    assert runs[0].output == runs[1].output
    assert distributor.parts[-1] > 1


def test_the_output_of_the_workers_is_cut_once() -> None:
    text = module(f"mov.u64 %rd10, fmt; cvta.global.u64 %rd10, %rd10; {printf()}", string("fmt", b"%6000d"))
    with in_process_parts(2, 4):
        runs = [
            wl.launch(text, grid=30, block=32, args=[np.zeros(1)], workers=workers, output=list)
            for workers in (1, "dask")
        ]
    assert runs[0].output == runs[1].output
    assert len(runs[1].output) == (1 << 20) // 6000 * 6000
    assert [each.code for each in runs[1].findings] == ["emulator.output"]
