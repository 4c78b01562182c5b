"""Layout of the virtual address space of an emulated launch.

Addresses belong to the emulated program; none is a host address.
"""

from warploom.isa.model.special_registers import RESERVED

GLOBAL_BASE = 0x7F00_0000_0000  # start of global data, constants and kernel parameters
# Generic addresses of shared and local memory.
SHARED_WINDOW = 0x7E00_0000_0000
LOCAL_WINDOW = 0x7D00_0000_0000
WINDOW_SIZE = 0x1_0000_0000
LOWEST_WINDOW = 0x7C00_0000_0000  # addresses below belong to no memory: null pointers and small integers
CODE_BASE = 0x100_0000_0000  # addresses of device functions
SHARED_START = RESERVED  # first address of a CTA's data; the bits from 24 on are the CTA's rank in its cluster
CHUNK_MASK = {0: 0, 32: 1, 64: 3, 128: 7}  # swizzle span in bytes -> mask of the row bits that are XORed in
