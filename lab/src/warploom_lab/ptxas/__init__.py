"""NVIDIA's assembler ptxas: its verdicts on PTX, and the record of these verdicts.

    from warploom_lab.ptxas import CachedAssemblers

    with CachedAssemblers() as assemblers:
        assemblers.judge("ret;", "sm_90a", (9, 1))       # Verdict(ok=True, message="")

A probe is one or more PTX statements. A point is a release of ptxas, a target and a PTX version.
"""

from warploom_lab.ptxas.assembler import WHEELS, Assembler, Verdict, provide
from warploom_lab.ptxas.cached import CachedAssemblers, Question
from warploom_lab.ptxas.points import TARGETS, VERSIONS, Point, point
from warploom_lab.ptxas.probe import Probe

__all__ = [
    "TARGETS",
    "VERSIONS",
    "WHEELS",
    "Assembler",
    "CachedAssemblers",
    "Point",
    "Probe",
    "Question",
    "Verdict",
    "point",
    "provide",
]
