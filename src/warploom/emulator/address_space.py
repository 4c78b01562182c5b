"""Layout of the virtual address space of an emulated launch.

Addresses belong to the emulated program; none is a host address.
"""

import numpy as np

from warploom.isa.model.special_registers import RESERVED
from warploom.numerics.lanes import Lane, select

# Start of global data, constants and kernel parameters. Linux places no memory of a process near this address, so that
# a program on the emulator can map managed memory at its device address.
GLOBAL_BASE = 0x2000_0000_0000
# Generic addresses of shared and local memory.
SHARED_WINDOW = 0x1E00_0000_0000
LOCAL_WINDOW = 0x1D00_0000_0000
WINDOW_SIZE = 0x1_0000_0000
LOWEST_WINDOW = 0x1C00_0000_0000  # addresses below belong to no memory: null pointers and small integers
CODE_BASE = 0x100_0000_0000  # addresses of device functions
SERVICE_BASE = 0x200_0000_0000  # addresses of device services
SHARED_START = RESERVED  # first address of a CTA's data; the bits from 24 on are the CTA's rank in its cluster
CHUNK_MASK = {0: 0, 32: 1, 64: 3, 128: 7}  # swizzle span in bytes -> mask of the row bits that are XORed in


def _window_of(space: str) -> np.uint64:
    return np.uint64(SHARED_WINDOW if space.startswith("shared") else LOCAL_WINDOW if space == "local" else 0)


def to_generic(space: str, addresses: Lane) -> Lane:
    """Return the generic addresses that correspond to addresses in a state space other than `param`."""
    return addresses.astype(np.uint64) + _window_of(space)


def in_parameter_block(start: Lane, addresses: Lane) -> Lane:
    """Return the addresses of kernel parameters with their high bits, which compilers may drop.

    `start` is the address of the first parameter.

    """
    wide = addresses.astype(np.uint64)
    near = start + (wide - start & np.uint64(0xFFFF_FFFF))
    return select(wide >> np.uint64(32) == 0, near, wide)


def from_generic(space: str, addresses: Lane) -> Lane:
    """Return the addresses in a state space that correspond to generic addresses."""
    return addresses.astype(np.uint64) - _window_of(space)


def in_window(space: str, addresses: Lane) -> Lane:
    """Return a mask of the generic addresses that are in shared memory or in local memory."""
    wide, start = addresses.astype(np.uint64), _window_of(space)
    return (wide >= start) & (wide < start + np.uint64(WINDOW_SIZE))


def map_rank(addresses: Lane, rank: Lane, generic: bool) -> Lane:
    """Return the shared addresses with the same offsets in the CTA of cluster rank `rank`.

    `generic` marks generic addresses.
    """
    window = _window_of("shared" if generic else "")
    offset = (addresses.astype(np.uint64) - window) & np.uint64(0xFF_FFFF)
    return window + offset + (rank.astype(np.uint64) << np.uint64(24))


def rank_of(addresses: Lane, generic: bool) -> Lane:
    """Return the cluster rank of the CTA of each shared address. `generic` marks generic addresses."""
    wide = addresses.astype(np.uint64) - _window_of("shared" if generic else "")
    return (wide >> np.uint64(24)).astype(np.uint32)
