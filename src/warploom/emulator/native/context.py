"""Memories of a launch, as native functions see them."""

from enum import IntEnum


class Field(IntEnum):
    """Index of a 64-bit number in the context of native functions."""

    ARENA = 0  # address of the bytes of global memory
    SEGMENTS = 1  # number of segments
    SEGMENT_STARTS = 2  # address of their first virtual addresses
    SEGMENT_ENDS = 3
    SEGMENT_STATES = 4
    SHARED_WINDOWS = 5  # address of three numbers for each warp: first address, end, distance to pointers
    LOCAL_START = 6
    LOCAL_STRIDE = 7  # bytes of local memory for each thread
    LOCAL_BYTES = 8
    EXECUTED = 9  # number of warps that have executed the instruction at which `warploom.run` stopped
