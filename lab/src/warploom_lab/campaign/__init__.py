"""Comparison of instructions on a GPU and on the emulator, bit for bit.

An experiment is a kernel around one instruction. The kernel runs with many random inputs:

    for experiment in experiments(["mma"]):
        compare(experiment, cases=1024, seed=1)              # -> Outcome, with the first difference
    recorded = sample(experiments(["mma"]), "cuda", seed=1)  # the GPU's results, for comparisons without the GPU
"""

from warploom_lab.campaign.experiment import Difference, Experiment, Outcome, compare
from warploom_lab.campaign.sample import Sample, differing, sample
from warploom_lab.campaign.selection import FAMILIES, experiments

__all__ = ["FAMILIES", "Difference", "Experiment", "Outcome", "Sample", "compare", "differing", "experiments", "sample"]
