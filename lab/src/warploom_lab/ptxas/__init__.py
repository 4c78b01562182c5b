"""Outsiders asked: NVIDIA's assemblers, their verdicts on PTX, and the record of them.

To ask for one verdict:

    from warploom_lab.ptxas import Oracle

    with Oracle() as oracle:
        oracle.judge("ret;", "sm_90a", (9, 1))       # Verdict(ok=True, message="")

and many at once with `Oracle.ask`. Probes are in `probe.py`; from a shell, `python -m warploom_lab.ptxas.judge`.
"""

from __future__ import annotations

from warploom_lab.ptxas.ask import Oracle, Question
from warploom_lab.ptxas.assembler import WHEELS, Assembler, Verdict, provide
from warploom_lab.ptxas.points import TARGETS, VERSIONS, Point, point
from warploom_lab.ptxas.probe import Probe

__all__ = [
    "TARGETS",
    "VERSIONS",
    "WHEELS",
    "Assembler",
    "Oracle",
    "Point",
    "Probe",
    "Question",
    "Verdict",
    "point",
    "provide",
]
