"""Random problems for kernels, compared between a GPU, float64 and the emulator.

A subject, such as `gemm`, draws cases, and compares the results of a case. This package has the parts that all subjects
share.
"""

from warploom_lab.problems.outcome import Device, Outcome, Problem, Task
from warploom_lab.problems.record import Record, Recorded
from warploom_lab.problems.subject import Subject

__all__ = ["Device", "Outcome", "Problem", "Record", "Recorded", "Subject", "Task"]
