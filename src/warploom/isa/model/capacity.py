"""Resources of one CTA and one cluster on each architecture.

Source: CUDA programming guide, technical specifications per compute capability.
"""

SHARED_KIB = {
    70: 96, 72: 96, 75: 64, 80: 163, 86: 99, 87: 163, 88: 99, 89: 99,
    90: 227, 100: 227, 103: 227, 110: 227, 120: 99, 121: 99,
}  # fmt: skip
"""Maximum shared memory of a CTA in KiB, static plus dynamic, by architecture number."""

PROCESSORS = 132
"""Number of multiprocessors of the emulated device, as on an H200."""

MAX_THREADS = 1024
"""Maximum number of threads of a CTA."""

MAX_CLUSTER = 16
"""Maximum number of CTAs of a cluster. A launch must request more than 8 CTAs explicitly."""


LOCAL_BYTES = 512 * 1024
"""Maximum local memory of a thread in bytes, on every architecture."""

CONSTANT_BYTES = 64 * 1024
"""Maximum size of all constant variables of a module together in bytes, on every architecture."""

PARAMETER_BYTES = 32764
"""Maximum size of all parameters of a kernel together in bytes (PTX ISA 7.1)."""


def shared_bytes(number: int) -> int:
    """Return the maximum shared memory of a CTA on sm_`number`, static plus dynamic, in bytes."""
    return SHARED_KIB[number] * 1024
