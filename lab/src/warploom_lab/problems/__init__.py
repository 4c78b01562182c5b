"""Random problems for kernels, compared between a GPU, float64 and the emulator.

A `Subject` has the functions of one kernel family, such as `gemm`. This package has the parts that all families share.
"""

from warploom_lab.problems.outcome import AnyCase, Device, Outcome, Task
from warploom_lab.problems.record import Record, Recorded
from warploom_lab.problems.subject import Subject

__all__ = ["AnyCase", "Device", "Outcome", "Record", "Recorded", "Subject", "Task"]
