"""What a trace has of tensor memory: spans of its operations, their columns, and the allocations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from observe.sanitize.tensor.issues import ISSUES
from observe.sanitize.tensor.kernels import KERNELS, Kernel

import warploom as wl
from warploom.observe.trace import Kind, Trace
from warploom.observe.trace.tracks import Tracks

SCALED = next(issue.kernel for issue in ISSUES if issue.kernel.name == "scaled")


def traced(kernel: Kernel, schedule: str = "lazy", **options: Any) -> Trace:
    run = wl.launch(
        kernel.text, grid=kernel.cluster, cluster=kernel.cluster, block=kernel.threads,
        args=[np.zeros(8192, np.uint32)], schedule=schedule, trace=True, **options,
    )  # fmt: skip
    assert run.trace is not None
    return run.trace


def uses(trace: Trace, word: str) -> list[list[tuple[str, str, int, int]]]:
    """Return the uses by each event whose opcode begins with a word: kind, operand, first column, end."""
    found: dict[int, list[tuple[str, str, int, int]]] = {}
    for event, _, *use in trace.uses.tolist():
        if trace.opcodes[trace.events["step"][event]].startswith(f"tcgen05.{word}"):
            found.setdefault(event, []).append(tuple(use))
    return list(found.values())


@pytest.mark.parametrize("engine", ["interpreter", "compiler"])
@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:1"])
def test_a_block_scaled_multiplication(schedule: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    trace = traced(SCALED, schedule)
    factors = [("write", "the target", 32, 36), ("write", "the target", 36, 40)]
    assert uses(trace, "cp") == [[each] for each in factors]
    reads = [("read", "the scale factors of A", 32, 36), ("read", "the scale factors of B", 36, 37)]
    assert uses(trace, "mma") == [[("write", "D", 0, 16), *reads]]
    covered = [("commit", "the target", 32, 36), ("commit", "the target", 36, 40), ("commit", "D", 0, 16)]
    assert uses(trace, "commit") == [covered]
    assert uses(trace, "ld") == [[("read", "", 0, 16)]] * 4
    (block,) = trace.of(Kind.COLUMNS)
    assert (block["number"], block["count"]) == (0, 64)


def test_spans_have_columns_and_follow_each_other() -> None:
    trace = traced(SCALED)
    tracks = Tracks(trace)
    found = {tracks.name(k).split(".")[1]: k for k in tracks.uses}
    details = {word: tracks.details(k)["columns"] for word, k in found.items()}
    assert details["cp"] == "36 to 39 (write the target)"
    assert details["mma"].startswith("0 to 15 (write D), 32 to 35 (read the scale factors of A)")
    assert details["commit"].endswith("0 to 15 (commit D)")
    assert details["ld"] == "0 to 15 (read)"
    multiply, commit, load = (trace.events[found[word]] for word in ("mma", "commit", "ld"))
    assert multiply["begin"] < commit["begin"] < multiply["end"] <= commit["end"] <= load["begin"]
    kinds = [Kind(each["kind"]) for each in (multiply, commit, load)]
    assert kinds == [Kind.MULTIPLICATION, Kind.COMMIT, Kind.COPY]
    assert (found["mma"], found["commit"]) in [tuple(pair) for pair in trace.arrows.tolist()]


@pytest.mark.parametrize("schedule", ["eager", "lazy"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_uses_are_within_an_allocation(kernel: Kernel, schedule: str) -> None:
    trace = traced(kernel, schedule)
    assert bool(len(trace.uses)) == any(f"tcgen05.{word}" in kernel.text for word in ("mma", "ld", "st", "cp"))
    blocks = trace.of(Kind.COLUMNS)
    for event, cta, _, _, first, end in trace.uses.tolist():
        when = trace.events[event]
        assert any(
            block["cta"] == cta and block["number"] <= first and end <= block["number"] + block["count"]
            and block["begin"] <= when["begin"] and when["end"] <= block["end"]
            for block in blocks
        )  # fmt: skip


def test_an_operation_of_a_pair_uses_the_columns_of_both_ctas() -> None:
    pair = next(kernel for kernel in KERNELS if kernel.name == "pair")
    trace = traced(pair)
    products = [use for use in trace.uses.tolist() if use[3] == "D" and use[2] == "write"]
    assert [use[1] for use in products] == [0, 1]
    assert len({use[0] for use in products}) == 1


def test_uses_beyond_the_limit_are_left_out() -> None:
    trace = traced(SCALED, trace_events=20)
    assert len(trace) == 20
    assert len(trace.uses) < len(traced(SCALED).uses)
    assert trace.uses["event"].max(initial=-1) < 20
