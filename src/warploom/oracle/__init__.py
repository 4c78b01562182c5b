"""Outsiders asked: NVIDIA's assemblers, their verdicts on PTX, and the record of them.

To ask for one verdict:

    from warploom.oracle import Oracle

    with Oracle() as oracle:
        oracle.judge("ret;", "sm_90a", (9, 1))       # Verdict(ok=True, message="")

and many at once with `Oracle.ask`. Probes are in `probe.py`; from a shell, `python -m warploom.oracle.judge`.
"""

from __future__ import annotations

from warploom.oracle.ask import Oracle, Question
from warploom.oracle.assembler import WHEELS, Assembler, Verdict, provide
from warploom.oracle.points import TARGETS, VERSIONS, Point, point
from warploom.oracle.probe import Probe

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
