"""Outputs of the notebooks in examples/notebooks."""

from __future__ import annotations

from warploom_lab.pages import notebooks


def test_the_outputs_of_the_notebooks_are_current() -> None:
    lines = list(notebooks.differences(notebooks.run_all()))
    assert lines == [], "run `warploom-lab pages notebooks`"
