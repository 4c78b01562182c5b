"""Resources of one CTA and one cluster on each architecture.

Source: CUDA programming guide, technical specifications per compute capability.
"""

from __future__ import annotations

SHARED_KIB = {
    70: 96, 72: 96, 75: 64, 80: 163, 86: 99, 87: 163, 88: 99, 89: 99,
    90: 227, 100: 227, 103: 227, 110: 227, 120: 99, 121: 99,
}  # fmt: skip
"""Maximum shared memory of a CTA in KiB, static and dynamic, by the number of the architecture."""

PROCESSORS = 132
"""Number of multiprocessors that kernels see: that of an H200."""

MAX_THREADS = 1024
"""Maximum number of threads of a CTA."""

MAX_CLUSTER = 16
"""Maximum number of CTAs of a cluster. A launch must request more than 8 explicitly."""


def shared_bytes(number: int) -> int:
    """Return the maximum shared memory of a CTA in bytes, by the number of an architecture such as 90.

    Static and dynamic shared memory share this maximum.
    """
    return SHARED_KIB[number] * 1024
