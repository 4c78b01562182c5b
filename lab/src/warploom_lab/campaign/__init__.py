"""The campaign: every form that a GPU executes, run there and on the abstract machine, bit against bit.

for experiment in experiments(["mma"]):
compare(experiment, cases=1024, seed=1)                  # -> Outcome, with the first difference
written = sample(experiments(["mma"]), "cuda", seed=1)       # what a GPU returned, to be compared without it
"""

from __future__ import annotations

from warploom_lab.campaign.experiment import Difference, Experiment, Outcome, compare
from warploom_lab.campaign.forms import FAMILIES, experiments
from warploom_lab.campaign.sample import Sample, differing, sample

__all__ = [
    "FAMILIES",
    "Difference",
    "Experiment",
    "Outcome",
    "Sample",
    "compare",
    "differing",
    "experiments",
    "sample",
]
