"""Layout of the virtual address space of an emulated launch.

Addresses are integers of the emulated program and never host addresses. Global and constant data and kernel
parameters start at GLOBAL_BASE. The generic space maps shared and local memory at SHARED_WINDOW and LOCAL_WINDOW.
Shared memory starts at SHARED_START of each CTA's 24-bit window; the bits above are the CTA's rank in its cluster.
"""

from __future__ import annotations

from warploom.isa.model.special_registers import RESERVED

GLOBAL_BASE = 0x7F00_0000_0000
SHARED_WINDOW = 0x7E00_0000_0000
LOCAL_WINDOW = 0x7D00_0000_0000
WINDOW_SIZE = 0x1_0000_0000
LOWEST_WINDOW = 0x7C00_0000_0000  # addresses below lie in no window: null pointers and small integers
CODE_BASE = 0x100_0000_0000  # addresses of device functions
SHARED_START = RESERVED
CHUNK_MASK = {0: 0, 32: 1, 64: 3, 128: 7}  # swizzle span in bytes to the row bits that move 16-byte chunks
