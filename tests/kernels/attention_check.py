"""Check of the kernels of attention: near float64, silent under the sanitizer, no stores outside the results."""

from __future__ import annotations

from typing import Any

from warploom_lab.attention import Case, Runner
from warploom_lab.attention.inputs import make_inputs
from warploom_lab.problems.results import ratio


def run(case: Case, schedule: str = "") -> dict[str, Any]:
    """Run a case on the emulator with the arithmetic of its target, check the results, and return them by name."""
    runner, made = Runner(case, case.target), make_inputs(case)
    results = runner.run(made, "cpu", sanitize=True, schedule=schedule)
    assert runner.findings == []
    assert [each.written_outside(name) for name, each in made.results.items()] == [""] * len(made.results)
    for name, bounds in runner.expected().items():
        assert ratio(results[name], *bounds) <= 1, name
    return results
