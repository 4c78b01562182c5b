"""What one CTA and one cluster may have on each architecture.

Source: CUDA programming guide, technical specifications per compute capability
"""

from __future__ import annotations

SHARED_KIB = {
    70: 96,
    72: 96,
    75: 64,
    80: 163,
    86: 99,
    87: 163,
    88: 99,
    89: 99,
    90: 227,
    100: 227,
    103: 227,
    110: 227,
    120: 99,
    121: 99,
}
"""Shared memory of a CTA, dynamic and static together, by the number of the architecture. Units: KiB."""

PROCESSORS = 132
"""Multiprocessors of the GPU that kernels see: those of an H200."""

MAX_THREADS = 1024
"""Threads of a CTA."""

MAX_CLUSTER = 16
"""CTAs of a cluster; more than 8 are to be asked for at the launch."""


def shared_bytes(number: int) -> int:
    """The shared memory that a CTA may have, dynamic and static together, by an architecture's number such as 90.

    Units: bytes.
    """
    return SHARED_KIB[number] * 1024
