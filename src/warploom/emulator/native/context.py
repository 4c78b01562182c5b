"""Context array of 64-bit fields that native functions and the emulator share."""

from enum import IntEnum


class Field(IntEnum):
    """Index of a 64-bit number in the context of native functions.

    Addresses are host addresses of arrays.
    """

    # Memories
    ARENA = 0  # address of the bytes of global memory
    SEGMENTS = 1  # number of segments
    SEGMENT_STARTS = 2  # address of their first virtual addresses
    SEGMENT_ENDS = 3
    SEGMENT_STATES = 4
    SHARED_WINDOWS = 5  # address of three numbers for each warp: first address, end, distance to pointers
    LOCAL_START = 6
    LOCAL_STRIDE = 7  # bytes of local memory for each thread
    LOCAL_BYTES = 8
    # Code
    CODE = 9  # address of the instructions
    COUNTS = 10  # address of the number of warps that have executed each instruction
    EXECUTED = 11  # number of warps that have executed the instruction at which `warploom.run` stopped
    # Batch
    ROWS = 12  # address of the indices of the batch's warp splits
    WARPS = 13  # address of the indices of their warps
    MASKS = 14  # address of their active lanes, as bits
    GUARDED = 15  # address of the lanes that a guard leaves active, as bits
    COUNT = 16  # number of warp splits in the batch
    # Warp splits
    SPLITS = 17  # number of warp splits
    STATUS = 18
    PC = 19
    EPOCH = 20
    WARP = 21
    BITS = 22  # address of the lanes of each warp split, as bits
    POINT = 23  # address of the program counters of the reconvergence points
    SEEN = 24  # address of the number of the last batch of each warp
    CARRY = 25  # address of the carry flags of all lanes
    # Schedule
    BATCHES = 26
    LAST_BATCH = 27  # number of batches at which `warploom.schedule` returns
    DUE = 28  # number of batches from which a batch at WATCHED is not executed
    WATCHED = 29  # program counter, or -1 for any
    UNWATCHED_LIMIT = 30  # number of batches from which no batch is executed
    SPENT = 31
    BUDGET = 32
    TICKS = 33
    RECENT = 34  # address of the first program counters of the last batches
    DIVERGED = 35
    KEEPS_MATRICES = 36  # 1 if accumulators are cached as matrices
    # Barriers
    CTA_OF = 37  # address of the CTA of each warp
    LIVE_WARPS = 38  # address of the number of live warps of each CTA
    ARRIVED = 39  # address of the number of threads that have arrived at each barrier
    TALLY = 40  # address of the number of threads of the batch that arrive at each barrier
    KEYS = 41  # address of the barrier of each warp of the batch


class Stop(IntEnum):
    """Reason why `warploom.schedule` returned."""

    SELECT = 0  # the next batch must be selected by the emulator
    RESUME = 1  # the batch continues in the interpreter, at the returned program counter
    ARRIVE = 2  # warp splits of the batch have reached reconvergence points
