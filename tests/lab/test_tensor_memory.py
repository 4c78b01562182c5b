"""Kernels of `compare tcgen05`: the emulator returns the results of the numeric models, and ptxas accepts them."""

from __future__ import annotations

from typing import Any

import pytest

import warploom as wl
from warploom_lab.campaign.tensor_memory import ARCH, TensorExperiment, tensor_experiments
from warploom_lab.cli import compare_tensor_memory

EXPERIMENTS = list(tensor_experiments())
SAMPLE = EXPERIMENTS[::9] + EXPERIMENTS[-4:]


def test_all_kinds_types_and_scales_have_an_experiment() -> None:
    assert len({each.name for each in EXPERIMENTS}) == len(EXPERIMENTS) == 4 * 4 + 50 + 25 + 4


@pytest.mark.parametrize("experiment", SAMPLE, ids=lambda each: each.name)
def test_the_emulator_returns_the_results_of_the_model(experiment: TensorExperiment) -> None:
    assert wl.check(experiment.kernel, target=ARCH).ok
    for kind in ("spread", "distant"):
        different, count = experiment.different(kind, 1, 1, "cpu")
        assert (different, count) == (0, 128 * 32)


def test_another_model_differs() -> None:
    first, second = (each for each in EXPERIMENTS if each.fields.kind == "tf32" and each.divisor in (0, 1))
    given: Any = {"case": first.case, "fields": first.fields, "block": ""}
    crossed = type("Crossed", (TensorExperiment,), {"kernel": second.kernel})(divisor=0, **given)
    assert crossed.different("spread", 1, 1, "cpu")[0] > 0


def test_files_and_checkpoints_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    import argparse
    from pathlib import Path

    options = argparse.Namespace(record=Path("x"), against=None, checkpoint=None)
    with pytest.raises(wl.UsageError, match="compare tcgen05 writes and reads no files"):
        compare_tensor_memory.run(options)
